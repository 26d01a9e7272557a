import { type Actor, type AuditDetails, auditRow } from '../access/audit-log.js';
import { invalidState, NOT_FOUND, type Refusal } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import { roleAllows } from '../core/permissions.js';
import {
  type BatchRejection,
  type BatchStatus,
  type Batch,
  batches,
} from '../db/entities/batches.js';
import { auditLog } from '../db/entities/identity.js';
import { memberRoles } from '../db/entities/parties.js';
import { AUTHORITY_INSUFFICIENT } from '../accounts/rules.js';
import {
  accept,
  changeRow,
  type Command,
  type Decision,
  insertRow,
  type LockedAccount,
  type LockedState,
  refuse,
  type RowWrite,
  leaveUnchanged,
} from '../ledger/writer/types.js';
import { outboxWrite } from '../temporal/outbox.js';
import { batchEvent } from './schemas.js';
import type { BatchKind } from './kind.js';
import { batchAudit, batchType, hasLapsed, READY_MS, stateRefusal, WITHDRAWABLE } from './rules.js';

/** Decisions that end a ready batch without execution. (docs/contract.md, Batches) */

/** A command about one batch. */
export interface BatchCommand extends Command {
  readonly batchId: Uuid;
  readonly sourceAccountId: Uuid;
}

export interface RailKnowledge {
  /** Whether a rail may have paid an open row in time that a restore lost. */
  readonly isKnownToRail: boolean;
}

export interface MemberCommand extends Command, RailKnowledge {
  readonly batchId: Uuid;
  readonly sourceAccountId: Uuid | null;
  readonly memberId: Uuid;
  readonly outboxId: Uuid;
}

export function findOwnBatch(
  { tenantId, batchId, sourceAccountId }: MemberCommand,
  state: LockedState,
): { readonly batch: Batch; readonly source: LockedAccount } | null {
  const source = sourceAccountId === null ? undefined : state.accountIfLocked(sourceAccountId);
  const batch = source === undefined ? undefined : state.row(batches, { id: batchId });
  return source === undefined || batch?.tenantId !== tenantId ? null : { batch, source };
}

interface LapseBatch extends BatchCommand {
  readonly outboxId: Uuid;
  readonly readyForMs: number;
}

export interface Cancellation {
  readonly actor: Actor;
  readonly reason: string | null;
  readonly actionId: Uuid;
}

interface Withdrawal {
  readonly code: BatchRejection;
  readonly outboxId: Uuid;
  /** Null if the batch lapsed. */
  readonly by: Cancellation | null;
}

/** Refuses with 404, 403 or 409. */
export function decideWithdrawal(
  { permissions }: BatchKind,
  command: MemberCommand,
  state: LockedState,
): Decision<Batch> {
  const own = findOwnBatch(command, state);
  if (own === null) return refuse(NOT_FOUND);
  const { batch } = own;
  const { memberId, outboxId } = command;
  const role = state.row(memberRoles, { accountId: batch.sourceAccountId, memberId })?.role;
  const isUploader = batch.createdBy === memberId && role !== undefined;
  if (!roleAllows(permissions.withdraw, role) && !isUploader) return refuse(AUTHORITY_INSUFFICIENT);
  const lapse = decideDueLapse(batch, outboxId, WITHDRAWABLE, state);
  if (lapse !== null) return lapse;
  if (!WITHDRAWABLE.includes(batch.status)) return refuse(stateRefusal(batch.status, WITHDRAWABLE));
  if (command.isKnownToRail) return refuse(knownToRailRefusal(batch));
  const actor: Actor = { channel: 'api', name: `member:${memberId}` };
  return endReadyBatch(
    batch,
    { code: 'withdrawn', outboxId, by: { actor, reason: null, actionId: newId() } },
    state,
  );
}

/** Refuses to end rows whose money may have left, before they have become payouts that ask their rail. */
export function knownToRailRefusal({ status }: Batch): Refusal {
  const message =
    'a rail may have paid rows of this batch in the time that a restore lost: let the batch execute until they are payouts';
  return invalidState(message, status, []);
}

/** Does nothing and binds no key if the lapse is not due or the batch has ended. */
export function decideLapse(
  { tenantId, batchId, outboxId, readyForMs }: LapseBatch,
  state: LockedState,
): Decision<Batch> {
  const batch = state.row(batches, { id: batchId });
  if (batch?.tenantId !== tenantId) return refuse(NOT_FOUND);
  if (!hasLapsed(batch, readyForMs, state.at)) return leaveUnchanged(batch);
  return endReadyBatch(batch, { code: 'lapsed', outboxId, by: null }, state);
}

/** Ends a batch that has lapsed, and refuses the action that found it. Returns null for any other batch. */
export function decideDueLapse(
  batch: Batch,
  outboxId: Uuid,
  allowed: readonly BatchStatus[],
  state: LockedState,
): Decision<Batch> | null {
  if (!hasLapsed(batch, READY_MS, state.at)) return null;
  const { writes } = endReadyBatch(batch, { code: 'lapsed', outboxId, by: null }, state);
  const refusal = stateRefusal('rejected', allowed);
  return { outcome: { done: false, refusal }, writes, bindsKey: false };
}

export function endReadyBatch(
  batch: Batch,
  { code, outboxId, by }: Withdrawal,
  state: LockedState,
): Decision<Batch> {
  const end = { status: 'rejected', rejectionCode: code, finishedAt: state.at } as const;
  const ended: Batch = { ...batch, ...end };
  const rows = [changeRow(batches, ended), insertOutboxEntry(outboxId, ended, state)];
  if (by !== null) {
    const details = { status: ended.status, reason: by.reason, rows: batch.rowCount };
    rows.push(insertCancelAudit(ended, by, details, state));
  }
  return accept(ended, {
    rows,
    events: [batchEvent('rejected', ended, NO_BASE_URL)],
  });
}

/** Not needed, because a batch that was never executed has no files to link to. */
const NO_BASE_URL = '';

export function insertOutboxEntry(outboxId: Uuid, batch: Batch, { at }: LockedState): RowWrite {
  const { id: resourceId, tenantId } = batch;
  return outboxWrite({ outboxId, tenantId, resourceType: batchType(batch), resourceId }, at);
}

export function insertCancelAudit(
  batch: Batch,
  { actor, actionId }: Cancellation,
  details: AuditDetails,
  { at }: LockedState,
): RowWrite {
  const entry = batchAudit(batch, 'cancel', details);
  return insertRow(auditLog, auditRow(actionId, actor, at, entry));
}
