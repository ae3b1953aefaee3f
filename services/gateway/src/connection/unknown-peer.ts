import type { TerminalId } from '@outrider/domain';
import type { RefusedContact } from '@outrider/hub';
import { FirstBytes } from './first-bytes.ts';

export interface UnknownPeerContext {
  isKnown(terminalId: TerminalId): boolean;
  onUnknown(terminalId: TerminalId, address: string, contact?: RefusedContact): void;
  /** Called when a peer was refused before it identified itself. */
  onUnknownDevice(address: string, contact: RefusedContact): void;
}

/** Why a peer was refused, and the forms of the id that it sent, if any. */
export interface PeerRefusal {
  reason: string;
  detail: string;
  terminalIds?: readonly TerminalId[];
}

/** An unidentified peer of a connection. It is listed for the operator when it is refused. */
export class UnknownPeer {
  readonly #address: string;
  readonly #context: UnknownPeerContext;
  /** Null once the peer is identified. */
  #first: FirstBytes | null = new FirstBytes('tcp');

  constructor(address: string, context: UnknownPeerContext) {
    this.#address = address;
    this.#context = context;
  }

  add(chunk: Buffer): void {
    this.#first?.add(chunk);
  }

  /** Marks the peer as identified: later bytes are not recorded. */
  identify(): void {
    this.#first = null;
  }

  /** Lists the peer. A peer with the id of a known terminal is refused for another reason, and listed elsewhere. */
  list({ reason, detail, terminalIds = [] }: PeerRefusal): void {
    const { isKnown, onUnknown, onUnknownDevice } = this.#context;
    const [first] = terminalIds;
    const contact = this.#first?.contact(reason, detail);
    if (first === undefined) {
      if (contact !== undefined) onUnknownDevice(this.#address, contact);
    } else if (!terminalIds.some(isKnown)) onUnknown(first, this.#address, contact);
  }
}
