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
 * A contact is published again after this time unless the definition has changed, because hub messages may be lost.
 */
const AGAIN_MS = 10_000;
const MAX_WAITING = 100_000;
/** Consecutive packets of the same protocol that bind a vehicle: an earlier packet may come from another device. */
export const BINDING_PACKETS = 10;

/** A vehicle that is not bound yet, or whose definition does not contain the binding yet. */
interface Waiting {
  terminalId: TerminalId;
  /** Protocol of the newest packets. */
  protocol: ProtocolName;
  packets: number;
  /** Binding as last published; null if none was published. */
  boundTo: ProtocolName | null;
  publishedAtMs: number;
}

/**
 * Publishes the first packet of a vehicle's terminal, and the packet that binds the vehicle to its protocol. That is
 * the tenth of the same protocol, so that a single request with the terminal's id by somebody else does not lock the
 * terminal out. For a terminal that registered it is the first. The gateway does not write definitions: it publishes
 * the contact to the hub, and the API writes it. Until the definition has changed, this gateway enforces the protocol
 * itself.
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
   * Reason why the data of the vehicle's terminal is refused; null if it is accepted.
   *
   * @param access requirements, if they are not all access settings of the vehicle
   */
  refusalOf(vehicle: Vehicle, shown: Shown, access = vehicle.terminalAccess): AccessRefusal | null {
    return this.#isTaken(vehicle, shown.protocol) ? 'wrong-protocol' : accessRefusal(access, shown);
  }

  /** Whether the vehicle is about to be bound to another protocol. */
  #isTaken(vehicle: Vehicle, protocol: ProtocolName): boolean {
    if (vehicle.terminalAccess.protocol !== 'learn') return false;
    const waiting = this.#waiting.get(vehicle.id);
    if (waiting === undefined || waiting.terminalId !== vehicle.terminalId) return false;
    return waiting.boundTo !== null && waiting.boundTo !== protocol;
  }

  /** @param registration data with which the terminal registered; null if it did not register */
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
