import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Log } from '../log.ts';
import { openSqliteLog } from './open.ts';
import { inFolder, textTopic } from './testing.ts';

const topic = textTopic('texts');

const texts = (count: number) => Array.from({ length: count }, (_, i) => `text ${i}`);
const start = (path: string) => openSqliteLog({ path, startsRun: true, onDiscontinuity: () => {} });
const resume = (log: Log, offset: number, identity: string | null) =>
  log.resume(topic, 0, 'reader', { offset, identity });

async function identityOf(log: Log): Promise<string> {
  return (await log.resume(topic, 0, 'reader', null)).identity;
}

/** Moves what the write-ahead log holds into the file, and copies it. */
function copy(from: string, to: string): void {
  const db = new DatabaseSync(from);
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
  copyFileSync(from, to);
}

test('a log restored from an older copy is found out, also when it has grown beyond the place since', async () => {
  await inFolder(async (folder) => {
    const [path, backup] = [join(folder, 'log.sqlite'), join(folder, 'backup.sqlite')];
    const log = start(path);
    await log.append(topic, texts(5));
    copy(path, backup);
    await log.append(topic, texts(5));
    const place = { offset: 10, identity: await identityOf(log) };
    await log.close();

    for (const file of [path, `${path}-wal`, `${path}-shm`]) rmSync(file, { force: true });
    copyFileSync(backup, path);
    const restored = start(path);
    await restored.append(topic, texts(50));
    // What the copy had was read: the first record that was not is the first that came since.
    expect(await resume(restored, place.offset, place.identity)).toMatchObject({
      offset: 5,
      discontinuity: { kind: 'truncated', savedOffset: 10 },
    });
    const behind = await resume(restored, 3, place.identity);
    expect(behind).toMatchObject({ offset: 3, discontinuity: null });
    await restored.close();
  });
});

test('a place that was kept after the copy was made is of a run that the copy does not know', async () => {
  await inFolder(async (folder) => {
    const [path, backup] = [join(folder, 'log.sqlite'), join(folder, 'backup.sqlite')];
    const first = start(path);
    await first.append(topic, texts(5));
    await first.close();
    copy(path, backup);
    const second = start(path);
    await second.append(topic, texts(5));
    const identity = await identityOf(second);
    await second.close();
    const restored = start(backup);
    await restored.append(topic, texts(50));
    expect(await resume(restored, 10, identity)).toMatchObject({ offset: 0, discontinuity: { kind: 'replaced' } });
    await restored.close();
  });
});

test('a place stays good over any number of starts', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'log.sqlite');
    let log = start(path);
    await log.append(topic, texts(5));
    const identity = await identityOf(log);
    for (let i = 0; i < 5; i++) {
      await log.close();
      log = start(path);
      await log.append(topic, texts(5));
    }
    expect(await identityOf(log)).not.toBe(identity);
    expect(await resume(log, 5, identity)).toMatchObject({ offset: 5, discontinuity: null });
    await log.close();
  });
});

test('a file written by a version without identities gets one, and its places hold', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'log.sqlite');
    const old = openSqliteLog({ path });
    await old.append(topic, texts(5));
    await old.close();
    const db = new DatabaseSync(path);
    db.exec('DROP TABLE runs; DROP TABLE readers');
    db.close();
    const log = start(path);
    const resumed = await resume(log, 5, null);
    expect(resumed).toMatchObject({ offset: 5, discontinuity: null });
    expect(resumed.identity).toMatch(/^[0-9a-f]{16}$/);
    expect(await resume(log, 6, null)).toMatchObject({ offset: 0, discontinuity: { kind: 'truncated' } });
    await log.close();
  });
});
