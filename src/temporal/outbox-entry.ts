import type { Uuid } from '../core/ids.js';
import { instant, type Instant } from '../core/instant.js';
import { outbox, type OutboxRow, type WaitingType } from '../db/entities/outbox.js';
import { insertRow, type RowWrite } from '../ledger/writer/types.js';

/** The process that writes an entry relays it at once; the sweeper gets only what that failed to do. */
const HEAD_START_MS = 2_000;

/** Sweepers share the outbox in so many parts: more than there are workers would be useless, fewer leave some idle. */
export const OUTBOX_SHARDS = 8;

/** Everything about one resource is in one part: an id's last byte is random. */
function shardOf(resourceId: Uuid): number {
  return Number.parseInt(resourceId.slice(-2), 16) % OUTBOX_SHARDS;
}

interface Changed {
  /** The entry's id: chosen by the caller, so that it can be relayed right after the commit. */
  readonly outboxId: Uuid;
  readonly tenantId: Uuid;
  readonly resourceType: WaitingType;
  readonly resourceId: Uuid;
  /** A delay in milliseconds, after which the sweeper relays it. */
  readonly delayMs?: number;
}

/** The entry that tells a resource's workflow what this transaction does to it. */
export function outboxEntry(
  { outboxId, tenantId, resourceType, resourceId, delayMs = 0 }: Changed,
  at: Instant,
): OutboxRow {
  return {
    id: outboxId,
    tenantId,
    resourceType,
    resourceId,
    shard: shardOf(resourceId),
    createdAt: at,
    dueAt: instant(at + HEAD_START_MS + delayMs),
    attempts: 0,
    lastError: null,
    deadAt: null,
    traceparent: null,
  };
}

/** The same as a write of a Decision. */
export function outboxWrite(changed: Changed, at: Instant): RowWrite {
  return insertRow(outbox, outboxEntry(changed, at));
}
