import { connect, isIP, type LookupFunction, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { checkedAddresses } from './checked-addresses.ts';
import { boundLookup, type Lookup, lookupBySystem } from './lookup.ts';
import { refusedAddress } from './network-address.ts';

export interface GuardedSocketOptions {
  /** Whether addresses inside the own network are allowed. */
  allowPrivateAddresses: boolean;
  /** Certificates of authorities in PEM, which replace those of the system. */
  ca?: string | undefined;
  /** Resolves all addresses of a name. Default: the system's resolver. */
  lookup?: Lookup;
}

/** Opens connections to hosts that users choose, without giving access to the own network. */
export type ConnectGuarded = (to: { host: string; port: number; tls: boolean }, onConnect?: () => void) => Socket;

const HOST_NAME =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/i;

/**
 * Why a host is not acceptable, as a sentence for its author; null if it is. Checks only the text itself: the addresses
 * of a name are checked at each connection.
 */
export function hostFault(host: string, allowPrivateAddresses: boolean): string | null {
  if (isIP(host) === 0 && !HOST_NAME.test(host)) return 'It must be the name of a host or an IP address.';
  if (allowPrivateAddresses) return null;
  if (/(^|\.)localhost$/i.test(host)) return 'It must not lead to this machine.';
  const refused = isIP(host) === 0 ? null : refusedAddress(host);
  return refused === null ? null : `It must not be ${refused}.`;
}

/**
 * A name is resolved once for each connection, every address of it is checked, and the connection uses only these. The
 * socket emits errors, including rejected addresses.
 */
export function guardedSockets(options: GuardedSocketOptions): ConnectGuarded {
  const { allowPrivateAddresses, ca } = options;
  const lookup = guardedLookup(boundLookup(options.lookup ?? lookupBySystem), allowPrivateAddresses);
  return ({ host, port, tls }, onConnect) => {
    const fault = hostFault(host, allowPrivateAddresses);
    // A literal address is not resolved, so it is checked here.
    if (fault !== null) return new Socket().destroy(new Error(`${host}: ${fault}`));
    const to = { host, port, lookup, noDelay: true };
    const socket = tls
      ? connectTls({
          ...to,
          rejectUnauthorized: true,
          ...(isIP(host) === 0 ? { servername: host } : {}),
          ...(ca === undefined ? {} : { ca }),
        })
      : connect(to);
    if (onConnect) socket.once(tls ? 'secureConnect' : 'connect', onConnect);
    return socket;
  };
}

function guardedLookup(lookup: Lookup, allowPrivateAddresses: boolean): LookupFunction {
  return (host, { all }, callback) => {
    checkedAddresses(host, lookup, allowPrivateAddresses).then(
      (addresses) => {
        if ('ok' in addresses) return callback(new Error(addresses.ok ? '' : addresses.error), '');
        const [first] = addresses;
        if (all || first === undefined) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      (error: Error) => callback(error, ''),
    );
  };
}
