import type { Uuid } from '../core/ids.js';
import { integer, oneOf, uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import type { Batch } from '../db/entities/batches.js';
import { PAYOUT_STATUSES, type PayoutStatus } from '../db/entities/payouts.js';
import { isExecuted } from './rules.js';

/** How many payouts of a batch are in each status. */
export type PayoutCounts = Readonly<Record<PayoutStatus, number>>;

export function forEachPayoutStatus<T>(value: (status: PayoutStatus) => T) {
  const entries = PAYOUT_STATUSES.map((status) => [status, value(status)]);
  return Object.fromEntries(entries) as Record<PayoutStatus, T>;
}

const UNPAID: readonly PayoutStatus[] = ['returned', 'rejected', 'canceled', 'failed'];

/** Returns how many payouts ended unpaid. */
export function unpaidPayouts(counts: PayoutCounts): number {
  return UNPAID.reduce((sum, status) => sum + counts[status], 0);
}

/** Returns `3 completed, 1 failed`. */
export function payoutCountsText(counts: PayoutCounts): string {
  return PAYOUT_STATUSES.filter((status) => counts[status] > 0)
    .map((status) => `${counts[status]} ${status.replaceAll('_', ' ')}`)
    .join(', ');
}

/** Returns how many payouts of each executed batch are in each status. */
export async function readPayoutCounts(
  reader: Reader,
  shown: readonly Batch[],
): Promise<ReadonlyMap<Uuid, PayoutCounts>> {
  const executed = shown.filter((batch) => batch.kind === 'payout' && isExecuted(batch));
  if (executed.length === 0) return new Map();
  const counts = new Map(executed.map(({ id }) => [id, forEachPayoutStatus(() => 0)]));
  // A page of large batches counts millions of payouts.
  const rows = await reader.searches.query(
    `SELECT batch_id, status, COUNT(*) AS payouts FROM payouts FORCE INDEX (batch)
     WHERE batch_id IN (${[...counts.keys()].map(uuid.literal).join(',')}) GROUP BY batch_id, status`,
  );
  for (const row of rows) {
    const own = counts.get(uuid.parse(row.batch_id));
    if (own !== undefined)
      own[oneOf(PAYOUT_STATUSES).parse(row.status)] = integer.parse(row.payouts);
  }
  return counts;
}
