import type { Amount, Asset } from '../core/amount.js';
import { invalidState, NOT_FOUND, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { roleAllows } from '../core/permissions.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import { type Batch, batches, type BatchRow, batchRows } from '../db/entities/batches.js';
import { memberRoles, type Tenant, tenants } from '../db/entities/parties.js';
import { checkSpending } from '../operations/payments.js';
import { AUTHORITY_INSUFFICIENT, type Fee, paymentColumns } from '../accounts/rules.js';
import { requiredApprovals } from '../approvals/rules.js';
import {
  accept,
  changeRow,
  type Decision,
  type HoldChange,
  type LockedAccount,
  type LockedState,
  refuse,
  leaveUnchanged,
  type Writes,
} from '../ledger/writer/types.js';
import type { BatchKind } from './kind.js';
import {
  withSettledRow,
  CANCELABLE,
  batchType,
  CANCELED,
  debitOf,
  EXECUTABLE,
  feeOfRow,
  isSettled,
  progressDetails,
  type RowFailure,
  SETTLED,
  stateRefusal,
  totalDebit,
  unsettledDebit,
} from './rules.js';
import {
  type BatchCommand,
  insertCancelAudit,
  type Cancellation,
  decideDueLapse,
  findOwnBatch,
  type MemberCommand,
  insertOutboxEntry,
  endReadyBatch,
  knownToRailRefusal,
  type RailKnowledge,
} from './withdrawal.js';

export interface PayRow extends BatchCommand {
  readonly number: number;
  readonly feeAccountId: Uuid | null;
  /** Asset of the batch, needed to read the month's total. */
  readonly asset: Asset;
  /** The row that must be settled first, because the funds or the month's allowance may run out. */
  readonly follows: number | null;
}

/** A row whose turn it is, and the columns that its payment has in every kind. */
export interface RowPayment {
  readonly row: BatchRow;
  readonly tenant: Tenant;
  readonly amount: Amount;
  readonly fee: Fee;
  /** The first rule about the source account that forbids the payment. */
  readonly rule: Refusal | null;
  /** The source account as if the row's share of the hold were released. */
  readonly payer: LockedAccount;
  readonly columns: ReturnType<typeof paymentColumns> &
    Pick<BatchRow, 'reference'> & { readonly batchId: Uuid; readonly batchRow: number };
}

/** Returns the payment of a row with its own writes, or why a rule refuses it. */
export type DecidePayment<C, Payment> = (
  command: C,
  row: RowPayment,
  state: LockedState,
) => { readonly payment: Payment; readonly writes: Writes } | { readonly refusal: Refusal };

interface CancelBatch extends BatchCommand, RailKnowledge {
  readonly by: Cancellation;
  readonly outboxId: Uuid;
}

/** Starts execution and, if the funds suffice, holds the whole debit. Refuses with 404, 403 or 409. */
export function decideExecution(
  { permissions, alwaysNeedsSecondPerson }: BatchKind,
  command: MemberCommand,
  state: LockedState,
): Decision<Batch> {
  const own = findOwnBatch(command, state);
  if (own === null) return refuse(NOT_FOUND);
  const { batch, source } = own;
  const { memberId, outboxId } = command;
  const { id: batchId, sourceAccountId } = batch;
  const role = state.row(memberRoles, { accountId: sourceAccountId, memberId })?.role;
  if (!roleAllows(permissions.execute, role)) return refuse(AUTHORITY_INSUFFICIENT);
  if (batch.asset !== null && memberId === batch.createdBy) {
    const policy = state.row(approvalPolicies, { accountId: sourceAccountId, asset: batch.asset });
    if (alwaysNeedsSecondPerson) return refuse(ownUpload('this batch'));
    if (requiredApprovals(policy, batch.totalRaw, state.at) !== null)
      return refuse(ownUpload('a batch of this total'));
  }
  const lapse = decideDueLapse(batch, outboxId, EXECUTABLE, state);
  if (lapse !== null) return lapse;
  if (batch.asset === null || !EXECUTABLE.includes(batch.status))
    return refuse(stateRefusal(batch.status, EXECUTABLE));

  const debit = totalDebit(batch);
  const isHeld = source.balances[batch.asset].available >= debit;
  const executing: Batch = {
    ...batch,
    status: 'executing',
    executedBy: memberId,
    executedAt: state.at,
    isHeld,
  };
  const hold: HoldChange = {
    change: 'place',
    resourceId: batchId,
    resourceType: batchType(batch),
    accountId: sourceAccountId,
    asset: batch.asset,
    raw: debit,
  };
  return accept(executing, {
    holds: isHeld ? [hold] : [],
    rows: [changeRow(batches, executing), insertOutboxEntry(outboxId, executing, state)],
  });
}

function ownUpload(what: string): Refusal {
  return {
    code: 'authority_insufficient',
    message: `${what} needs a second person: a member other than its uploader must execute it`,
    details: { reason: 'uploader' },
  };
}

export const NOT_NOW = invalidState(
  'the row is settled, or a row before it is not, or its batch is paused or not executing',
);

const ROW_CANCELED = invalidState(CANCELED.message);

/** Pays one row, or refuses it permanently, unless it is settled. (docs/contract.md, Execution) */
export function decideRow<C extends PayRow, Payment extends { readonly id: Uuid }>(
  pay: DecidePayment<C, Payment>,
  command: C,
  state: LockedState,
): Decision<Payment> {
  const { tenantId, batchId, number } = command;
  const batch = state.row(batches, { id: batchId });
  const row = state.row(batchRows, { batchId, number });
  const source = state.account(command.sourceAccountId);
  if (batch?.tenantId !== tenantId || row === undefined || source === undefined)
    return refuse(NOT_FOUND);
  if (row.status !== 'pending' || batch.status !== 'executing') return refuse(NOT_NOW);
  // Binds no key: the hold was released at the cancellation, and the row itself was not decided.
  if (batch.canceledAt !== null) {
    const writes = settleRow(batch, failRow(row, CANCELED, state));
    return { outcome: { done: false, refusal: ROW_CANCELED }, writes, bindsKey: false };
  }
  if (batch.pausedAt !== null || isBeforeItsTurn(command, state)) return refuse(NOT_NOW);
  const decided = pay(command, rowPayment(batch, row, source, state), state);
  if ('refusal' in decided) {
    const writes = settleRow(batch, failRow(row, decided.refusal, state));
    return { outcome: { done: false, refusal: decided.refusal }, writes, bindsKey: true };
  }
  const { payment, writes } = decided;
  const paid: BatchRow = { ...row, status: 'paid', paymentId: payment.id, settledAt: state.at };
  return accept(payment, joinWrites(settleRow(batch, paid), writes));
}

function isBeforeItsTurn({ batchId, follows }: PayRow, state: LockedState): boolean {
  return (
    follows !== null && state.row(batchRows, { batchId, number: follows })?.status === 'pending'
  );
}

function rowPayment(
  batch: Batch,
  row: BatchRow,
  source: LockedAccount,
  state: LockedState,
): RowPayment {
  const tenant = state.row(tenants, { id: batch.tenantId });
  const { tenantId, sourceAccountId, asset, executedBy } = batch;
  if (tenant === undefined || asset === null || executedBy === null)
    throw new Error('an executing batch has no tenant, asset or executor');
  const amount = { raw: row.raw, asset };
  const fee = feeOfRow(batch, row);
  const payer = batch.isHeld ? withShareReleased(source, batch, row) : source;
  const { month, refusal: rule } = checkSpending(state, { source: payer, tenant, amount, fee });
  const payment = {
    tenantId,
    memberId: executedBy,
    sourceAccountId,
    amount,
    description: row.description ?? batch.description,
    metadata: row.metadata,
  };
  const ofBatch = { batchId: batch.id, batchRow: row.number, reference: row.reference };
  const columns = { ...ofBatch, ...paymentColumns(payment, fee, month.name, state.at) };
  return { row, tenant, amount, fee, rule, payer, columns };
}

/** Returns the source account as if the row's share of the hold were released. */
function withShareReleased(source: LockedAccount, { asset }: Batch, row: BatchRow): LockedAccount {
  if (asset === null) return source;
  const { available, held } = source.balances[asset];
  const share = debitOf(row);
  return {
    ...source,
    balances: { ...source.balances, [asset]: { available: available + share, held: held - share } },
  };
}

function failRow(row: BatchRow, { code, message }: RowFailure, state: LockedState): BatchRow {
  return { ...row, status: 'failed', code, message, settledAt: state.at };
}

function settleRow(batch: Batch, row: BatchRow): Writes {
  const hasHold = batch.isHeld && batch.canceledAt === null;
  return {
    holds: hasHold ? [{ change: 'release', resourceId: batch.id, raw: debitOf(row) }] : [],
    rows: [changeRow(batches, withSettledRow(batch, row)), changeRow(batchRows, row)],
  };
}

function joinWrites(one: Writes, other: Writes): Writes {
  return {
    ...one,
    ...other,
    holds: [...(one.holds ?? []), ...(other.holds ?? [])],
    rows: [...(one.rows ?? []), ...(other.rows ?? [])],
  };
}

/** Withdraws a ready batch. An executing batch pays no further row, and its hold is released. */
export function decideCancel(
  { tenantId, batchId, by, outboxId, isKnownToRail }: CancelBatch,
  state: LockedState,
): Decision<Batch> {
  const batch = state.row(batches, { id: batchId });
  if (batch?.tenantId !== tenantId) return refuse(NOT_FOUND);
  const lapse = decideDueLapse(batch, outboxId, CANCELABLE, state);
  if (lapse !== null) return lapse;
  if (isSettled(batch)) return refuse(SETTLED);
  if (!CANCELABLE.includes(batch.status)) return refuse(stateRefusal(batch.status, CANCELABLE));
  if (batch.canceledAt !== null) return leaveUnchanged(batch);
  if (isKnownToRail) return refuse(knownToRailRefusal(batch));
  if (batch.status === 'ready')
    return endReadyBatch(batch, { code: 'withdrawn', outboxId, by }, state);
  const canceled: Batch = { ...batch, canceledAt: state.at };
  const raw = unsettledDebit(batch);
  return accept(canceled, {
    holds: batch.isHeld ? [{ change: 'release', resourceId: batchId, raw }] : [],
    rows: [
      changeRow(batches, canceled),
      insertCancelAudit(batch, by, { reason: by.reason, ...progressDetails(batch) }, state),
      insertOutboxEntry(outboxId, canceled, state),
    ],
  });
}
