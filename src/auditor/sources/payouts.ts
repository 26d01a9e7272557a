import type { EventType } from '../../db/entities/events.js';
import { type Payout, payouts, type PayoutStatus } from '../../db/entities/payouts.js';
import {
  approvalOf,
  type ExpectedEntry,
  feeAccountOf,
  feeOf,
  moved,
  operationSource,
  shownOf,
} from './types.js';

/** The event of each status that has one; `approved` follows from its own time, as a payout may be canceled after. */
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
  monthUse: `status IN ('pending_approval','approved','in_progress','completed','returned')`,
  expect: (payout) => {
    const {
      status,
      sourceAccountId,
      systemAccountId,
      asset,
      raw,
      feeRaw,
      feeAccountId,
      description,
    } = payout;
    const isHeld =
      status === 'pending_approval' || status === 'approved' || status === 'in_progress';
    const approval = approvalOf(payout, payout.approvedAt !== null);
    const debit = raw + feeRaw;
    return {
      state: status,
      description,
      accounts: [sourceAccountId, systemAccountId, ...feeAccountOf(payout)],
      fee: { raw: feeRaw, accountId: feeAccountId },
      postings: postingsOf(payout),
      events: eventsOf(payout),
      hold: {
        accountId: sourceAccountId,
        asset,
        raw: debit,
        remaining: isHeld ? debit : 0n,
        expiresAt: null,
      },
      approval,
      isKeyed: approval === null,
      shown: shownOf(payout),
    };
  },
});

function eventsOf({ status, approvedAt, failedAt }: Payout): EventType[] {
  const approved: EventType[] = approvedAt === null ? [] : ['payout.approved'];
  const failed: EventType[] = failedAt === null ? [] : ['payout.failed'];
  return [...approved, ...failed, ...ENDS[status]];
}

function postingsOf(payout: Payout): ExpectedEntry[][] {
  const { sourceAccountId: source, status } = payout;
  if (status !== 'completed' && status !== 'returned') return [];
  const paid = [
    ...moved([source, 'payout_out'], ['pay_out', 'system_in'], payout),
    ...feeOf(payout),
  ];
  const returned = moved(['pay_out', 'system_out'], [source, 'adjustment_in'], payout);
  return status === 'returned' ? [paid, returned] : [paid];
}
