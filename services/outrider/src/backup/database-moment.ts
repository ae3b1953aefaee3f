import { DatabaseSync } from 'node:sqlite';
import { SYSTEM_CLOCK } from '@outrider/domain';

/** Writers of the databases wait no longer than this for one attempt. */
const ATTEMPT_MS = 300;
const GIVE_UP_AFTER_MS = 60_000;
const RETRY_MS = 1;
/** Between attempts: who waited for a database has it meanwhile. */
const PAUSE_MS = 200;

/**
 * Opens databases for reading as they all were at one moment: for an instant the write locks of all are held, so that
 * no commit to one of them lies between the moments of two. Other processes may write them.
 *
 * @param paths in write-ahead mode, in the order in which their locks are taken
 * @returns connections that see that moment until they are closed
 * @throws {Error} when the locks can't be had
 */
export async function openAtOneMoment(paths: readonly string[]): Promise<DatabaseSync[]> {
  const giveUpAt = SYSTEM_CLOCK.steadyMs() + GIVE_UP_AFTER_MS;
  for (;;) {
    const opened = await attempt(paths);
    if (opened !== null) return opened;
    if (SYSTEM_CLOCK.steadyMs() > giveUpAt) throw new Error(`cannot lock ${paths.join(', ')} together`);
    await SYSTEM_CLOCK.sleep(PAUSE_MS);
  }
}

async function attempt(paths: readonly string[]): Promise<DatabaseSync[] | null> {
  const writers: DatabaseSync[] = [];
  const readers: DatabaseSync[] = [];
  try {
    const endAt = SYSTEM_CLOCK.steadyMs() + ATTEMPT_MS;
    for (const path of paths) {
      const writer = new DatabaseSync(path, { timeout: 0 });
      writers.push(writer);
      while (!hasLocked(writer)) {
        if (SYSTEM_CLOCK.steadyMs() > endAt) return null;
        await SYSTEM_CLOCK.sleep(RETRY_MS);
      }
    }
    for (const path of paths) {
      const reader = new DatabaseSync(path, { readOnly: true, timeout: ATTEMPT_MS });
      readers.push(reader);
      // The first read decides what a transaction sees.
      reader.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    }
    return readers;
  } catch (error) {
    for (const reader of readers) reader.close();
    throw error;
  } finally {
    for (const writer of writers) writer.close();
  }
}

function hasLocked(database: DatabaseSync): boolean {
  try {
    database.exec('BEGIN IMMEDIATE');
    return true;
  } catch (error) {
    if (/locked|busy/.test((error as Error).message)) return false;
    throw error;
  }
}
