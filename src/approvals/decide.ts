import { type AuditDetails, auditRow } from '../access/audit-log.js';
import type { Asset } from '../core/amount.js';
import { NOT_FOUND, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { type ApprovableType, type Approval, approvals } from '../db/entities/approvals.js';
import { staff } from '../db/entities/staff.js';
import { auditLog } from '../db/entities/identity.js';
import { memberRoles } from '../db/entities/parties.js';
import type { Table } from '../db/table.js';
import {
  accept,
  changeRow,
  type Command,
  type Decision,
  insertRow,
  type LockedState,
  refuse,
  type RowKey,
  type RowWrite,
  leaveUnchanged,
  type Writes,
} from '../ledger/writer/types.js';
import { outboxWrite } from '../temporal/outbox.js';
import {
  type ApprovalActor,
  allowedStatuses,
  type ApprovalAction,
  type ApprovalColumns,
  type ApprovalOperations,
  approverOf,
  auditActor,
  isExpired,
  checkAction,
  missingReasonRefusal,
  HELD,
  PENDING_APPROVAL,
  stateRefusal,
  type ActionVerdict,
  approvalProgress,
} from './rules.js';

/**
 * Decides how a resource that waits for approval ends; the first decision counts. The feature
 * defines what an ending does to the money; this file decides who may act, what counts and what is
 * recorded. (docs/contract.md, Approval)
 */

export interface Approvable extends ApprovalColumns {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly sourceAccountId: Uuid;
  readonly asset: Asset;
  readonly limitMonth: string;
  readonly createdAt: Instant;
}

export interface Ending<Row> {
  readonly ended: Row;
  readonly writes: Writes;
}

/**
 * SQL for the pending rows `t`, by an index that ends in `expiresAt`. `from` ends in a WHERE
 * clause.
 */
interface ExpiringRows {
  readonly from: string;
  readonly expiresAt: string;
  /**
   * SQL condition of rows that cannot be ended (`endRefusal`). Absent if every row can be ended.
   */
  readonly cannotEndSql?: string;
}

export interface ApprovalFeature<Row extends Approvable> {
  readonly resourceType: ApprovableType;
  readonly table: Table<Row>;
  readonly expiring: ExpiringRows;
  readonly operations: ApprovalOperations;
  /** Refuses to end the resource if its money may have left. */
  readonly endRefusal: (row: Row) => Refusal | null;
  /** When an authorised row that is not captured expires; absent for resources without capture. */
  readonly captureExpiresAt?: (row: Row) => Instant | null;
  /** Absent for resources without a rail. */
  readonly railOf?: (row: Row) => string;
  /** Every account that an ending may post to, which never change. */
  accountsOf(row: Row): readonly Uuid[];
  /** The account that receives the money; the last approval reads its owner. */
  readonly destinationOf?: (row: Row) => Uuid;
  /** Keys of further rows that an ending reads or changes, guarded by the locks on its accounts. */
  readonly furtherKeys?: (row: Row) => readonly RowKey[];
  grant(approved: Row, state: LockedState): Ending<Row>;
  end(
    row: Row,
    action: 'reject' | 'cancel',
    reason: string | null,
    state: LockedState,
  ): Ending<Row>;
  expire(row: Row, state: LockedState): Ending<Row>;
}

export interface ExpiryCommand<Row> extends Command {
  /** Read before the lock, for columns that never change; null if it does not exist. */
  readonly snapshot: Row | null;
  /** Null if the workflow itself acts. */
  readonly outboxId: Uuid | null;
}

export interface ApprovalActionCommand<Row> extends ExpiryCommand<Row> {
  readonly action: ApprovalAction;
  readonly actor: ApprovalActor;
  /** 1 to 140 characters; null for a member's approve and cancel, and for a signal without one. */
  readonly reason: string | null;
  readonly auditId: Uuid;
  readonly approvalId: Uuid;
}

/** The status after a last approval for which a rule refused the payment. */
const REJECTED = 'rejected';

interface Attempt<Row extends Approvable> {
  readonly feature: ApprovalFeature<Row>;
  readonly command: ApprovalActionCommand<Row>;
  readonly state: LockedState;
}

export function decideAction<Row extends Approvable>(
  feature: ApprovalFeature<Row>,
  command: ApprovalActionCommand<Row>,
  state: LockedState,
): Decision<Row> {
  const row = rowOf(feature, command, state);
  if (row === undefined) return refuse(NOT_FOUND);
  const attempt: Attempt<Row> = { feature, command, state };
  const { action, actor, reason } = command;
  const noReason = missingReasonRefusal(actor, reason);
  if (noReason !== null) return refuseAction(attempt, row, noReason);
  const verdict = verdictOn(attempt, row);
  const cannotEnd = feature.endRefusal(row);
  switch (verdict.outcome) {
    case 'refused':
      return refuseAction(attempt, row, verdict.refusal);
    case 'expired': {
      const { ended, writes } = addRowAndNotification(
        feature,
        command,
        feature.expire(row, state),
        state,
      );
      const refusal = stateRefusal(ended.status, allowedStatuses(action, feature.operations));
      return refuseAction(attempt, ended, refusal, writes);
    }
    case 'repeated':
      return accept(row, {});
    case 'ended': {
      if (cannotEnd !== null) return refuseAction(attempt, row, cannotEnd);
      // The action `approve` never has this outcome.
      const endAction = action === 'cancel' ? action : 'reject';
      return acceptAction(attempt, feature.end(row, endAction, reason, state));
    }
    case 'approved': {
      const approved: Row = { ...row, approvalsReceived: verdict.received };
      const ending = verdict.isLast
        ? feature.grant(approved, state)
        : { ended: approved, writes: {} };
      if (cannotEnd !== null && ending.ended.status === REJECTED)
        return refuseAction(attempt, row, cannotEnd);
      return acceptAction(attempt, ending);
    }
  }
}

/** Expires a resource. Changes nothing, and binds no key, if it is not due or has ended. */
export function decideExpiry<Row extends Approvable>(
  feature: ApprovalFeature<Row>,
  command: ExpiryCommand<Row>,
  state: LockedState,
): Decision<Row> {
  const row = rowOf(feature, command, state);
  if (row === undefined) return refuse(NOT_FOUND);
  const expiresAt = expiryOf(feature, row);
  const isDue = expiresAt !== null && isExpired({ expiresAt }, state.at);
  if (!isDue || feature.endRefusal(row) !== null) return leaveUnchanged(row);
  const { ended, writes } = addRowAndNotification(
    feature,
    command,
    feature.expire(row, state),
    state,
  );
  return accept(ended, writes);
}

/** Returns when the row expires, unless it is approved or captured before. Null if it never does. */
export function expiryOf<Row extends Approvable>(
  { captureExpiresAt }: Pick<ApprovalFeature<Row>, 'captureExpiresAt'>,
  row: Row,
): Instant | null {
  if (row.status === PENDING_APPROVAL) return row.approvalExpiresAt;
  return row.status === HELD && captureExpiresAt !== undefined ? captureExpiresAt(row) : null;
}

export function rowOf<Row extends Approvable>(
  { table }: ApprovalFeature<Row>,
  { tenantId, snapshot }: ExpiryCommand<Row>,
  state: LockedState,
): Row | undefined {
  const row = snapshot === null ? undefined : state.row(table, { id: snapshot.id } as Partial<Row>);
  return row?.tenantId === tenantId ? row : undefined;
}

const NEVER = instant(Number.MAX_SAFE_INTEGER);

function verdictOn<Row extends Approvable>(
  { feature, command: { action, actor }, state }: Attempt<Row>,
  row: Row,
): ActionVerdict {
  const { id: resourceId, sourceAccountId: accountId, status, createdBy } = row;
  const rights =
    actor.by === 'member'
      ? { role: state.row(memberRoles, { accountId, memberId: actor.memberId })?.role }
      : { staff: state.row(staff, { id: actor.staff.id }) };
  // If no approval was needed, only the rights and the status decide.
  const unneeded = { status, createdBy, required: 0, received: 0, expiresAt: row.createdAt };
  const stored = approvalProgress(row) ?? unneeded;
  // A resource that cannot be ended does not expire.
  const expiresAt = feature.endRefusal(row) === null ? expiryOf(feature, row) : null;
  const progress = { ...stored, expiresAt: expiresAt ?? NEVER };
  return checkAction(action, actor, progress, {
    rights,
    approvals: state.rows(approvals, { resourceId }),
    resourceType: feature.resourceType,
    operations: feature.operations,
    at: state.at,
  });
}

export function addRowAndNotification<Row extends Approvable>(
  { table, resourceType }: ApprovalFeature<Row>,
  { outboxId }: ExpiryCommand<Row>,
  { ended, writes }: Ending<Row>,
  { at }: LockedState,
): Ending<Row> {
  const { id: resourceId, tenantId } = ended;
  const notifications =
    outboxId === null ? [] : [outboxWrite({ outboxId, tenantId, resourceType, resourceId }, at)];
  return {
    ended,
    writes: {
      ...writes,
      rows: [changeRow(table, ended), ...(writes.rows ?? []), ...notifications],
    },
  };
}

function acceptAction<Row extends Approvable>(
  attempt: Attempt<Row>,
  ending: Ending<Row>,
): Decision<Row> {
  const { feature, command, state } = attempt;
  const { ended, writes } = addRowAndNotification(feature, command, ending, state);
  const { action, reason } = command;
  const details = { status: ended.status, received: ended.approvalsReceived, reason };
  const rows = [...(writes.rows ?? []), auditWrite(attempt, ended, action, details)];
  if (action === 'approve')
    rows.push(insertRow(approvals, approvalRow(command, feature.resourceType, ended.id, state)));
  return accept(ended, { ...writes, rows });
}

/** Refuses an action. If staff requested it, records it once, because the key is bound. */
function refuseAction<Row extends Approvable>(
  attempt: Attempt<Row>,
  row: Row,
  refusal: Refusal,
  writes: Writes = {},
): Decision<Row> {
  const { action, actor, reason } = attempt.command;
  if (actor.by === 'member') return { ...refuse(refusal), writes };
  const details = { status: row.status, refused: refusal.message, reason };
  const rows = [...(writes.rows ?? []), auditWrite(attempt, row, `${action}_refused`, details)];
  return { ...refuse(refusal), bindsKey: true, writes: { ...writes, rows } };
}

function auditWrite<Row extends Approvable>(
  { feature: { resourceType }, command: { auditId, actor }, state }: Attempt<Row>,
  { id, tenantId }: Row,
  action: ApprovalAction | `${ApprovalAction}_refused`,
  details: AuditDetails,
): RowWrite {
  const subject = { tenantId, subjectType: resourceType, subjectId: id };
  const entry = { ...subject, action: `${resourceType}.${action}` as const, details };
  return insertRow(auditLog, auditRow(auditId, auditActor(actor), state.at, entry));
}

function approvalRow(
  { approvalId: id, actor }: Pick<ApprovalActionCommand<never>, 'approvalId' | 'actor'>,
  resourceType: Approval['resourceType'],
  resourceId: Uuid,
  { at }: LockedState,
): Approval {
  const { channel, name } = auditActor(actor);
  return {
    id,
    resourceType,
    resourceId,
    approver: approverOf(actor),
    memberId: actor.by === 'member' ? actor.memberId : null,
    staffId: actor.by === 'staff' ? actor.staff.id : null,
    actorClaimed: name,
    channel,
    createdAt: at,
  };
}
