import type { AuditEntry, AuditDetails } from '../access/audit-log.js';
import { assertAllowedSomewhere } from '../accounts/access.js';
import { existing, notFound } from '../core/errors.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Reader, Transaction } from '../db/database.js';
import type { OutboxRow } from '../db/entities/outbox.js';
import { type WebhookEndpoint, webhookEndpoints } from '../db/entities/webhooks.js';
import { updateSql, type Where } from '../db/statements.js';
import { outboxEntry } from '../temporal/outbox-entry.js';

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
  return lock(transaction, { id, tenantId });
}

/** Locks an endpoint of any tenant, for operators. Throws not_found. */
export function lockEndpoint(transaction: Transaction, id: Uuid): Promise<WebhookEndpoint> {
  return lock(transaction, { id });
}

/** Locks an endpoint, which may be deleted. */
export async function lockEndpointRow(
  transaction: Transaction,
  id: Uuid,
): Promise<WebhookEndpoint> {
  return existing(await transaction.find(webhookEndpoints, { id }, { forUpdate: true }));
}

async function lock(
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
