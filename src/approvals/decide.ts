import { type AuditEntry, type Actor, auditRow } from '../access/audit-log.js';
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
  changeRow,
  type Command,
  type Decision,
  insertRow,
  type LockedState,
  refuse,
  type RowWrite,
  type Writes,
} from '../ledger/writer/types.js';
import { outboxWrite } from '../temporal/outbox-entry.js';
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
  judgeAction,
  malformedRefusal,
  PENDING_APPROVAL,
  stateRefusal,
  type ActionVerdict,
  waitingOf,
} from './rules.js';

/**
 * How a resource ends that waits for approval, in which the first decision counts. The feature
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
 * SQL over the resource `t`, with an index that ends in `expiresAt`; `from` ends within its WHERE.
 */
interface ExpiringRows {
  readonly from: string;
  readonly expiresAt: string;
  /** True for rows that cannot be ended (`endRefusal`); absent if every row can. */
  readonly lasting?: string;
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
  /**
   * Read before the lock, for columns that never change; null if the tenant has no such resource.
   */
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

export function decideAct<Row extends Approvable>(
  feature: ApprovalFeature<Row>,
  command: ApprovalActionCommand<Row>,
  state: LockedState,
): Decision<Row> {
  const row = rowOf(feature, command, state);
  if (row === undefined) return refuse(NOT_FOUND, false);
  const { action, acting, reason } = command;
  const malformed = malformedRefusal(acting, reason);
  if (malformed !== null) return refusedAct(feature, command, row, malformed, {}, state);
  const verdict = verdictOn(feature, command, row, state);
  const lasting = feature.endRefusal(row);
  switch (verdict.comes) {
    case 'to_nothing':
      return refusedAct(feature, command, row, verdict.refusal, {}, state);
    case 'too_late': {
      const { ended, writes } = written(feature, command, feature.expired(row, state), state);
      const refusal = stateRefusal(ended.status, allowedFor(action, feature.operations));
      return refusedAct(feature, command, ended, refusal, writes, state);
    }
    case 'to_the_same':
      return done(row, {});
    case 'to_an_end':
      if (lasting !== null) return refusedAct(feature, command, row, lasting, {}, state);
      // An approval never ends this way.
      return decided(
        feature,
        command,
        feature.ended(row, action === 'cancel' ? action : 'reject', reason, state),
        state,
      );
    case 'to_an_approval': {
      const approved: Row = { ...row, approvalsReceived: verdict.received };
      const ending = verdict.isLast
        ? feature.granted(approved, state)
        : { ended: approved, writes: {} };
      if (lasting !== null && ending.ended.status === REJECTED)
        return refusedAct(feature, command, row, lasting, {}, state);
      return decided(feature, command, ending, state);
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
  if (!isDue || feature.endRefusal(row) !== null)
    return { outcome: { done: true, resource: row }, writes: {}, bindsKey: false };
  const { ended, writes } = written(feature, command, feature.expired(row, state), state);
  return done(ended, writes);
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
  { resourceType, operations, endRefusal }: ApprovalFeature<Row>,
  { action, acting }: ApprovalActionCommand<Row>,
  row: Row,
  state: LockedState,
): ActionVerdict {
  const { id, sourceAccountId: accountId, status } = row;
  const isMember = acting.by === 'member';
  const standing = {
    role: isMember
      ? state.row(memberRoles, { accountId, memberId: acting.memberId })?.role
      : undefined,
    staff: isMember ? undefined : state.row(staff, { id: acting.staff.id }),
  };
  // A resource that needed no approval counts as ended; a missing right is reported first.
  const known = waitingOf(row) ?? {
    status,
    createdBy: row.createdBy,
    required: 0,
    received: 0,
    expiresAt: row.createdAt,
  };
  const waiting = endRefusal(row) === null ? known : { ...known, expiresAt: NEVER };
  const given = state.rows(approvals, { resourceId: id });
  return judgeAction(action, acting, waiting, {
    standing,
    approvals: given,
    resourceType,
    operations,
    at: state.at,
  });
}

function written<Row extends Approvable>(
  { table, resourceType }: ApprovalFeature<Row>,
  { outboxId }: ExpiryCommand<Row>,
  { ended, writes }: Ending<Row>,
  { at }: LockedState,
): Ending<Row> {
  const { id: resourceId, tenantId } = ended;
  const told =
    outboxId === null ? [] : [outboxWrite({ outboxId, tenantId, resourceType, resourceId }, at)];
  return {
    ended,
    writes: { ...writes, rows: [changeRow(table, ended), ...(writes.rows ?? []), ...told] },
  };
}

function done<Row>(resource: Row, writes: Writes): Decision<Row> {
  return { outcome: { done: true, resource }, writes, bindsKey: true };
}

function decided<Row extends Approvable>(
  feature: ApprovalFeature<Row>,
  command: ApprovalActionCommand<Row>,
  ending: Ending<Row>,
  state: LockedState,
): Decision<Row> {
  const { ended, writes } = written(feature, command, ending, state);
  const { action, acting, approvalId, reason } = command;
  const { resourceType } = feature;
  const details = { status: ended.status, received: ended.approvalsReceived, reason };
  const rows = [
    ...(writes.rows ?? []),
    audited(feature, command, ended, `${resourceType}.${action}`, details, state),
  ];
  if (action === 'approve')
    rows.push(insertRow(approvals, approvalRow(approvalId, acting, resourceType, ended.id, state)));
  return done(ended, { ...writes, rows });
}

/** Staff's refused attempt is recorded, and its key bound so that it is recorded once. */
function refusedAct<Row extends Approvable>(
  feature: ApprovalFeature<Row>,
  command: ApprovalActionCommand<Row>,
  row: Row,
  refusal: Refusal,
  writes: Writes,
  state: LockedState,
): Decision<Row> {
  const { action, acting, reason } = command;
  if (acting.by === 'member') return { ...refuse(refusal, false), writes };
  const details = { status: row.status, refused: refusal.message, reason };
  const act = audited(
    feature,
    command,
    row,
    `${feature.resourceType}.${action}_refused`,
    details,
    state,
  );
  return { ...refuse(refusal, true), writes: { ...writes, rows: [...(writes.rows ?? []), act] } };
}

function audited<Row extends Approvable>(
  { resourceType: subjectType }: ApprovalFeature<Row>,
  { auditId, acting }: ApprovalActionCommand<Row>,
  { id: subjectId, tenantId }: Row,
  action: string,
  details: NonNullable<AuditEntry['details']>,
  { at }: LockedState,
): RowWrite {
  const act: AuditEntry = { tenantId, action, subjectType, subjectId, details };
  return insertRow(auditLog, auditRow(auditId, actorOf(acting), at, act));
}

function actorOf(acting: ApprovalActor): Actor {
  return {
    channel: acting.by === 'member' ? 'api' : acting.staff.channel,
    name: claimedName(acting),
  };
}

function approvalRow(
  id: Uuid,
  acting: ApprovalActor,
  resourceType: Approval['resourceType'],
  resourceId: Uuid,
  { at }: LockedState,
): Approval {
  return {
    id,
    resourceType,
    resourceId,
    approver: approverOf(acting),
    memberId: acting.by === 'member' ? acting.memberId : null,
    staffId: acting.by === 'staff' ? acting.staff.id : null,
    actorClaimed: claimedName(acting),
    channel: actorOf(acting).channel,
    createdAt: at,
  };
}
