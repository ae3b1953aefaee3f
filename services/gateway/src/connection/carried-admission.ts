import type { PacketTrace, ProtocolName, TerminalId, Vehicle } from '@outrider/domain';
import type { Entry } from '@outrider/protocols';
import type { PacketTraces } from '../packet-traces.ts';
import type { Refusal } from '../refusal.ts';
import { isProven } from '../terminal-access.ts';
import { type CarriedContext, CarriedTerminals } from './carried-terminals.ts';
import type { TerminalCheckContext } from './terminal-check.ts';
import type { UnknownPeerContext } from './unknown-peer.ts';

export interface CarriedAdmissionContext
  extends CarriedContext,
    TerminalCheckContext,
    Pick<UnknownPeerContext, 'onUnknown'> {
  traces: PacketTraces;
  vehicleOf(terminalId: TerminalId): Vehicle | undefined;
  /** Is the address blocked for this terminal, for having tried too many unknown ids? */
  isBlocked(terminalId: TerminalId, address: string): boolean;
  /** Called for the first packet of such a terminal that was dropped in a connection. */
  onDropped(terminalId: TerminalId, reason: Refusal, address: string): void;
  /** @param trace of what was refused */
  onRefused(reason: Refusal, detail: string, address: string, trace: PacketTrace): void;
}

/**
 * Decides about packets of terminals that share a connection. A refusal does not end the connection, which would hold
 * up the data of all the others.
 */
export class CarriedAdmission {
  readonly #protocol: ProtocolName;
  readonly #address: string;
  readonly #context: CarriedAdmissionContext;
  readonly #onAdmitted: () => void;
  readonly terminals: CarriedTerminals;

  /** @param onAdmitted called for each terminal that was checked, and may send */
  constructor(protocol: ProtocolName, address: string, context: CarriedAdmissionContext, onAdmitted: () => void) {
    this.#protocol = protocol;
    this.#address = address;
    this.#context = context;
    this.#onAdmitted = onAdmitted;
    this.terminals = new CarriedTerminals(address, context);
  }

  /**
   * Called by the codec for each packet.
   *
   * @param forms of the terminal's id; it has the first that is known, and is listed by the first where none is
   */
  letIn(forms: readonly [TerminalId, ...TerminalId[]], secret: string | null, nowMs: number): Entry {
    const address = this.#address;
    const { vehicleOf, isBlocked, onUnknown, onWrongSecret, contacts, certificateSha256 } = this.#context;
    const terminalId = forms.find((form) => vehicleOf(form) !== undefined);
    if (isBlocked(terminalId ?? forms[0], address))
      return { type: 'blocked', detail: 'the address tried too many unknown ids' };
    const vehicle = terminalId === undefined ? undefined : vehicleOf(terminalId);
    if (terminalId === undefined || vehicle === undefined) {
      onUnknown(forms[0], address);
      for (const form of forms) this.terminals.end(form);
      return this.#drop(forms[0], 'unknown-terminal');
    }
    const { terminalAccess } = vehicle;
    const known = this.terminals.get(terminalId);
    if (known === undefined || terminalAccess !== known.checkedAccess || terminalAccess.protocol === 'learn') {
      const shown = { protocol: this.#protocol, address, certificateSha256, secret, showedCode: false };
      const refusal = contacts.refusalOf(vehicle, shown);
      if (refusal === 'wrong-secret') onWrongSecret(address);
      if (refusal !== null) {
        this.terminals.end(terminalId);
        return this.#drop(terminalId, refusal, () => this.#context.onAccessRefused(vehicle, refusal, address));
      }
      this.#onAdmitted();
      this.terminals.allow(terminalId, terminalAccess, isProven(terminalAccess, shown), nowMs);
    }
    this.terminals.note(terminalId, nowMs);
    return { type: 'taken', terminalId };
  }

  /** @param first called for the first packet of the terminal */
  #drop(terminalId: TerminalId, reason: Refusal, first = () => {}): Entry {
    const { onRefused, onDropped, traces } = this.#context;
    onRefused(reason, `a packet of terminal ${JSON.stringify(terminalId)}`, this.#address, traces.next());
    if (this.terminals.isFirstDropped(terminalId)) {
      onDropped(terminalId, reason, this.#address);
      first();
    }
    return { type: 'refused' };
  }
}
