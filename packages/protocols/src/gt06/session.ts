import { blankPosition, type Position, type TerminalId } from '@outrider/domain';
import { FramedSession } from '../framed-session.ts';
import type { Inbound } from '../protocol.ts';
import { buildFrame, type Frame, MAX_FRAME_BYTES, MESSAGE, readFrame } from './frame.ts';
import { CELL_BYTES, LOCATION_BYTES, readCell, readLocation, readStatus } from './message.ts';

const IMEI_BYTES = 8;
const STATUS_BYTES = 5;
const NOTHING = Buffer.alloc(0);

/**
 * GT06, the protocol of Concox and of many makers that took it over: binary frames with a CRC. The terminal logs in
 * with its IMEI, then sends locations, alarms and heartbeats. Each is answered by its own number, and nothing else.
 *
 * A heartbeat is a position without a place: ignition, battery and signal of now. Messages without a meaning here are
 * accepted and not answered, as the makers' documents have it.
 */
export class Gt06Session extends FramedSession {
  #terminalId: TerminalId | null = null;

  constructor() {
    super(MAX_FRAME_BYTES);
  }

  protected override take(bytes: Buffer, from: number, nowMs: number, out: Inbound[]): number {
    const frame = readFrame(bytes, from);
    if (frame === null) return 0;
    if ('reason' in frame) return this.refuse(out, frame.reason, frame.detail);
    if (frame.number === MESSAGE.login) return this.#logIn(bytes, frame, out);
    if (this.#terminalId === null)
      return this.refuse(out, 'not-identified', `message 0x${frame.number.toString(16)} before the login`);
    return this.#takeMessage(bytes, frame, nowMs, out);
  }

  #logIn(bytes: Buffer, frame: Frame, out: Inbound[]): number {
    if (frame.to - frame.from < IMEI_BYTES) return this.refuse(out, 'bad-content', 'a login without an IMEI');
    const digits = bytes.toString('hex', frame.from, frame.from + IMEI_BYTES);
    if (!/^\d+$/.test(digits)) return this.refuse(out, 'bad-content', 'an IMEI has digits only');
    // Fifteen digits in eight bytes: the first half of a byte is free.
    const terminalId = digits.replace(/^0/, '') as TerminalId;
    const accept = buildFrame(MESSAGE.login, NOTHING, frame.serial);
    if (this.#terminalId === null) out.push({ type: 'identify', terminalId, accept, reject: null });
    else if (this.#terminalId === terminalId) out.push({ type: 'reply', bytes: accept });
    else return this.refuse(out, 'bad-content', 'a second login with another IMEI');
    this.#terminalId = terminalId;
    return frame.bytes;
  }

  #takeMessage(bytes: Buffer, frame: Frame, nowMs: number, out: Inbound[]): number {
    const { number, from, to, serial } = frame;
    switch (number) {
      case MESSAGE.location:
      case MESSAGE.locationWithStatus:
      case MESSAGE.alarm:
      case MESSAGE.alarmWithStatus: {
        const position = readPosition(bytes, frame, nowMs);
        if (typeof position === 'string') return this.refuse(out, 'bad-content', position);
        out.push({ type: 'positions', positions: [position], ack: buildFrame(number, NOTHING, serial) });
        break;
      }
      case MESSAGE.heartbeat: {
        if (to - from < STATUS_BYTES - 1) return this.refuse(out, 'bad-content', 'a heartbeat is cut off');
        const position = blankPosition(nowMs, 0, 0);
        position.valid = false;
        readStatus(bytes, from, position);
        // Its last bytes are no alarm: each alarm has a message of its own.
        position.alarms = [];
        out.push({ type: 'positions', positions: [position], ack: buildFrame(number, NOTHING, serial) });
        break;
      }
      case MESSAGE.text:
      case MESSAGE.textLong:
        out.push({
          type: 'text',
          text: bytes
            .toString('latin1', from, to)
            .replace(/[^\x20-\x7e]+/g, ' ')
            .trim(),
        });
        break;
      case MESSAGE.time:
        out.push({ type: 'reply', bytes: buildFrame(number, timeBytes(nowMs), serial) });
        break;
      default:
        out.push({ type: 'positions', positions: [], ack: null });
    }
    return frame.bytes;
  }
}

/** @returns what is wrong where there is no position */
function readPosition(bytes: Buffer, { number, from, to }: Frame, nowMs: number): Position | string {
  if (to - from < LOCATION_BYTES) return 'a location is cut off';
  const position = readLocation(bytes, from, nowMs);
  if (position === null) return 'the time of a location is not one';
  let at = from + LOCATION_BYTES;
  const isAlarm = number === MESSAGE.alarm || number === MESSAGE.alarmWithStatus;
  // Alarms say the length of the cell, the byte of the length included.
  const cellBytes = isAlarm ? Math.max(1, bytes[at] ?? 0) : CELL_BYTES;
  if (to - at < cellBytes) return isAlarm ? 'the cell of an alarm is cut off' : position;
  if (cellBytes >= CELL_BYTES) readCell(bytes, at + (isAlarm ? 1 : 0), position);
  at += cellBytes;
  if (isAlarm) {
    if (to - at < STATUS_BYTES) return 'the status of an alarm is cut off';
    readStatus(bytes, at, position);
  } else if (number === MESSAGE.locationWithStatus && to > at) {
    position.ignition = bytes[at] !== 0;
    // Ignition, upload mode and re-upload stand before the odometer, which not every terminal has.
    if (to - at >= 7) position.odometerM = bytes.readUInt32BE(at + 3);
  }
  return position;
}

/** UTC, as the terminal asks for it. */
function timeBytes(nowMs: number): Buffer {
  const now = new Date(nowMs);
  return Buffer.of(
    now.getUTCFullYear() - 2000,
    now.getUTCMonth() + 1,
    now.getUTCDate(),
    now.getUTCHours(),
    now.getUTCMinutes(),
    now.getUTCSeconds(),
  );
}
