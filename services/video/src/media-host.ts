import { networkInterfaces } from 'node:os';

/**
 * Default address to which video terminals send their streams: the one that is listened on, or the first address of
 * this machine that other machines can connect to.
 *
 * @param host listening address; `0.0.0.0` and `::` mean all
 */
export function mediaHost(host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return host;
  const addresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
