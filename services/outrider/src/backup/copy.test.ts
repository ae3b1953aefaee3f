import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Copier } from './copy.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-copy-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a file that was linked and then changes is copied, and the earlier backup keeps its own', async () => {
  const source = join(folder, 'file');
  writeFileSync(source, 'as it was');
  for (const name of ['first', 'second']) mkdirSync(join(folder, name));
  const first = new Copier(join(folder, 'first'), null);
  await first.copyAll([{ path: 'file', source }]);
  const base = { folder: join(folder, 'first'), files: new Map(first.files.map((file) => [file.path, file])) };

  const second = new Copier(join(folder, 'second'), base);
  await second.copyAll([{ path: 'file', source }]);
  expect(second.linkedBytes).toBe(9);
  writeFileSync(source, 'as it is now');
  await second.copyAll([{ path: 'file', source }]);
  expect(readFileSync(join(folder, 'first', 'data', 'file'), 'utf8')).toBe('as it was');
  expect(readFileSync(join(folder, 'second', 'data', 'file'), 'utf8')).toBe('as it is now');
  expect(second.files).toMatchObject([{ path: 'file', bytes: 12 }]);
});

test('a file that is gone is an error, unless those that are there are asked for', async () => {
  const copier = new Copier(join(folder, 'backup'), null);
  const gone = { path: 'gone', source: join(folder, 'gone') };
  await expect(copier.copyAll([gone])).rejects.toThrow(/ENOENT/);
  await copier.copyWhatIsThere([gone]);
  expect(copier.files).toEqual([]);
});
