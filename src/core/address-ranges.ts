import ipaddr from 'ipaddr.js';

/**
 * Address ranges as comma-separated text: where a token may be used, and which proxies are trusted.
 */

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = readonly [Address, number];

/**
 * Returns the range in canonical form (`10.0.0.0/8`; a single address is a range too), or null if
 * it is invalid.
 */
export function normaliseRange(text: string): string | null {
  const [address = '', bits, ...rest] = text.split('/');
  const isV4 = ipaddr.IPv4.isValidFourPartDecimal(address);
  if (rest.length > 0 || (!isV4 && !ipaddr.IPv6.isValid(address)) || address.includes('%'))
    return null;
  const cidr = `${address}/${bits ?? (isV4 ? 32 : 128)}`;
  if (!/\/\d{1,3}$/.test(cidr) || !ipaddr.isValidCIDR(cidr)) return null;
  const [parsed, length] = ipaddr.parseCIDR(cidr);
  // Callers' IPv4 addresses are compared as IPv4, so a mapped range would never match.
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress()) return null;
  const network = isV4
    ? ipaddr.IPv4.networkAddressFromCIDR(cidr)
    : ipaddr.IPv6.networkAddressFromCIDR(cidr);
  return `${network.toString()}/${length}`;
}

/**
 * Returns the network that counts as one client: the /64 of an IPv6 address, or an IPv4 address
 * alone, also when it is written as IPv6.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}

/** Parses text returned by `normaliseRange`. */
export function parseRanges(stored: string): readonly AddressRange[] {
  return stored === '' ? [] : stored.split(',').map((range) => ipaddr.parseCIDR(range));
}

/**
 * Returns true if the list is empty or a range contains the address. An IPv4 address written as
 * IPv6 counts as IPv4.
 */
export function admitsAddress(ranges: readonly AddressRange[], address: string): boolean {
  if (ranges.length === 0) return true;
  if (!ipaddr.isValid(address)) return false;
  return liesIn(ranges, ipaddr.process(address));
}

export function liesIn(ranges: readonly AddressRange[], address: Address): boolean {
  return ranges.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}
