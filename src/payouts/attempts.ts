import { capabilityRefusal } from '../accounts/rules.js';
import { invalidState } from '../core/errors.js';
import { type Payout, payoutResolutions, payouts } from '../db/entities/payouts.js';
import {
  changeRow,
  type Decision,
  leaveUnchanged,
  type LockedState,
  refuse,
  rowKey,
} from '../ledger/writer/types.js';
import { endingRowKeys } from '../approvals/commands.js';
import {
  definePayoutCommand,
  insertRailEvent,
  payoutEvent,
  type PayoutCommand,
} from './commands.js';
import { isKnownToRail, reportRowKeys } from './reports.js';
import { openResolution } from './resolution/checks.js';
import { failureOf } from './rails/rail.js';
import { afterProgress, nextInstant, releaseWrites } from './rules.js';

/** Makes an approved payout `in_progress` and counts the first attempt, if its account may send. */
export const beginPayout = definePayoutCommand<PayoutCommand>('begin payout', {
  decide: (command, payout, state) => {
    const { status } = payout;
    const message = `the payout is ${status}, so it is not begun`;
    if (status !== 'approved') return refuse(invalidState(message, status, ['approved']));
    if (!maySend(payout, state)) return leaveUnchanged(payout);
    const begins = { status: 'in_progress', submittedAt: nextInstant(payout, state.at) } as const;
    const begun: Payout = { ...afterProgress(payout), ...begins };
    return { ...recordAttempt(command, begun, state), bindsKey: true };
  },
});

interface RefuseRecipient extends PayoutCommand {
  readonly failureCode: 'recipient_changed' | 'account_unknown';
}

/** Fails a payout before its first order, because its key has not the checked holder any more. */
export const refuseRecipient = definePayoutCommand<RefuseRecipient>('refuse recipient of payout', {
  rowKeys: (snapshot) => [
    ...endingRowKeys({ table: payouts }, snapshot),
    ...reportRowKeys(snapshot),
  ],
  decide: ({ eventId, failureCode }, payout, state) => {
    // If the rail has reported the payout, the money may have left.
    if (payout.status !== 'approved' || isKnownToRail(payout, state)) return leaveUnchanged(payout);
    const ends = { status: 'failed', endedAt: nextInstant(payout, state.at) } as const;
    const failed: Payout = { ...afterProgress(payout), ...failureOf(failureCode, payout), ...ends };
    const what = { kind: 'resolve', effect: 'applied', failureCode, at: state.at } as const;
    const rows = [changeRow(payouts, failed), insertRailEvent(eventId, failed, what)];
    const events = [payoutEvent('payout.failed', failed)];
    const writes = { ...releaseWrites(failed), rows, events };
    return { outcome: { done: true, resource: failed }, writes, bindsKey: false };
  },
});

/** Permits one more attempt, unless a resolution is proposed, which may release the money. */
export const attemptPayout = definePayoutCommand<PayoutCommand>('attempt payout', {
  rowKeys: (snapshot) => [
    rowKey(payoutResolutions, { payoutId: snapshot.id }),
    ...reportRowKeys(snapshot),
  ],
  decide: (command, payout, state) => {
    const { status } = payout;
    const message = `the payout is ${status}, so it is not submitted`;
    if (status !== 'in_progress') return refuse(invalidState(message, status, ['in_progress']));
    if (openResolution(payout, state) !== undefined) return refuse(BEING_RESOLVED);
    if (isKnownToRail(payout, state)) return refuse(KNOWN_TO_RAIL);
    if (!maySend(payout, state)) return refuse(ACCOUNT_CANNOT_SEND);
    return recordAttempt(command, payout, state);
  },
});

function maySend({ sourceAccountId }: Payout, state: LockedState): boolean {
  const source = state.account(sourceAccountId);
  if (source === undefined) throw new Error('the account of a payout does not exist');
  return capabilityRefusal(source.account) === null;
}

function recordAttempt(
  { eventId }: PayoutCommand,
  payout: Payout,
  { at }: LockedState,
): Decision<Payout> {
  const next: Payout = { ...payout, attempts: payout.attempts + 1, attemptedAt: at };
  const what = { kind: 'submission', effect: 'sent', attempt: next.attempts, at } as const;
  const rows = [changeRow(payouts, next), insertRailEvent(eventId, next, what)];
  return { outcome: { done: true, resource: next }, writes: { rows }, bindsKey: false };
}

const KNOWN_TO_RAIL = invalidState(
  'the rail has meanwhile received the payout, so it is not submitted again',
  'received',
  ['unknown'],
);
const BEING_RESOLVED = invalidState(
  'a resolution is proposed, so the payout is not submitted before it is approved or rejected',
  'proposed',
  ['none_proposed'],
);
export const ACCOUNT_CANNOT_SEND = invalidState(
  'the source account may not send, so the payout is not submitted until it may',
  'frozen',
  ['active'],
);
