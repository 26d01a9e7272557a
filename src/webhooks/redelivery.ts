import { existing } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Transaction } from '../db/database.js';
import { type EventRow, events, isSubscribable } from '../db/entities/events.js';
import {
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
  webhookSubscriptions,
} from '../db/entities/webhooks.js';
import { equalsSql, insertSql, updateSql } from '../db/statements.js';
import { transactFor } from '../db/transact.js';
import { assertManager } from './access.js';
import type { WebhookDeps } from './deps.js';
import { MAX_SPAN, newDelivery } from './event-reader.js';

/**
 * Resends one event to each enabled endpoint that is subscribed to its type, unless the cursor will
 * still deliver it. Returns the Event as serialised. Throws not_found, authority_insufficient.
 * (docs/contract.md, Webhooks)
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
  if (!isSubscribable(type)) return;
  const subscribed = await transaction.select(webhookSubscriptions, { tenantId, type });
  const from = new Map(subscribed.map((one) => [one.endpointId, one.fromSequence]));
  const endpoints = await transaction.select(
    webhookEndpoints,
    { id: [...from.keys()], status: 'enabled' },
    { orderBy: ['id'], forUpdate: true },
  );
  for (const endpoint of endpoints) {
    const isCovered = event.sequence >= (from.get(endpoint.id) ?? 0n);
    if (!isCovered || !isStillToCome(endpoint, event))
      await queueFor(transaction, endpoint, event, now);
  }
}

/**
 * False for an event just ahead of the cursor that a run may have in flight, or may still store.
 */
function isStillToCome(
  { cursorSequence, leaseUntil }: WebhookEndpoint,
  { sequence }: EventRow,
): boolean {
  const ahead = sequence - cursorSequence;
  return ahead > MAX_SPAN || (ahead > 0n && leaseUntil === null);
}

/** Writes a delivery, or makes the last one due if it waits and is not in flight. */
async function queueFor(
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
  const waitsUntil = last?.nextAttemptAt ?? null;
  const isWaiting = waitsUntil !== null && (waitsUntil > now || leaseUntil === null);
  await transaction.all([
    isWaiting && last !== undefined
      ? updateSql(webhookDeliveries, { nextAttemptAt: now }, { endpointId, id: last.id })
      : insertSql(webhookDeliveries, [
          newDelivery(endpointId, event, 'redeliver', (last?.round ?? 0) + 1, now),
        ]),
    updateSql(webhookEndpoints, { nextDueAt: now }, { id: endpointId }),
  ]);
}
