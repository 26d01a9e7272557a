import { type Actor, recordAction, recordOnce, wasPerformed } from '../access/audit-log.js';
import { lockAccount } from '../accounts/access.js';
import { checkedText, MAX_REASON } from '../core/checked-text.js';
import { ApiError, assertFound, type Refusal } from '../core/errors.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { DatabaseDeps, Reader } from '../db/database.js';
import { type Batch, batches } from '../db/entities/batches.js';
import { outbox } from '../db/entities/outbox.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import type { LedgerWriter } from '../ledger/writer/ledger-writer.js';
import { currentRefusal } from '../staff/people.js';
import type { StaffIdentity } from '../staff/rules.js';
import type { BatchActionSignal } from '../temporal/contracts.js';
import { outboxEntry } from '../temporal/outbox.js';
import { cancelCommands } from './commands.js';
import { isKnownToRail } from './restored-rows.js';
import {
  batchAudit,
  batchType,
  isSettled,
  PAUSABLE,
  progressDetails,
  SETTLED,
  stateRefusal,
} from './rules.js';

export interface BatchControlDeps extends DatabaseDeps {
  readonly writer: LedgerWriter;
}

export interface BatchAction<By extends Actor = Actor> {
  readonly batchId: Uuid;
  readonly action: BatchActionSignal['action'];
  readonly by: By;
  readonly reason: string;
  /** Equal for all retries. An action that was performed or refused is not repeated. */
  readonly actionId: Uuid;
}

/** Performs a staff action on a batch. A refused action changes nothing and is recorded. */
export async function performBatchAction(
  deps: BatchControlDeps,
  request: BatchAction<StaffIdentity>,
): Promise<{ readonly batch: Batch } | { readonly refusal: Refusal }> {
  const { batchId, action, by, reason, actionId } = request;
  const { database } = deps;
  try {
    if (!(await wasPerformed(database.current, actionId))) {
      const { kind } = await findBatch(database.reader, batchId);
      const name = `${batchType({ kind })}.${action}` as const;
      const refusal = await currentRefusal(database.reader, name, by);
      if (refusal !== null) throw new ApiError(refusal);
    }
    return { batch: await applyBatchAction(deps, request) };
  } catch (failure) {
    if (!(failure instanceof ApiError) || !FINAL_CODES.has(failure.refusal.code)) throw failure;
    const batch = await findBatch(database.reader, batchId);
    const details = { reason, refused: failure.message };
    await recordOnce(deps, actionId, by, batchAudit(batch, `${action}_refused`, details));
    return { refusal: failure.refusal };
  }
}

/** Throws not_found, invalid_state, invalid_field (the reason). */
export async function applyBatchAction(
  deps: BatchControlDeps,
  request: BatchAction,
): Promise<Batch> {
  const checked = { ...request, reason: checkedText('reason', request.reason, MAX_REASON) };
  return request.action === 'cancel' ? cancel(deps, checked) : setPaused(deps, checked);
}

/** Pauses payment after the current group, or resumes it. A repetition is recorded as `unchanged`. */
async function setPaused(
  { database, clock }: BatchControlDeps,
  { batchId, action, by, reason, actionId }: BatchAction,
): Promise<Batch> {
  const { sourceAccountId } = await findBatch(database.reader, batchId);
  return transact(database, async (transaction) => {
    // While the source account's row is locked, no group of the batch's rows is paid.
    await lockAccount(transaction, sourceAccountId);
    const batch = await findBatch(transaction, batchId);
    if (await wasPerformed(transaction, actionId)) return batch;
    if (isSettled(batch)) throw new ApiError(SETTLED);
    if (!PAUSABLE.includes(batch.status)) throw new ApiError(stateRefusal(batch.status, PAUSABLE));
    const isPausing = action === 'pause';
    const isSame = (batch.pausedAt !== null) === isPausing;
    const entry = batchAudit(batch, action, {
      reason,
      ...progressDetails(batch),
      ...(isSame ? { unchanged: true } : {}),
    });
    await recordAction(transaction, by, clock(), entry, actionId);
    if (isSame) return batch;
    const set = isPausing
      ? { pausedAt: clock(), pausedBy: by.name, pauseReason: reason }
      : { pausedAt: null, pausedBy: null, pauseReason: null };
    await transaction.execute(updateSql(batches, set, { id: batchId }));
    const { tenantId } = batch;
    const resource = { tenantId, resourceType: batchType(batch), resourceId: batchId };
    const notice = outboxEntry({ outboxId: newId(), ...resource }, clock());
    await transaction.execute(insertSql(outbox, [notice]));
    return { ...batch, ...set };
  });
}

/** Withdraws a ready batch. For an executing batch, payment marks the remaining rows as failed. */
async function cancel(
  { database, writer }: BatchControlDeps,
  { batchId, by: actor, reason, actionId }: BatchAction,
): Promise<Batch> {
  const batch = await findBatch(database.reader, batchId);
  const { tenantId, sourceAccountId } = batch;
  const { outcome } = await writer.submit(cancelCommands[batch.kind], {
    tenantId,
    key: `${batchType(batch)}/${batchId}/cancel`,
    fingerprint: commandFingerprint(['cancel', batchId]),
    batchId,
    sourceAccountId,
    by: { actor, reason, actionId },
    outboxId: newId(),
    isKnownToRail: await isKnownToRail(database.reader, batch),
  });
  if (!outcome.done) throw new ApiError(outcome.refusal);
  return outcome.resource;
}

async function findBatch(reader: Reader, id: Uuid): Promise<Batch> {
  return assertFound(await reader.find(batches, { id }));
}

const FINAL_CODES = new Set<string>(['authority_insufficient', 'invalid_field', 'invalid_state']);
