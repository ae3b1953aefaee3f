import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { filesConformance } from './files.conformance.ts';
import { openFolder } from './index.ts';

const newFolder = () => mkdtemp(join(tmpdir(), 'files-'));

filesConformance('folder', async () => {
  const folder = await newFolder();
  return { open: () => openFolder(join(folder, 'video')), remove: () => rm(folder, { recursive: true }) };
});

test('what an earlier process left unfinished is removed, and was never a file', async () => {
  const folder = await newFolder();
  await openFolder(folder);
  await writeFile(join(folder, '.incoming', 'half'), 'half a video');
  const files = await openFolder(folder);
  expect(await readdir(join(folder, '.incoming'))).toEqual([]);
  expect(await Array.fromAsync(files.list())).toEqual([]);
  await rm(folder, { recursive: true });
});

test('nothing that is unfinished is left behind by a source that breaks off', async () => {
  const folder = await newFolder();
  const files = await openFolder(folder);
  // biome-ignore lint/correctness/useYield: it breaks off before its first part.
  async function* broken(): AsyncGenerator<Uint8Array> {
    throw new Error('gone');
  }
  await expect(files.put('a.mp4', broken())).rejects.toThrow('gone');
  expect(await readdir(join(folder, '.incoming'))).toEqual([]);
  expect((await stat(folder)).isDirectory()).toBe(true);
  await rm(folder, { recursive: true });
});
