import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { describeLog } from '../log.conformance.ts';
import { recordsOf } from './compression.ts';
import { COMPRESSION, type CompressionSettings } from './compressor.ts';
import { tableOf } from './database.ts';
import { openSqliteLog } from './open.ts';
import { PREFIX_BYTES, recordAt } from './segment.ts';

/** Compresses what there is after each commit, or hardly ever in a test. */
const EAGER: CompressionSettings = { groupBytes: 100, plainBytes: 0 };

for (const [partitions, compression] of [
  [1, COMPRESSION],
  [1, EAGER],
  [4, COMPRESSION],
] as const) {
  const how = compression === EAGER ? ', compressed as soon as can be' : '';
  describeLog(`the SQLite log with ${partitions} partition(s)${how}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'outrider-log-'));
    let path = join(folder, 'log.sqlite');
    let replacements = 0;
    return {
      open: async (options) => openSqliteLog({ path, partitions, compression, ...options }),
      // Openings of other tests may still have the file.
      replace: async () => {
        path = join(folder, `log-${++replacements}.sqlite`);
      },
      removeBefore: async ({ name }, partition, offset) => removeBefore(path, tableOf(name, partition), offset),
      dispose: async () => rmSync(folder, { recursive: true }),
    };
  });
}

/** As retention does it, and exactly: of a row that holds the offset the rest stays, plain. */
function removeBefore(path: string, table: string, offset: number): void {
  const db = new DatabaseSync(path);
  const rows = db.prepare(`SELECT * FROM ${table} WHERE base_offset < ? ORDER BY base_offset`).all(offset);
  db.prepare(`DELETE FROM ${table} WHERE base_offset < ?`).run(offset);
  const last = rows.at(-1);
  const left = Number(last?.base_offset) + Number(last?.count) - offset;
  if (last !== undefined && left > 0) {
    let records = recordsOf(last.records as Uint8Array);
    for (let at = Number(last.base_offset); at < offset; at++)
      records = records.subarray(PREFIX_BYTES + recordAt(records, 0).length);
    const row = [offset, left, Number(last.written_at_ms), crc32(records), records];
    db.prepare(`INSERT INTO ${table} VALUES (?, ?, ?, ?, ?)`).run(...row);
  }
  db.close();
}
