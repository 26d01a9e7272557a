import { isExpired, waitingOf } from '../../approvals/rules.js';
import { type Instant, toRfc3339 } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import {
  type Payout,
  type PayoutRailEvent,
  type PayoutResolution,
  payouts,
} from '../../db/entities/payouts.js';

/** Payouts of any tenant for support and operators, regardless of roles. */

/** Returns stuck payouts of all tenants, oldest first. */
export async function listStuck(reader: Reader, limit: number): Promise<readonly Payout[]> {
  return reader.list(
    payouts,
    `FORCE INDEX (stuck) WHERE stuck_since IS NOT NULL
     ORDER BY stuck_since LIMIT ${Math.trunc(limit)}`,
  );
}

/** Returns the reason why a payout is stuck, as text. Returns null if it is not stuck. */
export function stuckText({
  status,
  stuckReason,
}: Pick<Payout, 'status' | 'stuckReason'>): string | null {
  if (stuckReason === null) return null;
  if (stuckReason === 'contradiction' && status === 'pending_approval')
    return 'its rail knows of it, or was not asked when the database was restored';
  if (stuckReason === 'contradiction')
    return 'the rail contradicts what it said before, or what we know';
  if (stuckReason === 'account_closed')
    return 'it was returned after its account was closed: two people empty the account by an adjustment';
  if (stuckReason === 'overflow')
    return 'its outcome cannot be posted: a balance would be larger than the ledger can hold';
  if (status === 'completed')
    return 'a statement says that it was returned, which its rail has not reported';
  return status === 'approved'
    ? 'it is approved, and was not handed to its rail'
    : 'the rail has not said what became of it';
}

/** Returns a message between the service and the rail, as one line. */
export function eventLine(event: PayoutRailEvent): string {
  return `${toRfc3339(event.at)} ${railEventText(event)}`;
}

export function railEventText({
  kind,
  said,
  effect,
  callbackId,
  railReference,
  attempt,
}: PayoutRailEvent): string {
  const what = said === null ? effect : `${said} (${effect})`;
  const named = railReference === null ? '' : ` as ${railReference}`;
  const numbered = attempt === null ? '' : `, attempt ${attempt}`;
  return `${kind}: ${what}${named}${numbered}${callbackId === null ? '' : ` [${callbackId}]`}`;
}

export function resolutionLine({
  outcome,
  status,
  proposedBy,
  decidedBy,
  reason,
}: PayoutResolution): string {
  const decided = decidedBy === null ? '' : `, ${status} by ${decidedBy}`;
  return `${outcome}, proposed by ${proposedBy}${decided}: ${reason}`;
}

/** Returns a text about what the payout is waiting for, for a customer. */
export function payoutWaitsFor(payout: Payout, now: Instant): string {
  const waiting = waitingOf(payout);
  if (payout.status === 'pending_approval' && waiting !== null)
    return isExpired(waiting, now) && payout.stuckSince === null
      ? 'nothing: its time is over, and a worker ends it as canceled within seconds'
      : `${waiting.required - waiting.received} of ${waiting.required} approval(s)`;
  if (payout.status === 'approved') return 'a worker, which hands it to its rail';
  return payout.status === 'in_progress'
    ? 'its rail, to say what became of it'
    : `nothing: it is ${payout.status}`;
}
