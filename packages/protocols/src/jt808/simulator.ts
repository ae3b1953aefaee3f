import type { Alarm, Position, TerminalId } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { terminalNumberBytes, timeBytes } from './bcd.ts';
import { buildParts, type Edition, FLAG, MAX_FRAME_BYTES, type Message, PHONE_BYTES, readMessage } from './frame.ts';
import { ITEM } from './items.ts';
import { ALARM_BITS, NAMED_STATUS, STATUS } from './location.ts';
import { MESSAGE, REGISTRATION, RESULT } from './message-ids.ts';

/** The number of positions that fits into an unsplit message in any case. */
const MAX_POSITIONS = 12;
const U32 = 0xffffffff;
/** Lengths in a registration: province, county, maker, model, id, colour of the plate, plate. */
const REGISTRATION_FIELDS: Readonly<Record<Edition, readonly [maker: number, model: number, id: number]>> = {
  2013: [5, 20, 7],
  2019: [11, 30, 30],
};

/** The terminal's side of a session: numbers its messages and reads the server's frames. */
export class Jt808TerminalSide {
  readonly edition: Edition;
  readonly phone: string;
  #serial = 0;
  #received: Buffer = Buffer.alloc(0);

  /**
   * @param phone the terminal's number; some makers use hexadecimal digits
   * @throws {TypeError} when the number has other characters than hexadecimal digits, or too many
   */
  constructor(phone: string, edition: Edition) {
    terminalNumberBytes(phone, PHONE_BYTES[edition]);
    this.phone = phone.toLowerCase().replace(/^0+(?=.)/, '');
    this.edition = edition;
  }

  /** Builds the next message, in as many packets as it needs. */
  say(id: number, body: Buffer): { serial: number; bytes: Buffer } {
    const { edition, phone } = this;
    const serial = this.#serial;
    const parts = buildParts({ id, edition, version: edition === 2019 ? 1 : 0, phone, serial }, body);
    this.#serial = (serial + parts.length) & 0xffff;
    return { serial, bytes: Buffer.concat(parts) };
  }

  register(): Buffer {
    const [maker, model, id] = REGISTRATION_FIELDS[this.edition];
    const body = Buffer.alloc(2 + 2 + maker + model + id + 1);
    body.write('OUTRI', 4, 'latin1');
    body.write('SIM', 4 + maker, 'latin1');
    body.write(this.phone.slice(-7), 4 + maker + model, 'latin1');
    return this.say(MESSAGE.register, Buffer.concat([body, Buffer.from('SIM', 'latin1')])).bytes;
  }

  /** @param code as received from the server */
  authorize(code: string): Buffer {
    const text = Buffer.from(code, 'latin1');
    // Length of the code, the code, IMEI, software version; the last two have fixed lengths.
    const body =
      this.edition === 2013 ? text : Buffer.concat([Buffer.from([text.length]), text, Buffer.alloc(15 + 20)]);
    return this.say(MESSAGE.authorize, body).bytes;
  }

  heartbeat(): Buffer {
    return this.say(MESSAGE.heartbeat, Buffer.alloc(0)).bytes;
  }

  /** The general acknowledgement of one of the server's messages. */
  acknowledge(message: Pick<Message, 'serial' | 'id'>, result: number = RESULT.done): Buffer {
    const body = Buffer.allocUnsafe(5);
    body.writeUInt16BE(message.serial, 0);
    body.writeUInt16BE(message.id, 2);
    body[4] = result;
    return this.say(MESSAGE.terminalAck, body).bytes;
  }

  /**
   * Takes bytes from the server, split at any point.
   *
   * @returns its messages, each with a body of its own; a text describes bytes that are not a message
   */
  receive(chunk: Buffer): (Message | string)[] {
    const bytes = Buffer.concat([this.#received, chunk]);
    const messages: (Message | string)[] = [];
    let from = 0;
    for (;;) {
      const begin = bytes.indexOf(FLAG, from);
      const end = begin === -1 ? -1 : bytes.indexOf(FLAG, begin + 1);
      if (end === -1) break;
      if (end > begin + 1) {
        const message = readMessage(bytes, begin + 1, end);
        messages.push(typeof message === 'string' ? message : { ...message, body: Buffer.from(message.body) });
        from = end + 1;
      } else from = end;
    }
    this.#received = Buffer.from(bytes.subarray(from));
    if (this.#received.length > MAX_FRAME_BYTES) {
      this.#received = Buffer.alloc(0);
      messages.push('bytes without an end');
    }
    return messages;
  }
}

/**
 * A terminal that speaks JT/T 808 as of 2019. What the protocol can't carry: fractions of a second; places finer than
 * 1e-6 degrees; that speed, course, altitude or ignition are unknown; alarms without a bit of their own; the voltage of
 * the supply; attributes that its decoder has no name for. It registers on connecting, and shows the code it was given
 * with its first packet.
 *
 * @throws {TypeError} when the terminal's id has other characters than hexadecimal digits, or too many
 */
export const createJt808Simulator: CreateSimulator = (terminalId) => new Jt808Simulator(terminalId, 2019);

/** A JT/T 808 terminal, edition of 2013. */
export const createJt808Simulator2013: CreateSimulator = (terminalId) => new Jt808Simulator(terminalId, 2013);

class Jt808Simulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = MAX_POSITIONS;
  readonly #side: Jt808TerminalSide;
  /** The code received from the server and not yet presented. */
  #code: string | null = null;
  #unacknowledged: number[] = [];
  /** The position sent last: the answer to a request for the position. */
  #last: Position | null = null;

  constructor(terminalId: TerminalId, edition: Edition) {
    this.#side = new Jt808TerminalSide(terminalId, edition);
  }

  hello(): Buffer {
    return this.#side.register();
  }

  encode(positions: readonly Position[]): Buffer {
    if (positions.length > MAX_POSITIONS) throw new RangeError(`${positions.length} positions in a packet`);
    const authorization = this.#code === null ? Buffer.alloc(0) : this.#side.authorize(this.#code);
    this.#code = null;
    const [only] = positions;
    const { serial, bytes } =
      only !== undefined && positions.length === 1
        ? this.#side.say(MESSAGE.location, encodeLocation(only))
        : this.#side.say(MESSAGE.storedLocations, encodeLocations(positions));
    this.#last = positions.at(-1) ?? this.#last;
    this.#unacknowledged.push(serial);
    return Buffer.concat([authorization, bytes]);
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const replies: SimulatorReply[] = [];
    for (const message of this.#side.receive(chunk)) {
      if (typeof message === 'string') return [...replies, { type: 'refused', detail: message }];
      const { id, body } = message;
      if (id === MESSAGE.registered) {
        if (body[2] === REGISTRATION.done) {
          this.#code = body.toString('latin1', 3);
          replies.push({ type: 'welcome' });
        } else replies.push({ type: 'refused', detail: `the registration was answered ${body[2]}` });
      } else if (id === MESSAGE.serverAck) {
        if (body[4] !== RESULT.done)
          replies.push({ type: 'refused', detail: `message ${body.readUInt16BE(2)} was answered ${body[4]}` });
        else if (body.readUInt16BE(0) === this.#unacknowledged[0]) {
          this.#unacknowledged.shift();
          replies.push({ type: 'ack' });
        }
      } else if (ORDERS.has(id)) {
        const text = `0x${id.toString(16)} ${body.toString('hex')}`.trimEnd();
        replies.push({ type: 'command', text, answer: (isDone) => this.#obey(message, isDone) });
      }
    }
    return replies;
  }

  #obey(message: Message, isDone: boolean): Buffer {
    if (!isDone || message.id !== MESSAGE.askLocation || this.#last === null)
      return this.#side.acknowledge(message, isDone ? RESULT.done : RESULT.failed);
    const serial = new ByteWriter().u16be(message.serial).toBuffer();
    return this.#side.say(MESSAGE.locationAnswer, Buffer.concat([serial, encodeLocation(this.#last)])).bytes;
  }
}

/** Messages with which the server commands the terminal. */
const ORDERS: ReadonlySet<number> = new Set([
  MESSAGE.setParameters,
  MESSAGE.controlTerminal,
  MESSAGE.askLocation,
  MESSAGE.sendText,
]);

/** Encodes a batch of locations, as a terminal sends those that it buffered. */
export function encodeLocations(positions: readonly Position[]): Buffer {
  const out = new ByteWriter().u16be(positions.length).u8(1);
  for (const position of positions) {
    const location = encodeLocation(position);
    out.u16be(location.length).append(location);
  }
  return out.toBuffer();
}

/** The body of one location. */
export function encodeLocation(position: Position): Buffer {
  const attributes = position.attributes ?? {};
  const { latitude, longitude } = position;
  const { statusBits } = attributes;
  let status = typeof statusBits === 'number' ? clampRound(statusBits, 0, U32) & ~NAMED_STATUS : 0;
  if (position.ignition) status |= STATUS.ignition;
  if (position.valid) status |= STATUS.fix;
  if (latitude < 0) status |= STATUS.south;
  if (longitude < 0) status |= STATUS.west;
  const number = (name: string, max: number) => {
    const value = attributes[name];
    return typeof value === 'number' ? clampRound(value, 0, max) : null;
  };

  const out = new ByteWriter().u32be(number('alarmBits', U32) ?? alarmBits(position.alarms)).u32be(status >>> 0);
  out.u32be(clampRound(Math.abs(latitude) * 1e6, 0, U32)).u32be(clampRound(Math.abs(longitude) * 1e6, 0, U32));
  out.i16be(clampRound(position.altitudeM ?? 0, -32768, 32767));
  out.u16be(clampRound((position.speedKmh ?? 0) * 10, 0, 65535)).u16be(clampRound(position.courseDeg ?? 0, 0, 359));
  out.append(timeBytes(position.fixTimeMs));

  const u32 = (id: number, value: number | null) => value !== null && out.u8(id).u8(4).u32be(value);
  const u16 = (id: number, value: number | null) => value !== null && out.u8(id).u8(2).u16be(value);
  const u8 = (id: number, value: number | null) => value !== null && out.u8(id).u8(1).u8(value);
  const { odometerM, fuelL, satellites } = position;
  u32(ITEM.odometer, odometerM === null ? null : clampRound(odometerM / 100, 0, U32));
  u16(ITEM.fuel, fuelL === null ? null : clampRound(fuelL * 10, 0, 65535));
  const recorderSpeed = attributes.recorderSpeedKmh;
  u16(ITEM.recorderSpeed, typeof recorderSpeed === 'number' ? clampRound(recorderSpeed * 10, 0, 65535) : null);
  u32(ITEM.videoAlarms, number('videoAlarmBits', U32));
  u32(ITEM.vehicleSignals, number('vehicleSignalBits', U32));
  u16(ITEM.ioStatus, number('ioStatusBits', 65535));
  const [adc1, adc2] = [number('adc1', 65535), number('adc2', 65535)];
  u32(ITEM.analog, adc1 === null && adc2 === null ? null : (adc2 ?? 0) * 65536 + (adc1 ?? 0));
  u8(ITEM.signal, number('signal', 255));
  u8(ITEM.satellites, satellites === null ? null : clampRound(satellites, 0, 255));
  for (const [name, value] of Object.entries(attributes)) {
    if (!/^item[\da-f]{2}$/.test(name)) continue;
    const id = Number.parseInt(name.slice(4), 16);
    if (typeof value === 'number' && value >= 0 && value <= U32) {
      if (value <= 0xff) u8(id, value);
      else if (value <= 0xffff) u16(id, value);
      else u32(id, value);
    } else if (typeof value === 'string' && /^([\da-f]{2}){0,255}$/.test(value))
      out
        .u8(id)
        .u8(value.length / 2)
        .append(Buffer.from(value, 'hex'));
  }
  return out.toBuffer();
}

function alarmBits(alarms: readonly Alarm[]): number {
  let bits = 0;
  for (const alarm of alarms) {
    const bit = ALARM_BITS.find(([, named]) => named === alarm)?.[0];
    if (bit !== undefined) bits |= 1 << bit;
  }
  return bits >>> 0;
}
