import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = readonly [Address, number];

/** Returns the range in canonical form (`10.0.0.0/8`; also a single address), or null. */
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

/** Returns what counts as one client: the /64 of an IPv6 address, or an IPv4 address. */
export function clientNetworkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${new ipaddr.IPv6([...parsed.parts.slice(0, 4), 0, 0, 0, 0]).toString()}/64`;
}

export function parseRanges(stored: string): readonly AddressRange[] {
  return stored === '' ? [] : stored.split(',').map((range) => ipaddr.parseCIDR(range));
}

/** True if the list is empty or a range contains the address. */
export function admitsAddress(ranges: readonly AddressRange[], address: string): boolean {
  if (ranges.length === 0) return true;
  if (!ipaddr.isValid(address)) return false;
  return isInRanges(ranges, ipaddr.process(address));
}

export function isInRanges(ranges: readonly AddressRange[], address: Address): boolean {
  return ranges.some(
    ([network, bits]) => network.kind() === address.kind() && address.match(network, bits),
  );
}
