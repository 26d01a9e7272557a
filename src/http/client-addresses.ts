import type { IncomingMessage } from 'node:http';
import ipaddr from 'ipaddr.js';
import {
  type Address,
  type AddressRange,
  isInRanges,
  normaliseRange,
  parseRanges,
} from '../core/address-ranges.js';

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
