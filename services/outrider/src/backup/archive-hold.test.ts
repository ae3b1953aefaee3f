import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, type Part } from '@outrider/runtime';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createArchiveHold, withFrozenArchive } from './archive-hold.ts';

let folder: string;
let hold: Part | null = null;
/** What happened, in its order. */
let steps: string[];

const warehouse = {
  async freeze(_name: string, whileHeld: () => Promise<void>) {
    steps.push('frozen');
    await whileHeld();
    steps.push('released');
  },
  async unfreeze() {
    steps.push('removed');
  },
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-hold-'));
  steps = [];
});
afterEach(async () => {
  await hold?.stop();
  hold = null;
  rmSync(folder, { recursive: true, force: true });
});

async function start(more: { heldAtMostMs?: number; warehouse?: typeof warehouse } = {}): Promise<void> {
  const parts = { dataDir: folder, warehouse, logger: createLogger('silent', 'json'), ...more };
  hold = createArchiveHold(parts);
  await hold.start();
}

const step = (name: string) => async () => void steps.push(name);

test('the moment is while the archive is held, and the copy while its hard links are there', async () => {
  // Of a process that was killed.
  writeFileSync(join(folder, 'backup.sock'), '');
  await start();
  await withFrozenArchive(folder, step('moment'), step('copy'));
  await vi.waitFor(() => expect(steps).toEqual(['frozen', 'moment', 'released', 'copy', 'removed']));
  await withFrozenArchive(folder, step('moment'), step('copy'));
});

test('a second backup at the same time is refused', async () => {
  await start();
  await withFrozenArchive(folder, step('moment'), async () => {
    await expect(withFrozenArchive(folder, step('moment'), step('copy'))).rejects.toThrow(/another backup/);
  });
});

test('a backup that dies while it holds the archive lets go of it', async () => {
  await start();
  const socket = createConnection(join(folder, 'backup.sock'));
  await vi.waitFor(() => expect(steps).toEqual(['frozen']));
  socket.destroy();
  await vi.waitFor(() => expect(steps).toEqual(['frozen', 'released', 'removed']));
});

test('the archive is not held for ever, and a backup that took too long fails', async () => {
  await start({ heldAtMostMs: 20 });
  const slow = () => vi.waitFor(() => expect(steps).toContain('released'));
  await expect(withFrozenArchive(folder, slow, step('copy'))).rejects.toThrow(/held the archive for too long/);
  await vi.waitFor(() => expect(steps).toEqual(['frozen', 'released', 'removed']));
});

test('a failure to freeze, and a service that listens to nothing, are reported', async () => {
  await expect(withFrozenArchive(folder, step('moment'), step('copy'))).rejects.toThrow(/takes no backups/);
  const freeze = () => Promise.reject(new Error('no space left'));
  await start({ warehouse: { ...warehouse, freeze } });
  await expect(withFrozenArchive(folder, step('moment'), step('copy'))).rejects.toThrow(/no space left/);
  expect(steps).not.toContain('moment');
});

test('it stops while a backup is under way', async () => {
  await start();
  const copying = withFrozenArchive(folder, step('moment'), () => new Promise(() => {}));
  void copying.catch(() => {});
  await vi.waitFor(() => expect(steps).toContain('released'));
  await hold?.stop();
  hold = null;
  expect(steps).toContain('removed');
});
