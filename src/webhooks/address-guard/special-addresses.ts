import ipaddr from 'ipaddr.js';

/** Which addresses are machines on the public internet, and nothing else. The library has IANA's special ranges. */

/** A cloud's own services, as every machine in it sees them. */
const CLOUD_SERVICES = '168.63.129.16';
/**
 * The only part of IPv6 assigned to machines. Outside it are loopback, link-local, unique local, site-local, multicast,
 * discard, segment routing, and the forms that carry an IPv4 address: mapped, translated, compatible, NAT64.
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
