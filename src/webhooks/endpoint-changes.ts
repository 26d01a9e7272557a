import { memberActor, recordAction } from '../access/audit-log.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { Transaction } from '../db/database.js';
import type { SubscribableType } from '../db/entities/events.js';
import { outbox } from '../db/entities/outbox.js';
import {
  type DisabledReason,
  webhookDeliveries,
  type WebhookEndpoint,
  webhookEndpoints,
  webhookSubscriptions,
} from '../db/entities/webhooks.js';
import { deleteSql, insertSql, updateSql } from '../db/statements.js';
import { transactFor } from '../db/reader.js';
import { readLastSequence } from '../events/log.js';
import {
  assertManager,
  endpointAudit,
  findManagedEndpoint,
  lockManagedEndpoint,
  workflowNotice,
  readEndpoint,
  type EndpointWithTypes,
  updateEndpoint,
} from './endpoints.js';
import type { WebhookDeps } from './deps.js';
import { beginRecovery } from './resend.js';
import { assertUrl, subscriptionsOf } from './registration.js';
import { FAILING_MS, HEALTHY, PREVIOUS_SECRET_MS } from './rules.js';
import { newSecret, sealSecret } from './signing.js';

interface EndpointChange {
  readonly url?: string | undefined;
  readonly types?: readonly SubscribableType[] | undefined;
  readonly status?: 'enabled' | 'disabled' | undefined;
}

/** Added types start with the next event. Throws invalid_field, not_found, authority_insufficient. */
export async function changeEndpoint(
  deps: WebhookDeps,
  caller: Caller,
  id: Uuid,
  { url, types, status }: EndpointChange,
): Promise<EndpointWithTypes> {
  const { database, clock, sender, notifier } = deps;
  // DNS is queried only for a caller who may change the endpoint.
  if (url !== undefined) await findManagedEndpoint(database.lookup, caller, id);
  const newUrl = url === undefined ? undefined : assertUrl(await sender.guard.checkUrl(url)).url;
  const { shown, notice } = await transactFor(caller, database, async (transaction) => {
    const endpoint = await lockManagedEndpoint(transaction, caller, id);
    const now = clock();
    const changes: string[] = [];
    if (newUrl !== undefined && newUrl !== endpoint.url) {
      await updateEndpoint(transaction, id, { url: newUrl });
      changes.push('url');
    }
    if (types !== undefined && (await replaceTypes(transaction, endpoint, types, now)))
      changes.push('events');
    const isNewStatus =
      (status === 'enabled' && (await enableEndpoint(transaction, endpoint, now))) ||
      (status === 'disabled' && (await disableEndpoint(transaction, endpoint, 'by_tenant', now)));
    if (isNewStatus) changes.push(status);
    const notice = isNewStatus ? workflowNotice(endpoint, now) : null;
    if (notice !== null) await transaction.execute(insertSql(outbox, [notice]));
    if (changes.length > 0) await recordChange(transaction, caller, endpoint, changes, now);
    return { shown: await readEndpoint(transaction, caller, id), notice };
  });
  if (notice !== null) notifier.notify(notice);
  return shown;
}

function recordChange(
  transaction: Transaction,
  caller: Caller,
  endpoint: WebhookEndpoint,
  changes: readonly string[],
  now: Instant,
): Promise<void> {
  const entry = endpointAudit(endpoint, 'webhook.change', { changed: changes.join(',') });
  return recordAction(transaction, memberActor(caller), now, entry);
}

/** Returns whether a type was added or removed. Open deliveries of removed types end. */
async function replaceTypes(
  transaction: Transaction,
  endpoint: WebhookEndpoint,
  types: readonly SubscribableType[],
  now: Instant,
): Promise<boolean> {
  const { id: endpointId, tenantId } = endpoint;
  const rows = await transaction.select(webhookSubscriptions, { endpointId });
  const before = rows.map(({ type }) => type);
  const added = types.filter((type) => !before.includes(type));
  const removed = before.filter((type) => !types.includes(type));
  if (added.length > 0) {
    const from = (await readLastSequence(transaction, tenantId)) + 1n;
    await transaction.execute(
      insertSql(webhookSubscriptions, subscriptionsOf(endpoint, added, from)),
    );
  }
  if (removed.length > 0)
    await transaction.all([
      deleteSql(webhookSubscriptions, { endpointId, type: removed }),
      updateSql(
        webhookDeliveries,
        { state: 'ended', nextAttemptAt: null, finishedAt: now },
        { endpointId, state: ['pending', 'retrying'], eventType: removed },
      ),
    ]);
  return added.length + removed.length > 0;
}

/** Resends undelivered events from `FAILING_MS` before. Returns whether the endpoint was disabled. */
export async function enableEndpoint(
  transaction: Transaction,
  endpoint: WebhookEndpoint,
  now: Instant,
): Promise<boolean> {
  if (endpoint.status !== 'disabled') return false;
  const { id, disabledAt } = endpoint;
  const since = instant((disabledAt ?? now) - FAILING_MS);
  const enabled = { status: 'enabled', disabledReason: null, disabledAt: null } as const;
  await updateEndpoint(transaction, id, { ...enabled, ...HEALTHY, nextDueAt: now });
  await beginRecovery(transaction, endpoint, { since, all: false }, now);
  return true;
}

/** Disables an endpoint and keeps its deliveries. Returns whether it was enabled. */
export async function disableEndpoint(
  transaction: Transaction,
  endpoint: WebhookEndpoint,
  disabledReason: DisabledReason,
  disabledAt: Instant,
): Promise<boolean> {
  if (endpoint.status !== 'enabled') return false;
  await updateEndpoint(transaction, endpoint.id, {
    status: 'disabled',
    disabledReason,
    disabledAt,
  });
  return true;
}

/** The previous secret also signs for 24 hours. Throws not_found, authority_insufficient. */
export async function rotateSecret(
  deps: WebhookDeps,
  caller: Caller,
  id: Uuid,
): Promise<{ readonly endpoint: EndpointWithTypes; readonly secret: string }> {
  const secret = newSecret();
  return transactFor(caller, deps.database, async (transaction) => {
    const endpoint = await lockManagedEndpoint(transaction, caller, id);
    const now = deps.clock();
    await updateEndpoint(transaction, id, {
      ...sealSecret(deps.encryptionKeys, id, secret),
      previousSecret: endpoint.secret,
      previousSecretKeyId: endpoint.secretKeyId,
      previousUntil: instant(now + PREVIOUS_SECRET_MS),
    });
    await recordChange(transaction, caller, endpoint, ['secret'], now);
    return { endpoint: await readEndpoint(transaction, caller, id), secret };
  });
}

/** Keeps the row for its idempotency key. Throws not_found, authority_insufficient. */
export async function deleteEndpoint(deps: WebhookDeps, caller: Caller, id: Uuid): Promise<void> {
  const notice = await transactFor(caller, deps.database, async (transaction) => {
    const own = await transaction.find(webhookEndpoints, { id, tenantId: caller.tenantId });
    if (own?.status === 'deleted') {
      await assertManager(transaction, caller);
      return null;
    }
    const endpoint = await lockManagedEndpoint(transaction, caller, id);
    const set = {
      status: 'deleted',
      nextDueAt: null,
      recoverAfter: null,
      recoverUntil: null,
    } as const;
    const now = deps.clock();
    const notice = workflowNotice(endpoint, now);
    await transaction.all([
      updateSql(webhookEndpoints, set, { id }),
      deleteSql(webhookSubscriptions, { endpointId: id }),
      insertSql(outbox, [notice]),
    ]);
    await recordChange(transaction, caller, endpoint, ['deleted'], now);
    return notice;
  });
  if (notice !== null) deps.notifier.notify(notice);
}
