import { hash, timingSafeEqual } from 'node:crypto';
import type { ProtocolName } from '../position.ts';

/** Which protocol a vehicle's terminal must speak: one; whichever its first packet came by; or any, each time. */
export type BoundProtocol = ProtocolName | 'learn' | 'any';

/** Why the data of a known terminal is refused. */
export const ACCESS_REFUSALS = ['wrong-protocol', 'wrong-network', 'wrong-certificate', 'wrong-secret'] as const;
export type AccessRefusal = (typeof ACCESS_REFUSALS)[number];

/** What a connection must show, beside the id of the terminal, for its data to be taken: ids are no secrets. */
export interface TerminalAccess {
  /** `learn` becomes the protocol that the first packets are taken by. */
  protocol: BoundProtocol;
  /**
   * Salted hash of what the terminal must show ({@link hashOfSecret}): the password of Wialon IPS, the token of OsmAnd,
   * the code of JT/T 808. Null: nothing.
   */
  secretHash: string | null;
  /** SHA-256 of the certificate that the terminal must show by TLS, hexadecimal digits in lower case. Null: none. */
  certificateSha256: string | null;
  /** Networks that the terminal may connect from, as CIDR. Empty: from anywhere. */
  networks: readonly string[];
  /**
   * Salted hash of what the terminal said of itself when it first registered (JT/T 808); another one gets no code.
   * Null: not known.
   */
  registrationHash: string | null;
  /** Whether a packet of this terminal was taken. */
  seen: boolean;
  /**
   * Grows by one whenever the service itself learns something of the terminal. Counts in the version of changes
   * ({@link changeVersionOf}), not in the vehicle's, so that an edit with `If-Match` goes on to match.
   */
  revision: number;
}

/** Any connection with the id of the terminal is accepted: vehicles from before terminals were bound. */
export const OPEN_ACCESS: TerminalAccess = {
  protocol: 'any',
  secretHash: null,
  certificateSha256: null,
  networks: [],
  registrationHash: null,
  seen: true,
  revision: 0,
};

/** What a new vehicle has where nothing else is asked for. */
export const LEARNING_ACCESS: TerminalAccess = { ...OPEN_ACCESS, protocol: 'learn', seen: false };

/** What a change of a vehicle's access says; what it leaves out stays. */
export type TerminalAccessPatch = {
  [Field in 'protocol' | 'secretHash' | 'certificateSha256' | 'networks']?: TerminalAccess[Field] | undefined;
};

/**
 * The access after a change. Another terminal has nothing of the former one's: its protocol is learnt anew where one
 * was learnt or set, and its secret, certificate and registration are forgotten, unless the change says others. Another
 * protocol or secret lets the terminal register anew.
 */
export function accessAfter(
  current: TerminalAccess,
  patch: TerminalAccessPatch,
  isOtherTerminal: boolean,
): TerminalAccess {
  const base: TerminalAccess = isOtherTerminal
    ? { ...LEARNING_ACCESS, protocol: current.protocol === 'any' ? 'any' : 'learn', networks: current.networks }
    : current;
  const { protocol = base.protocol, secretHash = base.secretHash } = patch;
  const { certificateSha256 = base.certificateSha256, networks = base.networks } = patch;
  const isSame = protocol === base.protocol && secretHash === base.secretHash;
  const registrationHash = isSame ? base.registrationHash : null;
  const { revision } = current;
  return { protocol, secretHash, certificateSha256, networks, registrationHash, seen: base.seen, revision };
}

const SALT_BYTES = 16;

/**
 * A secret of a terminal as it is kept. One quick hash: a gateway checks it with each connection and each request, and
 * secrets of terminals are to be made by a machine.
 *
 * @param salt random
 */
export function hashOfSecret(secret: string, salt: Uint8Array): string {
  const text = Buffer.from(salt.subarray(0, SALT_BYTES)).toString('hex');
  return `sha256$${text}$${digest(text, secret)}`;
}

/** Whether the secret is the one that was hashed. */
export function isSecret(secretHash: string, shown: string): boolean {
  const [, salt = '', expected = ''] = secretHash.split('$');
  const found = digest(salt, shown);
  return expected.length === found.length && timingSafeEqual(Buffer.from(found), Buffer.from(expected));
}

function digest(salt: string, secret: string): string {
  return hash('sha256', `${salt}:${secret}`);
}

/** Channel of the hub on which gateways publish what a terminal did for the first time, as {@link FirstContact}. */
export const FIRST_CONTACT_CHANNEL = 'terminal-first-contact';

/** A packet of a terminal was taken whose vehicle does not say so yet. */
export interface FirstContact {
  vehicleId: string;
  terminalId: string;
  /** That the vehicle is bound to from now on; null: it is not yet. */
  protocol: ProtocolName | null;
  registrationHash: string | null;
}
