import { newId, type Uuid } from '../core/ids.js';
import { type Instant, maxInstant, toRfc3339 } from '../core/instant.js';
import { CURRENT_VERSION } from '../core/versions.js';
import type { Transaction } from '../db/database.js';
import {
  type EventCounter,
  eventCounters,
  type EventHead,
  eventHeads,
  type EventRow,
  events,
  type EventType,
} from '../db/entities/events.js';
import { insertSql, selectSql, upsertSql } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { type Appending, appendTo } from './appending.js';

/** How events get into the log: in the transaction of the change, under the lock of the tenant's counter. */

export interface EventDraft {
  readonly tenantId: Uuid;
  readonly type: EventType;
  readonly resourceId: Uuid;
  /** The resource as GET shows it at this moment. */
  readonly object: Readonly<Record<string, unknown>>;
}

/** Appends the events after these statements, which share its first round trip. Nothing may be locked after. */
export function appendEvents(
  transaction: Transaction,
  drafts: readonly EventDraft[],
  now: Instant,
  after: readonly string[] = [],
): Promise<void> {
  return appendTo(transaction, [appendingEvents(drafts, now)], after);
}

export function appendingEvents(drafts: readonly EventDraft[], now: Instant): Appending {
  if (drafts.length === 0) return { locks: [], writes: () => [] };
  const tenantId = [...new Set(drafts.map((draft) => draft.tenantId))];
  return {
    locks: [selectSql(eventCounters, { tenantId }, { orderBy: ['tenantId'], forUpdate: true })],
    writes: (counters) =>
      numbered(
        counters.map((row) => parseRow(eventCounters, row)),
        drafts,
        now,
      ),
  };
}

/** Numbers, dates and serialises under the counters' locks, so that sequence and time follow the commits. */
function numbered(counters: readonly EventCounter[], drafts: readonly EventDraft[], now: Instant): string[] {
  const heads = new Map<Uuid, EventCounter>(counters.map((counter) => [counter.tenantId, counter]));
  const rows = drafts.map((draft): EventRow => {
    const head = heads.get(draft.tenantId);
    if (head === undefined) throw new Error('a tenant has no event counter');
    const sequence = head.lastSequence + 1n;
    const createdAt = maxInstant(now, head.lastAt);
    heads.set(draft.tenantId, { ...head, lastSequence: sequence, lastAt: createdAt });
    const id = newId();
    const { tenantId, type, resourceId } = draft;
    return { tenantId, sequence, id, type, resourceId, body: eventBody(id, draft, sequence, createdAt), createdAt };
  });
  return [
    insertSql(events, rows),
    upsertSql(eventCounters, [...heads.values()], ['lastSequence', 'lastAt']),
    upsertSql(eventHeads, typeHeads(rows), ['lastSequence']),
  ];
}

/** The last of each type. The counters' locks guard these rows. */
function typeHeads(rows: readonly EventRow[]): EventHead[] {
  const heads = new Map<string, EventHead>();
  for (const { tenantId, type, sequence } of rows)
    heads.set(`${tenantId}|${type}`, { tenantId, type, lastSequence: sequence });
  return [...heads.values()];
}

function eventBody(id: Uuid, draft: EventDraft, sequence: bigint, createdAt: Instant): string {
  return JSON.stringify({
    id,
    type: draft.type,
    api_version: CURRENT_VERSION,
    created_at: toRfc3339(createdAt),
    // eslint-disable-next-line no-restricted-syntax -- no money: exact up to 2^53 events of a tenant
    sequence: Number(sequence),
    data: { object: draft.object },
  });
}
