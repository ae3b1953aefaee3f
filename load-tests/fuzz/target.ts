import type { Random } from '@outrider/simulator';

/** How a target took an input that it is right to take so. */
export type Outcome = 'accepted' | 'refused';

/** Pure code that reads input of peers. */
export interface Target {
  name: string;
  /** Endings of paths of the modules whose coverage decides which inputs are worth keeping. */
  covers: readonly string[];
  /** Well-formed inputs, made anew each time: what mutation begins with. */
  seeds(random: Random): Buffer[];
  /** Pieces that mutation puts in: words of the format, values at its borders. */
  words: readonly Buffer[];
  /** How inputs are made of frames, where they are: mutation then goes on inside them. */
  framing?: Framing;
  /** Nothing longer is tried, in bytes. */
  maxBytes: number;
  /** @throws {Error} whatever is wrong with how the input was taken; the error's message is the finding */
  run(input: Buffer): Outcome | Promise<Outcome>;
}

/** Frames on the wire, and what stands in them. */
export interface Framing {
  /** What stands in each frame, its checksum included, without escapes; anything between frames is one too. */
  split(wire: Buffer): Buffer[];
  /** As it goes over the wire; nothing is mended. */
  wrap(plain: Buffer): Buffer;
  /** With lengths and checksum as they should be, as it goes over the wire. */
  seal(plain: Buffer): Buffer;
}

/** The result of a check of a target: the message has the promise and the observation. */
export class Broken extends Error {
  override name = 'Broken';
}

/** @throws {Broken} with the text where the claim is false */
export function claim(holds: boolean, text: () => string): void {
  if (!holds) throw new Broken(text());
}
