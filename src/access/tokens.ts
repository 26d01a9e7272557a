import { checkedText } from '../core/checked-text.js';
import { ApiError, invalidField, notFound } from '../core/errors.js';
import type { Uuid } from '../core/ids.js';
import type { Clock, Instant } from '../core/instant.js';
import { type Scope, SCOPES } from '../core/permissions.js';
import type { Database, Reader } from '../db/database.js';
import { type Member, type Token, tokens } from '../db/entities/parties.js';
import { insertSql, updateSql } from '../db/statements.js';
import { transact } from '../db/transact.js';
import { normaliseRange } from './address-ranges.js';
import { hashOfToken, newToken } from './token-format.js';

export interface WantedToken {
  /** What it is for, 1 to 80 characters. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** From then on it is refused. Null: never. */
  readonly expiresAt: Instant | null;
  /** Address ranges (`10.0.0.0/8`) or addresses from which alone it may be used. Empty: from anywhere. */
  readonly cidrs: readonly string[];
}

export interface IssuedToken {
  readonly token: Token;
  /** What the tenant sends as Bearer. It exists here and nowhere else: only its hash is stored. */
  readonly text: string;
}

const MAX_NAME = 80;
/** The column's width. */
const MAX_CIDRS = 1_000;

/** Makes a token that speaks for the member. Throws ApiError invalid_field. */
export async function issueToken(
  database: Database,
  clock: Clock,
  member: Member,
  wanted: WantedToken,
): Promise<IssuedToken> {
  const { keyId, text } = newToken();
  const createdAt = clock();
  if (wanted.scopes.length === 0) throw new ApiError(invalidField('scopes', 'empty'));
  if (wanted.expiresAt !== null && wanted.expiresAt <= createdAt)
    throw new ApiError(invalidField('expires_at', 'in_the_past'));
  const token: Token = {
    keyId,
    tenantId: member.tenantId,
    memberId: member.id,
    name: checkedText('name', wanted.name, MAX_NAME),
    secretHash: hashOfToken(text),
    scopes: SCOPES.filter((scope) => wanted.scopes.includes(scope)),
    cidrs: checkedRanges(wanted.cidrs),
    expiresAt: wanted.expiresAt,
    revokedAt: null,
    createdAt,
  };
  await transact(database, (transaction) => transaction.execute(insertSql(tokens, [token])));
  return { token, text };
}

function checkedRanges(cidrs: readonly string[]): string {
  const ranges = cidrs.map((text) => {
    const range = normaliseRange(text);
    if (range === null) throw new ApiError(invalidField('cidrs', `not an address range: ${text}`));
    return range;
  });
  const stored = [...new Set(ranges)].join(',');
  if (stored.length > MAX_CIDRS) throw new ApiError(invalidField('cidrs', 'too_many'));
  return stored;
}

/** The tenant's tokens, revoked ones included, in the order in which they were issued. */
export function listTokens(reader: Reader, tenantId: Uuid): Promise<Token[]> {
  return reader.select(tokens, { tenantId }, { orderBy: ['createdAt', 'keyId'] });
}

/**
 * Ends a token for ever: no request that arrives a second after this is let in. Revoking it again changes nothing.
 * Throws ApiError not_found.
 */
export async function revokeToken(database: Database, clock: Clock, keyId: string): Promise<Token> {
  return transact(database, async (transaction) => {
    const token = await transaction.find(tokens, { keyId }, { forUpdate: true });
    if (token === undefined) throw notFound();
    if (token.revokedAt !== null) return token;
    const revokedAt = clock();
    await transaction.execute(updateSql(tokens, { revokedAt }, { keyId }));
    return { ...token, revokedAt };
  });
}
