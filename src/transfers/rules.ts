import type { Amount } from '../core/amount.js';
import type { Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { instant, type Instant } from '../core/instant.js';
import type { Metadata } from '../core/metadata.js';
import type { Transfer } from '../db/entities/operations.js';
import type { Command, Posting } from '../ledger/writer/types.js';
import {
  type Fee,
  operationLimitRefusal,
  paymentColumns,
  type PaymentCommand,
  paymentEntries,
  type PaymentRequest,
} from '../accounts/rules.js';
import type { RequiredApprovals } from '../approvals/rules.js';

/** The body's schema ensures that source and destination differ. */
export interface TransferRequest extends PaymentRequest {
  readonly destinationAccountId: Uuid;
  /** Seconds within which the held amount can be captured; null to move the money at once. */
  readonly captureWithinS: number | null;
}

export interface RefundRequest {
  /** Null to send back all that is left. */
  readonly amount: Amount | null;
  readonly description: string | null;
  readonly metadata: Metadata | null;
}

export interface CreateTransfer extends PaymentCommand, TransferRequest {
  readonly transferId: Uuid;
  readonly outboxId: Uuid;
  /** Absent unless a schedule creates the transfer. */
  readonly schedule?: ScheduleRun;
}

export interface ScheduleRun {
  readonly id: Uuid;
  /** From 1. */
  readonly run: number;
  readonly dueAt: Instant;
}

export function newTransfer(
  command: Omit<CreateTransfer, 'outboxId' | keyof Command> & Pick<Command, 'tenantId'>,
  fee: Fee,
  limitMonth: string,
  at: Instant,
  approvals: RequiredApprovals | null,
): Transfer {
  const { captureWithinS, schedule } = command;
  const granted = captureWithinS === null ? 'completed' : 'held';
  const status = approvals === null ? granted : 'pending_approval';
  return {
    id: command.transferId,
    destinationAccountId: command.destinationAccountId,
    status,
    approvalsRequired: approvals?.required ?? null,
    approvalsReceived: approvals === null ? null : 0,
    approvalExpiresAt: approvals?.expiresAt ?? null,
    rejectionCode: null,
    rejectionReason: null,
    captureWithinS,
    captureExpiresAt: status === 'held' ? captureExpiry(at, captureWithinS) : null,
    capturedRaw: null,
    capturedFeeRaw: null,
    scheduleId: schedule?.id ?? null,
    scheduleRun: schedule?.run ?? null,
    scheduleDueAt: schedule?.dueAt ?? null,
    refundedRaw: 0n,
    refundingRaw: 0n,
    refundOfType: null,
    refundOfId: null,
    ...paymentColumns(command, fee, limitMonth, at),
  };
}

/** Returns when a transfer that becomes `held` now expires. */
export function captureExpiry(at: Instant, captureWithinS: number | null): Instant | null {
  return captureWithinS === null ? null : instant(at + captureWithinS * 1_000);
}

/** Refuses zero. The limits of the account do not apply to captures and refunds. */
export function zeroRefusal(amount: Amount): Refusal | null {
  return operationLimitRefusal(amount, { minimum: 1n, maximum: amount.raw, month: 0n });
}

/** Returns what moves from the source: the captured amount and fee once captured. */
export function movedAmount({ raw, feeRaw, feeAccountId, capturedRaw, capturedFeeRaw }: Transfer) {
  const charged = capturedFeeRaw ?? feeRaw;
  return {
    raw: capturedRaw ?? raw,
    feeRaw: charged,
    feeAccountId: charged === 0n ? null : feeAccountId,
  };
}

export function transferPosting(transfer: Transfer): Posting {
  const { id: relatedId, description, destinationAccountId } = transfer;
  const { asset, sourceAccountId } = transfer;
  const payment = { asset, sourceAccountId, ...movedAmount(transfer) };
  const entries = paymentEntries('transfer', payment, destinationAccountId);
  return { relatedType: 'transfer', relatedId, description, entries };
}
