import { spawnSync } from 'node:child_process';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { drawCounter, HEIGHT, readCounter, WIDTH } from './counter-picture.ts';
import { type Picture, PlainH264Encoder } from './plain-h264.ts';
import { PlainH264Decoder } from './plain-h264-decoder.ts';
import { aLawCode, counterAt, PICTURE_MS, recordedFrames } from './test-video.ts';

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;
const NOON = Date.UTC(2026, 2, 1, 12);

/** Units between start codes of four bytes, which is how the encoder writes them. */
function unitsOf(bytes: Buffer): Buffer[] {
  const units: Buffer[] = [];
  const code = Buffer.from([0, 0, 0, 1]);
  for (let at = bytes.indexOf(code); at !== -1; ) {
    const next = bytes.indexOf(code, at + 4);
    units.push(bytes.subarray(at + 4, next === -1 ? bytes.length : next));
    at = next;
  }
  return units;
}

const SIZE = { width: 48, height: 32 };
const samples = (count: number) =>
  // Zeros and ones in a row are what start codes are made of.
  fc.oneof(
    fc.uint8Array({ minLength: count, maxLength: count }),
    fc
      .array(fc.constantFrom(0, 0, 0, 1, 2, 3, 255), { minLength: count, maxLength: count })
      .map((list) => Uint8Array.from(list)),
  );
const picture: fc.Arbitrary<Picture> = fc.record({
  width: fc.constant(SIZE.width),
  height: fc.constant(SIZE.height),
  luma: samples(SIZE.width * SIZE.height),
  blue: samples((SIZE.width * SIZE.height) / 4),
  red: samples((SIZE.width * SIZE.height) / 4),
});
/** Pictures some of which are like the one before, or like it in most places. */
const sequence = fc
  .array(fc.record({ picture, kept: fc.constantFrom(0, 0.5, 1), key: fc.boolean() }), { minLength: 1, maxLength: 5 })
  .map((list) => {
    const made: { picture: Picture; key: boolean }[] = [];
    for (const [i, { picture: own, kept, key }] of list.entries()) {
      const last = made.at(-1)?.picture;
      const mixed = last
        ? { ...own, luma: own.luma.map((value, at) => (at < kept * own.luma.length ? (last.luma[at] ?? 0) : value)) }
        : own;
      made.push({ picture: kept === 1 && last ? last : mixed, key: i === 0 || key });
    }
    return made;
  });

describe('the encoder', () => {
  test('makes what is decoded to what was drawn, to the bit', () => {
    fc.assert(
      fc.property(sequence, (list) => {
        const encoder = new PlainH264Encoder(SIZE.width, SIZE.height);
        const decoder = new PlainH264Decoder();
        for (const { picture: drawn, key } of list)
          expect(decoder.decode(unitsOf(encoder.encode(drawn, key)))).toEqual(drawn);
      }),
      { numRuns: runs(60) },
    );
  });

  test.skipIf(!hasFfmpeg)('makes what ffmpeg decodes to the same', () => {
    fc.assert(
      fc.property(sequence, (list) => {
        const encoder = new PlainH264Encoder(SIZE.width, SIZE.height);
        const input = Buffer.concat(list.map(({ picture: drawn, key }) => encoder.encode(drawn, key)));
        const { stdout, stderr } = spawnSync(
          'ffmpeg',
          [
            '-v',
            'error',
            '-f',
            'h264',
            '-i',
            '-',
            '-fps_mode',
            'passthrough',
            '-f',
            'rawvideo',
            '-pix_fmt',
            'yuv420p',
            '-',
          ],
          { input },
        );
        expect(stderr.toString()).toBe('');
        expect(
          stdout.equals(Buffer.concat(list.flatMap(({ picture: { luma, blue, red } }) => [luma, blue, red]))),
        ).toBe(true);
      }),
      { numRuns: 8 },
    );
  });

  test('holds no start code within a unit', () => {
    fc.assert(
      fc.property(picture, (drawn) => {
        for (const unit of unitsOf(new PlainH264Encoder(SIZE.width, SIZE.height).encode(drawn, true))) {
          expect(unit.includes(Buffer.from([0, 0, 0]))).toBe(false);
          expect(unit.includes(Buffer.from([0, 0, 1]))).toBe(false);
        }
      }),
    );
  });

  test('begins with a key picture of whole blocks', () => {
    expect(() => new PlainH264Encoder(40, 32)).toThrow(RangeError);
    expect(() => new PlainH264Encoder(WIDTH, HEIGHT).encode(drawCounter(1, 1), false)).toThrow('key picture');
  });
});

describe('the test video', () => {
  test('shows the time, whatever it is, and no number without one', () => {
    fc.assert(
      fc.property(fc.nat({ max: 99_999 }), fc.nat({ max: 9 }), (count, channel) => {
        expect(readCounter(drawCounter(count, channel).luma)).toBe(count);
      }),
    );
    expect(readCounter(new Uint8Array(WIDTH * HEIGHT))).toBeNull();
    expect(readCounter(new Uint8Array(10))).toBeNull();
  });

  test('has a picture and a piece of sound for each 40 ms, from a key picture on', () => {
    const frames = [...recordedFrames(1, NOON + 500, NOON + 3000)];
    const pictures = frames.filter(({ kind }) => kind !== 'audio');
    expect(pictures).toHaveLength(75);
    expect(frames).toHaveLength(150);
    expect(pictures.map(({ kind }) => kind === 'key')).toEqual(pictures.map((_, i) => i % 25 === 0));
    const decoder = new PlainH264Decoder();
    expect(pictures.map(({ data }) => readCounter(decoder.decode(unitsOf(data))?.luma ?? new Uint8Array()))).toEqual(
      pictures.map((_, i) => counterAt(NOON + i * PICTURE_MS)),
    );
  });

  test('is the same for the same channel and time', () => {
    const key = (channel: number, startMs: number) => [...recordedFrames(channel, startMs, startMs + 1000)];
    expect(key(1, NOON)).toEqual(key(1, NOON));
    expect(key(1, NOON)).not.toEqual(key(2, NOON));
    expect(key(1, NOON)).not.toEqual(key(1, NOON + 1000));
  });
});

test.skipIf(!hasFfmpeg)('codes of sound stand for values as near to it as codes can', () => {
  const values = Array.from({ length: 3000 }, (_, i) => Math.round(((i - 1500) / 1500) * 32_000));
  const input = Buffer.from(values.map(aLawCode));
  const { stdout } = spawnSync('ffmpeg', ['-v', 'error', '-f', 'alaw', '-ar', '8000', '-i', '-', '-f', 's16le', '-'], {
    input,
  });
  for (const [i, value] of values.entries())
    expect(Math.abs(stdout.readInt16LE(2 * i) - value)).toBeLessThanOrEqual(8 + Math.abs(value) / 30);
});
