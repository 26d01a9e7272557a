import { type Actor, type AuditDetails, auditRow } from '../access/audit-log.js';
import type { Asset } from '../core/amount.js';
import { NOT_FOUND, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { type Approval, approvals } from '../db/entities/approvals.js';
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
  type RowWrite,
  unchanged,
  type Writes,
} from '../ledger/writer/types.js';
import { outboxWrite } from '../temporal/outbox.js';
import {
  type ApprovalActor,
  allowedFor,
  type ApprovableType,
  type ApprovalAction,
  type ApprovalColumns,
  type ApprovalOperations,
  approverOf,
  claimedName,
  isExpired,
  checkAction,
  malformedRefusal,
  PENDING_APPROVAL,
  stateRefusal,
  type ActionVerdict,
  waitingOf,
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
  /** Absent for resources without a rail. */
  readonly railOf?: (row: Row) => string;
  /** Every account that an ending may post to, which never change. */
  accountsOf(row: Row): readonly Uuid[];
  /** The account that receives the money; the last approval reads its owner. */
  readonly destinationOf?: (row: Row) => Uuid;
  granted(approved: Row, state: LockedState): Ending<Row>;
  ended(
    row: Row,
    action: 'reject' | 'cancel',
    reason: string | null,
    state: LockedState,
  ): Ending<Row>;
  expired(row: Row, state: LockedState): Ending<Row>;
}

export interface ExpiryCommand<Row> extends Command {
  /** Read before the lock, for columns that never change; null if it does not exist. */
  readonly facts: Row | null;
  /** Null if the workflow itself acts. */
  readonly outboxId: Uuid | null;
}

export interface ApprovalActionCommand<Row> extends ExpiryCommand<Row> {
  readonly action: ApprovalAction;
  readonly acting: ApprovalActor;
  /** 1 to 140 characters; null for a member's approve and cancel, and for a signal without one. */
  readonly reason: string | null;
  readonly auditId: Uuid;
  readonly approvalId: Uuid;
}

/** The last approval found that the resource no longer qualifies. */
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
  if (row === undefined) return refuse(NOT_FOUND, false);
  const attempt: Attempt<Row> = { feature, command, state };
  const { action, acting, reason } = command;
  const malformed = malformedRefusal(acting, reason);
  if (malformed !== null) return refused(attempt, row, malformed);
  const verdict = verdictOn(attempt, row);
  const cannotEnd = feature.endRefusal(row);
  switch (verdict.outcome) {
    case 'refused':
      return refused(attempt, row, verdict.refusal);
    case 'expired': {
      const { ended, writes } = withNotification(
        feature,
        command,
        feature.expired(row, state),
        state,
      );
      const refusal = stateRefusal(ended.status, allowedFor(action, feature.operations));
      return refused(attempt, ended, refusal, writes);
    }
    case 'repeated':
      return accept(row, {});
    case 'ended': {
      if (cannotEnd !== null) return refused(attempt, row, cannotEnd);
      // The action `approve` never has this outcome.
      const end = action === 'cancel' ? action : 'reject';
      return decided(attempt, feature.ended(row, end, reason, state));
    }
    case 'approved': {
      const approved: Row = { ...row, approvalsReceived: verdict.received };
      const ending = verdict.isLast
        ? feature.granted(approved, state)
        : { ended: approved, writes: {} };
      if (cannotEnd !== null && ending.ended.status === REJECTED)
        return refused(attempt, row, cannotEnd);
      return decided(attempt, ending);
    }
  }
}

/** Before the expiry, or after another ending, does nothing and binds no key. */
export function decideExpiry<Row extends Approvable>(
  feature: ApprovalFeature<Row>,
  command: ExpiryCommand<Row>,
  state: LockedState,
): Decision<Row> {
  const row = rowOf(feature, command, state);
  if (row === undefined) return refuse(NOT_FOUND, false);
  const waiting = waitingOf(row);
  const isDue = waiting?.status === PENDING_APPROVAL && isExpired(waiting, state.at);
  if (!isDue || feature.endRefusal(row) !== null) return unchanged(row);
  const { ended, writes } = withNotification(feature, command, feature.expired(row, state), state);
  return accept(ended, writes);
}

function rowOf<Row extends Approvable>(
  { table }: ApprovalFeature<Row>,
  { tenantId, facts }: ExpiryCommand<Row>,
  state: LockedState,
): Row | undefined {
  const row = facts === null ? undefined : state.row(table, { id: facts.id } as Partial<Row>);
  return row?.tenantId === tenantId ? row : undefined;
}

const NEVER = instant(Number.MAX_SAFE_INTEGER);

function verdictOn<Row extends Approvable>(
  { feature, command: { action, acting }, state }: Attempt<Row>,
  row: Row,
): ActionVerdict {
  const { id: resourceId, sourceAccountId: accountId, status, createdBy } = row;
  const rights =
    acting.by === 'member'
      ? { role: state.row(memberRoles, { accountId, memberId: acting.memberId })?.role }
      : { staff: state.row(staff, { id: acting.staff.id }) };
  // A resource that needed no approval counts as ended; a missing right is reported first.
  const ended = { status, createdBy, required: 0, received: 0, expiresAt: row.createdAt };
  const known = waitingOf(row) ?? ended;
  const waiting = feature.endRefusal(row) === null ? known : { ...known, expiresAt: NEVER };
  const { resourceType, operations } = feature;
  return checkAction(action, acting, waiting, {
    ...{ rights, approvals: state.rows(approvals, { resourceId }) },
    ...{ resourceType, operations, at: state.at },
  });
}

function withNotification<Row extends Approvable>(
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

function decided<Row extends Approvable>(
  attempt: Attempt<Row>,
  ending: Ending<Row>,
): Decision<Row> {
  const { feature, command, state } = attempt;
  const { ended, writes } = withNotification(feature, command, ending, state);
  const { action, reason } = command;
  const details = { status: ended.status, received: ended.approvalsReceived, reason };
  const rows = [...(writes.rows ?? []), auditWrite(attempt, ended, action, details)];
  if (action === 'approve')
    rows.push(insertRow(approvals, approvalRow(command, feature.resourceType, ended.id, state)));
  return accept(ended, { ...writes, rows });
}

/** Refuses an attempt. One by staff is recorded, once, because its key is bound. */
function refused<Row extends Approvable>(
  attempt: Attempt<Row>,
  row: Row,
  refusal: Refusal,
  writes: Writes = {},
): Decision<Row> {
  const { action, acting, reason } = attempt.command;
  if (acting.by === 'member') return { ...refuse(refusal, false), writes };
  const details = { status: row.status, refused: refusal.message, reason };
  const rows = [...(writes.rows ?? []), auditWrite(attempt, row, `${action}_refused`, details)];
  return { ...refuse(refusal, true), writes: { ...writes, rows } };
}

function auditWrite<Row extends Approvable>(
  { feature: { resourceType }, command: { auditId, acting }, state }: Attempt<Row>,
  { id, tenantId }: Row,
  action: string,
  details: AuditDetails,
): RowWrite {
  const subject = { tenantId, subjectType: resourceType, subjectId: id };
  const entry = { ...subject, action: `${resourceType}.${action}`, details };
  return insertRow(auditLog, auditRow(auditId, actorOf(acting), state.at, entry));
}

function actorOf(acting: ApprovalActor): Actor {
  return {
    channel: acting.by === 'member' ? 'api' : acting.staff.channel,
    name: claimedName(acting),
  };
}

function approvalRow(
  { approvalId: id, acting }: Pick<ApprovalActionCommand<never>, 'approvalId' | 'acting'>,
  resourceType: Approval['resourceType'],
  resourceId: Uuid,
  { at }: LockedState,
): Approval {
  const { channel, name } = actorOf(acting);
  return {
    id,
    resourceType,
    resourceId,
    approver: approverOf(acting),
    memberId: acting.by === 'member' ? acting.memberId : null,
    staffId: acting.by === 'staff' ? acting.staff.id : null,
    actorClaimed: name,
    channel,
    createdAt: at,
  };
}
