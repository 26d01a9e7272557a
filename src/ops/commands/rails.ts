import { toRfc3339 } from '../../core/instant.js';
import { integer, string } from '../../db/columns.js';
import type { Reader } from '../../db/database.js';
import { type RailBreaker, railBreakers } from '../../db/entities/rails.js';
import { httpRail, OWN_RAILS } from '../../payouts/rails/rail.js';
import { group, query } from '../command.js';

export const railCommands = group('routes by which payouts reach bank accounts', {
  list: query({
    isDefault: true,
    summary: 'each rail: whether it answers, and how many payouts wait for it',
    explanation: `
A rail is open if several calls in a row, about different payouts, had no answer: no payout is submitted to it, and nothing is
lost. A worker tries it again by itself with one payout (half_open); when it answers it is closed, and waiting payouts
continue.`,
    examples: ['rails list', 'rails list --json'],
    run: async ({ database: { reader }, config, output }) => {
      const configured = [...OWN_RAILS, ...Array.from(config.PAYOUT_RAIL_URLS.keys(), httpRail)];
      const rails = await listRails(reader, configured);
      const rows = rails.map(({ rail, breaker, approved, inProgress }) => ({
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
      }));
      output.list(rows, 'No results.', ['last_failure_at', 'tried']);
    },
  }),
});

interface RailStatus {
  readonly rail: string;
  /** Null if the rail has always responded or was never called. */
  readonly breaker: RailBreaker | null;
  readonly approved: number;
  readonly inProgress: number;
}

/** Returns rails that are configured, have pending payouts or have not responded, by name. */
export async function listRails(
  reader: Reader,
  configured: readonly string[],
): Promise<readonly RailStatus[]> {
  const [breakers, rows] = await Promise.all([
    reader.select(railBreakers, {}),
    reader.query(
      `SELECT rail, COUNT(IF(status='approved',1,NULL)) AS approved,
         COUNT(IF(status='in_progress',1,NULL)) AS in_progress
       FROM payouts FORCE INDEX (expiring) WHERE status IN ('approved','in_progress') GROUP BY rail`,
    ),
  ]);
  const known = new Map(breakers.map((breaker) => [breaker.rail, breaker]));
  const open = new Map(
    rows.map((row) => [
      string.parse(row.rail),
      { approved: integer.parse(row.approved), inProgress: integer.parse(row.in_progress) },
    ]),
  );
  return [...new Set([...configured, ...known.keys(), ...open.keys()])].toSorted().map((rail) => ({
    rail,
    breaker: known.get(rail) ?? null,
    ...(open.get(rail) ?? { approved: 0, inProgress: 0 }),
  }));
}
