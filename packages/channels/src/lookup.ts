import { lookup as systemLookup } from 'node:dns/promises';
import { FairQueue } from '@outrider/domain';

/** An address that a name leads to. */
export interface ResolvedAddress {
  address: string;
  family: 4 | 6;
}

/** All addresses of a name; rejects where the name has none. */
export type Lookup = (hostname: string) => Promise<readonly ResolvedAddress[]>;

/**
 * The system asks for a name in one of the four threads that also read files, and a name server that keeps silent holds
 * it for seconds. Strangers choose the names: each of the two kinds of endpoint gets one, so half of the threads stay
 * free.
 */
const AT_ONCE = 1;
const MAX_WAITING = 1000;

/** The names as this system knows them, its hosts file included. */
export const lookupBySystem: Lookup = async (hostname) =>
  (await systemLookup(hostname, { all: true })) as ResolvedAddress[];

/** Asks `lookup` for few names at once, and once for a name that several wait for. Nothing is remembered. */
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
