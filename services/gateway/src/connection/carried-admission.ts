import type { PacketTrace, ProtocolName, TerminalId, Vehicle } from '@outrider/domain';
import type { Entry } from '@outrider/protocols';
import type { PacketTraces } from '../packet-traces.ts';
import type { Refusal } from '../refusal.ts';
import { type RefusalContext, TerminalCheck } from '../terminal-check.ts';
import { type CarriedContext, CarriedTerminals } from './carried-terminals.ts';
import type { UnknownPeerContext } from './unknown-peer.ts';

export interface CarriedAdmissionContext extends CarriedContext, RefusalContext, Pick<UnknownPeerContext, 'onUnknown'> {
  /** SHA-256 of the peer's certificate; null without TLS or without a certificate. */
  certificateSha256: string | null;
  traces: PacketTraces;
  vehicleOf(terminalId: TerminalId): Vehicle | undefined;
  /** Whether the address is blocked for this terminal because it tried too many unknown ids. */
  isBlocked(terminalId: TerminalId, address: string): boolean;
  /** Called for the first dropped packet of each such terminal in a connection. */
  onDropped(terminalId: TerminalId, reason: Refusal, address: string): void;
  /** @param trace of the refused data */
  onRefused(reason: Refusal, detail: string, address: string, trace: PacketTrace): void;
}

/**
 * Admits packets of terminals that share a connection. A refusal does not end the connection, which would block the
 * data of all others.
 */
export class CarriedAdmission {
  readonly #protocol: ProtocolName;
  readonly #address: string;
  readonly #context: CarriedAdmissionContext;
  readonly #checkContext: RefusalContext;
  readonly #onAdmitted: () => void;
  readonly terminals: CarriedTerminals;

  /** @param onAdmitted called for each terminal that passed its check */
  constructor(protocol: ProtocolName, address: string, context: CarriedAdmissionContext, onAdmitted: () => void) {
    this.#protocol = protocol;
    this.#address = address;
    this.#context = context;
    this.#onAdmitted = onAdmitted;
    this.terminals = new CarriedTerminals(address, context);
    const { contacts, onWrongSecret } = context;
    this.#checkContext = {
      ...{ contacts, onWrongSecret },
      onAccessRefused: (vehicle, refusal) => {
        const { terminalId } = vehicle;
        if (terminalId !== null && this.terminals.isFirstDropped(terminalId))
          context.onAccessRefused(vehicle, refusal, address);
      },
    };
  }

  /**
   * Called by the codec for each packet.
   *
   * @param forms of the terminal's id: the first known one is used; if none is known, the first is reported as unknown
   */
  letIn(forms: readonly [TerminalId, ...TerminalId[]], secret: string | null, nowMs: number): Entry {
    const address = this.#address;
    const { certificateSha256, vehicleOf, isBlocked, onUnknown } = this.#context;
    const terminalId = forms.find((form) => vehicleOf(form) !== undefined);
    if (isBlocked(terminalId ?? forms[0], address))
      return { type: 'blocked', detail: 'the address tried too many unknown ids' };
    const vehicle = terminalId === undefined ? undefined : vehicleOf(terminalId);
    if (terminalId === undefined || vehicle === undefined) {
      onUnknown(forms[0], address);
      for (const form of forms) this.terminals.end(form);
      return this.#drop(forms[0], 'unknown-terminal');
    }
    const known = this.terminals.get(terminalId)?.check;
    const check =
      known ?? new TerminalCheck({ protocol: this.#protocol, address, certificateSha256 }, this.#checkContext);
    check.show({ secret });
    const refusal = check.refusalOf(vehicle);
    if (refusal !== null) {
      this.terminals.end(terminalId);
      return this.#drop(terminalId, refusal);
    }
    if (known === undefined) {
      this.#onAdmitted();
      this.terminals.add(terminalId, check, nowMs);
    }
    this.terminals.note(terminalId, nowMs);
    return { type: 'taken', terminalId };
  }

  #drop(terminalId: TerminalId, reason: Refusal): Entry {
    const { onRefused, onDropped, traces } = this.#context;
    onRefused(reason, `a packet of terminal ${JSON.stringify(terminalId)}`, this.#address, traces.next());
    if (this.terminals.isFirstDropped(terminalId)) {
      this.terminals.noteDropped(terminalId);
      onDropped(terminalId, reason, this.#address);
    }
    return { type: 'refused' };
  }
}
