import { toRfc3339 } from '../../core/instant.js';
import { httpRail, OWN_RAILS } from '../../payouts/rails/rail.js';
import { listRails, type RailStatus } from '../../support/reading/rails.js';
import { group, query } from '../command.js';
import type { Fields } from '../output.js';

function railFields({ rail, breaker, approved, inProgress }: RailStatus): Fields {
  return {
    rail,
    state: breaker?.state ?? 'closed',
    since: toRfc3339(breaker?.since ?? null),
    failures: breaker?.failures ?? 0,
    last_failure: breaker?.lastFailure ?? null,
    last_failure_at: toRfc3339(breaker?.lastFailureAt ?? null),
    tried: breaker?.probes ?? 0,
    tried_next_at: toRfc3339(breaker?.probeAt ?? null),
    approved,
    in_progress: inProgress,
  };
}

export const railCommands = group('rails', 'routes by which payouts reach bank accounts', [
  query({
    usage: 'list',
    isDefault: true,
    summary: 'each rail: whether it answers, and how many payouts wait for it',
    explanation: `
A rail is open if several calls in a row, about different payouts, had no answer: no payout is submitted to it, and nothing is
lost. A worker tries it again by itself with one payout (half_open); when it answers it is closed, and waiting payouts
continue.`,
    examples: ['rails list', 'rails list --json'],
    run: async ({ database: { reader }, config, output }) => {
      const configured = [...OWN_RAILS, ...Array.from(config.PAYOUT_RAIL_URLS.keys(), httpRail)];
      output.list((await listRails(reader, configured)).map(railFields), 'No results.', [
        'last_failure_at',
        'tried',
      ]);
    },
  }),
]);
