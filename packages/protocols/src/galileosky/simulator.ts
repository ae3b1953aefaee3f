import type { Position, TerminalId } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { requireImei } from '../simulator-input.ts';
import { buildPacket } from './session.ts';
import { STATUS, TAG } from './tags.ts';

const MAX_POSITIONS = 20;
const ANSWER_BYTES = 3;

/**
 * A Galileosky terminal. What the protocol can't carry: fractions of a second, more than 15 satellites, litres of fuel,
 * the kind of an alarm, that the ignition is unknown while there is an alarm, attributes.
 *
 * @throws {TypeError} when the terminal's id is not an IMEI
 */
export const createGalileoskySimulator: CreateSimulator = (terminalId) => new GalileoskySimulator(terminalId);

class GalileoskySimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = MAX_POSITIONS;
  readonly #imei: TerminalId;
  readonly #tags = new ByteWriter();
  #received: Buffer = Buffer.alloc(0);
  #isWelcome = false;

  constructor(terminalId: TerminalId) {
    requireImei(terminalId);
    this.#imei = terminalId;
  }

  hello(): Buffer {
    return buildPacket(Buffer.concat([Buffer.of(TAG.imei), Buffer.from(this.#imei, 'latin1')]));
  }

  encode(positions: readonly Position[]): Buffer {
    if (positions.length > MAX_POSITIONS) throw new RangeError(`${positions.length} positions in a packet`);
    const tags = this.#tags.clear();
    for (const position of positions) writeRecord(tags, position);
    return buildPacket(tags.view());
  }

  receive(chunk: Buffer): SimulatorReply[] {
    this.#received = Buffer.concat([this.#received, chunk]);
    const replies: SimulatorReply[] = [];
    for (; this.#received.length >= ANSWER_BYTES; this.#received = this.#received.subarray(ANSWER_BYTES)) {
      replies.push({ type: this.#isWelcome ? 'ack' : 'welcome' });
      this.#isWelcome = true;
    }
    return replies;
  }
}

function writeRecord(tags: ByteWriter, position: Position): void {
  const { latitude, longitude, valid, satellites, speedKmh, courseDeg, altitudeM, ignition, odometerM } = position;
  const { supplyV, alarms } = position;
  tags
    .u8(TAG.time)
    .u32le(clampRound(position.fixTimeMs / 1000 - 0.5, 0, 0xffffffff))
    .u8(TAG.place)
    .u8((valid ? 0 : 0x10) | clampRound(satellites ?? 0, 0, 15))
    .u32le(clampRound(latitude * 1e6, -90e6, 90e6) >>> 0)
    .u32le(clampRound(longitude * 1e6, -180e6, 180e6) >>> 0);
  if (speedKmh !== null || courseDeg !== null)
    tags
      .u8(TAG.speedAndCourse)
      .u16le(clampRound((speedKmh ?? 0) * 10, 0, 0xffff))
      .u16le((clampRound(courseDeg ?? 0, 0, 360) % 360) * 10);
  if (altitudeM !== null) tags.u8(TAG.altitude).u16le(clampRound(altitudeM, -32_768, 32_767) & 0xffff);
  if (ignition !== null || alarms.length > 0)
    tags.u8(TAG.status).u16le((ignition ? STATUS.engineRuns : 0) | (alarms.length > 0 ? STATUS.alarm : 0));
  if (supplyV !== null) tags.u8(TAG.supplyMv).u16le(clampRound(supplyV * 1000, 0, 0xffff));
  if (odometerM !== null) tags.u8(TAG.odometer).u32le(clampRound(odometerM, 0, 0xffffffff));
}
