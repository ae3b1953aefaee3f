import type { StreamFrame } from '@outrider/protocols';
import { DIGITS, drawCounter } from './counter-picture.ts';
import { PlainH264Encoder } from './plain-h264.ts';

/** 25 pictures a second. */
export const PICTURE_MS = 40;
/** A key picture every second. */
const PICTURES_PER_KEY = 25;
/** G.711: 8 samples per millisecond; a packet accompanies each picture. */
const SOUND_BYTES = 8 * PICTURE_MS;
const TONE_HZ = 440;
const WAVE_SAMPLES = 200;

/**
 * Recordings of the cameras of simulated terminals, for any time. Pictures show a count of 40 ms, so that a decoded
 * picture reveals its time. Key pictures are on whole seconds, and the sound is a tone. The same channel and time give
 * the same frames.
 */
export function* recordedFrames(
  channel: number,
  startMs: number,
  endMs: number,
  { sound = true }: { sound?: boolean } = {},
): Generator<StreamFrame> {
  const firstKey = Math.floor(startMs / (PICTURE_MS * PICTURES_PER_KEY)) * PICTURES_PER_KEY;
  const encoder = new PlainH264Encoder(drawCounter(0, 0).width, drawCounter(0, 0).height);
  for (let picture = firstKey; picture * PICTURE_MS < endMs; picture++) {
    const timestampMs = picture * PICTURE_MS;
    const key = picture % PICTURES_PER_KEY === 0;
    const data = encoder.encode(drawCounter(picture, channel), key);
    yield { kind: key ? 'key' : 'predicted', codec: 'h264', timestampMs, data };
    if (sound) yield { kind: 'audio', codec: 'g711a', timestampMs, data: tone(timestampMs) };
  }
}

/** The number shown by the picture of that time. */
export function counterAt(timeMs: number): number {
  return Math.floor(timeMs / PICTURE_MS) % 10 ** DIGITS;
}

/** A-law codes of a tone whose phase depends only on the time. */
function tone(timestampMs: number): Buffer {
  const first = (timestampMs * 8) % WAVE_SAMPLES;
  const bytes = Buffer.allocUnsafe(SOUND_BYTES);
  for (let i = 0; i < SOUND_BYTES; i++) bytes[i] = wave[(first + i) % WAVE_SAMPLES] as number;
  return bytes;
}

/** The tone repeats after this many samples: 11 whole waves. */
const wave = Uint8Array.from({ length: WAVE_SAMPLES }, (_, i) =>
  aLawCode(Math.round(8000 * Math.sin((2 * Math.PI * TONE_HZ * i) / 8000))),
);

/** The A-law code (ITU-T G.711) of a 16-bit sample. */
export function aLawCode(sample: number): number {
  const negative = sample < 0;
  const magnitude = Math.min(0x7fff, negative ? -sample - 1 : sample) >> 4;
  let exponent = 0;
  while (magnitude >> (exponent + 5) > 0) exponent++;
  // The two lowest segments have the same step size.
  const code = exponent === 0 ? magnitude & 0x1f : ((exponent + 1) << 4) | ((magnitude >> exponent) & 0x0f);
  return (code | (negative ? 0 : 0x80)) ^ 0x55;
}
