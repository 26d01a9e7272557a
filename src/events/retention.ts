import { type Actor, recordAction } from '../access/audit-log.js';
import { ApiError, invalidField } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Clock, type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { eventRemovals, eventRetention } from '../db/entities/events.js';
import { upsertSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import type { Piece } from '../temporal/sweeper.js';

/** The log keeps events forever, unless operators set a retention. (docs/contract.md, Events) */

export const MIN_RETENTION_DAYS = 30;
const MAX_DAYS = 36_500;
const DAY_MS = 86_400_000;

/** Returns the retention in days. Null means forever. */
export async function readRetention(reader: Reader): Promise<number | null> {
  return (await reader.find(eventRetention, { name: 'events' }))?.days ?? null;
}

/** Sets the retention of every tenant's log. Throws invalid_field (fewer than 30 days). */
export async function setRetention(
  database: Database,
  clock: Clock,
  days: number | null,
  actor: Actor,
): Promise<void> {
  if (days !== null && (!Number.isInteger(days) || days < MIN_RETENTION_DAYS || days > MAX_DAYS))
    throw new ApiError(invalidField('days', 'out_of_range'));
  await transact(database, async (transaction) => {
    const previous = await transaction.find(
      eventRetention,
      { name: 'events' },
      { forUpdate: true },
    );
    await transaction.execute(upsertSql(eventRetention, [{ name: 'events', days }], ['days']));
    await recordAction(transaction, actor, clock(), {
      tenantId: null,
      action: 'events.set_retention',
      subjectType: 'event_log',
      subjectId: 'events',
      details: { days, previous: previous?.days ?? null },
    });
  });
}

const EVENTS_PER_DELETE = 500;

/** Removes some of the oldest events of the next tenant after `after`. */
export async function removeOldEvents(
  database: Database,
  now: Instant,
  after: Uuid | null,
): Promise<(Piece & { readonly removed: number }) | null> {
  const days = await readRetention(database.reader);
  if (days === null) return null;
  const afterSql = after === null ? '' : ` WHERE tenant_id>${column.uuid.literal(after)}`;
  const [next] = await database.reader.query(
    `SELECT tenant_id FROM event_counters${afterSql} ORDER BY tenant_id LIMIT 1`,
  );
  if (next === undefined) return null;
  const tenantId = column.uuid.parse(next.tenant_id);
  const before = instant(now - days * DAY_MS);
  const removed = await transact(database, (transaction) =>
    removeOldestEvents(transaction, tenantId, before),
  );
  return { lastId: tenantId, removed, isPieceDone: removed < EVENTS_PER_DELETE };
}

async function removeOldestEvents(
  transaction: Transaction,
  tenantId: Uuid,
  before: Instant,
): Promise<number> {
  const own = `tenant_id=${column.uuid.literal(tenantId)}`;
  const known = await transaction.find(eventRemovals, { tenantId }, { forUpdate: true });
  const through = known?.removedThrough ?? 0n;
  // Starts where the log begins, so that removed events are not scanned again.
  const rows = await transaction.query(
    `SELECT sequence, created_at FROM events FORCE INDEX (PRIMARY)
     WHERE ${own} AND sequence>${through} ORDER BY sequence LIMIT ${EVENTS_PER_DELETE}`,
  );
  const old = rows.filter((row) => column.time.parse(row.created_at) < before);
  const last = old.at(-1);
  if (last === undefined) return 0;
  const removedThrough = column.bigint.parse(last.sequence);
  await transaction.execute(
    `DELETE FROM events WHERE ${own} AND sequence<=${removedThrough} AND sequence>${through}`,
  );
  const removal = { tenantId, removedThrough, removedUntil: column.time.parse(last.created_at) };
  await transaction.execute(
    upsertSql(eventRemovals, [removal], ['removedThrough', 'removedUntil']),
  );
  return old.length;
}

/** Returns the last sequence removed by retention; 0 if none. */
export async function readRemovedThrough(reader: Reader, tenantId: Uuid): Promise<bigint> {
  return (await reader.find(eventRemovals, { tenantId }))?.removedThrough ?? 0n;
}

/** True if the list would continue after the sequence `after` with events that were removed. */
export function isCursorExpired(after: bigint, order: 'asc' | 'desc', removed: bigint): boolean {
  return order === 'asc' ? after < removed : after <= removed;
}
