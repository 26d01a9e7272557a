import { groupBy } from '../core/collections.js';
import { type Page, pageOf, type TimePosition } from '../core/page.js';
import { assertFound, notFound } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import type { Reader, Transaction } from '../db/database.js';
import { SUBSCRIBABLE_TYPES, type SubscribableType } from '../db/entities/events.js';
import {
  type DeliveryState,
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
import type { AuditAction } from '../access/audit-actions.js';
import type { AuditDetails, AuditEntry } from '../access/audit-log.js';
import { assertAllowedSomewhere } from '../accounts/access.js';
import type { Instant } from '../core/instant.js';
import type { OutboxRow } from '../db/entities/outbox.js';
import { outboxEntry } from '../temporal/outbox.js';

export type EndpointWithTypes = WebhookEndpoint & { readonly types: readonly SubscribableType[] };

/** Throws not_found, authority_insufficient. */
export async function readEndpoint(
  reader: Reader,
  caller: Caller,
  id: Uuid,
): Promise<EndpointWithTypes> {
  const [endpoint] = await addTypes(reader, [await findManagedEndpoint(reader, caller, id)]);
  return assertFound(endpoint);
}

export async function addTypes(
  reader: Reader,
  endpoints: readonly WebhookEndpoint[],
): Promise<readonly EndpointWithTypes[]> {
  if (endpoints.length === 0) return [];
  const endpointId = endpoints.map(({ id }) => id);
  const rows = await reader.select(webhookSubscriptions, { endpointId, type: SUBSCRIBABLE_TYPES });
  const types = groupBy(rows, (row) => row.endpointId);
  return endpoints.map((endpoint) => ({
    ...endpoint,
    types: (types.get(endpoint.id) ?? []).map(({ type }) => type),
  }));
}

/** Returns the tenant's endpoints, newest first. Throws authority_insufficient. */
export async function listEndpoints(
  reader: Reader,
  caller: Caller,
  before: TimePosition | null,
  limit: number,
): Promise<Page<EndpointWithTypes>> {
  await assertManager(reader, caller);
  const within = [`t.tenant_id=${literal(webhookEndpoints, 'tenantId', caller.tenantId)}`];
  const filters = [`l.status<>'deleted'`];
  const list = { table: webhookEndpoints, index: 'tenant', within, filters };
  const { items, next } = await readVisible(reader, list, before, limit);
  return { items: await addTypes(reader, items), next };
}

export type DeliveryWithAttempts = WebhookDelivery & {
  readonly attempts: readonly WebhookAttempt[];
};

/** Bounds the size of a page: each attempt has up to 1 KiB of its response. */
const MAX_ATTEMPTS_PER_PAGE = 200;

/** Returns an endpoint's deliveries, newest first. Throws not_found, authority_insufficient. */
export async function listDeliveries(
  reader: Reader,
  caller: Caller,
  endpointId: Uuid,
  before: TimePosition | null,
  limit: number,
): Promise<Page<DeliveryWithAttempts>> {
  await findManagedEndpoint(reader, caller, endpointId);
  return readDeliveries(reader, endpointId, before, limit, MAX_ATTEMPTS_PER_PAGE);
}

/** Returns deliveries, or those in these states, newest first: as many as fit `limit` and `maxAttempts`, but at least one. */
export async function readDeliveries(
  reader: Reader,
  endpointId: Uuid,
  before: TimePosition | null,
  limit: number,
  maxAttempts = Infinity,
  states?: readonly DeliveryState[],
): Promise<Page<DeliveryWithAttempts>> {
  const own = equalsSql(webhookDeliveries, { endpointId, ...(states && { state: states }) });
  const olderThan = before === null ? '' : ` AND id<${literal(webhookDeliveries, 'id', before.id)}`;
  const rows = await reader.list(
    webhookDeliveries,
    `FORCE INDEX (PRIMARY) WHERE ${own}${olderThan} ORDER BY id DESC LIMIT ${limit + 1}`,
  );
  let [fitting, attemptCount] = [0, 0];
  for (const { steps } of rows) {
    attemptCount += steps;
    if (fitting > 0 && attemptCount > maxAttempts) break;
    fitting += 1;
  }
  const { items, next } = pageOf(rows, Math.min(limit, fitting));
  if (items.length === 0) return { items: [], next: null };
  const ofPage = equalsSql(webhookAttempts, {
    endpointId,
    deliveryId: items.map(({ id }) => id),
  });
  const attemptRows = await reader.list(
    webhookAttempts,
    `FORCE INDEX (PRIMARY) WHERE ${ofPage} ORDER BY delivery_id, id`,
  );
  const attempts = groupBy(attemptRows, ({ deliveryId }) => deliveryId);
  return {
    items: items.map((delivery) => ({ ...delivery, attempts: attempts.get(delivery.id) ?? [] })),
    next,
  };
}

/** Throws authority_insufficient unless the member manages an account of the tenant. */
export function assertManager(reader: Reader, caller: Caller): Promise<void> {
  return assertAllowedSomewhere(reader, 'manageWebhooks', caller);
}

/** Returns the tenant's endpoint unless it is deleted. Throws not_found, authority_insufficient. */
export async function findManagedEndpoint(
  reader: Reader,
  caller: Caller,
  id: Uuid,
): Promise<WebhookEndpoint> {
  const found = await reader.find(webhookEndpoints, { id, tenantId: caller.tenantId });
  if (found === undefined || found.status === 'deleted') throw notFound();
  await assertManager(reader, caller);
  return found;
}

/** Checks rights first, so that callers lock no foreign row. Throws as `findManagedEndpoint`. */
export async function lockManagedEndpoint(
  transaction: Transaction,
  caller: Caller,
  id: Uuid,
): Promise<WebhookEndpoint> {
  const { tenantId } = await findManagedEndpoint(transaction, caller, id);
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
  action: AuditAction,
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
export function workflowNotice(
  { id, tenantId }: Pick<WebhookEndpoint, 'id' | 'tenantId'>,
  now: Instant,
): OutboxRow {
  const about = { tenantId, resourceType: 'webhook_endpoint', resourceId: id } as const;
  return outboxEntry({ ...about, outboxId: newId() }, now);
}
