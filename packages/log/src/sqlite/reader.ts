import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { UnreadableRecord } from '../dead-letters.ts';
import type { LogRecord, Topic } from '../log.ts';
import { messageOf, openForReading, tableOf } from './database.ts';
import { PREFIX_BYTES, recordAt } from './segment.ts';

/** A batch is at most this much to decode, or one longer record: the thread is busy with it for a few milliseconds. */
const MAX_BATCH_BYTES = 512 * 1024;

interface Row {
  base_offset: number;
  count: number;
  crc: number;
  records: Uint8Array;
}

/** What of a topic says where its records are. */
type TopicName = Pick<Topic<unknown>, 'name' | 'compacted'>;

interface PartitionStatements {
  /** The row that holds an offset, or the last before it. */
  floor: StatementSync;
  rows: StatementSync;
  earliest: StatementSync;
  writtenAt: StatementSync;
  end: StatementSync;
}

/** A place in one partition, with what was read of the file and not taken yet: at most one row. */
export class Cursor<T> {
  readonly #reader: Reader;
  readonly #topic: Topic<T>;
  readonly #partition: number;
  #nextOffset: number;
  /** Rows of the file begin before the cursor only once: where it was set into the middle of one. */
  #aligned = false;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #left = 0;
  #isAtEnd = false;
  readonly #tolerant: boolean;
  #unreadable: UnreadableRecord[] = [];

  /** @param tolerant whether records that can't be decoded are handed on, by {@link takeUnreadable} */
  constructor(reader: Reader, topic: Topic<T>, partition: number, offset: number, tolerant = false) {
    this.#tolerant = tolerant;
    this.#reader = reader;
    this.#topic = topic;
    this.#partition = partition;
    this.#nextOffset = offset;
  }

  /**
   * The next records, as many as there are within the bounds.
   *
   * @param to offset to stop before
   * @throws {Error} when the file can't be read, or what is in it is no record of the topic
   */
  take(maxRecords: number, to = Number.POSITIVE_INFINITY): LogRecord<T>[] {
    const records: LogRecord<T>[] = [];
    this.#isAtEnd = false;
    try {
      let space = this.#takeOfRow(records, maxRecords, MAX_BATCH_BYTES, to);
      if (this.#left > 0 || space <= 0) return records;
      const statements = this.#reader.statements(this.#topic, this.#partition);
      for (const row of statements?.rows.iterate(this.#seek(statements)) ?? []) {
        this.#enter(row as unknown as Row);
        if (this.#left > 0) space = this.#takeOfRow(records, maxRecords, space, to);
        if (this.#left > 0 || space <= 0) return records;
      }
      this.#isAtEnd = true;
      return records;
    } catch (error) {
      const where = `${this.#topic.name}/${this.#partition} at offset ${this.#nextOffset}`;
      throw new Error(`the log can't be read: ${where}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Whether the last {@link take} found no more than it returned: more comes with the next commit. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** Offset of the record that comes next. */
  get nextOffset(): number {
    return this.#nextOffset;
  }

  /** What was passed over since the last call: it is no record of the topic. */
  takeUnreadable(): readonly UnreadableRecord[] {
    if (this.#unreadable.length === 0) return this.#unreadable;
    const taken = this.#unreadable;
    this.#unreadable = [];
    return taken;
  }

  #seek({ floor }: PartitionStatements): number {
    if (this.#aligned) return this.#nextOffset;
    this.#aligned = true;
    return Number(floor.get(this.#nextOffset)?.base_offset ?? 0);
  }

  /** Goes to the row's first record that is not behind the cursor. */
  #enter(row: Row): void {
    const { byteOffset, length, buffer } = row.records;
    this.#bytes = Buffer.from(buffer, byteOffset, length);
    if (crc32(this.#bytes) !== row.crc) throw new Error('the bytes in the file are not those that were written');
    this.#at = 0;
    this.#left = row.count;
    let offset = row.base_offset;
    for (; this.#left > 0 && offset < this.#nextOffset; offset++, this.#left--) this.#skip();
    if (this.#left > 0) this.#nextOffset = offset;
  }

  #skip(): Buffer {
    const record = recordAt(this.#bytes, this.#at);
    this.#at += PREFIX_BYTES + record.length;
    return record;
  }

  /** @returns how many bytes there is space for then; 0 or less when the batch is full or at its end */
  #takeOfRow(records: LogRecord<T>[], maxRecords: number, maxBytes: number, to: number): number {
    let space = maxBytes;
    for (; this.#left > 0; this.#left--) {
      if (records.length >= maxRecords || this.#nextOffset >= to) return 0;
      const { length } = recordAt(this.#bytes, this.#at);
      if (length > space && records.length > 0) return 0;
      space -= length;
      const bytes = this.#skip();
      try {
        records.push({ offset: this.#nextOffset, value: this.#topic.decode(bytes) });
      } catch (error) {
        if (!this.#tolerant) throw error;
        const place = { topic: this.#topic.name, partition: this.#partition, offset: this.#nextOffset };
        this.#unreadable.push({ ...place, bytes: Buffer.from(bytes), error: error as Error });
      }
      this.#nextOffset++;
    }
    return this.#nextOffset >= to || records.length >= maxRecords ? 0 : space;
  }
}

/** A connection that reads the file, for one thread. */
export class Reader {
  readonly #db: DatabaseSync;
  readonly #statements = new Map<string, PartitionStatements>();
  readonly #version: StatementSync;
  #versionSeen: unknown = null;

  constructor(path: string) {
    this.#db = openForReading(path);
    this.#version = this.#db.prepare('PRAGMA data_version');
  }

  /**
   * Whether anything was committed since the last call, by whatever connection. Where that can't be read, a reader must
   * find out.
   */
  hasChanged(): boolean {
    try {
      const version = this.#version.get()?.data_version;
      if (version === this.#versionSeen) return false;
      this.#versionSeen = version;
    } catch {
      this.#versionSeen = null;
    }
    return true;
  }

  /** Null while nothing was ever written to the partition. */
  statements(topic: TopicName, partition: number): PartitionStatements | null {
    const table = tableOf(topic.name, partition);
    const known = this.#statements.get(table);
    if (known) return known;
    const there = this.#db
      .prepare('SELECT 1 FROM sqlite_schema WHERE type = ? AND name = ?')
      .get('table', `${topic.name}/${partition}`);
    if (!there) return null;
    const count = topic.compacted ? '1' : 'count';
    const statements = {
      floor: this.#db.prepare(`SELECT max(base_offset) AS base_offset FROM ${table} WHERE base_offset <= ?`),
      rows: this.#db.prepare(
        `SELECT base_offset, ${count} AS count, crc, records FROM ${table} WHERE base_offset >= ? ORDER BY base_offset`,
      ),
      earliest: this.#db.prepare(`SELECT min(base_offset) AS offset FROM ${table}`),
      writtenAt: this.#db.prepare(
        `SELECT written_at_ms, base_offset + ${count} AS end FROM ${table} WHERE base_offset <= ? ORDER BY base_offset DESC LIMIT 1`,
      ),
      end: this.#db.prepare(`SELECT base_offset + ${count} AS offset FROM ${table} ORDER BY base_offset DESC LIMIT 1`),
    };
    this.#statements.set(table, statements);
    return statements;
  }

  /** Offset after the newest record. */
  end(topic: TopicName, partition: number): number {
    return Number(this.statements(topic, partition)?.end.get()?.offset ?? 0);
  }

  /** Offset of the oldest retained record; the end when the partition is empty. */
  earliest(topic: TopicName, partition: number): number {
    return Number(this.statements(topic, partition)?.earliest.get()?.offset ?? 0);
  }

  /**
   * Unix milliseconds at which the record at an offset was written, of a topic that is not compacted; null where none
   * exists yet.
   */
  writtenAtMs(topic: string, partition: number, offset: number): number | null {
    const statements = this.statements({ name: topic, compacted: false }, partition);
    const row = statements?.writtenAt.get(offset);
    return row === undefined || Number(row.end) <= offset ? null : Number(row.written_at_ms);
  }

  /** Offset up to which the partition's records are those that the file had in a run; null where it never had it. */
  sharedWith(run: string, topic: string, partition: number): number | null {
    const known = this.#db.prepare('SELECT number FROM runs WHERE id = ?').get(run);
    if (known === undefined) return null;
    const next = this.#db
      .prepare('SELECT ends FROM runs WHERE number > ? ORDER BY number LIMIT 1')
      .get(known.number as number);
    if (next === undefined) return Number.POSITIVE_INFINITY;
    return (JSON.parse(String(next.ends)) as Record<string, number>)[`${topic}/${partition}`] ?? 0;
  }

  close(): void {
    this.#db.close();
  }
}
