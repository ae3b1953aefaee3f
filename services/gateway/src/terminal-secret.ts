import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createWhole } from '@outrider/files/whole-file';
import { StartError } from '@outrider/runtime';

/** 32 random bytes in hex digits. */
const SECRET = /^[0-9a-f]{64}$/;
/** Random secrets of 64 hex digits practically never have fewer distinct digits. */
const FEWEST_DIGITS = 6;

/**
 * The secret from which the codes of terminals are derived. It is in a file that only the service's account can read,
 * and its checksum in another; both are created if missing. With another secret after a restart, all terminals would
 * have to register again.
 *
 * @throws {StartError} when the file is damaged
 * @throws {Error} when it can't be read or created
 */
export async function openTerminalSecret(path: string): Promise<string> {
  const secret = await readOrMake(path, randomBytes(32).toString('hex'));
  if (!SECRET.test(secret) || new Set(secret).size < FEWEST_DIGITS)
    throw damaged(path, `it has ${secret.length} characters that are no secret of 64 hex digits`);
  const sum = createHash('sha256').update(secret).digest('hex');
  if ((await readOrMake(`${path}.sha256`, sum)) !== sum)
    throw damaged(path, `its check sum is not that in ${path}.sha256`);
  return secret;
}

function damaged(path: string, how: string): StartError {
  return new StartError(
    `${path} is damaged: ${how}. Restore both files from a backup; or delete both, and all terminals register again`,
  );
}

/** Content of a file without white space at its ends. Creates the file if it is missing. */
async function readOrMake(path: string, content: string): Promise<string> {
  await createWhole(path, content);
  return (await readFile(path, 'utf8')).trim();
}
