import { firstIdAt, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, StoredRow, Transaction } from '../db/database.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { columnList, equalsSql, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { transact } from '../db/reader.js';
import { removeOldEvents } from '../events/retention.js';
import { type Piece, pieceSweep, type Sweep } from '../temporal/sweeper.js';
import { freeSql, HAS_EVENTS_AHEAD_SQL, inTimeSql, isHeld, makeDue } from './endpoint-claims.js';
import { ATTEMPTS_KEPT_MS, FAILING_MS } from './rules.js';

const SLICE = 200;

/**
 * Moves idle cursors, so that retention counts no losses, and makes due what the dispatcher missed.
 * Returns the last endpoint examined; null at the end.
 */
export async function makeMissedDue(
  database: Database,
  now: Instant,
  after: Uuid | null,
): Promise<Uuid | null> {
  const { rows, last } = await readSlice(database.reader, now, after);
  const open = rows.filter(
    ({ endpoint, head }) =>
      !isHeld(endpoint) && (endpoint.leaseUntil ?? 0) <= now && head > endpoint.cursorSequence,
  );
  const idle = open.filter(({ isBehind }) => !isBehind);
  const missed = open.filter(({ isBehind, isInTime }) => isBehind && !isInTime);
  if (idle.length > 0)
    await transact(database, (transaction) => moveCursors(transaction, idle, now));
  if (missed.length > 0) {
    const ids = missed.map(({ endpoint }) => endpoint.id);
    await transact(database, (transaction) => makeDue(transaction, ids, now));
  }
  return last;
}

/** Finds endpoints by subscription, because deleted ones may be many. */
export async function readSlice(
  reader: Reader,
  now: Instant,
  after: Uuid | null,
): Promise<{ readonly rows: readonly EndpointRow[]; readonly last: Uuid | null }> {
  const afterSql = after === null ? '' : ` WHERE endpoint_id>${column.uuid.literal(after)}`;
  const found = await reader.query(
    `SELECT DISTINCT endpoint_id FROM webhook_subscriptions FORCE INDEX (PRIMARY)${afterSql} ORDER BY endpoint_id LIMIT ${SLICE}`,
  );
  const ids = found.map((row) => column.uuid.parse(row.endpoint_id));
  if (ids.length === 0) return { rows: [], last: null };
  // One statement, so that no event of a subscribed type is missing up to the counter.
  const rows = await reader.query(
    `SELECT ${columnList(webhookEndpoints, 'e')}, c.last_sequence AS head, ${HAS_EVENTS_AHEAD_SQL} AS is_behind,
       ${inTimeSql(now)} AS is_in_time
     FROM webhook_endpoints e FORCE INDEX (PRIMARY) JOIN event_counters c ON c.tenant_id=e.tenant_id
     WHERE e.id IN (${literals(webhookEndpoints, 'id', ids)}) AND e.status<>'deleted'`,
  );
  return { rows: rows.map(parseEndpointRow), last: ids.at(-1) ?? null };
}

type EndpointRow = ReturnType<typeof parseEndpointRow>;

function parseEndpointRow(row: StoredRow) {
  return {
    endpoint: parseRow(webhookEndpoints, row),
    head: column.bigint.parse(row.head),
    isBehind: column.integer.parse(row.is_behind) === 1,
    isInTime: column.integer.parse(row.is_in_time) === 1,
  };
}

/** A type added since the heads were read starts after them. */
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

/** Upper limit of the difference between two clocks: one dates the event, another the delivery. */
const CLOCKS_APART_MS = 60_000;

const MAX_REMOVED = 1_000;

/**
 * Removes attempts older than 30 days, and deliveries that had ended by then, of the next endpoint.
 * Null after the last.
 */
export async function removeOldAttempts(
  database: Database,
  now: Instant,
  after: Uuid | null,
): Promise<Piece | null> {
  const before = instant(now - ATTEMPTS_KEPT_MS);
  const afterSql = after === null ? '' : `WHERE id>${column.uuid.literal(after)} `;
  const [endpoint] = await database.reader.list(
    webhookEndpoints,
    `FORCE INDEX (PRIMARY) ${afterSql}ORDER BY id LIMIT 1`,
  );
  if (endpoint === undefined) return null;
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
  return { at: endpoint.id, isDone: removed.every((count) => count < MAX_REMOVED) };
}

/** Deliveries since then are kept, so that a recovery does not resend what got a 2xx. */
function deliveriesNeededSince({
  status,
  disabledAt,
  recoverAfter,
}: WebhookEndpoint): Instant | null {
  if (status === 'deleted') return null;
  if (recoverAfter !== null) return instant(0);
  return disabledAt === null ? null : instant(disabledAt - FAILING_MS - CLOCKS_APART_MS);
}

export function endpointsSweep({ database, clock }: DatabaseDeps): Sweep {
  return pieceSweep('webhooks', async (after) => {
    const at = await makeMissedDue(database, clock(), after);
    return at === null ? null : { at, isDone: true };
  });
}

export function attemptsSweep({ database, clock }: DatabaseDeps): Sweep {
  return pieceSweep('old attempts', (after) => removeOldAttempts(database, clock(), after));
}

/** Removes events beyond the retention that operators have set, if any. */
export function retentionSweep({ database, clock }: DatabaseDeps): Sweep {
  return pieceSweep('old events', (after) => removeOldEvents(database, clock(), after));
}
