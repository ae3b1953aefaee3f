import { randomBytes } from 'node:crypto';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createWhole, replaceWhole } from '@outrider/files/whole-file';
import type { Secrets } from '@outrider/registry';
import { StartError } from '@outrider/runtime';
import type { Backing } from './backing.ts';

const KEY_BYTES = 32;
/** In `DATA_DIR`, if the registry is embedded there and no key is configured. */
export const SECRETS_KEY_FILE = 'secrets-key';

/** Generates a key in the format of the settings. */
export function newSecretsKey(): string {
  return randomBytes(KEY_BYTES).toString('base64');
}

/**
 * Parses keys from the settings: 32 bytes each in base64, separated by commas or white space. The first one encrypts.
 *
 * @throws {Error} that describes the expected format
 */
export function parseSecretsKeys(text: string): Uint8Array[] {
  const keys = text.split(/[\s,]+/).filter((part) => part !== '');
  const wrong = 'keys of 32 bytes in base64, separated by commas, the one that seals first';
  if (keys.length === 0) throw new Error(wrong);
  return keys.map((part) => {
    const key = Buffer.from(part, 'base64');
    if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(part) || key.length !== KEY_BYTES) throw new Error(wrong);
    return key;
  });
}

/** The keys of the settings, or those of a file in the folder of an embedded registry. */
export interface OpenSecrets {
  secrets: Secrets;
  /** The file with the keys; null if they are from `SECRETS_KEY`, or there is no key. */
  file: string | null;
  /** Whether this call created the file. */
  isNew: boolean;
}

/**
 * The keys that encrypt stored secrets. Without a configured key, an embedded registry generates one in `DATA_DIR`; on
 * servers secrets are then not encrypted.
 *
 * @throws {StartError} when a file of keys can't be read or made
 */
export async function openSecrets(
  backing: Pick<Backing, 'folder' | 'databaseUrl' | 'secretsKey' | 'secretsKeyFile'>,
): Promise<OpenSecrets> {
  const { folder, databaseUrl, secretsKey, secretsKeyFile } = backing;
  const { Secrets } = await import('@outrider/registry');
  if (secretsKey !== null) return { secrets: new Secrets(parseSecretsKeys(secretsKey)), file: null, isNew: false };
  if (secretsKeyFile !== null)
    return {
      secrets: new Secrets(await readKeys(secretsKeyFile, 'SECRETS_KEY_FILE')),
      file: secretsKeyFile,
      isNew: false,
    };
  if (databaseUrl !== null || folder === null) return { secrets: new Secrets([]), file: null, isNew: false };
  const path = join(folder, SECRETS_KEY_FILE);
  const isNew = await makeKeyFile(path);
  return { secrets: new Secrets(await readKeys(path, 'the key of stored secrets')), file: path, isNew };
}

/**
 * Inserts a new key before those in the file of an embedded registry.
 *
 * @returns the ids of the new key, and of the older ones
 */
export async function addSecretsKey(folder: string): Promise<{ added: string; before: string[] }> {
  const path = join(folder, SECRETS_KEY_FILE);
  await makeKeyFile(path);
  const before = await readKeys(path, 'the key of stored secrets');
  const added = newSecretsKey();
  const keys = [added, ...before.map((key) => Buffer.from(key).toString('base64'))];
  await replaceWhole(path, `${keys.join('\n')}\n`);
  const { keyId } = await import('@outrider/registry');
  return { added: keyId(Buffer.from(added, 'base64')), before: before.map(keyId) };
}

/** Removes all keys but the first from the file of an embedded registry: nothing is encrypted with them any more. */
export async function keepNewestSecretsKey(folder: string): Promise<void> {
  const path = join(folder, SECRETS_KEY_FILE);
  const [newest] = await readKeys(path, 'the key of stored secrets');
  if (newest !== undefined) await replaceWhole(path, `${Buffer.from(newest).toString('base64')}\n`);
}

/** @returns whether this call created it */
async function makeKeyFile(path: string): Promise<boolean> {
  if (await createWhole(path, `${newSecretsKey()}\n`)) return true;
  // A restored backup may have less strict permissions.
  await chmod(path, 0o600);
  return false;
}

async function readKeys(path: string, what: string): Promise<Uint8Array[]> {
  try {
    return parseSecretsKeys(await readFile(path, 'utf8'));
  } catch (error) {
    throw new StartError(`${what} ${path} can't be used: ${(error as Error).message}`, { cause: error });
  }
}
