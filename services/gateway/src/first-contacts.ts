import { randomBytes } from 'node:crypto';
import {
  FIRST_CONTACT_CHANNEL,
  type FirstContact,
  hashOfSecret,
  type ProtocolName,
  type TerminalId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import { type AccessRefusal, accessRefusal, type Shown } from './terminal-access.ts';

/**
 * Published again after this time unless the definition has changed: messages of the hub may be lost.
 */
const AGAIN_MS = 10_000;
const MAX_WAITING = 100_000;

/**
 * Publishes the first packet of a vehicle's terminal, which binds the vehicle to its protocol. The gateway does not
 * write definitions: it publishes the contact to the hub, and the API writes it. Until the definition has
 * changed, this gateway enforces the first protocol itself.
 */
export class FirstContacts {
  readonly #hub: Pick<Hub, 'publish'>;
  readonly #onError: (error: unknown) => void;
  readonly #waiting = new Map<VehicleId, { terminalId: TerminalId; protocol: ProtocolName; publishedAtMs: number }>();

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
    return this.isTaken(vehicle, shown.protocol) ? 'wrong-protocol' : accessRefusal(access, shown);
  }

  /** Is the vehicle about to be bound to another protocol? */
  isTaken(vehicle: Vehicle, protocol: ProtocolName): boolean {
    if (vehicle.terminalAccess.protocol !== 'learn') return false;
    const first = this.#waiting.get(vehicle.id);
    return first !== undefined && first.terminalId === vehicle.terminalId && first.protocol !== protocol;
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
    if (before?.terminalId === terminalId && nowMs < before.publishedAtMs + AGAIN_MS) return;
    if (this.#waiting.size >= MAX_WAITING) this.#waiting.clear();
    this.#waiting.set(id, { terminalId, protocol, publishedAtMs: nowMs });
    const registrationHash = isRegistrationNew ? hashOfSecret(registration, randomBytes(16)) : null;
    const contact: FirstContact = { vehicleId: id, terminalId, protocol, registrationHash };
    this.#hub.publish(FIRST_CONTACT_CHANNEL, JSON.stringify(contact)).catch(this.#onError);
  }
}
