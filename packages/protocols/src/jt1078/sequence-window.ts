import type { StreamPacket } from './packet.ts';

/** Maximum number of packets held while an earlier one is missing. */
const WINDOW_PACKETS = 64;
/** A sequence number further than this from the expected one is a restart of the sequence, not a loss. */
const FARTHEST = 4096;
/** Numbers of lost packets that are remembered, to distinguish a late packet from a repeated one. */
const MAX_GIVEN_UP = 4096;

/** Called with each packet in sequence order; `afterGap` is true where packets before it are missing. */
type InTurn = (packet: StreamPacket, afterGap: boolean) => void;

/**
 * Puts packets in sequence order (16-bit numbers that wrap to 0). A missing packet is given up once the window is full
 * of later ones.
 */
export class SequenceWindow {
  lost = 0;
  /** Packets that arrived after a later one. */
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

  /** Adds a packet. Its payload is copied unless the packet is reported at once. */
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

  /** Gives up all missing packets and reports the held ones. */
  flush(report: InTurn): void {
    while (this.#held.size > 0) this.#giveUp(report);
  }

  /** Whether a packet further ahead is held. */
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

  /** Gives up the missing packets before the nearest held one, and continues with that one. */
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
