import type { Position, TerminalId } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { onlyPosition, requireImei } from '../simulator-input.ts';
import { commandContent, readCommandContent } from './commands.ts';
import { buildFrame, type Frame, MESSAGE, readFrame } from './frame.ts';
import { ALARM_CODES, CELL_BYTES, COURSE, STATUS, STEPS_PER_DEGREE } from './message.ts';

const CODE_OF = new Map(ALARM_CODES.toReversed().map(([code, alarm]) => [alarm, code]));
const OTHER_ALARM_CODE = 0x21;
const U32 = 0xffffffff;

/**
 * A GT06 terminal. What the protocol can't carry: fractions of a second and of a km/h, more than 15 satellites,
 * altitude, supply and fuel, more than one alarm, the odometer together with an alarm, and an unknown ignition together
 * with an odometer or an alarm.
 *
 * @throws {TypeError} when the terminal's id is not an IMEI
 */
export const createGt06Simulator: CreateSimulator = (terminalId) => new Gt06Simulator(terminalId);

class Gt06Simulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = 1;
  readonly #imei: Buffer;
  readonly #content = new ByteWriter();
  #serial = 1;
  #received: Buffer = Buffer.alloc(0);

  constructor(terminalId: TerminalId) {
    requireImei(terminalId);
    this.#imei = Buffer.from(`0${terminalId}`, 'hex');
  }

  hello(): Buffer {
    return this.#frame(MESSAGE.login, this.#imei);
  }

  encode(positions: readonly Position[]): Buffer {
    const position = onlyPosition(positions);
    const { ignition, odometerM, alarms } = position;
    const [alarm] = alarms;
    const content = writeLocation(this.#content.clear(), position);
    if (alarm !== undefined) {
      content.u8(CELL_BYTES + 1);
      writeCell(content, position);
      writeStatus(content, position, CODE_OF.get(alarm) ?? OTHER_ALARM_CODE);
      return this.#frame(MESSAGE.alarmWithStatus, content.view());
    }
    writeCell(content, position);
    if (ignition === null && odometerM === null) return this.#frame(MESSAGE.location, content.view());
    content
      .u8(ignition ? 1 : 0)
      .u8(0)
      .u8(0);
    if (odometerM !== null) content.u32be(clampRound(odometerM, 0, U32));
    return this.#frame(MESSAGE.locationWithStatus, content.view());
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const replies: SimulatorReply[] = [];
    const bytes = Buffer.concat([this.#received, chunk]);
    let from = 0;
    while (from < bytes.length) {
      const frame = readFrame(bytes, from);
      if (frame === null) break;
      if ('reason' in frame) return [...replies, { type: 'refused', detail: frame.detail }];
      replies.push(this.#replyOf(bytes, frame));
      from += frame.bytes;
    }
    this.#received = Buffer.from(bytes.subarray(from));
    return replies;
  }

  #replyOf(bytes: Buffer, { number, from, to }: Frame): SimulatorReply {
    const command = number === MESSAGE.command ? readCommandContent(bytes, from, to) : null;
    if (command === null) return { type: number === MESSAGE.login ? 'welcome' : 'ack' };
    const { flag, text } = command;
    const answer = (isDone: boolean) => this.#frame(MESSAGE.text, commandContent(flag, isDone ? 'Success!' : 'Fail!'));
    return { type: 'command', text, answer };
  }

  #frame(number: number, content: Uint8Array): Buffer {
    const frame = buildFrame(number, content, this.#serial);
    this.#serial = (this.#serial + 1) & 0xffff;
    return frame;
  }
}

function writeLocation(content: ByteWriter, position: Position): ByteWriter {
  const { fixTimeMs, latitude, longitude, valid, speedKmh, courseDeg, satellites } = position;
  const time = new Date(fixTimeMs);
  content
    .u8(time.getUTCFullYear() - 2000)
    .u8(time.getUTCMonth() + 1)
    .u8(time.getUTCDate())
    .u8(time.getUTCHours())
    .u8(time.getUTCMinutes())
    .u8(time.getUTCSeconds());
  const lengthAndSatellites = 0xc0 | clampRound(satellites ?? 0, 0, 15);
  content
    .u8(lengthAndSatellites)
    .u32be(clampRound(Math.abs(latitude) * STEPS_PER_DEGREE, 0, U32))
    .u32be(clampRound(Math.abs(longitude) * STEPS_PER_DEGREE, 0, U32))
    .u8(clampRound(speedKmh ?? 0, 0, 0xff))
    .u16be(
      (clampRound(courseDeg ?? 0, 0, 360) % 360) |
        (latitude >= 0 ? COURSE.north : 0) |
        (longitude < 0 ? COURSE.west : 0) |
        (valid ? COURSE.fix : 0),
    );
  return content;
}

/** Country 0 stands for no cell. */
function writeCell(content: ByteWriter, { attributes }: Position): void {
  const number = (name: string) => (typeof attributes?.[name] === 'number' ? attributes[name] : 0);
  const cellId = number('cellId');
  content
    .u16be(number('mcc'))
    .u8(number('mnc'))
    .u16be(number('lac'))
    .u8(cellId >>> 16)
    .u16be(cellId & 0xffff);
}

function writeStatus(content: ByteWriter, { ignition, attributes }: Position, alarmCode: number): void {
  const { batteryLevel, gsmSignal, armed, charging, fuelCut } = attributes ?? {};
  content
    .u8(
      (armed ? STATUS.armed : 0) |
        (ignition ? STATUS.ignition : 0) |
        (charging ? STATUS.charging : 0) |
        (fuelCut ? STATUS.cutOff : 0),
    )
    .u8(typeof batteryLevel === 'number' ? batteryLevel : 0xff)
    .u8(typeof gsmSignal === 'number' ? gsmSignal : 0)
    .u8(alarmCode)
    .u8(2);
}
