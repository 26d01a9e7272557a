import { type Actor, auditRow, recordRows } from '../access/audit-log.js';
import { staffRefusal } from '../staff/people.js';
import { ApiError, notFound, type Refusal } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { auditLog } from '../db/entities/identity.js';
import type { StaffRight } from '../db/entities/staff.js';
import { transact } from '../db/transact.js';
import type { BatchAct } from '../temporal/contracts.js';
import { cancelBatch, MAX_REASON, pauseBatch, resumeBatch, type SteeringParts } from './steering.js';

/** What the staff ask of a batch, by a signal or a command. */
export interface StaffRequest {
  readonly batchId: Uuid;
  readonly action: BatchAct['action'];
  /** Without a name where none was given. */
  readonly actor: Actor;
  /** Cleaned; null where none was given that could be kept. */
  readonly reason: string | null;
  /** The same at every try, so that a refusal is recorded once. */
  readonly actId: Uuid;
}

const ACTS = { pause: pauseBatch, resume: resumeBatch, cancel: cancelBatch } as const;

export const NEEDED_RIGHT: Readonly<Record<BatchAct['action'], StaffRight>> = {
  pause: 'pause',
  resume: 'pause',
  cancel: 'cancel',
};

/**
 * Does what active staff with the right ask, with a reason. Anything else changes nothing and is recorded. Throws not_found,
 * ledger_unavailable.
 */
export async function actOnBatch(
  parts: SteeringParts,
  request: StaffRequest,
): Promise<{ readonly batch: BonusBatch } | { readonly refusal: Refusal }> {
  const { batchId, action, actor, reason } = request;
  try {
    const refusal = await requestRefusal(parts, request);
    if (refusal !== null) throw new ApiError(refusal);
    return { batch: await ACTS[action](parts, batchId, actor, reason ?? '') };
  } catch (failure) {
    if (!(failure instanceof ApiError) || !FINAL.has(failure.refusal.code)) throw failure;
    await recordRefusal(parts, request, failure.refusal.message);
    return { refusal: failure.refusal };
  }
}

const FINAL = new Set<string>(['authority_insufficient', 'invalid_field', 'invalid_state']);

async function requestRefusal(
  { database }: SteeringParts,
  { action, actor: { name }, reason }: StaffRequest,
): Promise<Refusal | null> {
  if (name === '') return { code: 'authority_insufficient', message: 'no actor was named' };
  if (reason === null)
    return { code: 'invalid_field', message: `no reason of 1 to ${MAX_REASON} characters was given` };
  return staffRefusal(database.reader, name, NEEDED_RIGHT[action]);
}

/** Under the act's own id: recorded once, however often it is tried. */
async function recordRefusal(
  { database, clock }: SteeringParts,
  { batchId, action, actor, actId: id }: StaffRequest,
  refused: string,
): Promise<void> {
  await transact(database, async (transaction) => {
    const batch = await transaction.find(bonusBatches, { id: batchId });
    if (batch === undefined) throw notFound();
    if ((await transaction.find(auditLog, { id })) !== undefined) return;
    const subject = { tenantId: batch.tenantId, subjectType: 'bonus_batch', subjectId: batchId };
    const done = { ...subject, action: `bonus_batch.${action}_refused`, details: { refused } };
    recordRows(transaction, [auditRow(id, actor, clock(), done)]);
  });
}
