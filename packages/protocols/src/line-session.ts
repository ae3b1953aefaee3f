import { FramedSession } from './framed-session.ts';
import type { Inbound } from './protocol.ts';

interface LineOptions {
  maxLineBytes: number;
  /** Bytes that end a line. */
  ends: readonly number[];
  /** Bytes allowed between lines. */
  between?: readonly number[];
}

const CR = 0x0d;
const LF = 0x0a;

/** A session whose frames are lines of text. */
export abstract class LineSession extends FramedSession {
  readonly #ends: ReadonlySet<number>;
  readonly #between: ReadonlySet<number>;
  readonly #maxLineBytes: number;
  /** Bytes of the incomplete line already searched for its end. */
  #searched = 0;

  constructor({ maxLineBytes, ends, between = [CR, LF] }: LineOptions) {
    super(maxLineBytes);
    this.#maxLineBytes = maxLineBytes;
    this.#ends = new Set(ends);
    this.#between = new Set(between);
  }

  protected override take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number {
    const first = bytes[from] as number;
    if (this.#searched === 0) {
      if (this.#between.has(first)) return 1;
      if (!this.begins(first)) return this.refuse(out, 'bad-frame', `a line begins with 0x${first.toString(16)}`);
    }
    let end = from + this.#searched;
    while (end < bytes.length && !this.#ends.has(bytes[end] as number)) end += 1;
    if (end - from > this.#maxLineBytes)
      return this.refuse(out, 'bad-length', `a line of more than ${this.#maxLineBytes} bytes`);
    if (end === bytes.length) {
      this.#searched = end - from;
      return 0;
    }
    this.#searched = 0;
    const goesOn = this.takeLine(bytes.toString('latin1', from, end), nowMs, out);
    return goesOn ? end - from + 1 : 0;
  }

  protected override restart(): void {
    this.#searched = 0;
  }

  /** Whether a line may begin with this byte. */
  protected abstract begins(byte: number): boolean;

  /**
   * Takes one line, without its terminator.
   *
   * @returns whether the session continues: false after {@link FramedSession.refuse}
   */
  protected abstract takeLine(line: string, nowMs: number, out: Inbound[]): boolean;
}
