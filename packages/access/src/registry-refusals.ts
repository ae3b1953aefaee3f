import { StaleVersionError, TooManyError } from '@outrider/registry';
import { Problem } from './problem.ts';

/** @throws {Problem} `stale`, when the object was changed in the meantime */
export async function current<T>(changed: Promise<T>): Promise<T> {
  try {
    return await changed;
  } catch (error) {
    if (!(error instanceof StaleVersionError)) throw error;
    throw new Problem('stale', 'Read it again, and repeat the change.', {
      headers: { etag: `"${error.version}"` },
    });
  }
}

/** @throws {Problem} `conflict`, when the maximum number exists already */
export async function bounded<T>(made: Promise<T>): Promise<T> {
  try {
    return await made;
  } catch (error) {
    if (error instanceof TooManyError) throw new Problem('conflict', `${error.message}.`);
    throw error;
  }
}
