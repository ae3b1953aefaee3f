import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeLog } from '../log.conformance.ts';
import { openSqliteLog } from './open.ts';

for (const partitions of [1, 4]) {
  describeLog(`the SQLite log with ${partitions} partition(s)`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'outrider-log-'));
    return {
      open: async (options) => openSqliteLog({ path: join(folder, 'log.sqlite'), partitions, ...options }),
      dispose: async () => rmSync(folder, { recursive: true }),
    };
  });
}
