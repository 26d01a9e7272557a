import { fundsRefusal } from '../accounts/rules.js';
import { invalidState, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { instant, type Instant, maxInstant, toRfc3339 } from '../core/instant.js';
import type { Payout, PayoutResolution } from '../db/entities/payouts.js';
import type { LockedState } from '../ledger/writer/types.js';
import type { Heard } from './rail-words.js';
import type { RailStatement } from './rules.js';

/** When people can resolve a payout, and with which outcome. Pure. (docs/contract.md, Rails) */

/** Before money is given back: the rail's word that it will never pay, or that it was quiet long enough. */
export type Release =
  | { readonly by: 'void'; readonly said: RailStatement; readonly eventId: Uuid }
  /** `lostUntil`: when what restores have lost of it ended; null: nothing. */
  | { readonly by: 'quiet'; readonly quietMs: number; readonly lostUntil: Instant | null };

/** True if money comes back to the account although the rail may still pay: an order may be on its way. */
export function givesBack(
  { status, railReference }: Payout,
  outcome: PayoutResolution['outcome'],
): boolean {
  return (
    (outcome === 'failed' || outcome === 'returned') &&
    (status === 'in_progress' || railReference === null)
  );
}

const POSSIBLE_IN: Readonly<Record<PayoutResolution['outcome'], readonly Payout['status'][]>> = {
  completed: ['in_progress', 'failed'],
  failed: ['in_progress'],
  returned: ['in_progress', 'completed'],
  unchanged: [
    'pending_approval',
    'approved',
    'completed',
    'failed',
    'returned',
    'canceled',
    'rejected',
  ],
};

export function outcomeRefusal(
  { status, stuckSince }: Payout,
  outcome: PayoutResolution['outcome'],
): Refusal | null {
  const allowed = POSSIBLE_IN[outcome];
  if (!allowed.includes(status))
    return invalidState(
      `the payout is ${status}: it cannot be resolved as ${outcome}`,
      status,
      allowed,
    );
  if (outcome !== 'unchanged' || stuckSince !== null) return null;
  return invalidState('nothing is raised', status, ['stuck']);
}

/** How many different things these say, however often. */
export function countDifferent(heard: readonly Heard[]): number {
  return new Set(heard.map(({ said, railReference }) => `${said ?? ''} ${railReference ?? ''}`))
    .size;
}

/** A payout's state, as far as it decides what became of it. */
export interface Seen {
  readonly status: Payout['status'];
  /** How many different contradictions and lines of statements there were: counted, as clocks differ. */
  readonly contradictions: number;
}

/** The proposer must have seen the payout as it is, otherwise they look again. `heard`: all of the payout's. */
export function unseenRefusal(payout: Payout, seen: Seen, heard: readonly Heard[]): Refusal | null {
  const news = newsSince(payout, seen, heard);
  if (news === null) return null;
  const message = `${news} since you looked at it: look again, and propose what is right now`;
  return invalidState(message, payout.status, ['as_seen']);
}

/**
 * A proposal for a payout in one state does not apply in the next, nor after a new contradiction or line of a
 * statement: the rail has reported meanwhile. `heard`: all of the payout's.
 */
export function overtakenRefusal(
  payout: Payout,
  { payoutStatus, contradictions, outcome }: PayoutResolution,
  heard: readonly Heard[],
): Refusal | null {
  const news = newsSince(payout, { status: payoutStatus, contradictions }, heard);
  if (news === null) return null;
  return invalidState(
    `${news} since it was proposed as ${outcome}: reject the proposal, and propose anew what is right now`,
    payout.status,
    ['unchanged_since_proposed'],
  );
}

function newsSince({ status }: Payout, seen: Seen, heard: readonly Heard[]): string | null {
  if (status !== seen.status) return `the payout has become ${status}`;
  return countDifferent(heard) > seen.contradictions
    ? 'the rail has said something new about it'
    : null;
}

export function applyRefusal(
  payout: Payout,
  outcome: PayoutResolution['outcome'],
  release: Release | null,
  state: LockedState,
): Refusal | null {
  const refusal = outcomeRefusal(payout, outcome);
  if (refusal !== null) return refusal;
  if (givesBack(payout, outcome))
    return release === null ? NOT_ASKED : quietRefusal(payout, release, state.at);
  if (payout.status !== 'failed' || outcome !== 'completed') return null;
  const { sourceAccountId, feeAccountId, feeRaw } = payout;
  if (feeAccountId !== null && state.account(feeAccountId)?.account.status === 'closed')
    return FEE_ACCOUNT_CLOSED;
  const source = state.account(sourceAccountId);
  return source === undefined ? null : fundsRefusal({ source, amount: payout, feeRaw });
}

/** A rail that cannot void is trusted to have reported or refused everything handed to it by then. */
function quietRefusal(
  { attemptedAt, submittedAt }: Payout,
  release: Release,
  at: Instant,
): Refusal | null {
  if (release.by === 'void') return null;
  const handed = attemptedAt ?? submittedAt ?? at;
  // It may have been handed over again in the lost time.
  const until = instant(maxInstant(handed, release.lostUntil ?? handed) + release.quietMs);
  if (at >= until) return null;
  return invalidState(
    `the rail cannot say that it will never pay this: nothing can be given back before ${toRfc3339(until)}, ${release.quietMs / 1_000} s after it was last handed over`,
    'in_progress',
    ['completed'],
  );
}

const FEE_ACCOUNT_CLOSED = invalidState(
  'the account that gets its fee is closed: resolve it as unchanged, and take the amount from its account by an adjustment',
  'closed',
  ['active', 'frozen'],
);
export const TOO_LARGE = invalidState(
  'a balance would be larger than the ledger can hold: move money out of its account, or out of the one that gets its fee, and approve it again',
  'overflow',
  ['room_in_balances'],
);
const NOT_ASKED = invalidState(
  'the rail has not said that it will never pay this: approve the resolution again',
  'in_progress',
  ['completed'],
);
export const OPEN_ALREADY = invalidState(
  'a resolution is proposed already: it is approved or rejected first',
  'proposed',
  ['none_proposed'],
);
export const ANOTHER_OPEN = invalidState(
  'another resolution is proposed in its place: open the payout again, and decide on that one',
  'proposed_anew',
  ['as_seen'],
);
export const NOTHING_OPEN = invalidState('no resolution is proposed', 'none_proposed', [
  'proposed',
]);
