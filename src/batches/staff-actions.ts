import { recordOnce, wasPerformed } from '../access/audit-log.js';
import { ApiError, notFound, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { standingRefusal } from '../staff/people.js';
import type { StaffIdentity } from '../staff/rules.js';
import type { BatchActionSignal } from '../temporal/contracts.js';
import { cancelBatch, pauseBatch, resumeBatch, type BatchControlDeps } from './control.js';

interface StaffRequest {
  readonly batchId: Uuid;
  readonly action: BatchActionSignal['action'];
  readonly by: StaffIdentity;
  readonly reason: string;
  /** Equal for all retries. An action that was performed or refused is not repeated. */
  readonly actId: Uuid;
}

const ACTS = { pause: pauseBatch, resume: resumeBatch, cancel: cancelBatch } as const;

/** Performs a staff action on a batch. A refused action changes nothing and is recorded. */
export async function performBatchAction(
  deps: BatchControlDeps,
  request: StaffRequest,
): Promise<{ readonly batch: BonusBatch } | { readonly refusal: Refusal }> {
  const { batchId, action, by, reason, actId } = request;
  try {
    if (!(await wasPerformed(deps.database.current, actId))) {
      const refusal = await standingRefusal(deps.database.reader, `bonus_batch.${action}`, by);
      if (refusal !== null) throw new ApiError(refusal);
    }
    return { batch: await ACTS[action](deps, batchId, by, reason, actId) };
  } catch (failure) {
    if (!(failure instanceof ApiError) || !FINAL.has(failure.refusal.code)) throw failure;
    await recordRefusal(deps, request, failure.refusal.message);
    return { refusal: failure.refusal };
  }
}

const FINAL = new Set<string>(['authority_insufficient', 'invalid_field', 'invalid_state']);

async function recordRefusal(
  deps: BatchControlDeps,
  { batchId, action, by, actId }: StaffRequest,
  refused: string,
): Promise<void> {
  const batch = await deps.database.reader.find(bonusBatches, { id: batchId });
  if (batch === undefined) throw notFound();
  const subject = { tenantId: batch.tenantId, subjectType: 'bonus_batch', subjectId: batchId };
  await recordOnce(deps, actId, by, {
    ...subject,
    action: `bonus_batch.${action}_refused`,
    details: { refused },
  });
}
