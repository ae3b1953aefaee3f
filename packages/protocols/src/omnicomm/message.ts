import { type Alarm, type AttributeValue, NO_ALARMS, type Position } from '@outrider/domain';
import { WIRE, WireReader, zigzagDecode } from './protobuf.ts';

/** Times are counted in seconds from 2009-01-01 00:00 UTC. */
export const EPOCH_MS = 1_230_768_000_000;

/** Field numbers of a message's groups. */
export const GROUP = { general: 2, photo: 4, navigation: 5, inputs: 6, can: 7, levels: 8, other: 9, log: 16 } as const;
/** Field numbers of the groups within group `other`. */
export const SUBGROUP = { oneWire: 1, periphery: 2 } as const;
/** Field number of the list of events that caused the message. */
export const EVENTS = 1;

/** Bits of the general group's flags. */
export const FLAG = {
  ignition: 1,
  gsmLink: 2,
  fix: 4,
  roaming: 8,
  reservePower: 16,
  panic: 32,
  caseOpen: 64,
  output: 128,
  jamming: 0x600,
} as const;

export const INPUTS = 6;

/** Parameters of the CAN group: SAE J1939 numbers, and the value of one step. */
export const SPN = { fuelPercent: 96, fuelStep: 0.4, rpm: 190, rpmStep: 0.125 } as const;
/** Highest valid raw values; J1939 reserves the values above for "error" and "not available". */
export const SPN_LIMIT = { oneByte: 250, twoBytes: 0xfaff, fourBytes: 0xfaff_ffff } as const;

interface CommonSpn {
  name: string;
  limit: number;
  /** The value of a raw value, by SAE J1939-71. */
  valueOf(raw: number): number;
}
/** Parameters with a common name. The terminal's own name, `spn<number>`, is kept in addition. */
const COMMON_SPN: Readonly<Record<number, CommonSpn>> = {
  84: { name: 'canSpeedKmh', limit: SPN_LIMIT.twoBytes, valueOf: (raw) => raw / 256 },
  91: { name: 'throttlePercent', limit: SPN_LIMIT.oneByte, valueOf: (raw) => (raw * 4) / 10 },
  110: { name: 'engineTemperatureC', limit: SPN_LIMIT.oneByte, valueOf: (raw) => raw - 40 },
  245: { name: 'canOdometerM', limit: SPN_LIMIT.fourBytes, valueOf: (raw) => raw * 125 },
  247: { name: 'engineHours', limit: SPN_LIMIT.fourBytes, valueOf: (raw) => raw / 20 },
  250: { name: 'fuelUsedL', limit: SPN_LIMIT.fourBytes, valueOf: (raw) => raw / 2 },
  917: { name: 'canOdometerM', limit: SPN_LIMIT.fourBytes, valueOf: (raw) => raw * 5 },
  1624: { name: 'tachographSpeedKmh', limit: SPN_LIMIT.twoBytes, valueOf: (raw) => raw / 256 },
};

/** Temperature, level and state of each fuel level sensor. */
const FIELDS_OF_LEVEL = 3;
export const LEVEL_SENSORS = 6;
export const ONE_WIRE_SENSORS = 8;
const DOORS = 8;
/** Maximum number of bytes kept of a field; longer fields (a photo, a log of the terminal) are skipped. */
const MAX_BYTES = 128;
/** Length of a 1-Wire key: family, number and checksum. */
const KEY_BYTES = 8;

/** Exceeds the sensors of any terminal; further attributes of a message are skipped. */
const MAX_ATTRIBUTES = 96;
const MAX_EVENTS = 32;

/**
 * Reads one message of an archive record. An unknown field is kept as `group<n>.<field>`, and within a nested group as
 * `group<n>.<group>.<field>`: numbers unchanged, bytes in hexadecimal.
 *
 * The time is that of the fix, else of the message, else of the record. A message without a place becomes a position
 * that is not valid at 0/0, so that its ignition, alarms and sensors are not lost.
 *
 * @param reader opened on the message; its `failed` is set afterwards where the message could not be read
 * @param recordSeconds time of the record, in the protocol's seconds
 * @returns the position; null where the message is empty, or could not be read
 */
export function readMessage(reader: WireReader, recordSeconds: number): Position | null {
  const message = new Message();
  let group = 0;
  let inner = 0;
  while (reader.offset < reader.end) {
    const tag = reader.uint32();
    const field = tag >>> 3;
    const wire = tag & 7;
    if (wire === WIRE.endGroup) {
      if (group === 0 || field !== (inner || group)) reader.fail();
      if (inner !== 0) inner = 0;
      else group = 0;
    } else if (field === 0) reader.fail();
    else if (wire === WIRE.startGroup && group === 0) group = field;
    else if (wire === WIRE.startGroup && inner === 0) inner = field;
    else if (group === 0) message.takeEvents(reader, field, wire);
    else if (wire === WIRE.varint) message.take(group, inner, field, reader.uint32());
    else if (wire === WIRE.fixed32) message.take(group, inner, field, reader.fixed32());
    else if (wire === WIRE.bytes) message.takeBytes(reader, group, inner, field);
    else reader.skip(wire, field);
  }
  if (group !== 0) reader.fail();
  return reader.failed ? null : message.position(recordSeconds);
}

/** The values of a message that have already been read. */
class Message {
  #isEmpty = true;
  #generalSeconds = 0;
  #fixSeconds = 0;
  #flags = -1;
  #latitude = Number.NaN;
  #longitude = Number.NaN;
  #speedKmh: number | null = null;
  #courseDeg: number | null = null;
  #altitudeM: number | null = null;
  #satellites: number | null = null;
  #supplyV: number | null = null;
  #attributes: Record<string, AttributeValue> | null = null;
  #attributeCount = 0;

  /** Reads a field outside of all groups: event numbers, or an unknown field. */
  takeEvents(reader: WireReader, field: number, wire: number): void {
    if (field !== EVENTS || (wire !== WIRE.bytes && wire !== WIRE.varint)) {
      reader.skip(wire, field);
      return;
    }
    const events = readEvents(reader, wire);
    if (events === '') return;
    const before = this.#attributes?.events;
    this.#keep('events', typeof before === 'string' ? `${before},${events}` : events);
    this.#isEmpty = false;
  }

  takeBytes(reader: WireReader, group: number, inner: number, field: number): void {
    const length = reader.length();
    const at = reader.offset;
    reader.offset += length;
    if (reader.failed || length === 0 || length > MAX_BYTES || this.#attributeCount >= MAX_ATTRIBUTES) return;
    if (group === GROUP.photo || group === GROUP.log) return;
    if (group === GROUP.can) this.#keep(`spn${field}`, listOf(reader.bytes, at, at + length));
    else if (group === GROUP.general && field === 3) {
      const key = reader.bytes.subarray(at, at + length);
      this.#keep('iButton', key.toString('hex'));
      this.#keep('driverCode', printedKey(key));
    } else {
      const name =
        group === GROUP.general && field === 11
          ? 'phone'
          : group === GROUP.other && inner === SUBGROUP.periphery && field === 5
            ? 'tpms'
            : ownName(group, inner, field);
      this.#keep(name, reader.bytes.toString('hex', at, at + length));
    }
  }

  /** Takes a number of a group, or of a group nested in it (`inner`, 0 for none). */
  take(group: number, inner: number, field: number, value: number): void {
    this.#isEmpty = false;
    if (inner === 0) {
      if (group === GROUP.navigation && this.#takeNavigation(field, value)) return;
      if (group === GROUP.general && this.#takeGeneral(field, value)) return;
    }
    if (this.#attributeCount >= MAX_ATTRIBUTES) return;
    if (inner !== 0) return this.#takeNested(group, inner, field, value);
    if (group === GROUP.levels && field <= LEVEL_SENSORS * FIELDS_OF_LEVEL) return this.#takeLevel(field, value);
    const name = attributeName(group, field, value);
    if (name === null) return;
    this.#keep(name, attributeValue(group, name, value));
    if (group === GROUP.can) this.#takeCommonSpn(field, value);
    else if (name === 'distanceM') this.#keep('tripM', value / 10);
  }

  /** Takes a value of a fuel level sensor. The vehicle's calibration table converts it to litres. */
  #takeLevel(field: number, value: number): void {
    const sensor = Math.ceil(field / FIELDS_OF_LEVEL);
    const kind = (field - 1) % FIELDS_OF_LEVEL;
    if (kind === 0) this.#keep(`fuel${sensor}C`, zigzagDecode(value));
    else if (kind === 1) this.#keep(`fuelLevel${sensor}`, value);
    else this.#keep(`fuelLevel${sensor}State`, zigzagDecode(value));
  }

  #takeNested(group: number, inner: number, field: number, value: number): void {
    if (group === GROUP.other && inner === SUBGROUP.oneWire && field <= ONE_WIRE_SENSORS)
      return this.#keep(`temperature${field}C`, zigzagDecode(value));
    if (group === GROUP.other && inner === SUBGROUP.periphery) {
      if (field === 1) return this.#keep('passengersIn', value);
      if (field === 2) return this.#keep('passengersOut', value);
      if (field === 4) return this.#keep('driverStatus', value);
      if (field === 3) {
        this.#keep('doorMask', value);
        for (let door = 1; door <= DOORS; door++) this.#keep(`door${door}`, ((value >>> (door - 1)) & 1) === 1);
        return;
      }
    }
    this.#keep(ownName(group, inner, field), value);
  }

  #takeCommonSpn(number: number, value: number): void {
    if (number === SPN.fuelPercent && value <= SPN_LIMIT.oneByte) this.#keep('fuel1Percent', (value * 4) / 10);
    // The terminal's own sensor, where present, takes precedence for the engine speed.
    if (number === SPN.rpm && value <= SPN_LIMIT.twoBytes && this.#attributes?.rpm === undefined)
      this.#keep('rpm', value * SPN.rpmStep);
    const common = COMMON_SPN[number];
    if (common !== undefined && value <= common.limit) this.#keep(common.name, common.valueOf(value));
  }

  position(recordSeconds: number): Position | null {
    if (this.#isEmpty && this.#attributes === null) return null;
    const hasPlace = !Number.isNaN(this.#latitude) && !Number.isNaN(this.#longitude);
    const flags = this.#flags;
    const hasFlags = flags !== -1;
    if (hasFlags && (flags & FLAG.gsmLink) !== 0) this.#keep('gsmLink', true);
    if (hasFlags && (flags & FLAG.roaming) !== 0) this.#keep('roaming', true);
    if (hasFlags) this.#keep('output1', (flags & FLAG.output) !== 0);
    if (this.#supplyV !== null) this.#keep('externalPowerV', this.#supplyV);
    return {
      // 0 is the clock of a terminal that does not know the time yet.
      fixTimeMs: EPOCH_MS + (this.#fixSeconds || this.#generalSeconds || recordSeconds) * 1000,
      latitude: hasPlace ? this.#latitude : 0,
      longitude: hasPlace ? this.#longitude : 0,
      valid: hasPlace && (!hasFlags || (flags & FLAG.fix) !== 0),
      speedKmh: this.#speedKmh,
      courseDeg: this.#courseDeg,
      altitudeM: this.#altitudeM,
      satellites: this.#satellites,
      ignition: hasFlags ? (flags & FLAG.ignition) !== 0 : null,
      // The terminal sends only the distance since its last record. A sum over the records that arrive is no odometer.
      odometerM: null,
      supplyV: this.#supplyV,
      fuelL: null,
      alarms: hasFlags ? alarmsOf(flags) : NO_ALARMS,
      attributes: this.#attributes,
    };
  }

  #keep(name: string, value: AttributeValue): void {
    this.#isEmpty = false;
    this.#attributes ??= {};
    this.#attributes[name] = value;
    this.#attributeCount++;
  }

  /** @returns false where the field is not one of a position */
  #takeNavigation(field: number, value: number): boolean {
    switch (field) {
      case 1:
        this.#latitude = zigzagDecode(value) / 1e7;
        return true;
      case 2:
        this.#longitude = zigzagDecode(value) / 1e7;
        return true;
      case 3:
        this.#speedKmh = value / 10;
        return true;
      case 4:
        this.#courseDeg = value < 360 ? value : value === 360 ? 0 : null;
        return true;
      case 5:
        this.#satellites = value <= 255 ? value : null;
        return true;
      case 6:
        this.#altitudeM = Math.round(zigzagDecode(value) / 10) + 0;
        return true;
      case 7:
        this.#fixSeconds = value;
        return true;
      default:
        return false;
    }
  }

  /** @returns false where the field is an attribute */
  #takeGeneral(field: number, value: number): boolean {
    switch (field) {
      case 1:
        this.#generalSeconds = value;
        return true;
      case 2:
        // The terminal's own number, known from the identification.
        return true;
      case 4:
        this.#flags = value;
        return true;
      case 8:
        this.#supplyV = value / 10;
        return true;
      default:
        return false;
    }
  }
}

function alarmsOf(flags: number): readonly Alarm[] {
  if ((flags & (FLAG.panic | FLAG.reservePower | FLAG.caseOpen | FLAG.jamming)) === 0) return NO_ALARMS;
  const alarms: Alarm[] = [];
  if ((flags & FLAG.panic) !== 0) alarms.push('sos');
  if ((flags & FLAG.reservePower) !== 0) alarms.push('power-cut');
  if ((flags & FLAG.caseOpen) !== 0) alarms.push('tamper');
  if ((flags & FLAG.jamming) !== 0) alarms.push('jamming');
  return alarms;
}

/** Reads event numbers, separated by commas. */
function readEvents(reader: WireReader, wire: number): string {
  if (wire === WIRE.varint) return String(reader.uint32());
  const length = reader.length();
  const end = reader.offset + length;
  let events = '';
  for (let count = 0; reader.offset < end && !reader.failed; count++) {
    const event = reader.uint32();
    if (count < MAX_EVENTS) events += events === '' ? event : `,${event}`;
  }
  if (reader.offset !== end && !reader.failed) reader.fail();
  return events;
}

/** The attribute name of a number that is no field of a position; null where the number is unknown in a known group. */
function attributeName(group: number, field: number, value: number): string | null {
  switch (group) {
    case GROUP.general:
      if (field === 5) return 'distanceM';
      if (field === 6) return 'sensorSpeedKmh';
      if (field === 7) return 'rpm';
      if (field === 9) return 'batteryPercent';
      if (field === 10) return 'accelerationG';
      return field >= 12 && field <= 14 ? `acceleration${'XYZ'[field - 12]}` : null;
    case GROUP.navigation:
      return null;
    case GROUP.inputs:
      return field <= INPUTS ? `input${field}` : null;
    case GROUP.can:
      if (field === SPN.fuelPercent && value <= SPN_LIMIT.oneByte) return 'canFuelPercent';
      if (field === SPN.rpm && value <= SPN_LIMIT.twoBytes) return 'canRpm';
      return `spn${field}`;
    default:
      return ownName(group, 0, field);
  }
}

function ownName(group: number, inner: number, field: number): string {
  return inner === 0 ? `group${group}.${field}` : `group${group}.${inner}.${field}`;
}

/** Reads the values of a parameter that has several, separated by commas. */
function listOf(bytes: Buffer, from: number, to: number): string {
  const reader = new WireReader();
  reader.open(bytes, from, to);
  const values: number[] = [];
  while (reader.offset < reader.end) values.push(reader.uint32());
  return reader.failed ? bytes.toString('hex', from, to) : values.join();
}

/** The code printed on a key, which has the checksum first; keys are read with their family first. */
function printedKey(bytes: Buffer): string {
  const isAsRead = bytes.length === KEY_BYTES && crc8Dallas(bytes, 0, KEY_BYTES - 1) === bytes[KEY_BYTES - 1];
  return (isAsRead ? Buffer.from(bytes).reverse() : bytes).toString('hex').toUpperCase();
}

/** CRC-8 of 1-Wire devices: polynomial 0x31, reflected. */
function crc8Dallas(bytes: Uint8Array, from: number, to: number): number {
  let crc = 0;
  for (let i = from; i < to; i++) {
    crc ^= bytes[i] as number;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x8c : crc >>> 1;
  }
  return crc;
}

function attributeValue(group: number, name: string, value: number): number {
  if (group === GROUP.inputs) return zigzagDecode(value);
  switch (name) {
    case 'accelerationX':
    case 'accelerationY':
    case 'accelerationZ':
      return zigzagDecode(value);
    case 'accelerationG':
      return zigzagDecode(value) / 100;
    case 'distanceM':
      return value / 10;
    case 'canFuelPercent':
      // Steps of 0.4 %, without the rounding error of 0.4.
      return (value * 4) / 10;
    case 'canRpm':
      return value * SPN.rpmStep;
    default:
      return value;
  }
}
