import type { Amount } from '../core/amount.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Transfer } from '../db/entities/operations.js';
import type { Command, EntryDraft } from '../ledger/desk/types.js';
import { type Fee, feeEntries } from '../accounts/rules.js';

/** What a member asks for. Source and destination differ: the body's schema sees to it. */
export interface CreateTransfer extends Command {
  readonly transferId: Uuid;
  readonly memberId: Uuid;
  readonly sourceAccountId: Uuid;
  readonly destinationAccountId: Uuid;
  readonly amount: Amount;
  readonly description: string | null;
}

/** The row of a transfer that completes at once. */
export function completedTransfer(command: CreateTransfer, fee: Fee, limitMonth: string, at: Instant): Transfer {
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
    status: 'completed',
    createdBy: command.memberId,
    limitMonth,
    createdAt: at,
  };
}

/** The amount to the destination and, as a movement of its own, the fee to the fee account. */
export function transferEntries(transfer: Transfer): EntryDraft[] {
  const { sourceAccountId: source, destinationAccountId: destination, feeAccountId, asset, raw, feeRaw } = transfer;
  const legs: EntryDraft[] = [
    { accountId: source, asset, raw: -raw, kind: 'transfer_out', counterpartyAccountId: destination },
    { accountId: destination, asset, raw, kind: 'transfer_in', counterpartyAccountId: source },
  ];
  if (feeAccountId !== null) legs.push(...feeEntries(source, feeAccountId, asset, feeRaw));
  return legs;
}
