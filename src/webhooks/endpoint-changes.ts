import { memberActor, recordAction } from '../access/audit-log.js';
import type { Uuid } from '../core/ids.js';
import { type Instant, instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import * as column from '../db/columns.js';
import type { Transaction } from '../db/database.js';
import type { SubscribableType } from '../db/entities/events.js';
import { outbox } from '../db/entities/outbox.js';
import {
  type DisabledReason,
  type WebhookEndpoint,
  webhookEndpoints,
  webhookSubscriptions,
} from '../db/entities/webhooks.js';
import { deleteSql, insertSql, literals, updateSql } from '../db/statements.js';
import { transactFor } from '../db/transact.js';
import { headOf } from '../events/positions.js';
import { assertManager, endpointAuditEntry, findManaged, lockManaged, noticeOf } from './access.js';
import type { WebhookDeps } from './deps.js';
import { readLockedEndpoint, type ShownEndpoint } from './queries.js';
import { beginRecovery } from './recovery.js';
import { assertUrl, subscriptionsOf } from './registration.js';
import { FAILING_MS, HEALTHY, PREVIOUS_SECRET_MS } from './rules.js';
import { sealSecret } from './secrets.js';

interface EndpointChange {
  readonly url?: string | undefined;
  readonly types?: readonly SubscribableType[] | undefined;
  readonly status?: 'enabled' | 'disabled' | undefined;
}

/**
 * Changes an endpoint: open deliveries go to the new URL, those of removed types end, and an added
 * type starts at the log's head. Throws invalid_field (the URL), not_found, authority_insufficient.
 */
export async function change(
  deps: WebhookDeps,
  caller: Caller,
  id: Uuid,
  requested: EndpointChange,
): Promise<ShownEndpoint> {
  const url =
    requested.url === undefined ? undefined : await checkedUrl(deps, caller, id, requested.url);
  const { changed, notice } = await transactFor(
    caller.tenantId,
    deps.database,
    async (transaction) => {
      const endpoint = await lockManaged(transaction, caller, id);
      const now = deps.clock();
      const isNewStatus = requested.status !== undefined && requested.status !== endpoint.status;
      const notice = isNewStatus ? noticeOf(endpoint, now) : null;
      const changes: string[] = [];
      if (url !== undefined && url !== endpoint.url) {
        await transaction.execute(updateSql(webhookEndpoints, { url }, { id }));
        changes.push('url');
      }
      if (
        requested.types !== undefined &&
        (await replaceTypes(transaction, endpoint, requested.types, now))
      )
        changes.push('events');
      if (requested.status === 'enabled' && (await enable(transaction, endpoint, now)))
        changes.push('enabled');
      if (
        requested.status === 'disabled' &&
        (await disable(transaction, endpoint, 'by_tenant', now))
      )
        changes.push('disabled');
      if (notice !== null) await transaction.execute(insertSql(outbox, [notice]));
      if (changes.length > 0) await recordChange(transaction, caller, endpoint, changes, now);
      return { changed: await readLockedEndpoint(transaction, caller, id), notice };
    },
  );
  if (notice !== null) deps.notifier.notify(notice);
  return changed;
}

/** Queries DNS only for a caller who may change the endpoint. */
async function checkedUrl(
  { database, sending }: WebhookDeps,
  caller: Caller,
  id: Uuid,
  text: string,
): Promise<string> {
  await findManaged(database.lookup, caller, id);
  return assertUrl(await sending.checkUrl(text)).url;
}

function recordChange(
  transaction: Transaction,
  caller: Caller,
  endpoint: WebhookEndpoint,
  changes: readonly string[],
  now: Instant,
): Promise<void> {
  const act = endpointAuditEntry(endpoint, 'webhook.change', { changed: changes.join(',') });
  return recordAction(transaction, memberActor(caller), now, act);
}

async function replaceTypes(
  transaction: Transaction,
  endpoint: WebhookEndpoint,
  types: readonly SubscribableType[],
  now: Instant,
): Promise<boolean> {
  const { id: endpointId, tenantId } = endpoint;
  const before = (await transaction.select(webhookSubscriptions, { endpointId })).map(
    ({ type }) => type,
  );
  const added = types.filter((type) => !before.includes(type));
  const removed = before.filter((type) => !types.includes(type));
  if (added.length > 0) {
    const from = (await headOf(transaction, tenantId)) + 1n;
    await transaction.execute(
      insertSql(webhookSubscriptions, subscriptionsOf(endpoint, added, from)),
    );
  }
  if (removed.length > 0) {
    await transaction.execute(deleteSql(webhookSubscriptions, { endpointId, type: removed }));
    await transaction.execute(
      `UPDATE webhook_deliveries SET state='ended', next_attempt_at=NULL, finished_at=${column.time.literal(now)}
       WHERE endpoint_id=${column.uuid.literal(endpointId)} AND state IN ('pending','retrying')
       AND event_type IN (${literals(webhookSubscriptions, 'type', removed)})`,
    );
  }
  return added.length + removed.length > 0;
}

/** Makes due what was undelivered since 5 days before it was disabled. Returns whether it was. */
export async function enable(
  transaction: Transaction,
  endpoint: WebhookEndpoint,
  now: Instant,
): Promise<boolean> {
  if (endpoint.status !== 'disabled') return false;
  const { id, disabledAt } = endpoint;
  const set: Partial<WebhookEndpoint> = {
    status: 'enabled',
    disabledReason: null,
    disabledAt: null,
    ...HEALTHY,
  };
  await transaction.execute(updateSql(webhookEndpoints, { ...set, nextDueAt: now }, { id }));
  await beginRecovery(transaction, endpoint, instant((disabledAt ?? now) - FAILING_MS), false, now);
  return true;
}

/**
 * Disables a locked endpoint, leaving its deliveries as they are. Returns whether it was enabled.
 */
export async function disable(
  transaction: Transaction,
  endpoint: WebhookEndpoint,
  disabledReason: DisabledReason,
  disabledAt: Instant,
): Promise<boolean> {
  if (endpoint.status !== 'enabled') return false;
  const set: Partial<WebhookEndpoint> = { status: 'disabled', disabledReason, disabledAt };
  await transaction.execute(updateSql(webhookEndpoints, set, { id: endpoint.id }));
  return true;
}

/**
 * A new secret, shown once; the previous one also signs for 24 h. Throws not_found,
 * authority_insufficient.
 */
export async function rotateSecret(
  deps: WebhookDeps,
  caller: Caller,
  id: Uuid,
): Promise<{ readonly endpoint: ShownEndpoint; readonly secret: string }> {
  const secret = deps.sending.signing.newSecret();
  return transactFor(caller.tenantId, deps.database, async (transaction) => {
    const endpoint = await lockManaged(transaction, caller, id);
    const now = deps.clock();
    const set: Partial<WebhookEndpoint> = {
      ...sealSecret(deps.encryptionKeys, id, secret),
      previousSecret: endpoint.secret,
      previousSecretKeyId: endpoint.secretKeyId,
      previousUntil: instant(now + PREVIOUS_SECRET_MS),
    };
    await transaction.execute(updateSql(webhookEndpoints, set, { id }));
    await recordChange(transaction, caller, endpoint, ['secret'], now);
    return { endpoint: await readLockedEndpoint(transaction, caller, id), secret };
  });
}

/**
 * Deletes an endpoint; its row stays for its idempotency key. Does nothing if it is deleted. Throws
 * not_found, authority_insufficient.
 */
export async function remove(deps: WebhookDeps, caller: Caller, id: Uuid): Promise<void> {
  const notice = await transactFor(caller.tenantId, deps.database, async (transaction) => {
    const own = await transaction.find(webhookEndpoints, { id, tenantId: caller.tenantId });
    if (own?.status === 'deleted') {
      await assertManager(transaction, caller);
      return null;
    }
    const endpoint = await lockManaged(transaction, caller, id);
    const set: Partial<WebhookEndpoint> = {
      status: 'deleted',
      nextDueAt: null,
      recoverAfter: null,
      recoverUntil: null,
    };
    await transaction.execute(updateSql(webhookEndpoints, set, { id }));
    await transaction.execute(deleteSql(webhookSubscriptions, { endpointId: id }));
    const now = deps.clock();
    const notice = noticeOf(endpoint, now);
    await transaction.execute(insertSql(outbox, [notice]));
    await recordChange(transaction, caller, endpoint, ['deleted'], now);
    return notice;
  });
  if (notice !== null) deps.notifier.notify(notice);
}
