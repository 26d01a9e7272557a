import { memberActor, recordAction } from '../access/audit-log.js';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import type { Keyed } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Caller } from '../core/permissions.js';
import type { ApiVersion } from '../core/versions.js';
import { integer } from '../db/columns.js';
import type { Reader, Transaction } from '../db/database.js';
import type { SubscribableType } from '../db/entities/events.js';
import { outbox, type OutboxRow } from '../db/entities/outbox.js';
import { tenants } from '../db/entities/parties.js';
import {
  type WebhookEndpoint,
  webhookEndpoints,
  type WebhookSubscription,
  webhookSubscriptions,
} from '../db/entities/webhooks.js';
import { insertSql, literal } from '../db/statements.js';
import { headOf } from '../events/positions.js';
import type { CommandResult } from '../ledger/writer/types.js';
import { findResults } from '../ledger/idempotency.js';
import { type KeyedResult, writeKeyed } from '../ledger/keyed-writes.js';
import { assertManager, endpointAuditEntry, noticeOf } from './access.js';
import type { WebhookDeps } from './deps.js';
import { type ShownEndpoint, withTypes } from './queries.js';
import { HEALTHY, MAX_ENDPOINTS } from './rules.js';
import { sealSecret } from './secrets.js';

interface WantedEndpoint {
  readonly url: string;
  readonly types: readonly SubscribableType[];
  readonly apiVersion: ApiVersion;
}

/**
 * An endpoint as registered, or as found again by its key: then without the secret, which is shown
 * once.
 */
interface RegisteredEndpoint extends ShownEndpoint {
  readonly secret: string | null;
}

const TOO_MANY: Refusal = {
  code: 'too_many_endpoints',
  message: `the tenant has ${MAX_ENDPOINTS} webhook endpoints, which is the most`,
  details: { maximum: MAX_ENDPOINTS },
};
/** How long a request may wait for the ledger in all. */
const TIMEOUT_MS = 4_000;

/**
 * Registers an endpoint, at most once per key. Refusals are returned as answers:
 * too_many_endpoints, idempotency_key_reused, authority_insufficient, ledger_unavailable. Throws
 * ApiError invalid_field (the host), authority_insufficient; DatabaseUnavailable.
 * (docs/contract.md, Idempotency)
 */
export async function register(
  deps: WebhookDeps,
  caller: Caller,
  wanted: WantedEndpoint,
  idempotency: Keyed,
): Promise<CommandResult<RegisteredEndpoint>> {
  const { database, sending } = deps;
  const { tenantId } = caller;
  const request = {
    kind: { resourceType: 'webhook_endpoint', table: webhookEndpoints },
    command: { ...idempotency, tenantId },
  } as const;
  const known = (await findResults(database.lookup, [request])).get(request);
  if (known !== undefined) return registration(database.lookup, known, wanted);
  // DNS is not queried for a caller who may not register.
  await assertManager(database.lookup, caller);
  const checked = assertUrl(await sending.checkUrl(wanted.url));
  const draft = draftEndpoint(
    deps,
    caller,
    { ...wanted, url: checked.url },
    sending.signing.newSecret(),
  );
  const answer = await writeKeyed(database, request, TIMEOUT_MS, (transaction) =>
    write(transaction, caller, draft),
  );
  if (answer.replayed || !answer.outcome.done) return registration(database.lookup, answer, wanted);
  deps.notifier.notify(draft.notice);
  const { types, secret } = draft;
  return {
    outcome: { done: true, resource: { endpoint: answer.outcome.resource, types, secret } },
    replayed: false,
  };
}

/**
 * The key's earlier result: the endpoint as it is now, or as it was registered if it has been
 * deleted since.
 */
async function registration(
  reader: Reader,
  { outcome, replayed }: CommandResult<WebhookEndpoint>,
  wanted: WantedEndpoint,
): Promise<CommandResult<RegisteredEndpoint>> {
  if (!outcome.done) return { outcome, replayed };
  const { resource } = outcome;
  const shown =
    resource.status === 'deleted'
      ? asRegistered(resource, wanted)
      : await withTypes(reader, resource);
  return { outcome: { done: true, resource: { ...shown, secret: null } }, replayed };
}

/** `wanted` is what was registered: a replay has the same body. */
function asRegistered(endpoint: WebhookEndpoint, { url, types }: WantedEndpoint): ShownEndpoint {
  const fresh = {
    status: 'enabled',
    disabledReason: null,
    lastSuccessAt: null,
    lostFrom: null,
    lostTo: null,
  } as const;
  return { endpoint: { ...endpoint, ...fresh, url: new URL(url).href }, types };
}

/** Throws invalid_field for an address that gets no deliveries. */
export function assertUrl<T>(
  read: ({ readonly ok: true } & T) | { readonly ok: false; readonly reason: string },
): T {
  if (!read.ok) throw new ApiError(invalidField('url', read.reason));
  return read;
}

interface Draft extends RegisteredEndpoint {
  readonly secret: string;
  /** Starts its workflow. */
  readonly notice: OutboxRow;
}

function draftEndpoint(
  deps: WebhookDeps,
  caller: Caller,
  wanted: WantedEndpoint,
  secret: string,
): Draft {
  const id = newId();
  const endpoint: WebhookEndpoint = {
    id,
    tenantId: caller.tenantId,
    url: wanted.url,
    status: 'enabled',
    disabledReason: null,
    disabledAt: null,
    apiVersion: wanted.apiVersion,
    ...sealSecret(deps.encryptionKeys, id, secret),
    previousSecret: null,
    previousSecretKeyId: null,
    previousUntil: null,
    cursorSequence: 0n,
    recoverAfter: null,
    recoverUntil: null,
    recoverAll: false,
    lostFrom: null,
    lostTo: null,
    pausedAt: null,
    pausedBy: null,
    fence: 0n,
    leaseUntil: null,
    nextDueAt: null,
    waitsUntil: null,
    attendedAt: null,
    ...HEALTHY,
    lastSuccessAt: null,
    createdBy: caller.memberId,
    createdAt: deps.clock(),
  };
  return { endpoint, types: wanted.types, secret, notice: noticeOf(endpoint, endpoint.createdAt) };
}

/**
 * Under the tenant's lock: 403, then 422, which binds the key; then the endpoint, at the log's
 * head.
 */
async function write(
  transaction: Transaction,
  caller: Caller,
  draft: Draft,
): Promise<KeyedResult<WebhookEndpoint>> {
  const { tenantId } = caller;
  // The tenant's row is the lock on its number of endpoints.
  await transaction.find(tenants, { id: tenantId }, { forUpdate: true });
  await assertManager(transaction, caller);
  const { createdAt } = draft.endpoint;
  if ((await countEndpoints(transaction, tenantId)) >= MAX_ENDPOINTS)
    return { refusal: TOO_MANY, at: createdAt };
  const head = await headOf(transaction, tenantId);
  const endpoint = { ...draft.endpoint, cursorSequence: head };
  await transaction.all([
    insertSql(webhookSubscriptions, subscriptionsOf(endpoint, draft.types, head + 1n)),
    insertSql(outbox, [draft.notice]),
  ]);
  const act = endpointAuditEntry(endpoint, 'webhook.register', { events: draft.types.join(',') });
  await recordAction(transaction, memberActor(caller), createdAt, act);
  return { row: endpoint };
}

/** Deleted ones, of which there may be any number, have no subscriptions. */
export async function countEndpoints(reader: Reader, tenantId: Uuid): Promise<number> {
  const [counted] = await reader.query(
    `SELECT COUNT(DISTINCT endpoint_id) AS own FROM webhook_subscriptions
     WHERE tenant_id=${literal(webhookSubscriptions, 'tenantId', tenantId)}`,
  );
  return integer.parse(counted?.own);
}

export function subscriptionsOf(
  { id: endpointId, tenantId }: Pick<WebhookEndpoint, 'id' | 'tenantId'>,
  types: readonly SubscribableType[],
  fromSequence: bigint,
): WebhookSubscription[] {
  return types.map((type) => ({ endpointId, type, tenantId, fromSequence }));
}
