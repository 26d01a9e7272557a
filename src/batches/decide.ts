import { auditRow } from '../access/audit-log.js';
import { monthOf } from '../core/calendar.js';
import { invalidState, NOT_FOUND, type Refusal } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import { roleAllows } from '../core/permissions.js';
import { approvalPolicies } from '../db/entities/approvals.js';
import {
  type Bonus,
  type BonusBatch,
  bonusBatches,
  type BonusBatchRow,
  bonusBatchRows,
} from '../db/entities/bonuses.js';
import { auditLog } from '../db/entities/identity.js';
import { memberRoles, tenants } from '../db/entities/parties.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';
import { requiredApprovals } from '../approvals/rules.js';
import { bonusWrites, findRecipient, paymentRefusal } from '../bonuses/decide.js';
import { changeRow, type Decision, type HoldChange, insertRow } from '../ledger/writer/types.js';
import {
  type LockedAccount,
  type LockedState,
  refuse,
  type RowWrite,
  type Writes,
} from '../ledger/writer/types.js';
import { outboxWrite } from '../temporal/outbox-entry.js';
import { type BatchCommand, findOwnBatch, type MemberCommand } from './ownership.js';
import {
  afterRow,
  CANCELABLE,
  CANCELED,
  debitOf,
  EXECUTABLE,
  feeOfRow,
  isSettled,
  type RowFailure,
  SETTLED,
  stateRefusal,
  totalDebit,
  unsettledDebit,
} from './rules.js';
import { type Canceling, withdrawn } from './withdrawal.js';

export interface PayRow extends BatchCommand {
  readonly number: number;
  readonly recipientAccountId: Uuid;
  readonly feeAccountId: Uuid | null;
  /** The row that must be settled first, because the funds or the month's allowance may run out. */
  readonly follows: number | null;
}

export interface CancelBatch extends BatchCommand {
  readonly by: Canceling;
  readonly outboxId: Uuid;
}

/** Refuses with 404, 403 or 409, or holds the whole debit if the funds suffice. */
export function decideExecution(command: MemberCommand, state: LockedState): Decision<BonusBatch> {
  const own = findOwnBatch(command, state);
  if (own === null) return refuse(NOT_FOUND, false);
  const { batch, source } = own;
  const { memberId, outboxId, delayMs } = command;
  const { id: batchId, sourceAccountId } = batch;
  const role = state.row(memberRoles, { accountId: sourceAccountId, memberId })?.role;
  if (!roleAllows('executeBatch', role)) return refuse(AUTHORITY_INSUFFICIENT, false);
  if (batch.asset !== null && memberId === batch.createdBy) {
    const policy = state.row(approvalPolicies, { accountId: sourceAccountId, asset: batch.asset });
    if (requiredApprovals(policy, batch.totalRaw, state.at) !== null)
      return refuse(OWN_UPLOAD, false);
  }
  if (batch.asset === null || !EXECUTABLE.includes(batch.status))
    return refuse(stateRefusal(batch.status, EXECUTABLE), false);

  const debit = totalDebit(batch);
  const isHeld = source.balances[batch.asset].available >= debit;
  const executing: BonusBatch = {
    ...batch,
    status: 'executing',
    executedBy: memberId,
    executedAt: state.at,
    isHeld,
  };
  const hold: HoldChange = {
    change: 'place',
    resourceId: batchId,
    resourceType: 'bonus_batch',
    accountId: sourceAccountId,
    asset: batch.asset,
    raw: debit,
  };
  return {
    outcome: { done: true, resource: executing },
    writes: {
      holds: isHeld ? [hold] : [],
      rows: [
        changeRow(bonusBatches, executing),
        notifyWorkflow(outboxId, executing, state, delayMs()),
      ],
    },
    bindsKey: true,
  };
}

function notifyWorkflow(
  outboxId: Uuid,
  { id, tenantId }: BonusBatch,
  { at }: LockedState,
  delayMs = 0,
): RowWrite {
  return outboxWrite(
    { outboxId, tenantId, resourceType: 'bonus_batch', resourceId: id, delayMs },
    at,
  );
}

const OWN_UPLOAD: Refusal = {
  code: 'authority_insufficient',
  message:
    'from this total on the account asks for a second person: another member than the uploader executes the batch',
};

/** The row is still open, or was already settled. */
export const NOT_NOW = invalidState(
  'the row is settled, or a row before it is not, or its batch is paused or not executing',
);

const ROW_CANCELED = invalidState(CANCELED.message);

/** Pays one row, or refuses it permanently, unless it is settled. (docs/contract.md, Execution) */
export function decideRow(command: PayRow, state: LockedState): Decision<Bonus> {
  const { tenantId, batchId, number } = command;
  const batch = state.row(bonusBatches, { id: batchId });
  const row = state.row(bonusBatchRows, { batchId, number });
  const source = state.account(command.sourceAccountId);
  if (batch?.tenantId !== tenantId || row === undefined || source === undefined)
    return refuse(NOT_FOUND, false);
  if (row.status !== 'pending' || batch.status !== 'executing') return refuse(NOT_NOW, false);
  // Binds no key: the hold was released at the cancellation, and the row itself was not decided.
  if (batch.canceledAt !== null) {
    const writes = settled(batch, failed(row, CANCELED, state));
    return { outcome: { done: false, refusal: ROW_CANCELED }, writes, bindsKey: false };
  }
  if (batch.pausedAt !== null || isBeforeItsTurn(command, state)) return refuse(NOT_NOW, false);
  const decided = payRow(batch, row, source, state);
  if ('refusal' in decided) {
    const writes = settled(batch, failed(row, decided.refusal, state));
    return { outcome: { done: false, refusal: decided.refusal }, writes, bindsKey: true };
  }
  const { bonus } = decided;
  const paid: BonusBatchRow = { ...row, status: 'paid', bonusId: bonus.id, settledAt: state.at };
  return {
    outcome: { done: true, resource: bonus },
    writes: joined(settled(batch, paid), bonusWrites(bonus)),
    bindsKey: true,
  };
}

function isBeforeItsTurn({ batchId, follows }: PayRow, state: LockedState): boolean {
  return (
    follows !== null &&
    state.row(bonusBatchRows, { batchId, number: follows })?.status === 'pending'
  );
}

function payRow(
  batch: BonusBatch,
  row: BonusBatchRow,
  source: LockedAccount,
  state: LockedState,
): { readonly bonus: Bonus } | { readonly refusal: Refusal } {
  const tenant = state.row(tenants, { id: batch.tenantId });
  const { asset, executedBy } = batch;
  if (tenant === undefined || asset === null || executedBy === null)
    throw new Error('an executing batch lacks a part');
  const recipient = findRecipient(state, tenant, row.recipientAccountId);
  if (recipient === undefined) return { refusal: NOT_FOUND };
  const amount = { raw: row.raw, asset };
  const fee = feeOfRow(batch, row);
  const payer = batch.isHeld ? withHeld(source, batch, row) : source;
  const refusal = paymentRefusal(state, { source: payer, recipient, tenant, amount, fee });
  if (refusal !== null) return { refusal };
  const bonus: Bonus = {
    id: newId(),
    tenantId: batch.tenantId,
    sourceAccountId: batch.sourceAccountId,
    recipientAccountId: row.recipientAccountId,
    asset,
    raw: row.raw,
    feeRaw: row.feeRaw,
    feeAccountId: fee.accountId,
    description: row.description ?? batch.description,
    reference: row.reference,
    createdBy: executedBy,
    batchId: batch.id,
    batchRow: row.number,
    limitMonth: monthOf(state.at, tenant.timeZone).name,
    createdAt: state.at,
  };
  return { bonus };
}

/** The source account with the row's share of the hold released, for deciding this row. */
function withHeld(source: LockedAccount, { asset }: BonusBatch, row: BonusBatchRow): LockedAccount {
  if (asset === null) return source;
  const { available, held } = source.balances[asset];
  const share = debitOf(row);
  return {
    ...source,
    balances: { ...source.balances, [asset]: { available: available + share, held: held - share } },
  };
}

function failed(
  row: BonusBatchRow,
  { code, message }: RowFailure,
  state: LockedState,
): BonusBatchRow {
  return { ...row, status: 'failed', code, message, settledAt: state.at };
}

function settled(batch: BonusBatch, row: BonusBatchRow): Writes {
  const hasHold = batch.isHeld && batch.canceledAt === null;
  return {
    holds: hasHold ? [{ change: 'release', resourceId: batch.id, raw: debitOf(row) }] : [],
    rows: [
      changeRow(bonusBatches, afterRow(batch, row, row.status === 'paid')),
      changeRow(bonusBatchRows, row),
    ],
  };
}

function joined(one: Writes, other: Writes): Writes {
  return { ...one, ...other, rows: [...(one.rows ?? []), ...(other.rows ?? [])] };
}

/** Withdraws a ready batch. An executing batch pays no further row, and its hold is released. */
export function decideCancel(
  { tenantId, batchId, by, outboxId }: CancelBatch,
  state: LockedState,
): Decision<BonusBatch> {
  const batch = state.row(bonusBatches, { id: batchId });
  if (batch?.tenantId !== tenantId) return refuse(NOT_FOUND, false);
  if (batch.status === 'ready') return withdrawn(batch, { code: 'withdrawn', outboxId, by }, state);
  if (isSettled(batch)) return refuse(SETTLED, false);
  if (!CANCELABLE.includes(batch.status))
    return refuse(stateRefusal(batch.status, CANCELABLE), false);
  if (batch.canceledAt !== null)
    return { outcome: { done: true, resource: batch }, writes: {}, bindsKey: false };
  const canceled: BonusBatch = { ...batch, canceledAt: state.at };
  const act = auditRow(by.actId, by.actor, state.at, {
    tenantId,
    action: 'bonus_batch.cancel',
    subjectType: 'bonus_batch',
    subjectId: batchId,
    details: {
      reason: by.reason,
      paid: batch.rowsPaid,
      failed: batch.rowsFailed,
      rows: batch.rowCount,
    },
  });
  return {
    outcome: { done: true, resource: canceled },
    writes: {
      holds: batch.isHeld
        ? [{ change: 'release', resourceId: batchId, raw: unsettledDebit(batch) }]
        : [],
      rows: [
        changeRow(bonusBatches, canceled),
        insertRow(auditLog, act),
        notifyWorkflow(outboxId, canceled, state),
      ],
    },
    bindsKey: true,
  };
}
