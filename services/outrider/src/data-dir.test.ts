import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openDataDir } from './data-dir.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-data-dir-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Tries to open the folder from a process of its own, since a lock is between processes. */
function openElsewhere(
  path: string,
  thenDie = false,
): { status: number | null; signal: string | null; output: string } {
  const script = `
    import { openDataDir } from ${JSON.stringify(join(import.meta.dirname, 'data-dir.ts'))};
    try { openDataDir(${JSON.stringify(path)}); console.log('taken'); } catch (error) { console.log(error.message); }
    ${thenDie ? "process.kill(process.pid, 'SIGKILL');" : ''}`;
  const { status, signal, stdout } = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', script], {
    encoding: 'utf8',
  });
  return { status, signal, output: stdout };
}

test('the folder is created if it does not exist', () => {
  const path = join(folder, 'new', 'data');
  const dataDir = openDataDir(path);
  expect(dataDir.file('log.sqlite')).toBe(join(path, 'log.sqlite'));
  dataDir.release();
});

test('a second process is refused while the folder is in use, until the first releases it', () => {
  const dataDir = openDataDir(folder);
  expect(openElsewhere(folder).output).toMatch(/in use by another Outrider/);
  dataDir.release();
  expect(openElsewhere(folder).output).toContain('taken');
});

test('a killed process holds no lock', () => {
  expect(openElsewhere(folder, true)).toMatchObject({ signal: 'SIGKILL', output: 'taken\n' });
  openDataDir(folder).release();
});

test('the error names the obstacle', () => {
  const file = join(folder, 'a-file');
  writeFileSync(file, '');
  expect(() => openDataDir(file)).toThrow(/DATA_DIR .*a-file cannot be written to/);
});

test('a folder that another version wrote is left alone, and named with both formats', () => {
  writeFileSync(join(folder, 'log.sqlite'), '');
  expect(() => openDataDir(folder)).toThrow(/written in format 1, and this version of Outrider reads format 2/);
  // It is not held either.
  writeFileSync(join(folder, 'format'), '3\n');
  expect(() => openDataDir(folder)).toThrow(/written in format 3/);
  writeFileSync(join(folder, 'format'), '');
  expect(() => openDataDir(folder)).toThrow(`${join(folder, 'format')} is damaged`);
  writeFileSync(join(folder, 'format'), '3\n');
  expect(readFileSync(join(folder, 'format'), 'utf8')).toBe('3\n');
});

test('a new folder says how it is written, and is taken again', () => {
  openDataDir(folder).release();
  writeFileSync(join(folder, 'log.sqlite'), '');
  openDataDir(folder).release();
  expect(readFileSync(join(folder, 'format'), 'utf8')).toBe('2\n');
});
