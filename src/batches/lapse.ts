import { ApiError } from '../core/errors.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId } from '../core/ids.js';
import { instant } from '../core/instant.js';
import { time } from '../db/columns.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { actOnDue } from '../accounts/due-of-accounts.js';
import { lapseBatchKind } from './commands.js';
import type { BatchControlDeps } from './control.js';

/**
 * Ends batches that were ready for too long, at most `limit` at a time. Returns the number found by
 * the last search. Throws `ApiError` `ledger_unavailable` if some results are unknown. The caller
 * tries again later.
 */
export async function lapseDueBatches(
  { database, desk, clock }: BatchControlDeps,
  readyForMs: number,
  limit: number,
): Promise<number> {
  const readySince = time.literal(instant(clock() - readyForMs));
  // A batch is validated after it was created, so the index on `created_at` finds all batches that
  // may be due.
  const find = (others: string, most: number): Promise<readonly BonusBatch[]> =>
    database.reader.list(
      bonusBatches,
      `FORCE INDEX (by_status)
       WHERE status='ready' AND created_at<=${readySince} AND validated_at<=${readySince} ${others}
       ORDER BY created_at LIMIT ${most}`,
    );
  return actOnDue(limit, find, async ({ id: batchId, tenantId, sourceAccountId }) => {
    const { outcome } = await desk.submit(lapseBatchKind, {
      tenantId,
      key: `bonus_batch/${batchId}/lapse`,
      fingerprint: commandFingerprint(['lapse', batchId]),
      batchId,
      sourceAccountId,
      outboxId: newId(),
      readyForMs,
    });
    if (!outcome.done) throw new ApiError(outcome.refusal);
  });
}
