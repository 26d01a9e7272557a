import { ApiError, assertFound, invalidField } from '../core/errors.js';
import { firstIdAt, type Uuid } from '../core/ids.js';
import { type Instant, instant, toRfc3339 } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Database, Reader } from '../db/database.js';
import { eventCounters, events, type EventType } from '../db/entities/events.js';
import { type EventGap, eventGaps } from '../db/entities/restores.js';
import { equalsSql, literal } from '../db/statements.js';
import { rowParser } from '../db/table.js';
import { type NumberedRows, type NumberRange, numbersWithin } from '../db/numbered-rows.js';
import { isCursorExpired, readRemovedThrough } from './retention.js';

export type EventDeps = Pick<Database, 'readerFor'>;

export interface EventFilter {
  readonly type?: EventType | undefined;
  /** Inclusive bounds of `created_at`. */
  readonly from?: Instant | undefined;
  readonly to?: Instant | undefined;
}

export type EventOrder = 'asc' | 'desc';

interface EventPage {
  /** Each event as JSON, the same bytes as in every delivery. */
  readonly bodies: readonly string[];
  /** The sequence that the next page continues after. Ascending, it also skips other types. */
  readonly position: bigint;
  readonly hasMore: boolean;
  readonly firstSequence: bigint | null;
  readonly gaps: readonly EventGap[];
}

/**
 * Reads a page of a tenant's log after the sequence `after`. Time bounds become bounds on
 * `sequence`, which has the same order. Throws invalid_field (cursor, expired) if events after the
 * cursor have been removed. (docs/contract.md, Events)
 */
export async function readEvents(
  reader: Reader,
  tenantId: Uuid,
  filter: EventFilter,
  order: EventOrder,
  after: bigint | null,
  limit: number,
): Promise<EventPage> {
  const rowsOf = numberedEvents(tenantId);
  const [firstSequence, gaps] = await Promise.all([
    readFirstSequence(reader, rowsOf.owner),
    readGaps(reader, tenantId),
  ]);
  const { from, to } = filter;
  const isBounded = from !== undefined || to !== undefined;
  const range = isBounded ? await sequencesWithin(reader, tenantId, gaps, from, to) : null;
  const conditions: string[] = [rowsOf.owner];
  // Events may have been committed since the range was read.
  if (range !== null && from !== undefined)
    conditions.push(
      `sequence>=${range.first} AND created_at>=${literal(events, 'createdAt', from)}`,
    );
  if (range !== null && to !== undefined) conditions.push(`sequence<=${range.last}`);
  if (after !== null) conditions.push(order === 'desc' ? `sequence<${after}` : `sequence>${after}`);
  if (filter.type !== undefined) conditions.push(`type=${literal(events, 'type', filter.type)}`);
  const index = filter.type === undefined ? 'PRIMARY' : 'type';
  const { found, head } = await readWithHead(
    reader,
    rowsOf.owner,
    `SELECT ${STORED_EVENT} FROM events FORCE INDEX (${index}) WHERE ${conditions.join(' AND ')}
     ORDER BY sequence ${order} LIMIT ${limit + 1}`,
  );
  // Checked after the read, so that nothing is removed in between.
  if (after !== null && isCursorExpired(after, order, await readRemovedThrough(reader, tenantId)))
    throw new ApiError(invalidField('cursor', 'expired'));
  // A UNION does not keep the order of its parts.
  const ordered = found.sort((a, b) =>
    Number(order === 'asc' ? a.sequence - b.sequence : b.sequence - a.sequence),
  );
  const shown = ordered.slice(0, limit);
  const hasMore = found.length > limit;
  const last = shown.at(-1)?.sequence ?? after ?? 0n;
  const examined = range !== null && to !== undefined && range.last < head ? range.last : head;
  const position = order === 'desc' || hasMore || examined < last ? last : examined;
  return { bodies: shown.map(({ body }) => body), position, hasMore, firstSequence, gaps };
}

/** Ids of events are made before their commit, by clocks that may differ. */
const ID_MARGIN_MS = 60_000;

/**
 * Returns the events of all tenants with the newest ids, because no index has their times. With a
 * type, the events that are examined are limited only by `from`.
 */
export async function readNewestEvents(
  reader: Reader,
  { type, from, to }: EventFilter,
  before: Uuid | null,
  limit: number,
): Promise<readonly { readonly tenantId: Uuid; readonly body: string }[]> {
  const at = (time: Instant): string => literal(events, 'createdAt', time);
  const conditions = ['TRUE'];
  if (type !== undefined) conditions.push(`type=${literal(events, 'type', type)}`);
  if (before !== null) conditions.push(`id<${column.uuid.literal(before)}`);
  if (from !== undefined)
    conditions.push(
      `id>=${column.uuid.literal(firstIdAt(from - ID_MARGIN_MS))} AND created_at>=${at(from)}`,
    );
  if (to !== undefined)
    conditions.push(
      `id<${column.uuid.literal(firstIdAt(to + ID_MARGIN_MS))} AND created_at<=${at(to)}`,
    );
  const rows = await reader.query(
    `SELECT tenant_id, body FROM events FORCE INDEX (id) WHERE ${conditions.join(' AND ')}
     ORDER BY id DESC LIMIT ${limit}`,
  );
  return rows.map(parseOwnedBody);
}

const parseOwnedBody = rowParser({ tenantId: column.uuid, body: column.string });

/** Reads a page and the log's last sequence in one statement, and so from one server. */
async function readWithHead(
  reader: Reader,
  owner: string,
  sql: string,
): Promise<{ readonly found: StoredEvent[]; readonly head: bigint }> {
  const rows = await reader.query(
    `(${sql}) UNION ALL (SELECT NULL, NULL, last_sequence, NULL, NULL, NULL FROM event_counters WHERE ${owner})`,
  );
  const counter = rows.find(({ id }) => id === null);
  return {
    found: rows.filter((row) => row !== counter).map(parseStoredEvent),
    head: counter === undefined ? 0n : column.bigint.parse(counter.sequence),
  };
}

async function readFirstSequence(reader: Reader, owner: string): Promise<bigint | null> {
  const [row] = await reader.query(
    `SELECT sequence FROM events WHERE ${owner} ORDER BY sequence LIMIT 1`,
  );
  return row === undefined ? null : column.bigint.parse(row.sequence);
}

/** Returns an Event as JSON, as it was sent. Throws not_found. */
export async function readEvent(reader: Reader, tenantId: Uuid, id: Uuid): Promise<string> {
  const rows = await reader.query(
    `SELECT ${STORED_EVENT} FROM events WHERE ${equalsSql(events, { id, tenantId })}`,
  );
  return assertFound(rows.map(parseStoredEvent)[0]).body;
}

export const STORED_EVENT = 'id,type,sequence,resource_id,created_at,body';

export const parseStoredEvent = rowParser({
  id: column.uuid,
  type: column.string,
  sequence: column.bigint,
  resourceId: column.uuid,
  createdAt: column.time,
  body: column.string,
});
type StoredEvent = ReturnType<typeof parseStoredEvent>;

/** Presents a gap that a restore left in the log. (docs/contract.md, Events) */
export function presentGap({ afterSequence, throughSequence, restoredTo, announcedAt }: EventGap) {
  return {
    after: Number(afterSequence),
    before: Number(throughSequence + 1n),
    restored_to: toRfc3339(restoredTo),
    created_at: toRfc3339(announcedAt),
  };
}

/** Returns the tenant's log as numbered rows, ordered by time and without gaps between two restores. */
function numberedEvents(tenantId: Uuid): NumberedRows {
  return {
    table: events.name,
    owner: `tenant_id=${literal(events, 'tenantId', tenantId)}`,
    number: 'sequence',
  };
}

export function readGaps(reader: Reader, tenantId: Uuid): Promise<EventGap[]> {
  return reader.select(eventGaps, { tenantId }, { orderBy: ['afterSequence'] });
}

/** Returns the sequences of the events within these inclusive bounds, possibly with gaps. */
export async function sequencesWithin(
  reader: Reader,
  tenantId: Uuid,
  gaps: readonly EventGap[],
  from: Instant | undefined,
  to: Instant | undefined,
): Promise<NumberRange> {
  if (gaps.length === 0) return numbersWithin(reader, numberedEvents(tenantId), from, to);
  const [first, end] = await Promise.all([
    from === undefined ? 1n : firstBetweenGaps(reader, tenantId, gaps, from),
    firstBetweenGaps(reader, tenantId, gaps, to === undefined ? undefined : instant(to + 1)),
  ]);
  return { first, last: end - 1n };
}

/** Returns the first sequence at or after `at`, or after the last event without `at`. */
async function firstBetweenGaps(
  reader: Reader,
  tenantId: Uuid,
  gaps: readonly EventGap[],
  at: Instant | undefined,
): Promise<bigint> {
  const next = gaps.findIndex(({ announcedAt }) => at !== undefined && at <= announcedAt);
  const [before, after] = next < 0 ? [gaps.at(-1), undefined] : [gaps[next - 1], gaps[next]];
  const part: Partial<NumberRange> = {
    ...(before === undefined ? {} : { first: before.throughSequence + 1n }),
    ...(after === undefined ? {} : { last: after.afterSequence }),
  };
  const rows = numberedEvents(tenantId);
  if (at === undefined)
    return (await numbersWithin(reader, rows, undefined, undefined, part)).last + 1n;
  return (await numbersWithin(reader, rows, at, undefined, part)).first;
}

/** Returns the sequence of the tenant's last event; 0 before the first. */
export async function readLastSequence(reader: Reader, tenantId: Uuid): Promise<bigint> {
  return (await reader.find(eventCounters, { tenantId }))?.lastSequence ?? 0n;
}

/** Returns the sequence of the first event at or after that time, or null without one. */
export async function readFirstSequenceSince(
  reader: Reader,
  tenantId: Uuid,
  since: Instant,
): Promise<bigint | null> {
  const { first, last } = await sequencesWithin(
    reader,
    tenantId,
    await readGaps(reader, tenantId),
    since,
    undefined,
  );
  return first > last ? null : first;
}
