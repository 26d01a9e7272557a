import type { IncomingMessage } from 'node:http';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import { parseUuid, type Uuid } from '../core/ids.js';
import { type Caller, type Operation, type Permission, PERMISSIONS } from '../core/permissions.js';

/** Headers that must not be repeated. */
const SINGLE = [
  'Host',
  'Svc-Version',
  'Content-Type',
  'Authorization',
  'Content-Length',
  'Idempotency-Key',
] as const;
export type SingleHeader = (typeof SINGLE)[number];

export function repeatedHeaders({ headersDistinct }: IncomingMessage): ReadonlySet<SingleHeader> {
  return new Set(SINGLE.filter((name) => (headersDistinct[name.toLowerCase()]?.length ?? 0) > 1));
}

export function headerText(request: IncomingMessage, lowerName: string): string | undefined {
  const value = request.headers[lowerName];
  return typeof value === 'string' ? value : undefined;
}

/** Null if the token is not valid from this address. Synchronous if cached. */
export type Authenticate = (
  token: string,
  address: string,
) => Caller | null | Promise<Caller | null>;

/** Reserved for the sandbox. (docs/contract.md, Authentication) */
const TEST_PREFIX = 'svc_test_';
const BEARER = /^Bearer +([\w.~+/=-]+)$/i;

export function readToken(request: IncomingMessage, repeated: ReadonlySet<SingleHeader>): string {
  if (repeated.has('Authorization'))
    throw unauthorized('the Authorization header was sent more than once');
  const header = request.headers.authorization;
  if (header === undefined)
    throw unauthorized('the Authorization header is missing: send Bearer and your token');
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw unauthorized('the Authorization header is not Bearer and a token');
  if (token.startsWith(TEST_PREFIX))
    throw unauthorized(
      'this is a test token, and the sandbox is not available yet: use a live token',
    );
  return token;
}

export function unauthorized(message: string): ApiError {
  return new ApiError({ code: 'unauthorized', message }, { 'WWW-Authenticate': 'Bearer' });
}

export function assertScope(caller: Caller, operation: Operation): void {
  const { scopes }: Permission = PERMISSIONS[operation];
  if (scopes.some((scope) => caller.scopes.includes(scope))) return;
  const needed =
    scopes.length === 1 ? `the scope ${scopes[0]}` : `one of the scopes ${scopes.join(', ')}`;
  throw new ApiError(
    { code: 'insufficient_scope', message: `the token does not have ${needed}` },
    { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"` },
  );
}

const HEADER: SingleHeader = 'Idempotency-Key';

const MISSING: Refusal = {
  code: 'missing_idempotency_key',
  message: 'this operation needs an Idempotency-Key header: a new UUID for a new operation',
};

/** Accepts quotation marks. Throws `missing_idempotency_key`, `invalid_field`. */
export function readIdempotencyKey(
  request: IncomingMessage,
  repeated: ReadonlySet<SingleHeader>,
): Uuid {
  if (repeated.has(HEADER)) throw new ApiError(invalidField(HEADER, 'repeated'));
  const text = headerText(request, 'idempotency-key');
  if (text === undefined) throw new ApiError(MISSING);
  const key = parseUuid(text.replace(/^"(.*)"$/, '$1'));
  if (key === null) throw new ApiError(invalidField(HEADER, 'not_a_uuid'));
  return key;
}
