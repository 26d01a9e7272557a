import type { ListedPayment } from '../payouts/rails/rail.js';
import type { Batch } from '../db/entities/batches.js';
import type { Payout } from '../db/entities/payouts.js';
import type { Restore, RestoreFinding } from '../db/entities/restores.js';
import type { Instant } from '../core/instant.js';

/** Upper bound for a tenant: twice what the whole service was measured to post. (docs/decisions/0041) */
const EVENTS_PER_SECOND = 10_000n;
const MIN_SKIP = 1_000_000n;

/** Returns more sequences than a tenant can have used between the two moments. */
export function skipFor({
  restoredTo,
  until,
}: {
  readonly restoredTo: number;
  readonly until: number;
}): bigint {
  const seconds = BigInt(Math.ceil(Math.max(0, until - restoredTo) / 1_000));
  const skip = seconds * EVENTS_PER_SECOND;
  return skip > MIN_SKIP ? skip : MIN_SKIP;
}

/** Returns the last skipped sequence, a round number that people recognise. */
export function lastSkipped(last: bigint, skip: bigint): bigint {
  const min = last + skip;
  return ((min + MIN_SKIP - 1n) / MIN_SKIP) * MIN_SKIP;
}

/** Statuses in which the money may be on its way or have arrived. */
const ACCEPTED_STATUSES: readonly ListedPayment['status'][] = ['accepted', 'completed', 'returned'];

export type FindingKind = RestoreFinding['kind'];

/** Returns how a payout differs from its rail's report, which is null if the rail has none. */
export function findingOf(
  payout: Pick<Payout, 'status' | 'asset' | 'raw' | 'railReference'>,
  reported: (Pick<ListedPayment, 'status'> & Partial<Pick<ListedPayment, 'amount'>>) | null,
): FindingKind | null {
  const { status, asset, raw, railReference } = payout;
  if (reported === null) return railReference === null ? null : 'not_paid_there';
  if (
    reported.amount !== undefined &&
    (reported.amount.raw !== raw || reported.amount.asset !== asset)
  )
    return 'amount';
  if (status === 'approved' || status === 'in_progress') return 'goes_on';
  const isUnsent = status === 'pending_approval' || status === 'rejected' || status === 'canceled';
  return isUnsent && ACCEPTED_STATUSES.includes(reported.status) ? 'approval_lost' : null;
}

/**
 * Returns what becomes of a payment that has no payout here. A row of a batch becomes its payout when the
 * batch is executed, so an adjustment would debit the tenant a second time.
 */
export function findingOfRow(batch: Pick<Batch, 'status'> | undefined): FindingKind {
  if (batch === undefined) return 'unknown_here';
  return batch.status === 'executing' ? 'goes_on' : 'approval_lost';
}

const ROW = 'row of a batch';

/** Returns what this database has of a payment that has no payout here. */
export function describeRow(batch: Pick<Batch, 'status'> | undefined): string {
  return batch === undefined ? 'nothing' : `${ROW} that is ${batch.status}`;
}

/**
 * Returns whether people must act on a finding. A row that becomes no payout, because the funds do not suffice or
 * its batch lapses, is debited by an adjustment.
 */
export function needsAction(finding: Pick<RestoreFinding, 'kind' | 'here'>): boolean {
  return contradicts(finding) || finding.here.startsWith(ROW);
}

export function contradicts({ kind }: Pick<RestoreFinding, 'kind'>): boolean {
  return kind !== 'goes_on';
}

export type LossyRestore = Restore & { readonly restoredTo: Instant; readonly skip: bigint };

/** Returns whether the restored database lacks data that was committed. */
export function isLossy(restore: Restore): restore is LossyRestore {
  return restore.restoredTo !== null && restore.skip !== null;
}
