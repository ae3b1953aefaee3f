import { sourceOf } from '@outrider/auth';
import type { ProtocolName } from '@outrider/domain';
import type { Hub, RefusedContact } from '@outrider/hub';
import { guessProtocols } from '@outrider/protocols';

/** Shortest interval between two recorded devices of one address. */
const EVERY_MS = 1000;
/** Maximum over all addresses. */
const MAX_PER_SECOND = 20;
const MAX_ADDRESSES = 10_000;

/**
 * Records devices that were refused before they identified themselves, with the protocols that match their bytes.
 * Scanners connect too, so the number of records is limited per address and in total.
 */
export class UnknownDevices {
  readonly #hub: Pick<Hub, 'noteUnknownDevice'>;
  readonly #now: () => number;
  readonly #onError: (error: unknown) => void;
  /** Time of the last record by address, oldest first. */
  readonly #notedMs = new Map<string, number>();
  #second = 0;
  #inSecond = 0;

  constructor(parts: { hub: Pick<Hub, 'noteUnknownDevice'>; now(): number; onError(error: unknown): void }) {
    this.#hub = parts.hub;
    this.#now = parts.now;
    this.#onError = parts.onError;
  }

  /** @param protocol of the port */
  note(protocol: ProtocolName, address: string, contact: RefusedContact): void {
    const nowMs = this.#now();
    if (contact.receivedBytes === 0 || !this.#mayNote(`${sourceOf(address)} ${protocol}`, nowMs)) return;
    const guesses = guessProtocols(Buffer.from(contact.firstBytes, 'hex'), nowMs);
    void this.#hub.noteUnknownDevice({ protocol, address, contact, guesses }, nowMs).catch(this.#onError);
  }

  #mayNote(key: string, nowMs: number): boolean {
    if (nowMs < (this.#notedMs.get(key) ?? Number.NEGATIVE_INFINITY) + EVERY_MS) return false;
    const second = Math.floor(nowMs / 1000);
    if (second !== this.#second) this.#inSecond = 0;
    this.#second = second;
    if (++this.#inSecond > MAX_PER_SECOND) return false;
    this.#notedMs.delete(key);
    this.#notedMs.set(key, nowMs);
    if (this.#notedMs.size > MAX_ADDRESSES)
      for (const oldest of this.#notedMs.keys()) {
        this.#notedMs.delete(oldest);
        break;
      }
    return true;
  }
}
