import { randomBytes } from 'node:crypto';
import {
  type AccessRefusal,
  FIRST_CONTACT_CHANNEL,
  type FirstContact,
  hashOfSecret,
  type ProtocolName,
  type TerminalId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import { accessRefusal, type Shown } from './terminal-access.ts';

/**
 * Published again after this time unless the definition has changed: messages of the hub may be lost.
 */
const AGAIN_MS = 10_000;
const MAX_WAITING = 100_000;
/** One after the other by the same protocol: until then another one may turn out to be that of the terminal. */
export const BINDING_PACKETS = 10;

/** A vehicle that is not bound yet, or whose definition does not say so yet. */
interface Waiting {
  terminalId: TerminalId;
  /** Of its newest packets. */
  protocol: ProtocolName;
  packets: number;
  /** Of what was published last; null: not that the vehicle is bound. */
  boundTo: ProtocolName | null;
  publishedAtMs: number;
}

/**
 * Publishes the first packet of a vehicle's terminal, and the one that binds the vehicle to its protocol: the tenth by
 * the same, so that a request somebody tried with the terminal's id does not lock the terminal out; the first of a
 * terminal that registered. The gateway does not write definitions: it publishes the contact to the hub, and the API
 * writes it. Until the definition has changed, this gateway enforces the protocol itself.
 */
export class FirstContacts {
  readonly #hub: Pick<Hub, 'publish'>;
  readonly #onError: (error: unknown) => void;
  readonly #waiting = new Map<VehicleId, Waiting>();

  constructor(hub: Pick<Hub, 'publish'>, onError: (error: unknown) => void) {
    this.#hub = hub;
    this.#onError = onError;
  }

  /**
   * Why the data of the vehicle's terminal is refused; null where it is taken.
   *
   * @param access what is demanded, where it is not all that the vehicle demands
   */
  refusalOf(vehicle: Vehicle, shown: Shown, access = vehicle.terminalAccess): AccessRefusal | null {
    return this.#isTaken(vehicle, shown.protocol) ? 'wrong-protocol' : accessRefusal(access, shown);
  }

  /** Is the vehicle about to be bound to another protocol? */
  #isTaken(vehicle: Vehicle, protocol: ProtocolName): boolean {
    if (vehicle.terminalAccess.protocol !== 'learn') return false;
    const waiting = this.#waiting.get(vehicle.id);
    if (waiting === undefined || waiting.terminalId !== vehicle.terminalId) return false;
    return waiting.boundTo !== null && waiting.boundTo !== protocol;
  }

  /** @param registration what the terminal said of itself when it registered; null: nothing */
  note(vehicle: Vehicle, protocol: ProtocolName, registration: string | null, nowMs: number): void {
    const { id, terminalId, terminalAccess: access } = vehicle;
    const isRegistrationNew =
      registration !== null &&
      access.registrationHash === null &&
      access.secretHash === null &&
      access.protocol !== 'any';
    if (terminalId === null) return;
    if (access.seen && access.protocol !== 'learn' && !isRegistrationNew) {
      if (this.#waiting.size > 0) this.#waiting.delete(id);
      return;
    }
    const before = this.#waiting.get(id);
    const known = before?.terminalId === terminalId ? before : undefined;
    const packets = known?.protocol === protocol ? known.packets + 1 : 1;
    const isBinding = access.protocol === 'learn' && (registration !== null || packets >= BINDING_PACKETS);
    const boundTo = isBinding ? protocol : null;
    const isPublished = known !== undefined && known.boundTo === boundTo && nowMs < known.publishedAtMs + AGAIN_MS;
    const isNews = isBinding || isRegistrationNew || !access.seen;
    const publishedAtMs = isNews && !isPublished ? nowMs : (known?.publishedAtMs ?? Number.NEGATIVE_INFINITY);
    if (known === undefined && this.#waiting.size >= MAX_WAITING) this.#waiting.clear();
    this.#waiting.set(id, { terminalId, protocol, packets, boundTo, publishedAtMs });
    if (!isNews || isPublished) return;
    const registrationHash = isRegistrationNew ? hashOfSecret(registration, randomBytes(16)) : null;
    const contact: FirstContact = { vehicleId: id, terminalId, protocol: boundTo, registrationHash };
    this.#hub.publish(FIRST_CONTACT_CHANNEL, JSON.stringify(contact)).catch(this.#onError);
  }
}
