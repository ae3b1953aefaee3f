import type { Position, TerminalId } from '@outrider/domain';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { requireImei } from '../simulator-input.ts';
import { FIELDS_OF_FLEX_1, FIELDS_OF_FLEX_2, type Layout, layoutOf, writeField } from './fields.ts';
import { buildFlex, buildNtcb, readNtcb } from './frame.ts';
import { FIELD, FIX, PLACE_PER_DEGREE } from './record.ts';
import { FLEX } from './session.ts';

const MAX_POSITIONS = 20;
const MAX_FRAME_BYTES = 1024;
const U32 = 0xffffffff;
const FLEX_ANSWER_BYTES = 4;
const SENT = [
  FIELD.recordNumber,
  FIELD.event,
  FIELD.time,
  FIELD.gsm,
  FIELD.fix,
  FIELD.latitude,
  FIELD.longitude,
  FIELD.altitude,
  FIELD.speed,
  FIELD.course,
  FIELD.odometer,
  FIELD.supplyMv,
];

/**
 * A Navtelecom terminal that speaks FLEX 1.0. What the protocol can't carry: fractions of a second, more than seven
 * digits of an odometer, alarms, the ignition, litres of fuel, that a value is unknown, and more than 63 satellites.
 *
 * @throws {TypeError} when the terminal's id is not an IMEI
 */
export const createNavtelecomSimulator: CreateSimulator = (terminalId) =>
  new NavtelecomSimulator(terminalId, FLEX.version1, FIELDS_OF_FLEX_1);

/** A Navtelecom terminal that speaks FLEX 2.0. */
export const createNavtelecomSimulator2: CreateSimulator = (terminalId) =>
  new NavtelecomSimulator(terminalId, FLEX.version2, FIELDS_OF_FLEX_2);

class NavtelecomSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = MAX_POSITIONS;
  readonly #imei: TerminalId;
  readonly #version: number;
  readonly #bits: number;
  readonly #mask: Buffer;
  readonly #layout: Layout;
  #recordNumber = 0;
  #received: Buffer = Buffer.alloc(0);

  constructor(terminalId: TerminalId, version: number, bits: number) {
    requireImei(terminalId);
    this.#imei = terminalId;
    this.#version = version;
    this.#bits = bits;
    this.#mask = Buffer.alloc(Math.ceil(bits / 8));
    for (const number of SENT) {
      const at = (number - 1) >> 3;
      this.#mask[at] = (this.#mask[at] as number) | (0x80 >> ((number - 1) & 7));
    }
    this.#layout = layoutOf(this.#mask) as Layout;
  }

  hello(): Buffer {
    const fields = Buffer.of(FLEX.protocol, this.#version, this.#version, this.#bits);
    return Buffer.concat([
      buildNtcb(1, Buffer.from(`*>S:${this.#imei}`), 0),
      buildNtcb(1, Buffer.concat([Buffer.from('*>FLEX'), fields, this.#mask]), 0),
    ]);
  }

  encode(positions: readonly Position[]): Buffer {
    if (positions.length > MAX_POSITIONS) throw new RangeError(`${positions.length} positions in a packet`);
    const records = positions.map((position) => this.#record(position));
    return buildFlex('A', Buffer.concat([Buffer.of(positions.length), ...records]));
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const bytes = Buffer.concat([this.#received, chunk]);
    const replies: SimulatorReply[] = [];
    let from = 0;
    while (from < bytes.length) {
      if (bytes[from] === 0x7e) {
        if (bytes.length - from < FLEX_ANSWER_BYTES) break;
        from += FLEX_ANSWER_BYTES;
        replies.push({ type: 'ack' });
        continue;
      }
      const frame = readNtcb(bytes, from, MAX_FRAME_BYTES);
      if (frame === null) break;
      if ('reason' in frame) return [...replies, { type: 'refused', detail: frame.detail }];
      from += frame.bytes;
      if (frame.body.toString('latin1') === '*<S') replies.push({ type: 'welcome' });
    }
    this.#received = Buffer.from(bytes.subarray(from));
    return replies;
  }

  #record(position: Position): Buffer {
    const { valid, satellites, supplyV } = position;
    this.#recordNumber = (this.#recordNumber + 1) % U32;
    const values = new Map<number, number>([
      [FIELD.recordNumber, this.#recordNumber],
      [FIELD.event, 0],
      [FIELD.time, clampRound(position.fixTimeMs / 1000 - 0.5, 0, U32)],
      [FIELD.gsm, 20],
      [FIELD.fix, FIX.on | (valid ? FIX.valid : 0) | (clampRound(satellites ?? 0, 0, 63) << FIX.satellitesShift)],
      [FIELD.latitude, Math.round(position.latitude * PLACE_PER_DEGREE)],
      [FIELD.longitude, Math.round(position.longitude * PLACE_PER_DEGREE)],
      [FIELD.altitude, Math.round((position.altitudeM ?? 0) * 10)],
      [FIELD.speed, position.speedKmh ?? 0],
      [FIELD.course, clampRound(position.courseDeg ?? 0, 0, 360) % 360],
      [FIELD.odometer, (position.odometerM ?? 0) / 1000],
      [FIELD.supplyMv, clampRound((supplyV ?? 0) * 1000, 0, 0xffff)],
    ]);
    const record = Buffer.alloc(this.#layout.recordBytes);
    for (const field of this.#layout.fields) writeField(field, record, values.get(field.number) ?? 0);
    return record;
  }
}
