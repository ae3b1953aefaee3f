import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describeLog } from '../log.conformance.ts';
import { tableOf } from './database.ts';
import { openSqliteLog } from './open.ts';

for (const partitions of [1, 4]) {
  describeLog(`the SQLite log with ${partitions} partition(s)`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'outrider-log-'));
    let path = join(folder, 'log.sqlite');
    let replacements = 0;
    return {
      open: async (options) => openSqliteLog({ path, partitions, ...options }),
      // Openings of other tests may still have the file.
      replace: async () => {
        path = join(folder, `log-${++replacements}.sqlite`);
      },
      removeBefore: async ({ name }, partition, offset) => {
        const db = new DatabaseSync(path);
        db.prepare(`DELETE FROM ${tableOf(name, partition)} WHERE base_offset < ?`).run(offset);
        db.close();
      },
      dispose: async () => rmSync(folder, { recursive: true }),
    };
  });
}
