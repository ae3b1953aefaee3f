import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { crc32 } from 'node:zlib';
// Avoids importing the whole package, which the writer thread would then load.
import { SYSTEM_CLOCK, type Timer } from '@outrider/domain/clock';
import type { HoldUp } from '../log.ts';
import type { RegisteredReader } from '../reader-register.ts';
import { type CompressionSettings, Compressor } from './compressor.ts';
import {
  type DiskOutage,
  diskOutageOf,
  growthChannelOf,
  messageOf,
  openForWriting,
  readersChannelOf,
  registeredReaders,
  SQLITE_BUSY,
  SQLITE_FULL,
  sleep,
  sqliteCode,
  tableOf,
  turnsChannelOf,
} from './database.ts';
import type { Growing } from './growth.ts';
import { COPIED_BYTES, PREFIX_BYTES, recordAt, SEGMENT_BYTES, type Segment, type WrittenRow } from './segment.ts';

/*
 * The writer thread of one open log: waiting for the disk blocks only this thread. Every open log of a file has its
 * own, and SQLite's lock separates them. Waiting for that lock means polling it, and a writer that commits continuously
 * would hardly leave it free. So a waiting writer announces itself, and the other one pauses after its commit for
 * longer than the polling interval. (`locks` of node:worker_threads would be the tool; in Node 26.10 it aborts the
 * process when threads contend.)
 */

export interface WriterSettings {
  path: string;
  /** Records older than this are removed once they are read, save those of compacted topics. */
  maxAgeMs: number;
  /**
   * Above this many bytes in the file the oldest records that were read are removed, save those of compacted topics.
   */
  maxBytes: number;
  /** The file never grows beyond this: an append that needs more fails as on a full disk. */
  maxFileBytes: number;
  retentionEveryMs: number;
  /**
   * A writer gives up when the file's lock was not free for this long: a slow disk delays a commit, or another process
   * holds the lock.
   */
  lockTimeoutMs: number;
  compression: CompressionSettings;
}

export type ToWriter = { type: 'write'; segments: Segment[] } | { type: 'close' };
export type FromWriter =
  /**
   * The segments are durable, or `error` says why none of them is; `outage` is the condition of the disk to wait for.
   * Returns the memory of the segments.
   */
  | { type: 'written'; error: string | null; outage: DiskOutage | null; memory: ArrayBuffer[] }
  /** The file is at its size bound and nothing can be removed; null: this is not the case, or no longer. */
  | { type: 'held'; holdUp: HoldUp | null };

/**
 * Retention runs whenever this share of the bound was written since its last run, so that the bound holds at any rate
 * of records.
 */
const SHARE_BETWEEN_RUNS = 1 / 32;
/** Interval of retention while the log is held up: readers may have released more. */
const HELD_RETRY_MS = 500;
/** Maximum rows per transaction of retention, which bounds the time that writers wait for it. */
const FORGET_ROWS = 16;
/** Interval at which a writer polls the lock, and how long the one that had it leaves it to others. */
const LOOK_EVERY_MS = 0.25;
const PAUSE_MS = 0.75;

class Writer {
  readonly #settings: WriterSettings;
  /** Channels that notify the readers of a topic of its growth. */
  readonly #growth = new Map<string, BroadcastChannel>();
  /** Channel on which writers of the file announce that they wait for its lock. */
  readonly #turns: BroadcastChannel;
  #leaveToOthersUntil = 0;
  #db: DatabaseSync | null = null;
  /** Channel on which instances of the file publish released offsets. */
  readonly #released: BroadcastChannel;
  /** Released offsets by reader and partition, as published; they may be newer than those in the file. */
  readonly #readers = new Map<string, RegisteredReader>();
  readonly #unsaved = new Set<string>();
  /** Prepared statements of the tables that are known to exist. */
  readonly #statements = new Map<string, { end: StatementSync; insert: StatementSync; forget: StatementSync | null }>();
  readonly #compressor: Compressor;

  constructor(settings: WriterSettings) {
    this.#settings = settings;
    this.#compressor = new Compressor(settings.compression);
    this.#turns = new BroadcastChannel(turnsChannelOf(settings.path));
    this.#turns.onmessage = () => {
      this.#leaveToOthersUntil = SYSTEM_CLOCK.steadyMs() + PAUSE_MS;
    };
    this.#released = new BroadcastChannel(readersChannelOf(settings.path));
    this.#released.onmessage = ({ data }) => {
      for (const reader of data as RegisteredReader[]) {
        const key = placeKey(reader);
        if (this.#readers.get(key)?.offset === reader.offset) continue;
        this.#readers.set(key, reader);
        this.#unsaved.add(key);
      }
    };
  }

  /** @throws {Error} when nothing was written */
  write(segments: readonly Segment[]): void {
    const written = this.#transaction((db) => {
      const nowMs = SYSTEM_CLOCK.now();
      return segments.map((segment) => ({ ...segment, row: this.#insert(db, segment, nowMs) }));
    });
    for (const [topic, grown] of Map.groupBy(written, (segment) => segment.topic))
      this.#growthOf(topic).postMessage(
        grown.map(({ partition, row }) => ({ partition, row })) satisfies readonly Growing[],
      );
  }

  /** Compresses a small part of the older records. Records that arrive meanwhile wait for one step at most. */
  compressOld(): void {
    const partition = this.#compressor.due();
    if (partition !== null) this.#transaction((db) => this.#compressor.step(db, partition));
  }

  /**
   * Removes a small part of the records that are too old or exceed the bound, and only records that all registered
   * readers have released.
   *
   * @returns whether there may be more to remove, and what keeps the file above its bound
   */
  removeOld(): { more: boolean; holdUp: HoldUp | null } {
    const { maxAgeMs, maxBytes } = this.#settings;
    return this.#transaction((db) => {
      this.#saveReaders(db);
      const slowest = this.#slowestReaders(db);
      const tables = db.prepare('SELECT name, partition FROM topics WHERE NOT compacted').all();
      let removed = 0;
      const heads: { table: string; writtenAtMs: number; reader: RegisteredReader | undefined }[] = [];
      for (const { name, partition } of tables) {
        const table = tableOf(String(name), Number(partition));
        const reader = slowest.get(`${name}/${partition}`);
        removed += removeRows(db, table, SYSTEM_CLOCK.now() - maxAgeMs, reader);
        const head = db.prepare(`SELECT written_at_ms FROM ${table} ORDER BY base_offset LIMIT 1`).get();
        if (head) heads.push({ table, writtenAtMs: Number(head.written_at_ms), reader });
      }
      const bytes = usedBytes(db);
      if (bytes <= maxBytes) return { more: removed > 0, holdUp: null };
      heads.sort((a, b) => a.writtenAtMs - b.writtenAtMs);
      for (const { table, reader } of heads) {
        const rows = removeRows(db, table, Number.POSITIVE_INFINITY, reader);
        removed += rows;
        if (rows > 0) break;
      }
      const holdUp = removed > 0 ? null : this.#holdUpOf(db, heads, bytes);
      return { more: removed > 0, holdUp };
    });
  }

  /** Persists the published offsets, so that they hold after a restart, for readers that do not run then. */
  #saveReaders(db: DatabaseSync): void {
    if (this.#unsaved.size === 0) return;
    const set = db.prepare('INSERT OR REPLACE INTO readers VALUES (?, ?, ?, ?)');
    for (const key of this.#unsaved) {
      const reader = this.#readers.get(key);
      if (reader) set.run(reader.reader, reader.topic, reader.partition, reader.offset);
    }
    this.#unsaved.clear();
  }

  /** The slowest reader by `<topic>/<partition>`. */
  #slowestReaders(db: DatabaseSync): Map<string, RegisteredReader> {
    const slowest = new Map<string, RegisteredReader>();
    for (const reader of registeredReaders(db)) {
      const place = `${reader.topic}/${reader.partition}`;
      const known = slowest.get(place);
      if (known === undefined || reader.offset < known.offset) slowest.set(place, reader);
    }
    return slowest;
  }

  /** The reader that is farthest behind among those that prevent the removal of rows; null if none does. */
  #holdUpOf(
    db: DatabaseSync,
    heads: readonly { table: string; reader: RegisteredReader | undefined }[],
    bytes: number,
  ): HoldUp | null {
    let holdUp: HoldUp | null = null;
    for (const { table, reader } of heads) {
      if (reader === undefined) continue;
      const last = db.prepare(`SELECT base_offset, count FROM ${table} ORDER BY base_offset DESC LIMIT 1`).get();
      // The newest row stays in any case.
      if (last === undefined || Number(last.base_offset) <= reader.offset) continue;
      const behindRecords = Number(last.base_offset) + Number(last.count) - reader.offset;
      if (behindRecords <= (holdUp?.behindRecords ?? 0)) continue;
      const { topic, partition } = reader;
      const { maxBytes } = this.#settings;
      holdUp = { reader: reader.reader, topic, partition, behindRecords, usedBytes: bytes, maxBytes };
    }
    return holdUp;
  }

  close(): void {
    for (const channel of this.#growth.values()) channel.close();
    this.#turns.close();
    this.#released.close();
    this.#db?.close();
    this.#db = null;
  }

  #growthOf(topic: string): BroadcastChannel {
    const channel = this.#growth.get(topic) ?? new BroadcastChannel(growthChannelOf(this.#settings.path, topic));
    this.#growth.set(topic, channel);
    return channel;
  }

  #transaction<T>(action: (db: DatabaseSync) => T): T {
    const { path, maxFileBytes } = this.#settings;
    this.#db ??= openForWriting(path, maxFileBytes);
    const db = this.#db;
    try {
      this.#begin(db);
      const result = action(db);
      db.exec('COMMIT');
      return result;
    } catch (error) {
      this.#statements.clear();
      const code = sqliteCode(error);
      if (db.isTransaction) {
        try {
          db.exec('ROLLBACK');
        } catch (rollbackError) {
          throw new AggregateError([error, rollbackError], `${messageOf(error)}, and ${messageOf(rollbackError)}`);
        } finally {
          if (code !== SQLITE_FULL) this.#reopen();
        }
      } else if (code !== SQLITE_BUSY && code !== SQLITE_FULL) this.#reopen();
      throw error;
    }
  }

  /** Acquires the file's lock. @throws {Error} SQLITE_BUSY when it was not available */
  #begin(db: DatabaseSync): void {
    const pauseMs = this.#leaveToOthersUntil - SYSTEM_CLOCK.steadyMs();
    if (pauseMs > 0) sleep(pauseMs);
    const giveUpAt = SYSTEM_CLOCK.steadyMs() + this.#settings.lockTimeoutMs;
    for (let said = false; ; said = true) {
      try {
        db.exec('BEGIN IMMEDIATE');
        return;
      } catch (error) {
        if (sqliteCode(error) !== SQLITE_BUSY || SYSTEM_CLOCK.steadyMs() > giveUpAt) throw error;
      }
      if (!said) this.#turns.postMessage(null);
      sleep(LOOK_EVERY_MS);
    }
  }

  /** Reopens the connection: after an error of the disk or the file its state can't be trusted. */
  #reopen(): void {
    const db = this.#db;
    this.#db = null;
    db?.close();
  }

  /** @returns the row, for readers to take without a query; null if it is large, or a row for each key was written */
  #insert(db: DatabaseSync, segment: Segment, nowMs: number): WrittenRow | null {
    const { keys, count } = segment;
    const { end, insert, forget } = this.#statementsOf(db, segment);
    const bytes = Buffer.from(segment.bytes, 0, segment.usedBytes);
    let offset = Number(end.get()?.end ?? 0);
    if (keys === null) {
      insert.run(offset, count, nowMs, crc32(bytes), bytes);
      const { topic, partition } = segment;
      this.#compressor.written({ topic, partition, table: tableOf(topic, partition) }, bytes.length);
      return bytes.length > COPIED_BYTES ? null : { baseOffset: offset, count, bytes };
    }
    let at = 0;
    for (const key of keys) {
      const { length } = recordAt(bytes, at);
      const row = bytes.subarray(at, at + PREFIX_BYTES + length);
      at += row.length;
      // Deletes the key's older row in the same transaction.
      forget?.run(key);
      insert.run(offset++, key, nowMs, crc32(row), row);
    }
    return null;
  }

  #statementsOf(db: DatabaseSync, { topic, partition, keys }: Segment) {
    const table = tableOf(topic, partition);
    const compacted = keys ? 1 : 0;
    const known = this.#statements.get(`${table} ${compacted}`);
    if (known) return known;

    db.prepare('INSERT OR IGNORE INTO topics VALUES (?, ?, ?)').run(topic, partition, compacted);
    const entry = db.prepare('SELECT compacted FROM topics WHERE name = ? AND partition = ?').get(topic, partition);
    if (entry?.compacted !== compacted)
      throw new Error(`topic ${topic} ${entry?.compacted ? 'is' : 'is not'} compacted in the file`);
    db.exec(`
      CREATE TABLE IF NOT EXISTS ${table} (
        base_offset INTEGER PRIMARY KEY, ${compacted ? 'key TEXT NOT NULL UNIQUE' : 'count INTEGER NOT NULL'},
        written_at_ms INTEGER NOT NULL, crc INTEGER NOT NULL, records BLOB NOT NULL)`);
    const last = `FROM ${table} ORDER BY base_offset DESC LIMIT 1`;
    const statements = {
      end: db.prepare(`SELECT base_offset + ${compacted ? '1' : 'count'} AS end ${last}`),
      insert: db.prepare(`INSERT INTO ${table} VALUES (?, ?, ?, ?, ?)`),
      forget: compacted ? db.prepare(`DELETE FROM ${table} WHERE key = ?`) : null,
    };
    this.#statements.set(`${table} ${compacted}`, statements);
    return statements;
  }
}

/**
 * Removes rows of a partition, except the newest, from which the next offset is derived. Rows were written in their
 * order, so only the first are checked: checking all would block writers for long.
 *
 * @param reader the slowest reader: unreleased rows stay
 */
function removeRows(db: DatabaseSync, table: string, beforeMs: number, reader: RegisteredReader | undefined): number {
  const { changes } = db
    .prepare(
      `DELETE FROM ${table} WHERE base_offset IN (
         SELECT base_offset FROM (SELECT base_offset, count, written_at_ms FROM ${table} ORDER BY base_offset LIMIT ${FORGET_ROWS})
         WHERE written_at_ms < ? AND base_offset < (SELECT max(base_offset) FROM ${table}) AND base_offset + count <= ?)`,
    )
    .run(beforeMs, reader?.offset ?? Number.MAX_SAFE_INTEGER);
  return Number(changes);
}

function placeKey({ reader, topic, partition }: RegisteredReader): string {
  return `${reader} ${topic}/${partition}`;
}

/** Bytes in use; SQLite keeps the pages of deleted rows in the file and reuses them. */
function usedBytes(db: DatabaseSync): number {
  const pages = Number(db.prepare('PRAGMA page_count').get()?.page_count);
  const free = Number(db.prepare('PRAGMA freelist_count').get()?.freelist_count);
  const bytes = Number(db.prepare('PRAGMA page_size').get()?.page_size);
  return (pages - free) * bytes;
}

if (parentPort) serve(parentPort, workerData as WriterSettings);

function serve(port: NonNullable<typeof parentPort>, settings: WriterSettings): void {
  const writer = new Writer(settings);
  const { retentionEveryMs, maxBytes } = settings;
  const removeLater = SYSTEM_CLOCK.every(retentionEveryMs, removeOld);
  const bytesBetweenRuns = maxBytes * SHARE_BETWEEN_RUNS;
  let bytesSinceRun = 0;
  let removing = false;
  let retry: Timer | null = null;
  let isHeld = false;
  let closed = false;

  async function removeOld(): Promise<void> {
    if (removing) return;
    removing = true;
    bytesSinceRun = 0;
    try {
      // One step at a time: records that arrive meanwhile are written first.
      while (!closed) {
        const { more, holdUp } = writer.removeOld();
        if (!more) {
          report(holdUp);
          break;
        }
        await nextTurn();
      }
    } catch (error) {
      // Retried at the next run; callers of append get the error.
      process.emitWarning(`the log ${settings.path} could not remove old records: ${messageOf(error)}`);
    } finally {
      removing = false;
    }
  }

  function report(holdUp: HoldUp | null): void {
    if (holdUp !== null || isHeld) port.postMessage({ type: 'held', holdUp } satisfies FromWriter);
    isHeld = holdUp !== null;
    if (!isHeld || closed) return;
    retry ??= SYSTEM_CLOCK.after(HELD_RETRY_MS, () => {
      retry = null;
      void removeOld();
    });
  }

  function write(segments: Segment[]): void {
    let error: string | null = null;
    let outage: DiskOutage | null = null;
    try {
      writer.write(segments);
    } catch (cause) {
      error = messageOf(cause);
      outage = diskOutageOf(cause);
    }
    // Only full-size buffers are worth reusing.
    const memory = segments.map(({ bytes }) => bytes).filter(({ byteLength }) => byteLength === SEGMENT_BYTES);
    const bytes = segments.reduce((sum, { usedBytes }) => sum + usedBytes, 0);
    bytesSinceRun += bytes;
    port.postMessage({ type: 'written', error, outage, memory } satisfies FromWriter, memory);
    if (bytesSinceRun > bytesBetweenRuns) void removeOld();
    if (error === null && bytes <= COPIED_BYTES) compressOld();
  }

  /** Runs only after small commits: successive large ones leave no time for it. */
  function compressOld(): void {
    try {
      writer.compressOld();
    } catch (error) {
      // Retried after the next commit; plain records are readable as well.
      process.emitWarning(`the log ${settings.path} could not compress old records: ${messageOf(error)}`);
    }
  }

  function close(): void {
    closed = true;
    removeLater.cancel();
    retry?.cancel();
    writer.close();
    port.close();
  }

  port.on('message', (message: ToWriter) => {
    if (message.type === 'write') write(message.segments);
    else close();
  });
}
