import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/** For AES-256. */
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** `sealed:1:<id of the key>:<nonce, ciphertext and tag in base64url>`; no secret in clear begins like this. */
export const SEALED = 'sealed:';
const FORMAT = `${SEALED}1:`;
const KEY_ID_CHARACTERS = 8;
/** Length of the beginning of a sealed value that identifies its format and its key. */
export const SEALED_BY_CHARACTERS = FORMAT.length + KEY_ID_CHARACTERS + 1;

/** Stored secrets cannot be read with the keys at hand, or must not be stored without one. */
export class SecretsKeyError extends Error {
  override name = 'SecretsKeyError';
}

/** Where a secret is stored. A sealed value can be opened only for its place, so it cannot be moved to another row. */
export interface SecretPlace {
  /** Authenticated with the value, so these names can't change. */
  table:
    | 'notification_rules'
    | 'video_profiles'
    | 'message_channels'
    | 'service_keys'
    | 'forwarding_destinations'
    | 'forwarding_headers'
    | 'second_factors'
    | 'mail_addresses'
    | 'webhook_urls'
    | 'idempotency';
  id: string;
}

/**
 * Seals secrets before they are stored (AES-256-GCM, the place as associated data) and opens them. The first key seals;
 * all of them open, so that a key can be replaced while the service runs. Without keys, values are stored in clear.
 */
export class Secrets {
  readonly #keys: ReadonlyMap<string, Uint8Array>;
  readonly #current: { id: string; key: Uint8Array } | null;

  /** @throws {SecretsKeyError} when a key does not have 32 bytes */
  constructor(keys: readonly Uint8Array[]) {
    for (const key of keys)
      if (key.length !== KEY_BYTES) throw new SecretsKeyError(`a key for secrets has ${KEY_BYTES} bytes`);
    const named = keys.map((key) => ({ id: keyId(key), key }));
    this.#keys = new Map(named.map(({ id, key }) => [id, key]));
    this.#current = named[0] ?? null;
  }

  get hasKey(): boolean {
    return this.#current !== null;
  }

  /** Beginning of the values that the first key sealed; null without a key. */
  get sealedBy(): string | null {
    return this.#current && sealedBy(this.#current.id);
  }

  /** Whether a value is in clear, or sealed by a known key. The beginning of the value suffices. */
  canOpen(start: string): boolean {
    return !start.startsWith(SEALED) || [...this.#keys.keys()].some((id) => start.startsWith(sealedBy(id)));
  }

  seal(clear: string, place: SecretPlace): string {
    if (this.#current === null) return clear;
    const { id, key } = this.#current;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(associatedData(id, place));
    const sealed = [nonce, cipher.update(clear, 'utf8'), cipher.final(), cipher.getAuthTag()];
    return `${sealedBy(id)}${Buffer.concat(sealed).toString('base64url')}`;
  }

  /**
   * Opens a value. A value in clear, stored before there was a key, is returned unchanged.
   *
   * @throws {SecretsKeyError} when no key opens it, or it was sealed for another place, or changed
   */
  open(stored: string, place: SecretPlace): string {
    if (!stored.startsWith(SEALED)) return stored;
    const id = stored.slice(FORMAT.length, FORMAT.length + KEY_ID_CHARACTERS);
    const key = stored.startsWith(FORMAT) ? this.#keys.get(id) : undefined;
    if (key === undefined) throw new SecretsKeyError(`a stored secret needs the key ${id}, which is not at hand`);
    const bytes = Buffer.from(stored.slice(SEALED_BY_CHARACTERS), 'base64url');
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
      decipher.setAAD(associatedData(id, place));
      decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
      const clear = decipher.update(bytes.subarray(NONCE_BYTES, bytes.length - TAG_BYTES));
      return Buffer.concat([clear, decipher.final()]).toString('utf8');
    } catch (error) {
      throw new SecretsKeyError(`a stored secret of ${place.table} was changed or moved`, { cause: error });
    }
  }
}

/** Stores in clear: for tests, and for an installation from before secrets were sealed. */
export const NO_SECRETS = new Secrets([]);

/** Names a key without revealing it. */
export function keyId(key: Uint8Array): string {
  return createHash('sha256').update('outrider secrets key').update(key).digest('hex').slice(0, KEY_ID_CHARACTERS);
}

function sealedBy(id: string): string {
  return `${FORMAT}${id}:`;
}

function associatedData(id: string, place: SecretPlace): Buffer {
  return Buffer.from(JSON.stringify([FORMAT, id, place.table, place.id]), 'utf8');
}
