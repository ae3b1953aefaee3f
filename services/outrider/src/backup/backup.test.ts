import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createLogger, readConfig } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Command } from '../command.ts';
import { variables } from '../config.ts';
import { openDataDir } from '../data-dir.ts';
import { runBackup } from './backup.ts';
import { runRestore } from './restore.ts';

const PART = 'warehouse/store/abc/abc00000-0000-4000-8000-000000000000/202601_1_1_0';

let folder: string;
let dataDir: string;
const at = (...names: string[]) => join(folder, ...names);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-backup-'));
  dataDir = at('data');
  openDataDir(dataDir).release();
  const registry = new DatabaseSync(join(dataDir, 'registry.sqlite'));
  registry.exec('PRAGMA journal_mode = WAL; CREATE TABLE vehicles (name TEXT); INSERT INTO vehicles VALUES (1), (2)');
  registry.close();
  put('secrets-key', 'a key');
  put('signing-keys.json', '{"keys":[]}');
  put('video/one.mp4', 'a video');
  put('video/.incoming/two.mp4', 'half a vi');
  put('video-spool/three', 'half');
  put('warehouse/metadata/outrider.sql', 'ATTACH DATABASE');
  put(`${PART}/data.bin`, 'rows');
  put('warehouse/store/abc/abc00000-0000-4000-8000-000000000000/tmp_insert_202601_2_2_0/data.bin', 'ro');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function put(path: string, text: string): void {
  const place = join(dataDir, path);
  mkdirSync(join(place, '..'), { recursive: true });
  writeFileSync(place, text);
}

let environment: Record<string, string> = {};

async function run(command: Command, ...words: string[]) {
  const lines: string[] = [];
  const config = readConfig(variables, { DATA_DIR: dataDir, ...environment });
  const failures = await command(words, config, createLogger('silent', 'json'), (line) => lines.push(line));
  return { failures, text: lines.join('\n') };
}

const backup = (...words: string[]) => run(runBackup, ...words);
const restore = (...words: string[]) => run(runRestore, ...words);

function filesIn(path: string): string[] {
  return (readdirSync(path, { recursive: true }) as string[])
    .filter((name) => statSync(join(path, name)).isFile())
    .toSorted();
}

test('what belongs to the service is copied, verified and restored, for its account alone', async () => {
  const { text } = await backup(at('monday'));
  expect(text).toContain('service stopped');
  expect(text).toContain('without secrets-key');
  expect(readdirSync(folder).toSorted()).toEqual(['data', 'monday']);
  expect(filesIn(at('monday', 'data'))).toEqual(
    [
      'format',
      'registry.sqlite',
      'signing-keys.json',
      'video/one.mp4',
      'warehouse/metadata/outrider.sql',
      `${PART}/data.bin`,
    ].toSorted(),
  );
  expect(await backup('--verify', at('monday'))).toMatchObject({ failures: 0 });

  await restore(at('monday'), '--to', at('new', 'data'));
  expect(filesIn(at('new', 'data'))).toEqual([...filesIn(at('monday', 'data')), 'in-use.lock'].toSorted());
  const registry = new DatabaseSync(at('new', 'data', 'registry.sqlite'));
  expect(registry.prepare('SELECT count(*) AS count FROM vehicles').get()).toMatchObject({ count: 2 });
  registry.close();
  expect(statSync(at('new', 'data', 'video', 'one.mp4')).mode & 0o077).toBe(0);
  openDataDir(at('new', 'data')).release();
});

test('an archive on a server is not included, and that is said', async () => {
  environment = { CLICKHOUSE_URL: 'http://clickhouse:8123' };
  const { text } = await backup(at('monday'));
  environment = {};
  expect(text).toContain('not included, since they are servers: CLICKHOUSE_URL');
  expect(filesIn(at('monday', 'data'))).toEqual(['format', 'registry.sqlite', 'signing-keys.json', 'video/one.mp4']);
});

test('the key of stored secrets is included where it is asked for', async () => {
  expect((await backup(at('monday'), '--with-secrets-key')).text).toContain('with secrets-key');
  expect(readFileSync(at('monday', 'data', 'secrets-key'), 'utf8')).toBe('a key');
});

test('files that have not changed since an earlier backup are links to it, others are copies', async () => {
  await backup(at('monday'));
  put('video/one.mp4', 'b video');
  utimesSync(join(dataDir, 'video/one.mp4'), 2e9, 2e9);
  put('video/new.mp4', 'new');
  const { text } = await backup(at('tuesday'), '--base', at('monday'));
  expect(text).toContain(`links to ${at('monday')}`);
  const inode = (day: string, path: string) => statSync(at(day, 'data', path)).ino;
  expect(inode('tuesday', `${PART}/data.bin`)).toBe(inode('monday', `${PART}/data.bin`));
  expect(inode('tuesday', 'video/one.mp4')).not.toBe(inode('monday', 'video/one.mp4'));
  // The earlier one is not needed any more.
  rmSync(at('monday'), { recursive: true });
  expect(await backup('--verify', at('tuesday'))).toMatchObject({ failures: 0 });
  await restore(at('tuesday'), '--to', at('restored'));
  expect(readFileSync(at('restored', 'video/one.mp4'), 'utf8')).toBe('b video');
});

test('a damaged backup is found out, and a service does not start on what was restored of it', async () => {
  await backup(at('monday'));
  writeFileSync(at('monday', 'data', 'video', 'one.mp4'), 'a vidio');
  rmSync(at('monday', 'data', PART, 'data.bin'));
  writeFileSync(at('monday', 'data', 'stray'), '');
  const { failures, text } = await backup('--verify', at('monday'));
  expect(failures).toBe(3);
  expect(text).toContain('video/one.mp4 has another checksum');
  expect(text).toContain(`${PART}/data.bin can't be read: ENOENT`);
  expect(text).toContain('stray is not of this backup');
  await expect(restore(at('monday'), '--to', at('restored'))).rejects.toThrow();
  expect(() => openDataDir(at('restored'))).toThrow(/not restored to its end/);
});

test.each([
  [[], /it is: backup DIR/],
  [['a', 'b'], /it is: backup DIR/],
  [['--fast', 'a'], /it is: backup DIR/],
  [['--verify', 'a', '--with-secrets-key'], /it is: backup DIR/],
])('backup %j is refused', async (words, message) => {
  await expect(backup(...words)).rejects.toThrow(message);
});

test('folders that can not be used are refused, and nothing is left of the attempt', async () => {
  mkdirSync(at('full'));
  writeFileSync(at('full', 'file'), '');
  mkdirSync(at('begun.unfinished'));
  await expect(backup(at('full'))).rejects.toThrow(/full is not empty/);
  await expect(backup(join(dataDir, 'backup'))).rejects.toThrow(/is in DATA_DIR/);
  await expect(backup(at('begun'))).rejects.toThrow(/begun\.unfinished exists/);
  await expect(backup(at('monday'), '--base', at('full'))).rejects.toThrow(/full is no finished backup/);
  await expect(restore(at('full'), '--to', at('restored'))).rejects.toThrow(/full is no finished backup/);
  await backup(at('monday'));
  await expect(restore(at('monday'), '--to', at('full'))).rejects.toThrow(/full is not empty/);
  expect(readdirSync(folder).toSorted()).toEqual(['begun.unfinished', 'data', 'full', 'monday']);
});

test('a backup of another format, or with files elsewhere, is not restored', async () => {
  await backup(at('monday'));
  const manifest = JSON.parse(readFileSync(at('monday', 'manifest.json'), 'utf8'));
  const write = (change: object) =>
    writeFileSync(at('monday', 'manifest.json'), JSON.stringify({ ...manifest, ...change }));
  write({ format: 2 });
  await expect(restore(at('monday'), '--to', at('restored'))).rejects.toThrow(/is a backup of format 2/);
  write({ dataDirFormat: 99 });
  await expect(restore(at('monday'), '--to', at('restored'))).rejects.toThrow(/has data of format 99/);
  write({ files: [{ ...manifest.files[0], path: '../escaped' }] });
  await expect(restore(at('monday'), '--to', at('restored'))).rejects.toThrow(/no file of DATA_DIR/);
});
