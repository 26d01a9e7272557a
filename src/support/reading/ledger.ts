import { type Movement, readMovements } from '../../accounts/movements.js';
import { groupBy } from '../../core/collections.js';
import type { Uuid } from '../../core/ids.js';
import { instant, type Instant } from '../../core/instant.js';
import type { Reader } from '../../db/database.js';
import { type EventRow, events } from '../../db/entities/events.js';
import {
  type WebhookAttempt,
  webhookAttempts,
  type WebhookDelivery,
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
  webhookSubscriptions,
} from '../../db/entities/webhooks.js';
import { columnList, literal, literals } from '../../db/statements.js';
import { parseRow } from '../../db/table.js';
import { readGaps, sequencesWithin } from '../../events/log.js';
import { asDue } from '../../webhooks/endpoint-state.js';
import { isSubscribed, newDelivery } from '../../webhooks/event-reader.js';

/** Finds entries and events, which have no index by resource, by the times of its changes. */

/** Only the newest changes of a long history are searched. */
const MAX_INSTANTS = 24;
/** How many rows are read for each time. All commands of a group have the same time. */
const MAX_AT_ONE_INSTANT = 2_000;
/** Events are dated when their tenant's counter is locked, shortly after the change. */
const EVENT_LATER_MS = 5_000;

interface ChangedResource {
  readonly id: Uuid;
  readonly tenantId: Uuid;
  readonly accountIds: readonly Uuid[];
  readonly instants: readonly Instant[];
}

function newestInstants(instants: readonly Instant[]): readonly Instant[] {
  return [...new Set(instants)].sort((one, other) => one - other).slice(-MAX_INSTANTS);
}

/** Returns the kind in words. The contract has no kinds for received fees and returned payouts. */
export function movementText({ entry: { kind }, counterparty }: Movement): string {
  if (kind === 'payin_in') return 'pay-in';
  if (kind !== 'adjustment_in' || counterparty.type === 'system') return kind.replace('_', ' ');
  return counterparty.type === 'bank_account' ? 'payout returned' : 'fee in';
}

type ResourceEntry = Movement['entry'] & { readonly accountId: Uuid; readonly text: string };

export async function entriesOf(
  reader: Reader,
  { id, accountIds, instants }: ChangedResource,
): Promise<readonly ResourceEntry[]> {
  const entriesAt = async (accountId: Uuid, at: Instant): Promise<readonly ResourceEntry[]> => {
    const within = { from: at, to: at };
    const { items } = await readMovements(reader, accountId, within, null, MAX_AT_ONE_INSTANT);
    const own = items.filter(({ relatedId }) => relatedId === id);
    return own.map((item) => ({ ...item.entry, accountId, text: movementText(item) }));
  };
  const found = await Promise.all(
    [...new Set(accountIds)].flatMap((accountId) =>
      newestInstants(instants).map((at) => entriesAt(accountId, at)),
    ),
  );
  return found
    .flat()
    .sort((one, other) => one.createdAt - other.createdAt || (one.raw < other.raw ? -1 : 1));
}

export async function eventsAbout(
  reader: Reader,
  { id, tenantId, instants }: ChangedResource,
): Promise<readonly EventRow[]> {
  const gaps = await readGaps(reader, tenantId);
  const found = await Promise.all(
    newestInstants(instants).map(async (at) => {
      const until = instant(at + EVENT_LATER_MS);
      const { first, last } = await sequencesWithin(reader, tenantId, gaps, at, until);
      return reader.query(
        `SELECT ${columnList(events, 'e')} FROM (SELECT * FROM events FORCE INDEX (PRIMARY)
           WHERE tenant_id=${literal(events, 'tenantId', tenantId)} AND sequence BETWEEN ${first} AND ${last}
           ORDER BY sequence LIMIT ${MAX_AT_ONE_INSTANT}) e
         WHERE e.resource_id=${literal(events, 'resourceId', id)}`,
      );
    }),
  );
  const all = new Map(found.flat().map((row) => [String(row.sequence), parseRow(events, row)]));
  return [...all.values()].sort((one, other) => (one.sequence < other.sequence ? -1 : 1));
}

export interface DeliveryHistory {
  readonly url: string;
  readonly delivery: WebhookDelivery;
  readonly attempts: readonly WebhookAttempt[];
  /** Why the endpoint is not sent all that is due. Null if it is. */
  readonly waitsFor: string | null;
}

function waitsFor(endpoint: WebhookEndpoint): string | null {
  if (endpoint.status === 'disabled') return 'The endpoint is disabled.';
  if (endpoint.pausedAt !== null) return `${endpoint.pausedBy} has paused the endpoint.`;
  return endpoint.probeAt === null
    ? null
    : 'The endpoint fails, so that it gets one delivery at a time.';
}

/**
 * Returns the events' deliveries to the tenant's endpoints. Events that an endpoint has not read yet
 * are `pending`, although their deliveries have no rows.
 */
export async function deliveriesOf(
  reader: Reader,
  tenantId: Uuid,
  eventRows: readonly Pick<EventRow, 'id' | 'type' | 'sequence' | 'createdAt'>[],
): Promise<readonly DeliveryHistory[]> {
  if (eventRows.length === 0) return [];
  const endpoints = await endpointsOf(reader, tenantId);
  const eventIds = eventRows.map(({ id }) => id);
  const subscribed = await reader.select(webhookSubscriptions, { tenantId });
  const found = await Promise.all(
    endpoints.map(async (endpoint) => {
      const { id: endpointId, url } = endpoint;
      const deliveries = await reader.list(
        webhookDeliveries,
        `FORCE INDEX (event) WHERE endpoint_id=${literal(webhookDeliveries, 'endpointId', endpointId)}
         AND event_id IN (${literals(webhookDeliveries, 'eventId', eventIds)}) ORDER BY id LIMIT 50`,
      );
      const deliveryId = deliveries.map(({ id }) => id);
      const order = { orderBy: ['deliveryId', 'id'] } as const;
      const tried = await reader.select(webhookAttempts, { endpointId, deliveryId }, order);
      const attempts = groupBy(tried, (attempt) => attempt.deliveryId);
      const own = subscribed.filter((one) => one.endpointId === endpointId);
      const types = new Map(own.map(({ type, fromSequence }) => [type, fromSequence]));
      const unread = eventRows.filter(
        (event) =>
          event.sequence > endpoint.cursorSequence &&
          isSubscribed({ types }, event) &&
          !deliveries.some(({ eventId }) => eventId === event.id),
      );
      const waiting = unread.map((event) => ({
        ...newDelivery(endpointId, event, 'event', 1, event.createdAt),
        nextAttemptAt: endpoint.probeAt,
      }));
      return asDue(endpoint, [...deliveries, ...waiting]).map((delivery) => {
        const tried = attempts.get(delivery.id) ?? [];
        return { url, delivery, attempts: tried, waitsFor: waitsFor(endpoint) };
      });
    }),
  );
  return found.flat();
}

/** Returns the tenant's endpoints that are not deleted, at most 16, and its 50 newest. */
async function endpointsOf(reader: Reader, tenantId: Uuid): Promise<readonly WebhookEndpoint[]> {
  const tenant = `tenant_id=${literal(webhookEndpoints, 'tenantId', tenantId)}`;
  const [kept, newest] = await Promise.all([
    reader.list(
      webhookEndpoints,
      `FORCE INDEX (PRIMARY) WHERE id IN (SELECT endpoint_id FROM webhook_subscriptions WHERE ${tenant})`,
    ),
    reader.list(
      webhookEndpoints,
      `FORCE INDEX (tenant) WHERE ${tenant} ORDER BY created_at DESC, id DESC LIMIT 50`,
    ),
  ]);
  return [...new Map([...kept, ...newest].map((endpoint) => [endpoint.id, endpoint])).values()];
}
