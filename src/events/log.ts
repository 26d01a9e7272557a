import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { events, type EventType } from '../db/entities/events.js';
import type { EventGap } from '../db/entities/restores.js';
import { literal } from '../db/statements.js';
import { parseStoredEvent, STORED_EVENT, withWholeBodies } from './bodies.js';
import { eventsOf, gapsOf, sequencesWithin } from './places.js';

export interface EventFilter {
  readonly type?: EventType | undefined;
  /** Inclusive bounds of `created_at`. */
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
}

export type EventOrder = 'asc' | 'desc';

export interface EventPage {
  /** Each as JSON, the same bytes as in every delivery. */
  readonly bodies: readonly string[];
  readonly lastShown: bigint | null;
  readonly hasMore: boolean;
  /** The oldest sequence still in the log; null while it is empty. */
  readonly firstSequence: bigint | null;
  /** What restores have skipped in the whole log, oldest first. */
  readonly gaps: readonly EventGap[];
}

/**
 * A page of a tenant's log, continuing after `after` (the sequence of the last event seen; null: from where the order
 * begins). Time bounds become bounds on `sequence`: within a tenant both have the same order. (docs/contract.md,
 * Events)
 */
export async function readEvents(
  reader: Reader,
  tenantId: Uuid,
  filter: EventFilter,
  order: EventOrder,
  after: bigint | null,
  limit: number,
): Promise<EventPage> {
  const rowsOf = eventsOf(tenantId);
  const [firstSequence, gaps] = await Promise.all([readFirst(reader, rowsOf.owner), gapsOf(reader, tenantId)]);
  if (firstSequence === null) return { bodies: [], lastShown: null, hasMore: false, firstSequence, gaps };
  const isBounded = filter.from !== undefined || filter.to !== undefined;
  const range = isBounded ? await sequencesWithin(reader, tenantId, gaps, filter.from, filter.to) : null;
  const conditions: string[] = [rowsOf.owner];
  if (range !== null) conditions.push(`sequence>=${range.first} AND sequence<=${range.last}`);
  if (after !== null) conditions.push(order === 'desc' ? `sequence<${after}` : `sequence>${after}`);
  if (filter.type !== undefined) conditions.push(`type=${literal(events, 'type', filter.type)}`);
  const index = filter.type === undefined ? 'PRIMARY' : 'type';
  const rows = await reader.query(
    `SELECT ${STORED_EVENT} FROM events FORCE INDEX (${index}) WHERE ${conditions.join(' AND ')}
     ORDER BY sequence ${order} LIMIT ${limit + 1}`,
  );
  const shown = await withWholeBodies(reader, rows.slice(0, limit).map(parseStoredEvent));
  return {
    bodies: shown.map(({ body }) => body),
    lastShown: shown.at(-1)?.sequence ?? null,
    hasMore: rows.length > limit,
    firstSequence,
    gaps,
  };
}

async function readFirst(reader: Reader, owner: string): Promise<bigint | null> {
  const [row] = await reader.query(`SELECT sequence FROM events WHERE ${owner} ORDER BY sequence LIMIT 1`);
  return row === undefined ? null : column.bigint.parse(row.sequence);
}

/** The Event as JSON, the same bytes every time, of a type that this process need not know; or undefined when the tenant has no such one. */
export async function findEvent(reader: Reader, tenantId: Uuid, id: Uuid): Promise<string | undefined> {
  const [row] = await reader.query(
    `SELECT ${STORED_EVENT} FROM events WHERE id=${literal(events, 'id', id)} AND tenant_id=${literal(events, 'tenantId', tenantId)}`,
  );
  if (row === undefined) return undefined;
  const [event] = await withWholeBodies(reader, [parseStoredEvent(row)]);
  return event?.body;
}
