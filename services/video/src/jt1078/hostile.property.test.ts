import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { VehicleId, VideoProfileId, VideoTaskId } from '@outrider/domain';
import { MemoryHub } from '@outrider/hub';
import type { StreamFrame } from '@outrider/protocols';
import { recordedFrames, startVideoTerminal, type VideoFaults } from '@outrider/simulator';
import fc from 'fast-check';
import { ALL_FORMATS, EncodedPacketSink, FilePathSource, Input } from 'mediabunny';
import { expect, test, vi } from 'vitest';
import { createJt1078Driver } from './driver.ts';
import { startPlainGateway } from './plain-gateway.fixture.ts';

const PHONE = '13900000001';
const NOON = Date.UTC(2026, 2, 1, 12);
const GOOD = [...recordedFrames(1, NOON, NOON + 4000)];

/** Frames as no terminal should send them, between some that are good. */
const frame: fc.Arbitrary<StreamFrame> = fc.record({
  kind: fc.constantFrom('key', 'predicted', 'bidirectional', 'audio', 'data'),
  codec: fc.constantFrom('h264', 'h264', 'h264', 'h265', 'g711a', 'aac', 'adpcm', 'other-100'),
  timestampMs: fc.oneof(
    fc.nat({ max: 10_000 }).map((ms) => NOON + ms),
    fc.nat(),
    fc.maxSafeInteger().map(Math.abs),
  ),
  data: fc.oneof(
    fc.uint8Array({ maxLength: 3000 }),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Uint8Array.of(0, 0, 0, 1, 0x65, ...bytes)),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Uint8Array.of(0, 0, 0, 1, 0x67, ...bytes)),
    fc.uint8Array({ maxLength: 100 }).map((bytes) => Uint8Array.of(0xff, 0xf1, ...bytes)),
  ),
}) as fc.Arbitrary<StreamFrame>;
const stream = fc
  .array(
    fc.oneof(
      { weight: 3, arbitrary: fc.nat({ max: GOOD.length - 1 }).map((i) => GOOD[i] as StreamFrame) },
      { weight: 1, arbitrary: frame },
    ),
    { maxLength: 60 },
  )
  .chain((frames) => fc.boolean().map((good) => (good ? [...GOOD, ...frames] : frames)));
const every = fc.oneof(
  { weight: 2, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.integer({ min: 2, max: 300 }) },
);
const faults: fc.Arbitrary<VideoFaults> = fc
  .record({ loseEvery: every, swapEvery: every, truncateEvery: every, repeatEvery: every })
  .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));

test('whatever a terminal sends, a fragment is a file that can be read, or a failure with a reason and no file', async () => {
  const hub = new MemoryHub();
  const gateway = await startPlainGateway(hub);
  const driver = await createJt1078Driver({
    hub,
    host: '127.0.0.1',
    mediaHost: '127.0.0.1',
    mediaPort: 0,
    answerTimeoutMs: 2000,
    stallTimeoutMs: 2000,
  });
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
  let sent: { frames: StreamFrame[]; faults: VideoFaults } = { frames: [], faults: {} };
  // Read anew for each playback.
  const changing: VideoFaults = {
    get loseEvery() {
      return sent.faults.loseEvery as number;
    },
    get swapEvery() {
      return sent.faults.swapEvery as number;
    },
    get truncateEvery() {
      return sent.faults.truncateEvery as number;
    },
    get repeatEvery() {
      return sent.faults.repeatEvery as number;
    },
  };
  const terminal = startVideoTerminal({
    host: '127.0.0.1',
    port: gateway.port,
    phone: PHONE,
    recorded: [{ startMs: NOON, endMs: NOON + 4000 }],
    faults: changing,
    frames: () => sent.frames.map((one) => ({ ...one, data: Buffer.from(one.data) })),
  });
  const source = {
    profileId: 'profile' as VideoProfileId,
    vehicleId: 'vehicle' as VehicleId,
    protocol: 'jt1078' as const,
    address: PHONE,
    timeZone: 'Asia/Shanghai',
  };
  try {
    await vi.waitFor(async () => expect(await driver.online(source)).toBe(true), { timeout: 60_000 });
    let files = 0;
    await fc.assert(
      fc.asyncProperty(stream, faults, async (frames, wrong) => {
        sent = { frames, faults: wrong };
        const path = join(folder, 'fragment.mp4');
        const outcome = await driver.fetch(
          {
            source,
            taskId: 'task' as VideoTaskId,
            channel: 1,
            startMs: NOON,
            endMs: NOON + 4000,
            stream: 'main',
            audio: true,
          },
          { path, signal: new AbortController().signal, maxBytes: 2 ** 26, onPhase: () => {}, onProgress: () => {} },
        );
        expect(existsSync(path)).toBe(outcome.ok);
        if (outcome.ok) {
          files++;
          using input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
          const track = await input.getPrimaryVideoTrack();
          if (!track) throw new Error('no pictures');
          let packets = 0;
          for await (const packet of new EncodedPacketSink(track).packets()) packets += packet.byteLength > 0 ? 1 : 0;
          expect(packets).toBe(outcome.value.frames);
          rmSync(path);
        } else expect(['connection-lost', 'bad-stream', 'unsupported-codec', 'no-answer']).toContain(outcome.reason);
        expect(readdirSync(folder)).toEqual([]);
      }),
      // Always all of them: of a third, too few are files to be counted.
      { numRuns: 60 },
    );
    expect(files).toBeGreaterThan(5);
  } finally {
    await terminal.stop();
    await driver.close();
    await gateway.close();
    rmSync(folder, { recursive: true });
  }
}, 120_000);
