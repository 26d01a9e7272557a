import type { Uuid } from '../core/ids.js';
import { instant, type Instant } from '../core/instant.js';
import { outbox, type OutboxRow, type WorkflowResourceType } from '../db/entities/outbox.js';
import { insertRow, type RowWrite } from '../ledger/writer/types.js';

/** Until then, the process that wrote the entry relays it. */
const HEAD_START_MS = 2_000;

interface Changed {
  /** Chosen by the caller, to relay the entry right after the commit. */
  readonly outboxId: Uuid;
  readonly tenantId: Uuid;
  readonly resourceType: WorkflowResourceType;
  readonly resourceId: Uuid;
}

/** Returns the entry that notifies a resource's workflow of a change. */
export function outboxEntry(
  { outboxId, tenantId, resourceType, resourceId }: Changed,
  at: Instant,
): OutboxRow {
  return {
    id: outboxId,
    tenantId,
    resourceType,
    resourceId,
    createdAt: at,
    dueAt: instant(at + HEAD_START_MS),
    attempts: 0,
    lastError: null,
    deadAt: null,
    traceparent: null,
  };
}

export function outboxWrite(changed: Changed, at: Instant): RowWrite {
  return insertRow(outbox, outboxEntry(changed, at));
}
