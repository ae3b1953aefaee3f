import type { BlockList } from 'node:net';
import { clientAddress, isTrustedProxy } from './client-address.ts';
import { originOf, sessionCookieOf } from './session-cookie.ts';

/** How a request came: from where, over what, and with which cookie. */
export interface Arrival {
  /** Of the client, proxies seen through. */
  address: string;
  /** Over TLS: to this process, or to a trusted proxy that says so. */
  secure: boolean;
  /** Token in the cookie of the console's session. */
  cookie: string | null;
  /** Was the request made by a page of this service itself? Unknown where no header shows it. */
  origin(): 'same' | 'other' | 'unknown';
}

/**
 * @param header a request header by its lower-case name
 * @param trusted proxies whose `X-Forwarded-*` is believed
 */
export function arrivalOf(
  socket: { remoteAddress?: string | undefined; encrypted?: boolean } | undefined,
  header: (name: string) => string | undefined,
  trusted: BlockList,
): Arrival {
  const peer = socket?.remoteAddress ?? 'unknown';
  const isProxied = isTrustedProxy(peer, trusted);
  const forwarded = (name: string) => (isProxied ? header(`x-forwarded-${name}`)?.split(',', 1)[0]?.trim() : undefined);
  const secure = (forwarded('proto')?.toLowerCase() ?? (socket?.encrypted ? 'https' : 'http')) === 'https';
  return {
    address: clientAddress(peer, header('x-forwarded-for'), trusted),
    secure,
    cookie: sessionCookieOf(header('cookie'), secure),
    origin: () =>
      originOf({
        fetchSite: header('sec-fetch-site'),
        origin: header('origin'),
        host: forwarded('host') ?? header('host'),
        secure,
      }),
  };
}
