import { firstIdAt, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Database } from '../db/database.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { columnList, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { transact } from '../db/transact.js';
import { ATTEMPTS_KEPT_MS, FAILING_MS } from './rules.js';

/** What the sweeper does for webhooks: finds what nobody was woken for, and tidies up. Every call is one bounded piece of work. */

/** An enabled endpoint (`e`) that nobody drains now. */
const free = (now: Instant): string =>
  `e.status='enabled' AND e.paused_at IS NULL AND (e.lease_until IS NULL OR e.lease_until<=${column.time.literal(now)})`;

/** Something of a subscribed type lies ahead of the cursor of `e`. */
const WANTED_AHEAD = `EXISTS (SELECT 1 FROM webhook_subscriptions s
  JOIN event_heads h ON h.tenant_id=s.tenant_id AND h.type=s.type
  WHERE s.endpoint_id=e.id AND h.last_sequence>e.cursor_sequence AND h.last_sequence>=s.from_sequence)`;

/**
 * The endpoints that have something to do and nobody who does it: enabled, not paused, without a live drain, and a delivery is due or
 * the head of a subscribed type is past the cursor. At most `limit` of each kind; with `tenantIds` only theirs.
 */
export async function dueEndpoints(
  database: Database,
  now: Instant,
  limit: number,
  tenantIds?: readonly Uuid[],
): Promise<readonly Uuid[]> {
  const at = column.time.literal(now);
  const among =
    tenantIds === undefined ? '' : ` AND e.tenant_id IN (${literals(webhookEndpoints, 'tenantId', tenantIds)})`;
  const [waiting, behind] = await Promise.all([
    database.reader.query(
      `SELECT e.id FROM webhook_endpoints e FORCE INDEX (due)
       WHERE ${free(now)} AND e.next_due_at<=${at}${among} ORDER BY e.next_due_at LIMIT ${limit}`,
    ),
    database.reader.query(
      `SELECT e.id FROM webhook_endpoints e JOIN event_counters c ON c.tenant_id=e.tenant_id
       WHERE ${free(now)} AND c.last_sequence>e.cursor_sequence AND (e.probe_at IS NULL OR e.probe_at<=${at})
       AND ${WANTED_AHEAD}${among} LIMIT ${limit}`,
    ),
  ]);
  return [...new Set([...waiting, ...behind].map((row) => column.uuid.parse(row.id)))];
}

/** Rows of one statement. */
const CHUNK = 900;

/**
 * Moves the cursors over events that their endpoints do not want: so that a log which goes on without them never looks like work, and
 * retention like a loss. Answers how many it moved; CHUNK means that there may be more.
 */
export async function advanceIdleCursors(database: Database, now: Instant): Promise<number> {
  // One statement sees heads and counters of one moment, so nothing that is wanted lies up to that counter.
  const idle = await database.reader.query(
    `SELECT e.id, c.last_sequence FROM webhook_endpoints e JOIN event_counters c ON c.tenant_id=e.tenant_id
     WHERE ${free(now)} AND c.last_sequence>e.cursor_sequence AND NOT ${WANTED_AHEAD} ORDER BY e.id LIMIT ${CHUNK}`,
  );
  if (idle.length === 0) return 0;
  const rows = idle.map((row) => ({
    id: column.uuid.parse(row.id),
    head: column.bigint.parse(row.last_sequence),
  }));
  const heads = rows.map(({ id, head }) => `WHEN ${column.uuid.literal(id)} THEN ${head}`).join(' ');
  const ids = literals(
    webhookEndpoints,
    'id',
    rows.map(({ id }) => id),
  );
  // A cursor never goes back; a type that was added since starts behind that counter.
  return transact(database, (transaction) =>
    transaction.execute(
      `UPDATE webhook_endpoints e SET cursor_sequence=GREATEST(cursor_sequence, CASE id ${heads} END)
       WHERE id IN (${ids}) AND ${free(now)}`,
    ),
  );
}

/** More than the clocks of two processes are ever apart: the event's time is of one, its delivery's of the other. */
const CLOCKS_APART_MS = 60_000;

/** What one call of `removeOldAttempts` deletes of each kind at most. */
const MAX_REMOVED = 1_000;

/**
 * Removes attempts of more than 30 days ago, and deliveries that were over by then: of one endpoint, the one behind `after`.
 * Answers that endpoint, or null behind the last one; `removed` equal to the most that a call removes means that it has more.
 */
export async function removeOldAttempts(
  database: Database,
  now: Instant,
  after: Uuid | null,
): Promise<{ readonly endpointId: Uuid; readonly isDone: boolean } | null> {
  const behind = after === null ? '' : ` WHERE id>${column.uuid.literal(after)}`;
  const [row] = await database.reader.query(
    `SELECT ${columnList(webhookEndpoints)} FROM webhook_endpoints FORCE INDEX (PRIMARY)${behind} ORDER BY id LIMIT 1`,
  );
  if (row === undefined) return null;
  const endpoint = parseRow(webhookEndpoints, row);
  const own = `endpoint_id=${column.uuid.literal(endpoint.id)}`;
  const before = instant(now - ATTEMPTS_KEPT_MS);
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

/**
 * From when on the deliveries of an endpoint tell what need not be sent again: while part of the log is being recovered, and for when
 * it will be enabled. Null: no longer than any are kept.
 */
function deliveriesNeededSince({ status, disabledAt, recoverAfter }: WebhookEndpoint): Instant | null {
  if (status === 'deleted') return null;
  if (recoverAfter !== null) return instant(0);
  return disabledAt === null ? null : instant(disabledAt - FAILING_MS - CLOCKS_APART_MS);
}
