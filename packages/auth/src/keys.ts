import { chmod, open, readFile, stat, unlink } from 'node:fs/promises';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { createWhole, replaceWhole } from '@outrider/files/whole-file';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';

/** RFC 8037: Ed25519. The only algorithm for signing and verifying. */
export const ALGORITHM = 'EdDSA';

/** Lifetimes of what a key has signed. */
export interface Lifetimes {
  /** Lifetime of a token. */
  tokenSeconds: number;
  /** Lifetime of a session, in which an expired token can still be refreshed. */
  sessionSeconds: number;
}

/** Keys in force: one signs; all whose signatures may still be valid can verify. */
export interface SigningKeys {
  readonly current: { readonly kid: string; readonly privateKey: CryptoKey };
  /** The public key that verifies for its `kid`; undefined for an unknown or expired key. */
  publicKey(kid: string): CryptoKey | undefined;
  /**
   * Content of `/.well-known/jwks.json` (RFC 7517): the public parts of keys whose tokens may not have expired yet, the
   * signing key first.
   */
  readonly jwks: { keys: JWK[] };
}

/**
 * Content of the file: JWKs, the newest first. The first includes its private part; of its predecessors, only the
 * public part is kept.
 */
interface KeyFile {
  keys: KeptKey[];
}
interface KeptKey extends JWK {
  /** Unix milliseconds at which another key took over. */
  retiredAtMs?: number;
}

interface LoadedKey {
  kid: string;
  publicKey: CryptoKey;
  shown: JWK;
  /** Null for the signing key. */
  retiredAtMs: number | null;
}

/** Time for which a service may still sign with the old key before it notices the new one. */
const NOTICED_WITHIN_MS = 60_000;

/**
 * The keys of a file, as last read.
 *
 * Opened by {@link openKeys}; {@link KeyRing.reload} reads changes made by other processes.
 */
export class KeyRing implements SigningKeys {
  /** Whether the file was made when it was opened. */
  readonly isNew: boolean;
  readonly #path: string;
  readonly #lifetimes: Lifetimes;
  readonly #now: () => number;
  #current: SigningKeys['current'];
  #keys: ReadonlyMap<string, LoadedKey>;
  /** Identifies a state of the file; any two states differ in it. */
  #stamp: string;

  private constructor(path: string, isNew: boolean, lifetimes: Lifetimes, now: () => number, loaded: Loaded) {
    this.isNew = isNew;
    this.#path = path;
    this.#lifetimes = lifetimes;
    this.#now = now;
    this.#current = loaded.current;
    this.#keys = loaded.keys;
    this.#stamp = loaded.stamp;
  }

  static async open(path: string, lifetimes: Lifetimes, now: () => number): Promise<KeyRing> {
    const isNew = (await read(path)) === null && (await create(path));
    // A restored backup may have wider file permissions.
    await chmod(path, 0o600);
    return new KeyRing(path, isNew, lifetimes, now, await load(path));
  }

  get current(): SigningKeys['current'] {
    return this.#current;
  }

  publicKey(kid: string): CryptoKey | undefined {
    const key = this.#keys.get(kid);
    return key && !isOver(key.retiredAtMs, this.#lifetimes, this.#now()) ? key.publicKey : undefined;
  }

  get jwks(): { keys: JWK[] } {
    const { tokenSeconds } = this.#lifetimes;
    const nowMs = this.#now();
    return {
      keys: [...this.#keys.values()]
        .filter(({ retiredAtMs }) => retiredAtMs === null || nowMs < endOf(retiredAtMs, tokenSeconds))
        .map(({ shown }) => shown),
    };
  }

  /**
   * Reads changes of the file, and removes expired keys from it.
   *
   * @returns true when another key signs now
   * @throws {Error} when the file can't be used: the keys in force stay unchanged
   */
  async reload(): Promise<boolean> {
    const nowMs = this.#now();
    for (const { retiredAtMs } of this.#keys.values())
      if (isOver(retiredAtMs, this.#lifetimes, nowMs)) {
        await change(this.#path, (file) => pruned(file, this.#lifetimes, nowMs));
        break;
      }
    if ((await stampOf(this.#path)) === this.#stamp) return false;
    const { kid } = this.#current;
    const loaded = await load(this.#path);
    this.#current = loaded.current;
    this.#keys = loaded.keys;
    this.#stamp = loaded.stamp;
    return loaded.current.kid !== kid;
  }
}

/**
 * Opens the keys in a file, which is created with a new key if it is missing; only its owner may read it. Several
 * processes that start at once on one folder all use the same key.
 *
 * @param now Unix milliseconds
 * @throws {Error} when the file can neither be read nor made, or holds anything but Ed25519 keys
 */
export function openKeys(path: string, lifetimes: Lifetimes, now: () => number = SYSTEM_CLOCK.now): Promise<KeyRing> {
  return KeyRing.open(path, lifetimes, now);
}

/**
 * Creates a new key, which signs from now on; a running service notices it within seconds. The previous key verifies
 * for as long as anything it signed is valid; its private part is deleted.
 *
 * @param revoke the old keys no longer verify anything: for a key that may be compromised
 * @returns the new key's `kid`, and how many old keys still verify
 * @throws {Error} when there is no file of keys, or when it can't be written
 */
export async function rotateKeys(
  path: string,
  lifetimes: Lifetimes,
  nowMs: number,
  revoke = false,
): Promise<{ kid: string; verifying: number }> {
  // Fails if the file is not a key file, so that it is not overwritten.
  await load(path);
  const fresh = await newKey();
  const { keys } = await change(path, (file) => {
    if (revoke) return { keys: [fresh] };
    const retired = file.keys.map(({ d: _, ...key }) => ({ ...key, retiredAtMs: key.retiredAtMs ?? nowMs }));
    return pruned({ keys: [fresh, ...retired] }, lifetimes, nowMs);
  });
  return { kid: await calculateJwkThumbprint(publicPart(fresh)), verifying: keys.length - 1 };
}

function pruned({ keys }: KeyFile, lifetimes: Lifetimes, nowMs: number): KeyFile {
  return { keys: keys.filter(({ retiredAtMs }) => !isOver(retiredAtMs ?? null, lifetimes, nowMs)) };
}

/** Whether every token signed by a retired key has expired. */
function isOver(retiredAtMs: number | null, { tokenSeconds, sessionSeconds }: Lifetimes, nowMs: number): boolean {
  return retiredAtMs !== null && nowMs >= endOf(retiredAtMs, Math.max(tokenSeconds, sessionSeconds));
}

function endOf(retiredAtMs: number, seconds: number): number {
  return retiredAtMs + NOTICED_WITHIN_MS + seconds * 1000;
}

interface Loaded {
  current: SigningKeys['current'];
  keys: ReadonlyMap<string, LoadedKey>;
  stamp: string;
}

async function load(path: string): Promise<Loaded> {
  // Taken before the file is read, so that a change in between is detected and the file read again.
  const stamp = await stampOf(path);
  const file = await read(path);
  if (!file) throw new Error(`there are no keys at ${path}`);
  const keys = new Map<string, LoadedKey>();
  let current: SigningKeys['current'] | null = null;
  for (const [nth, jwk] of file.keys.entries()) {
    const isSigning = nth === 0;
    const { retiredAtMs = null } = jwk;
    if (jwk.kty !== 'OKP' || jwk.crv !== 'Ed25519' || typeof jwk.x !== 'string')
      throw new Error(`${path} holds a key that is not an Ed25519 key`);
    if (isSigning ? typeof jwk.d !== 'string' : retiredAtMs !== null && typeof retiredAtMs !== 'number')
      throw new Error(`${path} holds a key that is not an Ed25519 key pair`);
    const shown = publicPart(jwk);
    const kid = await calculateJwkThumbprint(shown);
    keys.set(kid, {
      kid,
      publicKey: await importKey(shown, path),
      shown: { ...shown, kid, alg: ALGORITHM, use: 'sig' },
      retiredAtMs: isSigning ? null : retiredAtMs,
    });
    if (isSigning) current = { kid, privateKey: await importKey(signingPart(jwk), path) };
  }
  if (!current) throw new Error(`${path} holds no key`);
  return { current, keys, stamp };
}

async function importKey(jwk: JWK, path: string): Promise<CryptoKey> {
  try {
    return (await importJWK(jwk, ALGORITHM)) as CryptoKey;
  } catch (cause) {
    throw new Error(`${path} holds a key that is damaged: ${(cause as Error).message}`, { cause });
  }
}

function publicPart({ x = '' }: JWK): JWK {
  return { kty: 'OKP', crv: 'Ed25519', x };
}

function signingPart({ d = '', ...jwk }: JWK): JWK {
  return { ...publicPart(jwk), d };
}

async function stampOf(path: string): Promise<string> {
  const { ino, size, mtimeMs } = await stat(path);
  return `${ino} ${size} ${mtimeMs}`;
}

async function read(path: string): Promise<KeyFile | null> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw new Error(`${path} is not a key file`, { cause: error });
  }
  if (typeof file !== 'object' || file === null || !Array.isArray((file as KeyFile).keys))
    throw new Error(`${path} is not a key file`);
  return file as KeyFile;
}

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true });
  return exportJWK(privateKey);
}

/** @returns whether this process created the file, if several try at once */
async function create(path: string): Promise<boolean> {
  return createWhole(path, textOf({ keys: [await newKey()] }));
}

const LOCK_TRIES = 100;
const LOCK_RETRY_MS = 50;
/** Writes take far less time: an older lock was left by a process that crashed. */
const LOCK_STALE_MS = 30_000;

/**
 * Replaces the file with a changed one, under an exclusive lock.
 *
 * @returns the new content
 */
async function change(path: string, edit: (file: KeyFile) => KeyFile): Promise<KeyFile> {
  const lock = `${path}.lock`;
  await takeLock(lock);
  try {
    const file = await read(path);
    if (!file) throw new Error(`there are no keys at ${path}`);
    const changed = edit(file);
    await replaceWhole(path, textOf(changed));
    return changed;
  } finally {
    await unlink(lock);
  }
}

async function takeLock(lock: string): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await (await open(lock, 'wx', 0o600)).close();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (tries === LOCK_TRIES) throw new Error(`${lock} is held by another process`, { cause: error });
    }
    const held = await stat(lock).catch(() => null);
    if (held && SYSTEM_CLOCK.now() - held.mtimeMs > LOCK_STALE_MS) await unlink(lock).catch(() => {});
    await SYSTEM_CLOCK.sleep(LOCK_RETRY_MS);
  }
}

function textOf(file: KeyFile): string {
  return `${JSON.stringify(file, null, 2)}\n`;
}
