import { PacketTrace, type ProtocolName, type TerminalId } from '@outrider/domain';
import { NO_SPAN, type Span, type Tracing } from '@outrider/runtime';

/**
 * Odd, so that different counts stay different; and spread over all bits, so that a share of the ids is a share of any
 * packets.
 */
const SPREAD = 0x9e3779b1;
const COUNTS = 2 ** 32;

/**
 * Gives each packet a unique id over all gateways and runs: 96 random bits, drawn when a gateway starts, and a count. A
 * packet costs neither random numbers nor strings.
 */
export class PacketTraces {
  readonly #drawWord: () => number;
  #a = 0;
  #b = 0;
  #c = 0;
  #count = COUNTS;

  /** @param drawWord 32 random bits, as whatever integer */
  constructor(drawWord: () => number) {
    this.#drawWord = drawWord;
  }

  next(): PacketTrace {
    if (this.#count === COUNTS) {
      this.#a = this.#drawWord() | 0;
      this.#b = this.#drawWord() | 0;
      // An id must not be all zero.
      this.#c = this.#drawWord() | 1;
      this.#count = 0;
    }
    return new PacketTrace(this.#a, this.#b, this.#c, Math.imul(this.#count++, SPREAD));
  }
}

export interface PacketFacts {
  trace: PacketTrace;
  /** When its bytes came, by {@link Tracing.nowMs}. */
  startMs: number;
  protocol: ProtocolName;
  terminalId: TerminalId;
  positions: number;
  /** Of the terminal, or of the platform that forwards its data. */
  clientAddress?: string;
  /** Of the broker that the packet was read from. */
  serverAddress?: string;
}

/** Begins the first span of a packet, with its decoding, which is over. */
export function beginPacketSpan(tracing: Tracing, packet: PacketFacts): Span {
  if (!tracing.isOn) return NO_SPAN;
  const { trace, startMs, protocol, terminalId, positions, clientAddress, serverAddress } = packet;
  const facts = {
    'outrider.protocol': protocol,
    'outrider.terminal.id': terminalId,
    'outrider.positions': positions,
    ...(clientAddress === undefined ? {} : { 'client.address': clientAddress }),
    ...(serverAddress === undefined ? {} : { 'server.address': serverAddress }),
  };
  const span = tracing.beginPacket(trace, 'packet', { kind: 'server', startMs, facts });
  span.child('decode', startMs).end();
  return span;
}
