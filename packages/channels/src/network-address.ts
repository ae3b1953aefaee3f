import { BlockList, isIPv4, isIPv6 } from 'node:net';

/**
 * Ranges that are not the public internet, from the IANA special-purpose address registries (RFC 6890 and its
 * successors). The first range that contains the address names it.
 */
const RANGES: readonly (readonly [network: string, prefix: number, what: string])[] = [
  ['0.0.0.0', 8, 'an unspecified address'],
  ['10.0.0.0', 8, 'a private address'],
  ['100.64.0.0', 10, 'an address inside a carrier network'],
  ['127.0.0.0', 8, 'a loopback address'],
  ['169.254.0.0', 16, 'a link-local address'],
  ['172.16.0.0', 12, 'a private address'],
  ['192.0.0.0', 24, 'a reserved address'],
  ['192.0.2.0', 24, 'an address for documentation'],
  ['192.31.196.0', 24, 'a reserved address'],
  ['192.52.193.0', 24, 'a reserved address'],
  ['192.88.99.0', 24, 'a reserved address'],
  ['192.168.0.0', 16, 'a private address'],
  ['192.175.48.0', 24, 'a reserved address'],
  ['198.18.0.0', 15, 'an address for benchmarks'],
  ['198.51.100.0', 24, 'an address for documentation'],
  ['203.0.113.0', 24, 'an address for documentation'],
  ['224.0.0.0', 4, 'a multicast address'],
  ['240.0.0.0', 4, 'a reserved address'],
  // The only metadata service of a cloud (Azure) with a public address; those of the others are link-local, in
  // carrier-grade NAT space, in 192.0.0.0/24 or unique local.
  ['168.63.129.16', 32, 'an address of a cloud provider’s own services'],
  ['::', 128, 'an unspecified address'],
  ['::1', 128, 'a loopback address'],
  // An IPv4 address embedded in IPv6 (mapped, compatible, translated, Teredo, 6to4) would bypass the IPv4 ranges.
  ['::ffff:0:0', 96, 'an IPv4 address embedded in IPv6'],
  ['::ffff:0:0:0', 96, 'an IPv4 address embedded in IPv6'],
  ['::', 96, 'an IPv4 address embedded in IPv6'],
  ['2001::', 32, 'an IPv4 address embedded in IPv6'],
  ['2002::', 16, 'an IPv4 address embedded in IPv6'],
  ['2001::', 23, 'a reserved address'],
  ['2001:db8::', 32, 'an address for documentation'],
  ['3fff::', 20, 'an address for documentation'],
  ['2620:4f:8000::', 48, 'a reserved address'],
  ['fc00::', 7, 'a private address'],
  ['fe80::', 10, 'a link-local address'],
  ['fec0::', 10, 'a private address'],
  ['ff00::', 8, 'a multicast address'],
];

const REFUSED = RANGES.map(([network, prefix, what]) => {
  const family = isIPv4(network) ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, prefix, family);
  return { family, list, what } as const;
});

/** The range of IPv6 that is allocated to the public internet (RFC 4291, 2.4). Addresses outside of it are private. */
const GLOBAL_UNICAST = new BlockList();
GLOBAL_UNICAST.addSubnet('2000::', 3, 'ipv6');

/** Where a network without IPv4 finds it: the last 32 bits are an IPv4 address (RFC 6052). */
const NAT64 = new BlockList();
NAT64.addSubnet('64:ff9b::', 96, 'ipv6');

/**
 * Why a request on behalf of a stranger may not use this address, in words that follow "is"; null if the address is on
 * the public internet.
 *
 * @param address IPv4 in dotted form or IPv6, without brackets
 */
export function refusedAddress(address: string): string | null {
  if (isIPv4(address)) return rangeOf(address, 'ipv4');
  if (!isIPv6(address)) return 'not an IP address';
  // A zone (`%eth0`) names an interface of this machine.
  if (address.includes('%')) return 'a link-local address';
  if (NAT64.check(address, 'ipv6')) return rangeOf(lastFourBytes(address), 'ipv4');
  return rangeOf(address, 'ipv6') ?? (GLOBAL_UNICAST.check(address, 'ipv6') ? null : 'a reserved address');
}

function rangeOf(address: string, family: 'ipv4' | 'ipv6'): string | null {
  const range = REFUSED.find((refused) => refused.family === family && refused.list.check(address, family));
  return range?.what ?? null;
}

/** The last 32 bits of an IPv6 address, as IPv4. */
function lastFourBytes(address: string): string {
  // The URL parser writes every form of an IPv6 address in groups of hexadecimal digits.
  const text = new URL(`http://[${address}]`).hostname.slice(1, -1);
  const [head = '', tail = ''] = text.split('::');
  const before = head.split(':').filter(Boolean);
  const after = tail.split(':').filter(Boolean);
  const groups = [...before, ...Array<string>(8 - before.length - after.length).fill('0'), ...after];
  const [high = 0, low = 0] = groups.slice(6).map((group) => Number.parseInt(group, 16));
  return [high >> 8, high & 255, low >> 8, low & 255].join('.');
}
