import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { refusedAddress } from '@outrider/channels';

/** A resolved address of a host, to which connections are allowed. */
export interface CheckedAddress {
  address: string;
  family: 4 | 6;
}

export type Lookup = (hostname: string) => Promise<readonly CheckedAddress[]>;

const bySystem: Lookup = async (hostname) => (await systemLookup(hostname, { all: true })) as CheckedAddress[];

export type HostCheck =
  | { ok: true; address: CheckedAddress }
  | { ok: false; reason: 'unreachable' | 'address-not-allowed'; detail: string };

/**
 * Resolves the host of a source. Users choose the hosts: unless the operator allows it, no host may lead into the
 * internal network, so every address of the name is checked.
 *
 * @param host name or address, without the brackets around IPv6
 */
export async function checkHost(host: string, allowPrivate: boolean, lookup: Lookup = bySystem): Promise<HostCheck> {
  const family = isIP(host);
  let addresses: readonly CheckedAddress[];
  try {
    addresses = family === 4 || family === 6 ? [{ address: host, family }] : await lookup(host);
  } catch {
    return { ok: false, reason: 'unreachable', detail: `the name ${host} could not be resolved` };
  }
  const [first] = addresses;
  if (first === undefined) return { ok: false, reason: 'unreachable', detail: `the name ${host} has no address` };
  if (!allowPrivate)
    for (const { address } of addresses) {
      const refused = refusedAddress(address);
      if (refused !== null)
        return { ok: false, reason: 'address-not-allowed', detail: `the host is ${refused}, which is not allowed` };
    }
  return { ok: true, address: first };
}
