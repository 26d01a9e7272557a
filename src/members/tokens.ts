import { normaliseRange } from '../core/address-ranges.js';
import { checkedText } from '../core/checked-text.js';
import { groupBy } from '../core/collections.js';
import {
  ApiError,
  assertFound,
  type CommandResult,
  invalidField,
  invalidState,
} from '../core/errors.js';
import type { RequestKey } from '../core/fingerprint.js';
import { newId, type Uuid } from '../core/ids.js';
import { type Clock, type Instant, instant, toRfc3339 } from '../core/instant.js';
import { type Page, pageOf, type TimePosition } from '../core/page.js';
import { type Caller, type Scope, SCOPES } from '../core/permissions.js';
import type { Database, DatabaseDeps, Reader, Transaction } from '../db/database.js';
import { type Tenant, type Token, tokens } from '../db/entities/parties.js';
import { transact, transactFor } from '../db/reader.js';
import {
  equalsSql,
  insertSql,
  literal,
  olderSql,
  updateSql,
  type Where,
} from '../db/statements.js';
import { writeKeyed } from '../ledger/keyed-writes.js';
import type { AuditAction } from '../access/audit-actions.js';
import {
  type Actor,
  type AuditDetails,
  type AuditEntry,
  memberActor,
  type MemberName,
  recordAction,
} from '../access/audit-log.js';
import {
  assertOwner,
  assertOwnerAbove,
  changeAccess,
  type Changer,
  findMember,
  isMember,
  LACKS_SCOPE,
  lockAccess,
} from '../access/authority.js';
import { assertQuota } from '../access/quotas.js';
import { generateToken, hashToken } from '../access/token-text.js';

export interface NewToken {
  /** The purpose of the token, 1 to 80 characters. */
  readonly name: string | null;
  readonly scopes: readonly Scope[];
  readonly expiresAt: Instant | null;
  /** The addresses or ranges (`10.0.0.0/8`) that may use the token. Empty: any address. */
  readonly cidrs: readonly string[];
}

export interface IssuedToken {
  readonly token: Token;
  /** The Bearer text. The database stores only its hash. */
  readonly text: string;
}

export const MAX_TOKEN_NAME = 80;
const MAX_CIDRS_LENGTH = 1_000;

/** Issues a token for an operator, within the tenant's delay. Throws not_found, invalid_field. */
export function issueToken(
  database: Database,
  clock: Clock,
  member: MemberName,
  request: NewToken,
  by: Actor,
): Promise<IssuedToken> {
  return changeAccess(database, by, member.tenantId, async (transaction, tenant) => {
    const issued = await prepareToken(transaction, clock, member, request, tenant, by, null);
    await transaction.execute(insertSql(tokens, [issued.token]));
    return issued;
  });
}

/** `text` is null in a replay, because the token is shown only once. */
type CreatedToken = { readonly token: Token; readonly text: string | null };

/** Issues a token for an owner, at most once per key. (docs/contract.md, Own access) */
export async function createToken(
  { database, clock }: DatabaseDeps,
  caller: Caller,
  memberId: Uuid,
  request: NewToken,
  idempotency: RequestKey,
): Promise<CommandResult<CreatedToken>> {
  const { tenantId, deadline, scopes, tokenKeyId } = caller;
  const keyed = {
    kind: { resourceType: 'token', table: tokens },
    command: { ...idempotency, tenantId },
  } as const;
  let issued: IssuedToken | null = null;
  const result = await writeKeyed(database, keyed, deadline, async (transaction) => {
    const tenant = await lockAccess(transaction, caller, tenantId);
    const member = await findMember(transaction, { id: memberId, tenantId }, 'member_id');
    await assertOwnerAbove(transaction, caller, [memberId]);
    if (!request.scopes.every((scope) => scopes.includes(scope))) throw new ApiError(LACKS_SCOPE);
    await assertQuota(transaction, tenantId, 'tokens', clock());
    const by = memberActor(caller);
    issued = await prepareToken(transaction, clock, member, request, tenant, by, tokenKeyId);
    return { row: issued.token };
  });
  const { outcome, replayed } = result;
  if (!outcome.done) return { outcome, replayed };
  return {
    outcome: { done: true, resource: { token: outcome.resource, text: shownText(issued, result) } },
    replayed,
  };
}

/** Returns the text of the token that this request has stored. */
function shownText(issued: IssuedToken | null, { outcome }: CommandResult<Token>): string | null {
  return outcome.done && issued?.token.id === outcome.resource.id ? issued.text : null;
}

/** Checks and records a new token, whose row the caller inserts. */
async function prepareToken(
  transaction: Transaction,
  clock: Clock,
  member: MemberName,
  request: NewToken,
  { id: tenantId, policyDelayS }: Tenant,
  actor: Actor,
  createdByKey: string | null,
): Promise<IssuedToken> {
  await findMember(transaction, member);
  const createdAt = clock();
  if (request.scopes.length === 0) throw new ApiError(invalidField('scopes', 'empty'));
  if (request.expiresAt !== null && request.expiresAt <= createdAt)
    throw new ApiError(invalidField('expires_at', 'in_the_past'));
  const issued = makeToken({
    tenantId,
    memberId: member.id,
    name: request.name === null ? null : checkedText('name', request.name, MAX_TOKEN_NAME),
    scopes: SCOPES.filter((scope) => request.scopes.includes(scope)),
    cidrs: checkedRanges(request.cidrs),
    effectiveAt: policyDelayS === 0 ? null : instant(createdAt + policyDelayS * 1_000),
    expiresAt: request.expiresAt,
    createdAt,
    createdByKey,
  });
  await recordAction(transaction, actor, createdAt, issueAudit(issued.token));
  return issued;
}

function makeToken(
  fields: Omit<Token, 'keyId' | 'id' | 'secretHash' | 'revokedAt' | 'lastUsedAt'>,
): IssuedToken {
  const { keyId, text } = generateToken();
  const own = { keyId, id: newId(), secretHash: hashToken(text) };
  return { token: { ...fields, ...own, revokedAt: null, lastUsedAt: null }, text };
}

function checkedRanges(cidrs: readonly string[]): string {
  const ranges = cidrs.map((text) => {
    const range = normaliseRange(text);
    if (range === null) throw new ApiError(invalidField('cidrs', `not an address range: ${text}`));
    return range;
  });
  const stored = [...new Set(ranges)].join(',');
  if (stored.length > MAX_CIDRS_LENGTH) throw new ApiError(invalidField('cidrs', 'too_many'));
  return stored;
}

export function listTokens(reader: Reader, tenantId: Uuid): Promise<Token[]> {
  return reader.select(tokens, { tenantId }, { orderBy: ['createdAt', 'keyId'] });
}

/** Returns the tenant's live tokens, newest first, for an owner. Throws authority_insufficient. */
export async function listOwnTokens(
  reader: Reader,
  caller: Caller,
  now: Instant,
  before: TimePosition | null,
  limit: number,
): Promise<Page<Token>> {
  await assertOwner(reader, caller);
  const live = equalsSql(tokens, { tenantId: caller.tenantId, revokedAt: null });
  const older = before === null ? '' : `AND ${olderSql(tokens.name, before)}`;
  const rows = await reader.list(
    tokens,
    `FORCE INDEX (live) WHERE ${live} AND (expires_at IS NULL OR expires_at>${literal(tokens, 'expiresAt', now)}) ${older}
     ORDER BY created_at DESC, id DESC LIMIT ${Math.trunc(limit) + 1}`,
  );
  return pageOf(rows, limit);
}

/**
 * Ends a token forever, within 5 seconds; with `cascade` also every token that it created, and those
 * that they created. Repeating it changes nothing. Throws not_found, authority_insufficient.
 */
export function revokeToken(
  database: Database,
  clock: Clock,
  keyId: string,
  by: Changer,
  cascade = false,
): Promise<Token> {
  const own = isMember(by) ? { keyId, tenantId: by.tenantId } : { keyId };
  return transactFor(isMember(by) ? by : null, database, async (transaction) => {
    const { tenantId, memberId } = assertFound(await transaction.find(tokens, own));
    await lockAccess(transaction, by, tenantId);
    const chosen = cascade ? await findCreated(transaction, tenantId, keyId) : new Set([keyId]);
    const ended = await transaction.select(tokens, { keyId: [...chosen], revokedAt: null });
    if (isMember(by))
      await assertOwnerAbove(transaction, by, [memberId, ...ended.map((token) => token.memberId)]);
    const actor = isMember(by) ? memberActor(by) : by;
    await revokeAll(transaction, clock(), { keyId: ended.map((token) => token.keyId) }, actor);
    return assertFound(await transaction.find(tokens, { keyId }));
  });
}

/** Returns the token and all that it created, directly or through others. */
async function findCreated(
  reader: Reader,
  tenantId: Uuid,
  keyId: string,
): Promise<ReadonlySet<string>> {
  // One read of the whole tree, because a chain can be longer than a query may recurse.
  const rows = await reader.query(
    `SELECT key_id, created_by_key FROM tokens FORCE INDEX (creator)
     WHERE tenant_id=${literal(tokens, 'tenantId', tenantId)} AND created_by_key IS NOT NULL`,
  );
  const created = groupBy(rows, (row) => String(row.created_by_key));
  const found = new Set([keyId]);
  // The set grows while it is read, until the last token has created no other.
  for (const one of found) for (const row of created.get(one) ?? []) found.add(String(row.key_id));
  return found;
}

/** Revokes the live ones of these tokens, under the lock of their tenant. Returns them. */
export async function revokeAll(
  transaction: Transaction,
  revokedAt: Instant,
  where: Where<Token>,
  actor: Actor,
): Promise<readonly Token[]> {
  const live = await transaction.select(
    tokens,
    { ...where, revokedAt: null },
    { orderBy: ['keyId'], forUpdate: true },
  );
  if (live.length === 0) return [];
  const keyId = live.map((token) => token.keyId);
  await transaction.execute(updateSql<Token>(tokens, { revokedAt }, { keyId }));
  for (const token of live) {
    const entry = tokenAudit(token, 'token.revoke', { member_id: token.memberId });
    await recordAction(transaction, actor, revokedAt, entry);
  }
  return live.map((token) => ({ ...token, revokedAt }));
}

/** Revokes every live token of a member, for when it is unknown which one has leaked. */
export function revokeTokensOf(
  database: Database,
  clock: Clock,
  { id: memberId, tenantId }: MemberName,
  by: Actor,
): Promise<readonly Token[]> {
  return changeAccess(database, by, tenantId, (transaction) =>
    revokeAll(transaction, clock(), { tenantId, memberId }, by),
  );
}

interface RotatedToken extends IssuedToken {
  readonly old: Token;
}

/**
 * Replaces a token by a new one of operators with the same rights. The old token is revoked at once, or expires
 * after the grace. Throws not_found, invalid_state (it is revoked or has expired).
 */
export async function rotateToken(
  database: Database,
  clock: Clock,
  keyId: string,
  graceMs: number,
  actor: Actor,
): Promise<RotatedToken> {
  return transact(database, async (transaction) => {
    const { tenantId } = assertFound(await transaction.find(tokens, { keyId }));
    await lockAccess(transaction, actor, tenantId);
    const old = assertFound(await transaction.find(tokens, { keyId }, { forUpdate: true }));
    const now = clock();
    const state = old.revokedAt !== null ? 'revoked' : 'expired';
    if (old.revokedAt !== null || hasExpired(old, now))
      throw new ApiError(invalidState(`the token is ${state}: issue a new one`, state, ['live']));
    const end = endColumns(old, now, graceMs);
    await transaction.execute(updateSql<Token>(tokens, end, { keyId }));
    const issued = makeToken({ ...old, createdByKey: null, createdAt: now });
    await transaction.execute(insertSql(tokens, [issued.token]));
    const details = { replaced_by: issued.token.keyId, grace_ms: graceMs };
    await recordAction(transaction, actor, now, issueAudit(issued.token));
    await recordAction(transaction, actor, now, tokenAudit(old, 'token.rotate', details));
    return { ...issued, old: { ...old, ...end } };
  });
}

function hasExpired({ expiresAt }: Token, now: Instant): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** A grace never extends a token's life. */
function endColumns(
  { expiresAt }: Token,
  now: Instant,
  graceMs: number,
): Pick<Token, 'revokedAt' | 'expiresAt'> {
  if (graceMs === 0) return { revokedAt: now, expiresAt };
  const graceEnd = instant(now + graceMs);
  return {
    revokedAt: null,
    expiresAt: expiresAt !== null && expiresAt < graceEnd ? expiresAt : graceEnd,
  };
}

function issueAudit(token: Token): AuditEntry {
  const { memberId, scopes, cidrs, effectiveAt, expiresAt, createdByKey } = token;
  return tokenAudit(token, 'token.issue', {
    member_id: memberId,
    scopes: scopes.join(','),
    cidrs,
    effective_at: toRfc3339(effectiveAt),
    expires_at: toRfc3339(expiresAt),
    created_by_key: createdByKey,
  });
}

function tokenAudit(
  { tenantId, keyId }: Token,
  action: AuditAction,
  details: AuditDetails = {},
): AuditEntry {
  return { tenantId, action, subjectType: 'token', subjectId: keyId, details };
}
