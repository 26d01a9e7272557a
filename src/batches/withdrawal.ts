import { type Actor, auditRow } from '../access/audit-log.js';
import { NOT_FOUND } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import { roleAllows } from '../core/permissions.js';
import { type BonusBatch, bonusBatches, type BatchRejection } from '../db/entities/bonuses.js';
import { auditLog } from '../db/entities/identity.js';
import { memberRoles } from '../db/entities/parties.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';
import {
  changeRow,
  type Decision,
  insertRow,
  type LockedState,
  refuse,
  type RowWrite,
} from '../ledger/writer/types.js';
import { outboxWrite } from '../temporal/outbox-entry.js';
import { type BatchCommand, findOwnBatch, type MemberCommand } from './ownership.js';
import { batchOfEventResource } from './schemas.js';
import { hasLapsed, stateRefusal, WITHDRAWABLE } from './rules.js';

/** Decisions that end a ready batch without execution. (docs/contract.md, Batches) */

export interface LapseBatch extends BatchCommand {
  readonly outboxId: Uuid;
  readonly readyForMs: number;
}

export interface Canceling {
  readonly actor: Actor;
  readonly reason: string | null;
  readonly actId: Uuid;
}

interface Ending {
  readonly code: BatchRejection;
  readonly outboxId: Uuid;
  /** Null if the batch lapsed. */
  readonly by: Canceling | null;
}

/** Refuses with 404, 403 or 409. */
export function decideWithdrawal(command: MemberCommand, state: LockedState): Decision<BonusBatch> {
  const own = findOwnBatch(command, state);
  if (own === null) return refuse(NOT_FOUND, false);
  const { batch } = own;
  const { memberId, outboxId } = command;
  const role = state.row(memberRoles, { accountId: batch.sourceAccountId, memberId })?.role;
  const isUploader = batch.createdBy === memberId && role !== undefined;
  if (!roleAllows('withdrawBatch', role) && !isUploader)
    return refuse(AUTHORITY_INSUFFICIENT, false);
  if (!WITHDRAWABLE.includes(batch.status))
    return refuse(stateRefusal(batch.status, WITHDRAWABLE), false);
  const actor: Actor = { channel: 'api', name: `member:${memberId}` };
  return withdrawn(
    batch,
    { code: 'withdrawn', outboxId, by: { actor, reason: null, actId: newId() } },
    state,
  );
}

/** Does nothing and binds no key if the lapse is not due or the batch has ended. */
export function decideLapse(
  { tenantId, batchId, outboxId, readyForMs }: LapseBatch,
  state: LockedState,
): Decision<BonusBatch> {
  const batch = state.row(bonusBatches, { id: batchId });
  if (batch?.tenantId !== tenantId) return refuse(NOT_FOUND, false);
  if (!hasLapsed(batch, readyForMs, state.at))
    return { outcome: { done: true, resource: batch }, writes: {}, bindsKey: false };
  return withdrawn(batch, { code: 'lapsed', outboxId, by: null }, state);
}

export function withdrawn(
  batch: BonusBatch,
  { code, outboxId, by }: Ending,
  state: LockedState,
): Decision<BonusBatch> {
  const { id, tenantId } = batch;
  const ended: BonusBatch = {
    ...batch,
    status: 'rejected',
    rejectionCode: code,
    finishedAt: state.at,
  };
  const rows: RowWrite[] = [
    changeRow(bonusBatches, ended),
    outboxWrite({ outboxId, tenantId, resourceType: 'bonus_batch', resourceId: id }, state.at),
  ];
  if (by !== null) {
    const details = { status: ended.status, reason: by.reason, rows: batch.rowCount };
    const act = {
      tenantId,
      action: 'bonus_batch.cancel',
      subjectType: 'bonus_batch',
      subjectId: id,
      details,
    };
    rows.push(insertRow(auditLog, auditRow(by.actId, by.actor, state.at, act)));
  }
  const event = {
    tenantId,
    type: 'bonus_batch.rejected',
    resourceId: id,
    object: () => batchOfEventResource.present({ batch: ended, baseUrl: NO_FILES }),
  } as const;
  return {
    outcome: { done: true, resource: ended },
    writes: { rows, events: [event] },
    bindsKey: true,
  };
}

/** A batch that was never executed has no files. */
const NO_FILES = '';
