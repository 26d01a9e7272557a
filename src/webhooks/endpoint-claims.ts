import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import type { Reader, StoredRow, Transaction } from '../db/database.js';
import { SUBSCRIBABLE_TYPES, type SubscribableType } from '../db/entities/events.js';
import {
  type WebhookEndpoint,
  webhookEndpoints,
  webhookSubscriptions,
} from '../db/entities/webhooks.js';
import { columnList, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import * as column from '../db/columns.js';
import { SETTLED_AFTER_MS } from '../ledger/database-clock.js';
import { WORKFLOW_HEAD_START_MS } from './rules.js';

/**
 * A run claims its endpoint by an UPDATE with an expiry, so it holds no lock while it sends. Each
 * claim takes the endpoint's next number (`fence`). Every later write of the run compares this
 * number, so a run cannot write after another one has claimed the endpoint.
 */

/** How long a claim lasts after the run's last write. */
export const CLAIM_MS = 5_000;

/** How long an endpoint waits whose rows cannot be read, as after a rollback to an older release. */
const SET_ASIDE_MS = 60_000;

/** A claimed endpoint, with the number of the claim. */
export type Claim = Pick<WebhookEndpoint, 'id' | 'tenantId' | 'fence'>;

export interface EndpointState {
  readonly endpoint: WebhookEndpoint;
  /** Subscribed types, each with the sequence from which on it is subscribed. */
  readonly types: ReadonlyMap<SubscribableType, bigint>;
  /** Sequence of the tenant's last event. */
  readonly head: bigint;
  /** Sequence of the last event of a subscribed type; 0 before the first. */
  readonly subscribedHead: bigint;
  /** Sequence of the last event that retention removed; 0 if none. */
  readonly removedThrough: bigint;
  /** The earliest `nextAttemptAt` of the deliveries; null if none is still to be sent. */
  readonly nextAttemptAt: Instant | null;
}

interface ClaimedEndpoints {
  readonly states: readonly EndpointState[];
  /** Why each of the endpoints that are set aside cannot be read. */
  readonly unreadable: ReadonlyMap<Uuid, unknown>;
}

/**
 * Claims unclaimed endpoints that may receive deliveries. Skips locked endpoints, and sets those
 * aside that cannot be read.
 */
export async function claimEndpoints(
  transaction: Transaction,
  endpointIds: readonly Uuid[],
  now: Instant,
): Promise<ClaimedEndpoints> {
  const rows = await transaction.query(
    `SELECT e.id FROM webhook_endpoints e
     WHERE e.id IN (${literals(webhookEndpoints, 'id', endpointIds)}) AND ${MAY_RECEIVE_SQL} AND ${unclaimedSql(now)}
     ORDER BY e.id FOR UPDATE SKIP LOCKED`,
  );
  const ids = rows.map((row) => column.uuid.parse(row.id));
  if (ids.length === 0) return { states: [], unreadable: new Map() };
  // With `next_due_at` in the past, the endpoint is due as soon as the claim expires.
  const claimSql = (own: readonly Uuid[], forMs: number): string =>
    `UPDATE webhook_endpoints SET fence=fence+1, lease_until=${column.time.literal(instant(now + forMs))},
     next_due_at=${column.time.literal(now)} WHERE id IN (${literals(webhookEndpoints, 'id', own)})`;
  const [, found = []] = await transaction.all([claimSql(ids, CLAIM_MS), stateSql(ids)]);
  const states: EndpointState[] = [];
  const unreadable = new Map<Uuid, unknown>();
  for (const [id, own] of groupBy(found, (row) => column.uuid.parse(row.id)))
    try {
      states.push(parseState(own));
    } catch (fault) {
      unreadable.set(id, fault);
    }
  if (unreadable.size > 0)
    await transaction.execute(claimSql([...unreadable.keys()], SET_ASIDE_MS));
  return { states, unreadable };
}

/** Locks endpoints and reads their states. `skip` omits endpoints that are locked elsewhere. */
export async function lockEndpointStates(
  transaction: Transaction,
  ids: readonly Uuid[],
  ifLocked: 'wait' | 'skip',
): Promise<ReadonlyMap<Uuid, EndpointState>> {
  const lock = `SELECT id FROM webhook_endpoints WHERE id IN (${literals(webhookEndpoints, 'id', ids)})
    ORDER BY id FOR UPDATE${ifLocked === 'skip' ? ' SKIP LOCKED' : ''}`;
  const [rows = [], states = []] = await transaction.all([lock, stateSql(ids)]);
  const locked = new Set(rows.map((row) => column.uuid.parse(row.id)));
  const own = parseStates(states).filter(({ endpoint: { id } }) => locked.has(id));
  return new Map(own.map((state) => [state.endpoint.id, state]));
}

export async function readEndpointState(
  reader: Reader,
  id: Uuid,
): Promise<EndpointState | undefined> {
  return parseStates(await reader.query(stateSql([id])))[0];
}

/** Selects one row for each subscribed type of each endpoint. */
function stateSql(endpointIds: readonly Uuid[]): string {
  const nextAttemptSql = (state: string): string =>
    `(SELECT d.next_attempt_at FROM webhook_deliveries d FORCE INDEX (due)
      WHERE d.endpoint_id=e.id AND d.state='${state}' ORDER BY d.next_attempt_at LIMIT 1) AS ${state}_at`;
  return `SELECT ${columnList(webhookEndpoints, 'e')}, c.last_sequence AS head, r.removed_through AS removed,
      s.type AS subscribed_type, s.from_sequence AS subscribed_from, h.last_sequence AS type_head,
      ${nextAttemptSql('pending')}, ${nextAttemptSql('retrying')}
    FROM webhook_endpoints e JOIN event_counters c ON c.tenant_id=e.tenant_id
    LEFT JOIN event_removals r ON r.tenant_id=e.tenant_id
    LEFT JOIN webhook_subscriptions s ON s.endpoint_id=e.id
    LEFT JOIN event_heads h ON h.tenant_id=e.tenant_id AND h.type=s.type
    WHERE e.id IN (${literals(webhookEndpoints, 'id', endpointIds)})`;
}

const maybeSequence = column.nullable(column.bigint);
const maybeType = column.nullable(column.oneOf(SUBSCRIBABLE_TYPES));
const maybeTime = column.nullable(column.time);

function parseStates(rows: readonly StoredRow[]): readonly EndpointState[] {
  return [...groupBy(rows, (row) => column.uuid.parse(row.id)).values()].map(parseState);
}

function parseState(rows: readonly StoredRow[]): EndpointState {
  const types = new Map<SubscribableType, bigint>();
  let subscribedHead = 0n;
  for (const row of rows) {
    const type = maybeType.parse(row.subscribed_type);
    if (type !== null) types.set(type, column.bigint.parse(row.subscribed_from));
    const head = maybeSequence.parse(row.type_head) ?? 0n;
    if (head > subscribedHead) subscribedHead = head;
  }
  const first = rows[0] ?? {};
  return {
    endpoint: parseRow(webhookEndpoints, first),
    types,
    head: column.bigint.parse(first.head),
    subscribedHead,
    removedThrough: maybeSequence.parse(first.removed) ?? 0n,
    nextAttemptAt: soonest([maybeTime.parse(first.pending_at), maybeTime.parse(first.retrying_at)]),
  };
}

export function soonest(times: readonly (Instant | null)[]): Instant | null {
  const known = times.filter((at) => at !== null);
  return known.length === 0 ? null : instant(Math.min(...known));
}

export function isSubscribedType(
  types: EndpointState['types'],
  type: string,
): type is SubscribableType {
  return (types as ReadonlyMap<string, bigint>).has(type);
}

/** True if a recovery is under way, or an event of a subscribed type is ahead of the cursor. */
export function hasEventsToRead({ endpoint, subscribedHead, head }: EndpointState): boolean {
  const { recoverAfter, cursorSequence } = endpoint;
  return recoverAfter !== null || (subscribedHead > cursorSequence && head > cursorSequence);
}

export function mayReceive({ status, pausedAt }: WebhookEndpoint): boolean {
  return status === 'enabled' && pausedAt === null;
}

/** The dispatcher finds its work by indexes on what is due, so idle endpoints cost nothing. */

/** SQL condition: the endpoint `e` may receive deliveries (`mayReceive`). */
export const MAY_RECEIVE_SQL = `e.status='enabled' AND e.paused_at IS NULL`;

/** SQL condition: no run has a claim on the endpoint `e`. */
export const unclaimedSql = (now: Instant): string =>
  `(e.lease_until IS NULL OR e.lease_until<=${column.time.literal(now)})`;

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
