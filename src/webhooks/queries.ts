import { groupBy } from '../core/collections.js';
import { existing } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Page, pageOf, type TimePosition } from '../core/pages.js';
import type { Caller } from '../core/permissions.js';
import type { Reader } from '../db/database.js';
import { SUBSCRIBABLE_TYPES, type SubscribableType } from '../db/entities/events.js';
import {
  type WebhookAttempt,
  webhookAttempts,
  webhookDeliveries,
  type WebhookDelivery,
  type WebhookEndpoint,
  webhookEndpoints,
  webhookSubscriptions,
} from '../db/entities/webhooks.js';
import { equalsSql, literal } from '../db/statements.js';
import { readVisible } from '../db/visible-list.js';
import { assertManager, findManaged } from './access.js';

export interface ShownEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly types: readonly SubscribableType[];
}

/** Throws not_found, authority_insufficient. */
export async function readEndpoint(
  reader: Reader,
  caller: Caller,
  id: Uuid,
): Promise<ShownEndpoint> {
  return withTypes(reader, await findManaged(reader, caller, id));
}

/** Reads an endpoint that the caller's transaction has locked. */
export async function readLockedEndpoint(
  reader: Reader,
  { tenantId }: Caller,
  id: Uuid,
): Promise<ShownEndpoint> {
  return withTypes(reader, existing(await reader.find(webhookEndpoints, { id, tenantId })));
}

export async function withTypes(reader: Reader, endpoint: WebhookEndpoint): Promise<ShownEndpoint> {
  const subscribed = await reader.select(webhookSubscriptions, {
    endpointId: endpoint.id,
    type: SUBSCRIBABLE_TYPES,
  });
  return { endpoint, types: subscribed.map(({ type }) => type) };
}

/** The tenant's endpoints, newest first. Throws authority_insufficient. */
export async function listEndpoints(
  reader: Reader,
  caller: Caller,
  before: TimePosition | null,
  limit: number,
): Promise<Page<ShownEndpoint>> {
  await assertManager(reader, caller);
  const within = [`t.tenant_id=${literal(webhookEndpoints, 'tenantId', caller.tenantId)}`];
  const list = { table: webhookEndpoints, index: 'tenant', within, shown: [`l.status<>'deleted'`] };
  const page = await readVisible(reader, list, before, limit);
  const endpointId = page.items.map(({ id }) => id);
  const types = groupBy(
    endpointId.length === 0
      ? []
      : await reader.select(webhookSubscriptions, { endpointId, type: SUBSCRIBABLE_TYPES }),
    (row) => row.endpointId,
  );
  const items = page.items.map((endpoint) => ({
    endpoint,
    types: (types.get(endpoint.id) ?? []).map(({ type }) => type),
  }));
  return { items, next: page.next };
}

export interface ShownDelivery {
  readonly delivery: WebhookDelivery;
  readonly attempts: readonly WebhookAttempt[];
}

/** Attempts per page. Each has up to 1 KiB of its response. */
const MAX_ATTEMPTS = 200;

/** An endpoint's deliveries, newest first. Throws not_found, authority_insufficient. */
export async function listDeliveries(
  reader: Reader,
  caller: Caller,
  endpointId: Uuid,
  before: TimePosition | null,
  limit: number,
): Promise<Page<ShownDelivery>> {
  await findManaged(reader, caller, endpointId);
  return readDeliveries(reader, endpointId, before, limit, MAX_ATTEMPTS);
}

/** How many of these deliveries, at least one, fit the attempts of a page. */
function withinAttempts(deliveries: readonly WebhookDelivery[], maxAttempts: number): number {
  let attempts = 0;
  const over = deliveries.findIndex(
    ({ steps }, index) => (attempts += steps) > maxAttempts && index > 0,
  );
  return over < 0 ? deliveries.length : over;
}

/** Lists an endpoint's deliveries, newest first, as many as fit `limit` and `maxAttempts`. */
export async function readDeliveries(
  reader: Reader,
  endpointId: Uuid,
  before: TimePosition | null,
  limit: number,
  maxAttempts = Infinity,
): Promise<Page<ShownDelivery>> {
  const own = `endpoint_id=${literal(webhookDeliveries, 'endpointId', endpointId)}`;
  const behind = before === null ? '' : ` AND id<${literal(webhookDeliveries, 'id', before.id)}`;
  const rows = await reader.list(
    webhookDeliveries,
    `FORCE INDEX (PRIMARY)
     WHERE ${own}${behind} ORDER BY id DESC LIMIT ${limit + 1}`,
  );
  const page = pageOf(rows, Math.min(limit, withinAttempts(rows, maxAttempts)));
  if (page.items.length === 0) return { items: [], next: null };
  const deliveryId = page.items.map(({ id }) => id);
  const tried = await reader.list(
    webhookAttempts,
    `FORCE INDEX (PRIMARY)
     WHERE ${equalsSql(webhookAttempts, { endpointId, deliveryId })} ORDER BY delivery_id, id`,
  );
  const attempts = groupBy(tried, (attempt) => attempt.deliveryId);
  const items = page.items.map((delivery) => ({
    delivery,
    attempts: attempts.get(delivery.id) ?? [],
  }));
  return { items, next: page.next };
}
