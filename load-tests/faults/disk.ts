import { closeSync, ftruncateSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../servers/server.ts';

const BLOCK = Buffer.alloc(64 * 1024);
/** What is freed while the disk is full is taken again so often. */
const TOP_UP_MS = 50;

/** A small disk in memory. */
export interface Disk {
  readonly folder: string;
  /** Takes all that is left, and all that others free, until {@link free}. */
  fill(): void;
  free(): void;
  close(): Promise<void>;
}

/**
 * A disk of so many MiB at `folder`.
 *
 * @throws {Error} where this account may not mount one
 */
export async function openDisk(folder: string, sizeMib: number): Promise<Disk> {
  mkdirSync(folder, { recursive: true });
  await run('mount', ['-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'tmpfs', folder]);
  const ballastPath = join(folder, 'ballast');
  let topUp: NodeJS.Timeout | null = null;
  let ballast: number | null = null;
  const takeAll = () => {
    if (ballast === null) return;
    try {
      while (statfsSync(folder).bavail > 0) writeSync(ballast, BLOCK);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  };
  const free = () => {
    if (topUp) clearInterval(topUp);
    topUp = null;
    if (ballast === null) return;
    ftruncateSync(ballast);
    closeSync(ballast);
    ballast = null;
    rmSync(ballastPath);
  };
  return {
    folder,
    fill() {
      ballast ??= openSync(ballastPath, 'a');
      takeAll();
      topUp ??= setInterval(takeAll, TOP_UP_MS);
    },
    free,
    async close() {
      free();
      await run('umount', ['-l', folder]);
    },
  };
}
