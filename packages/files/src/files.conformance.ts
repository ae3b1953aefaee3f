import { createHash } from 'node:crypto';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { FileIdError, type Files } from './index.ts';

/** A store on a place of its own, and a way to open the same place again. */
export interface FilesPlace {
  open(): Promise<Files>;
  /** Everything that lies where files lie, by name; unfinished things too. */
  remove(): Promise<void>;
}

/** Ids that lead elsewhere in a folder, a bucket or a URL, or might. */
export const TRICKS = [
  '',
  '.',
  '..',
  '../secret',
  '..\\secret',
  'a/../../secret',
  '/etc/passwd',
  'C:\\secret',
  '%2e%2e%2fsecret',
  '..%2fsecret',
  'a/b',
  'a\\b',
  '.incoming',
  '.hidden',
  'a\0.mp4',
  'a\n',
  'A.mp4',
  'a..mp4',
  'a.',
  '-a',
  'con.mp4',
  'aux',
  'a?uploads',
  'a#b',
  '～',
  'a'.repeat(300),
];

const MIB = 1024 * 1024;

async function* chunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** Bytes that show where they are. */
function patterned(length: number, seed = 0): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at++) bytes[at] = (at * 31 + (at >> 8) * 7 + seed) & 0xff;
  return bytes;
}

async function bytesOf(source: AsyncIterable<Uint8Array> | null): Promise<Buffer | null> {
  return source && Buffer.concat(await Array.fromAsync(source));
}

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** What every store of files promises. */
export function filesConformance(name: string, newPlace: () => Promise<FilesPlace>): void {
  describe(`files: ${name}`, () => {
    let place: FilesPlace;
    let files: Files;
    beforeEach(async () => {
      place = await newPlace();
      files = await place.open();
    });
    afterEach(() => place.remove());
    const listed = async () => (await Array.fromAsync(files.list())).map(({ id }) => id).toSorted();

    test('a file comes out as it went in, of whatever size', async () => {
      for (const length of [0, 1, 70_000, 5 * MIB, 5 * MIB + 1, 11 * MIB + 3]) {
        const bytes = patterned(length, length);
        const put = await files.put('video.mp4', chunks(bytes, 100_001));
        expect(put).toEqual({ bytes: length, sha256: sha256(bytes) });
        expect(await files.info('video.mp4')).toMatchObject({ id: 'video.mp4', bytes: length });
        expect(sha256((await bytesOf(await files.get('video.mp4'))) ?? Buffer.of())).toBe(put.sha256);
      }
      expect(await listed()).toEqual(['video.mp4']);
    });

    test('a range is the slice of the file', async () => {
      const bytes = patterned(200_000);
      await files.put('a.mp4', chunks(bytes, 65_536));
      const place = fc.nat({ max: bytes.length });
      await fc.assert(
        fc.asyncProperty(place, place, async (a, b) => {
          const range = { start: Math.min(a, b), end: Math.max(a, b) };
          const got = await bytesOf(await files.get('a.mp4', range));
          expect(got?.equals(bytes.subarray(range.start, range.end))).toBe(true);
        }),
        { numRuns: runs(50) },
      );
      for (const range of [
        { start: -1, end: 3 },
        { start: 3, end: 2 },
        { start: 0, end: bytes.length + 1 },
        { start: 0.5, end: 2 },
      ])
        await expect(files.get('a.mp4', range)).rejects.toBeInstanceOf(RangeError);
    });

    test('what is not there is null, and can be deleted all the same', async () => {
      expect(await files.info('none')).toBeNull();
      expect(await files.get('none')).toBeNull();
      expect(await files.get('none', { start: 0, end: 1 })).toBeNull();
      await files.delete('none');
      await files.put('some', chunks(patterned(10), 10));
      await files.delete('some');
      expect(await files.info('some')).toBeNull();
      expect(await listed()).toEqual([]);
    });

    test('where the source breaks off, the old file stays and nothing new appears', async () => {
      const old = patterned(1000, 1);
      await files.put('a.mp4', chunks(old, 1000));
      for (const after of [0, 100, 6 * MIB]) {
        async function* broken() {
          yield* chunks(patterned(after, 9), 100_000);
          throw new Error('the terminal is gone');
        }
        await expect(files.put('a.mp4', broken())).rejects.toThrow('the terminal is gone');
        await expect(files.put('b.mp4', broken())).rejects.toThrow('the terminal is gone');
      }
      expect((await bytesOf(await files.get('a.mp4')))?.equals(old)).toBe(true);
      expect(await listed()).toEqual(['a.mp4']);
    });

    test('a reader while another puts gets one of the two files, whole', async () => {
      const [one, two] = [patterned(300_000, 1), patterned(300_000, 2)];
      await files.put('a.mp4', chunks(one, 50_000));
      const reads = Array.from({ length: 5 }, async () =>
        sha256((await bytesOf(await files.get('a.mp4'))) ?? Buffer.of()),
      );
      await files.put('a.mp4', chunks(two, 50_000));
      for (const hash of await Promise.all(reads)) expect([sha256(one), sha256(two)]).toContain(hash);
      expect(sha256((await bytesOf(await files.get('a.mp4'))) ?? Buffer.of())).toBe(sha256(two));
    });

    test('two who put at once leave one whole file', async () => {
      const both = [patterned(6 * MIB, 1), patterned(6 * MIB, 2)];
      await Promise.all(both.map((bytes) => files.put('a.mp4', chunks(bytes, 100_000))));
      const hash = sha256((await bytesOf(await files.get('a.mp4'))) ?? Buffer.of());
      expect(both.map(sha256)).toContain(hash);
      expect(await listed()).toEqual(['a.mp4']);
    });

    test('a reader may stop in the middle', async () => {
      await files.put('a.mp4', chunks(patterned(3 * MIB), MIB));
      for await (const part of (await files.get('a.mp4')) ?? []) {
        expect(part.length).toBeGreaterThan(0);
        break;
      }
      await files.delete('a.mp4');
      expect(await listed()).toEqual([]);
    });

    test('what was put is there when the store is opened again', async () => {
      const bytes = patterned(1234);
      await files.put('a.mp4', chunks(bytes, 100));
      files = await place.open();
      expect((await bytesOf(await files.get('a.mp4')))?.equals(bytes)).toBe(true);
      await files.ping();
    });

    test('all files are listed, with their sizes', async () => {
      const ids = Array.from({ length: 25 }, (_, nth) => `file-${nth}.mp4`);
      for (const [nth, id] of ids.entries()) await files.put(id, chunks(patterned(nth), 10));
      const all = await Array.fromAsync(files.list());
      expect(all.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      for (const { id, bytes, storedAtMs } of all) {
        expect(bytes).toBe(ids.indexOf(id));
        expect(storedAtMs).toBeGreaterThan(Date.UTC(2020, 0, 1));
      }
    });

    test('an id that leads elsewhere leads nowhere', async () => {
      for (const id of TRICKS) {
        await expect(files.put(id, chunks(patterned(3), 3)), id).rejects.toBeInstanceOf(FileIdError);
        await expect(files.get(id), id).rejects.toBeInstanceOf(FileIdError);
        await expect(files.info(id), id).rejects.toBeInstanceOf(FileIdError);
        await expect(files.delete(id), id).rejects.toBeInstanceOf(FileIdError);
      }
      expect(await listed()).toEqual([]);
    });

    test('whatever an id is, it names that file or is refused', async () => {
      await fc.assert(
        fc.asyncProperty(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.webPath()), async (id) => {
          try {
            await files.put(id, chunks(patterned(3), 3));
          } catch (error) {
            expect(error).toBeInstanceOf(FileIdError);
            return;
          }
          expect(await listed()).toEqual([id]);
          await files.delete(id);
          expect(await listed()).toEqual([]);
        }),
        { numRuns: runs(60) },
      );
    });
  });
}
