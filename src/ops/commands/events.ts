import { z } from 'zod';
import { EVENT_TYPES } from '../../db/entities/events.js';
import { readEvents } from '../../events/log.js';
import { MIN_RETENTION_DAYS, readRetention, setRetention } from '../../events/retention.js';
import { group, managerCommand, type Ops, query } from '../command.js';
import { limit, oneOf, option, tenant } from '../inputs.js';
import type { Fields } from '../fields.js';
import { boundsOf, numberCursor, timeInput } from '../pages.js';

const days = z.string().transform((given, context) => {
  if (given === 'forever') return null;
  if (/^[1-9][0-9]{0,4}$/.test(given)) return Number.parseInt(given, 10);
  context.addIssue(`${given} is neither a number of days nor the word forever`);
  return z.NEVER;
});

async function showRetention({ database, output }: Ops): Promise<void> {
  const days = await readRetention(database.reader);
  output.one({ kept_days: days, kept: days === null ? 'forever' : `${days} days` });
}

const eventLine = z.object({
  sequence: z.int(),
  created_at: z.string(),
  type: z.string(),
  // A verification has no id of its own.
  data: z.object({
    object: z.object({ id: z.string() }).or(z.object({ account_id: z.string() })),
  }),
  id: z.string(),
});

function eventFields(body: string): Fields {
  const { data, id, ...fields } = eventLine.parse(JSON.parse(body));
  const { object } = data;
  const resourceId = 'id' in object ? object.id : object.account_id;
  return { ...fields, sequence: String(fields.sequence), resource_id: resourceId, id };
}

export const eventCommands = {
  list: query({
    summary: "a tenant's events, newest first",
    examples: [
      'events list --tenant acme --since 1h',
      'events list --tenant acme --type payout.failed --json',
    ],
    input: {
      tenant,
      type: option('<type> only this, such as payout.failed', oneOf(EVENT_TYPES).optional()),
      ...timeInput,
      cursor: numberCursor('event with this sequence'),
      limit,
    },
    run: async ({ database: { reader }, output }, { tenant: { id }, limit: most, ...page }) => {
      const { from, to } = boundsOf(page);
      const before = page.cursor === undefined ? null : BigInt(page.cursor);
      const filter = { type: page.type, from, to };
      const { bodies } = await readEvents(reader, id, filter, 'desc', before, most + 1);
      output.newest(bodies.map(eventFields), most, 'No results.', { position: 'sequence' });
    },
  }),
  retention: group('how long the log keeps events', {
    show: query({
      summary: 'how long events are kept',
      examples: ['events retention show'],
      run: (ops) => showRetention(ops),
    }),
    'set <days>': managerCommand({
      summary: `keep events for this many days, at least ${MIN_RETENTION_DAYS}, or forever; the oldest are removed gradually`,
      examples: ['events retention set 400', 'events retention set forever'],
      input: { days },
      run: async (ops, input) => {
        if (input.days !== null)
          await ops.output.confirm(
            `Remove the events of every tenant that are older than ${input.days} days`,
          );
        await setRetention(ops.database, ops.clock, input.days, ops.actor());
        await showRetention(ops);
      },
    }),
  }),
};
