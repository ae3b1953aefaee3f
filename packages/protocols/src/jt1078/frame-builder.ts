import { PART, type StreamPacket } from './packet.ts';

/** Key frames of several megapixels take a few hundred kilobytes; anything larger than this is not a frame. */
export const MAX_FRAME_BYTES = 4 * 1024 * 1024;
const FIRST_BYTES = 64 * 1024;

/**
 * Assembles frames of one kind from their parts. One builder per kind: parts of video may be interleaved with audio.
 */
export class FrameBuilder {
  /** Incomplete frames, of which only some parts arrived. */
  lost = 0;
  /** Header fields of the frame that {@link add} returned last. */
  frame: Pick<StreamPacket, 'kind' | 'payloadType' | 'timestampMs'> = { kind: 0, payloadType: 0, timestampMs: 0 };
  #bytes: Buffer = Buffer.alloc(0);
  #length = 0;
  #building = false;
  /** Timestamp of the last lost frame: its further parts are not counted as another loss. */
  #lostTimestampMs: number | null = null;

  get heldBytes(): number {
    return this.#bytes.length;
  }

  /** @returns a copy of the frame that the packet completes; null where it completes none */
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
      // The first part of this frame is missing.
      if (this.#lostTimestampMs !== timestampMs) this.lost++;
      this.#lostTimestampMs = timestampMs;
      return null;
    }
    if (!this.#append(payload) || part !== PART.last) return null;
    this.#building = false;
    return Buffer.from(this.#bytes.subarray(0, this.#length));
  }

  /** Drops the frame begun, because packets are missing. */
  breakOff(): void {
    if (this.#building) this.#lose();
  }

  /** Ends the stream and frees the memory. */
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
