import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Reader, StoredRow, Transaction } from '../db/database.js';
import { webhookEndpoints, webhookSubscriptions } from '../db/entities/webhooks.js';
import { literals } from '../db/statements.js';
import { SETTLED_AFTER_MS } from '../ledger/database-clock.js';
import { WORKFLOW_HEAD_START_MS } from './rules.js';

/** Finds the dispatcher's work by indexes on what is due, so idle endpoints cost nothing. */

/** SQL condition: the endpoint `e` may receive deliveries. */
export const OPEN = `e.status='enabled' AND e.paused_at IS NULL`;

/** SQL condition: no run has a claim on the endpoint `e`. */
export const freeSql = (now: Instant): string =>
  `(e.lease_until IS NULL OR e.lease_until<=${column.time.literal(now)})`;

/** SQL condition: an event of a subscribed type is ahead of the cursor of the endpoint `e`. */
export const HAS_EVENTS_AHEAD_SQL = `EXISTS (SELECT 1 FROM webhook_subscriptions s
  JOIN event_heads h ON h.tenant_id=s.tenant_id AND h.type=s.type
  WHERE s.endpoint_id=e.id AND h.last_sequence>e.cursor_sequence AND h.last_sequence>=s.from_sequence)`;

/** SQL condition: `e` is due within the workflow's head start from now, or from its next probe. */
export const inTimeSql = (now: Instant): string =>
  `COALESCE(e.next_due_at<=${column.time.literal(instant(now + WORKFLOW_HEAD_START_MS))}
    OR e.next_due_at<=e.probe_at + INTERVAL ${WORKFLOW_HEAD_START_MS * 1_000} MICROSECOND, FALSE)`;

export interface EndpointCandidate {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  /** Null if due deliveries were found. If it has moved since, another process has sent events. */
  readonly cursor: bigint | null;
  readonly isFailing: boolean;
  readonly isBusy: boolean;
  /** Nothing is sent to it before its next probe. */
  readonly isProbed: boolean;
}

const COLUMNS = 'e.id, e.tenant_id, e.cursor_sequence, e.failures_in_row, e.probe_at';

/**
 * Returns endpoints with events ahead of the cursor, including busy ones, unless they become due at
 * their next probe anyway. Starts from the subscriptions, because deleted endpoints have none.
 */
export async function endpointsBehind(
  reader: Reader,
  tenantIds: readonly Uuid[],
  now: Instant,
): Promise<readonly EndpointCandidate[]> {
  if (tenantIds.length === 0) return [];
  const rows = await reader.query(
    `SELECT ${COLUMNS}, NOT ${freeSql(now)} AS is_busy
     FROM (SELECT DISTINCT endpoint_id FROM webhook_subscriptions FORCE INDEX (by_type)
       WHERE tenant_id IN (${literals(webhookSubscriptions, 'tenantId', tenantIds)})) own
     STRAIGHT_JOIN webhook_endpoints e FORCE INDEX (PRIMARY) ON e.id=own.endpoint_id WHERE ${OPEN}
     AND NOT (e.probe_at IS NOT NULL AND ${freeSql(now)} AND ${inTimeSql(now)}) AND ${HAS_EVENTS_AHEAD_SQL}`,
  );
  return rows.map((row) => ({ ...common(row), cursor: column.bigint.parse(row.cursor_sequence) }));
}

/** Free slots for healthy endpoints, and for those whose last attempt failed or was slow. */
export interface FreeSlots {
  readonly healthy: number;
  readonly failing: number;
}

/** Returns due endpoints, those that have waited longest first. */
export async function endpointsDue(
  reader: Reader,
  now: Instant,
  room: FreeSlots,
): Promise<readonly EndpointCandidate[]> {
  const due = (kind: string, limit: number): string =>
    `(SELECT ${COLUMNS}, e.next_due_at, 0 AS is_busy FROM webhook_endpoints e FORCE INDEX (due)
      WHERE ${OPEN} AND e.next_due_at<=${column.time.literal(now)} AND ${freeSql(now)} AND ${kind}
      ORDER BY e.next_due_at LIMIT ${limit})`;
  const parts = [
    due('e.failures_in_row=0', room.healthy),
    due('e.failures_in_row>0', room.failing),
  ];
  const rows = await reader.query(`${parts.join(' UNION ALL ')} ORDER BY next_due_at`);
  return rows.map((row) => ({ ...common(row), cursor: null }));
}

function common(row: StoredRow): Omit<EndpointCandidate, 'cursor'> {
  return {
    id: column.uuid.parse(row.id),
    tenantId: column.uuid.parse(row.tenant_id),
    isFailing: column.integer.parse(row.failures_in_row) > 0,
    isBusy: column.integer.parse(row.is_busy) === 1,
    isProbed: row.probe_at !== null,
  };
}

/** Makes endpoints due now, or at their next probe, even if their next retry is later. */
export async function makeDue(
  transaction: Transaction,
  endpointIds: readonly Uuid[],
  now: Instant,
): Promise<void> {
  const at = `CAST(${column.time.literal(now)} AS DATETIME(3))`;
  const soonest = `GREATEST(COALESCE(probe_at, ${at}), ${at})`;
  await transaction.execute(
    `UPDATE webhook_endpoints SET next_due_at=LEAST(COALESCE(next_due_at, ${soonest}), ${soonest})
     WHERE id IN (${literals(webhookEndpoints, 'id', endpointIds)})`,
  );
}

/** An event is usually visible this long after its time. */
const MARGIN_MS = 1_000;
/** Interval of the reads that cover the time within which every event becomes visible. */
const WIDE_EVERY_MS = 1_000;

/** Finds tenants whose logs have grown, by the times of their last events. */
export class LogWatcher {
  private seen = new Map<Uuid, bigint>();
  private readonly tenants = new Set<Uuid>();
  private readAt: Instant | null = null;
  private readWidelyAt = Number.NEGATIVE_INFINITY;

  async read(reader: Reader, now: Instant): Promise<readonly Uuid[]> {
    const isWide = this.readAt === null || performance.now() - this.readWidelyAt >= WIDE_EVERY_MS;
    const since = instant((this.readAt ?? now) - (isWide ? SETTLED_AFTER_MS : MARGIN_MS));
    const began = performance.now();
    const rows = await reader.query(
      `SELECT tenant_id, last_sequence FROM event_counters FORCE INDEX (recent) WHERE last_at>=${column.time.literal(since)}`,
    );
    const found = rows.map(
      (row) => [column.uuid.parse(row.tenant_id), column.bigint.parse(row.last_sequence)] as const,
    );
    for (const [tenantId, last] of found)
      if (this.seen.get(tenantId) !== last) this.tenants.add(tenantId);
    if (isWide) {
      this.readWidelyAt = began;
      this.seen = new Map(found);
    } else for (const [tenantId, last] of found) this.seen.set(tenantId, last);
    this.readAt = now;
    return [...this.tenants];
  }

  examine(tenantId: Uuid): void {
    this.tenants.add(tenantId);
  }

  done(tenantId: Uuid): void {
    this.tenants.delete(tenantId);
  }

  /** True if the tenant's log is known to have grown beyond `head`. */
  isBeyond(tenantId: Uuid, head: bigint): boolean {
    return (this.seen.get(tenantId) ?? 0n) > head;
  }
}
