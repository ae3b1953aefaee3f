import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rotateKeys } from '@outrider/auth';
import { SIGNING_KEYS_FILE } from '@outrider/backing';
import type { Config } from '@outrider/runtime';
import type { variables } from '../config.ts';
import { DataDirError } from '../data-dir.ts';

/**
 * Makes a new key for signing tokens of the service on `DATA_DIR`, whether it runs (it notices within seconds) or not.
 *
 * @param revoke whether everything signed by older keys ends within seconds: tokens, cookies, WebSockets
 * @returns the message for the operator
 * @throws {DataDirError} when the folder contains no keys
 */
export async function rotateSigningKeys(
  config: Pick<Config<typeof variables>, 'DATA_DIR' | 'JWT_TTL_SECONDS' | 'SESSION_TTL_SECONDS'>,
  nowMs: number,
  revoke: boolean,
): Promise<string> {
  const path = join(resolve(config.DATA_DIR), SIGNING_KEYS_FILE);
  if (!existsSync(path))
    throw new DataDirError(`there are no keys at ${path}: the first start of the service makes them`);
  const lifetimes = { tokenSeconds: config.JWT_TTL_SECONDS, sessionSeconds: config.SESSION_TTL_SECONDS };
  const { kid, verifying } = await rotateKeys(path, lifetimes, nowMs, revoke);
  if (revoke) return `key ${kid} signs from now on; the older ones are revoked: everybody has to log in again\n`;
  return `key ${kid} signs from now on; ${verifying} older verify until what they signed is over\n`;
}
