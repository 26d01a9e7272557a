import { firstIdAt, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Database, DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { webhookEndpoints } from '../db/entities/webhooks.js';
import { equalsSql, literals } from '../db/statements.js';
import { rowParser } from '../db/table.js';
import { transact } from '../db/reader.js';
import { removeOldEvents } from '../events/retention.js';
import { type Piece, pieceSweep, type Sweep } from '../temporal/sweeper.js';
import { MAY_RECEIVE_SQL } from './endpoint-state.js';
import { unclaimedSql } from './endpoint-claims.js';
import { HAS_EVENTS_AHEAD_SQL, dueSoonSql, makeEndpointsDue } from './endpoint-search.js';
import { ATTEMPTS_KEPT_MS, FAILING_MS } from './rules.js';

const ENDPOINTS_PER_SLICE = 200;

/**
 * Moves the cursors of idle endpoints, so that unsubscribed events do not count as lost, and makes
 * endpoints due that the dispatcher missed. Returns the last endpoint examined; null at the end.
 */
export async function sweepEndpoints(
  database: Database,
  now: Instant,
  after: Uuid | null,
): Promise<Uuid | null> {
  const { rows, last } = await readEndpointSlice(database.reader, now, after);
  const idle = rows.filter(({ hasEventsAhead }) => hasEventsAhead === 0);
  const missed = rows.filter(
    ({ hasEventsAhead, isDueSoon }) => hasEventsAhead === 1 && isDueSoon === 0,
  );
  if (idle.length > 0)
    await transact(database, (transaction) => moveCursors(transaction, idle, now));
  if (missed.length > 0) {
    const ids = missed.map(({ id }) => id);
    await transact(database, (transaction) => makeEndpointsDue(transaction, ids, now));
  }
  return last;
}

/**
 * Reads those of a slice of endpoints that no run has claimed, and whose logs are ahead. Finds them
 * by subscription, because deleted endpoints, which may be many, have none.
 */
export async function readEndpointSlice(
  reader: Reader,
  now: Instant,
  after: Uuid | null,
): Promise<{ readonly rows: readonly EndpointRow[]; readonly last: Uuid | null }> {
  const afterSql = after === null ? '' : ` WHERE endpoint_id>${column.uuid.literal(after)}`;
  const found = await reader.query(
    `SELECT DISTINCT endpoint_id FROM webhook_subscriptions FORCE INDEX (PRIMARY)${afterSql} ORDER BY endpoint_id LIMIT ${ENDPOINTS_PER_SLICE}`,
  );
  const ids = found.map((row) => column.uuid.parse(row.endpoint_id));
  if (ids.length === 0) return { rows: [], last: null };
  // One statement, so that `has_events_ahead` covers every event up to `head`.
  const rows = await reader.query(
    `SELECT e.id, c.last_sequence AS head, ${HAS_EVENTS_AHEAD_SQL} AS has_events_ahead,
       ${dueSoonSql(now)} AS is_due_soon
     FROM webhook_endpoints e FORCE INDEX (PRIMARY) JOIN event_counters c ON c.tenant_id=e.tenant_id
     WHERE e.id IN (${literals(webhookEndpoints, 'id', ids)})
       AND ${MAY_RECEIVE_SQL} AND ${unclaimedSql(now)} AND c.last_sequence>e.cursor_sequence`,
  );
  return { rows: rows.map(parseEndpointRow), last: ids.at(-1) ?? null };
}

/** Reads no column whose values a later release may extend, so that no endpoint stops the sweep. */
const parseEndpointRow = rowParser({
  id: column.uuid,
  head: column.bigint,
  hasEventsAhead: column.integer,
  isDueSoon: column.integer,
});
type EndpointRow = ReturnType<typeof parseEndpointRow>;

/** Types that were added since `head` was read start after it, so no event of theirs is skipped. */
async function moveCursors(
  transaction: Transaction,
  idle: readonly EndpointRow[],
  now: Instant,
): Promise<void> {
  const headsSql = idle
    .map(({ id, head }) => `WHEN ${column.uuid.literal(id)} THEN ${head}`)
    .join(' ');
  await transaction.execute(
    `UPDATE webhook_endpoints e SET cursor_sequence=GREATEST(cursor_sequence, CASE id ${headsSql} END)
     WHERE ${equalsSql(webhookEndpoints, { id: idle.map(({ id }) => id) })} AND ${unclaimedSql(now)}`,
  );
}

/** Events are dated by the database's clock, and deliveries by that of a process. */
const MAX_CLOCK_DIFFERENCE_MS = 60_000;

const ROWS_PER_DELETE = 1_000;

/**
 * Removes some attempts older than 30 days, and deliveries that ended before, of the next endpoint
 * after `after`. Returns null after the last endpoint.
 */
export async function removeOldAttempts(
  database: Database,
  now: Instant,
  after: Uuid | null,
): Promise<Piece | null> {
  const before = instant(now - ATTEMPTS_KEPT_MS);
  const afterSql = after === null ? '' : `WHERE id>${column.uuid.literal(after)} `;
  const [row] = await database.reader.query(
    `SELECT id, status, disabled_at, recover_after FROM webhook_endpoints FORCE INDEX (PRIMARY)
     ${afterSql}ORDER BY id LIMIT 1`,
  );
  if (row === undefined) return null;
  const endpoint = parseAttemptsOwner(row);
  const own = `endpoint_id=${column.uuid.literal(endpoint.id)}`;
  const oldSql = (idColumn: string, endedAt: string, until: Instant): string =>
    `${own} AND ${idColumn}<${column.uuid.literal(firstIdAt(until))} AND ${endedAt}<${column.time.literal(until)}`;
  const neededSince = deliveriesNeededSince(endpoint);
  const until = neededSince !== null && neededSince < before ? neededSince : before;
  const endedSql = endpoint.status === 'deleted' ? 'TRUE' : 'finished_at IS NOT NULL';
  const removed = await transact(database, async (transaction) => [
    await transaction.execute(
      `DELETE FROM webhook_attempts WHERE ${oldSql('delivery_id', 'at', before)} LIMIT ${ROWS_PER_DELETE}`,
    ),
    await transaction.execute(
      `DELETE FROM webhook_deliveries WHERE ${oldSql('id', 'COALESCE(finished_at, created_at)', until)} AND ${endedSql}
       LIMIT ${ROWS_PER_DELETE}`,
    ),
  ]);
  return { lastId: endpoint.id, isPieceDone: removed.every((count) => count < ROWS_PER_DELETE) };
}

const parseAttemptsOwner = rowParser({
  id: column.uuid,
  status: column.string,
  disabledAt: column.nullable(column.time),
  recoverAfter: column.nullable(column.bigint),
});

/** Returns the time from which on a recovery needs deliveries, to skip events that got a 2xx. */
function deliveriesNeededSince({
  status,
  disabledAt,
  recoverAfter,
}: ReturnType<typeof parseAttemptsOwner>): Instant | null {
  if (status === 'deleted') return null;
  if (recoverAfter !== null) return instant(0);
  return disabledAt === null ? null : instant(disabledAt - FAILING_MS - MAX_CLOCK_DIFFERENCE_MS);
}

export function endpointsSweep({ database, clock }: DatabaseDeps): Sweep {
  return pieceSweep('webhooks', async (after) => {
    const lastId = await sweepEndpoints(database, clock(), after);
    return lastId === null ? null : { lastId, isPieceDone: true };
  });
}

export function attemptsSweep({ database, clock }: DatabaseDeps): Sweep {
  return pieceSweep('old attempts', (after) => removeOldAttempts(database, clock(), after));
}

/** Removes events beyond the retention that operators have set, if any. */
export function retentionSweep({ database, clock }: DatabaseDeps): Sweep {
  return pieceSweep('old events', (after) => removeOldEvents(database, clock(), after));
}
