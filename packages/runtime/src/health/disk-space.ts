import { statfs } from 'node:fs/promises';
import { type Clock, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import { type Variables, whole } from '../config.ts';
import type { Watch } from '../lifecycle.ts';
import type { Logger } from '../logger.ts';
import { Gauge, type Metrics } from '../prometheus.ts';
import { FillForecast } from './fill-forecast.ts';

const MIB = 1024 * 1024;
const CHECK_EVERY_MS = 10_000;

/** Settings of the warning about a full disk. */
export const diskVariables = {
  DISK_WARNING_MB: whole(
    0,
    100_000_000,
    2048,
    'The service warns in its log, in a metric and in `/health/ready` if the disk of `DATA_DIR` has less free space than this, or if it will be full within a day at its current growth. 0 disables the warning.',
  ),
} satisfies Variables;

/** Bytes that this account may still write to the disk of a folder. @throws {Error} when the folder does not exist */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

export interface DiskWatchParts {
  folder: string;
  /** Free space below which the watch warns. */
  warningMb: number;
  logger: Logger;
  metrics: Metrics;
  /** Default {@link freeBytes}. */
  free?: (folder: string) => Promise<number>;
  /** Default 10 s. */
  checkEveryMs?: number;
  clock?: Clock;
}

/**
 * Measures the free space of a folder's disk. Warns once when it falls below the bound or will be used up within a day,
 * and reports when it has recovered.
 */
export function createDiskWatch(parts: DiskWatchParts): Watch {
  const { folder, warningMb, logger, metrics, free = freeBytes, checkEveryMs = CHECK_EVERY_MS } = parts;
  const { clock = SYSTEM_CLOCK } = parts;
  const warningBytes = warningMb * MIB;
  const forecast = new FillForecast();
  let isLow = false;
  let fillsUp = false;
  let timer: Timer | null = null;
  new Gauge({
    name: 'outrider_disk_free_bytes',
    help: 'Free space on the disk that holds the data folder',
    registers: [metrics],
    async collect() {
      this.set(await free(folder));
    },
  });
  new Gauge({
    name: 'outrider_disk_free_warning_bytes',
    help: 'Free space below which the service warns (DISK_WARNING_MB)',
    registers: [metrics],
  }).set(warningBytes);
  new Gauge({
    name: 'outrider_disk_full_in_seconds',
    help: 'Estimated seconds until the disk of the data folder is full, from its growth in the last hours; +Inf if it does not grow',
    registers: [metrics],
    collect() {
      this.set(forecast.secondsLeft ?? Number.POSITIVE_INFINITY);
    },
  });

  async function check(): Promise<void> {
    const bytes = await free(folder);
    const facts = { folder, freeMb: Math.round(bytes / MIB), warningMb };
    if (bytes < warningBytes && !isLow) logger.warn(facts, 'the disk is getting full');
    if (bytes >= warningBytes && isLow) logger.info(facts, 'the disk has space again');
    isLow = bytes < warningBytes;
    forecast.note(clock.now(), bytes);
    const wasFillingUp = fillsUp;
    fillsUp = forecast.isShort && warningMb > 0;
    const fullInHours = Math.round((forecast.secondsLeft ?? 0) / 3600);
    if (fillsUp && !wasFillingUp) logger.warn({ ...facts, fullInHours }, 'the disk will be full within a day');
  }

  return {
    name: 'disk',
    warnings: () => [
      ...(isLow ? ['the disk is getting full'] : []),
      ...(fillsUp ? ['the disk will be full within a day'] : []),
    ],
    async start() {
      await check();
      timer = clock.every(checkEveryMs, () => {
        check().catch((error) => logger.warn({ err: error, folder }, 'cannot read the free disk space'));
      });
      timer.unref();
    },
    async stop() {
      timer?.cancel();
    },
  };
}
