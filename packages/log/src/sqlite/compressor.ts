import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { compress, isCompressed } from './compression.ts';
import { SEGMENT_BYTES } from './segment.ts';

/** How much is compressed, and how late. */
export interface CompressionSettings {
  /** With so much, rows are compressed together: it is what a reader decompresses at a time. */
  groupBytes: number;
  /** As much stays plain at the end of a partition: readers that follow the log have nothing to decompress. */
  plainBytes: number;
}

export const COMPRESSION: CompressionSettings = { groupBytes: SEGMENT_BYTES, plainBytes: 2 * SEGMENT_BYTES };

/** Rows are compressed together when their commits are no further apart, since retention removes them together. */
const MAX_SPAN_MS = 10 * 60_000;

interface Partition {
  topic: string;
  partition: number;
  table: string;
}

/** What of a row is known without its records. */
interface RowHead {
  baseOffset: number;
  count: number;
  writtenAtMs: number;
  bytes: number;
}

/**
 * Compresses the rows of a partition once others are behind them. Commits write plain rows, which is quick, and what
 * follows the log reads those. Later one compressed row takes the place of several plain ones, in one transaction:
 * after a crash either it is there or they are. Each step is one such transaction, with one group of rows.
 */
export class Compressor {
  /** By table: how much has to be written until there can be something to do. */
  readonly #missing = new Map<string, { partition: Partition; bytes: number }>();
  readonly #settings: CompressionSettings;

  constructor(settings: CompressionSettings) {
    this.#settings = settings;
  }

  /** Notes that a row was written. */
  written(partition: Partition, bytes: number): void {
    const missing = this.#missing.get(partition.table);
    if (missing) missing.bytes -= bytes;
    else this.#missing.set(partition.table, { partition, bytes: 0 });
  }

  /** A partition in which there may be something to do: the one that had its turn the longest time ago. */
  due(): Partition | null {
    for (const { partition, bytes } of this.#missing.values()) if (bytes <= 0) return partition;
    return null;
  }

  /** One step, within a transaction. */
  step(db: DatabaseSync, partition: Partition): void {
    const place = placeOf(db, partition);
    const { group, missingBytes } = nextGroup(db, partition.table, place, this.#settings);
    this.#missing.delete(partition.table);
    this.#missing.set(partition.table, { partition, bytes: missingBytes });
    if (missingBytes > 0) return;
    replaceRows(db, partition.table, group);
    const last = group.at(-1) as RowHead;
    savePlace(db, partition, last.baseOffset + last.count);
  }
}

/**
 * The rows that are compressed next.
 *
 * @returns `missingBytes`: how much has to be written before that; 0 where there is enough
 */
function nextGroup(
  db: DatabaseSync,
  table: string,
  place: number,
  { groupBytes, plainBytes }: CompressionSettings,
): { group: RowHead[]; missingBytes: number } {
  // The length of records is known without reading them.
  const heads = db.prepare(
    `SELECT base_offset, count, written_at_ms, length(records) AS bytes FROM ${table}
     WHERE base_offset >= ? ORDER BY base_offset`,
  );
  const group: RowHead[] = [];
  let bytes = 0;
  let isClosed = false;
  let bytesBehind = 0;
  for (const head of heads.iterate(place)) {
    const row = rowHead(head);
    isClosed ||= bytes >= groupBytes || !goesWith(row, group, 2 * groupBytes - bytes);
    if (isClosed) bytesBehind += row.bytes;
    else {
      group.push(row);
      bytes += row.bytes;
    }
    if (isClosed && bytesBehind >= plainBytes) return { group, missingBytes: 0 };
  }
  return { group, missingBytes: plainBytes - bytesBehind + (isClosed ? 0 : Math.max(1, groupBytes - bytes)) };
}

/** @param space for how much there is besides the rows before it */
function goesWith(row: RowHead, group: readonly RowHead[], space: number): boolean {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) return true;
  const follows = row.baseOffset === last.baseOffset + last.count;
  return follows && row.bytes <= space && Math.abs(row.writtenAtMs - first.writtenAtMs) <= MAX_SPAN_MS;
}

/** Puts a compressed row in the place of plain ones. Leaves them where that saves nothing, or where one is damaged. */
function replaceRows(db: DatabaseSync, table: string, group: readonly RowHead[]): void {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) return;
  const range = `${table} WHERE base_offset BETWEEN ${first.baseOffset} AND ${last.baseOffset}`;
  const commits = [];
  for (const row of db.prepare(`SELECT crc, records FROM ${range} ORDER BY base_offset`).iterate()) {
    const records = row.records as Uint8Array;
    // A damaged row stays as it is: its readers report it.
    if (isCompressed(records) || crc32(records) !== row.crc) return;
    const { count, writtenAtMs } = group[commits.length] as RowHead;
    commits.push({ count, writtenAtMs, records });
  }
  const { writtenAtMs, stored } = compress(commits);
  if (stored.length >= bytesOf(group)) return;
  db.exec(`DELETE FROM ${range}`);
  const count = last.baseOffset + last.count - first.baseOffset;
  db.prepare(`INSERT INTO ${table} VALUES (?, ?, ?, ?, ?)`).run(
    first.baseOffset,
    count,
    writtenAtMs,
    crc32(stored),
    stored,
  );
}

/** Where the plain rows of a partition begin. */
function placeOf(db: DatabaseSync, { topic, partition }: Partition): number {
  const place = db.prepare('SELECT next_offset FROM compressed WHERE topic = ? AND partition = ?');
  return Number(place.get(topic, partition)?.next_offset ?? 0);
}

function savePlace(db: DatabaseSync, { topic, partition }: Partition, nextOffset: number): void {
  db.prepare('INSERT OR REPLACE INTO compressed VALUES (?, ?, ?)').run(topic, partition, nextOffset);
}

function rowHead(row: Record<string, unknown>): RowHead {
  return {
    baseOffset: Number(row.base_offset),
    count: Number(row.count),
    writtenAtMs: Number(row.written_at_ms),
    bytes: Number(row.bytes),
  };
}

function bytesOf(rows: readonly RowHead[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}
