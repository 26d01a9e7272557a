import { type Actor, recordAction, recordOnce, wasPerformed } from '../access/audit-log.js';
import { lockAccount } from '../accounts/access.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { ApiError, existing, type Refusal } from '../core/errors.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { outbox } from '../db/entities/outbox.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import { standingRefusal } from '../staff/people.js';
import type { StaffIdentity } from '../staff/rules.js';
import type { BatchActionSignal } from '../temporal/contracts.js';
import { outboxEntry } from '../temporal/outbox.js';
import { cancelBatchKind } from './commands.js';
import {
  batchAudit,
  isSettled,
  PAUSABLE,
  progressDetails,
  SETTLED,
  stateRefusal,
} from './rules.js';

/**
 * Support's actions on a batch, which throw not_found, invalid_state, invalid_field (the reason).
 */

export interface BatchControlDeps extends DatabaseDeps {
  readonly writer: LedgerWriter;
}

/** A repetition with the same `actionId` changes nothing. */
type Action = (
  deps: BatchControlDeps,
  batchId: Uuid,
  actor: Actor,
  reason: string,
  actionId?: Uuid,
) => Promise<BonusBatch>;

/** Pauses payment after the current group. Pausing a paused batch is recorded as `unchanged`. */
export const pauseBatch: Action = (deps, ...request) => setPaused(deps, deps.clock(), ...request);

export const resumeBatch: Action = (deps, ...request) => setPaused(deps, null, ...request);

async function setPaused(
  { database, clock }: BatchControlDeps,
  pausedAt: Instant | null,
  batchId: Uuid,
  actor: Actor,
  given: string,
  actionId = newId(),
): Promise<BonusBatch> {
  const reason = checkedText('reason', given, MAX_REASON);
  const { sourceAccountId } = await findBatch(database.reader, batchId);
  return transact(database, async (transaction) => {
    // The account's row guards the batch. While it is locked, no group of rows is paid.
    await lockAccount(transaction, sourceAccountId);
    const batch = await findBatch(transaction, batchId);
    if (await wasPerformed(transaction, actionId)) return batch;
    if (isSettled(batch)) throw new ApiError(SETTLED);
    if (!PAUSABLE.includes(batch.status)) throw new ApiError(stateRefusal(batch.status, PAUSABLE));
    const isSame = (batch.pausedAt === null) === (pausedAt === null);
    const { tenantId } = batch;
    const entry = batchAudit(batch, pausedAt === null ? 'resume' : 'pause', {
      reason,
      ...progressDetails(batch),
      ...(isSame ? { unchanged: true } : {}),
    });
    await recordAction(transaction, actor, clock(), entry, actionId);
    if (isSame) return batch;
    const [pausedBy, pauseReason] = pausedAt === null ? [null, null] : [actor.name, reason];
    const set = { pausedAt, pausedBy, pauseReason };
    await transaction.execute(updateSql(bonusBatches, set, { id: batchId }));
    const resource = { tenantId, resourceType: 'bonus_batch', resourceId: batchId } as const;
    const notice = outboxEntry({ outboxId: newId(), ...resource }, clock());
    await transaction.execute(insertSql(outbox, [notice]));
    return { ...batch, ...set };
  });
}

/** Withdraws a ready batch. For an executing batch, payment marks the remaining rows as failed. */
export const cancelBatch: Action = async (
  { database, writer },
  batchId,
  actor,
  reason,
  actionId = newId(),
) => {
  const checked = checkedText('reason', reason, MAX_REASON);
  const { tenantId, sourceAccountId } = await findBatch(database.reader, batchId);
  const { outcome } = await writer.submit(cancelBatchKind, {
    tenantId,
    key: `bonus_batch/${batchId}/cancel`,
    fingerprint: commandFingerprint(['cancel', batchId]),
    batchId,
    sourceAccountId,
    by: { actor, reason: checked, actionId },
    outboxId: newId(),
  });
  if (!outcome.done) throw new ApiError(outcome.refusal);
  return outcome.resource;
};

async function findBatch(reader: Reader, id: Uuid): Promise<BonusBatch> {
  return existing(await reader.find(bonusBatches, { id }));
}

interface StaffRequest {
  readonly batchId: Uuid;
  readonly action: BatchActionSignal['action'];
  readonly by: StaffIdentity;
  readonly reason: string;
  /** Equal for all retries. An action that was performed or refused is not repeated. */
  readonly actionId: Uuid;
}

const ACTS = { pause: pauseBatch, resume: resumeBatch, cancel: cancelBatch } as const;

/** Performs a staff action on a batch. A refused action changes nothing and is recorded. */
export async function performBatchAction(
  deps: BatchControlDeps,
  request: StaffRequest,
): Promise<{ readonly batch: BonusBatch } | { readonly refusal: Refusal }> {
  const { batchId, action, by, reason, actionId } = request;
  try {
    if (!(await wasPerformed(deps.database.current, actionId))) {
      const refusal = await standingRefusal(deps.database.reader, `bonus_batch.${action}`, by);
      if (refusal !== null) throw new ApiError(refusal);
    }
    return { batch: await ACTS[action](deps, batchId, by, reason, actionId) };
  } catch (failure) {
    if (!(failure instanceof ApiError) || !FINAL.has(failure.refusal.code)) throw failure;
    const batch = existing(await deps.database.reader.find(bonusBatches, { id: batchId }));
    const refused = failure.refusal.message;
    await recordOnce(deps, actionId, by, batchAudit(batch, `${action}_refused`, { refused }));
    return { refusal: failure.refusal };
  }
}

const FINAL = new Set<string>(['authority_insufficient', 'invalid_field', 'invalid_state']);
