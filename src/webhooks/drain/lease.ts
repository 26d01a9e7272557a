import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import { bigint, nullable, oneOf, uuid } from '../../db/columns.js';
import type { StoredRow, Transaction } from '../../db/database.js';
import { SUBSCRIBABLE_TYPES, type SubscribableType } from '../../db/entities/events.js';
import { type WebhookEndpoint, webhookEndpoints } from '../../db/entities/webhooks.js';
import { columnList, literals, updateSql } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';

/**
 * Who sends to an endpoint: a sender, or its workflow's activity. A run takes the next number (the fence) when it
 * begins, and every write compares it under the endpoint's lock, so an abandoned run that is still going cannot write.
 * While its lease lasts, no other run begins.
 */

/** How long a run is considered alive after its last write. */
export const LEASE_MS = 5_000;

/** Another run has begun: this one may no longer write. */
export class TakenOver extends Error {
  override name = 'TakenOver';
}

export interface EndpointState {
  readonly endpoint: WebhookEndpoint;
  /** The sequence from which on each type is subscribed to. */
  readonly types: ReadonlyMap<SubscribableType, bigint>;
  /** The tenant's last event. */
  readonly head: bigint;
  /** The last event of a subscribed type; 0 if there is none. */
  readonly wantedHead: bigint;
  /** What retention has removed; 0: nothing. */
  readonly removedThrough: bigint;
}

/** Reads the whole state in one statement, so it is consistent. */
export function stateSql(...endpointIds: readonly Uuid[]): string {
  return `SELECT ${columnList(webhookEndpoints, 'e')}, c.last_sequence AS head, r.removed_through AS removed,
      s.type AS subscribed_type, s.from_sequence AS subscribed_from, h.last_sequence AS type_head
    FROM webhook_endpoints e JOIN event_counters c ON c.tenant_id=e.tenant_id
    LEFT JOIN event_removals r ON r.tenant_id=e.tenant_id
    LEFT JOIN webhook_subscriptions s ON s.endpoint_id=e.id
    LEFT JOIN event_heads h ON h.tenant_id=e.tenant_id AND h.type=s.type
    WHERE e.id IN (${literals(webhookEndpoints, 'id', endpointIds)})`;
}

const maybeSequence = nullable(bigint);
const maybeType = nullable(oneOf(SUBSCRIBABLE_TYPES));

/** The endpoints in the statement's result, which has a row for each subscription. */
export function parseStates(rows: readonly StoredRow[]): ReadonlyMap<Uuid, EndpointState> {
  const found = new Map<Uuid, EndpointState>();
  for (const [id, own] of groupBy(rows, (row) => uuid.parse(row.id))) {
    const state = parseState(own);
    if (state !== undefined) found.set(id, state);
  }
  return found;
}

/** The same for one endpoint; undefined if it does not exist. */
export function parseState(rows: readonly StoredRow[]): EndpointState | undefined {
  const [first] = rows;
  if (first === undefined) return undefined;
  const types = new Map<SubscribableType, bigint>();
  let wantedHead = 0n;
  for (const row of rows) {
    const type = maybeType.parse(row.subscribed_type);
    if (type !== null) types.set(type, bigint.parse(row.subscribed_from));
    const head = maybeSequence.parse(row.type_head) ?? 0n;
    if (head > wantedHead) wantedHead = head;
  }
  const endpoint = parseRow(webhookEndpoints, first);
  const removedThrough = maybeSequence.parse(first.removed) ?? 0n;
  return { endpoint, types, head: bigint.parse(first.head), wantedHead, removedThrough };
}

/** Which it returns. Unless it may wait, endpoints locked by others are skipped. */
export function lockSql(endpointIds: readonly Uuid[], mayWait: boolean): string {
  return `SELECT id, fence FROM webhook_endpoints WHERE id IN (${literals(webhookEndpoints, 'id', endpointIds)})
    ORDER BY id FOR UPDATE${mayWait ? '' : ' SKIP LOCKED'}`;
}

/** Returns the states of those that it locked, and the results of `others`, sent in the same text. */
export async function lockStates(
  transaction: Transaction,
  endpointIds: readonly Uuid[],
  mayWait: boolean,
  ...others: readonly string[]
): Promise<{
  readonly states: ReadonlyMap<Uuid, EndpointState>;
  readonly answers: readonly (readonly StoredRow[])[];
}> {
  const lock = lockSql(endpointIds, mayWait);
  const [locked = [], rows = [], ...answers] = await transaction.all([
    lock,
    stateSql(...endpointIds),
    ...others,
  ]);
  const own = new Set(locked.map((row) => uuid.parse(row.id)));
  return { states: new Map([...parseStates(rows)].filter(([id]) => own.has(id))), answers };
}

async function lockState(
  transaction: Transaction,
  endpointId: Uuid,
): Promise<EndpointState | undefined> {
  return (await lockStates(transaction, [endpointId], true)).states.get(endpointId);
}

export function isWanted(types: EndpointState['types'], type: string): type is SubscribableType {
  return (types as ReadonlyMap<string, bigint>).has(type);
}

export function isHeld({ status, pausedAt }: WebhookEndpoint): boolean {
  return status !== 'enabled' || pausedAt !== null;
}

export function isFree({ leaseUntil }: WebhookEndpoint, now: Instant): boolean {
  return leaseUntil === null || leaseUntil <= now;
}

/** Begins a run, which shuts out the previous one, or says why not. */
export async function takeLease(
  transaction: Transaction,
  endpointId: Uuid,
  now: Instant,
): Promise<EndpointState | 'held' | 'taken_over'> {
  const state = await lockState(transaction, endpointId);
  if (state === undefined || isHeld(state.endpoint)) return 'held';
  if (!isFree(state.endpoint, now)) return 'taken_over';
  const set = { fence: state.endpoint.fence + 1n, ...leased(now) };
  await transaction.execute(updateSql(webhookEndpoints, set, { id: endpointId }));
  return { ...state, endpoint: { ...state.endpoint, ...set } };
}

/** Due at once if this run dies, since nobody then knows what it left undone. */
export function leased(now: Instant): {
  readonly leaseUntil: Instant;
  readonly nextDueAt: Instant;
} {
  return { leaseUntil: instant(now + LEASE_MS), nextDueAt: now };
}

/** Locks the endpoint for a write of the run with this number. Throws TakenOver. */
export async function lockForDrain(
  transaction: Transaction,
  endpointId: Uuid,
  fence: bigint,
): Promise<EndpointState> {
  const state = await lockState(transaction, endpointId);
  if (state?.endpoint.fence !== fence) throw new TakenOver('another run has the endpoint');
  return state;
}
