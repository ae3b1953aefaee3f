import { DatabaseSync } from 'node:sqlite';
import { SYSTEM_CLOCK } from '@outrider/domain';

/** Longest time for which one attempt blocks writers of the databases. */
const ATTEMPT_MS = 300;
const GIVE_UP_AFTER_MS = 60_000;
const RETRY_MS = 1;
/** Pause between attempts, in which blocked writers can write. */
const PAUSE_MS = 200;

/**
 * Opens databases for reading, all in their state of the same moment. For an instant the write locks of all are held,
 * so no commit to one of them falls between the snapshots. Other processes may write to the databases.
 *
 * @param paths databases in write-ahead mode, in the order in which their locks are taken
 * @returns connections that see this state until they are closed
 * @throws {Error} when the locks can't be acquired
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
      // The first read fixes the snapshot of the transaction.
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
