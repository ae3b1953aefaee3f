import { type AttributeValue, blankPosition, NO_ALARMS, type Position, type TerminalId } from '@outrider/domain';
import { setStates, signalPercentOfCsq } from '../attributes.ts';
import { utcMsOfText } from '../calendar.ts';
import { courseOf, decimal, decimalOrNull } from '../degrees.ts';
import { FramedSession } from '../framed-session.ts';
import type { Inbound } from '../protocol.ts';
import { readCcc, readCce } from './binary.ts';
import { ALARM_OF } from './events.ts';

export const MAX_FRAME_BYTES = 4096;

const DOLLAR = 0x24;
const COMMA = 0x2c;
/** `$$`, a letter that counts packets, a length of two to four digits. */
const MOST_HEAD_BYTES = 7;
/** Checksum in two hexadecimal digits, CR, LF: after the star. */
const TRAILER_BYTES = 5;
const SUPPLY_INDEX = 4;
const BATTERY_INDEX = 3;

/**
 * Meitrack: `$$<letter><length>,<IMEI>,<command>,…*<checksum>` in text. `AAA` is a position; it is confirmed by
 * deleting one record from the terminal's buffer (`AFF`). `CCC` and `CCE` hold records in binary form.
 */
export class MeitrackSession extends FramedSession {
  #terminalId: TerminalId | null = null;

  constructor() {
    super(MAX_FRAME_BYTES);
  }

  protected override take(bytes: Buffer, from: number, _nowMs: number, out: Inbound[]): number {
    if (bytes[from] === 0x0d || bytes[from] === 0x0a) return 1;
    const available = bytes.length - from;
    if (bytes[from] !== DOLLAR || (available > 1 && bytes[from + 1] !== DOLLAR))
      return this.refuse(out, 'bad-frame', 'a packet begins with $$');
    const comma = bytes.subarray(from, from + MOST_HEAD_BYTES + 1).indexOf(COMMA);
    if (comma === -1)
      return available > MOST_HEAD_BYTES ? this.refuse(out, 'bad-frame', 'a packet without a length') : 0;
    const length = decimal(bytes.toString('latin1', from + 3, from + comma));
    if (!Number.isInteger(length) || length <= TRAILER_BYTES + 1 || comma + length > MAX_FRAME_BYTES)
      return this.refuse(out, 'bad-length', 'the length of a packet is not one');
    if (available < comma + length) return 0;
    const star = from + comma + length - TRAILER_BYTES;
    const content = bytes.subarray(from + comma + 1, star);
    const trailer = bytes.toString('latin1', star, star + TRAILER_BYTES);
    if (!/^\*[0-9A-F]{2}\r\n$/i.test(trailer))
      return this.refuse(out, 'bad-frame', 'a packet ends with a star, a checksum, CR and LF');
    if (Number.parseInt(trailer.slice(1, 3), 16) !== checksumOf(bytes, from, star + 1))
      return this.refuse(out, 'bad-checksum', 'the checksum of a packet is wrong');
    return this.#takeContent(content, String.fromCharCode(bytes[from + 2] as number), out) ? comma + length : 0;
  }

  /** @returns whether the session continues */
  #takeContent(content: Buffer, letter: string, out: Inbound[]): boolean {
    const [imei = '', command, ...fields] = content.toString('latin1').split(',');
    if (!/^\d{15}$/.test(imei)) {
      this.refuse(out, 'bad-content', 'an IMEI has 15 digits');
      return false;
    }
    if (this.#terminalId === null) {
      this.#terminalId = imei as TerminalId;
      out.push({ type: 'identify', terminalId: this.#terminalId, accept: null, reject: null });
    } else if (this.#terminalId !== imei) {
      this.refuse(out, 'bad-content', 'a packet with another IMEI');
      return false;
    }
    if (command === 'CCC' || command === 'CCE')
      return this.#takeBinary(command, content, imei.length + command.length + 2, letter, out);
    if (command !== 'AAA') {
      out.push({ type: 'positions', positions: [], ack: null });
      return true;
    }
    const position = readPosition(fields);
    const ack = buildPacket('@@', letter, `${imei},AFF,1`);
    if (typeof position === 'string') return this.leaveOut(out, position, ack);
    out.push({ type: 'positions', positions: [position], ack });
    return true;
  }

  /** Binary records are confirmed by their count: the terminal deletes that many. */
  #takeBinary(command: 'CCC' | 'CCE', content: Buffer, from: number, letter: string, out: Inbound[]): boolean {
    const read = command === 'CCC' ? readCcc(content, from, content.length) : readCce(content, from, content.length);
    if (typeof read === 'string') {
      // Its records cannot be counted, so it is not confirmed and the terminal keeps them.
      this.refuse(out, 'bad-content', read);
      return false;
    }
    const ack = buildPacket('@@', letter, `${this.#terminalId},${command},${read.records}`);
    out.push({ type: 'positions', positions: read.positions, ack });
    return true;
  }
}

/** @returns what is wrong, where there is no position */
function readPosition(fields: readonly string[]): Position | string {
  const [event = '', lat = '', lon = '', time = '', validity, satellites, signal, speed, course, hdop] = fields;
  const [altitude, mileage, runtime, cell = '', state = '', analog = ''] = fields.slice(10);
  const fixTimeMs = utcMsOfText(time.slice(0, 6), time.slice(6));
  const [latitude, longitude] = [decimal(lat), decimal(lon)];
  if (Number.isNaN(fixTimeMs)) return 'the time of a position is not one';
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return 'the place of a position is not one';
  const position = blankPosition(fixTimeMs, latitude + 0, longitude + 0);
  position.valid = validity === 'A';
  position.satellites = decimalOrNull(satellites);
  position.speedKmh = decimalOrNull(speed);
  position.courseDeg = courseOf(decimalOrNull(course));
  position.altitudeM = decimalOrNull(altitude);
  position.odometerM = decimalOrNull(mileage);
  const code = decimalOrNull(event);
  const alarm = code === null ? undefined : ALARM_OF.get(code);
  position.alarms = alarm === undefined ? NO_ALARMS : [alarm];
  const attributes: Record<string, AttributeValue> = code === null ? {} : { eventCode: code };
  const [csq, dop, seconds] = [signal, hdop, runtime].map((text) => decimalOrNull(text));
  const signalPercent = csq === null || csq === undefined ? null : signalPercentOfCsq(csq);
  if (signalPercent !== null) attributes.gsmSignalPercent = signalPercent;
  if (typeof dop === 'number') attributes.hdop = dop;
  if (typeof seconds === 'number') attributes.runTimeSeconds = seconds;
  readCell(attributes, cell);
  readState(attributes, state);
  readAnalog(position, attributes, analog);
  position.attributes = attributes;
  return position;
}

function readCell(attributes: Record<string, AttributeValue>, text: string): void {
  const [mcc = '', mnc = '', lac = '', cell = ''] = text.split('|');
  if (!/^\d{3}$/.test(mcc) || !/^\d{1,3}$/.test(mnc) || !/^[0-9A-F]{1,8}$/i.test(lac) || !/^[0-9A-F]{1,8}$/i.test(cell))
    return;
  Object.assign(attributes, {
    mcc: Number(mcc),
    mnc: Number(mnc),
    lac: Number.parseInt(lac, 16),
    cellId: Number.parseInt(cell, 16),
  });
}

/** Outputs in the upper byte, inputs in the lower one. */
function readState(attributes: Record<string, AttributeValue>, text: string): void {
  if (!/^[0-9A-F]{4}$/i.test(text)) return;
  const bits = Number.parseInt(text, 16);
  setStates(attributes, 'input', bits);
  setStates(attributes, 'output', bits >>> 8);
}

/** Hexadecimal hundredths of a volt: inputs, then the battery, then the vehicle’s supply. */
function readAnalog(position: Position, attributes: Record<string, AttributeValue>, text: string): void {
  for (const [index, part] of text.split('|').entries()) {
    if (!/^[0-9A-F]{1,4}$/i.test(part)) continue;
    const volts = Number.parseInt(part, 16) / 100;
    if (index === SUPPLY_INDEX) position.supplyV = volts;
    else if (index === BATTERY_INDEX) attributes.batteryV = volts;
    else if (index < BATTERY_INDEX) attributes[`analog${index + 1}V`] = volts;
  }
}

/** The sum of all bytes up to the star, and of the star. */
function checksumOf(bytes: Uint8Array, from: number, to: number): number {
  let sum = 0;
  for (let at = from; at < to; at += 1) sum = (sum + (bytes[at] as number)) & 0xff;
  return sum;
}

/**
 * @param start `$$` of a terminal, `@@` of the server
 * @param content text, or bytes written as Latin-1
 */
export function buildPacket(start: '$$' | '@@', letter: string, content: string): Buffer {
  const text = `${start}${letter}${content.length + 1 + TRAILER_BYTES},${content}*`;
  const sum = checksumOf(Buffer.from(text, 'latin1'), 0, text.length);
  return Buffer.from(`${text}${sum.toString(16).toUpperCase().padStart(2, '0')}\r\n`, 'latin1');
}
