import { tmpdir } from 'node:os';
import { VirtualClock } from '@outrider/testing/clock';
import { expect, test, vi } from 'vitest';
import type { Logger } from '../logger.ts';
import { Metrics } from '../prometheus.ts';
import { createDiskWatch, freeBytes } from './disk-space.ts';

const MIB = 1024 * 1024;

test('a disk that fills up is warned of once, and again after it had space', async () => {
  const said: string[] = [];
  const logger: Logger = {
    debug() {},
    info: (...args: unknown[]) => void said.push(`info ${args.at(-1)}`),
    warn: (...args: unknown[]) => void said.push(`warn ${args.at(-1)}`),
    error() {},
    fatal() {},
  };
  const metrics = new Metrics();
  const clock = new VirtualClock();
  let freeMb = 300;
  const watch = createDiskWatch({
    folder: '/data',
    warningMb: 200,
    logger,
    metrics,
    free: async () => freeMb * MIB,
    checkEveryMs: 1000,
    clock,
  });
  await watch.start();
  const after = async (mb: number) => {
    freeMb = mb;
    await clock.advance(1000);
  };
  await after(200);
  expect(said).toEqual([]);
  await after(199);
  await after(10);
  await after(0);
  expect(said).toEqual(['warn the disk is getting full']);
  expect(watch.warnings()).toEqual(['the disk is getting full']);
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

test('a disk that will be full within a day is warned of while it has space', async () => {
  const warn = vi.fn();
  const metrics = new Metrics();
  const clock = new VirtualClock();
  let freeMb = 100_000;
  const watch = createDiskWatch({
    folder: '/data',
    warningMb: 200,
    logger: { debug() {}, info() {}, warn, error() {}, fatal() {} },
    metrics,
    free: async () => freeMb * MIB,
    checkEveryMs: 60_000,
    clock,
  });
  await watch.start();
  expect(await metrics.metrics()).toMatch(/^outrider_disk_full_in_seconds \+Inf$/m);
  for (let minute = 0; minute < 60; minute++) {
    freeMb -= 100;
    await clock.advance(60_000);
  }
  expect(warn.mock.calls).toEqual([
    [expect.objectContaining({ fullInHours: 16 }), 'the disk will be full within a day'],
  ]);
  expect(watch.warnings()).toEqual(['the disk will be full within a day']);
  expect(await metrics.metrics()).toMatch(/^outrider_disk_full_in_seconds 564\d\d/m);
  await watch.stop();
});
