import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VehicleId, VideoProfileId, VideoTaskId } from '@outrider/domain';
import { MemoryHub } from '@outrider/hub';
import { StreamWriter } from '@outrider/protocols';
import {
  counterAt,
  PICTURE_MS,
  PlainH264Decoder,
  readCounter,
  recordedFrames,
  startVideoTerminal,
  TEST_VIDEO_HEIGHT,
  TEST_VIDEO_WIDTH,
  unitsOfMp4Packet,
  type VideoTerminal,
  type VideoTerminalOptions,
} from '@outrider/simulator';
import { ALL_FORMATS, EncodedPacketSink, FilePathSource, Input } from 'mediabunny';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { FetchPhase, Fragment } from '../driver.ts';
import { createJt1078Driver, type Jt1078Driver } from './driver.ts';
import { startPlainGateway } from './plain-gateway.fixture.ts';
import { fromTerminalMs, toTerminalMs } from './terminal-clock.ts';

const hasFfmpeg = spawnSync('ffmpeg', ['-version']).status === 0;
const PHONE = '13900000001';
const NOON = Date.UTC(2026, 2, 1, 12);
const DAY = { startMs: NOON - 12 * 3600_000, endMs: NOON + 12 * 3600_000 };
const PATIENCE = { timeout: 60_000, interval: 20 };
const FIVE_SECONDS = 5000;

let hub: MemoryHub;
let gateway: Awaited<ReturnType<typeof startPlainGateway>>;
let driver: Jt1078Driver;
let folder: string;
let path: string;
let terminal: VideoTerminal | null;

beforeEach(async () => {
  hub = new MemoryHub();
  gateway = await startPlainGateway(hub);
  driver = await driverThatWaits(3000);
  folder = mkdtempSync(join(tmpdir(), 'jt1078-'));
  path = join(folder, 'fragment.mp4');
  terminal = null;
});

afterEach(async () => {
  await terminal?.stop();
  await driver.close();
  await gateway.close();
  rmSync(folder, { recursive: true });
});

const source = (timeZone = 'Asia/Shanghai'): Fragment['source'] => ({
  profileId: 'profile' as VideoProfileId,
  vehicleId: 'vehicle' as VehicleId,
  protocol: 'jt1078',
  address: PHONE,
  timeZone,
});

function fragment(change: Partial<Fragment> = {}): Fragment {
  return {
    source: source(),
    taskId: 'task' as VideoTaskId,
    channel: 1,
    startMs: NOON,
    endMs: NOON + FIVE_SECONDS,
    stream: 'main',
    audio: true,
    ...change,
  };
}

/** @param timeoutMs for an answer, and for the next packet */
const driverThatWaits = (timeoutMs: number) =>
  createJt1078Driver({
    hub,
    host: '127.0.0.1',
    mediaHost: '127.0.0.1',
    mediaPort: 0,
    answerTimeoutMs: timeoutMs,
    stallTimeoutMs: timeoutMs,
  });

/** Another driver, which waits a shorter time. */
async function impatientDriver(): Promise<void> {
  await driver.close();
  driver = await driverThatWaits(300);
}

/** A terminal that is on-line. */
async function terminalWith(options: Partial<VideoTerminalOptions> = {}): Promise<VideoTerminal> {
  terminal = startVideoTerminal({ host: '127.0.0.1', port: gateway.port, phone: PHONE, recorded: [DAY], ...options });
  await vi.waitFor(async () => expect(await driver.online(source())).toBe(true), PATIENCE);
  return terminal;
}

async function fetch(what: Fragment = fragment(), maxBytes = 2 ** 30, signal = new AbortController().signal) {
  const phases: FetchPhase[] = [];
  const progress: number[] = [];
  const outcome = await driver.fetch(what, {
    path,
    signal,
    maxBytes,
    onPhase: (phase) => phases.push(phase),
    onProgress: ({ mediaMs }) => progress.push(mediaMs),
  });
  return { outcome, phases, progress };
}

/** What an independent reader finds. */
async function readBack() {
  using input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  const video = await input.getPrimaryVideoTrack();
  const audio = await input.getPrimaryAudioTrack();
  if (!video) throw new Error('no pictures');
  const packets: { atMs: number; key: boolean; counter: number | null }[] = [];
  const decoder = new PlainH264Decoder();
  for await (const packet of new EncodedPacketSink(video).packets())
    packets.push({
      atMs: Math.round(packet.timestamp * 1000),
      key: packet.type === 'key',
      counter: readCounter(decoder.decode(unitsOfMp4Packet(packet.data))?.luma ?? new Uint8Array()),
    });
  return {
    packets,
    codec: video.codec,
    width: video.codedWidth,
    height: video.codedHeight,
    durationMs: Math.round((await video.computeDuration()) * 1000),
    audioMs: audio ? Math.round((await audio.computeDuration()) * 1000) : null,
  };
}

/** The numbers that the decoded pictures show, by ffmpeg. */
function shownCounters(): (number | null)[] {
  const { stdout, status } = spawnSync(
    'ffmpeg',
    [
      '-v',
      'error',
      '-i',
      path,
      '-map',
      '0:v',
      '-fps_mode',
      'passthrough',
      '-f',
      'rawvideo',
      '-pix_fmt',
      'yuv420p',
      '-',
    ],
    { maxBuffer: 2 ** 30 },
  );
  expect(status).toBe(0);
  const pixels = TEST_VIDEO_WIDTH * TEST_VIDEO_HEIGHT;
  return Array.from({ length: stdout.length / (1.5 * pixels) }, (_, i) =>
    readCounter(stdout.subarray(i * 1.5 * pixels, i * 1.5 * pixels + pixels)),
  );
}

describe('a fragment', () => {
  test.each([2013, 2019] as const)(
    'comes as a file that plays, with every picture of its time (%i)',
    async (edition) => {
      const played = await terminalWith({ edition });
      const { outcome, phases, progress } = await fetch();
      expect(outcome).toEqual({
        ok: true,
        value: {
          bytes: statSync(path).size,
          durationMs: FIVE_SECONDS,
          videoCodec: 'h264',
          audioCodec: 'g711a',
          frames: 125,
          packetsLost: 0,
          packetsReordered: 0,
        },
      });
      expect(phases).toEqual(['requested', 'downloading', 'processing']);
      expect(progress.at(-1)).toBeGreaterThan(4000);
      const file = await readBack();
      expect(file).toMatchObject({
        codec: 'avc',
        width: 160,
        height: 96,
        durationMs: FIVE_SECONDS,
        audioMs: FIVE_SECONDS,
      });
      expect(file.packets.map(({ atMs }) => atMs)).toEqual(Array.from({ length: 125 }, (_, i) => i * PICTURE_MS));
      expect(file.packets.filter(({ key }) => key)).toHaveLength(5);
      const counters = Array.from({ length: 125 }, (_, i) => counterAt(NOON + i * PICTURE_MS));
      expect(file.packets.map(({ counter }) => counter)).toEqual(counters);
      if (hasFfmpeg)
        expect(shownCounters()).toEqual(Array.from({ length: 125 }, (_, i) => counterAt(NOON + i * PICTURE_MS)));
      expect(played.stats()).toMatchObject({ playbacks: 1, playedToEnd: 1 });
    },
  );

  test('comes from a terminal that has its IMEI in the place of a phone number', async () => {
    const imei = { ...source(), address: '356307042441013' };
    terminal = startVideoTerminal({
      host: '127.0.0.1',
      port: gateway.port,
      phone: '2067eb783585',
      edition: 2013,
      recorded: [DAY],
    });
    await vi.waitFor(async () => expect(await driver.online(imei)).toBe(true), PATIENCE);
    expect((await fetch(fragment({ source: imei }))).outcome).toMatchObject({ ok: true, value: { frames: 125 } });
  });

  test('is of the wanted channel and time by the clock that the terminal shows', async () => {
    const timeZone = 'Europe/Berlin';
    await terminalWith({ clockErrorMs: (1 - 8) * 3600_000 });
    const wanted = fragment({ source: source(timeZone), channel: 2, startMs: NOON + 3600_000, endMs: NOON + 3602_000 });
    const listed = await driver.recordings(wanted.source, 2, DAY.startMs, NOON, new AbortController().signal);
    expect(listed.ok && [listed.value[0]?.startMs, listed.value.at(-1)?.endMs]).toEqual([DAY.startMs, NOON]);
    expect((await fetch(wanted)).outcome).toMatchObject({ ok: true, value: { frames: 50 } });
    expect((await readBack()).packets[0]?.counter).toBe(counterAt(NOON + 3600_000));
  });

  test('without sound has none', async () => {
    await terminalWith();
    expect((await fetch(fragment({ audio: false }))).outcome).toMatchObject({ ok: true, value: { audioCodec: null } });
    expect((await readBack()).audioMs).toBeNull();
  });

  test('of which the terminal has a part is that part', async () => {
    await terminalWith({ recorded: [{ startMs: NOON + 2000, endMs: NOON + 4000 }] });
    expect((await fetch()).outcome).toMatchObject({ ok: true, value: { durationMs: 2000, frames: 50 } });
  });

  test('that the terminal has nothing of is none', async () => {
    await terminalWith();
    const { outcome, phases } = await fetch(fragment({ channel: 7 }));
    expect(outcome).toMatchObject({ ok: false, reason: 'no-recording' });
    expect(phases).toEqual([]);
    const later = { startMs: DAY.endMs + 1000, endMs: DAY.endMs + 2000 };
    expect((await fetch(fragment(later))).outcome).toMatchObject({ ok: false, reason: 'no-recording' });
  });

  test('of a terminal that keeps the connection when it is done is complete, and the terminal is reported to stop', async () => {
    const played = await terminalWith({ faults: { keepsOpen: true } });
    expect((await fetch()).outcome).toMatchObject({ ok: true, value: { frames: 125 } });
    await vi.waitFor(() => expect(played.stats().commands['control-playback']).toBe(1), PATIENCE);
  });

  test('is fetched again and again, and side by side of two channels', async () => {
    await terminalWith();
    for (let i = 0; i < 2; i++) {
      expect((await fetch()).outcome.ok).toBe(true);
      rmSync(path);
    }
    const other = join(folder, 'other.mp4');
    const [one, two] = await Promise.all([
      fetch(),
      driver.fetch(fragment({ channel: 2 }), {
        path: other,
        signal: new AbortController().signal,
        maxBytes: 2 ** 30,
        onPhase: () => {},
        onProgress: () => {},
      }),
    ]);
    expect([one.outcome.ok, two.ok]).toEqual([true, true]);
  });
});

describe('a stream that is damaged', () => {
  test('by reordering gives every picture', async () => {
    await terminalWith({ faults: { swapEvery: 7 } });
    const { outcome } = await fetch();
    expect(outcome).toMatchObject({ ok: true, value: { frames: 125, packetsLost: 0 } });
    expect(outcome.ok && outcome.value.packetsReordered).toBeGreaterThan(20);
    if (hasFfmpeg)
      expect(shownCounters()).toEqual(Array.from({ length: 125 }, (_, i) => counterAt(NOON + i * PICTURE_MS)));
  });

  test.each([{ loseEvery: 50 }, { truncateEvery: 50 }])(
    'by loss reports it, and gives the other pictures (%o)',
    async (faults) => {
      await terminalWith({ faults });
      const { outcome } = await fetch();
      if (!outcome.ok) throw new Error(outcome.detail);
      const { packetsLost, frames } = outcome.value;
      expect(packetsLost).toBeGreaterThan(3);
      expect(frames).toBeLessThan(125);
      expect(frames).toBeGreaterThanOrEqual(125 - packetsLost - 25);
      const { packets } = await readBack();
      expect(packets).toHaveLength(frames);
      expect(packets.every(({ atMs }) => atMs % PICTURE_MS === 0)).toBe(true);
    },
  );

  test('by a cut is none, and the next attempt is whole', async () => {
    await terminalWith({ faults: { cutAfterPackets: 100, playbacks: 1 } });
    expect((await fetch()).outcome).toMatchObject({ ok: false, reason: 'connection-lost' });
    expect(existsSync(path)).toBe(false);
    expect((await fetch()).outcome).toMatchObject({ ok: true, value: { frames: 125 } });
  });

  test('by a stall is none', async () => {
    await impatientDriver();
    const played = await terminalWith({ faults: { stallAfterPackets: 60 } });
    expect((await fetch()).outcome).toMatchObject({ ok: false, reason: 'stalled' });
    await vi.waitFor(() => expect(played.stats().commands['control-playback']).toBe(1), PATIENCE);
  });
});

describe('a terminal', () => {
  test('that is off-line is reported so, and received from when it comes', async () => {
    const received: [string, boolean][] = [];
    driver.onPresence((...news) => received.push(news));
    expect((await fetch()).outcome).toMatchObject({ ok: false, reason: 'terminal-offline' });
    const came = await terminalWith();
    await vi.waitFor(() => expect(received).toEqual([[PHONE, true]]), PATIENCE);
    came.disconnect();
    await vi.waitFor(async () => expect(await driver.online(source())).toBe(false), PATIENCE);
    expect(received.at(-1)).toEqual([PHONE, false]);
  });

  test('that goes while it plays is a lost connection', async () => {
    const played = await terminalWith({ speed: 1 });
    const fetching = fetch();
    await vi.waitFor(() => expect(played.stats().packetsSent).toBeGreaterThan(40), PATIENCE);
    played.disconnect();
    expect((await fetching).outcome).toMatchObject({ ok: false, reason: 'connection-lost' });
  });

  test('that does not answer is reported', async () => {
    await impatientDriver();
    await terminalWith({ faults: { mute: true } });
    expect((await fetch()).outcome).toMatchObject({ ok: false, reason: 'no-answer' });
  });

  test('that refuses is reported', async () => {
    await terminalWith({ faults: { refusesPlayback: true } });
    const { outcome, phases } = await fetch();
    expect(outcome).toMatchObject({ ok: false, reason: 'refused' });
    expect(phases).toEqual([]);
  });

  test('is stopped when the fragment is given up, or grows too large', async () => {
    const played = await terminalWith({ speed: 1 });
    const giveUp = new AbortController();
    const fetching = fetch(fragment({ endMs: NOON + 60_000 }), 2 ** 30, giveUp.signal);
    await vi.waitFor(() => expect(played.stats().packetsSent).toBeGreaterThan(10), PATIENCE);
    giveUp.abort();
    expect((await fetching).outcome).toMatchObject({ ok: false, reason: 'aborted' });
    await vi.waitFor(() => expect(played.stats().commands['control-playback']).toBe(1), PATIENCE);
    expect(existsSync(path)).toBe(false);
    expect(existsSync(`${path}.part`)).toBe(false);
    expect((await fetch(fragment(), 2 ** 30, AbortSignal.abort())).outcome).toMatchObject({ reason: 'aborted' });
    await played.stop();
    await vi.waitFor(async () => expect(await driver.online(source())).toBe(false), PATIENCE);
    await terminalWith();
    expect((await fetch(fragment(), 50_000)).outcome).toMatchObject({ ok: false, reason: 'too-large' });
  });
});

describe('the media port', () => {
  test('turns away what nobody waits for, and what is no stream', async () => {
    const closed = (bytes: Buffer) =>
      new Promise<void>((resolve) => {
        const socket = connect(driver.mediaPort, '127.0.0.1', () => socket.write(bytes));
        socket.on('error', () => {});
        socket.on('close', () => resolve());
        socket.resume();
      });
    const packets = new StreamWriter(PHONE, 1);
    const frames = [...recordedFrames(1, NOON, NOON + 1000)].flatMap((frame) => packets.write(frame));
    await closed(Buffer.concat(frames));
    await closed(Buffer.alloc(100_000, 'GET / HTTP/1.1\r\n\r\n'));
  });

  test('does not take what is left of an older playback for a new one', async () => {
    await terminalWith();
    // Connected before anything was asked for, and sends only then.
    const old = connect(driver.mediaPort, '127.0.0.1');
    old.on('error', () => {});
    await new Promise((resolve) => old.once('connect', resolve));
    const packets = new StreamWriter(PHONE, 1, { form: 10 });
    const [first] = [...recordedFrames(1, NOON - 60_000, NOON - 59_000)].flatMap((frame) => packets.write(frame));
    const fetching = fetch();
    old.write(Buffer.concat([first as Buffer, first as Buffer]));
    expect((await fetching).outcome).toMatchObject({ ok: true, value: { frames: 125 } });
    expect((await readBack()).packets[0]?.counter).toBe(counterAt(NOON));
  });
});

test('times go to the terminal’s clock and back, also where summer time begins and ends', () => {
  for (const timeZone of ['UTC', 'Asia/Shanghai', 'Europe/Berlin', 'America/St_Johns'])
    for (const moment of [NOON, Date.UTC(2026, 2, 29, 0, 59), Date.UTC(2026, 2, 29, 1, 1), Date.UTC(2026, 9, 25, 3)])
      expect(fromTerminalMs(toTerminalMs(moment, timeZone), timeZone)).toBe(moment);
  expect(toTerminalMs(NOON, 'Asia/Shanghai')).toBe(NOON);
  expect(toTerminalMs(NOON, 'UTC')).toBe(NOON - 8 * 3600_000);
});
