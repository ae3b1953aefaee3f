import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makePrivateFolder } from './private-folder.ts';

let folder: string;
let umask: number;
beforeEach(() => {
  // Files that ran before in this process may have made it private.
  umask = process.umask(0o022);
  folder = mkdtempSync(join(tmpdir(), 'private-folder-'));
});
afterEach(() => {
  process.umask(umask);
  rmSync(folder, { recursive: true, force: true });
});

const modeOf = (path: string) => statSync(path).mode & 0o777;

test('what others could read is taken from them, once', () => {
  const data = join(folder, 'data');
  mkdirSync(join(data, 'warehouse'), { recursive: true, mode: 0o755 });
  const files = ['registry.sqlite', 'registry.sqlite-wal', 'warehouse/part.bin', 'backup.tar'].map((name) =>
    join(data, name),
  );
  for (const file of files) {
    writeFileSync(file, '');
    chmodSync(file, 0o644);
  }
  chmodSync(data, 0o755);
  expect(makePrivateFolder(data)).toEqual({ changed: 6, unchanged: 0 });
  for (const path of [data, join(data, 'warehouse')]) expect(modeOf(path)).toBe(0o700);
  for (const file of files) expect(modeOf(file)).toBe(0o600);
  expect(makePrivateFolder(data)).toEqual({ changed: 0, unchanged: 0 });
});

test('what is made later is private, whatever the account is used to', () => {
  const data = join(folder, 'new', 'data');
  makePrivateFolder(data);
  writeFileSync(join(data, 'log.sqlite'), '');
  mkdirSync(join(data, 'files'));
  expect(modeOf(data)).toBe(0o700);
  expect(modeOf(join(data, 'log.sqlite'))).toBe(0o600);
  expect(modeOf(join(data, 'files'))).toBe(0o700);
});

test('a folder that programs share keeps its rights, and so does what is in it', () => {
  const shared = join(folder, 'tmp');
  mkdirSync(shared);
  chmodSync(shared, 0o1777);
  writeFileSync(join(shared, 'of-another'), '');
  chmodSync(join(shared, 'of-another'), 0o755);
  expect(makePrivateFolder(shared)).toEqual({ changed: 0, unchanged: 1 });
  expect(modeOf(shared)).toBe(0o777);
  expect(modeOf(join(shared, 'of-another'))).toBe(0o755);
});

test('what a link leads to stays as it is', () => {
  const outside = join(folder, 'outside');
  writeFileSync(outside, '');
  chmodSync(outside, 0o644);
  mkdirSync(join(folder, 'data'));
  symlinkSync(outside, join(folder, 'data', 'link'));
  makePrivateFolder(join(folder, 'data'));
  expect(modeOf(outside)).toBe(0o644);
});
