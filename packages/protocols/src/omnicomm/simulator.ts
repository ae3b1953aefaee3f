import type { Position, TerminalId } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import type { CreateSimulator, SimulatorReply, TerminalSimulator } from '../protocol.ts';
import { clampRound } from '../rounding.ts';
import { buildFrame, COMMAND, FrameReader, MAX_DATA_BYTES } from './frame.ts';
import {
  EPOCH_MS,
  EVENTS,
  FLAG,
  GROUP,
  INPUTS,
  LEVEL_SENSORS,
  ONE_WIRE_SENSORS,
  SPN,
  SPN_LIMIT,
  SUBGROUP,
} from './message.ts';
import { WIRE, zigzagEncode } from './protobuf.ts';

const MAX_POSITIONS = 50;
const FIRMWARE = 0x0001_0000;
const U32 = 0xffffffff;
const MIN_S32 = -0x8000_0000;
const MAX_S32 = 0x7fff_ffff;
const ORDINARY_PRIORITY = 0;
/** Flag of the satellite signal. */
const JAMMING = 0x200;

/**
 * An Omnicomm terminal. It sends its odometer as the distance since its last record, which arrives as the attribute
 * `distanceM`. What the protocol can't carry: the odometer itself; fractions of a second; litres of fuel; that the
 * ignition is unknown, once any of the flags that it shares a field with has to be reported; alarms other than `sos`,
 * `power-cut`, `tamper` and `jamming`; attributes that its decoder has no name for.
 *
 * @throws {TypeError} when the terminal's id is not a whole number of at most 32 bits
 */
export const createOmnicommSimulator: CreateSimulator = (terminalId) => new OmnicommSimulator(terminalId);

class OmnicommSimulator implements TerminalSimulator {
  readonly maxPositionsPerPacket = MAX_POSITIONS;
  readonly #id: number;
  readonly #record = new ByteWriter();
  readonly #frame = new FrameReader();
  #received: Buffer = Buffer.alloc(0);
  #nextNumber = 1;
  #unacknowledged: number[] = [];
  /** Odometer of the last record that had one. */
  #odometerM: number | null = null;

  constructor(terminalId: TerminalId) {
    this.#id = Number(terminalId);
    if (!/^\d{1,10}$/.test(terminalId) || this.#id > U32)
      throw new TypeError(`an Omnicomm terminal's id is a number of 32 bits, not ${terminalId}`);
  }

  hello(): Buffer {
    const data = this.#record.clear().u32le(this.#id).u32le(FIRMWARE).view();
    return buildFrame(COMMAND.identification, data, 'low-first');
  }

  encode(positions: readonly Position[]): Buffer {
    if (positions.length > MAX_POSITIONS) throw new RangeError(`${positions.length} positions in a packet`);
    const number = this.#nextNumber;
    const record = this.#record
      .clear()
      .u32le(number)
      .u32le(secondsOf(positions[0]?.fixTimeMs ?? EPOCH_MS));
    record.u8(ORDINARY_PRIORITY);
    for (const position of positions) {
      const lengthAt = record.length;
      record.u16le(0);
      writeMessage(record, position, this.#id, this.#distanceSinceLastM(position));
      record.patchU16le(record.length - lengthAt - 2, lengthAt);
    }
    if (record.length > MAX_DATA_BYTES) throw new RangeError(`a record of ${record.length} bytes`);
    this.#nextNumber = (number + 1) >>> 0;
    this.#unacknowledged.push(number);
    return buildFrame(COMMAND.archiveData, record.view(), 'low-first');
  }

  /** Distance since the last record; null where it is unknown. */
  #distanceSinceLastM({ odometerM, attributes }: Position): number | null {
    const beforeM = this.#odometerM;
    this.#odometerM = odometerM ?? beforeM;
    if (typeof attributes?.distanceM === 'number') return attributes.distanceM;
    return odometerM === null || beforeM === null || odometerM < beforeM ? null : odometerM - beforeM;
  }

  receive(chunk: Buffer): SimulatorReply[] {
    const replies: SimulatorReply[] = [];
    const bytes = Buffer.concat([this.#received, chunk]);
    let from = 0;
    while (from < bytes.length) {
      const taken = this.#frame.read(bytes, from);
      if (taken === 0) {
        if (this.#frame.fault === null) break;
        this.#received = Buffer.alloc(0);
        return [...replies, { type: 'refused', detail: this.#frame.fault }];
      }
      from += taken;
      this.#answer(replies);
    }
    this.#received = bytes.subarray(from);
    return replies;
  }

  #answer(replies: SimulatorReply[]): void {
    const { command, bytes, dataStart, dataEnd } = this.#frame;
    if (dataEnd - dataStart !== 4) {
      replies.push({ type: 'refused', detail: `command ${command} with ${dataEnd - dataStart} bytes` });
      return;
    }
    const number = bytes.readUInt32LE(dataStart);
    if (command === COMMAND.archiveRequest) {
      if (number !== 0) this.#nextNumber = number;
      replies.push({ type: 'welcome' });
    } else if (command === COMMAND.archiveDurable) {
      let oldest = this.#unacknowledged[0];
      while (oldest !== undefined && oldest < number) {
        this.#unacknowledged.shift();
        replies.push({ type: 'ack' });
        oldest = this.#unacknowledged[0];
      }
    } else replies.push({ type: 'refused', detail: `command ${command}` });
  }
}

function secondsOf(timeMs: number): number {
  return Math.min(U32, Math.max(0, Math.floor((timeMs - EPOCH_MS) / 1000)));
}

function writeMessage(
  out: ByteWriter,
  position: Position,
  terminalNumber: number,
  distanceSinceLastM: number | null,
): void {
  const attributes = position.attributes ?? {};
  const number = (field: number, value: number) => out.varint((field << 3) | WIRE.varint).varint(value);
  const numberOf = (field: number, name: string, max = U32, step = 1) => {
    const value = attributes[name];
    if (typeof value === 'number' && value >= 0) number(field, clampRound(value / step, 0, max));
  };
  const signedOf = (field: number, name: string, step = 1) => {
    const value = attributes[name];
    if (typeof value === 'number') number(field, zigzagEncode(clampRound(value / step, MIN_S32, MAX_S32)));
  };
  const open = (group: number) => out.varint((group << 3) | WIRE.startGroup);
  const close = (group: number) => out.varint((group << 3) | WIRE.endGroup);

  const { events } = attributes;
  if (typeof events === 'string' && /^\d{1,10}(,\d{1,10})*$/.test(events)) {
    const packed = new ByteWriter();
    for (const event of events.split(',')) packed.varint(Number(event));
    out
      .varint((EVENTS << 3) | WIRE.bytes)
      .varint(packed.length)
      .append(packed.view());
  }

  const seconds = secondsOf(position.fixTimeMs);
  open(GROUP.general);
  number(1, seconds);
  number(2, terminalNumber);
  const { iButton } = attributes;
  if (typeof iButton === 'string' && /^([0-9a-f]{2}){1,16}$/.test(iButton))
    out
      .varint((3 << 3) | WIRE.bytes)
      .varint(iButton.length / 2)
      .append(Buffer.from(iButton, 'hex'));
  const reported = flagsOf(position);
  // The flags are omitted only for a valid fix without other flags and with an unknown ignition.
  if (reported !== FLAG.fix || position.ignition !== null) number(4, reported);
  if (distanceSinceLastM !== null && distanceSinceLastM >= 0) number(5, clampRound(distanceSinceLastM * 10, 0, U32));
  numberOf(6, 'sensorSpeedKmh');
  numberOf(7, 'rpm');
  if (position.supplyV !== null) number(8, clampRound(position.supplyV * 10, 0, U32));
  numberOf(9, 'batteryPercent', 100);
  signedOf(10, 'accelerationG', 0.01);
  close(GROUP.general);

  open(GROUP.navigation);
  number(1, zigzagEncode(clampRound(position.latitude * 1e7, -900_000_000, 900_000_000)));
  number(2, zigzagEncode(clampRound(position.longitude * 1e7, -1_800_000_000, 1_800_000_000)));
  if (position.speedKmh !== null) number(3, clampRound(position.speedKmh * 10, 0, U32));
  if (position.courseDeg !== null) number(4, clampRound(position.courseDeg, 0, 360) % 360);
  if (position.satellites !== null) number(5, clampRound(position.satellites, 0, 255));
  if (position.altitudeM !== null) number(6, zigzagEncode(clampRound(position.altitudeM * 10, -1_000_000, 1_000_000)));
  number(7, seconds);
  close(GROUP.navigation);

  if (hasName(attributes, /^input[1-6]$/)) {
    open(GROUP.inputs);
    for (let input = 1; input <= INPUTS; input++) signedOf(input, `input${input}`);
    close(GROUP.inputs);
  }
  if (hasName(attributes, /^(spn\d{1,6}|canRpm|canFuelPercent)$/)) {
    open(GROUP.can);
    numberOf(SPN.fuelPercent, 'canFuelPercent', SPN_LIMIT.oneByte, SPN.fuelStep);
    numberOf(SPN.rpm, 'canRpm', SPN_LIMIT.twoBytes, SPN.rpmStep);
    for (const name of Object.keys(attributes))
      if (/^spn[1-9]\d{0,5}$/.test(name)) numberOf(Number(name.slice(3)), name);
    close(GROUP.can);
  }
  if (hasName(attributes, /^fuel(Level[1-6](State)?|[1-6]C)$/)) {
    open(GROUP.levels);
    for (let sensor = 1; sensor <= LEVEL_SENSORS; sensor++) {
      signedOf(3 * sensor - 2, `fuel${sensor}C`);
      numberOf(3 * sensor - 1, `fuelLevel${sensor}`);
      signedOf(3 * sensor, `fuelLevel${sensor}State`);
    }
    close(GROUP.levels);
  }
  const hasTemperature = hasName(attributes, /^temperature[1-8]C$/);
  const hasPeriphery = hasName(attributes, /^(passengersIn|passengersOut|doorMask|driverStatus)$/);
  if (hasTemperature || hasPeriphery) {
    open(GROUP.other);
    if (hasTemperature) {
      open(SUBGROUP.oneWire);
      for (let sensor = 1; sensor <= ONE_WIRE_SENSORS; sensor++) signedOf(sensor, `temperature${sensor}C`);
      close(SUBGROUP.oneWire);
    }
    if (hasPeriphery) {
      open(SUBGROUP.periphery);
      numberOf(1, 'passengersIn');
      numberOf(2, 'passengersOut');
      numberOf(3, 'doorMask');
      numberOf(4, 'driverStatus');
      close(SUBGROUP.periphery);
    }
    close(GROUP.other);
  }
}

function flagsOf({ valid, ignition, alarms, attributes }: Position): number {
  return (
    (ignition === true ? FLAG.ignition : 0) |
    (valid ? FLAG.fix : 0) |
    (attributes?.gsmLink === true ? FLAG.gsmLink : 0) |
    (attributes?.roaming === true ? FLAG.roaming : 0) |
    (alarms.includes('power-cut') ? FLAG.reservePower : 0) |
    (alarms.includes('sos') ? FLAG.panic : 0) |
    (alarms.includes('tamper') ? FLAG.caseOpen : 0) |
    (alarms.includes('jamming') ? JAMMING : 0) |
    (attributes?.output1 === true ? FLAG.output : 0)
  );
}

function hasName(attributes: NonNullable<Position['attributes']>, pattern: RegExp): boolean {
  return Object.keys(attributes).some((name) => pattern.test(name));
}
