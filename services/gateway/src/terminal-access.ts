import { BlockList, isIPv6 } from 'node:net';
import { type AccessRefusal, isSecret, type ProtocolName, type TerminalAccess } from '@outrider/domain';

/** What a connection, or a request, shows beside the id of a terminal. */
export interface Shown {
  protocol: ProtocolName;
  /** Of the peer. */
  address: string;
  /** SHA-256 of the certificate that the peer showed by TLS, hexadecimal in lower case. */
  certificateSha256: string | null;
  /** The password or token that was sent in clear. */
  secret: string | null;
  /** It showed the code that it was given (JT/T 808), which was checked then. */
  showedCode: boolean;
}

/** @returns null where it is the terminal */
export function accessRefusal(access: TerminalAccess, shown: Shown): AccessRefusal | null {
  const { protocol, networks, certificateSha256, secretHash } = access;
  if (protocol !== 'any' && protocol !== 'learn' && protocol !== shown.protocol) return 'wrong-protocol';
  if (networks.length > 0 && !isWithin(access, shown.address)) return 'wrong-network';
  if (certificateSha256 !== null && certificateSha256 !== shown.certificateSha256) return 'wrong-certificate';
  if (secretHash !== null && !showsSecret(secretHash, shown)) return 'wrong-secret';
  return null;
}

/** Did the peer authenticate itself, beyond knowing the id? */
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

/** A refusal in words: what the vehicle demands, and nothing of what was shown. */
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
