import type { TerminalId } from '@outrider/domain';
import type { RefusedContact } from '@outrider/hub';
import { FirstBytes } from './first-bytes.ts';

export interface UnknownPeerContext {
  isKnown(terminalId: TerminalId): boolean;
  onUnknown(terminalId: TerminalId, address: string, contact?: RefusedContact): void;
  /** The peer was refused before it said who it is. */
  onUnknownDevice(address: string, contact: RefusedContact): void;
}

/** Why a peer was refused, and the forms of the id that it sent, if any. */
export interface PeerRefusal {
  reason: string;
  detail: string;
  terminalIds?: readonly TerminalId[];
}

/** A connection whose peer is not known yet: it is listed for the operator where it is refused. */
export class UnknownPeer {
  readonly #address: string;
  readonly #context: UnknownPeerContext;
  /** Null once it is known. */
  #first: FirstBytes | null = new FirstBytes('tcp');

  constructor(address: string, context: UnknownPeerContext) {
    this.#address = address;
    this.#context = context;
  }

  add(chunk: Buffer): void {
    this.#first?.add(chunk);
  }

  /** It is known now: what it sends from here on is not looked at. */
  identify(): void {
    this.#first = null;
  }

  /** Lists the peer. One that has the id of a known terminal is refused for another reason, and listed elsewhere. */
  list({ reason, detail, terminalIds = [] }: PeerRefusal): void {
    const { isKnown, onUnknown, onUnknownDevice } = this.#context;
    const [first] = terminalIds;
    const contact = this.#first?.contact(reason, detail);
    if (first === undefined) {
      if (contact !== undefined) onUnknownDevice(this.#address, contact);
    } else if (!terminalIds.some(isKnown)) onUnknown(first, this.#address, contact);
  }
}
