import { PART, type StreamPacket } from './packet.ts';

/** Key frames of several megapixels take a few hundred kilobytes; what grows beyond this is no frame. */
export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
const FIRST_BYTES = 64 * 1024;

/** Puts the parts of frames together, of one kind of frames: parts of pictures may have sound between them. */
export class FrameBuilder {
  /** Frames of which parts came and not all. */
  lost = 0;
  /** What the frame that {@link add} gave last was marked with. */
  frame: Pick<StreamPacket, 'kind' | 'payloadType' | 'timestampMs'> = { kind: 0, payloadType: 0, timestampMs: 0 };
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #building = false;
  /** The frame that was lost last, by its time: its further parts are no further loss. */
  #lostTimestampMs: number | null = null;

  get heldBytes(): number {
    return this.#bytes.length;
  }

  /** @returns the frame that the packet ends, in memory of its own; null where it ends none */
  add(packet: StreamPacket): Buffer | null {
    const { part, payload, timestampMs } = packet;
    if (part === PART.whole || part === PART.first) {
      if (this.#building) this.#lose();
      this.frame = { kind: packet.kind, payloadType: packet.payloadType, timestampMs };
      this.#lostTimestampMs = null;
      if (part === PART.whole) return Buffer.from(payload);
      this.#building = true;
      this.#length = 0;
    } else if (!this.#building) {
      // The beginning of this frame did not come.
      if (this.#lostTimestampMs !== timestampMs) this.lost++;
      this.#lostTimestampMs = timestampMs;
      return null;
    }
    if (!this.#append(payload) || part !== PART.last) return null;
    this.#building = false;
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }

  /** Packets are missing: what was begun can't be whole. */
  breakOff(): void {
    if (this.#building) this.#lose();
  }

  /** Nothing more comes. */
  abandon(): void {
    this.breakOff();
    this.#bytes = Buffer.alloc(0);
  }

  #lose(): void {
    this.#building = false;
    this.lost++;
    this.#lostTimestampMs = this.frame.timestampMs;
  }

  #append(payload: Buffer): boolean {
    const length = this.#length + payload.length;
    if (length > MAX_FRAME_BYTES) {
      this.#lose();
      this.#bytes = Buffer.alloc(0);
      return false;
    }
    if (length > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, length, 2 * this.#bytes.length));
      this.#bytes.copy(grown, 0, 0, this.#length);
      this.#bytes = grown;
    }
    payload.copy(this.#bytes, this.#length);
    this.#length = length;
    return true;
  }
}
