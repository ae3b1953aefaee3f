import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { ALL_FORMATS, EncodedPacketSink, FilePathSource, Input } from 'mediabunny';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { splitAdts } from './adts.ts';
import { expandG711 } from './g711.ts';
import { createMp4Writer, FootageError, type FootageFrame } from './mp4-writer.ts';
import { beginsPicture, joinNalUnits, nalRole, splitNalUnits, type VideoCodec } from './nal-units.ts';
import { readPictureFormat } from './picture-format.ts';

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;
const START_MS = 1_700_000_000_000;
/** The order in which the pictures of `reordered.h264` are shown. */
const SHOWN =
  '0 1 3 2 4 5 7 6 9 8 10 13 11 12 14 16 15 19 17 18 20 21 22 23 24 25 26 27 28 30 29 32 31 35 33 34 37 36 39 38 42 40 41 43 44 45 46 49 47 48'
    .split(' ')
    .map(Number);

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'footage-'));
  path = join(folder, 'video.mp4');
});

afterEach(() => rmSync(folder, { recursive: true }));

function fixture(name: string): Buffer {
  return readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
}

/** A bitstream as frames, each of one picture. */
function pictures(
  name: string,
  codec: VideoCodec,
  shown: (index: number) => number = (index) => index,
): FootageFrame[] {
  const frames: Uint8Array[][] = [];
  let ahead: Uint8Array[] = [];
  for (const unit of splitNalUnits(fixture(name))) {
    if (!nalRole(codec, unit).endsWith('slice')) ahead.push(unit);
    else if (beginsPicture(codec, unit)) {
      frames.push([...ahead, unit]);
      ahead = [];
    } else frames.at(-1)?.push(unit);
  }
  return frames.map((units, i) => ({
    kind: units.some((unit) => nalRole(codec, unit) === 'key-slice')
      ? 'key'
      : shown(i) < i
        ? 'bidirectional'
        : 'predicted',
    codec,
    timestampMs: START_MS + shown(i) * 40,
    data: joinNalUnits(units),
  }));
}

function tone(codec: 'g711a' | 'g711u', count: number, fromMs = START_MS): FootageFrame[] {
  return Array.from({ length: count }, (_, i) => ({
    kind: 'audio' as const,
    codec,
    timestampMs: fromMs + i * 40,
    data: Uint8Array.from({ length: 320 }, (_, j) => (i * 320 + j * 7) % 256),
  }));
}

/** Frames of several tracks in the order of their times. */
function together(...tracks: FootageFrame[][]): FootageFrame[] {
  const order = tracks.flatMap((frames) => frames.map((frame, i) => ({ frame, at: (i + 1) / frames.length })));
  return order.sort((one, other) => one.at - other.at).map(({ frame }) => frame);
}

async function write(frames: readonly FootageFrame[], audio = true) {
  const writer = createMp4Writer({ path, audio });
  try {
    for (const frame of frames) await writer.add(frame);
    return await writer.finish();
  } catch (error) {
    await writer.abandon();
    throw error;
  }
}

/** What an independent reader finds in the file. */
async function readBack() {
  using input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  const video = await input.getPrimaryVideoTrack();
  const audio = await input.getPrimaryAudioTrack();
  if (!video) throw new Error('no pictures');
  const packets: { atMs: number; key: boolean; data: Uint8Array }[] = [];
  for await (const packet of new EncodedPacketSink(video).packets())
    packets.push({ atMs: Math.round(packet.timestamp * 1000), key: packet.type === 'key', data: packet.data });
  const sound: { atMs: number; data: Uint8Array }[] = [];
  if (audio)
    for await (const packet of new EncodedPacketSink(audio).packets())
      sound.push({ atMs: Math.round(packet.timestamp * 1000), data: packet.data });
  return {
    mimeType: await input.getMimeType(),
    codec: video.codec,
    width: video.codedWidth,
    height: video.codedHeight,
    durationMs: Math.round((await video.computeDuration()) * 1000),
    packets,
    audioCodec: audio?.codec ?? null,
    sampleRate: audio?.sampleRate ?? null,
    soundBytes: Buffer.concat(sound.map(({ data }) => data)),
    soundAtMs: sound[0]?.atMs ?? null,
    soundMs: audio ? Math.round((await audio.computeDuration()) * 1000) : 0,
  };
}

/** A digest of each decoded picture, by ffmpeg. */
function decoded(file: string, format: string[] = []): string[] {
  const { stdout, stderr, status } = spawnSync(
    'ffmpeg',
    ['-v', 'error', ...format, '-i', file, '-map', '0:v', '-fps_mode', 'passthrough', '-f', 'framemd5', '-'],
    { encoding: 'utf8' },
  );
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  return stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.split(',').at(-1)?.trim() ?? '');
}

/** The slices of a packet of the file, without the lengths before them. */
function slicesOf(codec: VideoCodec, data: Uint8Array): string[] {
  const bytes = Buffer.from(data);
  const units: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    units.push(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return units.filter((unit) => nalRole(codec, unit).endsWith('slice')).map((unit) => unit.toString('hex'));
}

describe('pictures', () => {
  test.each([
    ['reordered.h264', 'h264', 'avc', (index: number) => SHOWN[index] ?? 0],
    ['pictures.h265', 'h265', 'hevc', (index: number) => index],
  ] as const)('of %s stand in the file as they came, at their times', async (name, codec, inFile, shown) => {
    const frames = pictures(name, codec, shown);
    expect(frames).toHaveLength(50);
    const facts = await write(frames);
    expect(facts).toMatchObject({
      videoCodec: codec,
      audioCodec: null,
      width: 160,
      height: 96,
      videoFrames: 50,
      keyFrames: 2,
      framesBeforeKey: 0,
      framesUnreadable: 0,
      durationMs: 2000,
    });
    const file = await readBack();
    expect(file).toMatchObject({ codec: inFile, width: 160, height: 96, durationMs: 2000, audioCodec: null });
    expect(file.packets.map(({ atMs }) => atMs)).toEqual(frames.map((_, i) => shown(i) * 40));
    expect(file.packets.map(({ key }) => key)).toEqual(frames.map(({ kind }) => kind === 'key'));
    expect(file.packets.map(({ data }) => slicesOf(codec, data))).toEqual(
      frames.map(({ data }) =>
        splitNalUnits(data)
          .filter((unit) => nalRole(codec, unit).endsWith('slice'))
          .map((unit) => Buffer.from(unit).toString('hex')),
      ),
    );
    expect(facts.bytes).toBe(readFileSync(path).length);
  });

  test.skipIf(!hasFfmpeg).each([
    ['reordered.h264', 'h264', 'h264', (index: number) => SHOWN[index] ?? 0],
    ['pictures.h265', 'h265', 'hevc', (index: number) => index],
    ['cropped.h264', 'h264', 'h264', (index: number) => index],
  ] as const)(
    'of %s are decoded from the file to what the bitstream decodes to',
    async (name, codec, format, shown) => {
      await write(pictures(name, codec, shown));
      const source = join(folder, name);
      const { writeFileSync } = await import('node:fs');
      writeFileSync(source, fixture(name));
      expect(decoded(path)).toEqual(decoded(source, ['-f', format]));
    },
  );

  test('that come slice by slice, and parameter sets that come alone, make the same file', async () => {
    const frames = pictures('reordered.h264', 'h264', (index) => SHOWN[index] ?? 0);
    await write(frames);
    const whole = await readBack();
    rmSync(path);
    const pieces = frames.flatMap((frame) =>
      splitNalUnits(frame.data).map((unit) => ({ ...frame, data: joinNalUnits([unit]) })),
    );
    expect(pieces.length).toBeGreaterThan(100);
    await write(pieces);
    expect(await readBack()).toEqual(whole);
  });

  test('before the first that can be decoded are left out, and reported', async () => {
    const frames = pictures('pictures.h265', 'h265');
    const facts = await write(frames.slice(3));
    expect(facts).toMatchObject({ framesBeforeKey: 22, videoFrames: 25, keyFrames: 1 });
    expect((await readBack()).packets[0]).toMatchObject({ atMs: 0, key: true });
  });

  test('of one kind only are taken, and what is no picture is reported', async () => {
    const frames = pictures('pictures.h265', 'h265');
    const other = pictures('reordered.h264', 'h264').slice(0, 4);
    const noise: FootageFrame = { kind: 'predicted', codec: 'h265', timestampMs: START_MS, data: Buffer.from('none') };
    const facts = await write([...frames.slice(0, 10), ...other, noise, ...frames.slice(10)]);
    expect(facts).toMatchObject({ videoFrames: 50, framesUnreadable: 5 });
  });

  test('at times that make no sense still make a file, in their order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(fc.nat({ max: 5000 }), fc.maxSafeInteger(), fc.double({ min: 0, max: 2 ** 64, noNaN: true })),
          {
            minLength: 50,
            maxLength: 50,
          },
        ),
        async (times) => {
          rmSync(path, { force: true });
          const frames = pictures('pictures.h265', 'h265').map((frame, i) => ({
            ...frame,
            timestampMs: Math.round(times[i] ?? 0),
          }));
          const facts = await write([...frames, ...tone('g711a', 5)]);
          expect(facts.videoFrames).toBe(50);
          const { packets } = await readBack();
          const at = packets.map(({ atMs }) => atMs);
          expect(at).toEqual([...at].sort((one, other) => one - other));
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('sound', () => {
  test.each(['g711a', 'g711u'] as const)(
    'of %s stands in the file as the samples that it stands for',
    async (codec) => {
      const sound = tone(codec, 50);
      const facts = await write(together(pictures('pictures.h265', 'h265'), sound));
      expect(facts).toMatchObject({ audioCodec: codec, audioFrames: 50, audioDropped: 0, videoFrames: 50 });
      const file = await readBack();
      expect(file).toMatchObject({ audioCodec: 'pcm-s16', sampleRate: 8000, soundMs: 2000 });
      expect(file.soundBytes.equals(expandG711(codec, Buffer.concat(sound.map(({ data }) => data))))).toBe(true);
    },
  );

  test('of AAC stands in the file as it came, without its headers', async () => {
    const adts = splitAdts(fixture('tone.aac'));
    // Several frames in a packet, as terminals send them.
    const sound = Array.from({ length: Math.ceil(adts.length / 2) }, (_, i) => ({
      kind: 'audio' as const,
      codec: 'aac',
      timestampMs: START_MS + i * 256,
      data: Buffer.concat(adts.slice(2 * i, 2 * i + 2).map(({ bytes }) => bytes)),
    }));
    const facts = await write(together(pictures('pictures.h265', 'h265'), sound));
    expect(facts).toMatchObject({ audioCodec: 'aac', audioFrames: adts.length, audioDropped: 0 });
    const file = await readBack();
    expect(file).toMatchObject({ audioCodec: 'aac', sampleRate: 8000 });
    expect(file.soundBytes.equals(Buffer.concat(adts.map(({ bytes }) => bytes.subarray(7))))).toBe(true);
  });

  test('is left out where it is not wanted, where it can not be written, and where it begins too late', async () => {
    const video = pictures('pictures.h265', 'h265');
    expect(await write(together(video, tone('g711a', 50)), false)).toMatchObject({ audioCodec: null, audioDropped: 0 });
    rmSync(path);
    const adpcm = tone('g711a', 50).map((frame) => ({ ...frame, codec: 'adpcm' }));
    expect(await write(together(video, adpcm))).toMatchObject({ audioCodec: null, audioDropped: 50 });
    rmSync(path);
    const facts = await write([...video, ...tone('g711a', 3, START_MS + 2000)]);
    expect(facts).toMatchObject({ audioCodec: null, audioDropped: 3 });
  });

  test('from before the first picture is left out, with or without more behind it', async () => {
    const video = pictures('pictures.h265', 'h265');
    const before = tone('g711a', 5, START_MS - 1000);
    expect(await write([...before, ...video])).toMatchObject({ audioFrames: 0, audioDropped: 5, videoFrames: 50 });
    expect((await readBack()).packets).toHaveLength(50);
    rmSync(path);
    expect(await write([...before, ...together(video, tone('g711a', 50))])).toMatchObject({
      audioFrames: 50,
      audioDropped: 5,
    });
    expect((await readBack()).soundAtMs).toBe(0);
  });

  test('with a pause in it stays in time, and so does sound that comes in fits', async () => {
    const begun = [...tone('g711a', 10), ...tone('g711a', 10, START_MS + 5000)];
    const jitter = begun.map((frame, i) => ({ ...frame, timestampMs: frame.timestampMs + (i % 3) * 15 }));
    await write([...pictures('pictures.h265', 'h265').slice(0, 20), ...jitter]);
    const file = await readBack();
    expect(file.soundMs).toBeGreaterThanOrEqual(5400);
    expect(file.soundMs).toBeLessThanOrEqual(5430);
    // The pause is silence of the right length.
    const silence = file.soundBytes.subarray(2 * 3200, -2 * 3200);
    expect(silence.every((byte) => byte === 0)).toBe(true);
    expect(Math.abs(silence.length / 2 - 8 * 4600)).toBeLessThanOrEqual(8 * 30);
  });

  test.skipIf(!hasFfmpeg)('is found by ffprobe', async () => {
    await write(together(pictures('pictures.h265', 'h265'), tone('g711u', 50)));
    const { stdout } = spawnSync(
      'ffprobe',
      ['-v', 'error', '-show_entries', 'stream=codec_name,duration', '-of', 'csv=p=0', path],
      {
        encoding: 'utf8',
      },
    );
    expect(stdout.trim().split('\n')).toEqual(['hevc,2.000000', 'pcm_s16le,2.000000']);
  });
});

describe('the file', () => {
  test('has its tables in front, and nothing is left beside it', async () => {
    await write(pictures('pictures.h265', 'h265'));
    const bytes = readFileSync(path);
    const moov = bytes.indexOf('moov');
    expect(moov).toBeGreaterThan(0);
    expect(moov).toBeLessThan(bytes.indexOf('mdat'));
    expect(existsSync(`${path}.part`)).toBe(false);
  });

  test('is not made without a picture that can be decoded', async () => {
    const writer = createMp4Writer({ path, audio: true });
    for (const frame of [...pictures('pictures.h265', 'h265').slice(1, 20), ...tone('g711a', 3)])
      await writer.add(frame);
    await expect(writer.finish()).rejects.toThrow(FootageError);
    await expect(createMp4Writer({ path, audio: true }).finish()).rejects.toMatchObject({ fault: 'no-picture' });
    expect(existsSync(path)).toBe(false);
  });

  test('is not made of pictures in another codec', async () => {
    const frame: FootageFrame = { kind: 'key', codec: 'other-100', timestampMs: 0, data: Buffer.alloc(10) };
    await expect(createMp4Writer({ path, audio: true }).add(frame)).rejects.toMatchObject({
      fault: 'unsupported-codec',
    });
  });

  test('that is given up leaves nothing', async () => {
    const writer = createMp4Writer({ path, audio: false });
    for (const frame of pictures('pictures.h265', 'h265')) await writer.add(frame);
    await writer.abandon();
    expect(existsSync(path) || existsSync(`${path}.part`)).toBe(false);
    await createMp4Writer({ path, audio: false }).abandon();
  });

  test('of damaged pictures is made, or refused with a reason', async () => {
    const good = pictures('reordered.h264', 'h264', (index) => SHOWN[index] ?? 0);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ frame: fc.nat({ max: 49 }), at: fc.nat(), byte: fc.nat({ max: 255 }) }), {
          minLength: 1,
          maxLength: 40,
        }),
        async (damages) => {
          rmSync(path, { force: true });
          const frames = good.map((frame) => ({ ...frame, data: Buffer.from(frame.data) }));
          // The first frame, which holds the parameter sets, is hit more than the others.
          for (const [i, { frame, at, byte }] of damages.entries()) {
            const { data } = frames[i % 2 === 0 ? 0 : frame] as { data: Buffer };
            data[at % Math.min(data.length, i % 2 === 0 ? 60 : data.length)] = byte;
          }
          try {
            await write(frames);
            await readBack();
          } catch (error) {
            if (!(error instanceof FootageError)) throw error;
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });
});

describe('parameter sets', () => {
  test('report what is shown, not what is coded', () => {
    const sps = splitNalUnits(fixture('cropped.h264')).find((unit) => ((unit[0] ?? 0) & 0x1f) === 7);
    expect(readPictureFormat('h264', sps ?? Buffer.alloc(0))).toMatchObject({
      width: 176,
      height: 100,
      codecString: expect.stringMatching(/^avc1\.64[0-9a-f]{4}$/),
    });
  });

  test('of any bytes are a format or none', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 80 }),
        fc.constantFrom('h264' as const, 'h265' as const),
        (bytes, codec) => {
          const format = readPictureFormat(codec, bytes);
          if (format !== null) expect(format.width).toBeGreaterThan(0);
        },
      ),
      { numRuns: runs(1000) },
    );
  });
});
