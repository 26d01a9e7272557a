import type { Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import * as column from '../../db/columns.js';
import type { Reader, StoredRow, Transaction } from '../../db/database.js';
import { SUBSCRIBABLE_TYPES, webhookEndpoints, webhookSubscriptions } from '../../db/entities/webhooks.js';
import { knownValuesSql, literals } from '../../db/statements.js';
import { WORKFLOW_HEAD_START_MS } from '../rules.js';

/** How senders find what there is to do: by indexes on what is due, so that an endpoint without news costs nothing. */

/** Something may be sent to `e`. */
export const OPEN = `e.status='enabled' AND e.paused_at IS NULL`;

/**
 * This process knows every word of `e`: an endpoint with one of a later release is left to those who know it. Asked last, of those that
 * are left; counted, so that no plan goes through all subscriptions for it.
 */
export const KNOWN = `${knownValuesSql(webhookEndpoints, 'e')} AND (SELECT COUNT(*) FROM webhook_subscriptions s
  WHERE s.endpoint_id=e.id AND s.type NOT IN (${literals(webhookSubscriptions, 'type', SUBSCRIBABLE_TYPES)}))=0`;

/** Nobody sends to `e` now. */
export const freeSql = (now: Instant): string =>
  `(e.lease_until IS NULL OR e.lease_until<=${column.time.literal(now)})`;

/** Something of a subscribed type lies ahead of the cursor of `e`. */
export const WANTED_AHEAD = `EXISTS (SELECT 1 FROM webhook_subscriptions s
  JOIN event_heads h ON h.tenant_id=s.tenant_id AND h.type=s.type
  WHERE s.endpoint_id=e.id AND h.last_sequence>e.cursor_sequence AND h.last_sequence>=s.from_sequence)`;

/**
 * Somebody looks at `e` as soon as something new may be sent to it: now, or at its next probe. A retry that is due may be a day away, and
 * its workflow has a head start.
 */
export const inTimeSql = (now: Instant): string =>
  `COALESCE(e.next_due_at<=${column.time.literal(instant(now + WORKFLOW_HEAD_START_MS))}
    OR e.next_due_at<=e.probe_at + INTERVAL ${WORKFLOW_HEAD_START_MS * 1_000} MICROSECOND, FALSE)`;

/** The tenants with an event since then, each with the number of its last. */
export async function tenantsWithEvents(reader: Reader, since: Instant): Promise<ReadonlyMap<Uuid, bigint>> {
  const rows = await reader.query(
    `SELECT tenant_id, last_sequence FROM event_counters FORCE INDEX (recent) WHERE last_at>=${column.time.literal(since)}`,
  );
  return new Map(rows.map((row) => [column.uuid.parse(row.tenant_id), column.bigint.parse(row.last_sequence)]));
}

/** An endpoint that a sender may have something to send to. */
export interface Candidate {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  /** Where its cursor stood: what has moved since is somebody else's doing. Null: it is due whatever the cursor says. */
  readonly cursor: bigint | null;
  /** Its last attempt failed. */
  readonly isFailing: boolean;
  /** Somebody sends to it now. */
  readonly isBusy: boolean;
  /** Nothing is sent before its next probe. */
  readonly isProbed: boolean;
}

const COLUMNS = 'e.id, e.tenant_id, e.cursor_sequence, e.failures_in_row, e.probe_at';

/**
 * All endpoints of these tenants behind whose cursors something lies that they want, but for those that are looked at with their probes.
 * No limit but the tenants': those that nobody may take now, however many they are, would fill it and hide the others.
 */
export async function endpointsWithNews(
  reader: Reader,
  tenantIds: readonly Uuid[],
  now: Instant,
): Promise<readonly Candidate[]> {
  if (tenantIds.length === 0) return [];
  const rows = await reader.query(
    `SELECT ${COLUMNS}, NOT ${freeSql(now)} AS is_busy FROM webhook_endpoints e FORCE INDEX (tenant)
     WHERE e.tenant_id IN (${literals(webhookEndpoints, 'tenantId', tenantIds)}) AND ${OPEN}
     AND NOT (e.probe_at IS NOT NULL AND ${freeSql(now)} AND ${inTimeSql(now)}) AND ${WANTED_AHEAD} AND ${KNOWN}`,
  );
  return rows.map((row) => ({ ...common(row), cursor: column.bigint.parse(row.cursor_sequence) }));
}

/** How many endpoints may begin that are well, and how many whose last attempt failed. */
export interface Room {
  readonly well: number;
  readonly failing: number;
}

/** The endpoints whose time has come, of each kind those that have waited longest: none of them is in the way of the other. */
export async function endpointsDue(reader: Reader, now: Instant, room: Room): Promise<readonly Candidate[]> {
  const due = (kind: string, limit: number): string =>
    `(SELECT ${COLUMNS}, e.next_due_at, 0 AS is_busy FROM webhook_endpoints e FORCE INDEX (due)
      WHERE ${OPEN} AND e.next_due_at<=${column.time.literal(now)} AND ${freeSql(now)} AND ${kind} AND ${KNOWN}
      ORDER BY e.next_due_at LIMIT ${limit})`;
  const parts = [due('e.failures_in_row=0', room.well), due('e.failures_in_row>0', room.failing)];
  const rows = await reader.query(`${parts.join(' UNION ALL ')} ORDER BY next_due_at`);
  return rows.map((row) => ({ ...common(row), cursor: null }));
}

function common(row: StoredRow): Omit<Candidate, 'cursor'> {
  return {
    id: column.uuid.parse(row.id),
    tenantId: column.uuid.parse(row.tenant_id),
    isFailing: column.integer.parse(row.failures_in_row) > 0,
    isBusy: column.integer.parse(row.is_busy) === 1,
    isProbed: row.probe_at !== null,
  };
}

/**
 * Something new waits for these endpoints: they are looked at now, and one that is probed at its probe, however late a retry is. None is
 * looked at later than it would have been.
 */
export async function makeDue(transaction: Transaction, endpointIds: readonly Uuid[], now: Instant): Promise<void> {
  const at = `CAST(${column.time.literal(now)} AS DATETIME(3))`;
  const soonest = `GREATEST(COALESCE(probe_at, ${at}), ${at})`;
  await transaction.execute(
    `UPDATE webhook_endpoints SET next_due_at=LEAST(COALESCE(next_due_at, ${soonest}), ${soonest})
     WHERE id IN (${literals(webhookEndpoints, 'id', endpointIds)})`,
  );
}
