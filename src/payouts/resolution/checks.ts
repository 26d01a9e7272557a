import { fundsRefusal } from '../../accounts/rules.js';
import { invalidState, type Refusal } from '../../core/errors.js';
import type { Uuid } from '../../core/ids.js';
import { instant, type Instant, maxInstant, toRfc3339 } from '../../core/instant.js';
import {
  type Payout,
  type PayoutResolution,
  payoutResolutions,
} from '../../db/entities/payouts.js';
import type { LockedState } from '../../ledger/writer/types.js';
import { isReportedPaid, needsDenial, permitsRelease, railFact } from '../rail-fact.js';
import type { RailReport } from '../rails/rail.js';
import { railRecord } from '../reports.js';
import { statesAllowing } from '../state-machine.js';

/** When two people can resolve a payout, and with which outcome. Pure. (docs/contract.md, Rails) */

/**
 * Why money may be given back: the rail's answer to a void, or a quiet time since the last
 * submission, after which a rail that cannot void no longer pays an earlier order.
 */
export type Release = { readonly eventId: Uuid } & (
  { readonly by: 'void'; readonly report: RailReport } | QuietRelease
);

interface QuietRelease {
  readonly by: 'quiet';
  readonly quietMs: number;
  /** The end of the time that restores lost. Null if nothing was lost. */
  readonly lostUntil: Instant | null;
}

export type ResolutionOutcome = PayoutResolution['outcome'];

export function openResolution(
  { id: payoutId }: Payout,
  state: LockedState,
): PayoutResolution | undefined {
  return state.rows(payoutResolutions, { payoutId }).find(({ status }) => status === 'proposed');
}

export function outcomeRefusal(
  { status, stuckSince }: Payout,
  outcome: ResolutionOutcome,
): Refusal | null {
  const allowed = statesAllowing(outcome, 'staff');
  const message = `the payout is ${status}: it cannot be resolved as ${outcome}`;
  if (!allowed.includes(status)) return invalidState(message, status, allowed);
  if (outcome !== 'unchanged' || stuckSince !== null) return null;
  return invalidState('the payout is not flagged', status, ['stuck']);
}

export interface SeenState {
  readonly status: Payout['status'];
  /** Count of different contradictions and statement lines, not a time, because clocks differ. */
  readonly contradictions: number;
}

export function unseenRefusal(now: SeenState, seen: SeenState): Refusal | null {
  const since = 'you looked at it: look again, and propose what is right now';
  return changedRefusal(now, seen, since, 'as_seen');
}

export function overtakenRefusal(now: SeenState, proposal: PayoutResolution): Refusal | null {
  const { payoutStatus: status, contradictions, outcome } = proposal;
  const since = `it was proposed as ${outcome}: reject the proposal, and propose what is right now`;
  return changedRefusal(now, { status, contradictions }, since, 'unchanged_since_proposed');
}

function changedRefusal(
  now: SeenState,
  seen: SeenState,
  since: string,
  expected: string,
): Refusal | null {
  const isOther = now.status !== seen.status;
  if (!isOther && now.contradictions <= seen.contradictions) return null;
  const change = isOther
    ? `the payout has become ${now.status}`
    : 'the rail has said something new about it';
  return invalidState(`${change} since ${since}`, now.status, [expected]);
}

export function applyRefusal(
  payout: Payout,
  outcome: ResolutionOutcome,
  release: Release | null,
  state: LockedState,
): Refusal | null {
  const refusal = outcomeRefusal(payout, outcome);
  if (refusal !== null) return refusal;
  const record = railRecord(payout, state);
  if (needsDenial(outcome, railFact(payout, record.words))) {
    if (release?.by === 'quiet')
      return outcome === 'failed' && isReportedPaid(payout, record)
        ? REPORTED_PAID
        : quietRefusal(payout, release, state.at);
    const isDenied = release !== null && permitsRelease(payout, record, outcome, release.report);
    return isDenied ? null : voidNotRequested(payout);
  }
  if (payout.status !== 'failed' || outcome !== 'completed') return null;
  const { sourceAccountId, feeAccountId, feeRaw } = payout;
  if (feeAccountId !== null && state.account(feeAccountId)?.account.status === 'closed')
    return FEE_ACCOUNT_CLOSED;
  const source = state.account(sourceAccountId);
  return source === undefined ? null : fundsRefusal({ source, amount: payout, feeRaw });
}

function quietRefusal(
  { status, attemptedAt, submittedAt }: Payout,
  release: QuietRelease,
  at: Instant,
): Refusal | null {
  const sentAt = attemptedAt ?? submittedAt ?? at;
  // The payout may have been submitted again in the lost time.
  const until = instant(maxInstant(sentAt, release.lostUntil ?? sentAt) + release.quietMs);
  if (at >= until) return null;
  const message = `the rail cannot confirm that it will never pay this: nothing can be given back before ${toRfc3339(until)}, ${release.quietMs / 1_000} s after the last submission`;
  return invalidState(message, status, ['quiet_time_over']);
}

function voidNotRequested({ status }: Payout): Refusal {
  const message =
    'the rail has not yet confirmed that it will never pay this: approve the resolution again';
  return invalidState(message, status, ['voided']);
}

/** A quiet time rules out a later payment, but not one that was reported. */
const REPORTED_PAID = invalidState(
  'the rail has reported this as paid, and cannot void it: resolve it as completed, or load a corrected statement',
  'paid',
  ['denied'],
);
const FEE_ACCOUNT_CLOSED = invalidState(
  'the account that receives the fee is closed: resolve the payout as unchanged, and take the amount from the source account by an adjustment',
  'closed',
  ['active', 'frozen'],
);
export const TOO_LARGE = invalidState(
  'a balance would be larger than the ledger can hold: move money out of the source account or the fee account, and approve the resolution again',
  'overflow',
  ['room_in_balances'],
);
export const OPEN_ALREADY = invalidState(
  'a resolution is already proposed: approve or reject it first',
  'proposed',
  ['none_proposed'],
);
export const ANOTHER_OPEN = invalidState(
  'another resolution is proposed in its place: open the payout again, and decide on the new resolution',
  'proposed_anew',
  ['as_seen'],
);
export const NOTHING_OPEN = invalidState('no resolution is proposed', 'none_proposed', [
  'proposed',
]);
