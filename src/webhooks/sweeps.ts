import type { Clock } from '../core/instant.js';
import type { Uuid } from '../core/ids.js';
import type { Database } from '../db/database.js';
import { removeOldEvents } from '../events/retention.js';
import { TemporalUnavailable } from '../temporal/client.js';
import type { Sweep } from '../temporal/sweeper.js';
import { advanceIdleCursors, dueEndpoints, removeOldAttempts } from './sweeping.js';
import type { Waker } from './waking.js';

/** What the worker's sweeper does for webhooks and the event log. */

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
}

const DUE_EVERY_MS = 1_000;
const DUE_AT_ONCE = 200;

/** Endpoints that have something to do and nobody who does it are woken; idle ones are kept at the head of the log. */
export function webhookSweep({ database, clock }: Parts, waker: Pick<Waker, 'wake'>): Sweep {
  return {
    name: 'webhooks',
    everyMs: DUE_EVERY_MS,
    run: async () => {
      const due = await dueEndpoints(database, clock(), DUE_AT_ONCE);
      try {
        await waker.wake(due);
      } catch (failure) {
        if (!(failure instanceof TemporalUnavailable)) throw failure;
      }
      await advanceIdleCursors(database, clock());
      return false;
    },
  };
}

const TIDY_EVERY_MS = 600_000;
const TIDY_PAUSE_MS = 50;

/** Attempts of more than 30 days ago. */
export function attemptsSweep({ database, clock }: Parts): Sweep {
  return tidying('old attempts', async (after) => {
    const done = await removeOldAttempts(database, clock(), after);
    return done === null ? null : { at: done.endpointId, isDone: done.isDone };
  });
}

/** Events beyond the retention that the operator has set, if any. */
export function retentionSweep({ database, clock }: Parts): Sweep {
  return tidying('old events', async (after) => {
    const done = await removeOldEvents(database, clock(), after);
    return done === null ? null : { at: done.tenantId, isDone: done.isDone };
  });
}

/** Goes through all, one piece of work after another, gently. */
function tidying(
  name: string,
  work: (after: Uuid | null) => Promise<{ readonly at: Uuid; readonly isDone: boolean } | null>,
): Sweep {
  return {
    name,
    everyMs: TIDY_EVERY_MS,
    run: async (signal) => {
      let after: Uuid | null = null;
      while (!signal.aborted) {
        const piece: Awaited<ReturnType<typeof work>> = await work(after);
        if (piece === null) break;
        if (piece.isDone) after = piece.at;
        await new Promise((resolve) => setTimeout(resolve, TIDY_PAUSE_MS));
      }
      return false;
    },
  };
}
