import { z } from 'zod';
import { MIN_DAYS, readRetention, setRetention } from '../../events/retention.js';
import { command, group, type Ops, query } from '../command.js';

const days = z.string().transform((given, context) => {
  if (given === 'forever') return null;
  if (/^[1-9][0-9]{0,4}$/.test(given)) return Number.parseInt(given, 10);
  context.addIssue(`${given} is neither a number of days nor the word forever`);
  return z.NEVER;
});

async function show({ database, output }: Ops): Promise<void> {
  const kept = await readRetention(database.reader);
  output.one({ kept_days: kept, kept: kept === null ? 'forever' : `${kept} days` });
}

export const eventCommands = group('the event log', {
  retention: group('how long the log keeps events', {
    show: query({
      summary: 'how long events are kept',
      examples: ['events retention show'],
      run: (ops) => show(ops),
    }),
    'set <days>': command({
      summary: `keep events for this many days, at least ${MIN_DAYS}, or forever; the oldest are removed gradually`,
      examples: ['events retention set 400', 'events retention set forever'],
      input: { days },
      needs: 'manage',
      run: async (ops, wanted) => {
        if (wanted.days !== null)
          await ops.output.confirm(
            `Remove the events of every tenant that are older than ${wanted.days} days`,
          );
        await setRetention(ops.database, ops.clock, wanted.days, ops.actor());
        await show(ops);
      },
    }),
  }),
});
