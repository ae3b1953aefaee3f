import { networkInterfaces } from 'node:os';

/**
 * The address that video terminals are reported to send their streams to, where nothing else was said: the one that is
 * listened on, or the first of this machine that others reach.
 *
 * @param host that is listened on; `0.0.0.0` and `::` mean all
 */
export function mediaHost(host: string): string {
  if (host !== '0.0.0.0' && host !== '::') return host;
  const addresses = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}
