import type { DatabaseDeps } from '../db/database.js';
import { removeOldEvents } from '../events/retention.js';
import type { Sweep } from '../temporal/sweeper.js';
import { tidying } from '../temporal/tidying.js';
import { lookOver, removeOldAttempts } from './sweeping.js';

/** What the worker's sweeper does for webhooks and the event log. */

/** A slice of endpoints at a time: for what senders and notices have missed, and to move idle cursors. */
export function endpointsSweep({ database, clock }: DatabaseDeps): Sweep {
  return tidying('webhooks', async (after) => {
    const at = await lookOver(database, clock(), after);
    return at === null ? null : { at, isDone: true };
  });
}

export function attemptsSweep({ database, clock }: DatabaseDeps): Sweep {
  return tidying('old attempts', async (after) => {
    const done = await removeOldAttempts(database, clock(), after);
    return done === null ? null : { at: done.endpointId, isDone: done.isDone };
  });
}

/** Removes events beyond the retention that operators have set, if any. */
export function retentionSweep({ database, clock }: DatabaseDeps): Sweep {
  return tidying('old events', async (after) => {
    const done = await removeOldEvents(database, clock(), after);
    return done === null ? null : { at: done.tenantId, isDone: done.isDone };
  });
}
