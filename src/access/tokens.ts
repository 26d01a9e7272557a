import { hash, randomBytes } from 'node:crypto';
import { normaliseRange } from '../core/address-ranges.js';
import { checkedText } from '../core/checked-text.js';
import { ApiError, assertFound, invalidField, invalidState } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import { type Clock, type Instant, instant, toRfc3339 } from '../core/instant.js';
import { type Scope, SCOPES } from '../core/permissions.js';
import type { Database, Reader, Transaction } from '../db/database.js';
import { type Member, type Token, tokens } from '../db/entities/parties.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/reader.js';
import { type Actor, type AuditDetails, type AuditEntry, recordAction } from './audit-log.js';

export interface NewToken {
  /** The purpose of the token, 1 to 80 characters. */
  readonly name: string;
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

const MAX_NAME = 80;
const MAX_CIDRS_LENGTH = 1_000;

export async function issueToken(
  database: Database,
  clock: Clock,
  member: Member,
  request: NewToken,
  actor: Actor,
): Promise<IssuedToken> {
  const createdAt = clock();
  if (request.scopes.length === 0) throw new ApiError(invalidField('scopes', 'empty'));
  if (request.expiresAt !== null && request.expiresAt <= createdAt)
    throw new ApiError(invalidField('expires_at', 'in_the_past'));
  const issued = makeToken({
    tenantId: member.tenantId,
    memberId: member.id,
    name: checkedText('name', request.name, MAX_NAME),
    scopes: SCOPES.filter((scope) => request.scopes.includes(scope)),
    cidrs: checkedRanges(request.cidrs),
    expiresAt: request.expiresAt,
    createdAt,
  });
  await transact(database, async (transaction) => {
    await transaction.execute(insertSql(tokens, [issued.token]));
    await recordAction(transaction, actor, createdAt, issueAudit(issued.token));
  });
  return issued;
}

function makeToken(
  fields: Omit<Token, 'keyId' | 'secretHash' | 'revokedAt' | 'lastUsedAt'>,
): IssuedToken {
  const { keyId, text } = generateToken();
  return {
    token: { ...fields, keyId, secretHash: hashToken(text), revokedAt: null, lastUsedAt: null },
    text,
  };
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

/** Ends a token forever, within 5 seconds. Repeating it changes nothing. */
export async function revokeToken(
  database: Database,
  clock: Clock,
  keyId: string,
  actor: Actor,
): Promise<Token> {
  return transact(database, async (transaction) => {
    const token = await lockToken(transaction, keyId);
    if (token.revokedAt !== null) return token;
    const revokedAt = clock();
    await transaction.execute(updateSql(tokens, { revokedAt }, { keyId }));
    await recordAction(transaction, actor, revokedAt, tokenAudit(token, 'token.revoke'));
    return { ...token, revokedAt };
  });
}

/** Revokes every live token of a member, for when it is unknown which one has leaked. */
export async function revokeTokensOf(
  database: Database,
  clock: Clock,
  { id: memberId, tenantId }: Member,
  actor: Actor,
): Promise<readonly Token[]> {
  return transact(database, async (transaction) => {
    const own = await transaction.select(
      tokens,
      { tenantId, memberId },
      { orderBy: ['keyId'], forUpdate: true },
    );
    const live = own.filter((token) => token.revokedAt === null);
    if (live.length === 0) return [];
    const revokedAt = clock();
    await transaction.execute(
      updateSql(tokens, { revokedAt }, { keyId: live.map(({ keyId }) => keyId) }),
    );
    for (const token of live) {
      const entry = tokenAudit(token, 'token.revoke', { member_id: memberId });
      await recordAction(transaction, actor, revokedAt, entry);
    }
    return live.map((token) => ({ ...token, revokedAt }));
  });
}

interface RotatedToken extends IssuedToken {
  readonly old: Token;
}

/**
 * Replaces a token by a new one with the same rights. The old token is revoked at once, or expires
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
    const old = await lockToken(transaction, keyId);
    const now = clock();
    const state = old.revokedAt !== null ? 'revoked' : 'expired';
    if (old.revokedAt !== null || hasExpired(old, now))
      throw new ApiError(invalidState(`the token is ${state}: issue a new one`, state, ['live']));
    const end = endColumns(old, now, graceMs);
    await transaction.execute(updateSql<Token>(tokens, end, { keyId }));
    const issued = makeToken({ ...old, createdAt: now });
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

async function lockToken(transaction: Transaction, keyId: string): Promise<Token> {
  return assertFound(await transaction.find(tokens, { keyId }, { forUpdate: true }));
}

function issueAudit(token: Token): AuditEntry {
  const { memberId, scopes, cidrs, expiresAt } = token;
  return tokenAudit(token, 'token.issue', {
    member_id: memberId,
    scopes: scopes.join(','),
    cidrs,
    expires_at: toRfc3339(expiresAt),
  });
}

function tokenAudit(
  { tenantId, keyId }: Token,
  action: string,
  details: AuditDetails = {},
): AuditEntry {
  return { tenantId, action, subjectType: 'token', subjectId: keyId, details };
}

/** The text of a token: `svc_live_<key id>_<secret>`. (docs/contract.md, Tokens) */

const PATTERN = /^svc_live_([a-z2-7]{16})_[a-z2-7]{40}$/;
/** Thirty-two letters: each takes exactly five bits of a random byte. */
const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const KEY_ID_LETTERS = 16;
const SECRET_LETTERS = 40;

interface GeneratedToken {
  readonly keyId: string;
  /** Shown once, never stored. */
  readonly text: string;
}

export function generateToken(): GeneratedToken {
  const keyId = randomLetters(KEY_ID_LETTERS);
  return { keyId, text: `svc_live_${keyId}_${randomLetters(SECRET_LETTERS)}` };
}

/** Returns null if the text does not have the form of a live token. */
export function keyIdOf(text: string): string | null {
  return PATTERN.exec(text)?.[1] ?? null;
}

/** The secret is random, so a plain hash cannot be reversed by guessing. */
export function hashToken(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

function randomLetters(count: number): string {
  return Array.from(randomBytes(count), (byte) => ALPHABET.charAt(byte & 31)).join('');
}
