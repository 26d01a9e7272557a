import { paymentKind } from '../operations/payments.js';
import type { OperationList } from '../operations/operation-list.js';
import type { ApprovalDeps } from '../approvals/service.js';
import type { Amount } from '../core/amount.js';
import type { CommandResult } from '../core/errors.js';
import type { RequestKey } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import { type Transfer, TRANSFER_STATUSES, transfers } from '../db/entities/operations.js';
import type { CommandKind } from '../ledger/writer/types.js';
import { captureTransfer } from './capture.js';
import { decideTransfer } from './decide.js';
import type { CreateTransfer, TransferRequest } from './rules.js';

export class Transfers {
  constructor(private readonly deps: ApprovalDeps) {}

  /**
   * Creates a transfer. `id` is the id of the request and of the transfer. Never throws: refusals
   * and unknown results are returned as responses. (docs/contract.md, Transfers)
   */
  async create(
    caller: Caller,
    id: Uuid,
    request: TransferRequest,
    idempotency: RequestKey,
  ): Promise<CommandResult<Transfer>> {
    const { tenantId, memberId, deadline } = caller;
    const outboxId = newId();
    // Spreads are last because Node 20 needs a microsecond for each property that follows one.
    const command = { tenantId, memberId, transferId: id, outboxId, ...idempotency, ...request };
    const result = await this.deps.writer.submit(createTransfer, command, deadline);
    const { outcome, replayed } = result;
    if (!replayed && outcome.done && outcome.resource.status !== 'completed')
      this.deps.notifier.notify({ id: outboxId, resourceType: 'transfer', resourceId: id });
    return result;
  }

  /** Captures a held transfer, or records its expiry. `amount` is null to capture all of it. */
  async capture(
    caller: Caller,
    id: Uuid,
    amount: Amount | null,
    idempotency: RequestKey,
  ): Promise<CommandResult<Transfer>> {
    const { tenantId, memberId, deadline } = caller;
    const reader = this.deps.database.readerFor(caller);
    // Another tenant's transfer is not found, and its accounts are not locked.
    const snapshot = (await reader.find(transfers, { id, tenantId })) ?? null;
    const outboxId = newId();
    const command = { tenantId, memberId, amount, snapshot, outboxId, ...idempotency };
    const result = await this.deps.writer.submit(captureTransfer, command, deadline);
    const { outcome, replayed } = result;
    const hasEnded = outcome.done || outcome.refusal.code === 'invalid_state';
    if (snapshot?.status === 'held' && hasEnded && !replayed)
      this.deps.notifier.notify({ id: outboxId, resourceType: 'transfer', resourceId: id });
    return result;
  }
}

/** Transfers are read with any role in the source, or in a destination of the tenant. */
export const transferList: OperationList<Transfer> = {
  table: transfers,
  statuses: TRANSFER_STATUSES,
  resourceType: 'transfer',
  visibleToRolesIn: ['source_account_id', 'destination_account_id'],
};

export const createTransfer: CommandKind<CreateTransfer, Transfer> = {
  name: 'create transfer',
  resourceType: 'transfer',
  table: transfers,
  ...paymentKind('transfer', ({ destinationAccountId }) => destinationAccountId),
  decide: decideTransfer,
};
