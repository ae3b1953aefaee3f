import type { AccessRefusal, TerminalAccess, Vehicle } from '@outrider/domain';
import type { FirstContacts } from './first-contacts.ts';
import { isProven, type Shown } from './terminal-access.ts';

export interface RefusalContext {
  contacts: FirstContacts;
  onWrongSecret(address: string): void;
  /** The vehicle of the terminal does not take it as it came: the refusal is kept for who installs it. */
  onAccessRefused(vehicle: Vehicle, refusal: AccessRefusal, address: string): void;
}

/**
 * Why a vehicle does not take what is shown as its terminal's, which is reported; null where it does.
 *
 * @param access what is demanded, where it is not all that the vehicle demands
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

/** Whether a vehicle takes a peer as its terminal. */
export class TerminalCheck {
  readonly #shown: Shown;
  readonly #context: RefusalContext;
  /** The access settings that it passed. */
  #passed: TerminalAccess | null = null;
  #isAuthenticated = false;

  /** @param peer what is known of it before it says anything */
  constructor(peer: Omit<Shown, 'secret' | 'showedCode'>, context: RefusalContext) {
    this.#shown = { ...peer, secret: null, showedCode: false };
    this.#context = context;
  }

  /** Did the terminal show a secret of its own, or a certificate? */
  get isAuthenticated(): boolean {
    return this.#isAuthenticated;
  }

  /** Takes in what the terminal shows beside its id. */
  show({ secret = null, showedCode = false }: { secret?: string | null; showedCode?: boolean }): void {
    this.#shown.secret = secret;
    this.#shown.showedCode = showedCode;
  }

  /** Why the vehicle does not take the peer; null where it does. Looked at again when its settings changed. */
  refusalOf(vehicle: Vehicle): AccessRefusal | null {
    const { terminalAccess } = vehicle;
    if (terminalAccess === this.#passed && terminalAccess.protocol !== 'learn') return null;
    const refusal = reportedRefusal(vehicle, this.#shown, this.#context);
    this.#passed = refusal === null ? terminalAccess : null;
    this.#isAuthenticated = refusal === null && isProven(terminalAccess, this.#shown);
    return refusal;
  }
}
