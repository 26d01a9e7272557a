import type { Amount } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Transfer } from '../db/entities/operations.js';
import type { Command, Posting } from '../ledger/writer/types.js';
import { type Fee, paymentEntries } from '../accounts/rules.js';
import type { RequiredApprovals } from '../approvals/rules.js';

/** The body's schema ensures that source and destination differ. */
export interface TransferRequest {
  readonly sourceAccountId: Uuid;
  readonly destinationAccountId: Uuid;
  readonly amount: Amount;
  readonly description: string | null;
}

export interface CreateTransfer extends Command, TransferRequest {
  readonly transferId: Uuid;
  readonly memberId: Uuid;
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
    tenantId: command.tenantId,
    sourceAccountId: command.sourceAccountId,
    destinationAccountId: command.destinationAccountId,
    asset: command.amount.asset,
    raw: command.amount.raw,
    feeRaw: fee.raw,
    feeAccountId: fee.accountId,
    description: command.description,
    status: approvals === null ? 'completed' : 'pending_approval',
    createdBy: command.memberId,
    limitMonth,
    createdAt: at,
    approvalsRequired: approvals?.required ?? null,
    approvalsReceived: approvals === null ? null : 0,
    approvalExpiresAt: approvals?.expiresAt ?? null,
    rejectionCode: null,
    rejectionReason: null,
  };
}

export function transferPosting(transfer: Transfer): Posting {
  const { id: relatedId, description, destinationAccountId } = transfer;
  const entries = paymentEntries('transfer', transfer, destinationAccountId);
  return { relatedType: 'transfer', relatedId, description, entries };
}
