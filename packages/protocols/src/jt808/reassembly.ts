import type { Message } from './frame.ts';

/** Maximum number of incomplete messages at a time. */
const MAX_UNFINISHED = 4;
const MAX_PARTS = 512;
/** Maximum number of bytes held of all incomplete messages together. */
const MAX_HELD_BYTES = 256 * 1024;

interface Unfinished {
  id: number;
  count: number;
  firstSerial: number;
  parts: Map<number, Buffer>;
  bytes: number;
}

export type PartFate =
  | { fate: 'held' }
  /** The part arrived before: the terminal may be waiting for an acknowledgement. */
  | { fate: 'repeated' }
  /** The message is whole: its body, and the serials of its parts in their order. */
  | { fate: 'whole'; body: Buffer; serials: number[] }
  | { fate: 'too-long' };

/**
 * Reassembles split messages. Parts may arrive in any order. Held memory is bounded: beyond the limits of messages or
 * bytes, the oldest messages are dropped.
 */
export class Reassembly {
  /** Oldest first. */
  #unfinished: Unfinished[] = [];
  #heldBytes = 0;

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** @param message one whose `part` is set; its body is copied */
  add(message: Message & { part: { number: number; count: number } }): PartFate {
    const { id, part, body } = message;
    if (part.count > MAX_PARTS) return { fate: 'too-long' };
    // The parts of a message have consecutive serials, so the first part's serial identifies the message.
    const firstSerial = (message.serial - (part.number - 1)) & 0xffff;
    let whole = this.#unfinished.find(
      (one) => one.id === id && one.firstSerial === firstSerial && one.count === part.count,
    );
    if (whole === undefined) {
      whole = { id, count: part.count, firstSerial, parts: new Map(), bytes: 0 };
      this.#unfinished.push(whole);
    }
    if (whole.parts.has(part.number)) return { fate: 'repeated' };
    whole.parts.set(part.number, Buffer.from(body));
    whole.bytes += body.length;
    this.#heldBytes += body.length;

    if (whole.parts.size === whole.count) {
      const done = whole;
      this.#forget(done);
      const bodies = Array.from({ length: done.count }, (_, i) => done.parts.get(i + 1) ?? Buffer.alloc(0));
      const serials = Array.from({ length: done.count }, (_, i) => (firstSerial + i) & 0xffff);
      return { fate: 'whole', body: Buffer.concat(bodies), serials };
    }
    while (this.#unfinished.length > MAX_UNFINISHED || this.#heldBytes > MAX_HELD_BYTES) {
      const oldest = this.#unfinished[0];
      if (oldest === undefined) break;
      this.#forget(oldest);
    }
    return { fate: 'held' };
  }

  #forget(one: Unfinished): void {
    this.#heldBytes -= one.bytes;
    this.#unfinished = this.#unfinished.filter((other) => other !== one);
  }
}
