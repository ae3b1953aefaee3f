import { hash } from 'node:crypto';
import { type ApiKeyId, isApiKey, isUuid, type SessionId, type UserId } from '@outrider/domain';
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { ApiKeyChecks, type ApiKeyChecksOptions, type VerifiedApiKey } from './api-key-checks.ts';
import { ALGORITHM, type SigningKeys } from './keys.ts';

const ISSUER = 'outrider';
const STATE_TYPE = 'state+jwt';
/**
 * Types of tokens, in their header (RFC 8725, 3.11). So a cookie's token is never accepted as a JWT of the API, which
 * needs the right to use the API, or vice versa.
 */
const TYPES = { api: 'JWT', refresh: 'refresh+jwt', cookie: 'session+jwt' } as const;
type Purpose = keyof typeof TYPES;
/** Tokens issued here have about 330 characters. */
const MAX_TOKEN_CHARACTERS = 1024;
const MAX_CACHED = 10_000;
/** Longest time for which a session that ended on another instance may still work here. */
const RECHECK_SESSION_MS = 5000;

/** Content of a valid token. */
export interface Verified {
  userId: UserId;
  sessionId: SessionId;
  expiresAtMs: number;
  /** For a JWT: how often its session had been refreshed before; 0 for that of the login. */
  generation?: number;
  /** `kid` of the key that signed it: the token is valid for no longer than the key is. */
  keyId: string;
  error?: undefined;
}

/**
 * Why a token is refused. `ended`: it was valid, but its session is over. `unknown-key`: an API key that does not
 * exist, no longer exists, or has another secret.
 */
export type TokenError = 'malformed' | 'bad-signature' | 'expired' | 'ended' | 'unknown-key';
export interface Refused {
  error: TokenError;
  /** Account of the token, if its session ended. */
  userId?: UserId;
}

export interface TokensOptions {
  keys: SigningKeys;
  /** Lifetime of a token. */
  ttlSeconds: number;
  /** Time after its expiry for which a JWT can be refreshed. */
  refreshExpiredSeconds: number;
  /** Unix milliseconds. */
  now: () => number;
  /** Whether the session is still open. Called when a token is first seen, and every few seconds while it is used. */
  sessionIsLive: (sessionId: SessionId) => Promise<boolean>;
  /** Stored API keys. Default: no key is known. */
  apiKey?: ApiKeyChecksOptions['known'];
}

interface Cached {
  verified: Verified;
  sessionCheckedAtMs: number;
  /** Whether the session ended, which is final. Cached, so that repeated calls with such a token cost no queries. */
  hasEnded: boolean;
}

/**
 * Issues and verifies the tokens of sessions, and verifies API keys. Verifying a signature costs far more than a
 * typical call. Therefore results are cached, by the token's hash and in bounds, until the token expires, or its
 * session or user is revoked.
 */
export class Tokens {
  readonly #options: TokensOptions;
  /** Ordered by the time of last use. */
  readonly #cache = new Map<string, Cached>();
  readonly #apiKeys: ApiKeyChecks;
  /** Incremented by each revocation: results of checks that were in progress are then not cached. */
  #revocations = 0;

  constructor(options: TokensOptions) {
    this.#options = options;
    this.#apiKeys = new ApiKeyChecks({ known: options.apiKey ?? (async () => null), now: options.now });
  }

  /** Current content of `/.well-known/jwks.json`. */
  get jwks(): SigningKeys['jwks'] {
    return this.#options.keys.jwks;
  }

  /** Whether signatures of the key are still accepted. They are not after it was revoked. */
  keyIsGood(keyId: string): boolean {
    return this.#options.keys.publicKey(keyId) !== undefined;
  }

  /**
   * Issues a token of a session, with its expiry time.
   *
   * @param generation how often the session was refreshed
   */
  async issue(userId: UserId, sessionId: SessionId, generation: number): Promise<{ jwt: string; expiresAtMs: number }> {
    const expiresAt = Math.floor(this.#options.now() / 1000) + this.#options.ttlSeconds;
    const jwt = await this.#sign('api', userId, sessionId, expiresAt, { gen: generation });
    return { jwt, expiresAtMs: expiresAt * 1000 };
  }

  /** The token of a session's cookie, valid for as long as the session may live. */
  async issueCookie(userId: UserId, sessionId: SessionId, expiresAtMs: number): Promise<string> {
    return this.#sign('cookie', userId, sessionId, Math.ceil(expiresAtMs / 1000));
  }

  /** The refresh token of a session: valid only for refreshing, and for as long as the session may live. */
  async issueRefresh(userId: UserId, sessionId: SessionId, expiresAtMs: number): Promise<string> {
    return this.#sign('refresh', userId, sessionId, Math.ceil(expiresAtMs / 1000));
  }

  /** Signs state that a browser keeps between two steps of a sign-in. It is valid only for this purpose. */
  async issueState(purpose: string, state: Readonly<Record<string, string>>, ttlSeconds: number): Promise<string> {
    const { keys, now } = this.#options;
    const { kid, privateKey } = keys.current;
    return new SignJWT({ state })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: STATE_TYPE })
      .setIssuer(ISSUER)
      .setAudience(purpose)
      .setExpirationTime(Math.floor(now() / 1000) + ttlSeconds)
      .sign(privateKey);
  }

  /** The state that {@link issueState} signed for this purpose; null for anything else, and when it has expired. */
  async verifyState(purpose: string, token: string): Promise<Readonly<Record<string, string>> | null> {
    const { keys, now } = this.#options;
    if (token.length > MAX_TOKEN_CHARACTERS) return null;
    const options = {
      ...{ algorithms: [ALGORITHM], issuer: ISSUER, audience: purpose, typ: STATE_TYPE },
      requiredClaims: ['exp', 'state'],
    };
    try {
      const { payload } = await jwtVerify(
        token,
        ({ kid }) => {
          const key = kid === undefined ? undefined : keys.publicKey(kid);
          if (!key) throw new errors.JWKSNoMatchingKey();
          return key;
        },
        { ...options, currentDate: new Date(now()) },
      );
      return payload.state as Record<string, string>;
    } catch (error) {
      if (error instanceof errors.JOSEError) return null;
      throw error;
    }
  }

  #sign(
    purpose: Purpose,
    userId: UserId,
    sessionId: SessionId,
    expiresAt: number,
    more: { gen?: number } = {},
  ): Promise<string> {
    const { keys, now } = this.#options;
    const { kid, privateKey } = keys.current;
    return new SignJWT({ sid: sessionId, ...more })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: TYPES[purpose] })
      .setIssuer(ISSUER)
      .setSubject(userId)
      .setIssuedAt(Math.floor(now() / 1000))
      .setExpirationTime(expiresAt)
      .sign(privateKey);
  }

  /**
   * Identifies the account of a valid token or API key. Never throws for invalid input; rejects when sessions cannot be
   * queried.
   */
  verify(token: string): Promise<Verified | VerifiedApiKey | Refused> {
    return isApiKey(token) ? this.#apiKeys.verify(token) : this.#verify('api', token);
  }

  /** As {@link verify}, for the token of a cookie, which is never an API key. */
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
      if (cached.hasEnded) {
        this.#cache.set(key, cached);
        return { error: 'ended', userId: cached.verified.userId };
      }
      // If the clock was set back, checks must not appear more recent.
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
    const hasEnded = !(await sessionIsLive(verified.sessionId));
    if (revocations === this.#revocations) this.#keep(key, { verified, sessionCheckedAtMs: nowMs, hasEnded });
    return hasEnded ? { error: 'ended', userId: verified.userId } : verified;
  }

  /**
   * As {@link verify}, but only for refreshing. Accepts a JWT of the API, including one that expired not too long ago,
   * or a refresh token. The caller must check that the session is still open.
   */
  async verifyForRefresh(token: string): Promise<Verified | Refused> {
    if (token.length > MAX_TOKEN_CHARACTERS) return { error: 'malformed' };
    const { now, refreshExpiredSeconds } = this.#options;
    const asJwt = await this.#check('api', token, new Date(0));
    if (asJwt.error === 'malformed') return this.#check('refresh', token, new Date(0));
    const isTooOld = asJwt.error === undefined && asJwt.expiresAtMs + refreshExpiredSeconds * 1000 <= now();
    return isTooOld ? { error: 'expired' } : asJwt;
  }

  /** Invalidates cached tokens of a session, so that this instance rechecks the session at once. */
  revokeSession(sessionId: SessionId): void {
    this.#revoke((verified) => verified.sessionId === sessionId);
  }

  /** Makes the next use of an API key read it anew. To be called when the key was changed or revoked. */
  revokeApiKey(id: ApiKeyId): void {
    this.#apiKeys.revoke(id);
  }

  /**
   * Forces a recheck of the sessions of all of a user's tokens. To be called when the user was blocked, deleted or
   * given another password.
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
    // Tokens of earlier versions have no generation.
    const generation = typeof payload.gen === 'number' ? payload.gen : 0;
    const verified = { userId: sub as UserId, sessionId: sid as SessionId, expiresAtMs: exp * 1000, keyId };
    return purpose === 'api' ? { ...verified, generation } : verified;
  }
}

/**
 * The token of an `Authorization` header (`JWT <token>`, spec section 5, or `Bearer <key>` with an API key); null for
 * any other header.
 */
export function tokenOfHeader(header: string | undefined): string | null {
  const [, scheme, token] = /^(JWT|Bearer) ([A-Za-z0-9_.-]+)$/i.exec(header ?? '') ?? [];
  if (scheme === undefined || token === undefined) return null;
  return scheme.toUpperCase() === 'JWT' || isApiKey(token) ? token : null;
}

/** As {@link tokenOfHeader}, for a header with a token to be refreshed, where the word JWT may be left out. */
export function tokenToRefresh(header: string | undefined): string | null {
  return /^(?:JWT )?([A-Za-z0-9_.-]+)$/i.exec(header ?? '')?.[1] ?? null;
}
