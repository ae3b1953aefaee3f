import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { describeCheckpoints } from '../checkpoints.conformance.ts';
import { DiskBusyError } from '../log.ts';
import { openSqliteCheckpoints } from './checkpoints.ts';

describeCheckpoints('the SQLite store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-checkpoints-'));
  return {
    open: async () => openSqliteCheckpoints({ path: join(folder, 'checkpoints.sqlite') }),
    dispose: async () => rmSync(folder, { recursive: true }),
  };
});

test('while another has the file, a save fails as one that may be made again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-checkpoints-'));
  const path = join(folder, 'checkpoints.sqlite');
  const checkpoints = openSqliteCheckpoints({ path, busyTimeoutMs: 100 });
  await checkpoints.claim('test', 0);
  const other = new DatabaseSync(path);
  other.exec('BEGIN IMMEDIATE');
  const change = { offsets: { telemetry: 7 }, changed: [] };
  await expect(checkpoints.save('test', 0, change)).rejects.toThrow(DiskBusyError);
  other.close();
  await checkpoints.save('test', 0, change);
  expect((await checkpoints.load('test', 0))?.offsets).toEqual({ telemetry: 7 });
  await checkpoints.close();
  rmSync(folder, { recursive: true });
});

test('a file that is something else is refused, with its name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-checkpoints-'));
  const path = join(folder, 'checkpoints.sqlite');
  writeFileSync(path, 'something else '.repeat(1000));
  expect(() => openSqliteCheckpoints({ path })).toThrow(path);
  rmSync(folder, { recursive: true });
});
