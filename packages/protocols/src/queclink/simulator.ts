import type { Position, TerminalId } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import { textOfUtc } from '../calendar.ts';
import { crc8 } from '../crc8.ts';
import { crc16CcittFalse } from '../crc16.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { onlyPosition, requireImei } from '../simulator-input.ts';
import { EVENT_BYTES, EVENT_REPORTS, FIELD, KIND_BYTES, MOTION, PLACE_REPORTS, SHORT_FIELD } from './hex.ts';
import { ALARM_REPORTS, IGNITION_REPORTS } from './message.ts';
import { DATA, FIX, RECORD } from './records.ts';

const VERSION = '270302';
const REPORT_OF_ALARM = new Map(ALARM_REPORTS.map(([report, alarm]) => [alarm, report]));
const REPORT_OF_IGNITION = new Map([...IGNITION_REPORTS].map(([report, ignition]) => [ignition, report]));

/**
 * A Queclink terminal with text reports and server acknowledgement. What the protocol can't carry: fractions of a
 * second and of 0.1 km/h, satellites, supply and fuel, attributes, more than one alarm or an ignition beside it, tenths
 * of a kilometre of the odometer, kinds of harsh driving, `tamper` and `other`.
 *
 * @throws {TypeError} when the terminal's id is not an IMEI
 */
export const createQueclinkSimulator: CreateSimulator = (terminalId) => new QueclinkSimulator(terminalId);

/**
 * A Queclink terminal with HEX messages. They also carry satellites up to 15, the supply, and the ignition together
 * with an alarm.
 */
export const createQueclinkHexSimulator: CreateSimulator = (terminalId) => new QueclinkHexSimulator(terminalId);

/**
 * A newer Queclink terminal, which sends frames of records. They carry no alarms, supply or fuel; an unknown speed,
 * course, altitude or number of satellites is sent as 0.
 */
export const createQueclinkRecordSimulator: CreateSimulator = (terminalId) => new QueclinkRecordSimulator(terminalId);

class QueclinkSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket: number = 1;
  protected readonly imei: TerminalId;
  #count = 0;
  #received = '';
  /** Counts of answers to commands: the server acknowledges them like reports. */
  readonly #answers = new Set<string>();

  constructor(terminalId: TerminalId) {
    requireImei(terminalId);
    this.imei = terminalId;
  }

  /** No login: each report names the terminal. */
  hello(): null {
    return null;
  }

  encode(positions: readonly Position[]): Buffer {
    const position = onlyPosition(positions);
    const { latitude, longitude, valid, speedKmh, courseDeg, altitudeM, odometerM } = position;
    const time = textOfUtc(position.fixTimeMs, 'YYYYMMDD').join('');
    const fields = [
      `+RESP:${reportOf(position)}`,
      VERSION,
      this.imei,
      '',
      '',
      '10',
      '1',
      valid ? 1 : 0,
      speedKmh === null ? '' : speedKmh.toFixed(1),
      courseDeg ?? '',
      altitudeM === null ? '' : altitudeM.toFixed(1),
      longitude.toFixed(6),
      latitude.toFixed(6),
      time,
      '',
      '',
      '',
      '',
      '',
      odometerM === null ? '' : (odometerM / 1000).toFixed(1),
      time,
      hexOf(this.nextCount()),
    ];
    return Buffer.from(`${fields.join(',')}$`, 'latin1');
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const lines = (this.#received + chunk.toString('latin1')).split('$');
    this.#received = lines.pop() ?? '';
    return lines.flatMap((line): SimulatorReply[] => {
      const [, count] = /^\+SACK:([0-9A-F]{4})$/.exec(line) ?? [];
      if (count !== undefined) return this.#answers.delete(count) ? [] : [{ type: 'ack' }];
      const [, name] = /^AT[+@]([A-Z]{2,10})=/.exec(line) ?? [];
      if (name === undefined) return [{ type: 'refused', detail: line }];
      const answer = (isDone: boolean) => {
        const serial = line.split(',').at(-1) ?? '';
        const bytes = this.acknowledgement(name, serial, isDone);
        if (bytes !== null) this.#answers.add(hexOf(this.#count));
        return bytes;
      };
      return [{ type: 'command', text: line, answer }];
    });
  }

  /** The next message count. */
  protected nextCount(): number {
    this.#count = (this.#count + 1) & 0xffff;
    return this.#count;
  }

  /** Acknowledges a command. The terminal does not answer a command that it does not execute. */
  protected acknowledgement(name: string, serial: string, isDone: boolean): Buffer | null {
    if (!isDone) return null;
    const fields = [`+ACK:${name}`, VERSION, this.imei, '', serial, '20260101000000', hexOf(this.nextCount())];
    return Buffer.from(`${fields.join(',')}$`, 'latin1');
  }
}

const DEVICE_TYPE = 0x4b;
const PROTOCOL_VERSION = 0x0305;
const FIRMWARE_VERSION = 0x0318;
/** Fields present in every report. */
const ALWAYS = [
  FIELD.sendTime,
  FIELD.count,
  FIELD.length,
  FIELD.deviceType,
  FIELD.protocolVersion,
  FIELD.firmwareVersion,
  FIELD.motion,
];
const EVENT_NUMBERS = new Map([...EVENT_REPORTS].map(([number, report]) => [report, number]));
const PLACE_NUMBERS = new Map([...PLACE_REPORTS].map(([number, report]) => [report, number]));
const MASK_OF_ACKNOWLEDGEMENT = 0xff & ~(1 << SHORT_FIELD.deviceName);
/** Number of the real-time operation command. */
const REAL_TIME_OPERATION = 16;

class QueclinkHexSimulator extends QueclinkSimulator {
  readonly #writer = new ByteWriter();

  override encode(positions: readonly Position[]): Buffer {
    const position = onlyPosition(positions);
    const { valid, speedKmh, courseDeg, altitudeM, satellites, supplyV, odometerM } = position;
    const report = [reportOfAlarm(position)].find((name) => name !== undefined && isNumbered(name)) ?? 'GTFRI';
    const isEvent = EVENT_NUMBERS.has(report);
    const perhaps: readonly (readonly [bit: number, value: number | null])[] = [
      [FIELD.speed, speedKmh],
      [FIELD.azimuth, courseDeg],
      [FIELD.altitude, altitudeM],
      [FIELD.satellites, satellites],
      [FIELD.supply, supplyV],
      [FIELD.mileage, odometerM],
    ];
    const bits = [...ALWAYS, ...perhaps.filter(([, value]) => value !== null).map(([bit]) => bit)];
    const out = this.#begin(isEvent ? '+EVT' : '+RSP');
    out.u8((isEvent ? EVENT_NUMBERS : PLACE_NUMBERS).get(report) ?? 0);
    out.u32be(bits.reduce((mask, bit) => mask | (1 << bit), 0) >>> 0).u16be(0);
    const lengthAt = out.length - 2;
    this.#writeIdentity(out);
    if (supplyV !== null) out.u16be(clampRound(supplyV * 1000, 0, 0xffff));
    out.u8(motionOf(position));
    if (satellites !== null) out.u8(clampRound(satellites, 0, 15));
    if (isEvent) out.append(Buffer.alloc(EVENT_BYTES.get(report) ?? 0));
    else out.u8(0x10);
    out.u8(1).u8(valid ? 1 : 0);
    if (speedKmh !== null) writeTenths(out, speedKmh, 2);
    if (courseDeg !== null) out.u16be(courseDeg);
    if (altitudeM !== null) out.i16be(altitudeM);
    out.i32be(Math.round(position.longitude * 1e6)).i32be(Math.round(position.latitude * 1e6));
    writeTime(out, position.fixTimeMs);
    if (odometerM !== null) writeTenths(out, odometerM / 1000, 4);
    writeTime(out, position.fixTimeMs);
    const bytes = this.#end(out);
    bytes.writeUInt16BE(bytes.length, lengthAt);
    return seal(bytes);
  }

  protected override acknowledgement(_name: string, serial: string, isDone: boolean): Buffer | null {
    if (!isDone) return null;
    const out = this.#begin('+ACK').u8(REAL_TIME_OPERATION).u8(MASK_OF_ACKNOWLEDGEMENT).u8(0);
    this.#writeIdentity(out);
    out.u8(0).u16be(Number.parseInt(serial, 16));
    writeTime(out, Date.UTC(2026, 0, 1));
    const bytes = this.#end(out);
    bytes.writeUInt8(bytes.length, KIND_BYTES + 2);
    return seal(bytes);
  }

  #begin(kind: string): ByteWriter {
    return this.#writer.clear().append(Buffer.from(kind, 'latin1'));
  }

  #writeIdentity(out: ByteWriter): void {
    out.u8(DEVICE_TYPE).u16be(PROTOCOL_VERSION).u16be(FIRMWARE_VERSION);
    for (let at = 0; at < this.imei.length; at += 2) out.u8(Number(this.imei.slice(at, at + 2)));
  }

  /** Appends count, a placeholder for the checksum of {@link seal}, CR and LF. */
  #end(out: ByteWriter): Buffer {
    return out.u16be(this.nextCount()).u16be(0).u8(0x0d).u8(0x0a).toBuffer();
  }
}

/** Fills in the checksum of a HEX message. */
export function seal(bytes: Buffer): Buffer {
  const end = bytes.length - 4;
  bytes.writeUInt16BE(crc16CcittFalse(bytes, KIND_BYTES, end), end);
  return bytes;
}

const MOST_RECORDS = 16;
const GENERATION = Buffer.from('c031000a00', 'hex');

class QueclinkRecordSimulator extends QueclinkSimulator {
  override readonly maxPositionsPerPacket = MOST_RECORDS;
  readonly #writer = new ByteWriter();

  override encode(positions: readonly Position[]): Buffer {
    const count = this.nextCount();
    const out = this.#writer.clear().u8(0x2b).u8(0).u16be(0).u8(0);
    out
      .append(Buffer.from(`0${this.imei}`, 'hex'))
      .append(GENERATION)
      .u8(0);
    for (const position of positions) {
      const record = recordOf(position, count);
      out.u8(record.length + 1).append(record);
    }
    const bytes = out.u16be(count).u8(0).u8(0x24).toBuffer();
    bytes.writeUInt16BE(bytes.length, 2);
    return sealFrame(bytes);
  }

  protected override acknowledgement(name: string, serial: string, isDone: boolean): Buffer {
    const fields = [`+${isDone ? 'ACK' : 'NACK'}:${name}`, this.imei, 'C031', '10', '0', '', serial];
    return Buffer.from(`${fields.join(',')},20260101000000,${hexOf(this.nextCount())}$`, 'latin1');
  }
}

/** Fills in the checksum of a frame of records. */
export function sealFrame(bytes: Buffer): Buffer {
  bytes.writeUInt8(crc8(bytes, 0, bytes.length - 2), bytes.length - 2);
  return bytes;
}

/** Encodes a place record, without its length. */
function recordOf(position: Position, count: number): Buffer {
  const { valid, speedKmh, courseDeg, altitudeM, satellites, ignition, odometerM } = position;
  const seconds = Math.floor(position.fixTimeMs / 1000);
  const out = new ByteWriter().u32be(seconds).u16be(count).u8(RECORD.place).u8(0);
  out.u8(DATA.place).u8(22);
  // The 1 means a three-dimensional fix.
  out.u8(((valid ? FIX.fixed : FIX.none) << 2) | 1);
  out
    .i32be(Math.round(position.longitude * 1e6))
    .i32be(Math.round(position.latitude * 1e6))
    .u32be(seconds);
  out
    .u16be(clampRound((speedKmh ?? 0) * 10, 0, 0xffff))
    .u8(0xff)
    .u16be(courseDeg ?? 0);
  const altitude = ((altitudeM ?? 0) * 10) & 0xffffff;
  out
    .u8(altitude >> 16)
    .u16be(altitude & 0xffff)
    .u8(clampRound(satellites ?? 0, 0, 255));
  if (ignition !== null)
    out
      .u8(DATA.ignition)
      .u8(1)
      .u8(ignition ? 1 : 0);
  if (odometerM !== null)
    out
      .u8(DATA.mileage)
      .u8(4)
      .u32be(clampRound(odometerM, 0, 0xffffffff));
  return out.toBuffer();
}

const hexOf = (count: number) => count.toString(16).toUpperCase().padStart(4, '0');

function writeTenths(out: ByteWriter, value: number, wholeBytes: 2 | 4): void {
  const tenths = clampRound(value * 10, 0, wholeBytes === 2 ? 0x9fff5 : 0x9fffffff5);
  const whole = Math.floor(tenths / 10);
  (wholeBytes === 2 ? out.u16be(whole) : out.u32be(whole)).u8(tenths % 10);
}

function writeTime(out: ByteWriter, timeMs: number): void {
  const at = new Date(timeMs);
  out
    .u16be(at.getUTCFullYear())
    .u8(at.getUTCMonth() + 1)
    .u8(at.getUTCDate());
  out.u8(at.getUTCHours()).u8(at.getUTCMinutes()).u8(at.getUTCSeconds());
}

function motionOf({ ignition }: Position): number {
  if (ignition === null) return MOTION.unknownAtRest;
  return ignition ? MOTION.onAtRest : MOTION.offAtRest;
}

const isNumbered = (report: string) => EVENT_NUMBERS.has(report) || PLACE_NUMBERS.has(report);

const reportOfAlarm = ({ alarms }: Position): string | undefined =>
  alarms.map((alarm) => REPORT_OF_ALARM.get(alarm)).find((report) => report !== undefined);

function reportOf(position: Position): string {
  const { ignition } = position;
  return reportOfAlarm(position) ?? (ignition === null ? 'GTFRI' : (REPORT_OF_IGNITION.get(ignition) as string));
}
