import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Reader } from '../db/database.js';
import { events, type EventType } from '../db/entities/events.js';
import { literal } from '../db/statements.js';

export interface EventFilter {
  readonly type?: EventType | undefined;
  /** Inclusive bounds of `created_at`. */
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
}

export type EventOrder = 'asc' | 'desc';

export interface EventPage {
  /** Each as it was serialised once: the same bytes as in every delivery. */
  readonly bodies: readonly string[];
  /** The sequence of the last one shown, or null when nothing was. */
  readonly lastShown: bigint | null;
  readonly hasMore: boolean;
  /** The oldest sequence that the log still has; null while it is empty. */
  readonly firstSequence: bigint | null;
}

/**
 * A page of a tenant's log, going on from `after` (the sequence of the last one seen; null: from the end that the order
 * begins at). Time bounds become bounds on `sequence`: within a tenant the two run alike. (docs/contract.md, Events)
 */
export async function readEvents(
  reader: Reader,
  tenantId: Uuid,
  filter: EventFilter,
  order: EventOrder,
  after: bigint | null,
  limit: number,
): Promise<EventPage> {
  const tenant = `tenant_id=${literal(events, 'tenantId', tenantId)}`;
  const bound = (sql: string, direction: EventOrder): Promise<bigint | null> =>
    sequenceWhere(
      reader,
      `FORCE INDEX (created) WHERE ${tenant} AND ${sql} ORDER BY created_at ${direction}, sequence ${direction}`,
    );
  const [firstSequence, from, to] = await Promise.all([
    sequenceWhere(reader, `WHERE ${tenant} ORDER BY sequence`),
    filter.from === undefined ? 1n : bound(`created_at>=${column.time.literal(filter.from)}`, 'asc'),
    filter.to === undefined ? undefined : bound(`created_at<=${column.time.literal(filter.to)}`, 'desc'),
  ]);
  if (firstSequence === null || from === null || to === null)
    return { bodies: [], lastShown: null, hasMore: false, firstSequence };
  const conditions = [tenant, `sequence>=${from}`];
  if (to !== undefined) conditions.push(`sequence<=${to}`);
  if (after !== null) conditions.push(order === 'desc' ? `sequence<${after}` : `sequence>${after}`);
  if (filter.type !== undefined) conditions.push(`type=${literal(events, 'type', filter.type)}`);
  const index = filter.type === undefined ? 'PRIMARY' : 'type';
  const rows = await reader.query(
    `SELECT sequence, body FROM events FORCE INDEX (${index}) WHERE ${conditions.join(' AND ')}
     ORDER BY sequence ${order} LIMIT ${limit + 1}`,
  );
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return {
    bodies: shown.map((row) => column.string.parse(row.body)),
    lastShown: last === undefined ? null : column.bigint.parse(last.sequence),
    hasMore: rows.length > limit,
    firstSequence,
  };
}

async function sequenceWhere(reader: Reader, sql: string): Promise<bigint | null> {
  const [row] = await reader.query(`SELECT sequence FROM events ${sql} LIMIT 1`);
  return row === undefined ? null : column.bigint.parse(row.sequence);
}

/** The Event as it was serialised, or undefined when the tenant has no such one. */
export async function findEvent(reader: Reader, tenantId: Uuid, id: Uuid): Promise<string | undefined> {
  return (await reader.find(events, { id, tenantId }))?.body;
}
