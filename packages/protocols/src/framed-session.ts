import type { TerminalId } from '@outrider/domain';
import type { Inbound, RefusalReason, Session } from './protocol.ts';

const NOTHING = Buffer.alloc(0);
/** One for all: a chunk may be full of them. */
const SIGN_OF_LIFE: Inbound = { type: 'positions', positions: [], ack: null };

/**
 * What the sessions over TCP have in common: bytes come in any split, frames go out whole. A chunk that holds whole
 * frames is read where it lies; only an unfinished tail is copied, and it is bounded.
 */
export abstract class FramedSession implements Session {
  readonly #maxFrameBytes: number;
  #tail: Buffer = NOTHING;
  #length = 0;
  #refused = false;

  constructor(maxFrameBytes: number) {
    this.#maxFrameBytes = maxFrameBytes;
  }

  push(chunk: Buffer, nowMs: number): Inbound[] {
    const out: Inbound[] = [];
    if (this.#refused || chunk.length === 0) return out;

    const continued = this.#length > 0;
    const bytes = continued ? this.#append(chunk) : chunk;
    let from = 0;
    while (from < bytes.length) {
      const taken = this.take(bytes, from, nowMs, out);
      if (this.#refused) {
        this.#keep(bytes, bytes.length);
        return out;
      }
      if (taken === 0) break;
      from += taken;
    }

    const left = bytes.length - from;
    if (left > this.#maxFrameBytes) {
      this.refuse(out, 'bad-length', `a frame of more than ${this.#maxFrameBytes} bytes`);
      this.#keep(bytes, bytes.length);
    } else if (continued && from === 0) this.#length = bytes.length;
    else this.#keep(bytes, from);
    return out;
  }

  dropUnfinished(): number {
    const dropped = this.#length;
    this.#tail = NOTHING;
    this.#length = 0;
    if (dropped > 0) this.restart();
    return dropped;
  }

  /** Forgets what is known of an unfinished frame. */
  protected restart(): void {}

  /**
   * Reads one frame, or filler between frames, from `bytes` at `from`, and appends its messages to `out`.
   *
   * @returns how many bytes it took; 0 when the frame is not yet whole, or after {@link FramedSession.refuse}
   */
  protected abstract take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number;

  /**
   * Leaves out a whole message that can't be read. It is acknowledged: the terminal would send it for ever.
   *
   * @returns true: the conversation goes on
   */
  protected leaveOut(out: Inbound[], detail: string, ack: Buffer | null = null): true {
    out.push({ type: 'unread', detail }, { type: 'positions', positions: [], ack });
    return true;
  }

  /**
   * Takes the byte that a terminal sends only to be known as connected.
   *
   * @returns 1
   */
  protected takePing(isIdentified: boolean, out: Inbound[]): 1 {
    if (isIdentified) out.push(SIGN_OF_LIFE);
    return 1;
  }

  /** Ends the conversation; nothing more is taken after it. */
  protected refuse(
    out: Inbound[],
    reason: RefusalReason,
    detail: string,
    bytes: Buffer | null = null,
    terminalIds?: readonly TerminalId[],
  ): 0 {
    this.#refused = true;
    out.push({ type: 'refuse', reason, detail, bytes, ...(terminalIds && { terminalIds }) });
    return 0;
  }

  /**
   * The tail with the chunk behind it. The memory doubles as it grows: a frame that comes byte by byte is not copied
   * each time.
   */
  #append(chunk: Buffer): Buffer {
    const length = this.#length + chunk.length;
    if (length > this.#tail.length) {
      // Memory of its own: a tail may be kept for long, and must not hold a slab of Node's pool.
      const grown = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#tail.length));
      this.#tail.copy(grown, 0, 0, this.#length);
      this.#tail = grown;
    }
    chunk.copy(this.#tail, this.#length);
    return this.#tail.subarray(0, length);
  }

  /** Makes what stands from `from` on the tail, in memory that is no longer than it. */
  #keep(bytes: Buffer, from: number): void {
    this.#length = bytes.length - from;
    if (this.#length === 0) {
      this.#tail = NOTHING;
      return;
    }
    const tail = Buffer.allocUnsafeSlow(this.#length);
    bytes.copy(tail, 0, from);
    this.#tail = tail;
  }
}
