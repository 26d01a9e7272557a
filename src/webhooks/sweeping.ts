import { firstIdAt, type Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Database, StoredRow, Transaction } from '../db/database.js';
import { outbox } from '../db/entities/outbox.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { columnList, insertSql, knownValuesSql, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { transact } from '../db/transact.js';
import type { WorkflowsKept } from './attending.js';
import { isFree, isHeld } from './drain/lease.js';
import { ATTEMPTS_KEPT_MS, FAILING_MS } from './rules.js';
import { freeSql, inTimeSql, makeDue, WANTED_AHEAD } from './senders/finding.js';
import { noticeOf } from './telling.js';

/** What the sweeper does for webhooks: goes over all endpoints now and then, and tidies up. Every call is one bounded piece of work. */

/** Endpoints of one call. */
const SLICE = 200;
/** What is younger has a notice of its own. */
const YOUNG_MS = 60_000;
/** A paused endpoint, which nobody sends to, is told so often that its workflow may be lost no longer. */
const TOLD_AGAIN_MS = 3_600_000;

/**
 * Looks over the endpoints behind `after`, in the order of their ids: moves cursors over what nobody wants, so that a log which goes on
 * without them never looks like a loss to retention; makes due what the senders should have found; and has workflows begun that are
 * not there. Answers the last endpoint, or null where there is none. What a later release wrote is left to that.
 */
export async function lookOver(
  database: Database,
  now: Instant,
  after: Uuid | null,
  kept: WorkflowsKept,
): Promise<Uuid | null> {
  const behind = after === null ? '' : ` AND e.id>${column.uuid.literal(after)}`;
  // One statement sees heads and counters of one moment, so nothing that is wanted lies up to that counter.
  const rows = await database.reader.query(
    `SELECT ${columnList(webhookEndpoints, 'e')}, c.last_sequence AS head, ${WANTED_AHEAD} AS is_behind,
       ${inTimeSql(now)} AS is_in_time
     FROM webhook_endpoints e FORCE INDEX (PRIMARY) JOIN event_counters c ON c.tenant_id=e.tenant_id
     WHERE e.status<>'deleted' AND ${knownValuesSql(webhookEndpoints, 'e')}${behind} ORDER BY e.id LIMIT ${SLICE}`,
  );
  const seen = rows.map(parseSeen);
  const open = seen.filter(({ endpoint, head }) => {
    const isOpen = !isHeld(endpoint) && isFree(endpoint, now);
    return isOpen && head > endpoint.cursorSequence;
  });
  const idle = open.filter(({ isBehind }) => !isBehind);
  const missed = open.filter(({ isBehind, isInTime }) => isBehind && !isInTime);
  const alone = seen.filter(({ endpoint }) => isAlone(endpoint, now, kept));
  if (idle.length > 0) await transact(database, (transaction) => moveCursors(transaction, idle, now));
  const missedIds = missed.map(({ endpoint }) => endpoint.id);
  if (missed.length > 0) await transact(database, (transaction) => makeDue(transaction, missedIds, now));
  if (alone.length > 0) await transact(database, (transaction) => tellAbout(transaction, alone, now));
  return seen.at(-1)?.endpoint.id ?? null;
}

interface Seen {
  readonly endpoint: WebhookEndpoint;
  /** The last event of its tenant's log. */
  readonly head: bigint;
  /** Something that it wants lies ahead of its cursor. */
  readonly isBehind: boolean;
  /** Somebody looks at it as soon as something may be sent. */
  readonly isInTime: boolean;
}

function parseSeen(row: StoredRow): Seen {
  const isBehind = column.integer.parse(row.is_behind) === 1;
  const isInTime = column.integer.parse(row.is_in_time) === 1;
  return { endpoint: parseRow(webhookEndpoints, row), head: column.bigint.parse(row.head), isBehind, isInTime };
}

function isAlone({ createdAt, attendedAt, pausedAt }: WebhookEndpoint, now: Instant, kept: WorkflowsKept): boolean {
  if (attendedAt === null) return createdAt < now - YOUNG_MS && (kept === 'all' || pausedAt !== null);
  return pausedAt !== null && attendedAt < now - TOLD_AGAIN_MS;
}

function idsOf(some: readonly Seen[]): string {
  return literals(
    webhookEndpoints,
    'id',
    some.map(({ endpoint }) => endpoint.id),
  );
}

/** A cursor never goes back; a type that was added since starts behind that head. */
async function moveCursors(transaction: Transaction, idle: readonly Seen[], now: Instant): Promise<void> {
  const heads = idle.map(({ endpoint, head }) => `WHEN ${column.uuid.literal(endpoint.id)} THEN ${head}`).join(' ');
  await transaction.execute(
    `UPDATE webhook_endpoints e SET cursor_sequence=GREATEST(cursor_sequence, CASE id ${heads} END)
     WHERE id IN (${idsOf(idle)}) AND ${freeSql(now)}`,
  );
}

/** Unless a notice of them waits already. */
async function tellAbout(transaction: Transaction, alone: readonly Seen[], now: Instant): Promise<void> {
  const waiting = await transaction.query(`SELECT resource_id FROM outbox WHERE resource_id IN (${idsOf(alone)})`);
  const told = new Set(waiting.map((row) => column.uuid.parse(row.resource_id)));
  const notices = alone.filter(({ endpoint }) => !told.has(endpoint.id)).map(({ endpoint }) => noticeOf(endpoint, now));
  if (notices.length > 0) await transaction.execute(insertSql(outbox, notices));
}

/** More than the clocks of two processes are ever apart: the event's time is of one, its delivery's of the other. */
const CLOCKS_APART_MS = 60_000;

/** What one call of `removeOldAttempts` deletes of each kind at most. */
const MAX_REMOVED = 1_000;

/** Endpoints of one look for something old. */
const LOOKED_AT = 1_000;

/**
 * Removes attempts of more than 30 days ago, and deliveries that were over by then: of one endpoint, the first behind `after` that has any
 * so old, as far as one look goes. Answers that endpoint, or the last that was looked at; null behind the last one. `isDone` is
 * false where it has more.
 */
export async function removeOldAttempts(
  database: Database,
  now: Instant,
  after: Uuid | null,
): Promise<{ readonly endpointId: Uuid; readonly isDone: boolean } | null> {
  const before = instant(now - ATTEMPTS_KEPT_MS);
  const looked = await lookForOld(database, before, after);
  if (looked.old === null) return looked.last === null ? null : { endpointId: looked.last, isDone: true };
  const endpoint = looked.old;
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

/** The first of the next endpoints that has something old, and the last of them. Each is two looks at the begin of its rows. */
async function lookForOld(
  { reader }: Database,
  before: Instant,
  after: Uuid | null,
): Promise<{ readonly old: WebhookEndpoint | null; readonly last: Uuid | null }> {
  const behind = after === null ? '' : ` AND e.id>${column.uuid.literal(after)}`;
  const first = column.uuid.literal(firstIdAt(before));
  const rows = await reader.query(
    `SELECT e.id, (EXISTS (SELECT 1 FROM webhook_attempts a WHERE a.endpoint_id=e.id AND a.delivery_id<${first})
        OR EXISTS (SELECT 1 FROM webhook_deliveries d FORCE INDEX (PRIMARY) WHERE d.endpoint_id=e.id AND d.id<${first})) AS has_old
     FROM (SELECT e.id FROM webhook_endpoints e FORCE INDEX (PRIMARY)
       WHERE ${knownValuesSql(webhookEndpoints, 'e')}${behind} ORDER BY e.id LIMIT ${LOOKED_AT}) e ORDER BY e.id`,
  );
  const found = rows.find((row) => column.integer.parse(row.has_old) === 1);
  const last = rows.at(-1);
  const id = found === undefined ? null : column.uuid.parse(found.id);
  const old = id === null ? null : ((await reader.find(webhookEndpoints, { id })) ?? null);
  return { old, last: last === undefined ? null : column.uuid.parse(last.id) };
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
