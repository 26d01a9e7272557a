import { invalidState, type Refusal } from '../core/errors.js';
import { type Payout, payouts } from '../db/entities/payouts.js';
import { capabilityRefusal } from '../accounts/rules.js';
import type { ApprovalFeature, Ending } from '../approvals/decide.js';
import type { Approvals } from '../approvals/service.js';
import type { LockedState } from '../ledger/writer/types.js';
import { payoutEvent } from './commands.js';
import { afterProgress } from './flag.js';
import { givenBack, nextInstant } from './rules.js';

/** How a payout that waits for approval ends, and how an approved one is canceled. Pure. */
export const payoutApproval: ApprovalFeature<Payout> = {
  resourceType: 'payout',
  table: payouts,
  expiring: {
    from: `payouts t FORCE INDEX (expiring) WHERE t.status='pending_approval'`,
    expiresAt: 't.approval_expires_at',
    cannotEndSql: `t.stuck_reason<=>'contradiction'`,
  },
  operations: { approve: 'approvePayout', cancel: 'cancelPayout', alsoCanceledIn: ['approved'] },
  endRefusal: contradictionRefusal,
  railOf: ({ rail }) => rail,
  accountsOf: ({ sourceAccountId }) => [sourceAccountId],
  granted,
  ended: (payout, action, reason, state) =>
    action === 'reject' ? rejected(payout, 'rejected', reason, state) : canceled(payout, state),
  expired: (payout, state) => canceled({ ...payout, ...EXPIRED }, state),
};

export type PayoutApprovals = Approvals<Payout>;

/** Refuses to end a payout that its rail may pay although it was never submitted here. */
function contradictionRefusal({ status, stuckReason }: Payout): Refusal | null {
  if (stuckReason !== 'contradiction' || (status !== 'pending_approval' && status !== 'approved'))
    return null;
  const message =
    'its rail may know of it, so its money may have left: it cannot be ended until operators have settled that';
  return invalidState(message, status, []);
}

function granted(payout: Payout, state: LockedState): Ending<Payout> {
  const source = state.account(payout.sourceAccountId);
  if (source === undefined) throw new Error('the account of a payout does not exist');
  const refusal = capabilityRefusal(source.account);
  if (refusal !== null) return rejected(payout, refusal.code, refusal.message, state);
  const approvedAt = nextInstant(payout, state.at);
  const ended: Payout = { ...payout, status: 'approved', approvedAt };
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
  const events = [payoutEvent('payout.rejected', ended)];
  return { ended, writes: { ...givenBack(ended), events } };
}

const EXPIRED = { failureCode: 'approval_expired', failureMessage: 'it was not approved in time' };

function canceled(payout: Payout, state: LockedState): Ending<Payout> {
  const endedAt = nextInstant(payout, state.at);
  const ended: Payout = { ...afterProgress(payout), endedAt, status: 'canceled' };
  const events = [payoutEvent('payout.canceled', ended)];
  return { ended, writes: { ...givenBack(ended), events } };
}
