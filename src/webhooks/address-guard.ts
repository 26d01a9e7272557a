import ipaddr from 'ipaddr.js';
import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { withTimeout } from '../core/timers.js';

/** Reason of the 400 `invalid_field` for an endpoint's URL. */
export type UrlRefusal =
  'malformed' | 'too_long' | 'https_only' | 'credentials' | 'fragment' | 'forbidden_address';
export type AddressRefusal = 'forbidden_address' | 'unresolvable';

type ParsedUrl =
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
  /** True if a proxy resolves names and refuses private addresses. */
  readonly namesAreLeftToProxy: boolean;
  /** Replaces the name servers. They are not asked about `allowedHosts`, which the machine resolves. */
  readonly resolve?: Resolve;
}

export const MAX_URL_LENGTH = 2_048;
/** Shorter than a request's time limit, so that a silent name server means `unresolvable`. */
const RESOLVE_TIMEOUT_MS = 2_500;
/** Names of the local machine or network. */
const LOCAL_NAME = /(^|\.)(localhost|localdomain|local|internal|intranet|lan|home\.arpa)$/;

/**
 * Restricts deliveries to addresses on the public internet. (docs/contract.md, Webhook addresses)
 */
export class AddressGuard {
  private readonly resolvePublicName: Resolve;

  constructor(private readonly options: AddressGuardOptions) {
    this.resolvePublicName = options.resolve ?? publicResolver();
  }

  /** Parses a URL and checks everything about it that does not need DNS. */
  parseUrl(text: string): ParsedUrl {
    if (text.length > MAX_URL_LENGTH) return { ok: false, reason: 'too_long' };
    // The URL parser would silently repair these, so the stored text would differ from the address.
    if (!/^https?:\/\/[^/]/i.test(text) || /[\s\\\p{Cc}]/u.test(text))
      return { ok: false, reason: 'malformed' };
    if (!URL.canParse(text)) return { ok: false, reason: 'malformed' };
    const url = new URL(text);
    const reason = this.refusalOf(url, text);
    return reason === null ? { ok: true, url } : { ok: false, reason };
  }

  private refusalOf(url: URL, text: string): UrlRefusal | null {
    if (url.href.length > MAX_URL_LENGTH) return 'too_long';
    // Also refuses empty credentials (`https://@host`), of which the parsed URL shows nothing.
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

  /** Returns the host's current addresses, or a refusal. Never throws. */
  async resolve(url: URL): Promise<Resolved> {
    const isAllowed = isAllowedHost(this.options.allowedHosts, url);
    const host = hostOf(url);
    const resolver = isAllowed ? resolveOnMachine : this.resolvePublicName;
    const found: readonly string[] =
      isIP(host) !== 0
        ? [host]
        : await withTimeout(RESOLVE_TIMEOUT_MS, () => resolver(host), []).catch(() => []);
    const [first, ...rest] = found.map((address): PinnedAddress => ({
      address,
      family: isIP(address) === 6 ? 6 : 4,
    }));
    if (first === undefined) return { ok: false, reason: 'unresolvable' };
    // A single forbidden address refuses the host, because the connection might use it.
    if (!isAllowed && !found.every(isPublicAddress))
      return { ok: false, reason: 'forbidden_address' };
    return { ok: true, addresses: [first, ...rest] };
  }

  /** Returns the normalised URL, or why nothing may be sent to it. Never throws. */
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

export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Refuses a final dot, because certificates contain none. */
function isHostName(host: string): boolean {
  return (
    host.length <= 253 &&
    host.split('.').every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
  );
}

/** Returns the addresses of a name. Rejects, or returns none, if it has none. */
type Resolve = (name: string) => Promise<readonly string[]>;

const QUERY_TIMEOUT_MS = 2_000;
const TRIES = 2;

/** Asks name servers, because getaddrinfo blocks threads and reads the hosts file. */
function publicResolver(): Resolve {
  const resolver = new Resolver({ timeout: QUERY_TIMEOUT_MS, tries: TRIES });
  return async (name) => {
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}

/** Resolves allowed hosts as other programs on this machine do. */
const resolveOnMachine: Resolve = async (name) => {
  const found = await lookup(name, { all: true, verbatim: true });
  return found.map(({ address }) => address);
};

/** Address of Azure's services to its own virtual machines, in a public range. */
const CLOUD_SERVICES = '168.63.129.16';
/** The only range of IPv6 that is assigned to hosts on the public internet. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');
const FORMER_TEST_NETWORK = ipaddr.IPv6.parseCIDR('3ffe::/16');

/** True only for the canonical text of an address on the public internet. */
export function isPublicAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text))
    return ipaddr.IPv4.parse(text).range() === 'unicast' && text !== CLOUD_SERVICES;
  // An address with a zone (`%eth0`) is local to one link.
  if (text.includes('%') || !ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.IPv6.parse(text);
  const isGlobal = address.match(GLOBAL_IPV6) && !address.match(FORMER_TEST_NETWORK);
  return isGlobal && address.range() === 'unicast' && !isIsatap(address);
}

/** ISATAP puts an IPv4 address after 0000:5efe or 0200:5efe, under any prefix. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200);
}

/** A receiver that needs neither TLS nor a public address, for example `http://127.0.0.1:*`. */
export interface AllowedHost {
  /** `http:` or `https:`. */
  readonly protocol: string;
  readonly hostname: string;
  /** Null for any port; empty for the scheme's default port. */
  readonly port: string | null;
}

const ALLOWED_HOST = /^(https?:\/\/(?:\[[0-9a-f:.]+\]|[^/?#@\\\s:*[\]]+))(?::(\*|\d{1,5}))?$/i;

/** Parses a scheme, a host and an optional port or `*`. Returns null for any other text. */
export function parseAllowedHost(text: string): AllowedHost | null {
  const [, origin = '', port] = ALLOWED_HOST.exec(text) ?? [];
  const isAnyPort = port === '*';
  const address = port === undefined || isAnyPort ? origin : `${origin}:${port}`;
  if (!URL.canParse(address)) return null;
  const { protocol, hostname, port: parsedPort } = new URL(address);
  return { protocol, hostname, port: isAnyPort ? null : parsedPort };
}

export function isAllowedHost(
  allowed: readonly AllowedHost[],
  { protocol, hostname, port }: URL,
): boolean {
  return allowed.some(
    (one) =>
      one.protocol === protocol &&
      one.hostname === hostname &&
      (one.port === null || one.port === port),
  );
}
