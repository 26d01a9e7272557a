import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { type Instant, instant } from '../../core/instant.js';
import * as column from '../../db/columns.js';
import type { Transaction } from '../../db/database.js';
import { events } from '../../db/entities/events.js';
import {
  type WebhookDelivery,
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
} from '../../db/entities/webhooks.js';
import { equalsSql, insertSql, literals, statement, updateSql } from '../../db/statements.js';
import { hasStepLeft } from '../rules.js';
import { type EndpointState, LEASE_MS, lockForDrain } from './lease.js';
import { LOGGED_EVENT, type LoggedEvent, opened, readLogged } from './logged-events.js';
import { newDelivery, type OpenDelivery } from './open-deliveries.js';

/** The most events of the log that one step covers. */
const MAX_EVENTS = 1_000n;

export interface Step {
  readonly state: EndpointState;
  readonly added: readonly OpenDelivery[];
  /** Whether it made deliveries due that were waiting for a retry. */
  readonly madeDue: boolean;
}

export function hasMore({ endpoint, wantedHead, head }: EndpointState): boolean {
  return (
    endpoint.recoverAfter !== null ||
    (wantedHead > endpoint.cursorSequence && head > endpoint.cursorSequence)
  );
}

/**
 * One step of an endpoint's cursor, and one of a recovery, in the caller's transaction: writes a delivery row for each
 * wanted event, at most `room` in all, and moves the cursor past everything handled. Throws TakenOver.
 */
export async function step(
  transaction: Transaction,
  endpointId: Uuid,
  fence: bigint,
  room: number,
  now: Instant,
): Promise<Step> {
  const state = await lockForDrain(transaction, endpointId, fence);
  const recovered = await recoverSome(transaction, state, Math.ceil(room / 2), now);
  const advanced = await advance(transaction, state, room - recovered.added.length, now);
  const added = [...recovered.added, ...advanced.added];
  const deliveries = added.map(({ delivery }) => delivery);
  const set = { ...recovered.set, ...advanced.set, leaseUntil: instant(now + LEASE_MS) };
  await transaction.all([
    ...statement(deliveries, (rows) => insertSql(webhookDeliveries, rows)),
    updateSql(webhookEndpoints, set, { id: endpointId }),
  ]);
  return {
    state: { ...state, endpoint: { ...state.endpoint, ...set } },
    added,
    madeDue: recovered.madeDue,
  };
}

interface Part {
  readonly added: readonly OpenDelivery[];
  readonly set: Partial<WebhookEndpoint>;
}

async function advance(
  transaction: Transaction,
  state: EndpointState,
  room: number,
  now: Instant,
): Promise<Part> {
  const { endpoint, removedThrough, head, wantedHead } = state;
  const lost = lostSince(endpoint, removedThrough);
  const after = removedThrough > endpoint.cursorSequence ? removedThrough : endpoint.cursorSequence;
  // Nothing wanted lies ahead: the cursor moves past everything at once.
  if (wantedHead <= after)
    return { added: [], set: { ...lost, cursorSequence: head > after ? head : after } };
  if (room === 0) return { added: [], set: lost };
  const read = await readWanted(transaction, state, after, head, room);
  const added = read.events
    .filter((event) => isSubscribed(state, event))
    .map((event) => opened(newDelivery(endpoint.id, event, 'event', 1, now), event));
  return { added, set: { ...lost, cursorSequence: read.through } };
}

/** The events that retention removed before the endpoint's cursor reached them. */
function lostSince(
  { cursorSequence, lostFrom }: WebhookEndpoint,
  removedThrough: bigint,
): Partial<WebhookEndpoint> {
  if (removedThrough <= cursorSequence) return {};
  return { lostFrom: lostFrom ?? cursorSequence + 1n, lostTo: removedThrough };
}

async function recoverSome(
  transaction: Transaction,
  state: EndpointState,
  room: number,
  now: Instant,
): Promise<Part & { readonly madeDue: boolean }> {
  const { recoverAfter, recoverUntil, recoverAll, id } = state.endpoint;
  if (recoverAfter === null || recoverUntil === null) return { added: [], set: {}, madeDue: false };
  const after = state.removedThrough > recoverAfter ? state.removedThrough : recoverAfter;
  const read = await readWanted(transaction, state, after, recoverUntil, room);
  const wanted = read.events.filter((event) =>
    isSubscribed(state, event) ? !isAhead(state, event) : recoverAll,
  );
  const known = await readKnown(transaction, id, wanted);
  const added: OpenDelivery[] = [];
  const waitingIds: Uuid[] = [];
  for (const event of wanted) {
    const own = known.get(event.id) ?? [];
    if (own.some(({ state: of }) => of === 'delivered')) continue;
    const waiting = own.filter(({ nextAttemptAt }) => nextAttemptAt !== null);
    waitingIds.push(...waiting.map((delivery) => delivery.id));
    // A last attempt in flight may be lost.
    if (waiting.some(hasStepLeft)) continue;
    const round =
      Math.max(
        0,
        ...own.filter(({ cause }) => cause === 'recover').map((delivery) => delivery.round),
      ) + 1;
    added.push(opened(newDelivery(id, event, 'recover', round, now), event));
  }
  if (waitingIds.length > 0) await makeDue(transaction, id, waitingIds, now);
  const isDone = read.through >= recoverUntil;
  const set = isDone
    ? { recoverAfter: null, recoverUntil: null, recoverAll: false }
    : { recoverAfter: read.through };
  return { added, set, madeDue: waitingIds.length > 0 };
}

export function isSubscribed(
  { types }: Pick<EndpointState, 'types'>,
  { type, sequence }: Pick<LoggedEvent, 'type' | 'sequence'>,
): boolean {
  return sequence >= (types.get(type) ?? 0n);
}

/** The cursor has still to come to it. */
function isAhead({ endpoint }: EndpointState, { sequence }: LoggedEvent): boolean {
  return sequence > endpoint.cursorSequence;
}

/** The events of subscribed types behind `after`, at most `most` of them, and up to where that has looked. */
async function readWanted(
  transaction: Transaction,
  { endpoint, types }: EndpointState,
  after: bigint,
  until: bigint,
  most: number,
): Promise<{ readonly events: readonly LoggedEvent[]; readonly through: bigint }> {
  const bound = after + MAX_EVENTS < until ? after + MAX_EVENTS : until;
  if (types.size === 0 || bound <= after)
    return { events: [], through: bound > after ? bound : after };
  const found = await readLogged(
    transaction,
    `SELECT ${LOGGED_EVENT} FROM events FORCE INDEX (PRIMARY)
     WHERE tenant_id=${column.uuid.literal(endpoint.tenantId)} AND sequence>${after} AND sequence<=${bound}
     AND type IN (${literals(events, 'type', types.keys())}) ORDER BY sequence LIMIT ${most}`,
    [...types.keys()],
  );
  const last = found.at(-1);
  if (last === undefined)
    return { events: found, through: await emptyThrough(transaction, endpoint, bound, until) };
  return { events: found, through: found.length === most ? last.sequence : bound };
}

/** A restore may have skipped more sequences than can be walked. */
async function emptyThrough(
  transaction: Transaction,
  { tenantId }: WebhookEndpoint,
  bound: bigint,
  until: bigint,
): Promise<bigint> {
  if (bound >= until) return bound;
  const [gap] = await transaction.query(
    `SELECT through_sequence FROM event_gaps WHERE tenant_id=${column.uuid.literal(tenantId)}
     AND after_sequence<=${bound} AND through_sequence>${bound}`,
  );
  const through = gap === undefined ? bound : column.bigint.parse(gap.through_sequence);
  return through < until ? through : until;
}

async function readKnown(
  transaction: Transaction,
  endpointId: Uuid,
  wanted: readonly LoggedEvent[],
): Promise<ReadonlyMap<Uuid, readonly WebhookDelivery[]>> {
  if (wanted.length === 0) return new Map();
  const own = equalsSql(webhookDeliveries, { endpointId, eventId: wanted.map(({ id }) => id) });
  const rows = await transaction.list(webhookDeliveries, `FORCE INDEX (event) WHERE ${own}`);
  return groupBy(rows, ({ eventId }) => eventId);
}

async function makeDue(
  transaction: Transaction,
  endpointId: Uuid,
  ids: readonly Uuid[],
  now: Instant,
): Promise<void> {
  const at = column.time.literal(now);
  await transaction.execute(
    `UPDATE webhook_deliveries SET next_attempt_at=${at} WHERE endpoint_id=${column.uuid.literal(endpointId)}
     AND id IN (${literals(webhookDeliveries, 'id', ids)}) AND next_attempt_at>${at}`,
  );
}
