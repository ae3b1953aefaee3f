import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { compress, isCompressed } from './compression.ts';
import { SEGMENT_BYTES } from './segment.ts';

/** Amount of data to compress at a time, and how long it stays plain. */
export interface CompressionSettings {
  /** Rows of about this size are compressed together: a reader has to decompress that much at a time. */
  groupBytes: number;
  /** Bytes that stay plain at the end of a partition, so that readers that follow the log need not decompress. */
  plainBytes: number;
}

export const COMPRESSION: CompressionSettings = { groupBytes: SEGMENT_BYTES, plainBytes: 2 * SEGMENT_BYTES };

/** Maximum time between commits whose rows are compressed together, since retention removes them together. */
const MAX_SPAN_MS = 10 * 60_000;

interface Partition {
  topic: string;
  partition: number;
  table: string;
}

/** A row without its records. */
interface RowHead {
  baseOffset: number;
  count: number;
  writtenAtMs: number;
  bytes: number;
}

/**
 * Compresses the rows of a partition once enough rows follow them. Commits write plain rows, which is fast, and readers
 * that follow the log read those. Later one compressed row replaces several plain ones. Each step compresses one group
 * of rows in one transaction, so that a crash leaves either form.
 */
export class Compressor {
  /** By table: bytes that have to be written before a group may be ready to compress. */
  readonly #missing = new Map<string, { partition: Partition; bytes: number }>();
  readonly #settings: CompressionSettings;

  constructor(settings: CompressionSettings) {
    this.#settings = settings;
  }

  /** Counts the bytes of a written row. */
  written(partition: Partition, bytes: number): void {
    const missing = this.#missing.get(partition.table);
    if (missing) missing.bytes -= bytes;
    else this.#missing.set(partition.table, { partition, bytes: 0 });
  }

  /** The least recently handled partition that may have rows to compress. */
  due(): Partition | null {
    for (const { partition, bytes } of this.#missing.values()) if (bytes <= 0) return partition;
    return null;
  }

  /** Performs one step, within a transaction. */
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
 * Selects the rows to compress next.
 *
 * @returns `missingBytes`: bytes that have to be written first; 0 when a group is ready
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

/** @param space bytes left in the group */
function goesWith(row: RowHead, group: readonly RowHead[], space: number): boolean {
  const [first, last] = [group[0], group.at(-1)];
  if (first === undefined || last === undefined) return true;
  const follows = row.baseOffset === last.baseOffset + last.count;
  return follows && row.bytes <= space && Math.abs(row.writtenAtMs - first.writtenAtMs) <= MAX_SPAN_MS;
}

/** Replaces plain rows by a compressed one, unless that saves nothing or one is damaged. */
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

/** Offset of the first row of a partition that is not compressed yet. */
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
