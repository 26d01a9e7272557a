import { type Actor, recordAction, wasPerformed } from '../access/audit-log.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { ApiError, notFound } from '../core/errors.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { outbox } from '../db/entities/outbox.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { lockAccount } from '../accounts/access.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import { outboxEntry } from '../temporal/outbox-entry.js';
import { cancelBatchKind } from './commands.js';
import { isSettled, PAUSABLE, SETTLED, stateRefusal } from './rules.js';

/**
 * Support's actions on a batch. Each throws not_found, invalid_state, or invalid_field (the
 * reason).
 */

export interface BatchControlDeps extends DatabaseDeps {
  readonly desk: LedgerWriter;
}

/** An action of support. A repetition with the same `actId` changes nothing. */
type Action = (
  deps: BatchControlDeps,
  batchId: Uuid,
  actor: Actor,
  reason: string,
  actId?: Uuid,
) => Promise<BonusBatch>;

/** Pauses payment after the current group. Pausing a paused batch is recorded as `unchanged`. */
export const pauseBatch: Action = (deps, ...act) => setPaused(deps, deps.clock(), ...act);

export const resumeBatch: Action = (deps, ...act) => setPaused(deps, null, ...act);

async function setPaused(
  { database, clock }: BatchControlDeps,
  pausedAt: Instant | null,
  batchId: Uuid,
  actor: Actor,
  given: string,
  actId = newId(),
): Promise<BonusBatch> {
  const reason = checkedText('reason', given, MAX_REASON);
  const { sourceAccountId } = await findBatch(database.reader, batchId);
  return transact(database, async (transaction) => {
    // The account's row guards the batch. While it is locked, no group of rows is paid.
    await lockAccount(transaction, sourceAccountId);
    const batch = await findBatch(transaction, batchId);
    if (await wasPerformed(transaction, actId)) return batch;
    if (isSettled(batch)) throw new ApiError(SETTLED);
    if (!PAUSABLE.includes(batch.status)) throw new ApiError(stateRefusal(batch.status, PAUSABLE));
    const isSame = (batch.pausedAt === null) === (pausedAt === null);
    const { tenantId } = batch;
    const details = {
      reason,
      paid: batch.rowsPaid,
      failed: batch.rowsFailed,
      rows: batch.rowCount,
    };
    const act = {
      ...{ tenantId, action: pausedAt === null ? 'bonus_batch.resume' : 'bonus_batch.pause' },
      ...{ subjectType: 'bonus_batch', subjectId: batchId },
      details: isSame ? { ...details, unchanged: true } : details,
    };
    await recordAction(transaction, actor, clock(), act, actId);
    if (isSame) return batch;
    const [pausedBy, pauseReason] = pausedAt === null ? [null, null] : [actor.name, reason];
    const set = { pausedAt, pausedBy, pauseReason };
    await transaction.execute(updateSql(bonusBatches, set, { id: batchId }));
    const entry = {
      outboxId: newId(),
      tenantId,
      resourceType: 'bonus_batch',
      resourceId: batchId,
    } as const;
    await transaction.execute(insertSql(outbox, [outboxEntry(entry, clock())]));
    return { ...batch, ...set };
  });
}

/** Withdraws a ready batch. For an executing batch, payment marks the remaining rows as failed. */
export const cancelBatch: Action = async (
  { database, desk },
  batchId,
  actor,
  reason,
  actId = newId(),
) => {
  const checked = checkedText('reason', reason, MAX_REASON);
  const { tenantId, sourceAccountId } = await findBatch(database.reader, batchId);
  const { outcome } = await desk.submit(cancelBatchKind, {
    tenantId,
    key: `bonus_batch/${batchId}/cancel`,
    fingerprint: commandFingerprint(['cancel', batchId]),
    batchId,
    sourceAccountId,
    by: { actor, reason: checked, actId },
    outboxId: newId(),
  });
  if (!outcome.done) throw new ApiError(outcome.refusal);
  return outcome.resource;
};

async function findBatch(reader: Reader, id: Uuid): Promise<BonusBatch> {
  const batch = await reader.find(bonusBatches, { id });
  if (batch === undefined) throw notFound();
  return batch;
}
