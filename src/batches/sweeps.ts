import { actOnDue } from '../accounts/due-of-accounts.js';
import { ApiError } from '../core/errors.js';
import { commandFingerprint } from '../core/fingerprint.js';
import { newId } from '../core/ids.js';
import { instant } from '../core/instant.js';
import { time } from '../db/columns.js';
import type { DatabaseDeps } from '../db/database.js';
import { type BonusBatch, bonusBatches } from '../db/entities/bonuses.js';
import { pieceSweep, type Sweep } from '../temporal/sweeper.js';
import { lapseBatchKind } from './commands.js';
import type { BatchControlDeps } from './control.js';
import { deleteUploadedBytes, type EndedKind, removeOldRows } from './retention.js';
import type { BatchWorkflowService } from './workflow-service.js';

const EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

const LAPSE_EVERY_MS = 10_000;
const LAPSED_AT_ONCE = 100;

const READY_MS = 30 * DAY_MS;

/** Lapses batches that were ready for 30 days without being executed. */
export function lapseSweep(deps: BatchControlDeps): Sweep {
  return {
    name: 'lapsed batches',
    everyMs: LAPSE_EVERY_MS,
    run: async () => (await lapseDueBatches(deps, READY_MS, LAPSED_AT_ONCE)) === LAPSED_AT_ONCE,
  };
}

/** Removes the bytes of files that were validated `keptDays` days ago. */
export function uploadsSweep(deps: DatabaseDeps, keptDays: number): Sweep {
  return {
    name: 'uploaded files',
    everyMs: EVERY_MS,
    run: async () => {
      await deleteUploadedBytes(deps, instant(deps.clock() - keptDays * DAY_MS));
      return false;
    },
  };
}

/** Removes the rows and problems of batches that ended `keptDays` days ago. */
export function rowsSweep(
  { database, clock }: DatabaseDeps,
  ended: EndedKind,
  keptDays: number,
): Sweep {
  return pieceSweep(`rows of ${ended} batches`, async (after) => {
    const at = await removeOldRows(
      database,
      clock,
      ended,
      instant(clock() - keptDays * DAY_MS),
      after,
    );
    return at === null ? null : { at, isDone: true };
  });
}

export function filesSweep(work: Pick<BatchWorkflowService, 'generateMissing'>): Sweep {
  return {
    name: 'files of batches',
    everyMs: EVERY_MS,
    run: async (signal) => {
      await work.generateMissing(signal);
      return false;
    },
  };
}

/**
 * Ends batches that were ready for too long and returns the number found by the last search. Throws
 * ledger_unavailable if some results are unknown.
 */
export async function lapseDueBatches(
  { database, desk, clock }: BatchControlDeps,
  readyForMs: number,
  limit: number,
): Promise<number> {
  const readySince = time.literal(instant(clock() - readyForMs));
  // A batch is validated after its creation, so the index on `created_at` finds all due batches.
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
