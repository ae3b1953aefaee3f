/**
 * Name of the cookie of the console's session. With `__Host-` a browser takes it only when it is Secure, for every
 * path, and from this very host: no neighbour on another subdomain can set it (RFC 6265bis, 4.1.3.2).
 */
const SECURE_NAME = '__Host-outrider';
/** Where there is no TLS, as on one's own machine. */
const PLAIN_NAME = 'outrider';

/**
 * @param secure did the request come over TLS? Each way has a name of its own, so that neither is taken for the other
 */
export function sessionCookieName(secure: boolean): string {
  return secure ? SECURE_NAME : PLAIN_NAME;
}

/**
 * The session's token in a `Cookie` header; null without such a cookie.
 *
 * @param header as it came (RFC 6265, 4.2.1)
 */
export function sessionCookieOf(header: string | undefined, secure: boolean): string | null {
  if (header === undefined) return null;
  const name = `${sessionCookieName(secure)}=`;
  const pair = header.split(';').find((candidate) => candidate.trim().startsWith(name));
  const token = pair?.trim().slice(name.length);
  return token && /^[A-Za-z0-9_.-]+$/.test(token) ? token : null;
}

/**
 * The `Set-Cookie` that begins the console's session: out of reach of scripts, and never sent from another site.
 *
 * @param maxAgeSeconds how long the browser keeps it; 0 takes it away
 */
export function setSessionCookie(token: string, secure: boolean, maxAgeSeconds: number): string {
  const flags = secure ? '; Secure' : '';
  return `${sessionCookieName(secure)}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${flags}`;
}

/**
 * May a page make a WebSocket of its own here? WebSockets know no CORS: the server has to look. Pages of this service
 * may, by the name that the client asked for whatever stands in front, and those of the listed origins; what is no
 * browser says nothing of an origin.
 */
export function mayConnect(
  { origin, host }: Pick<RequestOrigin, 'origin' | 'host'>,
  origins: readonly string[],
): boolean {
  if (origin === undefined || origins.includes(origin)) return true;
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

/** The parts of a request that show where it was made. */
export interface RequestOrigin {
  /** `Sec-Fetch-Site`: browsers set it, and no script can. */
  fetchSite: string | undefined;
  /** `Origin`. */
  origin: string | undefined;
  /** The host that the client asked, with its port. */
  host: string | undefined;
  secure: boolean;
}

/**
 * Was the request made by a page of this service itself? `unknown` where no header shows it: no browser made it, or a
 * very old one.
 */
export function originOf({ fetchSite, origin, host, secure }: RequestOrigin): 'same' | 'other' | 'unknown' {
  if (fetchSite !== undefined) return fetchSite === 'same-origin' ? 'same' : 'other';
  if (origin === undefined) return 'unknown';
  return host !== undefined && origin.toLowerCase() === `${secure ? 'https' : 'http'}://${host.toLowerCase()}`
    ? 'same'
    : 'other';
}
