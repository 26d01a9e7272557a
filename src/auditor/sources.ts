import type { EventType } from '../db/entities/events.js';
import { adjustments, payIns, transfers, type TransferStatus } from '../db/entities/operations.js';
import {
  approvalOf,
  entryPair,
  type ExpectedEntry,
  feeAccountOf,
  feeEntries,
  operationSource,
  type OperationSource,
  eventFieldsOf,
} from './operation-source.js';
import { amountJson } from '../core/amount.js';
import { type BatchKindName, type BatchStatus, batches } from '../db/entities/batches.js';
import { bonuses } from '../db/entities/bonuses.js';
import { type Payout, payouts, type PayoutStatus } from '../db/entities/payouts.js';
import type { ResourceType } from '../db/entities/ledger.js';

const TRANSFER_EVENTS: Readonly<Record<TransferStatus, readonly EventType[]>> = {
  pending_approval: [],
  held: [],
  completed: ['transfer.completed'],
  rejected: ['transfer.rejected'],
  expired: ['transfer.expired'],
};

const transferSource = operationSource({
  resourceType: 'transfer',
  table: transfers,
  monthUse: `status IN ('pending_approval','held','completed') AND refund_of_id IS NULL`,
  monthRaw: 'COALESCE(captured_raw, raw)',
  expect: (row) => {
    const { status, sourceAccountId: source, destinationAccountId: destination, asset } = row;
    const { refundOfType: type, refundOfId } = row;
    const isHeld = status === 'held';
    const approval = approvalOf(row, isHeld || status === 'completed');
    const debit = row.raw + row.feeRaw;
    const remaining = isHeld || status === 'pending_approval' ? debit : 0n;
    const expiresAt = isHeld ? row.captureExpiresAt : row.approvalExpiresAt;
    const moved = {
      ...row,
      raw: row.capturedRaw ?? row.raw,
      feeRaw: row.capturedFeeRaw ?? row.feeRaw,
    };
    const paid = [
      ...entryPair([source, 'transfer_out'], [destination, 'transfer_in'], moved),
      ...(row.capturedFeeRaw === 0n ? [] : feeEntries(moved)),
    ];
    return {
      state: status,
      description: row.description,
      accounts: [source, destination, ...feeAccountOf(row)],
      owned: [source, ...feeAccountOf(row)],
      fee: { raw: row.feeRaw, accountId: row.feeAccountId },
      postings: status === 'completed' ? [paid] : [],
      events: TRANSFER_EVENTS[status],
      hold:
        approval === null && row.captureWithinS === null
          ? null
          : {
              accountId: source,
              asset,
              raw: debit,
              remaining,
              expiresAt: remaining === 0n ? null : expiresAt,
            },
      approval,
      isKeyed: approval === null && row.captureWithinS === null,
      scheduleId: row.scheduleId,
      refunds: {
        asset,
        received: status === 'completed' && refundOfId === null ? moved.raw : 0n,
        refunded: row.refundedRaw,
        refunding: row.refundingRaw,
      },
      refundOf: type === null || refundOfId === null ? null : { type, id: refundOfId },
      eventFields: { ...eventFieldsOf(row), fee: amountJson({ raw: moved.feeRaw, asset }) },
    };
  },
});

/** A bonus is paid when it is created. */
const bonusSource = operationSource({
  resourceType: 'bonus',
  table: bonuses,
  monthUse: 'TRUE',
  expect: (row) => {
    const { sourceAccountId: source, recipientAccountId: recipient } = row;
    const paid = entryPair([source, 'bonus_out'], [recipient, 'bonus_in'], row);
    return {
      state: 'completed',
      description: row.description,
      accounts: [source, recipient, ...feeAccountOf(row)],
      owned: [source, ...feeAccountOf(row)],
      fee: { raw: row.feeRaw, accountId: row.feeAccountId },
      postings: [[...paid, ...feeEntries(row)]],
      isKeyed: true,
      refunds: {
        asset: row.asset,
        received: row.raw,
        refunded: row.refundedRaw,
        refunding: row.refundingRaw,
      },
    };
  },
});

function batchEventsOf(kind: BatchKindName): Readonly<Record<BatchStatus, readonly EventType[]>> {
  const ready = `${kind}_batch.ready` as const;
  return {
    validating: [],
    ready: [ready],
    rejected: [`${kind}_batch.rejected`],
    executing: [ready],
    completed: [ready, `${kind}_batch.completed`],
    partially_failed: [ready, `${kind}_batch.partially_failed`],
  };
}

/** An executing batch holds the money of its pending rows, which checks/batches.ts compares. */
function batchSource(kind: BatchKindName): OperationSource {
  const events = batchEventsOf(kind);
  return operationSource({
    resourceType: `${kind}_batch`,
    table: batches,
    isOwn: (row) => row.kind === kind,
    monthUse: null,
    expect: (row) => {
      const { status, sourceAccountId: source, asset, totalRaw, feesRaw, description } = row;
      const isAccepted =
        status !== 'validating' && (status !== 'rejected' || row.rejectionCode !== null);
      const isExecuting = status === 'executing' && row.canceledAt === null;
      const debit = totalRaw + feesRaw;
      const total = asset === null ? null : amountJson({ raw: totalRaw, asset });
      const remaining = isExecuting ? debit - row.settledRaw : 0n;
      return {
        state: status,
        description,
        accounts: [source, ...feeAccountOf(row)],
        // A refused file has no fee account.
        ...(isAccepted ? { fee: { raw: feesRaw, accountId: row.feeAccountId } } : {}),
        // A withdrawn or lapsed batch was ready before.
        events: [...(row.rejectionCode === null ? [] : events.ready), ...events[status]],
        hold:
          row.isHeld && asset !== null
            ? { accountId: source, asset, raw: debit, remaining, expiresAt: null }
            : null,
        eventFields: { source_account: source, description, total },
      };
    },
  });
}

/** Events by final status, besides those that `approvedAt` and an earlier `failedAt` require. */
const FINAL_PAYOUT_EVENTS: Readonly<Record<PayoutStatus, readonly EventType[]>> = {
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
const payoutSource = operationSource({
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
        ...FINAL_PAYOUT_EVENTS[status],
      ],
      hold: { accountId: source, asset, raw: debit, remaining, expiresAt: null },
      approval,
      isKeyed: approval === null,
      eventFields: eventFieldsOf(row),
    };
  },
});

function postingsOf(payout: Payout): ExpectedEntry[][] {
  const { sourceAccountId: source, status } = payout;
  if (status !== 'completed' && status !== 'returned') return [];
  const out = entryPair([source, 'payout_out'], ['pay_out', 'system_in'], payout);
  const paid = [...out, ...feeEntries(payout)];
  const returned = entryPair(['pay_out', 'system_out'], [source, 'adjustment_in'], payout);
  return status === 'returned' ? [paid, returned] : [paid];
}

/** Money from outside, which the tenant's pay-in account owes. */
const payInSource = operationSource({
  resourceType: 'payin',
  table: payIns,
  monthUse: null,
  expect: (row) => ({
    state: 'recorded',
    description: row.description,
    accounts: [row.accountId],
    postings: [entryPair(['pay_in', 'system_out'], [row.accountId, 'payin_in'], row)],
    isKeyed: true,
  }),
});

const adjustmentSource = operationSource({
  resourceType: 'adjustment',
  table: adjustments,
  monthUse: null,
  expect: (row) => {
    const { status, accountId, asset, raw, refundOperationId: operationId } = row;
    const isPosted = status === 'posted';
    const legs =
      row.direction === 'in'
        ? entryPair(['adjustment', 'system_out'], [accountId, 'adjustment_in'], row)
        : entryPair([accountId, 'adjustment_out'], ['adjustment', 'system_in'], row);
    return {
      state: status,
      description: row.reason,
      accounts: [accountId],
      postings: isPosted ? [legs] : [],
      feeRefund:
        operationId === null || status === 'rejected'
          ? null
          : { operationId, accountId, asset, raw },
      people: isPosted ? { proposed: row.proposedById, decided: row.decidedById } : null,
    };
  },
});

/** The checks of every type of resource that moves money. */
export const SOURCE_OF: Readonly<Record<ResourceType, OperationSource>> = {
  transfer: transferSource,
  bonus: bonusSource,
  bonus_batch: batchSource('bonus'),
  payout_batch: batchSource('payout'),
  payout: payoutSource,
  payin: payInSource,
  adjustment: adjustmentSource,
};

export const SOURCES = Object.values(SOURCE_OF);
