import { firstIdAt, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, StoredRow, Transaction } from '../db/database.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { columnList, equalsSql, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { transact } from '../db/transact.js';
import { removeOldEvents } from '../events/retention.js';
import type { Sweep } from '../temporal/sweeper.js';
import { pieceSweep } from '../temporal/piece-sweep.js';
import { isFree, isHeld } from './endpoint-claims.js';
import { ATTEMPTS_KEPT_MS, FAILING_MS } from './rules.js';
import { freeSql, inTimeSql, makeDue, HAS_EVENTS_AHEAD_SQL } from './work-finder.js';

/**
 * Sweeps of endpoints, their attempts and the event log, each a bounded piece of work at a time.
 */

const SLICE = 200;

/**
 * Checks a slice of the endpoints after `after`, in order of id. Moves cursors past unwanted
 * events, so that retention does not count them as lost, and makes due what the dispatcher should
 * have found. Returns the last endpoint, or null after the last one.
 */
export async function makeMissedDue(
  database: Database,
  now: Instant,
  after: Uuid | null,
): Promise<Uuid | null> {
  const { rows, last } = await readSlice(database.reader, now, after);
  const open = rows.filter(({ endpoint, head }) => {
    const isOpen = !isHeld(endpoint) && isFree(endpoint, now);
    return isOpen && head > endpoint.cursorSequence;
  });
  const idle = open.filter(({ isBehind }) => !isBehind);
  const missed = open.filter(({ isBehind, isInTime }) => isBehind && !isInTime);
  if (idle.length > 0)
    await transact(database, (transaction) => moveCursors(transaction, idle, now));
  const missedIds = missed.map(({ endpoint }) => endpoint.id);
  if (missed.length > 0)
    await transact(database, (transaction) => makeDue(transaction, missedIds, now));
  return last;
}

/** Finds endpoints by their subscriptions. Deleted endpoints, which may be many, have none. */
export async function readSlice(
  reader: Reader,
  now: Instant,
  after: Uuid | null,
): Promise<{ readonly rows: readonly EndpointRow[]; readonly last: Uuid | null }> {
  const behind = after === null ? '' : ` WHERE endpoint_id>${column.uuid.literal(after)}`;
  const found = await reader.query(
    `SELECT DISTINCT endpoint_id FROM webhook_subscriptions FORCE INDEX (PRIMARY)${behind} ORDER BY endpoint_id LIMIT ${SLICE}`,
  );
  const ids = found.map((row) => column.uuid.parse(row.endpoint_id));
  if (ids.length === 0) return { rows: [], last: null };
  // Heads and counters are read in one statement: no wanted event is missing up to the counter.
  const rows = await reader.query(
    `SELECT ${columnList(webhookEndpoints, 'e')}, c.last_sequence AS head, ${HAS_EVENTS_AHEAD_SQL} AS is_behind,
       ${inTimeSql(now)} AS is_in_time
     FROM webhook_endpoints e FORCE INDEX (PRIMARY) JOIN event_counters c ON c.tenant_id=e.tenant_id
     WHERE e.id IN (${literals(webhookEndpoints, 'id', ids)}) AND e.status<>'deleted'`,
  );
  return { rows: rows.map(parseEndpointRow), last: ids.at(-1) ?? null };
}

interface EndpointRow {
  readonly endpoint: WebhookEndpoint;
  readonly head: bigint;
  readonly isBehind: boolean;
  /** The dispatcher will examine the endpoint as soon as something may be sent. */
  readonly isInTime: boolean;
}

function parseEndpointRow(row: StoredRow): EndpointRow {
  const isBehind = column.integer.parse(row.is_behind) === 1;
  const isInTime = column.integer.parse(row.is_in_time) === 1;
  return {
    endpoint: parseRow(webhookEndpoints, row),
    head: column.bigint.parse(row.head),
    isBehind,
    isInTime,
  };
}

/** Moves cursors to heads read before. A type added since then starts after that head. */
async function moveCursors(
  transaction: Transaction,
  idle: readonly EndpointRow[],
  now: Instant,
): Promise<void> {
  const heads = idle
    .map(({ endpoint, head }) => `WHEN ${column.uuid.literal(endpoint.id)} THEN ${head}`)
    .join(' ');
  await transaction.execute(
    `UPDATE webhook_endpoints e SET cursor_sequence=GREATEST(cursor_sequence, CASE id ${heads} END)
     WHERE ${equalsSql(webhookEndpoints, { id: idle.map(({ endpoint }) => endpoint.id) })} AND ${freeSql(now)}`,
  );
}

/**
 * More than the clocks of two processes differ by. One dates the event, and another its delivery.
 */
const CLOCKS_APART_MS = 60_000;

/** The most rows of each kind that one call of `removeOldAttempts` deletes. */
const MAX_REMOVED = 1_000;

const MAX_EXAMINED = 1_000;

/**
 * Removes attempts older than 30 days, and deliveries that had ended by then, of the next endpoint
 * after `after` that has any among `MAX_EXAMINED` endpoints. Returns that endpoint, or the last one
 * examined; null after the last. `isDone` is false if the endpoint has more.
 */
export async function removeOldAttempts(
  database: Database,
  now: Instant,
  after: Uuid | null,
): Promise<{ readonly endpointId: Uuid; readonly isDone: boolean } | null> {
  const before = instant(now - ATTEMPTS_KEPT_MS);
  const examined = await findOld(database, before, after);
  if (examined.old === null)
    return examined.last === null ? null : { endpointId: examined.last, isDone: true };
  const endpoint = examined.old;
  const own = `endpoint_id=${column.uuid.literal(endpoint.id)}`;
  const isOld = (createdId: string, overAt: string, until: Instant): string =>
    `${own} AND ${createdId}<${column.uuid.literal(firstIdAt(until))} AND ${overAt}<${column.time.literal(until)}`;
  const neededSince = deliveriesNeededSince(endpoint);
  const until = neededSince !== null && neededSince < before ? neededSince : before;
  const isOver = endpoint.status === 'deleted' ? 'TRUE' : 'finished_at IS NOT NULL';
  const removed = await transact(database, async (transaction) => [
    await transaction.execute(
      `DELETE FROM webhook_attempts WHERE ${isOld('delivery_id', 'at', before)} LIMIT ${MAX_REMOVED}`,
    ),
    await transaction.execute(
      `DELETE FROM webhook_deliveries WHERE ${isOld('id', 'COALESCE(finished_at, created_at)', until)} AND ${isOver}
       LIMIT ${MAX_REMOVED}`,
    ),
  ]);
  return { endpointId: endpoint.id, isDone: removed.every((count) => count < MAX_REMOVED) };
}

/** Finds the next endpoint with old rows. Also returns the last endpoint examined. */
async function findOld(
  { reader }: Database,
  before: Instant,
  after: Uuid | null,
): Promise<{ readonly old: WebhookEndpoint | null; readonly last: Uuid | null }> {
  const behind = after === null ? '' : `WHERE e.id>${column.uuid.literal(after)} `;
  const first = column.uuid.literal(firstIdAt(before));
  const rows = await reader.query(
    `SELECT e.id, (EXISTS (SELECT 1 FROM webhook_attempts a WHERE a.endpoint_id=e.id AND a.delivery_id<${first})
        OR EXISTS (SELECT 1 FROM webhook_deliveries d FORCE INDEX (PRIMARY) WHERE d.endpoint_id=e.id AND d.id<${first})) AS has_old
     FROM (SELECT e.id FROM webhook_endpoints e FORCE INDEX (PRIMARY)
       ${behind}ORDER BY e.id LIMIT ${MAX_EXAMINED}) e ORDER BY e.id`,
  );
  const found = rows.find((row) => column.integer.parse(row.has_old) === 1);
  const last = rows.at(-1);
  const id = found === undefined ? null : column.uuid.parse(found.id);
  const old = id === null ? null : ((await reader.find(webhookEndpoints, { id })) ?? null);
  return { old, last: last === undefined ? null : column.uuid.parse(last.id) };
}

/**
 * Returns since when deliveries are kept beyond 30 days, so that a recovery, now or when the
 * endpoint is enabled, does not resend what got a 2xx. Null if they are not.
 */
function deliveriesNeededSince({
  status,
  disabledAt,
  recoverAfter,
}: WebhookEndpoint): Instant | null {
  if (status === 'deleted') return null;
  if (recoverAfter !== null) return instant(0);
  return disabledAt === null ? null : instant(disabledAt - FAILING_MS - CLOCKS_APART_MS);
}

/**
 * Makes due what the dispatcher has missed, and moves idle cursors, a slice of endpoints at a time.
 */
export function endpointsSweep({ database, clock }: DatabaseDeps): Sweep {
  return pieceSweep('webhooks', async (after) => {
    const at = await makeMissedDue(database, clock(), after);
    return at === null ? null : { at, isDone: true };
  });
}

export function attemptsSweep({ database, clock }: DatabaseDeps): Sweep {
  return pieceSweep('old attempts', async (after) => {
    const done = await removeOldAttempts(database, clock(), after);
    return done === null ? null : { at: done.endpointId, isDone: done.isDone };
  });
}

/** Removes events beyond the retention that operators have set, if any. */
export function retentionSweep({ database, clock }: DatabaseDeps): Sweep {
  return pieceSweep('old events', async (after) => {
    const done = await removeOldEvents(database, clock(), after);
    return done === null ? null : { at: done.tenantId, isDone: done.isDone };
  });
}
