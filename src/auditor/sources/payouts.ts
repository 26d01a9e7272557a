import type { EventType } from '../../db/entities/events.js';
import { type Payout, payouts, type PayoutStatus } from '../../db/entities/payouts.js';
import { type ExpectedApproval, type ExpectedEntry, operationSource } from './types.js';

/**
 * The event of each status that has one. `approved` follows from its own time, since a payout may be canceled before or
 * after.
 */
const ENDS: Readonly<Record<PayoutStatus, readonly EventType[]>> = {
  pending_approval: [],
  approved: [],
  in_progress: [],
  completed: ['payout.completed'],
  returned: ['payout.completed', 'payout.returned'],
  rejected: ['payout.rejected'],
  canceled: ['payout.canceled'],
  failed: ['payout.failed'],
};

/**
 * Payouts: held with the fee until they end. A returned payout has left and come back, and still counts in its month.
 * One that failed and was paid nonetheless has both events, and left by a posting without a hold.
 */
export const payoutSource = operationSource({
  resourceType: 'payout',
  table: payouts,
  monthUse: {
    accountColumn: 'source_account_id',
    monthColumn: 'limit_month',
    rawColumn: 'raw',
    condition: `status IN ('pending_approval','approved','in_progress','completed','returned')`,
  },
  expect: (payout) => {
    const { status, sourceAccountId, systemAccountId, asset, feeAccountId } = payout;
    const isHeld = status === 'pending_approval' || status === 'approved' || status === 'in_progress';
    return {
      state: status,
      accounts: [sourceAccountId, systemAccountId, ...(feeAccountId === null ? [] : [feeAccountId])],
      postings: postingsOf(payout),
      events: eventsOf(payout),
      hold: isHeld
        ? { accountId: sourceAccountId, asset, remaining: payout.raw + payout.feeRaw, expiresAt: null }
        : null,
      approval: approvalOf(payout),
    };
  },
});

function eventsOf({ status, approvedAt, failedAt }: Payout): EventType[] {
  const approved: EventType[] = approvedAt === null ? [] : ['payout.approved'];
  const failed: EventType[] = failedAt === null ? [] : ['payout.failed'];
  return [...approved, ...failed, ...ENDS[status]];
}

function approvalOf(payout: Payout): ExpectedApproval | null {
  const { createdBy, approvalsRequired, approvalsReceived, approvedAt, status } = payout;
  if (approvalsRequired === null) return null;
  return {
    required: approvalsRequired,
    received: approvalsReceived ?? 0,
    isApproved: approvedAt !== null,
    isWaiting: status === 'pending_approval',
    createdBy,
  };
}

function postingsOf(payout: Payout): ExpectedEntry[][] {
  const { sourceAccountId: source, feeAccountId, asset, raw, feeRaw, status } = payout;
  const isReturned = status === 'returned';
  if (status !== 'completed' && !isReturned) return [];
  const paid: ExpectedEntry[] = [
    { account: source, asset, raw: -raw, kind: 'payout_out', counterparty: 'pay_out' },
    { account: 'pay_out', asset, raw, kind: 'system_in', counterparty: source },
  ];
  if (feeAccountId !== null)
    paid.push(
      { account: source, asset, raw: -feeRaw, kind: 'fee_out', counterparty: feeAccountId },
      { account: feeAccountId, asset, raw: feeRaw, kind: 'adjustment_in', counterparty: source },
    );
  if (!isReturned) return [paid];
  return [
    paid,
    [
      { account: source, asset, raw, kind: 'adjustment_in', counterparty: 'pay_out' },
      { account: 'pay_out', asset, raw: -raw, kind: 'system_out', counterparty: source },
    ],
  ];
}
