import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import type { Reader } from '../db/database.js';
import { eventCounters, events } from '../db/entities/events.js';
import { type EventGap, eventGaps } from '../db/entities/restores.js';
import { type NumberedRows, type NumberRange, numbersWithin } from '../db/numbered-rows.js';
import { literal } from '../db/statements.js';

/** A tenant's log is gapless and ordered by time, except for what restores skipped. */

/** Returns the tenant's log as numbered rows, which are without gaps only between two restores. */
export function eventsOf(tenantId: Uuid): NumberedRows {
  return {
    table: events.name,
    owner: `tenant_id=${literal(events, 'tenantId', tenantId)}`,
    number: 'sequence',
  };
}

export function gapsOf(reader: Reader, tenantId: Uuid): Promise<EventGap[]> {
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
  if (gaps.length === 0) return numbersWithin(reader, eventsOf(tenantId), from, to);
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
  const rows = eventsOf(tenantId);
  if (at === undefined)
    return (await numbersWithin(reader, rows, undefined, undefined, part)).last + 1n;
  return (await numbersWithin(reader, rows, at, undefined, part)).first;
}

/** Returns the sequence of the tenant's last event; 0 before the first. */
export async function headOf(reader: Reader, tenantId: Uuid): Promise<bigint> {
  return (await reader.find(eventCounters, { tenantId }))?.lastSequence ?? 0n;
}

/** Returns the sequence of the first event at or after that time, or null without one. */
export async function firstSince(
  reader: Reader,
  tenantId: Uuid,
  since: Instant,
): Promise<bigint | null> {
  const { first, last } = await sequencesWithin(
    reader,
    tenantId,
    await gapsOf(reader, tenantId),
    since,
    undefined,
  );
  return first > last ? null : first;
}
