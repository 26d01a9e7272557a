import type { Uuid } from '../core/ids.js';
import { instant, type Instant } from '../core/instant.js';
import { outbox, type OutboxRow, type WaitingType } from '../db/entities/outbox.js';
import { insertRow, type RowWrite } from '../ledger/desk/types.js';

/** The process that writes an entry relays it at once; only what it could not is left for the sweeper. */
const HEAD_START_MS = 2_000;

/** In so many parts sweepers share the outbox. More than there are ever workers is of no use; fewer would leave some without. */
export const OUTBOX_SHARDS = 8;

/** All that is about one resource is in one part: its last byte is random. */
function shardOf(resourceId: Uuid): number {
  return Number.parseInt(resourceId.slice(-2), 16) % OUTBOX_SHARDS;
}

/** What the outbox entry is about. */
export interface Changed {
  /** Of the entry: made by whoever gives the command, so that it can be relayed right after the commit. */
  readonly outboxId: Uuid;
  readonly tenantId: Uuid;
  readonly resourceType: WaitingType;
  readonly resourceId: Uuid;
  /** How much later than others it is relayed, in milliseconds: the sweeper does it then. */
  readonly delayMs?: number;
}

/** The entry by which the workflow of a resource learns of what this transaction does to it. */
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
