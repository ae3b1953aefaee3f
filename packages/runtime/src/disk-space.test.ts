import { tmpdir } from 'node:os';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createDiskWatch, freeBytes } from './disk-space.ts';
import type { Logger } from './logger.ts';

const MIB = 1024 * 1024;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a disk that fills up is warned of once, and again after it had space', async () => {
  const said: string[] = [];
  const logger: Logger = {
    debug() {},
    info: (...args: unknown[]) => void said.push(`info ${args.at(-1)}`),
    warn: (...args: unknown[]) => void said.push(`warn ${args.at(-1)}`),
    error() {},
    fatal() {},
  };
  const metrics = new Registry();
  let freeMb = 300;
  const watch = createDiskWatch({
    folder: '/data',
    warningMb: 200,
    logger,
    metrics,
    free: async () => freeMb * MIB,
    checkEveryMs: 1000,
  });
  await watch.start();
  const after = async (mb: number) => {
    freeMb = mb;
    await vi.advanceTimersByTimeAsync(1000);
  };
  await after(200);
  expect(said).toEqual([]);
  await after(199);
  await after(10);
  await after(0);
  expect(said).toEqual(['warn the disk is getting full']);
  expect(await metrics.metrics()).toMatch(/^outrider_disk_free_bytes 0$/m);
  expect(await metrics.metrics()).toMatch(new RegExp(`^outrider_disk_free_warning_bytes ${200 * MIB}$`, 'm'));
  await after(250);
  await after(100);
  expect(said).toEqual([
    'warn the disk is getting full',
    'info the disk has space again',
    'warn the disk is getting full',
  ]);
  await watch.stop();
});

test('the free space of a real disk is read', async () => {
  expect(await freeBytes(tmpdir())).toBeGreaterThan(0);
});
