import { hash, timingSafeEqual } from 'node:crypto';
import { type ApiKeyGrant, type ApiKeyId, parseApiKey, type UserId } from '@outrider/domain';
import type { Refused } from './tokens.ts';

/** A key as it is stored: what a client's key is checked against. */
export interface KnownApiKey {
  grant: ApiKeyGrant;
  userId: UserId;
  /** SHA-256 of the secret, in hexadecimal digits. */
  secretHash: string;
  /** Null: it does not expire. */
  expiresAtMs: number | null;
}

/** What a good key says. */
export interface VerifiedApiKey {
  userId: UserId;
  grant: ApiKeyGrant;
  /** Null: it does not expire. */
  expiresAtMs: number | null;
  error?: undefined;
}

export interface ApiKeyChecksOptions {
  /** Null: it does not exist, or has expired. Asked when a key is first seen, and every few seconds of its use. */
  known(id: ApiKeyId): Promise<KnownApiKey | null>;
  now(): number;
}

const MAX_CACHED = 10_000;
/** What the design allows between a key's end on another instance and the last call that still works here. */
const RECHECK_MS = 5000;
const REFUSED: Refused = { error: 'unknown-key' };

/** Checks API keys. What was read is kept, in bounds, for as long as a session is trusted without a look. */
export class ApiKeyChecks {
  readonly #options: ApiKeyChecksOptions;
  /** In the order of their last reading. */
  readonly #cache = new Map<ApiKeyId, { known: KnownApiKey; readAtMs: number }>();
  /** Grows with each revocation: what was being read meanwhile is not kept. */
  #revocations = 0;

  constructor(options: ApiKeyChecksOptions) {
    this.#options = options;
  }

  /**
   * Whose key is it, if it is good now? A wrong secret, an expired key and one that never was can't be distinguished.
   * Rejects when keys can't be asked for.
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

  /** The key was changed or revoked: it is read anew, at once on this instance. */
  revoke(id: ApiKeyId): void {
    this.#revocations += 1;
    this.#cache.delete(id);
  }

  async #known(id: ApiKeyId): Promise<KnownApiKey | null> {
    const nowMs = this.#options.now();
    const cached = this.#cache.get(id);
    // A clock that was set back makes no reading younger.
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
