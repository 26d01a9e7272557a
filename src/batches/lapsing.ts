import { ApiError } from '../core/errors.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId } from '../core/ids.js';
import { type Clock, instant } from '../core/instant.js';
import { time } from '../db/columns.js';
import type { Database } from '../db/database.js';
import { bonusBatches } from '../db/entities/bonuses.js';
import type { PostingDesk } from '../ledger/desk/desk.js';
import { lapseBatchKind } from './commands.js';

export interface LapsingDeps {
  readonly database: Pick<Database, 'reader'>;
  readonly desk: PostingDesk;
  readonly clock: Clock;
}

/**
 * Ends the batches that have been ready for that long, at most `limit`, and returns how many it found. Throws ApiError
 * ledger_unavailable if it is unknown whether all of them have ended: try again a little later.
 */
export async function lapseDue(
  { database, desk, clock }: LapsingDeps,
  readyForMs: number,
  limit: number,
): Promise<number> {
  const readySince = time.literal(instant(clock() - readyForMs));
  // None is validated before it is created, so the index finds those that may be due.
  const rows = await database.reader.list(
    bonusBatches,
    `FORCE INDEX (by_status)
     WHERE status='ready' AND created_at<=${readySince} AND validated_at<=${readySince}
     ORDER BY created_at LIMIT ${Math.trunc(limit)}`,
  );
  const answers = await Promise.all(
    rows.map(({ id: batchId, tenantId, sourceAccountId }) => {
      return desk.submit(lapseBatchKind, {
        tenantId,
        key: `bonus_batch/${batchId}/lapse`,
        fingerprint: commandFingerprint(['lapse', batchId]),
        batchId,
        sourceAccountId,
        outboxId: newId(),
        readyForMs,
      });
    }),
  );
  for (const { outcome } of answers) if (!outcome.done) throw new ApiError(outcome.refusal);
  return rows.length;
}
