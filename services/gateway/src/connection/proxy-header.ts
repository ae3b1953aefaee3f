import { isIP, SocketAddress } from 'node:net';

/** The client of a proxy; null if the connection is the proxy's own, such as a health check. */
export interface ProxiedPeer {
  address: string;
  port: number;
}

/** Content and length of a PROXY protocol header. */
export interface ProxyHeader {
  peer: ProxiedPeer | null;
  length: number;
}

const SIGNATURE = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');
const FIXED_LENGTH = 16;
/** IPv6 addresses take 36 bytes; a proxy's additional fields about TLS and the connection take a few hundred. */
const MAX_LENGTH = FIXED_LENGTH + 2048;
/** Longest line of version 1, by the specification. */
const MAX_LINE_LENGTH = 107;
const LOCAL = 0x20;
const PROXY = 0x21;
const TCP_OVER_IPV4 = 0x11;
const TCP_OVER_IPV6 = 0x21;

/**
 * Reads the header of the PROXY protocol, version 1 (a line of text) or 2 (binary), at the beginning of a connection.
 *
 * @param bytes of the connection, from its first byte
 * @returns null if more bytes are needed: at most 2064
 * @throws {Error} when the bytes are not such a header
 */
export function readProxyHeader(bytes: Buffer): ProxyHeader | null {
  if (bytes.length === 0) return null;
  return bytes[0] === SIGNATURE[0] ? readBinary(bytes) : readLine(bytes);
}

function readBinary(bytes: Buffer): ProxyHeader | null {
  const begun = Math.min(bytes.length, SIGNATURE.length);
  if (!bytes.subarray(0, begun).equals(SIGNATURE.subarray(0, begun))) throw new Error('not a PROXY protocol header');
  if (bytes.length < FIXED_LENGTH) return null;
  const command = bytes[12];
  if (command !== LOCAL && command !== PROXY) throw new Error('a PROXY protocol header of an unknown version');
  const length = FIXED_LENGTH + bytes.readUInt16BE(14);
  if (length > MAX_LENGTH) throw new Error(`a PROXY protocol header of ${length} bytes`);
  if (bytes.length < length) return null;
  const family = bytes[13];
  const isIpv6 = family === TCP_OVER_IPV6;
  // By the protocol, an unknown kind of address is no error: the proxy's own address is used.
  if (command === LOCAL || (!isIpv6 && family !== TCP_OVER_IPV4)) return { peer: null, length };
  const size = isIpv6 ? 16 : 4;
  // The header must contain two addresses and two ports.
  if (length < FIXED_LENGTH + 2 * size + 4) throw new Error('a PROXY protocol header without its addresses');
  const address = bytes.subarray(FIXED_LENGTH, FIXED_LENGTH + size);
  const text = isIpv6 ? (address.toString('hex').match(/.{4}/g) ?? []).join(':') : address.join('.');
  return { peer: peerOf(text, bytes.readUInt16BE(FIXED_LENGTH + 2 * size)), length };
}

function readLine(bytes: Buffer): ProxyHeader | null {
  const text = bytes.toString('latin1', 0, MAX_LINE_LENGTH);
  const begin = 'PROXY ';
  if (!begin.startsWith(text.slice(0, begin.length))) throw new Error('not a PROXY protocol header');
  const end = text.indexOf('\r\n');
  if (end < 0) {
    if (bytes.length >= MAX_LINE_LENGTH) throw new Error('a PROXY protocol header without an end');
    return null;
  }
  const length = end + 2;
  const [, family, source = '', , port = '', ...rest] = text.slice(0, end).split(' ');
  if (family === 'UNKNOWN') return { peer: null, length };
  const version = family === 'TCP4' ? 4 : family === 'TCP6' ? 6 : null;
  // The last field is the port on the proxy's side.
  if (
    version === null ||
    isIP(source) !== version ||
    !/^\d{1,5}$/.test(port) ||
    Number(port) > 65_535 ||
    rest.length !== 1
  )
    throw new Error('a PROXY protocol header without its addresses');
  return { peer: peerOf(source, Number(port)), length };
}

/** @param address in any spelling */
function peerOf(address: string, port: number): ProxiedPeer {
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return { address: new SocketAddress({ address, family }).address, port };
}
