import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import type { UnreadableRecord } from '../dead-letters.ts';
import type { LogRecord, Topic } from '../log.ts';
import { firstWrittenSince, recordsOf, writtenAtOf } from './compression.ts';
import { messageOf, openForReading, tableOf } from './database.ts';
import { PREFIX_BYTES, recordAt, type WrittenRow } from './segment.ts';

/**
 * Maximum bytes to decode in a batch, unless one record is longer: a batch occupies the thread for a few milliseconds.
 */
const MAX_BATCH_BYTES = 512 * 1024;

/** Maximum bytes of commits handed to a cursor and not taken yet; beyond that the file is read. */
const MAX_HANDED_BYTES = 256 * 1024;

interface Row {
  base_offset: number;
  count: number;
  crc: number;
  records: Uint8Array;
}

/** The properties of a topic that locate its records. */
type TopicName = Pick<Topic<unknown>, 'name' | 'compacted'>;

interface PartitionStatements {
  /** Rows from the one that holds an offset on. */
  rows: StatementSync;
  earliest: StatementSync;
  /** The row that holds an offset, or the last before it. */
  floor: StatementSync;
  /** The same as `floor`, with its records if it holds the offset. */
  floorRecords: StatementSync;
  end: StatementSync;
}

/** A read position in one partition, with data of at most one row that was read and not taken yet. */
export class Cursor<T> {
  readonly #reader: Reader;
  readonly #topic: Topic<T>;
  readonly #partition: number;
  #nextOffset: number;
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  #left = 0;
  #isAtEnd = false;
  /** Rows committed since the file was last read, in order. The cursor may have passed some of them. */
  #handed: WrittenRow[] = [];
  #handedBytes = 0;
  /** Whether the file may hold rows that were not handed to this cursor. */
  #mustRead = true;
  readonly #tolerant: boolean;
  #unreadable: UnreadableRecord[] = [];

  /** @param tolerant whether records that can't be decoded are skipped and returned by {@link takeUnreadable} */
  constructor(reader: Reader, topic: Topic<T>, partition: number, offset: number, tolerant = false) {
    this.#tolerant = tolerant;
    this.#reader = reader;
    this.#topic = topic;
    this.#partition = partition;
    this.#nextOffset = offset;
  }

  /**
   * Hands over a row that was written to the partition, which {@link take} then finds without a query of the file.
   *
   * @param row null: it has to be read from the file
   */
  hand(row: WrittenRow | null): void {
    if (row !== null && this.#handedBytes + row.bytes.length <= MAX_HANDED_BYTES && !this.#mustRead) {
      this.#handed.push(row);
      this.#handedBytes += row.bytes.length;
      return;
    }
    this.#mustRead = true;
    this.#handed = [];
    this.#handedBytes = 0;
  }

  /**
   * Takes the next records, as many as exist within the bounds.
   *
   * @param to offset to stop before
   * @throws {Error} when the file can't be read, or a record of it is not of the topic
   */
  take(maxRecords: number, to = Number.POSITIVE_INFINITY): LogRecord<T>[] {
    const records: LogRecord<T>[] = [];
    this.#isAtEnd = false;
    try {
      let space = this.#takeOfRow(records, maxRecords, MAX_BATCH_BYTES, to);
      while (this.#left === 0 && space > 0 && this.#enterHanded())
        space = this.#takeOfRow(records, maxRecords, space, to);
      if (this.#left > 0 || space <= 0) return records;
      if (this.#mustRead) {
        const statements = this.#reader.statements(this.#topic, this.#partition);
        for (const row of statements?.rows.iterate({ offset: this.#nextOffset }) ?? []) {
          this.#enterRow(row as unknown as Row);
          if (this.#left > 0) space = this.#takeOfRow(records, maxRecords, space, to);
          if (this.#left > 0 || space <= 0) return records;
        }
        // Each commit after this query is handed to the cursor.
        this.#mustRead = false;
      }
      this.#isAtEnd = true;
      return records;
    } catch (error) {
      const where = `${this.#topic.name}/${this.#partition} at offset ${this.#nextOffset}`;
      throw new Error(`the log can't be read: ${where}: ${messageOf(error)}`, { cause: error });
    }
  }

  /** Whether the last {@link take} returned everything that exists: more comes with the next commit. */
  get isAtEnd(): boolean {
    return this.#isAtEnd;
  }

  /** Offset of the next record. */
  get nextOffset(): number {
    return this.#nextOffset;
  }

  /** Records skipped since the last call because they are not of the topic. */
  takeUnreadable(): readonly UnreadableRecord[] {
    if (this.#unreadable.length === 0) return this.#unreadable;
    const taken = this.#unreadable;
    this.#unreadable = [];
    return taken;
  }

  /** Enters the next row that was handed to the cursor. @returns false when all of them are taken */
  #enterHanded(): boolean {
    for (let row = this.#handed.shift(); row !== undefined; row = this.#handed.shift()) {
      const { baseOffset, count, bytes } = row;
      this.#handedBytes -= bytes.length;
      if (baseOffset + count <= this.#nextOffset) continue;
      if (baseOffset > this.#nextOffset) {
        // Rows are missing in between, which are only in the file.
        this.hand(null);
        return false;
      }
      this.#enter(baseOffset, count, bytes);
      return true;
    }
    return false;
  }

  #enterRow({ base_offset, count, crc, records }: Row): void {
    if (crc32(records) !== crc) throw new Error('the bytes in the file are not those that were written');
    this.#enter(base_offset, count, recordsOf(records));
  }

  /** Enters a row at its first record that the cursor has not passed. */
  #enter(baseOffset: number, count: number, { buffer, byteOffset, length }: Uint8Array): void {
    this.#bytes = Buffer.from(buffer, byteOffset, length);
    this.#at = 0;
    this.#left = count;
    let offset = baseOffset;
    for (; this.#left > 0 && offset < this.#nextOffset; offset++, this.#left--) this.#skip();
    if (this.#left > 0) this.#nextOffset = offset;
  }

  #skip(): Buffer {
    const record = recordAt(this.#bytes, this.#at);
    this.#at += PREFIX_BYTES + record.length;
    return record;
  }

  /** @returns how many bytes of space are left; 0 or less when the batch is full or at its end */
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
   * Whether anything was committed since the last call, by any connection. Also true if that can't be determined: the
   * reader then finds out.
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
    const floor = `FROM ${table} WHERE base_offset <= $offset ORDER BY base_offset DESC LIMIT 1`;
    const statements = {
      // A single statement: a compressed row can't replace the rows meanwhile.
      rows: this.#db.prepare(
        `SELECT base_offset, ${count} AS count, crc, records FROM ${table}
         WHERE base_offset >= coalesce((SELECT iif(base_offset + ${count} > $offset, base_offset, $offset) ${floor}), 0)
         ORDER BY base_offset`,
      ),
      earliest: this.#db.prepare(`SELECT min(base_offset) AS offset FROM ${table}`),
      floor: this.#db.prepare(`SELECT base_offset, base_offset + ${count} AS end, written_at_ms ${floor}`),
      floorRecords: this.#db.prepare(
        `SELECT base_offset, written_at_ms, iif(base_offset + ${count} > $offset, records, NULL) AS records ${floor}`,
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
   * Unix milliseconds at which the record at an offset was written, in a topic that is not compacted; null if it does
   * not exist yet.
   */
  writtenAtMs(topic: string, partition: number, offset: number): number | null {
    const row = this.#rowWith({ name: topic, compacted: false }, partition, offset);
    return row === null ? null : writtenAtOf(row.records, row.writtenAtMs, offset - row.baseOffset);
  }

  /**
   * Offset of the first record written at or after a time; the end if none was. Uses binary search: times are not
   * indexed, and records may be gigabytes.
   */
  offsetAt(topic: TopicName, partition: number, atMs: number): number {
    const end = this.end(topic, partition);
    let low = this.earliest(topic, partition);
    let high = end;
    const floor = this.statements(topic, partition)?.floor;
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const row = floor?.get({ offset: middle });
      // A row has the time of its newest record.
      if (row === undefined || Number(row.end) <= middle) high = middle;
      else if (Number(row.written_at_ms) < atMs) low = Number(row.end);
      else high = Math.min(middle, Number(row.base_offset));
    }
    const row = low < end ? this.#rowWith(topic, partition, low) : null;
    return row === null ? low : Math.max(low, row.baseOffset + firstWrittenSince(row.records, row.writtenAtMs, atMs));
  }

  /** The row that holds an offset; null where none does. */
  #rowWith(
    topic: TopicName,
    partition: number,
    offset: number,
  ): { baseOffset: number; writtenAtMs: number; records: Uint8Array } | null {
    const row = this.statements(topic, partition)?.floorRecords.get({ offset });
    if (row === undefined || row.records === null) return null;
    const { base_offset: baseOffset, written_at_ms: writtenAtMs, records } = row;
    return { baseOffset: Number(baseOffset), writtenAtMs: Number(writtenAtMs), records: records as Uint8Array };
  }

  /** Offset up to which the partition's records are those of a run; null if the file never had the run. */
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
