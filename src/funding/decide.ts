import type { AuditAction } from '../access/audit-actions.js';
import { type AuditEntry, auditRow } from '../access/audit-log.js';
import type { Amount } from '../core/amount.js';
import { NOT_FOUND } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { auditLog } from '../db/entities/identity.js';
import { type Adjustment, adjustments, type PayIn, payIns } from '../db/entities/operations.js';
import {
  accept,
  changeRow,
  type Command,
  type Decision,
  insertRow,
  type LockedAccount,
  type LockedState,
  type Posting,
  refuse,
  type RowWrite,
} from '../ledger/writer/types.js';
import type { StaffIdentity } from '../staff/rules.js';
import {
  approvalRefusal,
  closedRefusal,
  entriesOf,
  rangeRefusal,
  decidedRefusal,
} from './rules.js';

/** Pure. A refusal binds no key: the same reference may be used again once the cause is removed. */

interface StaffCommand extends Command {
  readonly by: StaffIdentity;
  readonly auditId: Uuid;
}

export interface NewPayIn {
  readonly tenantId: Uuid;
  readonly accountId: Uuid;
  readonly amount: Amount;
  /** The operator's reference, unique in the tenant: `^[A-Za-z0-9._-]{1,64}$`. */
  readonly reference: string;
  readonly description: string | null;
  readonly by: StaffIdentity;
}

export interface RecordPayIn extends StaffCommand, NewPayIn {
  readonly payInId: Uuid;
  readonly systemAccountId: Uuid;
}

/** Columns that a refund of fees stores with each of its adjustments. */
export type RefundColumns = Pick<
  Adjustment,
  'refundName' | 'refundOperationId' | 'refundAttempt' | 'isActiveRefund'
>;

export const NO_REFUND: RefundColumns = {
  refundName: null,
  refundOperationId: null,
  refundAttempt: null,
  isActiveRefund: null,
};

export interface NewAdjustment {
  readonly tenantId: Uuid;
  readonly accountId: Uuid;
  readonly direction: Adjustment['direction'];
  readonly amount: Amount;
  /** The operator's reference, unique in the tenant: `^[A-Za-z0-9._-]{1,64}$`. */
  readonly reference: string;
  /** 1 to 140 characters; the account's owner sees this as the movement's description. */
  readonly reason: string;
  readonly by: StaffIdentity;
}

export interface ProposeAdjustment extends StaffCommand, NewAdjustment {
  readonly adjustmentId: Uuid;
  readonly refund: RefundColumns;
}

export interface DecideAdjustment extends StaffCommand {
  readonly adjustmentId: Uuid;
  /** The decider's reason, next to the proposer's `reason`. */
  readonly why: string | null;
  readonly accountId: Uuid;
  readonly systemAccountId: Uuid;
}

/** (docs/contract.md, Pay-ins and adjustments) */
export function decidePayIn(command: RecordPayIn, state: LockedState): Decision<PayIn> {
  const { payInId, tenantId, accountId, amount, reference, description } = command;
  const account = findOwnAccount(state, tenantId, accountId);
  if (account === undefined) return refuse(NOT_FOUND);
  const system = findSystemAccount(state, tenantId, command.systemAccountId);
  const move = { account, system, amount, direction: 'in' } as const;
  const refusal = closedRefusal(account.account) ?? rangeRefusal(move);
  if (refusal !== null) return refuse(refusal);
  const payIn: PayIn = {
    id: payInId,
    tenantId,
    accountId,
    asset: amount.asset,
    raw: amount.raw,
    reference,
    description,
    recordedBy: command.by.name,
    createdAt: state.at,
  };
  const posting: Posting = {
    relatedType: 'payin',
    relatedId: payInId,
    description,
    entries: entriesOf(move, 'payin_in'),
  };
  return accept(payIn, {
    postings: [posting],
    rows: [insertRow(payIns, payIn), auditInsertOf(command, payInAudit(payIn), state)],
  });
}

/** Stores a proposal, which moves no money. */
export function decideProposal(
  command: ProposeAdjustment,
  state: LockedState,
): Decision<Adjustment> {
  const { adjustmentId, tenantId, accountId, direction, amount, reference, reason } = command;
  const account = findOwnAccount(state, tenantId, accountId);
  if (account === undefined) return refuse(NOT_FOUND);
  const refusal = direction === 'in' ? closedRefusal(account.account) : null;
  if (refusal !== null) return refuse(refusal);
  const adjustment: Adjustment = {
    id: adjustmentId,
    tenantId,
    accountId,
    direction,
    asset: amount.asset,
    raw: amount.raw,
    reference,
    reason,
    ...command.refund,
    status: 'proposed',
    proposedBy: command.by.name,
    proposedById: command.by.id,
    decidedBy: null,
    decidedById: null,
    createdAt: state.at,
    decidedAt: null,
  };
  return acceptAdjustment(command, 'propose', adjustment, state);
}

/** Posts a correction by a second person. A closed account can be emptied, never filled. */
export function decideApproval(
  command: DecideAdjustment,
  state: LockedState,
): Decision<Adjustment> {
  const { tenantId, accountId, by } = command;
  const account = findOwnAccount(state, tenantId, accountId);
  const adjustment = state.row(adjustments, { id: command.adjustmentId });
  if (account === undefined || adjustment?.accountId !== accountId) return refuse(NOT_FOUND);
  const { asset, raw, direction, reason } = adjustment;
  const system = findSystemAccount(state, tenantId, command.systemAccountId);
  const move = { account, system, amount: { raw, asset }, direction };
  const refusal = approvalRefusal(adjustment, by.id, move);
  if (refusal !== null) return refuse(refusal);
  const posted: Adjustment = { ...adjustment, status: 'posted', ...decisionColumns(by, state) };
  const posting: Posting = {
    relatedType: 'adjustment',
    relatedId: adjustment.id,
    description: reason,
    entries: entriesOf(move, direction === 'in' ? 'adjustment_in' : 'adjustment_out'),
  };
  return acceptAdjustment(command, 'approve', posted, state, { postings: [posting] });
}

export function decideRejection(
  command: DecideAdjustment,
  state: LockedState,
): Decision<Adjustment> {
  const adjustment = state.row(adjustments, { id: command.adjustmentId });
  if (adjustment?.tenantId !== command.tenantId) return refuse(NOT_FOUND);
  if (adjustment.status !== 'proposed') return refuse(decidedRefusal(adjustment));
  const rejected: Adjustment = {
    ...adjustment,
    status: 'rejected',
    isActiveRefund: null,
    ...decisionColumns(command.by, state),
  };
  return acceptAdjustment(command, 'reject', rejected, state);
}

function acceptAdjustment(
  command: ProposeAdjustment | DecideAdjustment,
  action: 'propose' | 'approve' | 'reject',
  adjustment: Adjustment,
  state: LockedState,
  writes: { readonly postings?: Posting[] } = {},
): Decision<Adjustment> {
  const row =
    action === 'propose' ? insertRow(adjustments, adjustment) : changeRow(adjustments, adjustment);
  const why = 'why' in command ? command.why : null;
  const auditInsert = auditInsertOf(
    command,
    adjustmentAudit(adjustment, `adjustment.${action}`, why),
    state,
  );
  return accept(adjustment, { ...writes, rows: [row, auditInsert] });
}

function decisionColumns(
  { id, name }: StaffIdentity,
  { at }: LockedState,
): Pick<Adjustment, 'decidedBy' | 'decidedById' | 'decidedAt'> {
  return { decidedBy: name, decidedById: id, decidedAt: at };
}

function auditInsertOf(
  { auditId, by }: StaffCommand,
  entry: AuditEntry,
  { at }: LockedState,
): RowWrite {
  return insertRow(auditLog, auditRow(auditId, by, at, entry));
}

function payInAudit({ tenantId, id, accountId, asset, raw, reference }: PayIn): AuditEntry {
  const details = { account_id: accountId, asset, raw: raw.toString(), reference };
  return { tenantId, action: 'payin.record', subjectType: 'payin', subjectId: id, details };
}

function adjustmentAudit(
  adjustment: Adjustment,
  action: AuditAction,
  why: string | null,
): AuditEntry {
  const { tenantId, id, accountId, direction, asset, raw, reference, reason, status, proposedBy } =
    adjustment;
  const money = { account_id: accountId, direction, asset, raw: raw.toString() };
  const decided = why === null ? {} : { why };
  const details = { ...money, reference, reason, status, proposed_by: proposedBy, ...decided };
  return { tenantId, action, subjectType: 'adjustment', subjectId: id, details };
}

function findOwnAccount(state: LockedState, tenantId: Uuid, id: Uuid): LockedAccount | undefined {
  const found = state.account(id);
  return found?.account.tenantId === tenantId && found.account.type !== 'system'
    ? found
    : undefined;
}

function findSystemAccount(state: LockedState, tenantId: Uuid, id: Uuid): LockedAccount {
  const found = state.account(id);
  if (found?.account.tenantId !== tenantId || !found.overdraft)
    throw new Error('not a system account of the tenant');
  return found;
}
