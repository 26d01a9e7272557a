import ipaddr from 'ipaddr.js';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { withTimeout } from '../core/pause.js';
import { type AllowedHost, isAllowedHost } from './allowed-hosts.js';

/**
 * Why a URL gets no deliveries; also the `reason` of 400 `invalid_field` when an endpoint is
 * registered.
 */
export type UrlRefusal =
  'malformed' | 'too_long' | 'https_only' | 'credentials' | 'fragment' | 'forbidden_address';
export type AddressRefusal = 'forbidden_address' | 'unresolvable';

export type ParsedUrl =
  { readonly ok: true; readonly url: URL } | { readonly ok: false; readonly reason: UrlRefusal };

export interface PinnedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

type Resolved =
  | { readonly ok: true; readonly addresses: readonly [PinnedAddress, ...PinnedAddress[]] }
  | { readonly ok: false; readonly reason: AddressRefusal };

export type CheckedUrl =
  | { readonly ok: true; readonly url: string }
  | { readonly ok: false; readonly reason: UrlRefusal | AddressRefusal };

export interface AddressGuardOptions {
  readonly allowedHosts: readonly AllowedHost[];
  /**
   * Through a proxy, which alone resolves names and refuses their addresses. Forbidden ones as
   * written still are.
   */
  readonly namesAreLeftToProxy: boolean;
  /** Replaces the name servers, for names that are not on the operators' list. */
  readonly resolve?: Resolve;
}

export const MAX_URL_LENGTH = 2_048;
/**
 * Shorter than a request's time for the ledger: a silent name server is reported as `unresolvable`.
 */
const RESOLVE_TIMEOUT_MS = 2_500;
/** Names that mean the local machine or network wherever they are resolved. */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home\.arpa)$/;

/**
 * Restricts deliveries to addresses on the public internet. (docs/contract.md, Webhook addresses)
 */
export class AddressGuard {
  private readonly publicNames: Resolve;

  constructor(private readonly options: AddressGuardOptions) {
    this.publicNames = options.resolve ?? publicResolver();
  }

  /** Everything that can be checked about a URL without DNS. */
  parseUrl(text: string): ParsedUrl {
    if (text.length > MAX_URL_LENGTH) return { ok: false, reason: 'too_long' };
    // The URL parser silently repairs all of these, so the text would differ from the address.
    if (!/^https?:\/\/[^/]/i.test(text) || /[\s\\\p{Cc}]/u.test(text))
      return { ok: false, reason: 'malformed' };
    if (!URL.canParse(text)) return { ok: false, reason: 'malformed' };
    const url = new URL(text);
    const reason = this.refusalOf(url, text);
    return reason === null ? { ok: true, url } : { ok: false, reason };
  }

  private refusalOf(url: URL, text: string): UrlRefusal | null {
    if (url.href.length > MAX_URL_LENGTH) return 'too_long';
    if (url.username !== '' || url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text))
      return 'credentials';
    if (text.includes('#')) return 'fragment';
    if (isAllowedHost(this.options.allowedHosts, url)) return null;
    const host = hostOf(url);
    if (url.protocol !== 'https:') return 'https_only';
    if (isIP(host) !== 0) return isPublicAddress(host) ? null : 'forbidden_address';
    const name = host.replace(/\.+$/, '');
    if (LOCAL_NAME.test(name) || !name.includes('.')) return 'forbidden_address';
    return isHostName(host) ? null : 'malformed';
  }

  /**
   * The current addresses of a checked URL's host, all of them allowed, or a refusal. Never throws.
   */
  async resolve(url: URL): Promise<Resolved> {
    const isAllowed = isAllowedHost(this.options.allowedHosts, url);
    const host = hostOf(url);
    const found =
      isIP(host) !== 0
        ? [host]
        : await addressesOf(isAllowed ? machineResolver : this.publicNames, host);
    const [first, ...rest] = found.map(pinned);
    if (first === undefined) return { ok: false, reason: 'unresolvable' };
    // Refuses if any address is forbidden, because the next connection might use it.
    if (!isAllowed && !found.every(isPublicAddress))
      return { ok: false, reason: 'forbidden_address' };
    return { ok: true, addresses: [first, ...rest] };
  }

  /**
   * For registering an endpoint: the normalised URL, or why it gets no deliveries. Never throws.
   */
  async checkUrl(text: string): Promise<CheckedUrl> {
    const parsed = this.parseUrl(text);
    if (!parsed.ok) return parsed;
    if (!this.options.namesAreLeftToProxy) {
      const resolved = await this.resolve(parsed.url);
      if (!resolved.ok) return resolved;
    }
    return { ok: true, url: parsed.url.href };
  }
}

/** The host as a name or a bare address. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Labels of letters, digits, `-` and `_`, without a final dot, which no certificate contains. */
function isHostName(host: string): boolean {
  return (
    host.length <= 253 &&
    host.split('.').every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
  );
}

function addressesOf(resolve: Resolve, name: string): Promise<readonly string[]> {
  return withTimeout(RESOLVE_TIMEOUT_MS, () => resolve(name), []).catch(() => []);
}

function pinned(address: string): PinnedAddress {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}

/** Every address of a name. Rejects, or returns none, if it has none. */
export type Resolve = (name: string) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 2_000;
const TRIES = 2;

/**
 * By name servers: getaddrinfo occupies one of few threads, and knows hosts files and search
 * domains.
 */
export function publicResolver(): Resolve {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES });
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** Resolves like every program on this machine: for the operators' own names. */
export const machineResolver: Resolve = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

/**
 * Which addresses are machines on the public internet, and nothing else. The library has IANA's
 * special ranges.
 */

/** A cloud's own services, as every machine in it sees them. */
const CLOUD_SERVICES = '168.63.129.16';
/**
 * The only part of IPv6 assigned to machines. Outside it are loopback, link-local, unique local,
 * site-local, multicast, discard, segment routing, and the forms that carry an IPv4 address:
 * mapped, translated, compatible, NAT64.
 */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
const FORMER_TEST_NETWORK = ipaddr.IPv6.parseCIDR('3ffe::/16');

/** True for the canonical text of an address on the public internet; false for every other text. */
export function isPublicAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text))
    return ipaddr.IPv4.parse(text).range() === 'unicast' && text !== CLOUD_SERVICES;
  // With a zone it is local to one link.
  if (text.includes('%') || !ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.IPv6.parse(text);
  const isGlobal = address.match(GLOBAL_IPV6) && !address.match(FORMER_TEST_NETWORK);
  return isGlobal && address.range() === 'unicast' && !isIsatap(address);
}

/** ISATAP puts an IPv4 address after 0000:5efe or 0200:5efe, under any prefix. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200);
}
