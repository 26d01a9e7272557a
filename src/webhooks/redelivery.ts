import { existing } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import * as column from '../db/columns.js';
import type { Transaction } from '../db/database.js';
import { type EventRow, events, SUBSCRIBABLE_TYPES } from '../db/entities/events.js';
import {
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
  type WebhookSubscription,
  webhookSubscriptions,
} from '../db/entities/webhooks.js';
import { equalsSql, insertSql, selectSql, updateSql } from '../db/statements.js';
import { transactFor } from '../db/transact.js';
import { assertManager } from './access.js';
import type { WebhookDeps } from './deps.js';
import { MAX_SPAN, newDelivery } from './event-reader.js';

/**
 * Resends one event: a separate delivery to each enabled endpoint that is subscribed to its type,
 * unless the cursor will still deliver it and it is not in flight yet. Returns the Event as
 * serialised. Throws not_found, authority_insufficient. (docs/contract.md, Webhooks)
 */
export async function redeliver(deps: WebhookDeps, caller: Caller, eventId: Uuid): Promise<string> {
  const { reader } = deps.database;
  const event = existing(await reader.find(events, { id: eventId, tenantId: caller.tenantId }));
  await assertManager(reader, caller);
  await transactFor(caller.tenantId, deps.database, (transaction) =>
    queue(transaction, event, deps.clock()),
  );
  return event.body;
}

async function queue(transaction: Transaction, event: EventRow, now: Instant): Promise<void> {
  const { tenantId, type } = event;
  const subscribed: readonly WebhookSubscription[] = (
    await transaction.select(webhookSubscriptions, { tenantId, type: SUBSCRIBABLE_TYPES })
  ).filter((subscription) => subscription.type === type);
  if (subscribed.length === 0) return;
  const endpoints = await transaction.select(
    webhookEndpoints,
    { id: subscribed.map(({ endpointId }) => endpointId), status: 'enabled' },
    { orderBy: ['id'], forUpdate: true },
  );
  for (const endpoint of endpoints) {
    const from =
      subscribed.find(({ endpointId }) => endpointId === endpoint.id)?.fromSequence ?? 0n;
    if (event.sequence >= from && isStillToCome(endpoint, event)) continue;
    await queueFor(transaction, endpoint, event, now);
  }
}

/**
 * True if the cursor will deliver the event. While an endpoint is claimed, an event just ahead of
 * its cursor may be in flight without a row. A run whose claim has expired may store its results
 * until another run begins.
 */
function isStillToCome(
  { cursorSequence, leaseUntil }: WebhookEndpoint,
  { sequence }: EventRow,
): boolean {
  const ahead = sequence - cursorSequence;
  return ahead > MAX_SPAN || (ahead > 0n && leaseUntil === null);
}

/** Writes a delivery, or makes due the last redelivery if it still waits and is not in flight. */
async function queueFor(
  transaction: Transaction,
  { id: endpointId, leaseUntil }: WebhookEndpoint,
  event: EventRow,
  now: Instant,
): Promise<void> {
  const rounds = await transaction.query(
    `${selectSql(webhookDeliveries, { endpointId, eventId: event.id, cause: 'redeliver' })} ORDER BY round DESC LIMIT 1`,
  );
  const round = rounds[0] === undefined ? 0 : column.integer.parse(rounds[0].round);
  const waitsUntil = column.nullable(column.time).parse(rounds[0]?.next_attempt_at ?? null);
  const isWaiting = waitsUntil !== null && (waitsUntil > now || leaseUntil === null);
  if (isWaiting) {
    const wait = equalsSql(webhookDeliveries, {
      endpointId,
      eventId: event.id,
      cause: 'redeliver',
      round,
    });
    await transaction.execute(
      `UPDATE webhook_deliveries SET next_attempt_at=${column.time.literal(now)} WHERE ${wait}`,
    );
  } else
    await transaction.execute(
      insertSql(webhookDeliveries, [newDelivery(endpointId, event, 'redeliver', round + 1, now)]),
    );
  await transaction.execute(updateSql(webhookEndpoints, { nextDueAt: now }, { id: endpointId }));
}
