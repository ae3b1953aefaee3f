import { hash } from 'node:crypto';
import { isUuid, type SessionId, type UserId } from '@outrider/domain';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { ALGORITHM, type SigningKeys } from './keys.ts';

const ISSUER = 'outrider';
/**
 * What a token is for, in its header (RFC 8725, 3.11): that of a cookie is never taken as a JWT of the API, which needs
 * the right to use the API, nor the other way round.
 */
const TYPES = { api: 'JWT', cookie: 'session+jwt' } as const;
type Purpose = keyof typeof TYPES;
/** A token made here has about 330 characters. */
const MAX_TOKEN_CHARACTERS = 1024;
const MAX_CACHED = 10_000;
/** What the design allows between a session's end on another instance and the last call that still works here. */
const RECHECK_SESSION_MS = 5000;

/** What a good token says. */
export interface Verified {
  userId: UserId;
  sessionId: SessionId;
  expiresAtMs: number;
  /** `kid` of the key that signed it: the token is good for no longer than the key is. */
  keyId: string;
  error?: undefined;
}

/** Why a token is not taken. `ended`: it was good, its session is over. */
export type TokenError = 'malformed' | 'bad-signature' | 'expired' | 'ended';
export interface Refused {
  error: TokenError;
}

export interface TokensOptions {
  keys: SigningKeys;
  /** Life of a token. */
  ttlSeconds: number;
  /** Unix milliseconds. */
  now: () => number;
  /** Is the session still open? Asked when a token is first seen, and again every few seconds that it is used. */
  sessionIsLive: (sessionId: SessionId) => Promise<boolean>;
}

interface Cached {
  verified: Verified;
  sessionCheckedAtMs: number;
}

/**
 * Makes and checks the tokens of sessions. Checking a signature costs far more than the call it lets in, so that what
 * was verified is kept, by the token's hash and in bounds, until it expires or its session or user is revoked.
 */
export class Tokens {
  readonly #options: TokensOptions;
  /** In the order of their last use. */
  readonly #cache = new Map<string, Cached>();
  /** Grows with each revocation: a check that was under way meanwhile is not kept. */
  #revocations = 0;

  constructor(options: TokensOptions) {
    this.#options = options;
  }

  /** What `/.well-known/jwks.json` shows now. */
  get jwks(): SigningKeys['jwks'] {
    return this.#options.keys.jwks;
  }

  /** Is what the key signed still taken? Not after it was revoked. */
  keyIsGood(keyId: string): boolean {
    return this.#options.keys.publicKey(keyId) !== undefined;
  }

  /** A new token of a session, and the time at which it expires. */
  async issue(userId: UserId, sessionId: SessionId): Promise<{ jwt: string; expiresAtMs: number }> {
    const expiresAt = Math.floor(this.#options.now() / 1000) + this.#options.ttlSeconds;
    return { jwt: await this.#sign('api', userId, sessionId, expiresAt), expiresAtMs: expiresAt * 1000 };
  }

  /** The token of a session's cookie: good for as long as the session may live. */
  async issueCookie(userId: UserId, sessionId: SessionId, expiresAtMs: number): Promise<string> {
    return this.#sign('cookie', userId, sessionId, Math.ceil(expiresAtMs / 1000));
  }

  #sign(purpose: Purpose, userId: UserId, sessionId: SessionId, expiresAt: number): Promise<string> {
    const { keys, now } = this.#options;
    const { kid, privateKey } = keys.current;
    return new SignJWT({ sid: sessionId })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: TYPES[purpose] })
      .setIssuer(ISSUER)
      .setSubject(userId)
      .setIssuedAt(Math.floor(now() / 1000))
      .setExpirationTime(expiresAt)
      .sign(privateKey);
  }

  /** Whose token is it, if it is good now? Never throws for what a peer sent; rejects when sessions can't be asked. */
  verify(token: string): Promise<Verified | Refused> {
    return this.#verify('api', token);
  }

  /** As {@link verify}, for the token of a cookie. */
  verifyCookie(token: string): Promise<Verified | Refused> {
    return this.#verify('cookie', token);
  }

  async #verify(purpose: Purpose, token: string): Promise<Verified | Refused> {
    const { now, sessionIsLive } = this.#options;
    if (token.length > MAX_TOKEN_CHARACTERS) return { error: 'malformed' };
    const key = `${purpose} ${hash('sha256', token, 'base64')}`;
    const cached = this.#cache.get(key);
    const nowMs = now();
    let verified: Verified | Refused;
    if (cached) {
      this.#cache.delete(key);
      if (cached.verified.expiresAtMs <= nowMs) return { error: 'expired' };
      if (!this.keyIsGood(cached.verified.keyId)) return { error: 'bad-signature' };
      // A clock that was set back makes no check younger.
      if (Math.abs(nowMs - cached.sessionCheckedAtMs) < RECHECK_SESSION_MS) {
        this.#cache.set(key, cached);
        return cached.verified;
      }
      verified = cached.verified;
    } else {
      verified = await this.#check(purpose, token, new Date(nowMs));
      if (verified.error !== undefined) return verified;
    }

    const revocations = this.#revocations;
    if (!(await sessionIsLive(verified.sessionId))) return { error: 'ended' };
    if (revocations === this.#revocations) this.#keep(key, { verified, sessionCheckedAtMs: nowMs });
    return verified;
  }

  /**
   * As {@link verify}, for refreshing alone: an expired token is as good as any other. Whether the session is still
   * open is the caller's to ask.
   */
  async verifyIgnoringExpiry(token: string): Promise<Verified | Refused> {
    if (token.length > MAX_TOKEN_CHARACTERS) return { error: 'malformed' };
    return this.#check('api', token, new Date(0));
  }

  /** Takes a session's tokens out of force, at once on this instance. */
  revokeSession(sessionId: SessionId): void {
    this.#revoke((verified) => verified.sessionId === sessionId);
  }

  /**
   * Has the sessions of all of a user's tokens looked at again: call it when the user was blocked, deleted or given
   * another password.
   */
  revokeUser(userId: UserId): void {
    this.#revoke((verified) => verified.userId === userId);
  }

  #revoke(concerns: (verified: Verified) => boolean): void {
    this.#revocations += 1;
    for (const [key, { verified }] of this.#cache) if (concerns(verified)) this.#cache.delete(key);
  }

  #keep(key: string, cached: Cached): void {
    for (const longestUnused of this.#cache.keys()) {
      if (this.#cache.size < MAX_CACHED) break;
      this.#cache.delete(longestUnused);
    }
    this.#cache.set(key, cached);
  }

  async #check(purpose: Purpose, token: string, currentDate: Date): Promise<Verified | Refused> {
    const { keys } = this.#options;
    let payload: JWTPayload;
    let keyId: string;
    try {
      const result = await jwtVerify(
        token,
        ({ kid }) => {
          const key = kid === undefined ? undefined : keys.publicKey(kid);
          if (!key) throw new errors.JWKSNoMatchingKey();
          return key;
        },
        {
          algorithms: [ALGORITHM],
          issuer: ISSUER,
          typ: TYPES[purpose],
          requiredClaims: ['exp', 'sub', 'sid'],
          currentDate,
        },
      );
      payload = result.payload;
      keyId = result.protectedHeader.kid ?? '';
    } catch (error) {
      if (error instanceof errors.JWTExpired) return { error: 'expired' };
      if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
        return { error: 'bad-signature' };
      if (error instanceof errors.JOSEError) return { error: 'malformed' };
      throw error;
    }
    const { sub, sid, exp } = payload;
    if (typeof sub !== 'string' || !isUuid(sub) || typeof sid !== 'string' || !isUuid(sid) || exp === undefined)
      return { error: 'malformed' };
    return { userId: sub as UserId, sessionId: sid as SessionId, expiresAtMs: exp * 1000, keyId };
  }
}

/** The token of an `Authorization` header (`JWT <token>`, spec section 5); null where the header is anything else. */
export function tokenOfHeader(header: string | undefined): string | null {
  return /^JWT ([A-Za-z0-9_.-]+)$/i.exec(header ?? '')?.[1] ?? null;
}
