import * as column from '../columns.js';
import { defineTable, type RowOf } from '../table.js';

/** Operations that move money, written in the transaction of their entries. */

/** Columns of every operation that a member requests and that spends from an account. */
export const spendingColumns = {
  id: column.uuid,
  tenantId: column.uuid,
  sourceAccountId: column.uuid,
  asset: column.asset,
  raw: column.bigint,
  feeRaw: column.bigint,
  feeAccountId: column.nullable(column.uuid),
  description: column.nullable(column.varchar(140)),
  metadata: column.metadata,
  /** For a batch's row, the member who executed the batch; for a refund, perhaps a person of the staff. */
  createdBy: column.uuid,
  /** The month whose allowance it used, in the tenant's time zone: `2026-11`. */
  limitMonth: column.asciiChar(7),
  createdAt: column.time,
};

/** Columns of operations that may wait for approval; null if they need none. */
export const approvalColumns = {
  approvalsRequired: column.nullable(column.integer),
  approvalsReceived: column.nullable(column.integer),
  approvalExpiresAt: column.nullable(column.time),
  /** `rejected` or `canceled`, or the code of the rule that refused it at its last approval. */
  rejectionCode: column.nullable(column.ascii(40)),
  rejectionReason: column.nullable(column.varchar(300)),
};

/** Columns of operations that can be refunded. */
export const refundedColumns = {
  /** The sum of completed refunds. */
  refundedRaw: column.bigint,
  /** The sum of refunds that wait for approval, which reserve their amounts. */
  refundingRaw: column.bigint,
};

export const REFUNDED_TYPES = ['transfer', 'bonus'] as const;
export type RefundedType = (typeof REFUNDED_TYPES)[number];

export const TRANSFER_STATUSES = [
  'pending_approval',
  'held',
  'completed',
  'rejected',
  'expired',
] as const;
export type TransferStatus = (typeof TRANSFER_STATUSES)[number];

export const transfers = defineTable(
  'transfers',
  {
    ...spendingColumns,
    destinationAccountId: column.uuid,
    status: column.oneOf(TRANSFER_STATUSES),
    ...approvalColumns,
    /** Seconds from `held` to the expiry; null if the transfer needs no capture. */
    captureWithinS: column.nullable(column.integer),
    /** Null until the transfer is `held`. */
    captureExpiresAt: column.nullable(column.time),
    /** The captured amount and its fee; null until then. */
    capturedRaw: column.nullable(column.bigint),
    capturedFeeRaw: column.nullable(column.bigint),
    /** The schedule whose run created the transfer, the number of the run, and when it was due. */
    scheduleId: column.nullable(column.uuid),
    scheduleRun: column.nullable(column.integer),
    scheduleDueAt: column.nullable(column.time),
    ...refundedColumns,
    /** The operation that the transfer refunds; null unless it is a refund. */
    refundOfType: column.nullable(column.asciiEnum(REFUNDED_TYPES, 16)),
    refundOfId: column.nullable(column.uuid),
  },
  {
    indexes: {
      source: ['sourceAccountId', 'createdAt', 'id'],
      status: ['tenantId', 'status', 'createdAt', 'id'],
    },
  },
);
export type Transfer = RowOf<typeof transfers>;

/** Money that enters from outside, recorded by operators. */
export const payIns = defineTable(
  'pay_ins',
  {
    id: column.uuid,
    tenantId: column.uuid,
    accountId: column.uuid,
    asset: column.asset,
    raw: column.bigint,
    /** Unique in the tenant: the idempotency key is `ops/{reference}`. */
    reference: column.ascii(64),
    description: column.nullable(column.varchar(140)),
    recordedBy: column.varchar(80),
    createdAt: column.time,
  },
  {
    unique: { reference: ['tenantId', 'reference'] },
    indexes: { account: ['accountId', 'createdAt'] },
  },
);
export type PayIn = RowOf<typeof payIns>;

export const ADJUSTMENT_DIRECTIONS = ['in', 'out'] as const;
export const ADJUSTMENT_STATUSES = ['proposed', 'posted', 'rejected'] as const;

/** A correction by operators: proposed by one person, posted by another. */
export const adjustments = defineTable(
  'adjustments',
  {
    id: column.uuid,
    tenantId: column.uuid,
    accountId: column.uuid,
    direction: column.oneOf(ADJUSTMENT_DIRECTIONS),
    asset: column.asset,
    raw: column.bigint,
    reference: column.ascii(64),
    reason: column.varchar(140),
    /** The operators' name for the refund of fees that the adjustment belongs to, if any. */
    refundName: column.nullable(column.ascii(24)),
    /** The operation whose payer gets the fee back. Null for the part of a fee account. */
    refundOperationId: column.nullable(column.uuid),
    /** 1 for the first proposal of a part, and 1 more each time after a rejection. */
    refundAttempt: column.nullable(column.integer),
    /** True while the refund of an operation is proposed or posted, otherwise null. */
    isActiveRefund: column.nullable(column.boolean),
    status: column.oneOf(ADJUSTMENT_STATUSES),
    proposedBy: column.varchar(80),
    proposedById: column.uuid,
    decidedBy: column.nullable(column.varchar(80)),
    decidedById: column.nullable(column.uuid),
    createdAt: column.time,
    decidedAt: column.nullable(column.time),
  },
  {
    unique: {
      reference: ['tenantId', 'reference'],
      activeRefund: ['refundOperationId', 'isActiveRefund'],
    },
    indexes: {
      account: ['accountId', 'createdAt'],
      refund: ['tenantId', 'refundName'],
      status: ['status', 'createdAt'],
    },
  },
);
export type Adjustment = RowOf<typeof adjustments>;
