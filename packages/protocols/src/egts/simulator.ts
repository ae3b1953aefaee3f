import type { Position, TerminalId } from '@outrider/domain';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { requireImei } from '../simulator-input.ts';
import { encodeTelemetry } from './encode.ts';
import { SUBRECORD } from './subrecords.ts';
import {
  buildPacket,
  buildRecord,
  buildSubrecord,
  OwnNumbers,
  PACKET,
  RESULT,
  readPacket,
  readRecords,
  SERVICE,
} from './transport.ts';

const MAX_POSITIONS = 20;

/**
 * An EGTS terminal. What the protocol can't carry: fractions of a second, litres of fuel, attributes, an unknown
 * odometer, alarms other than `sos`, `tamper`, `power-cut` and `low-battery`, more than one of them, and the ignition
 * beside an alarm.
 *
 * @throws {TypeError} when the terminal's id is not an IMEI
 */
export const createEgtsSimulator: CreateSimulator = (terminalId) => new EgtsSimulator(terminalId);

class EgtsSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = MAX_POSITIONS;
  readonly #imei: TerminalId;
  readonly #numbers = new OwnNumbers();
  #received: Buffer = Buffer.alloc(0);
  #isWelcome = false;

  constructor(terminalId: TerminalId) {
    requireImei(terminalId);
    this.#imei = terminalId;
  }

  hello(): Buffer {
    const identity = Buffer.alloc(20);
    // The terminal's number: the last eight digits of its IMEI.
    identity.writeUInt32LE(Number(this.#imei.slice(-8)), 0);
    identity[4] = 0x02;
    identity.write(this.#imei, 5, 'latin1');
    return this.#packet([
      buildRecord(this.#numbers.nextRecord(), SERVICE.auth, buildSubrecord(SUBRECORD.identity, identity)),
    ]);
  }

  encode(positions: readonly Position[]): Buffer {
    if (positions.length > MAX_POSITIONS) throw new RangeError(`${positions.length} positions in a packet`);
    return this.#packet(
      positions.map((position) => buildRecord(this.#numbers.nextRecord(), SERVICE.teledata, encodeTelemetry(position))),
    );
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const bytes = Buffer.concat([this.#received, chunk]);
    const replies: SimulatorReply[] = [];
    let from = 0;
    while (from < bytes.length) {
      const packet = readPacket(bytes, from);
      if (packet === null) break;
      if ('reason' in packet) return [...replies, { type: 'refused', detail: packet.detail }];
      from += packet.bytes;
      if (packet.type === PACKET.response) {
        if (this.#isWelcome) replies.push({ type: 'ack' });
        continue;
      }
      const result = resultOf(bytes, packet.from, packet.to);
      this.#isWelcome = result === RESULT.ok;
      replies.push(this.#isWelcome ? { type: 'welcome' } : { type: 'refused', detail: `result ${result}` });
    }
    this.#received = Buffer.from(bytes.subarray(from));
    return replies;
  }

  #packet(records: readonly Buffer[]): Buffer {
    return buildPacket(PACKET.data, this.#numbers.nextPacket(), Buffer.concat(records));
  }
}

/** The result code of the server's answer to an identity. */
export function resultOf(bytes: Buffer, from: number, to: number): number | null {
  const records = readRecords(bytes, from, to);
  const [record] = typeof records === 'string' ? [] : records;
  return record !== undefined && bytes[record.from] === SUBRECORD.result ? (bytes[record.from + 3] ?? null) : null;
}
