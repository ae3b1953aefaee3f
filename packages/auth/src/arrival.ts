import type { IncomingMessage } from 'node:http';
import type { BlockList } from 'node:net';
import { clientAddress, isTrustedProxy } from './client-address.ts';
import { mayConnect, originOf, sessionCookieOf } from './session-cookie.ts';
import type { Tokens } from './tokens.ts';

/** Origin and transport of a request, with its session cookie. */
export interface Arrival {
  /** Address of the client, behind any trusted proxies. */
  address: string;
  /** Whether the request used TLS: to this process, or to a trusted proxy that says so. */
  secure: boolean;
  /** Origin to which the client sent the request, such as `https://fleet.example.com`; null if no header states it. */
  site: string | null;
  /** Token in the cookie of the console's session. */
  cookie: string | null;
  /** Whether a page of this service made the request. Unknown if no header shows it. */
  origin(): 'same' | 'other' | 'unknown';
  /** Whether the requesting page may open a WebSocket here, given the other allowed origins. */
  mayConnect(origins: readonly string[]): boolean;
}

/**
 * @param header returns a request header by its lower-case name
 * @param trusted proxies whose `X-Forwarded-*` is trusted
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

/** As {@link arrivalOf}, for a request outside the framework, such as a WebSocket's. */
export function arrivalOfUpgrade({ socket, headers }: IncomingMessage, trusted: BlockList): Arrival {
  const header = (name: string) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(',') : value;
  };
  return arrivalOf(socket, header, trusted);
}

/** Verifies the console session of a request. Null if it has none, or no page of this service made the request. */
export async function cookieSession({ cookie, origin }: Arrival, tokens: Pick<Tokens, 'verifyCookie'>) {
  return cookie === null || origin() !== 'same' ? null : tokens.verifyCookie(cookie);
}
