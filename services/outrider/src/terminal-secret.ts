import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';

/**
 * The secret that terminals' codes are derived from, kept in a file for the one user that the service runs as; made where there is
 * none. Were it another one after a restart, terminals would have to register again.
 *
 * @throws {Error} when the file can't be read or made, or holds nothing
 */
export async function openTerminalSecret(path: string): Promise<string> {
  try {
    await writeFile(path, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const secret = (await readFile(path, 'utf8')).trim();
  if (secret === '') throw new Error(`${path} is empty: delete it, and terminals will register again`);
  return secret;
}
