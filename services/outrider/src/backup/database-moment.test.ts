import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openAtOneMoment } from './database-moment.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-moment-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const newest = (database: DatabaseSync) =>
  Number(database.prepare('SELECT coalesce(max(number), 0) AS newest FROM numbers').get()?.newest);

test('databases are seen as they were between two commits, while another thread writes them', async () => {
  const paths = ['registry.sqlite', 'log.sqlite'].map((name) => join(folder, name));
  const writer = new Worker(new URL('./two-databases.child.ts', import.meta.url), { workerData: paths });
  await once(writer, 'message');
  try {
    for (let times = 0; times < 20; times++) {
      const opened = await openAtOneMoment(paths);
      const [first = 0, second = 0] = opened.map(newest);
      // What is written into the first comes into the second before the next number.
      expect([first, first - 1]).toContain(second);
      expect(opened.map(newest)).toEqual([first, second]);
      for (const database of opened) database.close();
    }
  } finally {
    await writer.terminate();
  }
});

test('it waits for a database that another connection writes, and lets go of the others meanwhile', async () => {
  const paths = ['registry.sqlite', 'log.sqlite'].map((name) => join(folder, name));
  const [registry, log] = paths.map((path) => {
    const database = new DatabaseSync(path, { timeout: 5000 });
    database.exec('PRAGMA journal_mode = WAL; CREATE TABLE numbers (number INTEGER)');
    return database;
  });
  log?.exec('BEGIN IMMEDIATE; INSERT INTO numbers VALUES (1)');
  const opening = openAtOneMoment(paths);
  while (!isBusy(registry)) await new Promise((next) => setTimeout(next, 5));
  while (isBusy(registry)) await new Promise((next) => setTimeout(next, 5));
  log?.exec('COMMIT');
  const opened = await opening;
  expect(opened.map(newest)).toEqual([0, 1]);
  for (const database of [...opened, registry, log]) database?.close();
});

function isBusy(database: DatabaseSync | undefined): boolean {
  try {
    database?.exec('PRAGMA busy_timeout = 0; BEGIN IMMEDIATE; ROLLBACK');
    return false;
  } catch {
    return true;
  }
}
