import type { IncomingMessage } from 'node:http';
import { API_VERSIONS, type ApiVersion, CURRENT_VERSION } from '../core/api-version.js';
import { ApiError, type FieldProblem, invalidField, type Refusal } from '../core/errors.js';
import { parseUuid, type Uuid } from '../core/ids.js';
import {
  type Operation,
  type Permission,
  PERMISSIONS,
  type TokenHolder,
} from '../core/permissions.js';
import { refuseFor } from './input.js';

/** Headers that must not be repeated. */
const SINGLE_HEADERS = [
  'Host',
  'Svc-Version',
  'Content-Type',
  'Authorization',
  'Content-Length',
  'Idempotency-Key',
] as const;
type SingleHeader = (typeof SINGLE_HEADERS)[number];

const SINGLE_BY_NAME = new Map<string, SingleHeader>(
  SINGLE_HEADERS.map((name) => [name.toLowerCase(), name]),
);

/** Reserved for the sandbox. (docs/contract.md, Authentication) */
const TEST_PREFIX = 'svc_test_';
const BEARER = /^Bearer +([\w.~+/=-]+)$/i;

const MISSING_KEY: Refusal = {
  code: 'missing_idempotency_key',
  message: 'this operation needs an Idempotency-Key header: a new UUID for a new operation',
};

/** The headers of a request that its checks read. */
export class RequestHead {
  private readonly repeated = new Set<SingleHeader>();

  constructor(readonly request: IncomingMessage) {
    // Node would make `headersDistinct` of all headers of each request.
    const { rawHeaders } = request;
    const seen = new Set<SingleHeader>();
    for (let index = 0; index < rawHeaders.length; index += 2) {
      const name = SINGLE_BY_NAME.get(rawHeaders[index]?.toLowerCase() ?? '');
      if (name !== undefined) (seen.has(name) ? this.repeated : seen).add(name);
    }
  }

  /** Returns the bearer token. Throws 401 `unauthorized`. */
  token(): string {
    if (this.repeated.has('Authorization'))
      throw unauthorized('the Authorization header was sent more than once');
    const header = this.request.headers.authorization;
    if (header === undefined)
      throw unauthorized('the Authorization header is missing: send Bearer and your token');
    const token = BEARER.exec(header)?.[1];
    if (token === undefined)
      throw unauthorized('the Authorization header is not Bearer and a token');
    if (token.startsWith(TEST_PREFIX))
      throw unauthorized(
        'this is a test token, and the sandbox is not available yet: use a live token',
      );
    return token;
  }

  /** Accepts quotation marks. Throws `missing_idempotency_key`, `invalid_field`. */
  idempotencyKey(): Uuid {
    const field: SingleHeader = 'Idempotency-Key';
    if (this.repeated.has(field)) throw new ApiError(invalidField(field, 'repeated'));
    const text = this.text('idempotency-key');
    if (text === undefined) throw new ApiError(MISSING_KEY);
    const key = parseUuid(text.replace(/^"(.*)"$/, '$1'));
    if (key === null) throw new ApiError(invalidField(field, 'not_a_uuid'));
    return key;
  }

  /** Returns the requested version. Throws `invalid_field` with the problems of all headers. */
  version(): ApiVersion {
    const { headers, httpVersion } = this.request;
    const problems: FieldProblem[] = [];
    const report = (field: string, reason: string): number =>
      problems.push({ code: 'invalid_field', field, reason });
    for (const field of this.repeated) report(field, 'repeated');
    if (headers.host === undefined && httpVersion === '1.1') report('Host', 'required');
    if (headers.expect !== undefined && headers.expect.toLowerCase() !== '100-continue')
      report('Expect', 'not_one_of: 100-continue');
    const named = this.text('svc-version');
    const version =
      named === undefined ? CURRENT_VERSION : API_VERSIONS.find((known) => known === named);
    if (version === undefined && !this.repeated.has('Svc-Version'))
      report('Svc-Version', `not_one_of: ${API_VERSIONS.join(', ')}`);
    if (problems.length > 0) refuseFor(problems);
    return version ?? CURRENT_VERSION;
  }

  private text(lowerName: string): string | undefined {
    const value = this.request.headers[lowerName];
    return typeof value === 'string' ? value : undefined;
  }
}

/** Null if the token is not valid from this address. Synchronous if cached. */
export type Authenticate = (
  token: string,
  address: string,
) => TokenHolder | null | Promise<TokenHolder | null>;

export function unauthorized(message: string): ApiError {
  return new ApiError({ code: 'unauthorized', message }, { 'WWW-Authenticate': 'Bearer' });
}

export function assertScope(caller: TokenHolder, operation: Operation): void {
  const { scopes }: Permission = PERMISSIONS[operation];
  if (scopes.some((scope) => caller.scopes.includes(scope))) return;
  const needed =
    scopes.length === 1 ? `the scope ${scopes[0]}` : `one of the scopes ${scopes.join(', ')}`;
  throw new ApiError(
    { code: 'insufficient_scope', message: `the token does not have ${needed}` },
    { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scopes.join(' ')}"` },
  );
}
