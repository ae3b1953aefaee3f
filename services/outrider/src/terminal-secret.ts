import { randomBytes } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';

/**
 * The secret from which the codes of terminals are derived, in a file that only the user of the service can read;
 * created if it does not exist. With another secret after a restart, all terminals would have to register again.
 *
 * @throws {Error} when the file can't be read or made, or holds nothing
 */
export async function openTerminalSecret(path: string): Promise<string> {
  // Written aside and put in place whole: a start that is killed leaves no empty file.
  const aside = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(aside, randomBytes(32).toString('hex'), { flag: 'wx', mode: 0o600 });
  try {
    await link(aside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(aside, { force: true });
  }
  const secret = (await readFile(path, 'utf8')).trim();
  if (secret === '') throw new Error(`${path} is empty: delete it, and terminals will register again`);
  return secret;
}
