import { statfs } from 'node:fs/promises';
import { Gauge, type Registry } from 'prom-client';
import { type Variables, whole } from './config.ts';
import type { Part } from './lifecycle.ts';
import type { Logger } from './logger.ts';

const MIB = 1024 * 1024;
const CHECK_EVERY_MS = 10_000;

/** When a service warns that its disk fills up. */
export const diskVariables = {
  DISK_WARNING_MB: whole(
    0,
    100_000_000,
    2048,
    'With less free space than this on the disk of `DATA_DIR` the service warns, in its log and by a metric; 0 never warns.',
  ),
} satisfies Variables;

/** Bytes that this account may still write to the disk of a folder. @throws {Error} when the folder does not exist */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

export interface DiskWatchParts {
  folder: string;
  /** Below this much free space it warns. */
  warningMb: number;
  logger: Logger;
  metrics: Registry;
  /** Default {@link freeBytes}. */
  free?: (folder: string) => Promise<number>;
  /** Default 10 s. */
  checkEveryMs?: number;
}

/**
 * Measures the free space of a folder's disk, and warns once when it falls below the bound, and again when it is back
 * above.
 */
export function createDiskWatch(parts: DiskWatchParts): Part {
  const { folder, warningMb, logger, metrics, free = freeBytes, checkEveryMs = CHECK_EVERY_MS } = parts;
  const warningBytes = warningMb * MIB;
  let isLow = false;
  let timer: NodeJS.Timeout | null = null;
  new Gauge({
    name: 'outrider_disk_free_bytes',
    help: 'Free space on the disk of the folder that the service keeps its data in',
    registers: [metrics],
    async collect() {
      this.set(await free(folder));
    },
  });
  new Gauge({
    name: 'outrider_disk_free_warning_bytes',
    help: 'The free space below which the service warns (DISK_WARNING_MB)',
    registers: [metrics],
  }).set(warningBytes);

  async function check(): Promise<void> {
    const bytes = await free(folder);
    const facts = { folder, freeMb: Math.round(bytes / MIB), warningMb };
    if (bytes < warningBytes && !isLow) logger.warn(facts, 'the disk is getting full');
    if (bytes >= warningBytes && isLow) logger.info(facts, 'the disk has space again');
    isLow = bytes < warningBytes;
  }

  return {
    name: 'disk',
    async start() {
      await check();
      timer = setInterval(() => {
        check().catch((error) => logger.warn({ err: error, folder }, 'the free space of the disk could not be read'));
      }, checkEveryMs);
      timer.unref();
    },
    async stop() {
      if (timer) clearInterval(timer);
    },
  };
}
