import { hash } from 'node:crypto';
import { scopeNeeded } from '@outrider/access';
import type { Arrival } from '@outrider/auth';
import { type Directory, hasScope, isApiKey } from '@outrider/domain';
import { z } from 'zod';
import type { Identity, KnownIdentity } from '../context.ts';
import type { Authentication } from '../route.ts';
import { checkedUser, noApiAccess, refused } from '../routes/accounts/auth.ts';
import { identityOf } from '../sign-in/identify.ts';

/** Name of the cookie of Traccar clients. It holds a session's token, or the key or token that the client sent. */
const COOKIE = 'JSESSIONID';
const COOKIE_PATH = '/api';
const TOKEN = /^[A-Za-z0-9_.-]{1,1024}$/;
/** Correct passwords are not checked again while their sessions last; the oldest entries are dropped. */
const MAX_REMEMBERED = 1000;

const Credentials = z.object({ email: z.string().min(1).max(1000), password: z.string().min(1).max(1000) });

/** Credentials of a request. */
export interface Shown {
  authorization: string | undefined;
  cookie: string | undefined;
  /** Query parameter `token`, if the call accepts it. */
  token?: string | undefined;
}

/**
 * Identifies callers in the ways that Traccar clients use. HTTP Basic: the user is the login. Bearer token: an API key
 * or a JWT. Cookie: that of an earlier login. A login begins an ordinary session, which its account can see and end.
 * All callers need the right to use the API.
 */
export class TraccarLogins {
  readonly #authentication: Authentication;
  readonly #directory: Directory;
  /** Token of the session that a Basic header began, by the hash of the header. */
  readonly #sessions = new Map<string, string>();
  readonly #underWay = new Map<string, Promise<KnownIdentity>>();

  constructor(authentication: Authentication, directory: Directory) {
    this.#authentication = authentication;
    this.#directory = directory;
  }

  /** Identifies the caller without checking a password. */
  async identify({ authorization, cookie, token }: Shown): Promise<Identity> {
    if (token !== undefined) return this.#identityOf(token);
    if (authorization !== undefined) {
      const key = basicKey(authorization);
      const known = key === null ? bearerOf(authorization) : this.#sessions.get(key);
      if (known == null) return { refused: key === null ? 'malformed' : 'missing' };
      const identity = await this.#identityOf(known);
      if (key !== null && 'refused' in identity) this.#sessions.delete(key);
      return identity;
    }
    const kept = cookieOf(cookie);
    return kept === null ? { refused: 'missing' } : this.#identityOf(kept);
  }

  /** Whether the request holds a login and password that must still be checked. */
  isAttempt(authorization: string | undefined, identity: Identity): boolean {
    return 'refused' in identity && basicKey(authorization) !== null;
  }

  /**
   * Begins a session with the login and password of a Basic header. Concurrent calls share one session.
   *
   * @throws {Problem} when they are wrong
   */
  async basic(authorization: string, arrival: Arrival, userAgent: string): Promise<KnownIdentity> {
    const key = basicKey(authorization);
    const credentials = key === null ? null : basicCredentials(authorization);
    if (key === null || credentials === null) throw refused('malformed');
    const underWay = this.#underWay.get(key);
    if (underWay !== undefined) return underWay;
    const login = this.login(credentials, arrival, userAgent).then(({ identity, token }) => {
      this.#remember(key, token);
      return identity;
    });
    this.#underWay.set(key, login);
    try {
      return await login;
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** @throws {Problem} when login or password are wrong, or the account may not use the API */
  async login(
    { email, password }: z.output<typeof Credentials>,
    arrival: Arrival,
    userAgent: string,
  ): Promise<{ identity: KnownIdentity; token: string }> {
    const authentication = this.#authentication;
    const user = await checkedUser(authentication, { login: email, password }, arrival, true);
    const session = await authentication.beginSession(user, arrival, userAgent);
    const token = await authentication.tokens.issueCookie(user.id, session.id, session.expiresAtMs);
    const identity = { via: 'cookie' as const, caller: user, sessionId: session.id, apiKeyId: null };
    return { identity, token };
  }

  #remember(key: string, token: string): void {
    for (const oldest of this.#sessions.keys()) {
      if (this.#sessions.size < MAX_REMEMBERED) break;
      this.#sessions.delete(oldest);
    }
    this.#sessions.set(key, token);
  }

  async #identityOf(token: string): Promise<Identity> {
    if (!TOKEN.test(token)) return { refused: 'malformed' };
    const { tokens } = this.#authentication;
    if (isApiKey(token)) return identityOf(await tokens.verify(token), 'jwt', this.#directory);
    const ofSession = await tokens.verifyCookie(token);
    if (ofSession.error !== 'malformed') return identityOf(ofSession, 'cookie', this.#directory);
    return identityOf(await tokens.verify(token), 'jwt', this.#directory);
  }
}

/**
 * @returns the caller
 * @throws {Problem} unless the caller may read
 */
export function readerOf(identity: Identity): KnownIdentity {
  if ('refused' in identity) throw refused(identity.refused);
  if (!identity.caller.apiAccess) throw noApiAccess();
  if (!hasScope(identity.caller, 'read')) throw scopeNeeded('read');
  return identity;
}

/** The body of a login. */
export const CREDENTIALS = Credentials;

/**
 * `Set-Cookie` header with the client's own key or token, or with the token of its session.
 *
 * @param maxAgeSeconds 0 deletes the cookie
 */
export function traccarCookie(token: string, { secure }: Arrival, maxAgeSeconds: number): string {
  const flags = secure ? '; Secure' : '';
  return `${COOKIE}=${token}; Path=${COOKIE_PATH}; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${flags}`;
}

function cookieOf(header: string | undefined): string | null {
  const pair = header?.split(';').find((candidate) => candidate.trim().startsWith(`${COOKIE}=`));
  return pair?.trim().slice(COOKIE.length + 1) || null;
}

function bearerOf(authorization: string): string | null {
  return /^(?:JWT|Bearer) (\S+)$/i.exec(authorization)?.[1] ?? null;
}

/** Key under which a Basic header is remembered; null for any other header. */
function basicKey(authorization: string | undefined): string | null {
  return /^Basic /i.test(authorization ?? '') ? hash('sha256', authorization ?? '', 'base64') : null;
}

function basicCredentials(authorization: string): z.output<typeof Credentials> | null {
  const [, encoded = ''] = /^Basic ([A-Za-z0-9+/]+={0,2})$/i.exec(authorization) ?? [];
  const text = Buffer.from(encoded, 'base64').toString();
  const colon = text.indexOf(':');
  const read = Credentials.safeParse({ email: text.slice(0, Math.max(0, colon)), password: text.slice(colon + 1) });
  return read.success ? read.data : null;
}
