import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { archiveFiles } from './archive-files.ts';
import { openChdb } from './chdb.ts';
import type { Engine } from './engine.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-archive-files-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const COUNT = { sql: 'SELECT count() FROM bytes', parameters: {} };

async function withChdb(name: string, use: (engine: Engine) => Promise<void>): Promise<void> {
  const engine = await openChdb(join(folder, name));
  try {
    await use(engine);
  } finally {
    await engine.close();
  }
}

async function copyFrozen(from: string, to: string, frozen: string | null): Promise<void> {
  for (const { path, source } of await archiveFiles(join(folder, from), frozen)) {
    const target = join(folder, to, path);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(source, target);
  }
}

test('the copy of a frozen archive has the rows of that moment, less those whose deletion was under way', async () => {
  await withChdb('first', async (engine) => {
    await engine.execute('CREATE TABLE bytes (place UInt32) ENGINE = MergeTree ORDER BY place');
    await engine.execute('INSERT INTO bytes SELECT number FROM numbers(100)');
    await engine.freeze?.('moment', async () => {});
    await engine.execute('ALTER TABLE bytes DELETE WHERE place < 40 SETTINGS mutations_sync = 1');
    await engine.execute('INSERT INTO bytes SELECT number FROM numbers(1000, 100)');
    await copyFrozen('first', 'second', 'moment');
    await engine.unfreeze?.('moment');
    await expect(archiveFiles(join(folder, 'first'), 'moment')).rejects.toThrow(/ENOENT/);
  });
  await withChdb('second', (engine) =>
    vi.waitFor(async () => expect(await engine.select(COUNT)).toEqual([[60]]), { timeout: 60_000 }),
  );
  // No process has it open any more.
  await copyFrozen('first', 'third', null);
  await withChdb('third', async (engine) => expect(await engine.select(COUNT)).toEqual([[160]]));
});

test('nothing is written to the archive while it is held', async () => {
  await withChdb('first', async (engine) => {
    await engine.execute('CREATE TABLE bytes (place UInt32) ENGINE = MergeTree ORDER BY place');
    await engine.execute('INSERT INTO bytes VALUES (1)');
    let written: Promise<void> = Promise.resolve();
    await engine.freeze?.('moment', async () => {
      written = engine.execute('INSERT INTO bytes VALUES (2)');
      await engine.ping();
      expect(await engine.select(COUNT)).toEqual([[1]]);
    });
    await written;
    expect(await engine.select(COUNT)).toEqual([[2]]);
  });
});
