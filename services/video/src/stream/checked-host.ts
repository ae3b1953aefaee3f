import { lookup as systemLookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { refusedAddress } from '@outrider/channels';

/** An address that a host was resolved to, and that may be connected to. */
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
 * Where a host of a source leads to. People choose the hosts: unless the operator allows it, nothing inside the own
 * network may be reached, by whatever name, and so every address of the name is looked at.
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
