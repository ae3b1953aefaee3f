import { randomUUID } from 'node:crypto';
import { link, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Of a file with a secret: for the account of the service alone. */
const MODE = 0o600;

/**
 * Makes a file that is whole whenever it is there, whatever ends the process or the power.
 *
 * @returns false where there is one, which stays: of several that make it at once, one does
 */
export async function createWhole(path: string, content: string): Promise<boolean> {
  return placed(path, content, async (aside) => {
    try {
      await link(aside, path);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return false;
    }
  });
}

/** Puts a file in the place of another: readers find all of the one or all of the other, whatever ends the process. */
export async function replaceWhole(path: string, content: string): Promise<void> {
  await placed(path, content, (aside) => rename(aside, path));
}

async function placed<Result>(
  path: string,
  content: string,
  place: (aside: string) => Promise<Result>,
): Promise<Result> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await writeFile(aside, content, { flag: 'wx', mode: MODE, flush: true });
    const result = await place(aside);
    await syncFolder(dirname(path));
    return result;
  } finally {
    await rm(aside, { force: true });
  }
}

/** A name in a folder is durable once the folder is. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
