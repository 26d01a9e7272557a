import { groupBy } from '../core/collections.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import { bigint, nullable, oneOf, time, uuid } from '../db/columns.js';
import type { Reader, StoredRow, Transaction } from '../db/database.js';
import { SUBSCRIBABLE_TYPES, type SubscribableType } from '../db/entities/events.js';
import {
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../db/entities/webhooks.js';
import { columnList, literals } from '../db/statements.js';
import { parseRow } from '../db/table.js';
import { type EndpointCandidate, freeSql, OPEN } from './work-finder.js';

/**
 * A claim is an UPDATE with an expiry, so no lock is held while something is sent. Each claim takes
 * the endpoint's next number (`fence`), which every later write compares, so a run whose claim was
 * taken over cannot write.
 */

/** How long a claim lasts after its last write. */
export const CLAIM_MS = 5_000;

export interface EndpointState {
  readonly endpoint: WebhookEndpoint;
  /** The first sequence of each subscribed type. */
  readonly types: ReadonlyMap<SubscribableType, bigint>;
  /** The tenant's last event. */
  readonly head: bigint;
  /** The last event of a subscribed type; 0 before the first. */
  readonly subscribedHead: bigint;
  /** The last event that retention removed; 0 if none. */
  readonly removedThrough: bigint;
}

/** `earliest`: when its first waiting delivery is due; null if none waits. */
export interface ClaimedEndpoint {
  readonly state: EndpointState;
  readonly earliest: Instant | null;
}

/** Claims endpoints that are free and whose cursors have not moved. Skips locked endpoints. */
export async function claim(
  transaction: Transaction,
  candidates: readonly EndpointCandidate[],
  now: Instant,
): Promise<readonly ClaimedEndpoint[]> {
  const cursors = new Map(candidates.map(({ id, cursor }) => [id, cursor]));
  const rows = await transaction.query(
    `SELECT e.id, e.cursor_sequence FROM webhook_endpoints e
     WHERE e.id IN (${literals(webhookEndpoints, 'id', cursors.keys())}) AND ${OPEN} AND ${freeSql(now)}
     ORDER BY e.id FOR UPDATE SKIP LOCKED`,
  );
  const ids = rows.flatMap((row) => {
    const id = uuid.parse(row.id);
    const known = cursors.get(id) ?? null;
    return known === null || known === bigint.parse(row.cursor_sequence) ? [id] : [];
  });
  if (ids.length === 0) return [];
  // Due as soon as the claim expires, if this process dies.
  const update = `UPDATE webhook_endpoints SET fence=fence+1, lease_until=${time.literal(instant(now + CLAIM_MS))},
    next_due_at=${time.literal(now)} WHERE id IN (${literals(webhookEndpoints, 'id', ids)})`;
  return [...(await readAfter(transaction, update, ids)).claimed.values()];
}

/** Locks endpoints and reads their states. Without `mayWait`, omits those locked elsewhere. */
export async function lockStates(
  transaction: Transaction,
  ids: readonly Uuid[],
  mayWait: boolean,
): Promise<ReadonlyMap<Uuid, ClaimedEndpoint>> {
  const lock = `SELECT id FROM webhook_endpoints WHERE id IN (${literals(webhookEndpoints, 'id', ids)})
    ORDER BY id FOR UPDATE${mayWait ? '' : ' SKIP LOCKED'}`;
  const { rows, claimed } = await readAfter(transaction, lock, ids);
  const locked = new Set(rows.map((row) => uuid.parse(row.id)));
  return new Map([...claimed].filter(([id]) => locked.has(id)));
}

/** Executes a statement, and reads the endpoints' states after it. */
async function readAfter(
  transaction: Transaction,
  sql: string,
  ids: readonly Uuid[],
): Promise<{
  readonly rows: readonly StoredRow[];
  readonly claimed: ReadonlyMap<Uuid, ClaimedEndpoint>;
}> {
  const [rows = [], states = [], waiting = []] = await transaction.all([
    sql,
    stateSql(...ids),
    earliestSql(ids),
  ]);
  const earliest = parseEarliest(waiting);
  const claimed = Array.from(
    parseStates(states),
    ([id, state]) => [id, { state, earliest: earliest.get(id) ?? null }] as const,
  );
  return { rows, claimed: new Map(claimed) };
}

function stateSql(...endpointIds: readonly Uuid[]): string {
  return `SELECT ${columnList(webhookEndpoints, 'e')}, c.last_sequence AS head, r.removed_through AS removed,
      s.type AS subscribed_type, s.from_sequence AS subscribed_from, h.last_sequence AS type_head
    FROM webhook_endpoints e JOIN event_counters c ON c.tenant_id=e.tenant_id
    LEFT JOIN event_removals r ON r.tenant_id=e.tenant_id
    LEFT JOIN webhook_subscriptions s ON s.endpoint_id=e.id
    LEFT JOIN event_heads h ON h.tenant_id=e.tenant_id AND h.type=s.type
    WHERE e.id IN (${literals(webhookEndpoints, 'id', endpointIds)})`;
}

export async function readState(reader: Reader, id: Uuid): Promise<EndpointState | undefined> {
  return parseStates(await reader.query(stateSql(id))).get(id);
}

const maybeSequence = nullable(bigint);
const maybeType = nullable(oneOf(SUBSCRIBABLE_TYPES));

function parseStates(rows: readonly StoredRow[]): ReadonlyMap<Uuid, EndpointState> {
  const groups = groupBy(rows, (row) => uuid.parse(row.id));
  return new Map(Array.from(groups, ([id, own]) => [id, parseState(own)]));
}

function parseState(rows: readonly StoredRow[]): EndpointState {
  const types = new Map<SubscribableType, bigint>();
  let subscribedHead = 0n;
  for (const row of rows) {
    const type = maybeType.parse(row.subscribed_type);
    if (type !== null) types.set(type, bigint.parse(row.subscribed_from));
    const head = maybeSequence.parse(row.type_head) ?? 0n;
    if (head > subscribedHead) subscribedHead = head;
  }
  const first = rows[0] ?? {};
  const removedThrough = maybeSequence.parse(first.removed) ?? 0n;
  const endpoint = parseRow(webhookEndpoints, first);
  return { endpoint, types, head: bigint.parse(first.head), subscribedHead, removedThrough };
}

function earliestSql(endpointIds: Iterable<Uuid>): string {
  return `SELECT endpoint_id, state, MIN(next_attempt_at) AS at FROM webhook_deliveries FORCE INDEX (due)
    WHERE endpoint_id IN (${literals(webhookDeliveries, 'endpointId', endpointIds)}) AND state IN ('pending','retrying')
    GROUP BY endpoint_id, state`;
}

function parseEarliest(rows: readonly StoredRow[]): ReadonlyMap<Uuid, Instant> {
  const found = new Map<Uuid, Instant>();
  for (const row of rows) {
    const [id, at] = [uuid.parse(row.endpoint_id), time.parse(row.at)];
    const known = found.get(id);
    if (known === undefined || at < known) found.set(id, at);
  }
  return found;
}

export async function earliestDue(reader: Reader, endpointId: Uuid): Promise<Instant | null> {
  return parseEarliest(await reader.query(earliestSql([endpointId]))).get(endpointId) ?? null;
}

export function isSubscribedType(
  types: EndpointState['types'],
  type: string,
): type is SubscribableType {
  return (types as ReadonlyMap<string, bigint>).has(type);
}

export function hasMore({ endpoint, subscribedHead, head }: EndpointState): boolean {
  const { recoverAfter, cursorSequence } = endpoint;
  return recoverAfter !== null || (subscribedHead > cursorSequence && head > cursorSequence);
}

export function isHeld({ status, pausedAt }: WebhookEndpoint): boolean {
  return status !== 'enabled' || pausedAt !== null;
}

export function isFree({ leaseUntil }: WebhookEndpoint, now: Instant): boolean {
  return leaseUntil === null || leaseUntil <= now;
}
