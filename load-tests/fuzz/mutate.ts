import type { Random } from '@outrider/simulator';
import type { Framing } from './target.ts';

/** What mutation draws on. */
export interface MutationSource {
  words: readonly Buffer[];
  framing?: Framing;
  maxBytes: number;
}

/** Bytes at the borders of what a field may hold. */
const BORDER_BYTES = [
  0, 1, 0x0a, 0x0d, 0x20, 0x23, 0x2c, 0x30, 0x3b, 0x7c, 0x7d, 0x7e, 0x7f, 0x80, 0xc0, 0xdb, 0xfe, 0xff,
];
const MOST_STEPS = 6;
const MOST_INSERTED = 64;

/**
 * An input made of one or two others: bits and bytes changed, pieces removed, repeated, moved, taken from the other;
 * inside frames where there are frames, whose checksums and lengths are mended in most of them, as a refusal at the
 * checksum tests little else.
 *
 * @returns memory of its own
 */
export function mutate(input: Buffer, other: Buffer, source: MutationSource, random: Random): Buffer {
  const { framing, words, maxBytes } = source;
  let mutated: Buffer;
  if (framing && random.next() < 0.85) {
    const frames = spliceFrames(framing.split(input), framing.split(other), random);
    const changed = pickIndex(frames.length, random);
    const wire = frames.map((plain, index) => {
      if (index !== changed && random.next() < 0.85) return framing.seal(plain);
      const bytes = steps(plain, plain, words, random);
      return random.next() < 0.75 ? framing.seal(bytes) : framing.wrap(bytes);
    });
    mutated = Buffer.concat(wire);
    if (random.next() < 0.15) mutated = steps(mutated, other, words, random);
  } else mutated = steps(input, other, words, random);
  return Buffer.from(mutated.subarray(0, maxBytes));
}

/** Bytes without any sense. */
export function noise(maxBytes: number, random: Random): Buffer {
  const bytes = Buffer.alloc(Math.floor(random.next() ** 2 * Math.min(maxBytes, 2048)));
  for (let i = 0; i < bytes.length; i++) bytes[i] = Math.floor(random.next() * 256);
  return bytes;
}

/** Where a stream is cut into the chunks in which it comes: offsets, growing. */
export function cutsOf(length: number, random: Random): number[] {
  const count = Math.floor(random.next() * 9);
  return Array.from({ length: count }, () => Math.floor(random.next() * (length + 1))).sort((a, b) => a - b);
}

function spliceFrames(frames: readonly Buffer[], others: readonly Buffer[], random: Random): Buffer[] {
  const spliced = [...frames];
  while (random.next() < 0.4 && spliced.length > 0) {
    const at = pickIndex(spliced.length, random);
    const to = pickIndex(spliced.length, random);
    const [moved] = random.next() < 0.5 ? spliced.slice(at, at + 1) : others.slice(pickIndex(others.length, random));
    if (random.next() < 0.4) spliced.splice(at, 1);
    if (moved) spliced.splice(to, random.next() < 0.5 ? 1 : 0, moved);
  }
  return spliced;
}

/** One to a few small changes, one after the other. */
function steps(input: Buffer, other: Buffer, words: readonly Buffer[], random: Random): Buffer {
  let bytes = input;
  const count = 1 + Math.floor(random.next() ** 2 * MOST_STEPS);
  for (let i = 0; i < count; i++) bytes = step(bytes, other, words, random);
  return bytes;
}

function step(bytes: Buffer, other: Buffer, words: readonly Buffer[], random: Random): Buffer {
  const at = Math.floor(random.next() * (bytes.length + 1));
  const length = 1 + Math.floor(random.next() ** 3 * MOST_INSERTED);
  const replaced = (from: number, to: number, put: Buffer): Buffer =>
    Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(Math.max(from, to))]);
  switch (Math.floor(random.next() * 12)) {
    case 0: {
      const changed = Buffer.from(bytes);
      if (at < changed.length) changed[at] = (changed[at] ?? 0) ^ (1 << Math.floor(random.next() * 8));
      return changed;
    }
    case 1:
      return replaced(at, at + 1, Buffer.of(Math.floor(random.next() * 256)));
    case 2:
      return replaced(at, at + 1, Buffer.of(random.pick(BORDER_BYTES)));
    case 3:
      return replaced(at, at, Buffer.alloc(length, random.pick(BORDER_BYTES)));
    case 4:
      return replaced(at, at + length, Buffer.alloc(0));
    case 5:
      return bytes.subarray(0, at);
    case 6: {
      // Repeats a range of bytes, at its place or elsewhere.
      const from = Math.floor(random.next() * (bytes.length + 1));
      return replaced(at, at, bytes.subarray(from, from + length * (random.next() < 0.1 ? 64 : 1)));
    }
    case 7: {
      const from = Math.floor(random.next() * (other.length + 1));
      return replaced(at, at + length, other.subarray(from, from + length));
    }
    case 8:
      return Buffer.concat([bytes.subarray(0, at), other.subarray(Math.floor(random.next() * (other.length + 1)))]);
    case 9: {
      // A number of 2, 4 or 8 bytes at a border of its range, in either order of bytes.
      const width = random.pick([2, 4, 8]);
      if (at + width > bytes.length) return replaced(at, at, Buffer.alloc(width, 0xff));
      const number = Buffer.alloc(width, random.pick([0, 0xff]));
      number[random.pick([0, width - 1])] = random.pick([0, 1, 0x7f, 0x80, 0xfe, 0xff]);
      return replaced(at, at + width, number);
    }
    default: {
      if (words.length === 0) return replaced(at, at + 1, Buffer.of(Math.floor(random.next() * 256)));
      return replaced(at, random.next() < 0.5 ? at : at + length, random.pick(words));
    }
  }
}

function pickIndex(length: number, random: Random): number {
  return Math.floor(random.next() * length);
}
