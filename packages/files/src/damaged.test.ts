import { mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DamagedFileError, type Files, openFolder } from './index.ts';

const BLOCK = 64 * 1024;
const BYTES = Buffer.alloc(3 * BLOCK + 100, 7);

let folder: string;
let files: Files;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'files-damaged-'));
  files = await openFolder(folder);
  await files.put('report.csv', parts(BYTES));
});
afterEach(() => rm(folder, { recursive: true }));

async function* parts(bytes: Uint8Array) {
  yield bytes;
}

/** Reads to the end, or to where it breaks off. */
async function read(range?: { start: number; end: number }) {
  const got: Uint8Array[] = [];
  try {
    for await (const part of (await files.get('report.csv', range)) ?? []) got.push(part);
    return { bytes: Buffer.concat(got), error: null };
  } catch (error) {
    return { bytes: Buffer.concat(got), error };
  }
}

async function flip(name: string, at: number): Promise<void> {
  const bytes = await readFile(join(folder, name));
  bytes.writeUInt8(bytes.readUInt8(at) ^ 4, at);
  await writeFile(join(folder, name), bytes);
}

describe('of a file that is damaged', () => {
  test.each([0, BLOCK - 1, BLOCK, 3 * BLOCK + 99])('no byte of the block with byte %i is returned', async (at) => {
    await flip('report.csv', at);
    const { bytes, error } = await read();
    expect(error).toBeInstanceOf(DamagedFileError);
    expect((error as DamagedFileError).id).toBe('report.csv');
    expect(bytes.equals(BYTES.subarray(0, at - (at % BLOCK)))).toBe(true);
  });

  test('the other blocks are returned to who asks for those', async () => {
    await flip('report.csv', 2 * BLOCK + 5);
    expect(await read({ start: BLOCK + 3, end: 2 * BLOCK })).toMatchObject({ error: null });
    expect((await read({ start: 2 * BLOCK - 1, end: 2 * BLOCK + 1 })).error).toBeInstanceOf(DamagedFileError);
    expect((await read({ start: 3 * BLOCK, end: BYTES.length })).bytes).toHaveLength(100);
  });

  test.each([0, 10, 2 * BLOCK, BYTES.length - 1])('that was cut to %i bytes, none is', async (bytes) => {
    await truncate(join(folder, 'report.csv'), bytes);
    expect(await read()).toMatchObject({ error: expect.any(DamagedFileError) });
    expect(await read({ start: 0, end: BYTES.length })).toMatchObject({ error: expect.any(DamagedFileError) });
  });

  test('that has more bytes than it had, none is', async () => {
    await writeFile(join(folder, 'report.csv'), Buffer.concat([BYTES, Buffer.from('more')]));
    expect((await read()).error).toBeInstanceOf(DamagedFileError);
  });

  test('the check sums may be what is damaged', async () => {
    await flip('.sums/report.csv', 3);
    expect((await read()).error).toBeInstanceOf(DamagedFileError);
  });
});

test('a file of an earlier version has no check sums, and is read as it is', async () => {
  await rm(join(folder, '.sums', 'report.csv'));
  expect((await read()).bytes.equals(BYTES)).toBe(true);
});

test('a file that is deleted takes its check sums along, and one that is replaced gets others', async () => {
  await files.put('report.csv', parts(Buffer.from('short')));
  expect((await read()).bytes.toString()).toBe('short');
  await files.delete('report.csv');
  expect(await readdir(join(folder, '.sums'))).toEqual([]);
});
