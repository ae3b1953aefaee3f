import type { TerminalId } from '@outrider/domain';
import type { Inbound, RefusalReason, Session } from './protocol.ts';

const NOTHING = Buffer.alloc(0);
/** Shared object: a chunk may hold many signs of life. */
const SIGN_OF_LIFE: Inbound = { type: 'positions', positions: [], ack: null };

/**
 * Base of the sessions over TCP: takes bytes split at any point and reads whole frames. Whole frames in a chunk are
 * read in place; only an incomplete tail is copied, and its size is bounded.
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

  /** Discards the state of an incomplete frame. */
  protected restart(): void {}

  /**
   * Reads one frame, or filler between frames, from `bytes` at `from`, and appends its messages to `out`.
   *
   * @returns the number of bytes consumed; 0 when the frame is incomplete, or after {@link FramedSession.refuse}
   */
  protected abstract take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number;

  /**
   * Skips a whole message that cannot be read. It is acknowledged, because the terminal would send it for ever.
   *
   * @returns true: the session continues
   */
  protected leaveOut(out: Inbound[], detail: string, ack: Buffer | null = null): true {
    out.push({ type: 'unread', detail }, { type: 'positions', positions: [], ack });
    return true;
  }

  /**
   * Takes the byte that a terminal sends only to keep the connection alive.
   *
   * @returns 1
   */
  protected takePing(isIdentified: boolean, out: Inbound[]): 1 {
    if (isIdentified) out.push(SIGN_OF_LIFE);
    return 1;
  }

  /** Ends the session; later bytes are ignored. */
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
   * The tail followed by the chunk. The memory doubles as it grows, so a frame that arrives byte by byte is not copied
   * each time.
   */
  #append(chunk: Buffer): Buffer {
    const length = this.#length + chunk.length;
    if (length > this.#tail.length) {
      // Allocated outside Node's pool: a tail may be kept for long and must not retain a slab of the pool.
      const grown = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#tail.length));
      this.#tail.copy(grown, 0, 0, this.#length);
      this.#tail = grown;
    }
    chunk.copy(this.#tail, this.#length);
    return this.#tail.subarray(0, length);
  }

  /** Keeps the bytes from `from` on as the tail, in memory of exactly that size. */
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
