import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeCheckpoints } from '../checkpoints.conformance.ts';
import { openSqliteCheckpoints } from './checkpoints.ts';

describeCheckpoints('the SQLite store', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-checkpoints-'));
  return {
    open: async () => openSqliteCheckpoints({ path: join(folder, 'checkpoints.sqlite') }),
    dispose: async () => rmSync(folder, { recursive: true }),
  };
});

test('a file that is something else is refused, with its name', () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-checkpoints-'));
  const path = join(folder, 'checkpoints.sqlite');
  writeFileSync(path, 'something else '.repeat(1000));
  expect(() => openSqliteCheckpoints({ path })).toThrow(path);
  rmSync(folder, { recursive: true });
});
