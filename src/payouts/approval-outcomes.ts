import { invalidState, type Refusal } from '../core/errors.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { capabilityRefusal } from '../accounts/rules.js';
import type { ApprovalFeature, Ending } from '../approvals/decide.js';
import type { Approvals } from '../approvals/service.js';
import type { HoldChange, LockedState, Writes } from '../ledger/writer/types.js';
import { payoutEvent } from './decide.js';
import { calmed, nextInstant } from './rules.js';

/** Also how an approved one is canceled before the rail has it. Pure. (docs/contract.md, Payouts) */
export const payoutApproval: ApprovalFeature<Payout> = {
  resourceType: 'payout',
  table: payouts,
  expiring: {
    from: `payouts t FORCE INDEX (expiring) WHERE t.status='pending_approval'`,
    expiresAt: 't.approval_expires_at',
    lasting: `t.stuck_reason<=>'contradiction'`,
  },
  operations: { approve: 'approvePayout', cancel: 'cancelPayout', alsoCanceledIn: ['approved'] },
  endRefusal: contradictionRefusal,
  railOf: ({ rail }) => rail,
  // Ending one posts nothing: the held money becomes available again.
  accountsOf: ({ sourceAccountId }) => [sourceAccountId],
  granted,
  ended: (payout, action, reason, state) =>
    action === 'reject'
      ? rejected(payout, 'rejected', reason, state)
      : canceled({ ...payout, endedAt: nextInstant(payout, state.at) }),
  expired: (payout, state) =>
    canceled({
      ...payout,
      endedAt: nextInstant(payout, state.at),
      failureCode: 'approval_expired',
      failureMessage: 'it was not approved in time',
    }),
};

/** What members, the staff and time do to one. */
export type PayoutApprovals = Approvals<Payout>;

/** The rail knows, or has to be asked after a restore, of an order that it was never given here: it may be paid. */
function contradictionRefusal({ status, stuckReason }: Payout): Refusal | null {
  if (stuckReason !== 'contradiction' || (status !== 'pending_approval' && status !== 'approved'))
    return null;
  const message =
    'its rail may know of it, so its money may have left: it cannot be ended until operators have settled that';
  return invalidState(message, status, []);
}

/** The last approval: verification and status are checked once more, then it proceeds. */
function granted(payout: Payout, state: LockedState): Ending<Payout> {
  const source = state.account(payout.sourceAccountId);
  if (source === undefined) throw new Error('the account of a payout does not exist');
  const refusal = capabilityRefusal(source.account);
  if (refusal !== null) return rejected(payout, refusal.code, refusal.message, state);
  const ended: Payout = {
    ...payout,
    status: 'approved',
    approvedAt: nextInstant(payout, state.at),
  };
  return { ended, writes: { events: [payoutEvent('payout.approved', ended)] } };
}

function rejected(
  payout: Payout,
  rejectionCode: string,
  rejectionReason: string | null,
  state: LockedState,
): Ending<Payout> {
  const endedAt = nextInstant(payout, state.at);
  const ended: Payout = { ...payout, status: 'rejected', endedAt, rejectionCode, rejectionReason };
  return {
    ended,
    writes: { ...givenBack(ended), events: [payoutEvent('payout.rejected', ended)] },
  };
}

function canceled(payout: Payout): Ending<Payout> {
  const ended: Payout = { ...payout, ...calmed(payout), status: 'canceled' };
  return {
    ended,
    writes: { ...givenBack(ended), events: [payoutEvent('payout.canceled', ended)] },
  };
}

export function released({ id, raw, feeRaw }: Payout): HoldChange {
  return { change: 'release', resourceId: id, raw: raw + feeRaw };
}

/** Nothing leaves: releases the hold and restores the month's allowance. */
export function givenBack(payout: Payout): Writes {
  const { sourceAccountId: accountId, asset, limitMonth: month, raw } = payout;
  return { holds: [released(payout)], months: [{ accountId, asset, month, raw: -raw }] };
}
