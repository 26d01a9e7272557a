import { readSweeps } from '../../temporal/reading-leases.js';
import { group, query } from '../command.js';
import { sweepFields } from '../presenting-bridge.js';

const EXPLANATION = `
A sweep finds due or unfinished work in MySQL, and does it. One worker process at a time runs each sweep, or each part of
it. If that process dies, another takes over within ten seconds.`;

export const sweepCommands = group('sweeps', "the workers' loops for due and unfinished work", [
  query({
    usage: 'list',
    summary: 'every sweep, and the worker process that runs it',
    explanation: EXPLANATION,
    examples: ['sweeps list', 'sweeps list --json'],
    run: async ({ database, output }) => {
      const found = await readSweeps(database.reader);
      output.list(found.map(sweepFields), 'There are none: no worker has run yet.');
      const free = found.filter(({ worker }) => worker === null).length;
      if (free > 0) output.say(`Nobody does ${free} of them: is a worker running?`);
    },
  }),
]);
