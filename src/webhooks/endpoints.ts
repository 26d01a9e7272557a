import { groupBy } from '../core/collections.js';
import { type Page, pageOf, type TimePosition } from '../core/page.js';
import { existing, notFound } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import type { Reader, Transaction } from '../db/database.js';
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
import { equalsSql, literal, updateSql, type Where } from '../db/statements.js';
import { readVisible } from '../db/visible-list.js';
import type { AuditDetails, AuditEntry } from '../access/audit-log.js';
import { assertAllowedSomewhere } from '../accounts/access.js';
import type { Instant } from '../core/instant.js';
import type { OutboxRow } from '../db/entities/outbox.js';
import { outboxEntry } from '../temporal/outbox.js';

export type ShownEndpoint = WebhookEndpoint & { readonly types: readonly SubscribableType[] };

/** Throws not_found, authority_insufficient. */
export async function readEndpoint(
  reader: Reader,
  caller: Caller,
  id: Uuid,
): Promise<ShownEndpoint> {
  const [endpoint] = await withTypes(reader, [await findManaged(reader, caller, id)]);
  return existing(endpoint);
}

export async function withTypes(
  reader: Reader,
  endpoints: readonly WebhookEndpoint[],
): Promise<readonly ShownEndpoint[]> {
  if (endpoints.length === 0) return [];
  const endpointId = endpoints.map(({ id }) => id);
  const rows = await reader.select(webhookSubscriptions, { endpointId, type: SUBSCRIBABLE_TYPES });
  const types = groupBy(rows, (row) => row.endpointId);
  return endpoints.map((endpoint) => ({
    ...endpoint,
    types: (types.get(endpoint.id) ?? []).map(({ type }) => type),
  }));
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
  const { items, next } = await readVisible(reader, list, before, limit);
  return { items: await withTypes(reader, items), next };
}

export type ShownDelivery = WebhookDelivery & { readonly attempts: readonly WebhookAttempt[] };

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

/** Newest first, as many as fit `limit` and `maxAttempts`, but at least one. */
export async function readDeliveries(
  reader: Reader,
  endpointId: Uuid,
  before: TimePosition | null,
  limit: number,
  maxAttempts = Infinity,
): Promise<Page<ShownDelivery>> {
  const own = equalsSql(webhookDeliveries, { endpointId });
  const olderThan = before === null ? '' : ` AND id<${literal(webhookDeliveries, 'id', before.id)}`;
  const rows = await reader.list(
    webhookDeliveries,
    `FORCE INDEX (PRIMARY) WHERE ${own}${olderThan} ORDER BY id DESC LIMIT ${limit + 1}`,
  );
  let sum = 0;
  const over = rows.findIndex(({ steps }, index) => (sum += steps) > maxAttempts && index > 0);
  const { items, next } = pageOf(rows, over < 0 ? limit : Math.min(limit, over));
  if (items.length === 0) return { items: [], next: null };
  const ofDeliveries = equalsSql(webhookAttempts, {
    endpointId,
    deliveryId: items.map(({ id }) => id),
  });
  const tried = await reader.list(
    webhookAttempts,
    `FORCE INDEX (PRIMARY) WHERE ${ofDeliveries} ORDER BY delivery_id, id`,
  );
  const attempts = groupBy(tried, ({ deliveryId }) => deliveryId);
  return {
    items: items.map((delivery) => ({ ...delivery, attempts: attempts.get(delivery.id) ?? [] })),
    next,
  };
}

/** Throws authority_insufficient unless the member manages an account of the tenant. */
export function assertManager(reader: Reader, caller: Caller): Promise<void> {
  return assertAllowedSomewhere(reader, 'manageWebhooks', caller);
}

/** Throws not_found, authority_insufficient. */
export async function findManaged(
  reader: Reader,
  caller: Caller,
  id: Uuid,
): Promise<WebhookEndpoint> {
  const found = await reader.find(webhookEndpoints, { id, tenantId: caller.tenantId });
  if (found === undefined || found.status === 'deleted') throw notFound();
  await assertManager(reader, caller);
  return found;
}

/** Checks first, so that a caller cannot wait for another tenant's row. Throws as `findManaged`. */
export async function lockManaged(
  transaction: Transaction,
  caller: Caller,
  id: Uuid,
): Promise<WebhookEndpoint> {
  const { tenantId } = await findManaged(transaction, caller, id);
  return lockEndpoint(transaction, { id, tenantId });
}

/** Locks an endpoint unless it is deleted. Throws not_found. */
export async function lockEndpoint(
  transaction: Transaction,
  where: Where<WebhookEndpoint>,
): Promise<WebhookEndpoint> {
  const locked = await transaction.find(webhookEndpoints, where, { forUpdate: true });
  if (locked === undefined || locked.status === 'deleted') throw notFound();
  return locked;
}

export function endpointAudit(
  { id, tenantId }: Pick<WebhookEndpoint, 'id' | 'tenantId'>,
  action: string,
  details: AuditDetails,
): AuditEntry {
  return { tenantId, action, subjectType: 'webhook_endpoint', subjectId: id, details };
}

export async function updateEndpoint(
  transaction: Transaction,
  id: Uuid,
  set: Partial<WebhookEndpoint>,
): Promise<void> {
  await transaction.execute(updateSql(webhookEndpoints, set, { id }));
}

/** Returns the outbox entry that notifies an endpoint's workflow of a change. */
export function noticeOf(
  { id, tenantId }: Pick<WebhookEndpoint, 'id' | 'tenantId'>,
  now: Instant,
): OutboxRow {
  const about = { tenantId, resourceType: 'webhook_endpoint', resourceId: id } as const;
  return outboxEntry({ ...about, outboxId: newId() }, now);
}
