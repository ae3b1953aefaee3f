import type { AccessRefusal, TerminalAccess, Vehicle } from '@outrider/domain';
import type { FirstContacts } from './first-contacts.ts';
import { isProven, type Shown } from './terminal-access.ts';

export interface RefusalContext {
  contacts: FirstContacts;
  onWrongSecret(address: string): void;
  /** Called when a vehicle refuses its terminal. The refusal is recorded for the installer. */
  onAccessRefused(vehicle: Vehicle, refusal: AccessRefusal, address: string): void;
}

/**
 * Reason why a vehicle refuses a peer as its terminal, which is also reported; null if it accepts the peer.
 *
 * @param access requirements, if they are not all access settings of the vehicle
 */
export function reportedRefusal(
  vehicle: Vehicle,
  shown: Shown,
  { contacts, onWrongSecret, onAccessRefused }: RefusalContext,
  access?: TerminalAccess,
): AccessRefusal | null {
  const refusal = contacts.refusalOf(vehicle, shown, access);
  if (refusal === 'wrong-secret') onWrongSecret(shown.address);
  if (refusal !== null) onAccessRefused(vehicle, refusal, shown.address);
  return refusal;
}

/** Decides whether a vehicle accepts a peer as its terminal. */
export class TerminalCheck {
  readonly #shown: Shown;
  readonly #context: RefusalContext;
  /** The access settings that the peer last passed. */
  #passed: TerminalAccess | null = null;
  #isAuthenticated = false;

  /** @param peer facts known before the peer sends anything */
  constructor(peer: Omit<Shown, 'secret' | 'showedCode'>, context: RefusalContext) {
    this.#shown = { ...peer, secret: null, showedCode: false };
    this.#context = context;
  }

  /** Whether the terminal authenticated itself with its own secret or a certificate. */
  get isAuthenticated(): boolean {
    return this.#isAuthenticated;
  }

  /** Records what the terminal presents besides its id. */
  show({ secret = null, showedCode = false }: { secret?: string | null; showedCode?: boolean }): void {
    this.#shown.secret = secret;
    this.#shown.showedCode = showedCode;
  }

  /**
   * Reason why the vehicle refuses the peer; null if it accepts it. Checked again when the vehicle's settings change.
   */
  refusalOf(vehicle: Vehicle): AccessRefusal | null {
    const { terminalAccess } = vehicle;
    if (terminalAccess === this.#passed && terminalAccess.protocol !== 'learn') return null;
    const refusal = reportedRefusal(vehicle, this.#shown, this.#context);
    this.#passed = refusal === null ? terminalAccess : null;
    this.#isAuthenticated = refusal === null && isProven(terminalAccess, this.#shown);
    return refusal;
  }
}
