import { type Clock, instant } from '../core/instant.js';
import type { Database } from '../db/database.js';
import type { Sweep } from '../temporal/sweeper.js';
import { lapseDue, type LapsingParts } from './lapsing.js';
import { deleteUploadedBytes } from './retention.js';

const EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

const LAPSE_EVERY_MS = 10_000;
const LAPSED_AT_ONCE = 100;

/** Batches that have waited so many days for somebody to execute them. */
export function lapseSweep(parts: LapsingParts, readyDays: number): Sweep {
  return {
    name: 'lapsed batches',
    everyMs: LAPSE_EVERY_MS,
    run: async () => (await lapseDue(parts, readyDays * DAY_MS, LAPSED_AT_ONCE)) === LAPSED_AT_ONCE,
  };
}

/** The bytes of files that were validated so many days ago. */
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
