import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqliteLog, type ReaderProgress } from '@outrider/log';
import { createLogger, Metrics } from '@outrider/runtime';
import { VirtualClock } from '@outrider/testing/clock';
import { expect, test, vi } from 'vitest';
import { createLogFillWatch, neededToStart } from './disk.ts';

const MIB = 1024 * 1024;

function reader(name: string, topic: string, offset: number, end: number): ReaderProgress {
  return { reader: name, topic, partition: 0, earliest: 0, offset, end, oldestUnreadAtMs: null, removedAfterMs: null };
}

test('a log that fills with what a reader has not read is warned of; one that is full of what all have read is not', async () => {
  const warn = vi.fn();
  const clock = new VirtualClock();
  const metrics = new Metrics();
  let readers: ReaderProgress[] = [];
  let usedMb = 900;
  const watch = createLogFillWatch({
    path: '/log',
    maxBytes: 1000 * MIB,
    log: { readers: async () => readers },
    logger: { debug() {}, info() {}, warn, error() {}, fatal() {} },
    metrics,
    clock,
    usedBytes: () => usedMb * MIB,
  });
  const hour = async (read: (records: number) => number) => {
    for (let minute = 0; minute < 60; minute++) {
      usedMb += 0.5;
      const end = usedMb * 1000;
      readers = [reader('rules', 'telemetry', end, end), reader('archiver', 'telemetry', read(end), end)];
      readers.push(reader('notifier', 'events', 0, 10));
      await clock.advance(60_000);
    }
  };
  await watch.start();
  await hour((end) => end - 100);
  await hour((end) => end - 100);
  expect(watch.warnings()).toEqual([]);
  // The archive is stuck.
  const stuckAt = usedMb * 1000;
  for (let hours = 0; hours < 10; hours++) await hour(() => stuckAt);
  expect(watch.warnings()).toEqual(['the log will be full of unread records within a day']);
  expect(warn).toHaveBeenCalledExactlyOnceWith(
    expect.anything(),
    'the log will be full of unread records within a day',
  );
  const [, seconds] = /^outrider_log_full_in_seconds (\S+)$/m.exec(await metrics.metrics()) ?? [];
  expect(Number(seconds) / 3600).toBeGreaterThan(20);
  expect(Number(seconds) / 3600).toBeLessThan(30);
  await watch.stop();
});

test('the first start of an embedded archive needs more of the disk than later ones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-disk-'));
  const needed = (url: string | null) => neededToStart({ DATA_DIR: folder, CLICKHOUSE_URL: url }) / MIB;
  expect([needed(null), needed('http://clickhouse:8123')]).toEqual([96, 32]);
  mkdirSync(join(folder, 'warehouse', 'store'), { recursive: true });
  expect(needed(null)).toBe(32);
  rmSync(folder, { recursive: true });
});

test('the used bytes of a real log are read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-log-fill-'));
  const path = join(folder, 'log.sqlite');
  const log = openSqliteLog({ path });
  const metrics = new Metrics();
  const watch = createLogFillWatch({ path, maxBytes: MIB, log, logger: createLogger('silent', 'json'), metrics });
  await watch.start();
  await watch.stop();
  expect(await metrics.metrics()).toMatch(/^outrider_log_full_in_seconds \+Inf$/m);
  await log.close();
  rmSync(folder, { recursive: true });
});
