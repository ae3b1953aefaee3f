import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * Which proxies' `X-Forwarded-For` is believed.
 *
 * @param proxies addresses, or subnets as `10.0.0.0/8`
 * @throws {Error} naming what is neither
 */
export function trustedProxies(proxies: readonly string[]): BlockList {
  const list = new BlockList();
  for (const proxy of proxies) {
    const [address = '', prefix] = proxy.trim().split('/');
    const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : null;
    const bits = prefix === undefined ? null : Number(prefix);
    const inRange = bits === null || (Number.isInteger(bits) && bits >= 0 && bits <= (family === 'ipv4' ? 32 : 128));
    if (family === null || !inRange) throw new Error(`${JSON.stringify(proxy)} is not an IP address or a subnet`);
    if (bits === null) list.addAddress(address, family);
    else list.addSubnet(address, bits, family);
  }
  return list;
}

/**
 * The client's address. `X-Forwarded-For` is read from its end, where the nearest proxy wrote, for as long as the
 * address that spoke is a trusted proxy: what a client put into it itself is never reached.
 *
 * @param peer remote address of the connection
 */
export function clientAddress(peer: string, forwardedFor: string | undefined, trusted: BlockList): string {
  let address = plain(peer);
  const claimed = forwardedFor?.split(',') ?? [];
  while (isTrustedProxy(address, trusted)) {
    const next = claimed.pop();
    if (next === undefined) break;
    const text = plain(next.trim());
    if (isIP(text) === 0) break;
    address = text;
  }
  return address;
}

/** What a client is counted by: an IPv4 address, or the /64 that an IPv6 customer is given. */
export function countedAs(peer: string): string {
  const address = plain(peer);
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%', 1).join('').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  // A dotted end stands for two groups, both beyond the first four.
  const width = left.length + right.length + (address.includes('.') ? 1 : 0);
  const groups = tail === undefined ? left : [...left, ...Array<string>(8 - width).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** Is it an address whose `X-Forwarded-*` is believed? */
export function isTrustedProxy(peer: string, trusted: BlockList): boolean {
  const address = plain(peer);
  return isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** IPv4 in the clothes of IPv6 (RFC 4291, 2.5.5.2), in whichever spelling, is IPv4. */
function plain(address: string): string {
  if (!isIPv6(address)) return address;
  const low = /^(?:::|(?:0{1,4}:){5})ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i.exec(address);
  if (!low) return address;
  const [, dotted, high = '', last = ''] = low;
  if (dotted !== undefined) return dotted;
  const bits = Number.parseInt(high, 16) * 0x1_0000 + Number.parseInt(last, 16);
  return [24, 16, 8, 0].map((shift) => (bits >>> shift) & 0xff).join('.');
}

/**
 * What connections are counted by: as {@link countedAs} has it. Null for this machine itself: what connects from there
 * is a proxy, behind which are many clients, or the operator's own tools; only totals bound them.
 */
export function sourceOf(peer: string | undefined): string | null {
  if (peer === undefined) return 'unknown';
  const address = plain(peer);
  return address === '127.0.0.1' || address === '::1' ? null : countedAs(address);
}
