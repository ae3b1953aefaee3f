/**
 * Name of the console's session cookie. With the `__Host-` prefix, a browser accepts it only if it is Secure, for all
 * paths, and from this very host. So no other subdomain can set it (RFC 6265bis, 4.1.3.2).
 */
const SECURE_NAME = '__Host-outrider';
/** Name without TLS, such as on a local machine. */
const PLAIN_NAME = 'outrider';

/** @param secure whether the request used TLS; the names differ so that neither cookie is taken for the other */
export function sessionCookieName(secure: boolean): string {
  return secure ? SECURE_NAME : PLAIN_NAME;
}

/**
 * The session's token in a `Cookie` header; null without such a cookie.
 *
 * @param header unparsed (RFC 6265, 4.2.1)
 */
export function sessionCookieOf(header: string | undefined, secure: boolean): string | null {
  if (header === undefined) return null;
  const name = `${sessionCookieName(secure)}=`;
  const pair = header.split(';').find((candidate) => candidate.trim().startsWith(name));
  const token = pair?.trim().slice(name.length);
  return token && /^[A-Za-z0-9_.-]+$/.test(token) ? token : null;
}

/**
 * The `Set-Cookie` that begins the console's session. Scripts cannot read the cookie, and it is never sent from another
 * site.
 *
 * @param maxAgeSeconds how long the browser keeps it; 0 deletes it
 */
export function setSessionCookie(token: string, secure: boolean, maxAgeSeconds: number): string {
  const flags = secure ? '; Secure' : '';
  return `${sessionCookieName(secure)}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${flags}`;
}

/**
 * Whether a page may open a WebSocket here. CORS does not cover WebSockets, so the server must check. Allowed are pages
 * of this service, by the host name that the client used, and pages of the listed origins. Clients that send no origin
 * are not browsers, and are allowed too.
 */
export function mayConnect(
  { origin, host }: Pick<RequestOrigin, 'origin' | 'host'>,
  origins: readonly string[],
): boolean {
  if (origin === undefined || origins.includes(origin)) return true;
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
}

/** Parts of a request that show which page made it. */
export interface RequestOrigin {
  /** `Sec-Fetch-Site`: set by browsers; scripts cannot set it. */
  fetchSite: string | undefined;
  /** Value of the `Origin` header. */
  origin: string | undefined;
  /** Host to which the client sent the request, with its port. */
  host: string | undefined;
  secure: boolean;
}

/**
 * Whether a page of this service made the request. `unknown` if no header shows it: it was not made by a browser, or by
 * a very old one.
 */
export function originOf({ fetchSite, origin, host, secure }: RequestOrigin): 'same' | 'other' | 'unknown' {
  if (fetchSite !== undefined) return fetchSite === 'same-origin' ? 'same' : 'other';
  if (origin === undefined) return 'unknown';
  return host !== undefined && origin.toLowerCase() === `${secure ? 'https' : 'http'}://${host.toLowerCase()}`
    ? 'same'
    : 'other';
}
