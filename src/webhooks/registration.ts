import { memberActor, recordAction } from '../access/audit-log.js';
import { ApiError, type CommandResult, invalidField, type Refusal } from '../core/errors.js';
import type { RequestKey } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import type { ApiVersion } from '../core/api-version.js';
import {
  type WebhookEndpoint,
  webhookEndpoints,
  type WebhookSubscription,
  webhookSubscriptions,
} from '../db/entities/webhooks.js';
import { integer } from '../db/columns.js';
import type { Reader, Transaction } from '../db/database.js';
import type { SubscribableType } from '../db/entities/events.js';
import { outbox, type OutboxRow } from '../db/entities/outbox.js';
import { tenants } from '../db/entities/parties.js';
import { insertSql, literal } from '../db/statements.js';
import { nullsOf } from '../db/table.js';
import { readLastSequence } from '../events/log.js';
import { findResults } from '../ledger/idempotency.js';
import { type KeyedResult, writeKeyed } from '../ledger/keyed-writes.js';
import {
  assertManager,
  endpointAudit,
  workflowNotice,
  type EndpointWithTypes,
  addTypes,
} from './endpoints.js';
import type { WebhookDeps } from './deps.js';
import { HEALTHY, MAX_ENDPOINTS } from './rules.js';
import { newSecret, sealSecret } from './signing.js';

interface EndpointRequest {
  readonly url: string;
  readonly types: readonly SubscribableType[];
  readonly apiVersion: ApiVersion;
}

/** `secretText` is null in a replay, because the secret is shown only once. */
type RegisteredEndpoint = EndpointWithTypes & { readonly secretText: string | null };

const TOO_MANY: Refusal = {
  code: 'too_many_endpoints',
  message: `the tenant has ${MAX_ENDPOINTS} webhook endpoints, which is the most`,
  details: { maximum: MAX_ENDPOINTS },
};

/**
 * Registers an endpoint, at most once per key. Returns refusals: too_many_endpoints,
 * idempotency_key_reused, authority_insufficient, ledger_unavailable. Throws invalid_field (the
 * host), authority_insufficient; DatabaseUnavailable.
 */
export async function registerEndpoint(
  deps: WebhookDeps,
  caller: Caller,
  requested: EndpointRequest,
  idempotency: RequestKey,
): Promise<CommandResult<RegisteredEndpoint>> {
  const { database, sender } = deps;
  const request = {
    kind: { resourceType: 'webhook_endpoint', table: webhookEndpoints },
    command: { ...idempotency, tenantId: caller.tenantId },
  } as const;
  const known = (await findResults(database.lookup, [request])).get(request);
  if (known !== undefined) return replay(database.lookup, known, requested);
  // DNS is queried only for a caller who may register.
  await assertManager(database.lookup, caller);
  const { url } = assertUrl(await sender.guard.checkUrl(requested.url));
  const { types } = requested;
  const secretText = newSecret();
  const endpoint = newEndpoint(deps, caller, { ...requested, url }, secretText);
  const notice = workflowNotice(endpoint, endpoint.createdAt);
  const result = await writeKeyed(database, request, caller.deadline, (transaction) =>
    writeRegistration(transaction, caller, { ...endpoint, types }, notice),
  );
  const { outcome, replayed } = result;
  if (replayed || !outcome.done) return replay(database.lookup, result, requested);
  deps.notifier.notify(notice);
  return {
    outcome: { done: true, resource: { ...outcome.resource, types, secretText } },
    replayed,
  };
}

/** Returns the key's earlier result: the endpoint as it is now, or as registered if deleted since. */
async function replay(
  reader: Reader,
  { outcome, replayed }: CommandResult<WebhookEndpoint>,
  { url, types }: EndpointRequest,
): Promise<CommandResult<RegisteredEndpoint>> {
  if (!outcome.done) return { outcome, replayed };
  const { resource } = outcome;
  // A replay has the same body, so the request shows what was registered.
  const [shown = { ...resource, ...NEW_ENDPOINT, url: new URL(url).href, types }] =
    resource.status === 'deleted' ? [] : await addTypes(reader, [resource]);
  return { outcome: { done: true, resource: { ...shown, secretText: null } }, replayed };
}

/** Throws invalid_field for an address that gets no deliveries. */
export function assertUrl<T>(
  read: ({ readonly ok: true } & T) | { readonly ok: false; readonly reason: string },
): T {
  if (!read.ok) throw new ApiError(invalidField('url', read.reason));
  return read;
}

const NEW_ENDPOINT = {
  ...nullsOf(webhookEndpoints),
  ...HEALTHY,
  status: 'enabled',
  recoverAll: false,
  fence: 0n,
} as const;

function newEndpoint(
  { encryptionKeys, clock }: WebhookDeps,
  { tenantId, memberId }: Caller,
  { url, apiVersion }: EndpointRequest,
  secret: string,
): WebhookEndpoint {
  const id = newId();
  const sealed = sealSecret(encryptionKeys, id, secret);
  const createdAt = clock();
  const creation = { createdBy: memberId, createdAt, cursorSequence: 0n };
  return { id, tenantId, url, apiVersion, ...sealed, ...NEW_ENDPOINT, ...creation };
}

/** Writes everything but the endpoint's row, which it returns. Throws authority_insufficient. */
async function writeRegistration(
  transaction: Transaction,
  caller: Caller,
  { types, ...draft }: EndpointWithTypes,
  notice: OutboxRow,
): Promise<KeyedResult<WebhookEndpoint>> {
  const { tenantId, createdAt } = draft;
  // The tenant's row is the lock on its number of endpoints.
  await transaction.find(tenants, { id: tenantId }, { forUpdate: true });
  await assertManager(transaction, caller);
  if ((await countEndpoints(transaction, tenantId)) >= MAX_ENDPOINTS)
    return { refusal: TOO_MANY, at: createdAt };
  const head = await readLastSequence(transaction, tenantId);
  const endpoint = { ...draft, cursorSequence: head };
  await transaction.all([
    insertSql(webhookSubscriptions, subscriptionsOf(endpoint, types, head + 1n)),
    insertSql(outbox, [notice]),
  ]);
  const entry = endpointAudit(endpoint, 'webhook.register', { events: types.join(',') });
  await recordAction(transaction, memberActor(caller), createdAt, entry);
  return { row: endpoint };
}

/** Counts by subscription, because deleted endpoints, which may be many, have none. */
export async function countEndpoints(reader: Reader, tenantId: Uuid): Promise<number> {
  const [counted] = await reader.query(
    `SELECT COUNT(DISTINCT endpoint_id) AS endpoints FROM webhook_subscriptions
     WHERE tenant_id=${literal(webhookSubscriptions, 'tenantId', tenantId)}`,
  );
  return integer.parse(counted?.endpoints);
}

export function subscriptionsOf(
  { id: endpointId, tenantId }: Pick<WebhookEndpoint, 'id' | 'tenantId'>,
  types: readonly SubscribableType[],
  fromSequence: bigint,
): WebhookSubscription[] {
  return types.map((type) => ({ endpointId, type, tenantId, fromSequence }));
}
