import { type Instant, toRfc3339 } from '../core/instant.js';
import type { OutboxRow } from '../db/entities/outbox.js';
import type { Fields } from './output.js';
import type { OutboxState } from './support/outbox.js';
import { counted } from '../core/plural.js';

/** How operators see the bridge to Temporal and the sweeper. */

export interface SweepState {
  readonly name: string;
  /** Null if no process holds the lease. */
  readonly worker: { readonly label: string; readonly since: Instant } | null;
}

/** Describes when the entry is tried next, and the results so far. */
export function attemptsOf({ attempts, dueAt, lastError, deadAt }: OutboxRow): string {
  const why = `refused ${counted(attempts, 'time')}: ${lastError ?? 'no reason given'}`;
  if (deadAt !== null) return `a dead letter since ${toRfc3339(deadAt)}, ${why}`;
  const next = `next attempt from ${toRfc3339(dueAt)} on`;
  return attempts === 0 ? next : `${next}, ${why}`;
}

export function outboxFields(entry: OutboxRow): Fields {
  return {
    resource_type: entry.resourceType,
    resource_id: entry.resourceId,
    tenant_id: entry.tenantId,
    created_at: toRfc3339(entry.createdAt),
    due_at: entry.deadAt === null ? toRfc3339(entry.dueAt) : null,
    attempts: entry.attempts,
    last_error: entry.lastError,
    dead_since: toRfc3339(entry.deadAt),
  };
}

export function outboxStateFields(state: OutboxState, now: Instant): Fields {
  const { entries, oldestAt, byType, refused, deadLetters, lastErrors } = state;
  return {
    entries,
    by_type: byType,
    oldest_at: toRfc3339(oldestAt),
    oldest_age_s: oldestAt === null ? 0 : Math.max(0, Math.round((now - oldestAt) / 1000)),
    refused,
    dead_letters: deadLetters,
    last_errors: lastErrors.map(({ message, entries: of }) => `${of} × ${message}`),
  };
}

export function sweepFields({ name, worker }: SweepState): Fields {
  return {
    sweep: name,
    worker: worker?.label ?? null,
    since: worker === null ? null : toRfc3339(worker.since),
  };
}
