import { BlockList, isIPv6 } from 'node:net';
import { type AccessRefusal, isSecret, type ProtocolName, type TerminalAccess } from '@outrider/domain';

/** Facts that a connection or a request presents besides the terminal's id. */
export interface Shown {
  protocol: ProtocolName;
  /** Address of the peer. */
  address: string;
  /** SHA-256 of the peer's TLS certificate, in lower-case hexadecimal. */
  certificateSha256: string | null;
  /** Password or token, sent in clear text. */
  secret: string | null;
  /** Whether the terminal presented the code that it was given (JT/T 808), which was verified then. */
  showedCode: boolean;
}

/** @returns null if access is granted */
export function accessRefusal(access: TerminalAccess, shown: Shown): AccessRefusal | null {
  const { protocol, networks, certificateSha256, secretHash } = access;
  if (protocol !== 'any' && protocol !== 'learn' && protocol !== shown.protocol) return 'wrong-protocol';
  if (networks.length > 0 && !isWithin(access, shown.address)) return 'wrong-network';
  if (certificateSha256 !== null && certificateSha256 !== shown.certificateSha256) return 'wrong-certificate';
  if (secretHash !== null && !showsSecret(secretHash, shown)) return 'wrong-secret';
  return null;
}

/** Whether the peer authenticated itself, beyond knowing the id. */
export function isProven({ secretHash, certificateSha256 }: TerminalAccess, { showedCode }: Shown): boolean {
  return secretHash !== null || certificateSha256 !== null || showedCode;
}

function showsSecret(secretHash: string, { protocol, secret, showedCode }: Shown): boolean {
  if (protocol === 'jt808') return showedCode;
  return secret !== null && isSecret(secretHash, secret);
}

const lists = new WeakMap<TerminalAccess, BlockList>();

function isWithin(access: TerminalAccess, peer: string): boolean {
  let list = lists.get(access);
  if (list === undefined) {
    list = new BlockList();
    for (const network of access.networks) {
      const [address = '', length = ''] = network.split('/');
      list.addSubnet(address, Number(length), isIPv6(address) ? 'ipv6' : 'ipv4');
    }
    lists.set(access, list);
  }
  const address = peer.startsWith('::ffff:') ? peer.slice('::ffff:'.length) : peer;
  return list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Describes a refusal by the vehicle's requirements, without anything that the peer presented. */
export function refusalDetail({ protocol }: TerminalAccess, refusal: AccessRefusal): string {
  switch (refusal) {
    case 'wrong-protocol':
      return protocol === 'learn' ? 'the vehicle has data by another protocol' : `the vehicle is bound to ${protocol}`;
    case 'wrong-network':
      return 'the address is not in the networks of the vehicle';
    case 'wrong-certificate':
      return 'the certificate is not that of the vehicle, or missing';
    case 'wrong-secret':
      return 'the secret is not that of the vehicle, or missing';
  }
}
