import ipaddr from 'ipaddr.js';

/** Which addresses are machines on the public internet, and nothing else. */

/** All of IPv4 is public except these: IANA's registry of special addresses, multicast, and the rest of class E. */
const SPECIAL_IPV4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT, and a cloud's metadata service (100.100.100.200)
  '127.0.0.0/8', // loopback
  '168.63.129.16/32', // a cloud's own services, as every machine in it sees them
  '169.254.0.0/16', // link-local, and most clouds' metadata service
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments, and a cloud's metadata service (192.0.0.192)
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // automatic multicast tunnelling
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and the broadcast address
];

/**
 * The only part of IPv6 assigned to machines. Outside it are loopback, link-local, unique local, site-local, multicast,
 * discard, segment routing, and the forms that carry an IPv4 address: mapped, translated, compatible, NAT64.
 */
const GLOBAL_IPV6 = '2000::/3';

const SPECIAL_IPV6 = [
  '2001::/23', // protocol assignments: Teredo (contains IPv4), benchmarks, ORCHID, AS112
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which contains IPv4
  '2620:4f:8000::/48', // AS112
  '3ffe::/16', // the former test network
  '3fff::/20', // documentation
];

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number];

const special = (ranges: readonly string[]): Range[] => ranges.map((range) => ipaddr.parseCIDR(range));
const specialIpv4 = special(SPECIAL_IPV4);
const specialIpv6 = special(SPECIAL_IPV6);
const globalIpv6 = ipaddr.IPv6.parseCIDR(GLOBAL_IPV6);

/** True for the canonical text of an address on the public internet; false for every other text. */
export function isPublicAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    const address = ipaddr.IPv4.parse(text);
    return !specialIpv4.some((range) => address.match(range));
  }
  // With a zone it is local to one link.
  if (text.includes('%') || !ipaddr.IPv6.isValid(text)) return false;
  const address = ipaddr.IPv6.parse(text);
  return address.match(globalIpv6) && !specialIpv6.some((range) => address.match(range)) && !isIsatap(address);
}

/** ISATAP puts an IPv4 address after 0000:5efe or 0200:5efe, under any prefix. */
function isIsatap({ parts }: ipaddr.IPv6): boolean {
  return parts[5] === 0x5efe && (parts[4] === 0 || parts[4] === 0x200);
}
