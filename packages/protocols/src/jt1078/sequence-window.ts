import type { StreamPacket } from './packet.ts';

/** Packets that are kept while one before them is missing. */
const WINDOW_PACKETS = 64;
/** A number further away than this from the one that is due is the beginning of another count, not a loss. */
const FARTHEST = 4096;
/** Numbers that were given up, of which a late packet can be reported from a repeated one. */
const MAX_GIVEN_UP = 4096;

/** Called with each packet in the order of their numbers, and whether packets before it are missing. */
type InTurn = (packet: StreamPacket, afterGap: boolean) => void;

/**
 * Puts packets in the order of their numbers (16 bits, which begin again at 0). A missing one is waited for until so
 * many later ones came that it is given up.
 */
export class SequenceWindow {
  lost = 0;
  /** Came after a later one. */
  reordered = 0;
  repeated = 0;
  restarts = 0;
  #next: number | null = null;
  #held = new Map<number, StreamPacket>();
  #heldBytes = 0;
  readonly #givenUp = new Set<number>();

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The payload of a packet that is not returned at once is copied. */
  add(packet: StreamPacket, report: InTurn): void {
    const { sequence } = packet;
    if (this.#next === null) return this.#report(packet, false, report);
    const ahead = (sequence - this.#next) & 0xffff;
    if (ahead === 0) {
      if (this.#held.size > 0) this.reordered++;
      this.#report(packet, false, report);
      this.#reportHeld(report);
    } else if (ahead <= FARTHEST) {
      if (this.#held.has(sequence)) {
        this.repeated++;
        return;
      }
      if (this.#overtaken(ahead)) this.reordered++;
      this.#held.set(sequence, { ...packet, payload: Buffer.from(packet.payload) });
      this.#heldBytes += packet.payload.length;
      if (this.#held.size > WINDOW_PACKETS) this.#giveUp(report);
    } else if (0x10000 - ahead <= FARTHEST) {
      if (this.#givenUp.delete(sequence)) this.reordered++;
      else this.repeated++;
    } else {
      this.flush(report);
      this.restarts++;
      this.#givenUp.clear();
      this.#report(packet, true, report);
    }
  }

  /** Nothing that is missing is waited for any longer. */
  flush(report: InTurn): void {
    while (this.#held.size > 0) this.#giveUp(report);
  }

  /** Is a packet held that is further ahead? */
  #overtaken(ahead: number): boolean {
    for (const sequence of this.#held.keys()) if (((sequence - (this.#next ?? 0)) & 0xffff) > ahead) return true;
    return false;
  }

  #report(packet: StreamPacket, afterGap: boolean, report: InTurn): void {
    this.#next = (packet.sequence + 1) & 0xffff;
    report(packet, afterGap);
  }

  #reportHeld(report: InTurn): void {
    for (;;) {
      const packet = this.#next === null ? undefined : this.#held.get(this.#next);
      if (packet === undefined) return;
      this.#release(packet);
      this.#report(packet, false, report);
    }
  }

  /** Goes on with the nearest of the packets that are held. */
  #giveUp(report: InTurn): void {
    const next = this.#next ?? 0;
    let nearest: StreamPacket | null = null;
    let distance = 0x10000;
    for (const [sequence, packet] of this.#held) {
      const ahead = (sequence - next) & 0xffff;
      if (ahead < distance) [nearest, distance] = [packet, ahead];
    }
    if (nearest === null) return;
    for (let i = 0; i < distance; i++) this.#givenUp.add((next + i) & 0xffff);
    for (const sequence of this.#givenUp) {
      if (this.#givenUp.size <= MAX_GIVEN_UP) break;
      this.#givenUp.delete(sequence);
    }
    this.lost += distance;
    this.#release(nearest);
    this.#report(nearest, distance > 0, report);
    this.#reportHeld(report);
  }

  #release(packet: StreamPacket): void {
    this.#held.delete(packet.sequence);
    this.#heldBytes -= packet.payload.length;
  }
}
