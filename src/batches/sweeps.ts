import type { Uuid } from '../core/ids.js';
import { type Clock, instant } from '../core/instant.js';
import type { Database } from '../db/database.js';
import type { Sweep } from '../temporal/sweeper.js';
import { lapseDue, type LapsingDeps } from './lapsing.js';
import { deleteUploadedBytes, type Ended, removeOldRows } from './retention.js';
import type { BatchWorkflowService } from './workflow-service.js';

const EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

const LAPSE_EVERY_MS = 10_000;
const LAPSED_AT_ONCE = 100;

/** Batches that have waited this many days to be executed. */
export function lapseSweep(deps: LapsingDeps, readyDays: number): Sweep {
  return {
    name: 'lapsed batches',
    everyMs: LAPSE_EVERY_MS,
    run: async () => (await lapseDue(deps, readyDays * DAY_MS, LAPSED_AT_ONCE)) === LAPSED_AT_ONCE,
  };
}

/** The bytes of files that were validated this many days ago. */
export function uploadsSweep(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  keptDays: number,
): Sweep {
  return {
    name: 'uploaded files',
    everyMs: EVERY_MS,
    run: async () => {
      await deleteUploadedBytes(database, instant(clock() - keptDays * DAY_MS));
      return false;
    },
  };
}

const PAUSE_MS = 50;

/** The rows and problems of batches that ended this many days ago, with pauses. */
export function rowsSweep(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  ended: Ended,
  keptDays: number,
): Sweep {
  return {
    name: `rows of ${ended} batches`,
    everyMs: EVERY_MS,
    run: async (signal) => {
      const before = instant(clock() - keptDays * DAY_MS);
      let after: Uuid | null = null;
      do {
        after = await removeOldRows(database, clock, ended, before, after);
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      } while (after !== null && !signal.aborted);
      return false;
    },
  };
}

export function filesSweep(work: Pick<BatchWorkflowService, 'makeMissing'>): Sweep {
  return {
    name: 'files of batches',
    everyMs: EVERY_MS,
    run: async (signal) => {
      await work.makeMissing(signal);
      return false;
    },
  };
}
