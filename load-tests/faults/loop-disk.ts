import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import type { Random } from '@outrider/simulator';
import { run } from '../servers/server.ts';

const PAGE_BYTES = 4096;
const SECTOR_BYTES = 512;
/** The journal is committed by fsync alone, and a file that was renamed without one may be empty after a cut. */
const OPTIONS = 'loop,data=writeback,noauto_da_alloc,commit=300';
const TRIES = 10;

/** What was lost by a power cut. */
export interface Cut {
  /** Pages that were changed in memory and not synced. */
  unwrittenPages: number;
  /** Those of them of which random sectors were kept. */
  tornPages: number;
  /** Files whose names were not synced. */
  lostFiles: number;
}

/** A disk in a file, whose power can be cut. */
export interface LoopDisk {
  readonly folder: string;
  /**
   * Keeps what was synced, and of the pages that were not, random sectors, as a disk does that loses its power while it
   * writes. No process may write to the disk meanwhile.
   *
   * @param tornShare share of the unsynced pages of which random sectors are kept; the others are lost
   * @param kill ends the processes that have files open, called once the image is copied
   */
  cutPower(random: Random, tornShare: number, kill: () => Promise<void>): Promise<Cut>;
  close(): Promise<void>;
}

/**
 * A disk of so many MiB at `folder/disk`, formatted as ext4. Its image takes what is written to it.
 *
 * @throws {Error} where this account may not mount one
 */
export async function openLoopDisk(base: string, sizeMib: number): Promise<LoopDisk> {
  const [image, next, folder, after] = ['image', 'next', 'disk', 'after'].map((name) => join(base, name)) as [
    string,
    string,
    string,
    string,
  ];
  for (const each of [folder, after]) mkdirSync(each, { recursive: true });
  const file = openSync(image, 'w');
  ftruncateSync(file, sizeMib * 1024 * 1024);
  closeSync(file);
  await run('mkfs.ext4', ['-q', '-F', image]);
  await run('mount', ['-o', OPTIONS, image, folder]);
  return {
    folder,
    async cutPower(random, tornShare, kill) {
      await copyUnchanged(image, next);
      // The file system of the copy is brought in order from its journal, as after a cut.
      await run('mount', ['-o', OPTIONS, next, after]);
      const cut = tear(folder, after, random, tornShare);
      await kill();
      await run('umount', [after]);
      await run('umount', [folder]);
      renameSync(next, image);
      await run('mount', ['-o', OPTIONS, image, folder]);
      return cut;
    },
    async close() {
      await run('umount', ['-l', folder]);
      rmSync(image);
    },
  };
}

/** The kernel may write to the image by itself while it is copied: then it is copied again. */
async function copyUnchanged(image: string, copy: string): Promise<void> {
  for (let time = 0; time < TRIES; time++) {
    await run('cp', ['--sparse=always', image, copy]);
    const isSame = await run('cmp', ['-s', image, copy]).then(
      () => true,
      () => false,
    );
    if (isSame) return;
  }
  throw new Error(`${image} changed while it was copied, ${TRIES} times`);
}

/**
 * Copies random sectors of unsynced pages from `live` to `after`.
 *
 * @param live the folder as processes see it
 * @param after the folder as the disk has it
 */
function tear(live: string, after: string, random: Random, tornShare: number): Cut {
  const cut: Cut = { unwrittenPages: 0, tornPages: 0, lostFiles: 0 };
  for (const entry of readdirSync(live, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const stored = join(after, relative(live, path));
    if (!existsSync(stored)) {
      cut.lostFiles++;
      continue;
    }
    const [wanted, there] = [readFileSync(path), readFileSync(stored)];
    let isTorn = false;
    for (let at = 0; at < Math.max(wanted.length, there.length); at += PAGE_BYTES) {
      const page = wanted.subarray(at, at + PAGE_BYTES);
      if (page.equals(there.subarray(at, at + PAGE_BYTES))) continue;
      cut.unwrittenPages++;
      if (random.next() >= tornShare || at >= there.length) continue;
      cut.tornPages++;
      isTorn = true;
      for (let sector = at; sector < at + PAGE_BYTES; sector += SECTOR_BYTES)
        if (random.next() < 0.5) wanted.copy(there, sector, sector, Math.min(sector + SECTOR_BYTES, wanted.length));
    }
    if (isTorn) writeFileSync(stored, there);
  }
  return cut;
}
