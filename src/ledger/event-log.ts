import { compareText, groupBy } from '../core/collections.js';
import { ApiError, LEDGER_UNAVAILABLE } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import { currentTraceparent, type Traceparent } from '../core/trace.js';
import { CURRENT_VERSION } from '../core/api-version.js';
import * as column from '../db/columns.js';
import type { Transaction } from '../db/database.js';
import { eventCounters, eventHeads, events, type EventType } from '../db/entities/events.js';
import { literal, upsertValuesSql } from '../db/statements.js';

export interface EventDraft {
  readonly tenantId: Uuid;
  readonly type: EventType;
  readonly resourceId: Uuid;
  /** Returns the resource as GET would show it at this moment. */
  readonly object: () => Readonly<Record<string, unknown>>;
  readonly traceparent?: Traceparent | null;
}

/** Selects a row while a restore is unfinished. */
export const OPEN_RESTORE_SQL = 'SELECT 1 FROM restores WHERE finished_at IS NULL LIMIT 1';

/**
 * Sends `statements` and then appends the events, in one round trip. Events lock the tenant's
 * counter, so the caller may lock only audit chains afterwards. Throws `ledger_unavailable` during
 * a restore.
 */
export async function appendEvents(
  transaction: Transaction,
  drafts: readonly EventDraft[],
  now: Instant,
  statements: readonly string[] = [],
): Promise<void> {
  const openRestores = drafts.length === 0 ? [] : await transaction.query(OPEN_RESTORE_SQL);
  if (openRestores.length > 0) throw new ApiError(LEDGER_UNAVAILABLE);
  const traceparent = currentTraceparent();
  await transaction.all([
    ...statements,
    ...eventStatements(
      drafts.map((draft) => ({ traceparent, ...draft })),
      now,
    ),
  ]);
}

/**
 * Returns statements that lock the tenants' counters in sorted order, then number, date and insert
 * the events, so that numbers and dates follow the order of commits. The server computes the
 * numbers, so that these statements and COMMIT need one round trip. The INSERT fails if the tenant
 * has no counter, and during a restore, because clients may have received events with the next
 * numbers. (docs/operations/backup.md)
 */
export function eventStatements(drafts: readonly EventDraft[], now: Instant): string[] {
  if (drafts.length === 0) return [];
  const tenants = [...groupBy(drafts, ({ tenantId }) => tenantId)].sort(([a], [b]) =>
    compareText(a, b),
  );
  const tenantEvents = tenants.map(
    ([tenantId, own], index) => new TenantEvents(tenantId, own, index),
  );
  return [
    `SET ${tenantEvents.map(({ last, at }) => `${last}=NULL,${at}=NULL`).join(',')}`,
    ...tenantEvents.map((tenant) => tenant.lockSql(now)),
    `INSERT INTO events (tenant_id,sequence,id,type,resource_id,body,created_at,traceparent) VALUES ${tenantEvents
      .flatMap((tenant) => tenant.rows())
      .join(',')}`,
    upsertValuesSql(
      eventCounters,
      tenantEvents.map((tenant) => tenant.counterRow()),
      ['lastSequence', 'lastAt'],
    ),
    upsertValuesSql(
      eventHeads,
      tenantEvents.flatMap((tenant) => tenant.headRows()),
      ['lastSequence'],
    ),
  ];
}

/** New events of one tenant. Session variables hold what the counter determines of them. */
class TenantEvents {
  readonly last: string;
  readonly at: string;
  private readonly dated: string;
  private readonly restored: string;
  private readonly tenant: string;

  constructor(
    tenantId: Uuid,
    private readonly drafts: readonly EventDraft[],
    index: number,
  ) {
    this.last = `@last${index}`;
    this.at = `@at${index}`;
    this.dated = `@dated${index}`;
    this.restored = `@restored${index}`;
    this.tenant = column.uuid.literal(tenantId);
  }

  /** Reads the last sequence and the events' time, and the parts of their JSON that all share. */
  lockSql(now: Instant): string {
    const at = `GREATEST(last_at, CAST(${column.time.literal(now)} AS DATETIME(3)))`;
    const dated = `CONCAT(REPLACE(${at},' ','T'),'Z","sequence":')`;
    const restored = `IF(restores=0, '', CONCAT(',"restores":', restores))`;
    return `SELECT last_sequence, ${at}, ${asText(dated)}, ${asText(restored)}
      INTO ${this.last}, ${this.at}, ${this.dated}, ${this.restored} FROM event_counters
      WHERE tenant_id=${this.tenant} AND NOT EXISTS (SELECT 1 FROM restores WHERE finished_at IS NULL) FOR UPDATE`;
  }

  rows(): string[] {
    return this.drafts.map((draft, index) => {
      const { type, resourceId, traceparent = null } = draft;
      const id = newId();
      const sequence = `${this.last}+${index + 1}`;
      const idAndType = `${literal(events, 'id', id)},${literal(events, 'type', type)}`;
      const resourceAndBody = `${column.uuid.literal(resourceId)},${this.bodySql(id, draft, sequence)}`;
      return `(${this.tenant},${sequence},${idAndType},${resourceAndBody},${this.at},${literal(events, 'traceparent', traceparent)})`;
    });
  }

  counterRow(): string {
    // `restores` keeps its value: the row exists, and the upsert updates only the named columns.
    return `(${this.tenant},${this.last}+${this.drafts.length},${this.at},0)`;
  }

  /** Returns the last event of each type, as rows of `event_heads`. */
  headRows(): string[] {
    const lastOfType = new Map(this.drafts.map(({ type }, index) => [type, index + 1]));
    return Array.from(
      lastOfType,
      ([type, number]) =>
        `(${this.tenant},${literal(eventHeads, 'type', type)},${this.last}+${number})`,
    );
  }

  /** Returns an SQL expression for the event's JSON. The server inserts the time and the number. */
  private bodySql(id: Uuid, { type, object }: EventDraft, sequence: string): string {
    const head = `${JSON.stringify({ id, type, api_version: CURRENT_VERSION }).slice(0, -1)},"created_at":"`;
    const data = `,${JSON.stringify({ data: { object: object() } }).slice(1)}`;
    const [start, end] = [head, data].map(column.string.literal);
    return `CONCAT(${start},${this.dated},${sequence},${this.restored},${end})`;
  }
}

/** A variable has the collation of its value, which MySQL refuses to mix with another one. */
function asText(sql: string): string {
  return `CONVERT(${sql} USING utf8mb4) COLLATE utf8mb4_bin`;
}
