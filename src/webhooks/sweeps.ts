import type { Clock } from '../core/instant.js';
import type { Uuid } from '../core/ids.js';
import type { Database } from '../db/database.js';
import { removeOldEvents } from '../events/retention.js';
import type { Sweep } from '../temporal/sweeper.js';
import type { WorkflowsKept } from './attending.js';
import { lookOver, removeOldAttempts } from './sweeping.js';

/** What the worker's sweeper does for webhooks and the event log. */

interface Parts {
  readonly database: Database;
  readonly clock: Clock;
}

const TIDY_EVERY_MS = 600_000;
const TIDY_PAUSE_MS = 50;

/** A slice of endpoints at a time: for what senders and notices have missed, and to move idle cursors. */
export function endpointsSweep({ database, clock }: Parts, kept: WorkflowsKept): Sweep {
  return tidying('webhooks', async (after) => {
    const at = await lookOver(database, clock(), after, kept);
    return at === null ? null : { at, isDone: true };
  });
}

/** Removes attempts from more than 30 days ago. */
export function attemptsSweep({ database, clock }: Parts): Sweep {
  return tidying('old attempts', async (after) => {
    const done = await removeOldAttempts(database, clock(), after);
    return done === null ? null : { at: done.endpointId, isDone: done.isDone };
  });
}

/** Removes events beyond the retention that operators have set, if any. */
export function retentionSweep({ database, clock }: Parts): Sweep {
  return tidying('old events', async (after) => {
    const done = await removeOldEvents(database, clock(), after);
    return done === null ? null : { at: done.tenantId, isDone: done.isDone };
  });
}

/** Works through everything, one piece after another, with pauses. */
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
