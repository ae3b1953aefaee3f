import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

/**
 * Parses the proxies whose `X-Forwarded-For` is trusted.
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
 * The client's address. `X-Forwarded-For` is read from its end, where the nearest proxy appended, as long as the
 * sending address is a trusted proxy. So entries that the client wrote itself are never used.
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

/** Key by which a client is counted: an IPv4 address, or the /64 network assigned to an IPv6 customer. */
export function countedAs(peer: string): string {
  const address = plain(peer);
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.split('%', 1).join('').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  // A dotted IPv4 end stands for two groups, both after the first four.
  const width = left.length + right.length + (address.includes('.') ? 1 : 0);
  const groups = tail === undefined ? left : [...left, ...Array<string>(8 - width).fill('0'), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}

/** Whether the `X-Forwarded-*` headers of this address are trusted. */
export function isTrustedProxy(peer: string, trusted: BlockList): boolean {
  const address = plain(peer);
  return isIP(address) !== 0 && trusted.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Converts an IPv4-mapped IPv6 address (RFC 4291, 2.5.5.2), in any spelling, to IPv4. */
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
 * Key by which connections are counted, as {@link countedAs}. Null for this machine itself: such connections come from
 * a proxy with many clients, or from the operator's own tools. Only totals limit them.
 */
export function sourceOf(peer: string | undefined): string | null {
  if (peer === undefined) return 'unknown';
  const address = plain(peer);
  return address === '127.0.0.1' || address === '::1' ? null : countedAs(address);
}
