import { readOwners } from '../accounts/access.js';
import type { ApprovalActor } from '../approvals/rules.js';
import { columnList } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { paymentKind } from '../operations/payments.js';
import type { OperationList } from '../operations/operation-list.js';
import type { ApprovalDeps } from '../approvals/service.js';
import type { Amount } from '../core/amount.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { type CommandResult, notFound } from '../core/errors.js';
import { commandFingerprint, type RequestKey } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import type { Deadline } from '../core/timers.js';
import { uuid } from '../db/columns.js';
import type { Reader } from '../db/database.js';
import {
  type RefundedType,
  type Transfer,
  TRANSFER_STATUSES,
  transfers,
} from '../db/entities/operations.js';
import type { Command, CommandKind } from '../ledger/writer/types.js';
import { assertMayAct, type StaffIdentity } from '../staff/rules.js';
import { captureTransfer } from './capture.js';
import { decideTransfer } from './decide.js';
import { type Original, ORIGINALS, receiverOf, typeOf } from './originals.js';
import { createRefund } from './refunds.js';
import type { CreateTransfer, RefundRequest, TransferRequest } from './rules.js';

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
    return this.submit(createTransfer, command, deadline);
  }

  /**
   * Refunds a transfer or bonus that an account of the caller's tenant received. `id` is the id of
   * the request and of the refund. (docs/contract.md, Refunds)
   */
  async refund(
    caller: Caller,
    original: { readonly type: RefundedType; readonly id: Uuid },
    id: Uuid,
    request: RefundRequest,
    idempotency: RequestKey,
  ): Promise<CommandResult<Transfer>> {
    const { tenantId, memberId, deadline } = caller;
    const snapshot = await findReceived(this.deps.database.readerFor(caller), original, tenantId);
    const by: ApprovalActor = { by: 'member', memberId };
    const made = { transferId: id, outboxId: newId(), auditId: newId() };
    const command = { tenantId, snapshot, by };
    return this.submit(createRefund, { ...command, ...made, ...idempotency, ...request }, deadline);
  }

  /**
   * Proposes a refund, which waits until another person approves it. `reason` has 1 to 140
   * characters, and both parties see it. Repeating an `actionId` returns the first result.
   */
  async proposeRefund(
    original: Original,
    { amount, reason, by }: ProposedRefund,
    actionId: Uuid = newId(),
  ): Promise<CommandResult<Transfer>> {
    assertMayAct('transfer.refund', by);
    const description = checkedText('reason', reason, MAX_REASON);
    const receiver = receiverOf(original);
    const tenantId = (await readOwners(this.deps.database.reader, [receiver]))(receiver);
    if (tenantId === undefined) throw notFound();
    const asked = [original.id, amount?.raw.toString() ?? '', amount?.asset ?? '', description];
    return this.submit(createRefund, {
      ...{ tenantId, snapshot: original, amount, description, metadata: null },
      by: { by: 'staff', staff: by },
      key: `${typeOf(original)}/${original.id}/refund/${actionId}`,
      fingerprint: commandFingerprint(['refund', ...asked]),
      ...{ transferId: newId(), outboxId: newId(), auditId: actionId },
    });
  }

  private async submit<C extends Command & Pick<CreateTransfer, 'outboxId'>>(
    kind: CommandKind<C, Transfer>,
    command: C,
    deadline?: Deadline,
  ): Promise<CommandResult<Transfer>> {
    const result = await this.deps.writer.submit(kind, command, deadline);
    const { outcome, replayed } = result;
    if (!replayed && outcome.done && outcome.resource.status !== 'completed') {
      const { id: resourceId } = outcome.resource;
      this.deps.notifier.notify({ id: command.outboxId, resourceType: 'transfer', resourceId });
    }
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

export interface ProposedRefund {
  /** Null to send back all that is left. */
  readonly amount: Amount | null;
  readonly reason: string;
  readonly by: StaffIdentity;
}

const RECEIVERS = { transfer: 'destination_account_id', bonus: 'recipient_account_id' } as const;

/** Returns the transfer or bonus if an account of the tenant received it, from any tenant. */
async function findReceived(
  reader: Reader,
  { type, id }: { readonly type: RefundedType; readonly id: Uuid },
  tenantId: Uuid,
): Promise<Original | null> {
  const table = ORIGINALS[type];
  const [row] = await reader.query(
    `SELECT ${columnList(table, 't')} FROM ${table.name} t JOIN accounts a ON a.id=t.${RECEIVERS[type]}
     WHERE t.id=${uuid.literal(id)} AND a.tenant_id=${uuid.literal(tenantId)}`,
  );
  return row === undefined ? null : parseRow(table, row);
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
