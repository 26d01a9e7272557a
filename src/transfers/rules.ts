import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Transfer } from '../db/entities/operations.js';
import type { Command, Posting } from '../ledger/writer/types.js';
import {
  type Fee,
  paymentColumns,
  type PaymentCommand,
  paymentEntries,
  type PaymentRequest,
} from '../accounts/rules.js';
import type { RequiredApprovals } from '../approvals/rules.js';

/** The body's schema ensures that source and destination differ. */
export interface TransferRequest extends PaymentRequest {
  readonly destinationAccountId: Uuid;
}

export interface CreateTransfer extends PaymentCommand, TransferRequest {
  readonly transferId: Uuid;
  readonly outboxId: Uuid;
}

export function newTransfer(
  command: Omit<CreateTransfer, 'outboxId' | keyof Command> & Pick<Command, 'tenantId'>,
  fee: Fee,
  limitMonth: string,
  at: Instant,
  approvals: RequiredApprovals | null,
): Transfer {
  return {
    id: command.transferId,
    destinationAccountId: command.destinationAccountId,
    status: approvals === null ? 'completed' : 'pending_approval',
    approvalsRequired: approvals?.required ?? null,
    approvalsReceived: approvals === null ? null : 0,
    approvalExpiresAt: approvals?.expiresAt ?? null,
    rejectionCode: null,
    rejectionReason: null,
    ...paymentColumns(command, fee, limitMonth, at),
  };
}

export function transferPosting(transfer: Transfer): Posting {
  const { id: relatedId, description, destinationAccountId } = transfer;
  const entries = paymentEntries('transfer', transfer, destinationAccountId);
  return { relatedType: 'transfer', relatedId, description, entries };
}
