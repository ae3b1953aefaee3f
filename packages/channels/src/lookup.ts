import { lookup as systemLookup } from 'node:dns/promises';
import { FairQueue } from '@outrider/domain';

/** An address that a name resolves to. */
export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** Resolves all addresses of a name; rejects if the name has none. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/**
 * Maximum number of concurrent lookups for each of the two kinds of endpoint. The system resolves a name in one of the
 * four threads that also read files, and an unresponsive name server blocks the thread for seconds. As strangers choose
 * the names, half of the threads stay free.
 */
const AT_ONCE = 1;
const MAX_WAITING = 1000;

/** Resolves names by the system's resolver, including its hosts file. */
export const lookupBySystem: Lookup = async (hostname) =>
  (await systemLookup(hostname, { all: true })) as ResolvedAddress[];

/**
 * Limits concurrent calls of `lookup`, and shares one call among waiting callers of the same name. Nothing is cached.
 */
export function boundLookup(lookup: Lookup): Lookup {
  const queue = new FairQueue({ atOnce: AT_ONCE, maxWaiting: MAX_WAITING });
  const asked = new Map<string, Promise<readonly ResolvedAddress[]>>();

  return (hostname) => {
    const known = asked.get(hostname);
    if (known) return known;
    const answer = queue.run(() => lookup(hostname)).finally(() => asked.delete(hostname));
    asked.set(hostname, answer);
    return answer;
  };
}
