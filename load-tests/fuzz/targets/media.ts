import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMp4Writer, FootageError } from '@outrider/footage';
import { PlaybackReassembler, type StreamFrame, type StreamMessage, StreamWriter } from '@outrider/protocols';
import { createRandom, type Random, recordedFrames } from '@outrider/simulator';
import { jt1078Framing } from '../framings.ts';
import { cutsOf } from '../mutate.ts';
import { claim, type Target } from '../target.ts';

/** Packets waiting for their turn, an unfinished one, and a frame of each kind under way. */
const MOST_HELD_BYTES = 48 * 1024 * 1024;
const PAYLOAD_BYTES = 400;
const NOW_MS = Date.UTC(2026, 0, 1);

/** Real frames, cut short: what is read of a picture stands in its first bytes. */
let recorded: readonly StreamFrame[] | null = null;
function someFrames(random: Random): StreamFrame[] {
  recorded ??= [...recordedFrames(1, NOW_MS, NOW_MS + 400)].map((frame) => ({
    ...frame,
    data: Buffer.from(frame.data.subarray(0, 1500)),
  }));
  const from = random.next() < 0.6 ? 0 : Math.floor(random.next() * recorded.length);
  return recorded.slice(from, from + 1 + Math.floor(random.next() * 8));
}

function streamOf(frames: readonly StreamFrame[], random: Random): Buffer {
  const writer = new StreamWriter('13800138000', 1, {
    firstSequence: random.pick([0, 65_533, 700]),
    payloadBytes: PAYLOAD_BYTES,
  });
  return Buffer.concat(frames.flatMap((frame) => writer.write(frame)));
}

function pushed(reassembler: PlaybackReassembler, input: Buffer, cuts: readonly number[]): StreamMessage[] {
  const messages: StreamMessage[] = [];
  let from = 0;
  for (const to of [...cuts, input.length]) {
    const chunk = Buffer.from(input.subarray(from, to));
    messages.push(...reassembler.push(chunk));
    chunk.fill(0xaa);
    const { heldBytes } = reassembler;
    claim(heldBytes <= MOST_HELD_BYTES, () => `${heldBytes} bytes are held`);
    from = to;
  }
  return [...messages, ...reassembler.end()];
}

/** Streams of video terminals. */
export const streamTarget: Target = {
  name: 'decoder jt1078',
  covers: ['/protocols/src/jt1078/'],
  framing: jt1078Framing,
  words: [
    Buffer.from('01cd'),
    Buffer.of(0x81, 0xe2),
    Buffer.of(0x01, 0x38),
    Buffer.of(0x00),
    Buffer.of(0x10),
    Buffer.of(0x30),
    Buffer.of(0x43),
  ],
  maxBytes: 48 * 1024,
  seeds: (random) => [streamOf(someFrames(random), random), streamOf(someFrames(random), random)],
  run(input) {
    const whole = new PlaybackReassembler();
    const messages = pushed(whole, input, []);
    const random = createRandom(input.length * 31 + (input[input.length >> 1] ?? 0));
    const split = new PlaybackReassembler();
    const again = pushed(split, input, cutsOf(input.length, random));
    const summary = (list: readonly StreamMessage[]): string =>
      list
        .map((message) =>
          message.type === 'frame' ? `${message.frame.kind}:${message.frame.data.length}` : message.type,
        )
        .join(' ');
    claim(summary(messages) === summary(again), () => `in pieces ${summary(again)}, at once ${summary(messages)}`);
    let data = 0;
    for (const message of messages) {
      if (message.type !== 'frame') continue;
      claim(Number.isFinite(message.frame.timestampMs), () => `time ${message.frame.timestampMs}`);
      data += message.frame.data.length;
    }
    claim(data <= input.length, () => `${data} bytes of frames out of ${input.length}`);
    const { packets, bytesSkipped } = whole.losses();
    claim(packets >= 0 && bytesSkipped <= input.length, () => `${bytesSkipped} bytes skipped of ${input.length}`);
    return messages.some(({ type }) => type === 'frame') ? 'accepted' : 'refused';
  },
};

/** The frames of such a stream, made into a file: parameter sets, slices, ADTS headers, times. */
export function footageTarget(): Target {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-fuzz-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  let number = 0;
  return {
    name: 'footage',
    covers: ['/footage/src/'],
    framing: jt1078Framing,
    words: [
      Buffer.of(0, 0, 1),
      Buffer.of(0, 0, 0, 1),
      Buffer.of(0, 0, 1, 0x67),
      Buffer.of(0, 0, 1, 0x68),
      Buffer.of(0, 0, 1, 0x65),
      Buffer.of(0, 0, 1, 0x41),
      Buffer.of(0, 0, 3),
      Buffer.of(0, 0, 1, 0x40, 1),
      Buffer.of(0, 0, 1, 0x42, 1),
      Buffer.of(0, 0, 1, 0x44, 1),
      Buffer.of(0xff, 0xf1, 0x50, 0x80),
      Buffer.of(0xe3),
      Buffer.of(0x93),
    ],
    maxBytes: 16 * 1024,
    seeds(random) {
      const h264 = someFrames(random);
      const aac = h264.map(
        (frame): StreamFrame =>
          frame.kind === 'audio'
            ? {
                ...frame,
                codec: 'aac',
                data: Buffer.from([0xff, 0xf1, 0x6c, 0x40, 0x02, 0x1f, 0xfc, ...frame.data.subarray(0, 9)]),
              }
            : frame,
      );
      const h265 = h264.map((frame): StreamFrame => (frame.kind === 'audio' ? frame : { ...frame, codec: 'h265' }));
      return [streamOf(h264, random), streamOf(aac, random), streamOf(h265, random)];
    },
    async run(input) {
      const messages = pushed(new PlaybackReassembler(), input, []);
      const writer = createMp4Writer({ path: join(folder, `${number++}.mp4`), audio: true });
      try {
        for (const message of messages) if (message.type === 'frame') await writer.add(message.frame);
        const { videoFrames, width, height, durationMs } = await writer.finish();
        claim(videoFrames > 0 && width > 0 && height > 0, () => `${videoFrames} pictures of ${width} × ${height}`);
        claim(Number.isFinite(durationMs) && durationMs >= 0, () => `it lasts ${durationMs} ms`);
        return 'accepted';
      } catch (error) {
        if (error instanceof FootageError) return 'refused';
        throw error;
      } finally {
        await writer.abandon();
        rmSync(join(folder, `${number - 1}.mp4`), { force: true });
      }
    },
  };
}
