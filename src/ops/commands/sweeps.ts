import { nullable, string, time } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { counted } from '../../core/plural.js';
import { group, query } from '../command.js';
import { sweepFields, type SweepState } from '../presenting-service.js';

const EXPLANATION = `
A sweep finds due or unfinished work in MySQL, and does it. One worker process at a time runs each sweep. If that process
dies, another takes over within ten seconds.`;

/** Returns every sweep that any worker process has had, by name. */
async function readSweeps(reader: Reader): Promise<readonly SweepState[]> {
  const rows = await reader.query(
    `SELECT name, IF(lease_until>UTC_TIMESTAMP(3), worker, NULL) AS worker, taken_at
     FROM sweep_leases ORDER BY name`,
  );
  return rows.map((row) => {
    const label = nullable(string).parse(row.worker);
    const worker = label === null ? null : { label, since: time.parse(row.taken_at) };
    return { name: string.parse(row.name), worker };
  });
}

export const sweepCommands = group('sweeps', "the workers' loops for due and unfinished work", [
  query({
    usage: 'list',
    summary: 'every sweep, and the worker process that runs it',
    explanation: EXPLANATION,
    examples: ['sweeps list', 'sweeps list --json'],
    run: async ({ database, output }) => {
      const found = await readSweeps(database.reader);
      output.list(found.map(sweepFields), 'No sweep has run yet: start a worker.');
      const free = found.filter(({ worker }) => worker === null).length;
      if (free > 0)
        output.say(
          `No worker runs ${counted(free, 'sweep')}. Check that a worker process is running.`,
        );
    },
  }),
]);
