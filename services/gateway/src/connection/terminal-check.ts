import type { AccessRefusal, ProtocolName, TerminalAccess, Vehicle } from '@outrider/domain';
import type { FirstContacts } from '../first-contacts.ts';
import { isProven, type Shown } from '../terminal-access.ts';

export interface TerminalCheckContext {
  /** SHA-256 of the peer's certificate, where the connection is by TLS and it showed one. */
  certificateSha256: string | null;
  contacts: FirstContacts;
  onWrongSecret(address: string): void;
  /** The vehicle of the terminal does not take it as it came: the refusal is kept for who installs it. */
  onAccessRefused(vehicle: Vehicle, refusal: AccessRefusal, address: string): void;
}

/** Whether a vehicle takes a connection as that of its terminal. */
export class TerminalCheck {
  readonly #shown: Shown;
  readonly #context: TerminalCheckContext;
  /** The access settings that it was checked against. */
  #checked: TerminalAccess | null = null;
  #isAuthenticated = false;

  constructor(protocol: ProtocolName, address: string, context: TerminalCheckContext) {
    this.#shown = {
      ...{ protocol, address, secret: null, showedCode: false },
      certificateSha256: context.certificateSha256,
    };
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

  /** Why a vehicle does not take the connection; null where it does. Its settings are looked at when they changed. */
  refusalOf(vehicle: Vehicle): AccessRefusal | null {
    const { terminalAccess } = vehicle;
    if (terminalAccess === this.#checked && terminalAccess.protocol !== 'learn') return null;
    const { contacts, onWrongSecret, onAccessRefused } = this.#context;
    const { address } = this.#shown;
    const refusal = contacts.refusalOf(vehicle, this.#shown);
    if (refusal === null) {
      this.#checked = terminalAccess;
      this.#isAuthenticated = isProven(terminalAccess, this.#shown);
      return null;
    }
    if (refusal === 'wrong-secret') onWrongSecret(address);
    onAccessRefused(vehicle, refusal, address);
    return refusal;
  }
}
