import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import * as column from '../db/columns.js';
import type { Reader, StoredRow, Transaction } from '../db/database.js';
import { SUBSCRIBABLE_TYPES, type SubscribableType } from '../db/entities/events.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { columnList, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { nextDue } from './rules.js';

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
export function stateSql(endpointIds: readonly Uuid[]): string {
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

export function parseState(rows: readonly StoredRow[]): EndpointState {
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

/** SQL condition: the endpoint `e` may receive deliveries (`mayReceive`). */
export const MAY_RECEIVE_SQL = `e.status='enabled' AND e.paused_at IS NULL`;

export function mayReceive({
  status,
  pausedAt,
}: Pick<WebhookEndpoint, 'status' | 'pausedAt'>): boolean {
  return status === 'enabled' && pausedAt === null;
}

/**
 * Returns when an endpoint gets its next attempt, for a delivery that is due at this time: not before
 * its probe. Null while nothing is due or may be sent.
 */
export function nextAttemptOf(
  endpoint: Pick<WebhookEndpoint, 'status' | 'pausedAt' | 'probeAt'>,
  dueAt: Instant | null,
): Instant | null {
  return mayReceive(endpoint) ? nextDue(dueAt, endpoint) : null;
}

/** Returns deliveries with the next attempt that their endpoint allows. */
export function asDue<Delivery extends { readonly nextAttemptAt: Instant | null }>(
  endpoint: WebhookEndpoint,
  deliveries: readonly Delivery[],
): readonly Delivery[] {
  return deliveries.map((delivery) => ({
    ...delivery,
    nextAttemptAt: nextAttemptOf(endpoint, delivery.nextAttemptAt),
  }));
}
