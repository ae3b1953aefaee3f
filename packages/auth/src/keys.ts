import { randomUUID } from 'node:crypto';
import { chmod, link, open, readFile, unlink } from 'node:fs/promises';
import { type CryptoKey, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';

/** RFC 8037: Ed25519. The one algorithm that is signed with and accepted. */
export const ALGORITHM = 'EdDSA';

/** Signing keys: the first signs, all verify. */
export interface SigningKeys {
  readonly current: { kid: string; privateKey: CryptoKey };
  /** Public keys by `kid`. */
  readonly publicKeys: ReadonlyMap<string, CryptoKey>;
  /** What `/.well-known/jwks.json` shows (RFC 7517): public parts alone. */
  readonly jwks: { keys: JWK[] };
}

/** The file: JWKs with their private part, the newest first. */
interface KeyFile {
  keys: JWK[];
}

/**
 * The keys in a file, which is made with a new key when there is none; only its owner may read it. Of several
 * processes that start at once on one folder, all come to use the same key.
 *
 * @throws {Error} when the file can neither be read nor made, or holds anything but Ed25519 key pairs
 */
export async function openKeys(path: string): Promise<SigningKeys> {
  const file = (await read(path)) ?? (await create(path));
  // A restored backup may have come with looser rights.
  await chmod(path, 0o600);

  const publicKeys = new Map<string, CryptoKey>();
  const jwks: JWK[] = [];
  let current: SigningKeys['current'] | null = null;
  for (const jwk of file.keys) {
    if (jwk.kty !== 'OKP' || jwk.crv !== 'Ed25519' || typeof jwk.x !== 'string' || typeof jwk.d !== 'string')
      throw new Error(`${path} holds a key that is not an Ed25519 key pair`);
    const shown: JWK = { kty: 'OKP', crv: 'Ed25519', x: jwk.x };
    const kid = await calculateJwkThumbprint(shown);
    publicKeys.set(kid, (await importJWK(shown, ALGORITHM)) as CryptoKey);
    jwks.push({ ...shown, kid, alg: ALGORITHM, use: 'sig' });
    current ??= { kid, privateKey: (await importJWK(jwk, ALGORITHM)) as CryptoKey };
  }
  if (!current) throw new Error(`${path} holds no key`);
  return { current, publicKeys, jwks: { keys: jwks } };
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

/** Writes a whole, synced file under another name first: whoever reads `path` finds nothing or all of it. */
async function create(path: string): Promise<KeyFile> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { crv: 'Ed25519', extractable: true });
  const file: KeyFile = { keys: [await exportJWK(privateKey)] };
  const draft = `${path}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(file, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await unlink(draft);
  }
  const kept = await read(path);
  if (!kept) throw new Error(`${path} was removed while it was made`);
  return kept;
}
