import { invalidState, NOT_FOUND, type Refusal } from '../core/errors.js';
import {
  type Payout,
  payoutRailEvents,
  type PayoutResolution,
  payoutResolutions,
  payouts,
} from '../db/entities/payouts.js';
import { capabilityRefusal } from '../accounts/rules.js';
import {
  changeRow,
  type Decision,
  insertRow,
  type LockedState,
  need,
  type Need,
  refuse,
  type RowWrite,
} from '../ledger/writer/types.js';
import { type PayoutCommand, railEvent, raised, unchanged } from './outcome.js';
import { isTaken, wordNeeds } from './rail-words.js';
import { calmed, nextInstant } from './rules.js';

/** Each order to a rail is a numbered attempt, written under the lock before the call. (docs/contract.md, Rails) */

/** Approved → in progress, beyond cancellation, with the first attempt; not while the account may not send. */
export function decideBegin(command: PayoutCommand, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  if (payout.status !== 'approved' || !maySend(payout, state)) return unchanged(payout);
  const submittedAt = nextInstant(payout, state.at);
  const begun: Payout = { ...payout, ...calmed(payout), status: 'in_progress', submittedAt };
  return { ...attempted(command, begun, state), bindsKey: true };
}

/** One more attempt. None while operators are about to settle it: their outcome may release the money. */
export function decideAttempt(command: PayoutCommand, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  if (payout.status !== 'in_progress') return refuse(endedAlready(payout), false);
  if (openResolution(payout, state) !== undefined) return refuse(BEING_RESOLVED, false);
  if (isTaken(payout, state)) return refuse(TAKEN, false);
  if (!maySend(payout, state)) return refuse(ACCOUNT_CANNOT_SEND, false);
  return attempted(command, payout, state);
}

export interface DenyPayout extends PayoutCommand {
  readonly isSettled: boolean;
}

/** The rail never heard of what it accepted or has ended: for a failed payout no contradiction. */
export function decideDenial(command: DenyPayout, state: LockedState): Decision<Payout> {
  const payout = state.row(payouts, { id: command.facts.id });
  if (payout === undefined) return refuse(NOT_FOUND, false);
  const { status, stuckSince } = payout;
  const isContrary =
    status === 'completed' ||
    status === 'returned' ||
    (status === 'in_progress' && isTaken(payout, state));
  const isSettled = command.isSettled && stuckSince === null;
  const effect = isContrary ? (isSettled ? 'settled' : 'conflict') : 'noted';
  const settled = effect === 'conflict' ? raised(payout, 'contradiction', state) : payout;
  const word = { kind: 'inquiry', said: 'unknown', effect } as const;
  const rows: RowWrite[] = [
    insertRow(payoutRailEvents, railEvent(command, settled, word, state.at)),
  ];
  if (settled !== payout) rows.push(changeRow(payouts, settled));
  return { outcome: { done: true, resource: settled }, writes: { rows }, bindsKey: false };
}

function maySend({ sourceAccountId }: Payout, state: LockedState): boolean {
  const source = state.account(sourceAccountId);
  if (source === undefined) throw new Error('the account of a payout does not exist');
  return capabilityRefusal(source.account) === null;
}

function attempted(command: PayoutCommand, payout: Payout, state: LockedState): Decision<Payout> {
  const attempt = payout.attempts + 1;
  const next: Payout = { ...payout, attempts: attempt, attemptedAt: state.at };
  const sent = railEvent(command, next, { kind: 'submission', effect: 'sent', attempt }, state.at);
  const rows = [changeRow(payouts, next), insertRow(payoutRailEvents, sent)];
  return { outcome: { done: true, resource: next }, writes: { rows }, bindsKey: false };
}

/** The rows that attempts and resolutions read besides the payout. */
export function attemptNeeds(payout: Payout): Need[] {
  return [need(payoutResolutions, { payoutId: payout.id }), ...wordNeeds(payout)];
}

/** A resolution that one operator has proposed and no other has decided. */
export function openResolution(
  { id: payoutId }: Payout,
  state: LockedState,
): PayoutResolution | undefined {
  return state.rows(payoutResolutions, { payoutId }).find(({ status }) => status === 'proposed');
}

function endedAlready({ status }: Payout): Refusal {
  return invalidState(`the payout is ${status}: it is not given to its rail`, status, [
    'in_progress',
  ]);
}

const TAKEN = invalidState('the rail has taken it meanwhile: it is not given again', 'taken', [
  'never_heard_of',
]);
const BEING_RESOLVED = invalidState(
  'a resolution is proposed: nothing is given to the rail before it is approved or rejected',
  'proposed',
  ['none_proposed'],
);
export const ACCOUNT_CANNOT_SEND = invalidState(
  'its account may not send: it is not given to the rail before it may',
  'frozen',
  ['active'],
);
