import { PacketTrace, type ProtocolName, type TerminalId } from '@outrider/domain';
import { NO_SPAN, type Span, type Tracing } from '@outrider/runtime';

/**
 * Multiplier of the counter. Odd, so that different counts give different ids. Spread over all bits, so that sampling
 * by id is unbiased.
 */
const SPREAD = 0x9e3779b1;
const COUNTS = 2 ** 32;

/**
 * Gives each packet an id that is unique over all gateways and runs: 96 random bits, drawn when a gateway starts, and a
 * count. No random numbers or strings are created per packet.
 */
export class PacketTraces {
  readonly #drawWord: () => number;
  #a = 0;
  #b = 0;
  #c = 0;
  #count = COUNTS;

  /** @param drawWord returns 32 random bits as an integer */
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
  /** Time of arrival of the packet's bytes, by {@link Tracing.nowMs}. */
  startMs: number;
  protocol: ProtocolName;
  terminalId: TerminalId;
  positions: number;
  /** Address of the terminal, or of the platform that forwards its data. */
  clientAddress?: string;
  /** Address of the broker from which the packet was read. */
  serverAddress?: string;
}

/** Begins the first span of a packet, including its completed decoding. */
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
