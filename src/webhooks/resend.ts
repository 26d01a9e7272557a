import { memberActor, recordAction } from '../access/audit-log.js';
import { groupBy } from '../core/collections.js';
import { ApiError, assertFound, invalidField, invalidState } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant, toRfc3339 } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import * as column from '../db/columns.js';
import type { DatabaseDeps, Transaction } from '../db/database.js';
import { type EventRow, events, isSubscribable } from '../db/entities/events.js';
import {
  webhookDeliveries,
  type WebhookDelivery,
  type WebhookEndpoint,
  webhookEndpoints,
  webhookSubscriptions,
} from '../db/entities/webhooks.js';
import { equalsSql, insertSql, literals, sqlFor, updateSql } from '../db/statements.js';
import { transactFor } from '../db/reader.js';
import { readFirstSequenceSince, readLastSequence } from '../events/log.js';
import { assertManager, endpointAudit, lockManagedEndpoint, updateEndpoint } from './endpoints.js';
import { type EndpointState, lockEndpointStates } from './endpoint-state.js';
import { type Claim, CLAIM_MS } from './endpoint-claims.js';
import { isSubscribed, type LoggedEvent, MAX_SPAN, newDelivery, readLogs } from './event-reader.js';
import { hasStepLeft, RECOVERABLE_MS } from './rules.js';

/**
 * A recovery resends a range of the log. `beginRecovery` stores the range in the endpoint's row.
 * The endpoint's runs call `continueRecovery` until the whole range has been read.
 */

/** The range of sequences to resend, both ends included. */
export interface RecoveryRange {
  readonly from: bigint;
  readonly to: bigint;
}

/**
 * Resends every event of the subscribed types since then that got no 2xx. Throws not_found,
 * authority_insufficient, invalid_field (over 30 days ago or in the future), invalid_state
 * (disabled). Returns null if nothing has happened since.
 */
export async function recoverEndpoint(
  deps: DatabaseDeps,
  caller: Caller,
  endpointId: Uuid,
  since: Instant,
): Promise<RecoveryRange | null> {
  assertRecoverable(since, deps.clock());
  return transactFor(caller, deps.database, async (transaction) => {
    const endpoint = await lockManagedEndpoint(transaction, caller, endpointId);
    assertEnabled(endpoint);
    const now = deps.clock();
    const range = await beginRecovery(transaction, endpoint, { since, all: true }, now);
    const entry = endpointAudit(endpoint, 'webhook.recover', { since: toRfc3339(since) });
    await recordAction(transaction, memberActor(caller), now, entry);
    return range;
  });
}

/** Throws invalid_field. */
function assertRecoverable(since: Instant, now: Instant): void {
  if (since > now || since < instant(now - RECOVERABLE_MS))
    throw new ApiError(invalidField('since', 'out_of_range'));
}

/** Throws invalid_state. */
export function assertEnabled(endpoint: WebhookEndpoint): void {
  if (endpoint.status !== 'enabled')
    throw new ApiError(
      invalidState('the endpoint is disabled: enable it first', 'disabled', ['enabled']),
    );
}

/**
 * Begins a recovery, or extends the current one. Returns null if nothing has happened since.
 * With `all`, events from before the subscription to their type are included, and an endpoint that
 * waits for a probe is probed at once.
 */
export async function beginRecovery(
  transaction: Transaction,
  endpoint: WebhookEndpoint,
  { since, all }: { readonly since: Instant; readonly all: boolean },
  now: Instant,
): Promise<RecoveryRange | null> {
  const from = await readFirstSequenceSince(transaction, endpoint.tenantId, since);
  const to = await readLastSequence(transaction, endpoint.tenantId);
  const probe = all && endpoint.probeAt !== null ? { probeAt: now, nextDueAt: now } : null;
  if (from === null || from > to) {
    if (probe !== null) await updateEndpoint(transaction, endpoint.id, probe);
    return null;
  }
  const { recoverAfter, recoverUntil } = endpoint;
  const after = from - 1n;
  const isRunning = recoverAfter !== null && recoverUntil !== null;
  const set: Partial<WebhookEndpoint> = {
    recoverAfter: isRunning && recoverAfter < after ? recoverAfter : after,
    recoverUntil: to,
    recoverAll: all || (isRunning && endpoint.recoverAll),
    nextDueAt: now,
    ...probe,
  };
  await updateEndpoint(transaction, endpoint.id, set);
  return { from, to };
}

const EVENTS_PER_STEP = 24;

/**
 * Reads the next part of the range, and adds deliveries of its events that got no 2xx. Returns null
 * if another run has claimed the endpoint.
 */
export async function continueRecovery(
  transaction: Transaction,
  { id, fence }: Claim,
  now: Instant,
): Promise<EndpointState | null> {
  const state = (await lockEndpointStates(transaction, [id], 'wait')).get(id);
  if (state?.endpoint.fence !== fence) return null;
  const { recoverAfter, recoverUntil, recoverAll, tenantId } = state.endpoint;
  if (recoverAfter === null || recoverUntil === null) return state;
  const after = state.removedThrough > recoverAfter ? state.removedThrough : recoverAfter;
  const range = {
    tenantId,
    types: state.types.keys(),
    after,
    until: recoverUntil,
    limit: EVENTS_PER_STEP,
  };
  const [read = { found: [], through: recoverUntil }] = await readLogs(transaction, [range]);
  const { cursorSequence } = state.endpoint;
  // The cursor delivers the events ahead of it.
  const toResend = read.found.filter((event) =>
    isSubscribed(state, event) ? event.sequence <= cursorSequence : recoverAll,
  );
  const { added, waiting } = await findUnanswered(transaction, id, toResend, now);
  const isDone = read.through >= recoverUntil;
  const set = isDone
    ? { recoverAfter: null, recoverUntil: null, recoverAll: false }
    : { recoverAfter: read.through };
  if (waiting.length > 0) await makeDeliveriesDue(transaction, id, waiting, now);
  await transaction.all([
    ...sqlFor(added, (rows) => insertSql(webhookDeliveries, rows)),
    updateSql(webhookEndpoints, { ...set, leaseUntil: instant(now + CLAIM_MS) }, { id }),
  ]);
  const nextAttemptAt = added.length + waiting.length > 0 ? now : state.nextAttemptAt;
  return { ...state, endpoint: { ...state.endpoint, ...set }, nextAttemptAt };
}

/** Returns new deliveries for events without a 2xx, and the ids of their waiting deliveries. */
async function findUnanswered(
  transaction: Transaction,
  endpointId: Uuid,
  toResend: readonly LoggedEvent[],
  now: Instant,
): Promise<{ readonly added: readonly WebhookDelivery[]; readonly waiting: readonly Uuid[] }> {
  if (toResend.length === 0) return { added: [], waiting: [] };
  const own = equalsSql(webhookDeliveries, { endpointId, eventId: toResend.map(({ id }) => id) });
  const rows = await transaction.list(webhookDeliveries, `FORCE INDEX (event) WHERE ${own}`);
  const known = groupBy(rows, ({ eventId }) => eventId);
  const added: WebhookDelivery[] = [];
  const waiting: Uuid[] = [];
  for (const event of toResend) {
    const earlier = known.get(event.id) ?? [];
    if (earlier.some(({ state }) => state === 'delivered')) continue;
    const open = earlier.filter(({ nextAttemptAt }) => nextAttemptAt !== null);
    waiting.push(...open.map(({ id }) => id));
    // A delivery before its last attempt is not enough, because no retry follows if that fails.
    if (open.some(hasStepLeft)) continue;
    const rounds = earlier.filter(({ cause }) => cause === 'recover').map(({ round }) => round);
    added.push(newDelivery(endpointId, event, 'recover', Math.max(0, ...rounds) + 1, now));
  }
  return { added, waiting };
}

async function makeDeliveriesDue(
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

/**
 * Resends one event to each enabled endpoint that is subscribed to its type, unless the cursor will
 * still deliver it. Returns the Event as serialised. Throws not_found, authority_insufficient.
 * (docs/contract.md, Webhooks)
 */
export async function redeliverEvent(
  deps: DatabaseDeps,
  caller: Caller,
  eventId: Uuid,
): Promise<string> {
  const reader = deps.database.readerFor(caller);
  const event = assertFound(await reader.find(events, { id: eventId, tenantId: caller.tenantId }));
  await assertManager(reader, caller);
  await transactFor(caller, deps.database, (transaction) =>
    queueEvent(transaction, event, deps.clock()),
  );
  return event.body;
}

/** Returns the number of endpoints to which the event is sent again: all, or at most `only`. */
export async function queueEvent(
  transaction: Transaction,
  event: EventRow,
  now: Instant,
  only?: Uuid,
): Promise<number> {
  const { tenantId, type } = event;
  if (!isSubscribable(type)) return 0;
  const subscribed = await transaction.select(webhookSubscriptions, { tenantId, type });
  const from = new Map(subscribed.map((row) => [row.endpointId, row.fromSequence]));
  const endpoints = await transaction.select(
    webhookEndpoints,
    { id: [...from.keys()].filter((id) => id === (only ?? id)), status: 'enabled' },
    { orderBy: ['id'], forUpdate: true },
  );
  const toResend = endpoints.filter((endpoint) => {
    const isInSubscription = event.sequence >= (from.get(endpoint.id) ?? 0n);
    return !isInSubscription || !willCursorDeliver(endpoint, event);
  });
  for (const endpoint of toResend) await queueDelivery(transaction, endpoint, event, now);
  return toResend.length;
}

/**
 * Returns whether the cursor is certain to deliver the event. While a run has claimed the endpoint,
 * it may already have sent events up to `MAX_SPAN` ahead of the cursor, so those are not certain.
 */
function willCursorDeliver(
  { cursorSequence, leaseUntil }: WebhookEndpoint,
  { sequence }: EventRow,
): boolean {
  const ahead = sequence - cursorSequence;
  return ahead > MAX_SPAN || (ahead > 0n && leaseUntil === null);
}

/** Makes the event's last redelivery due if it waits and is not in flight, or else adds one. */
async function queueDelivery(
  transaction: Transaction,
  { id: endpointId, leaseUntil }: WebhookEndpoint,
  event: EventRow,
  now: Instant,
): Promise<void> {
  const where = equalsSql(webhookDeliveries, { endpointId, eventId: event.id, cause: 'redeliver' });
  const [last] = await transaction.list(
    webhookDeliveries,
    `WHERE ${where} ORDER BY round DESC LIMIT 1`,
  );
  const dueAt = last?.nextAttemptAt ?? null;
  // A due delivery may be in flight while a run has claimed the endpoint.
  const isWaiting = dueAt !== null && (dueAt > now || leaseUntil === null);
  await transaction.all([
    isWaiting && last !== undefined
      ? updateSql(webhookDeliveries, { nextAttemptAt: now }, { endpointId, id: last.id })
      : insertSql(webhookDeliveries, [
          newDelivery(endpointId, event, 'redeliver', (last?.round ?? 0) + 1, now),
        ]),
    updateSql(webhookEndpoints, { nextDueAt: now }, { id: endpointId }),
  ]);
}
