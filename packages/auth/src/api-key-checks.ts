import { hash, timingSafeEqual } from 'node:crypto';
import { type ApiKeyGrant, type ApiKeyId, parseApiKey, type UserId } from '@outrider/domain';
import type { Refused } from './tokens.ts';

/** A stored key, against which a client's key is checked. */
export interface KnownApiKey {
  grant: ApiKeyGrant;
  userId: UserId;
  /** SHA-256 of the secret, in hexadecimal digits. */
  secretHash: string;
  /** Null: the key does not expire. */
  expiresAtMs: number | null;
}

/** Result of checking a valid key. */
export interface VerifiedApiKey {
  userId: UserId;
  grant: ApiKeyGrant;
  /** Null: the key does not expire. */
  expiresAtMs: number | null;
  error?: undefined;
}

export interface ApiKeyChecksOptions {
  /**
   * Null: the key does not exist, or has expired. Called when a key is first seen, and every few seconds while it is
   * used.
   */
  known(id: ApiKeyId): Promise<KnownApiKey | null>;
  now(): number;
}

const MAX_CACHED = 10_000;
/** Longest time for which a key that ended on another instance may still work here. */
const RECHECK_MS = 5000;
const REFUSED: Refused = { error: 'unknown-key' };

/**
 * Checks API keys. Keys that were read are cached, in bounds, for as long as sessions are trusted without a recheck.
 */
export class ApiKeyChecks {
  readonly #options: ApiKeyChecksOptions;
  /** Ordered by the time of reading. */
  readonly #cache = new Map<ApiKeyId, { known: KnownApiKey; readAtMs: number }>();
  /** Incremented by each revocation: results of reads that were in progress are then not cached. */
  #revocations = 0;

  constructor(options: ApiKeyChecksOptions) {
    this.#options = options;
  }

  /**
   * Identifies the account of a valid key. The result does not distinguish a wrong secret, an expired key and a key
   * that never existed. Rejects when keys cannot be read.
   */
  async verify(text: string): Promise<VerifiedApiKey | Refused> {
    const parsed = parseApiKey(text);
    if (parsed === null) return { error: 'malformed' };
    const known = await this.#known(parsed.id);
    if (known === null || !isSecretOf(known, parsed.secret)) return REFUSED;
    const { userId, grant, expiresAtMs } = known;
    if (expiresAtMs !== null && expiresAtMs <= this.#options.now()) return REFUSED;
    return { userId, grant, expiresAtMs };
  }

  /** To be called when the key was changed or revoked: this instance reads it anew on its next use. */
  revoke(id: ApiKeyId): void {
    this.#revocations += 1;
    this.#cache.delete(id);
  }

  async #known(id: ApiKeyId): Promise<KnownApiKey | null> {
    const nowMs = this.#options.now();
    const cached = this.#cache.get(id);
    // If the clock was set back, entries must not appear younger.
    if (cached !== undefined && Math.abs(nowMs - cached.readAtMs) < RECHECK_MS) return cached.known;
    const revocations = this.#revocations;
    const known = await this.#options.known(id);
    this.#cache.delete(id);
    if (known !== null && revocations === this.#revocations) this.#keep(id, known, nowMs);
    return known;
  }

  #keep(id: ApiKeyId, known: KnownApiKey, readAtMs: number): void {
    for (const oldest of this.#cache.keys()) {
      if (this.#cache.size < MAX_CACHED) break;
      this.#cache.delete(oldest);
    }
    this.#cache.set(id, { known, readAtMs });
  }
}

function isSecretOf({ secretHash }: KnownApiKey, secret: string): boolean {
  const given = Buffer.from(hash('sha256', secret), 'hex');
  const stored = Buffer.from(secretHash, 'hex');
  return given.length === stored.length && timingSafeEqual(given, stored);
}
