import { randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
// Avoids importing the whole package, which the writer thread would then load.
import { SYSTEM_CLOCK } from '@outrider/domain/clock';
import { DiskBusyError, DiskFullError } from '../log.ts';
import type { RegisteredReader } from '../reader-register.ts';

/**
 * Stored in the file, so that a later version recognises an older layout, and an earlier one refuses a newer one. Since
 * 2 rows may be compressed, and table `compressed` has the offset from which on they are plain.
 */
const LAYOUT_VERSION = 2;
/**
 * Measured: 32 KiB pages commit a batch of 1 MiB in 2 ms and one of 300 bytes in 0.25 ms, 4 KiB pages in 6 and 0.35.
 */
const PAGE_BYTES = 32 * 1024;
/** The write-ahead log is copied into the file after each growth by this many bytes. */
const CHECKPOINT_BYTES = 16 * 1024 * 1024;
/** How long opening and reading wait for a locked file. */
const BUSY_TIMEOUT_MS = 5000;

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html). */
export const SQLITE_BUSY = 5;
export const SQLITE_FULL = 13;
/** Extended: the index of the write-ahead log could not grow. */
const SQLITE_IOERR_SHMSIZE = 4874;

/**
 * Number of runs that the file keeps. For a reader whose offset is from an older run the file can't determine any more
 * what the reader has read.
 */
const MAX_RUNS = 10_000;

export interface PreparedFile {
  /** Canonical path of the file, by which the threads of the process find each other. */
  path: string;
  /** Id of the file's newest run: the identity of its records. */
  identity: string;
}

/**
 * Creates the file, its folder and its layout if they do not exist.
 *
 * Runs distinguish the file from others, and from older copies of itself. Each start of the service begins a run, with
 * a random id and the ends of all partitions at that moment: records below such an end were written in earlier runs. An
 * older copy lacks later runs, or its ends of the run in which it was copied are lower.
 *
 * @param startsRun whether this opening is a start of the service: the first one, before any other reads or appends
 * @throws {Error} when the folder can't be written, or the file has another format
 */
export function prepareFile(path: string, startsRun: boolean): PreparedFile {
  try {
    mkdirSync(dirname(path), { recursive: true });
    const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
    try {
      db.exec(`PRAGMA page_size = ${PAGE_BYTES}`);
      // Threads may create the file concurrently, and SQLite's own busy timeout does not cover this statement.
      retryWhileBusy(() => db.exec('PRAGMA journal_mode = WAL'));
      const version = Number(db.prepare('PRAGMA user_version').get()?.user_version);
      if (version > LAYOUT_VERSION)
        throw new Error(`its layout has version ${version}, and this service writes ${LAYOUT_VERSION}`);
      if (version < LAYOUT_VERSION) retryWhileBusy(() => lay(db));
      return { path: realpathSync(path), identity: identityIn(db, startsRun) };
    } finally {
      db.close();
    }
  } catch (error) {
    throw new Error(`the log ${path} can't be opened: ${messageOf(error)}`, { cause: error });
  }
}

/** Creates the layout, or upgrades an earlier one. */
function lay(db: DatabaseSync): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    db.exec(`
      CREATE TABLE IF NOT EXISTS topics (
        name TEXT NOT NULL, partition INTEGER NOT NULL, compacted INTEGER NOT NULL,
        PRIMARY KEY (name, partition)
      ) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS compressed (
        topic TEXT NOT NULL, partition INTEGER NOT NULL, next_offset INTEGER NOT NULL,
        PRIMARY KEY (topic, partition)
      ) WITHOUT ROWID;
      PRAGMA user_version = ${LAYOUT_VERSION};
      COMMIT`);
  } finally {
    if (db.isTransaction) db.exec('ROLLBACK');
  }
}

function identityIn(db: DatabaseSync, startsRun: boolean): string {
  const newest = hasTable(db, 'readers')
    ? (db.prepare('SELECT id FROM runs ORDER BY number DESC LIMIT 1').get()?.id as string | undefined)
    : undefined;
  if (newest !== undefined && !startsRun) return newest;
  const id = randomBytes(8).toString('hex');
  try {
    retryWhileBusy(() => db.exec('BEGIN IMMEDIATE'));
    try {
      db.exec(`
        CREATE TABLE IF NOT EXISTS runs (
          number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, started_at_ms INTEGER NOT NULL, ends TEXT NOT NULL
        );
        CREATE TABLE IF NOT EXISTS readers (
          name TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL, next_offset INTEGER NOT NULL,
          PRIMARY KEY (name, topic, partition)
        ) WITHOUT ROWID`);
      // Another thread may have begun the first run meanwhile.
      const first = startsRun ? undefined : db.prepare('SELECT id FROM runs ORDER BY number DESC LIMIT 1').get();
      if (first === undefined) {
        db.prepare('INSERT INTO runs (id, started_at_ms, ends) VALUES (?, ?, ?)').run(
          id,
          SYSTEM_CLOCK.now(),
          JSON.stringify(endsIn(db)),
        );
        db.prepare('DELETE FROM runs WHERE number <= (SELECT max(number) FROM runs) - ?').run(MAX_RUNS);
      }
      db.exec('COMMIT');
      return first === undefined ? id : String(first.id);
    } catch (error) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  } catch (error) {
    // The disk is unavailable, so nothing can be appended either: the newest run continues until there is space.
    if (diskOutageOf(error) === null) throw error;
    return newest ?? id;
  }
}

function hasTable(db: DatabaseSync, name: string): boolean {
  return db.prepare('SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ?').get('table', name) !== undefined;
}

/** Offsets after the newest record, by `<topic>/<partition>`. */
function endsIn(db: DatabaseSync): Record<string, number> {
  const ends: Record<string, number> = {};
  for (const { name, partition, compacted } of db.prepare('SELECT name, partition, compacted FROM topics').all()) {
    const end = db
      .prepare(
        `SELECT base_offset + ${compacted ? '1' : 'count'} AS end
         FROM ${tableOf(String(name), Number(partition))} ORDER BY base_offset DESC LIMIT 1`,
      )
      .get();
    ends[`${name}/${partition}`] = Number(end?.end ?? 0);
  }
  return ends;
}

/** A connection for writing: commits are durable when they return. */
export function openForWriting(path: string, maxFileBytes: number): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  db.exec('PRAGMA synchronous = FULL');
  const { page_size: pageBytes } = db.prepare('PRAGMA page_size').get() as { page_size: number };
  db.exec(`PRAGMA wal_autocheckpoint = ${Math.ceil(CHECKPOINT_BYTES / pageBytes)}`);
  db.exec(`PRAGMA journal_size_limit = ${4 * CHECKPOINT_BYTES}`);
  db.exec('PRAGMA cache_size = -8192');
  // The writer has a waiting mechanism of its own.
  db.exec('PRAGMA busy_timeout = 0');
  if (Number.isFinite(maxFileBytes)) db.exec(`PRAGMA max_page_count = ${Math.ceil(maxFileBytes / pageBytes)}`);
  return db;
}

/** A connection that only reads, and sees each commit as soon as it is made. */
export function openForReading(path: string): DatabaseSync {
  return new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
}

/**
 * Name of the table that holds a partition. Each partition has its own table in the order of offsets, so that appending
 * touches only the end of one tree.
 */
export function tableOf(topic: string, partition: number): string {
  if (!/^[\w.-]+$/.test(topic)) throw new Error(`${JSON.stringify(topic)} is no name for a topic`);
  return `"${topic}/${partition}"`;
}

/** Channel on which commits to a topic of a file are announced to its readers in all threads. */
export function growthChannelOf(path: string, topic: string): string {
  return `outrider-log ${path} ${topic}`;
}

/**
 * Channel on which writers of a file, in all threads, announce that they wait for its lock. It can't collide with that
 * of a topic: names of topics contain no slash.
 */
export function turnsChannelOf(path: string): string {
  return `outrider-log ${path} /turns`;
}

/** Channel on which the instances of a file publish released offsets, for the threads that remove old records. */
export function readersChannelOf(path: string): string {
  return `outrider-log ${path} /readers`;
}

/** Persists a reader, which may not have read the records from its offset on. */
export function registerReader(path: string, { reader, topic, partition, offset }: RegisteredReader): void {
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  try {
    const known = db
      .prepare('SELECT next_offset FROM readers WHERE name = ? AND topic = ? AND partition = ?')
      .get(reader, topic, partition);
    // The smaller known offset retains more than needed, until the reader releases it.
    if (known !== undefined && Number(known.next_offset) <= offset) return;
    const set = db.prepare('INSERT OR REPLACE INTO readers VALUES (?, ?, ?, ?)');
    retryWhileBusy(() => set.run(reader, topic, partition, offset));
  } catch (error) {
    // Safe to ignore: nothing is appended on a full disk, and only this process, which knows the reader while it runs,
    // removes records.
    if (diskOutageOf(error) !== 'full') throw error;
  } finally {
    db.close();
  }
}

/** All readers ever registered, as stored by {@link registerReader} and retention. */
export function registeredReaders(db: DatabaseSync): RegisteredReader[] {
  return db
    .prepare('SELECT name, topic, partition, next_offset FROM readers ORDER BY name, topic, partition')
    .all()
    .map((row) => ({
      reader: String(row.name),
      topic: String(row.topic),
      partition: Number(row.partition),
      offset: Number(row.next_offset),
    }));
}

/** SQLite's primary result code of an error; null for other errors. */
export function sqliteCode(error: unknown): number | null {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === 'number' ? code & 0xff : null;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Retries `action` while another connection blocks it. */
export function retryWhileBusy(action: () => void): void {
  const giveUpAt = SYSTEM_CLOCK.steadyMs() + BUSY_TIMEOUT_MS;
  for (;;) {
    try {
      action();
      return;
    } catch (error) {
      if (sqliteCode(error) !== SQLITE_BUSY || SYSTEM_CLOCK.steadyMs() > giveUpAt) throw error;
      sleep(5);
    }
  }
}

const never = new Int32Array(new SharedArrayBuffer(4));

/** Blocks this thread for a time. */
export function sleep(ms: number): void {
  Atomics.wait(never, 0, 0, ms);
}

/** Condition of the disk that may pass: it is full, or a slow disk keeps the file locked. */
export type DiskOutage = 'full' | 'busy';

/** Why nothing was written, if the disk is the reason; null for any other reason. */
export function diskOutageOf(error: unknown): DiskOutage | null {
  const code = sqliteCode(error);
  if (code === SQLITE_BUSY) return 'busy';
  const extended = error instanceof Error && 'errcode' in error ? Number(error.errcode) : null;
  return code === SQLITE_FULL || extended === SQLITE_IOERR_SHMSIZE ? 'full' : null;
}

/** The error class that reports the outage to the caller. */
export function errorOf(outage: DiskOutage | null): typeof DiskFullError | typeof DiskBusyError | typeof Error {
  if (outage === null) return Error;
  return outage === 'full' ? DiskFullError : DiskBusyError;
}
