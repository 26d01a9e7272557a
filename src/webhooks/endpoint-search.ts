import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Reader, StoredRow, Transaction } from '../db/database.js';
import { webhookEndpoints, webhookSubscriptions } from '../db/entities/webhooks.js';
import { literals } from '../db/statements.js';
import { SETTLED_AFTER_MS } from '../ledger/database-clock.js';
import { unclaimedSql } from './endpoint-claims.js';
import { MAY_RECEIVE_SQL } from './endpoint-state.js';
import { WORKFLOW_HEAD_START_MS } from './rules.js';

/** The dispatcher finds its work by indexes on what is due, so idle endpoints cost nothing. */

/** SQL condition: an event of a subscribed type is ahead of the cursor of the endpoint `e`. */
export const HAS_EVENTS_AHEAD_SQL = `EXISTS (SELECT 1 FROM webhook_subscriptions s
  JOIN event_heads h ON h.tenant_id=s.tenant_id AND h.type=s.type
  WHERE s.endpoint_id=e.id AND h.last_sequence>e.cursor_sequence AND h.last_sequence>=s.from_sequence)`;

/** SQL condition: `e` is due within `WORKFLOW_HEAD_START_MS` from now, or from its next probe. */
export const dueSoonSql = (now: Instant): string =>
  `COALESCE(e.next_due_at<=${column.time.literal(instant(now + WORKFLOW_HEAD_START_MS))}
    OR e.next_due_at<=e.probe_at + INTERVAL ${WORKFLOW_HEAD_START_MS * 1_000} MICROSECOND, FALSE)`;

export interface EndpointCandidate {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly isFailing: boolean;
  readonly isClaimed: boolean;
  /** True if nothing is sent to the endpoint before its next probe. */
  readonly waitsForProbe: boolean;
}

const CANDIDATE_COLUMNS = 'e.id, e.tenant_id, e.failures_in_row, e.probe_at';

/**
 * Returns endpoints with events ahead of the cursor, claimed ones included, but none that becomes
 * due at its next probe anyway. Starts from subscriptions, because deleted endpoints have none.
 */
export async function findEndpointsWithNewEvents(
  reader: Reader,
  tenantIds: readonly Uuid[],
  now: Instant,
): Promise<readonly EndpointCandidate[]> {
  if (tenantIds.length === 0) return [];
  const rows = await reader.query(
    `SELECT ${CANDIDATE_COLUMNS}, NOT ${unclaimedSql(now)} AS is_claimed
     FROM (SELECT DISTINCT endpoint_id FROM webhook_subscriptions FORCE INDEX (by_type)
       WHERE tenant_id IN (${literals(webhookSubscriptions, 'tenantId', tenantIds)})) own
     STRAIGHT_JOIN webhook_endpoints e FORCE INDEX (PRIMARY) ON e.id=own.endpoint_id WHERE ${MAY_RECEIVE_SQL}
     AND NOT (e.probe_at IS NOT NULL AND ${unclaimedSql(now)} AND ${dueSoonSql(now)}) AND ${HAS_EVENTS_AHEAD_SQL}`,
  );
  return rows.map(parseCandidate);
}

const MAX_DUE_PER_HEALTH = 500;

/** Returns due endpoints, longest due first. Failing endpoints have a limit of their own. */
export async function findDueEndpoints(
  reader: Reader,
  now: Instant,
): Promise<readonly EndpointCandidate[]> {
  const parts = ['e.failures_in_row=0', 'e.failures_in_row>0'].map(
    (
      healthSql,
    ) => `(SELECT ${CANDIDATE_COLUMNS}, e.next_due_at, 0 AS is_claimed FROM webhook_endpoints e FORCE INDEX (due)
      WHERE ${MAY_RECEIVE_SQL} AND e.next_due_at<=${column.time.literal(now)} AND ${unclaimedSql(now)} AND ${healthSql}
      ORDER BY e.next_due_at LIMIT ${MAX_DUE_PER_HEALTH})`,
  );
  const rows = await reader.query(`${parts.join(' UNION ALL ')} ORDER BY next_due_at`);
  return rows.map(parseCandidate);
}

function parseCandidate(row: StoredRow): EndpointCandidate {
  return {
    id: column.uuid.parse(row.id),
    tenantId: column.uuid.parse(row.tenant_id),
    isFailing: column.integer.parse(row.failures_in_row) > 0,
    isClaimed: column.integer.parse(row.is_claimed) === 1,
    waitsForProbe: row.probe_at !== null,
  };
}

/** Makes endpoints due now, or at their next probe, even if their next retry is later. */
export async function makeEndpointsDue(
  transaction: Transaction,
  endpointIds: readonly Uuid[],
  now: Instant,
): Promise<void> {
  const nowSql = `CAST(${column.time.literal(now)} AS DATETIME(3))`;
  const dueSql = `GREATEST(COALESCE(probe_at, ${nowSql}), ${nowSql})`;
  await transaction.execute(
    `UPDATE webhook_endpoints SET next_due_at=LEAST(COALESCE(next_due_at, ${dueSql}), ${dueSql})
     WHERE id IN (${literals(webhookEndpoints, 'id', endpointIds)})`,
  );
}

/** Remembers the tenants whose logs may have events that no run has read. */
export class LogWatcher {
  private lastSequences: ReadonlyMap<Uuid, bigint> = new Map();
  private readonly unread = new Set<Uuid>();
  private readAt: Instant | null = null;

  /** Adds tenants whose logs have grown since the last read. Returns all that are unread. */
  async read(reader: Reader, now: Instant): Promise<readonly Uuid[]> {
    const since = instant((this.readAt ?? now) - SETTLED_AFTER_MS);
    const rows = await reader.query(
      `SELECT tenant_id, last_sequence FROM event_counters FORCE INDEX (recent) WHERE last_at>=${column.time.literal(since)}`,
    );
    const found = rows.map(
      (row) => [column.uuid.parse(row.tenant_id), column.bigint.parse(row.last_sequence)] as const,
    );
    for (const [tenantId, last] of found)
      if (this.lastSequences.get(tenantId) !== last) this.unread.add(tenantId);
    this.lastSequences = new Map(found);
    this.readAt = now;
    return [...this.unread];
  }

  markUnread(tenantId: Uuid): void {
    this.unread.add(tenantId);
  }

  markRead(tenantId: Uuid): void {
    this.unread.delete(tenantId);
  }
}
