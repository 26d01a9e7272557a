import { TemporalUnavailable } from './failures.js';
import { OUTBOX_SHARDS } from './outbox-entry.js';
import type { Outbox } from './outbox.js';
import type { Relay } from './relay.js';
import type { SharedSweep } from './sweeper.js';

const CLAIM = 100;
const OUTBOX_EVERY_MS = 1_000;

/** Entries that no process has relayed yet. */
export function outboxSweep(outbox: Outbox, relay: Relay): SharedSweep {
  return {
    name: 'outbox',
    shards: OUTBOX_SHARDS,
    everyMs: OUTBOX_EVERY_MS,
    run: async (_, shards) => {
      const rows = await outbox.claim(CLAIM, shards);
      try {
        await relay.relay(rows);
      } catch (failure) {
        // The relay's observer has already reported it; the entries wait.
        if (failure instanceof TemporalUnavailable) return false;
        throw failure;
      }
      return rows.length === CLAIM;
    },
  };
}
