import type { Position, TerminalId } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import { crc16Kermit } from '../crc16.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { ANSWER_IDENTIFICATION, ANSWER_RECORDS, COMMAND, IO, TEXT } from './records.ts';

const MAX_POSITIONS = 20;
/** Length and command, followed by the content and the checksum. */
const HEAD_BYTES = 3;
const CHECKSUM_BYTES = 2;

/**
 * A Ruptela terminal. What the protocol can't carry: fractions of a second and of a km/h, alarms, litres of fuel, a
 * valid fix without satellites, and an invalid fix with satellites.
 *
 * @throws {TypeError} when the terminal's id is not an IMEI
 */
export const createRuptelaSimulator: CreateSimulator = (terminalId) => new RuptelaSimulator(terminalId, false);

/** A Ruptela terminal whose records have two-byte ids. */
export const createRuptelaExtendedSimulator: CreateSimulator = (terminalId) => new RuptelaSimulator(terminalId, true);

class RuptelaSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = MAX_POSITIONS;
  readonly #imei: bigint;
  readonly #isExtended: boolean;
  readonly #content = new ByteWriter();
  #received: Buffer = Buffer.alloc(0);

  constructor(terminalId: TerminalId, isExtended: boolean) {
    if (!/^[1-9]\d{14}$/.test(terminalId)) throw new TypeError(`an IMEI has 15 digits: ${terminalId}`);
    this.#imei = BigInt(terminalId);
    this.#isExtended = isExtended;
  }

  hello(): Buffer {
    return this.#packet(COMMAND.identification, Buffer.alloc(0));
  }

  encode(positions: readonly Position[]): Buffer {
    if (positions.length > MAX_POSITIONS) throw new RangeError(`${positions.length} positions in a packet`);
    const content = this.#content.clear().u8(0).u8(positions.length);
    for (const position of positions) this.#writeRecord(content, position);
    return this.#packet(this.#isExtended ? COMMAND.recordsExtended : COMMAND.records, content.view());
  }

  receive(chunk: Buffer): SimulatorReply[] {
    this.#received = Buffer.concat([this.#received, chunk]);
    const replies: SimulatorReply[] = [];
    while (this.#received.length >= HEAD_BYTES) {
      const end = 2 + this.#received.readUInt16BE(0);
      if (this.#received.length < end + CHECKSUM_BYTES) break;
      const [, , command, accepted] = this.#received;
      const text = this.#received.toString('latin1', HEAD_BYTES, end);
      this.#received = this.#received.subarray(end + CHECKSUM_BYTES);
      if (command === TEXT) replies.push({ type: 'command', text, answer: (isDone) => this.#answer(isDone) });
      else if (accepted !== 1) replies.push({ type: 'refused', detail: `answer ${command} with ${accepted}` });
      else if (command === ANSWER_IDENTIFICATION) replies.push({ type: 'welcome' });
      else if (command === ANSWER_RECORDS) replies.push({ type: 'ack' });
    }
    return replies;
  }

  #answer(isDone: boolean): Buffer {
    return this.#packet(COMMAND.textAnswer, Buffer.from(isDone ? 'done' : 'error', 'latin1'));
  }

  #packet(command: number, content: Uint8Array): Buffer {
    const packet = Buffer.alloc(2 + 9 + content.length + 2);
    packet.writeUInt16BE(9 + content.length, 0);
    packet.writeBigUInt64BE(this.#imei, 2);
    packet[10] = command;
    packet.set(content, 11);
    packet.writeUInt16BE(crc16Kermit(packet, 2, packet.length - 2), packet.length - 2);
    return packet;
  }

  #writeRecord(out: ByteWriter, position: Position): void {
    const { ignition, supplyV, odometerM, attributes, valid, satellites } = position;
    const id = (value: number) => (this.#isExtended ? out.u16be(value) : out.u8(value));
    const number = (name: string) => (typeof attributes?.[name] === 'number' ? attributes[name] : 0);
    out.u32be(clampRound(position.fixTimeMs / 1000 - 0.5, 0, 0xffffffff)).u8(0);
    if (this.#isExtended) out.u8(0);
    out
      .u8(0)
      .i32be(clampRound(position.longitude * 1e7, -1_800_000_000, 1_800_000_000))
      .i32be(clampRound(position.latitude * 1e7, -900_000_000, 900_000_000))
      .i16be(clampRound((position.altitudeM ?? 0) * 10, -32_768, 32_767))
      .u16be((clampRound(position.courseDeg ?? 0, 0, 360) % 360) * 100)
      .u8(valid ? clampRound(satellites ?? 1, 1, 255) : 0)
      .u16be(clampRound(position.speedKmh ?? 0, 0, 0xffff))
      .u8(clampRound(number('hdop') * 10, 0, 0xff));
    id(clampRound(number('eventCode'), 0, 0xff));
    out.u8(ignition === null ? 0 : 1);
    if (ignition !== null) id(IO.ignition).u8(ignition ? 1 : 0);
    out.u8(supplyV === null ? 0 : 1);
    if (supplyV !== null) id(IO.supplyMv).u16be(clampRound(supplyV * 1000, 0, 0xffff));
    out.u8(odometerM === null ? 0 : 1);
    if (odometerM !== null) id(IO.odometerM).u32be(clampRound(odometerM, 0, 0xffffffff));
    out.u8(0);
  }
}
