import { type Clock, instant } from '../core/instant.js';
import type { Database } from '../db/database.js';
import type { Sweep } from '../temporal/sweeper.js';
import { deleteUploadedBytes } from './retention.js';

const EVERY_MS = 600_000;
const DAY_MS = 86_400_000;

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
