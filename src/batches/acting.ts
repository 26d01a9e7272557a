import { auditRow, recordRows } from '../access/audit-log.js';
import { ApiError, notFound, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { auditLog } from '../db/entities/identity.js';
import { transact } from '../db/transact.js';
import { standingRefusal } from '../staff/people.js';
import type { StaffIdentity } from '../staff/rules.js';
import type { BatchAct } from '../temporal/contracts.js';
import { MAX_REASON } from '../core/checked-text.js';
import { cancelBatch, pauseBatch, resumeBatch, type BatchControlDeps } from './control.js';

/** An act of the staff on a batch, by signal or command. */
interface StaffRequest {
  readonly batchId: Uuid;
  readonly action: BatchAct['action'];
  readonly by: StaffIdentity;
  /** Cleaned; null if none was given that may be stored. */
  readonly reason: string | null;
  /** The same for every retry, so that a refusal is recorded once. */
  readonly actId: Uuid;
}

const ACTS = { pause: pauseBatch, resume: resumeBatch, cancel: cancelBatch } as const;

/**
 * Performs the act if it has a reason and comes from active staff with the right. Anything else changes nothing and is
 * recorded. Throws not_found, ledger_unavailable.
 */
export async function actOnBatch(
  deps: BatchControlDeps,
  request: StaffRequest,
): Promise<{ readonly batch: BonusBatch } | { readonly refusal: Refusal }> {
  const { batchId, action, by, reason } = request;
  try {
    const refusal = await requestRefusal(deps, request);
    if (refusal !== null) throw new ApiError(refusal);
    return { batch: await ACTS[action](deps, batchId, by, reason ?? '') };
  } catch (failure) {
    if (!(failure instanceof ApiError) || !FINAL.has(failure.refusal.code)) throw failure;
    await recordRefusal(deps, request, failure.refusal.message);
    return { refusal: failure.refusal };
  }
}

const FINAL = new Set<string>(['authority_insufficient', 'invalid_field', 'invalid_state']);

async function requestRefusal(
  { database }: BatchControlDeps,
  { action, by, reason }: StaffRequest,
): Promise<Refusal | null> {
  if (reason === null)
    return { code: 'invalid_field', message: `no reason of 1 to ${MAX_REASON} characters was given` };
  return standingRefusal(database.reader, `bonus_batch.${action}`, by);
}

/** Under the act's own id, so it is recorded once, however often it is retried. */
async function recordRefusal(
  { database, clock }: BatchControlDeps,
  { batchId, action, by, actId: id }: StaffRequest,
  refused: string,
): Promise<void> {
  await transact(database, async (transaction) => {
    const batch = await transaction.find(bonusBatches, { id: batchId });
    if (batch === undefined) throw notFound();
    if ((await transaction.find(auditLog, { id })) !== undefined) return;
    const subject = { tenantId: batch.tenantId, subjectType: 'bonus_batch', subjectId: batchId };
    const done = { ...subject, action: `bonus_batch.${action}_refused`, details: { refused } };
    recordRows(transaction, [auditRow(id, by, clock(), done)]);
  });
}
