import { instant } from '../core/instant.js';
import type { DatabaseDeps } from '../db/database.js';
import type { Sweep } from '../temporal/sweeper.js';
import { pieceSweep } from '../temporal/piece-sweep.js';
import type { BatchControlDeps } from './control.js';
import { lapseDueBatches } from './lapse.js';
import { deleteUploadedBytes, type Ended, removeOldRows } from './retention.js';
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
  ended: Ended,
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
