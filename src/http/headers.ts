import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import {
  type Address,
  type AddressRange,
  isInRanges,
  normaliseRange,
  parseRanges,
} from '../core/address-ranges.js';
import { ApiError, invalidField, type Refusal } from '../core/errors.js';
import { parseUuid, type Uuid } from '../core/ids.js';
import {
  type Operation,
  type Permission,
  PERMISSIONS,
  type TokenHolder,
} from '../core/permissions.js';

/** Headers that must not be repeated. */
const SINGLE_HEADERS = [
  'Host',
  'Svc-Version',
  'Content-Type',
  'Authorization',
  'Content-Length',
  'Idempotency-Key',
] as const;
export type SingleHeader = (typeof SINGLE_HEADERS)[number];

const SINGLE_BY_NAME = new Map<string, SingleHeader>(
  SINGLE_HEADERS.map((name) => [name.toLowerCase(), name]),
);

/** Reads the raw headers, because Node makes `headersDistinct` of all headers of each request. */
export function repeatedHeaders({ rawHeaders }: IncomingMessage): ReadonlySet<SingleHeader> {
  const seen = new Set<SingleHeader>();
  const repeated = new Set<SingleHeader>();
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = SINGLE_BY_NAME.get(rawHeaders[index]?.toLowerCase() ?? '');
    if (name !== undefined) (seen.has(name) ? repeated : seen).add(name);
  }
  return repeated;
}

export function headerText(request: IncomingMessage, lowerName: string): string | undefined {
  const value = request.headers[lowerName];
  return typeof value === 'string' ? value : undefined;
}

/** Null if the token is not valid from this address. Synchronous if cached. */
export type Authenticate = (
  token: string,
  address: string,
) => TokenHolder | null | Promise<TokenHolder | null>;

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

const KEY_HEADER: SingleHeader = 'Idempotency-Key';

const MISSING_KEY: Refusal = {
  code: 'missing_idempotency_key',
  message: 'this operation needs an Idempotency-Key header: a new UUID for a new operation',
};

/** Accepts quotation marks. Throws `missing_idempotency_key`, `invalid_field`. */
export function readIdempotencyKey(
  request: IncomingMessage,
  repeated: ReadonlySet<SingleHeader>,
): Uuid {
  if (repeated.has(KEY_HEADER)) throw new ApiError(invalidField(KEY_HEADER, 'repeated'));
  const text = headerText(request, 'idempotency-key');
  if (text === undefined) throw new ApiError(MISSING_KEY);
  const key = parseUuid(text.replace(/^"(.*)"$/, '$1'));
  if (key === null) throw new ApiError(invalidField(KEY_HEADER, 'not_a_uuid'));
  return key;
}

const UNKNOWN_ADDRESS = '';

/** Determines the address of a request's client behind the trusted proxies. */
export class ClientAddresses {
  private readonly trusted: readonly AddressRange[];

  /** `ranges` are addresses or CIDR ranges. Throws RangeError for anything else. */
  constructor(ranges: readonly string[]) {
    this.trusted = ranges.flatMap((text) => {
      const range = normaliseRange(text);
      if (range === null) throw new RangeError(`${text} is neither an address nor a range`);
      return parseRanges(range);
    });
  }

  /**
   * Returns the nearest address that is not a trusted proxy, or UNKNOWN_ADDRESS if an entry of
   * X-Forwarded-For is malformed: the proxy's own address could admit tokens bound to its range.
   */
  of(request: IncomingMessage): string {
    const peer = request.socket.remoteAddress ?? '';
    if (this.trusted.length === 0) return peer.startsWith('::ffff:') ? peer.slice(7) : peer;
    let client = readAddress(peer);
    if (client === null) return peer;
    const forwarded = request.headers['x-forwarded-for'];
    const hops = forwarded === undefined ? [] : String(forwarded).split(',');
    while (hops.length > 0 && isInRanges(this.trusted, client)) {
      const next = readAddress((hops.pop() ?? '').trim());
      if (next === null) return UNKNOWN_ADDRESS;
      client = next;
    }
    return client.toString();
  }
}

/** IPv4 in IPv6 counts as IPv4. */
function readAddress(text: string): Address | null {
  // Refuses short forms such as 127.1, because programs disagree about their meaning.
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text)
    ? ipaddr.process(text)
    : null;
}
