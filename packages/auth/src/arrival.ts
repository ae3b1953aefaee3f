import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { clientAddress, isTrustedProxy } from './client-address.ts';
import { mayConnect, originOf, sessionCookieOf } from './session-cookie.ts';
import type { Tokens } from './tokens.ts';

/** How a request came: from where, over what, and with which cookie. */
export interface Arrival {
  /** Of the client, proxies seen through. */
  address: string;
  /** Over TLS: to this process, or to a trusted proxy that says so. */
  secure: boolean;
  /** Origin at which the client asked, such as `https://fleet.example.com`; null where no header says it. */
  site: string | null;
  /** Token in the cookie of the console's session. */
  cookie: string | null;
  /** Was the request made by a page of this service itself? Unknown where no header shows it. */
  origin(): 'same' | 'other' | 'unknown';
  /** May its page have a WebSocket here, where pages of these origins may? */
  mayConnect(origins: readonly string[]): boolean;
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
  const host = forwarded('host') ?? header('host');
  const made = () => ({
    fetchSite: header('sec-fetch-site'),
    origin: header('origin'),
    host,
    secure,
  });
  return {
    address: clientAddress(peer, header('x-forwarded-for'), trusted),
    secure,
    site: host === undefined ? null : `${secure ? 'https' : 'http'}://${host.toLowerCase()}`,
    cookie: sessionCookieOf(header('cookie'), secure),
    origin: () => originOf(made()),
    mayConnect: (origins) => originOf(made()) === 'same' || mayConnect(made(), origins),
  };
}

/** Of a request that no framework has taken, such as a WebSocket's. */
export function arrivalOfUpgrade({ socket, headers }: IncomingMessage, trusted: BlockList): Arrival {
  const header = (name: string) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(',') : value;
  };
  return arrivalOf(socket, header, trusted);
}

/** Whose session of the console a request shows. Null without one, or where no page of this service made it. */
export async function cookieSession({ cookie, origin }: Arrival, tokens: Pick<Tokens, 'verifyCookie'>) {
  return cookie === null || origin() !== 'same' ? null : tokens.verifyCookie(cookie);
}
