import { isIP } from 'node:net';
import type { Lookup, ResolvedAddress } from './lookup.ts';
import { refusedAddress } from './network-address.ts';
import { failedForGood, failedForNow, type SendResult } from './send-result.ts';

/**
 * Resolves and checks the addresses for a connection to a host that a user chose. Returns them all, or why it is not
 * allowed.
 */
export async function checkedAddresses(
  host: string,
  lookup: Lookup,
  allowPrivateAddresses: boolean,
): Promise<readonly ResolvedAddress[] | SendResult> {
  const family = isIP(host);
  let addresses: readonly ResolvedAddress[];
  try {
    addresses = family === 4 || family === 6 ? [{ address: host, family }] : await lookup(host);
  } catch (error) {
    return failedForNow(`The name ${host} could not be resolved (${codeOf(error)}).`);
  }
  if (addresses.length === 0) return failedForNow(`The name ${host} has no address.`);
  if (allowPrivateAddresses) return addresses;
  for (const { address } of addresses) {
    const refused = refusedAddress(address);
    // The message does not name the address: strangers must not be able to query names of the own network.
    if (refused !== null) return failedForGood(`The name ${host} leads to ${refused}, which is not allowed.`);
  }
  return addresses;
}

/** The code of an error of Node; of several attempts, that of the first. */
export function codeOf(error: unknown): string {
  const { code, errors, message } = error as { code?: unknown; errors?: unknown[]; message?: string };
  if (typeof code === 'string' && code !== '') return code;
  return Array.isArray(errors) && errors.length > 0 ? codeOf(errors[0]) : (message ?? 'unknown error');
}
