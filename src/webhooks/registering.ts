import { memberActor, recordAct } from '../access/audit-log.js';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import type { Fingerprint } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import type { Instant } from '../core/instant.js';
import type { Caller } from '../core/permissions.js';
import type { ApiVersion } from '../core/versions.js';
import { integer } from '../db/columns.js';
import type { Reader, Transaction } from '../db/database.js';
import { Deadline } from '../db/deadline.js';
import { idempotencyKeys } from '../db/entities/ledger.js';
import { outbox, type OutboxRow } from '../db/entities/outbox.js';
import { tenants } from '../db/entities/parties.js';
import {
  type SubscribableType,
  type WebhookEndpoint,
  webhookEndpoints,
  type WebhookSubscription,
  webhookSubscriptions,
} from '../db/entities/webhooks.js';
import { CommitUnknown, DatabaseUnavailable, DUPLICATE_KEY, errnoOf } from '../db/failures.js';
import { insertSql, literal } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { answerOfKey, KEY_REUSED } from '../ledger/desk/keys.js';
import type { Answer } from '../ledger/desk/types.js';
import { assertManager } from './access.js';
import { headOf } from './log-positions.js';
import type { WebhookParts } from './parts.js';
import { HEALTHY, MAX_ENDPOINTS } from './rules.js';
import { sealSecret } from './secrets.js';
import { noticeOf } from './telling.js';

export interface WantedEndpoint {
  readonly url: string;
  readonly types: readonly SubscribableType[];
  readonly apiVersion: ApiVersion;
}

/** An endpoint as it was registered, or as its key finds it again: then without the secret, which is shown once. */
export interface RegisteredEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly types: readonly SubscribableType[];
  readonly secret: string | null;
}

export interface KeyOfRequest {
  readonly key: Uuid;
  readonly fingerprint: Fingerprint;
}

const TOO_MANY: Refusal = {
  code: 'too_many_endpoints',
  message: `the tenant has ${MAX_ENDPOINTS} webhook endpoints, which is the most`,
  details: { maximum: MAX_ENDPOINTS },
};
const LOOK_AGAIN_MS = 100;
const LOOK_FOR_MS = 4_000;

type Registration = Answer<RegisteredEndpoint>;

/**
 * Registers an endpoint, once for each key, by the same rules as the posting desk: what the key has bound is answered again;
 * simultaneous requests with one key wait for the first (here at the tenant's row); an unknown commit is looked up and never
 * decided anew. Throws ApiError invalid_field (the URL), not_found (it has been deleted since), authority_insufficient,
 * idempotency_key_reused; what withTransaction throws. (docs/contract.md, Idempotency)
 */
export async function register(
  parts: WebhookParts,
  caller: Caller,
  wanted: WantedEndpoint,
  { key, fingerprint }: KeyOfRequest,
): Promise<Registration> {
  const { database, sending } = parts;
  const bound = (reader: Reader): Promise<Registration | null> => answerFromKey(reader, caller, { key, fingerprint });
  const known = await bound(database.lookup);
  if (known !== null && !isReuse(known)) return known;
  assertUrl(sending.parseUrl(wanted.url));
  if (known !== null) return known;
  // Whoever may not register has no name looked up by us.
  await assertManager(database.lookup, caller);
  const checked = assertUrl(await sending.checkUrl(wanted.url));
  const secret = sending.signing.newSecret();
  const draft = draftEndpoint(parts, caller, { ...wanted, url: checked.url }, secret);
  try {
    const registered = await transact(database, async (transaction) => {
      // The tenant's row is the lock of how many endpoints it has; whoever comes later with this key finds it bound.
      await transaction.find(tenants, { id: caller.tenantId }, { forUpdate: true });
      return (await bound(transaction)) ?? (await decide(transaction, caller, draft, { key, fingerprint }));
    });
    if (registered.outcome.done && !registered.replayed) parts.nudge.tell(draft.notice);
    return registered;
  } catch (failure) {
    if (errnoOf(failure) === DUPLICATE_KEY) return (await bound(database.lookup)) ?? unknownResult();
    if (!(failure instanceof CommitUnknown)) throw failure;
    return recognise(await lookForKey(() => bound(database.current)), draft);
  }
}

/** Throws invalid_field for an address that takes no deliveries. */
export function assertUrl<T>(read: ({ readonly ok: true } & T) | { readonly ok: false; readonly reason: string }): T {
  if (!read.ok) throw new ApiError(invalidField('url', read.reason));
  return read;
}

interface Draft extends RegisteredEndpoint {
  readonly secret: string;
  /** By which its workflow begins. */
  readonly notice: OutboxRow;
}

function draftEndpoint(parts: WebhookParts, caller: Caller, wanted: WantedEndpoint, secret: string): Draft {
  const id = newId();
  const endpoint: WebhookEndpoint = {
    id,
    tenantId: caller.tenantId,
    url: wanted.url,
    status: 'enabled',
    disabledReason: null,
    disabledAt: null,
    apiVersion: wanted.apiVersion,
    ...sealSecret(parts.encryptionKeys, id, secret),
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
    createdAt: parts.clock(),
  };
  return { endpoint, types: wanted.types, secret, notice: noticeOf(endpoint, endpoint.createdAt) };
}

/** Under the tenant's lock: 403, then 422, which binds the key; then the endpoint, which starts at the log's head. */
async function decide(
  transaction: Transaction,
  caller: Caller,
  draft: Draft,
  key: KeyOfRequest,
): Promise<Registration> {
  await assertManager(transaction, caller);
  const { createdAt } = draft.endpoint;
  const [counted] = await transaction.query(
    `SELECT COUNT(*) AS own FROM webhook_endpoints
     WHERE tenant_id=${literal(webhookEndpoints, 'tenantId', caller.tenantId)} AND status<>'deleted'`,
  );
  if (integer.parse(counted?.own) >= MAX_ENDPOINTS) {
    await transaction.execute(keySql(caller, key, { refusal: TOO_MANY }, createdAt));
    return { outcome: { done: false, refusal: TOO_MANY }, replayed: false };
  }
  const head = await headOf(transaction, caller.tenantId);
  const endpoint = { ...draft.endpoint, cursorSequence: head };
  await transaction.execute(keySql(caller, key, { endpointId: endpoint.id }, createdAt));
  await transaction.all([
    insertSql(webhookEndpoints, [endpoint]),
    insertSql(webhookSubscriptions, subscriptionsOf(endpoint, draft.types, head + 1n)),
    insertSql(outbox, [draft.notice]),
  ]);
  await recordAct(transaction, memberActor(caller), createdAt, {
    tenantId: caller.tenantId,
    action: 'webhook.register',
    subjectType: 'webhook_endpoint',
    subjectId: endpoint.id,
    details: { events: draft.types.join(',') },
  });
  return { outcome: { done: true, resource: { endpoint, types: draft.types, secret: draft.secret } }, replayed: false };
}

export function subscriptionsOf(
  { id: endpointId, tenantId }: Pick<WebhookEndpoint, 'id' | 'tenantId'>,
  types: readonly SubscribableType[],
  fromSequence: bigint,
): WebhookSubscription[] {
  return types.map((type) => ({ endpointId, type, tenantId, fromSequence }));
}

function keySql(
  { tenantId }: Caller,
  { key, fingerprint }: KeyOfRequest,
  bound: { readonly endpointId: Uuid } | { readonly refusal: Refusal },
  createdAt: Instant,
): string {
  return insertSql(idempotencyKeys, [
    {
      tenantId,
      idempotencyKey: key,
      fingerprint: fingerprint.digest,
      fingerprintKeyId: fingerprint.keyId,
      resourceType: 'webhook_endpoint',
      resourceId: 'endpointId' in bound ? bound.endpointId : null,
      refusal: 'refusal' in bound ? JSON.stringify(bound.refusal) : null,
      createdAt,
      // An unknown commit is recognised by the endpoint's id, which is this registration's alone.
      commitId: null,
    },
  ]);
}

/** What the key has bound, or null while it is free. Throws not_found for an endpoint that has been deleted since. */
async function answerFromKey(
  reader: Reader,
  { tenantId }: Caller,
  { key, fingerprint }: KeyOfRequest,
): Promise<Registration | null> {
  const row = await reader.find(idempotencyKeys, { tenantId, idempotencyKey: key });
  if (row === undefined) return null;
  const answer = answerOfKey(fingerprint, row);
  if (answer !== null) return answer;
  const id = row.resourceId;
  const endpoint = id === null ? undefined : await reader.find(webhookEndpoints, { id, tenantId });
  if (endpoint === undefined || endpoint.status === 'deleted') throw new ApiError(GONE);
  const types = await readTypes(reader, endpoint.id);
  return { outcome: { done: true, resource: { endpoint, types, secret: null } }, replayed: true };
}

const GONE: Refusal = { code: 'not_found', message: 'the endpoint that this key registered has been deleted' };

/** What the endpoint is subscribed to now. */
export async function readTypes(reader: Reader, endpointId: Uuid): Promise<readonly SubscribableType[]> {
  return (await reader.select(webhookSubscriptions, { endpointId })).map(({ type }) => type);
}

function isReuse({ outcome }: Registration): boolean {
  return !outcome.done && outcome.refusal === KEY_REUSED;
}

/** A key that is not there may still be committing: it is looked for until the time is over. Throws DatabaseUnavailable. */
async function lookForKey(look: () => Promise<Registration | null>): Promise<Registration> {
  const deadline = Deadline.afterMs(LOOK_FOR_MS);
  while (!deadline.passed()) {
    try {
      const found = await look();
      if (found !== null) return found;
    } catch (failure) {
      if (!(failure instanceof DatabaseUnavailable)) throw failure;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
  }
  return unknownResult();
}

/** To the client that asked first it is no replay, and its only chance to see the secret. */
function recognise(found: Registration, draft: Draft): Registration {
  const { outcome } = found;
  if (!outcome.done || outcome.resource.endpoint.id !== draft.endpoint.id) return found;
  return { outcome: { done: true, resource: { ...outcome.resource, secret: draft.secret } }, replayed: false };
}

function unknownResult(): never {
  throw new DatabaseUnavailable('whether the endpoint was registered is not known');
}
