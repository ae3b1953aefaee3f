import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Disk, openDisk } from './disk.ts';

test('a full disk takes nothing, and everything when it is freed', async (context) => {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-disk-'));
  let disk: Disk;
  try {
    disk = await openDisk(folder, 8);
  } catch (error) {
    rmSync(folder, { recursive: true });
    return context.skip(`no disk can be mounted here: ${(error as Error).message}`);
  }
  try {
    const write = () => writeFileSync(join(folder, 'record'), Buffer.alloc(1024 * 1024));
    write();
    disk.fill();
    expect(statfsSync(folder).bavail).toBe(0);
    expect(() => writeFileSync(join(folder, 'another'), 'some bytes')).toThrow('ENOSPC');
    disk.free();
    write();
  } finally {
    await disk.close();
    rmSync(folder, { recursive: true });
  }
});
