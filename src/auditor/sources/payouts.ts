import type { EventType } from '../../db/entities/events.js';
import { type Payout, payouts, type PayoutStatus } from '../../db/entities/payouts.js';
import {
  approvalOf,
  type ExpectedEntry,
  feeAccountOf,
  feeOf,
  entryPair,
  operationSource,
  shownOf,
} from './types.js';

/** Events by final status. `approvedAt` and `failedAt` determine the events of these two. */
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
 * A returned payout has two postings and counts in its month. A payout that was paid after it had
 * failed has the events of both.
 */
export const payoutSource = operationSource({
  resourceType: 'payout',
  table: payouts,
  monthUse: `status IN ('pending_approval','approved','in_progress','completed','returned')`,
  expect: (row) => {
    const { status, sourceAccountId: source, asset } = row;
    const isHeld = ['pending_approval', 'approved', 'in_progress'].includes(status);
    const approval = approvalOf(row, row.approvedAt !== null);
    const debit = row.raw + row.feeRaw;
    const remaining = isHeld ? debit : 0n;
    return {
      state: status,
      description: row.description,
      accounts: [source, row.systemAccountId, ...feeAccountOf(row)],
      fee: { raw: row.feeRaw, accountId: row.feeAccountId },
      postings: postingsOf(row),
      events: [
        ...(row.approvedAt === null ? [] : (['payout.approved'] as const)),
        ...(row.failedAt === null ? [] : (['payout.failed'] as const)),
        ...ENDS[status],
      ],
      hold: { accountId: source, asset, raw: debit, remaining, expiresAt: null },
      approval,
      isKeyed: approval === null,
      shown: shownOf(row),
    };
  },
});

function postingsOf(payout: Payout): ExpectedEntry[][] {
  const { sourceAccountId: source, status } = payout;
  if (status !== 'completed' && status !== 'returned') return [];
  const out = entryPair([source, 'payout_out'], ['pay_out', 'system_in'], payout);
  const paid = [...out, ...feeOf(payout)];
  const returned = entryPair(['pay_out', 'system_out'], [source, 'adjustment_in'], payout);
  return status === 'returned' ? [paid, returned] : [paid];
}
