import { type Alarm, type AttributeValue, NO_ALARMS, type Position } from '@outrider/domain';
import { WIRE, type WireReader, zigzagDecode } from './protobuf.ts';

/** Times are counted in seconds from 2009-01-01 00:00 UTC. */
export const EPOCH_MS = 1_230_768_000_000;

/** Field numbers of a message's groups. */
export const GROUP = { general: 2, navigation: 5, inputs: 6, can: 7 } as const;
/** Field number of the list of events that caused the message. */
export const EVENTS = 1;

/** Bits of the general group's flags. */
export const FLAG = { ignition: 1, gsmLink: 2, fix: 4, roaming: 8, reservePower: 16, panic: 32, caseOpen: 64 } as const;

export const INPUTS = 6;

/** Parameters of the CAN group, by their SAE J1939 numbers, with what one step of them is worth. */
export const SPN = { fuelPercent: 96, fuelStep: 0.4, rpm: 190, rpmStep: 0.125 } as const;
/** J1939 keeps the values above for "error" and "not available". */
export const SPN_LIMIT = { oneByte: 250, twoBytes: 0xfaff } as const;

/** More attributes than any terminal has sensors for; the rest of a message's is passed over. */
const MAX_ATTRIBUTES = 96;
const MAX_EVENTS = 32;

/**
 * Reads one message of an archive record. Unknown fields are skipped. Single numbers in unknown groups (fuel level
 * sensors among them) are kept as the attribute `group<n>.<field>`.
 *
 * The time is that of the fix, else of the message, else of the record. A message without a place is not valid and is
 * at 0/0, so that its ignition, alarms and sensors are not lost.
 *
 * @param reader opened on the message; its `failed` is set afterwards where the message could not be read
 * @param recordSeconds time of the record, in the protocol's seconds
 * @returns the position; null where the message is empty, or could not be read
 */
export function readMessage(reader: WireReader, recordSeconds: number): Position | null {
  const message = new Message();
  let group = 0;
  while (reader.offset < reader.end) {
    const tag = reader.uint32();
    const field = tag >>> 3;
    const wire = tag & 7;
    if (wire === WIRE.endGroup) {
      if (group === 0 || field !== group) reader.fail();
      group = 0;
    } else if (field === 0) reader.fail();
    else if (wire === WIRE.startGroup && group === 0) group = field;
    else if (group === 0) message.takeEvents(reader, field, wire);
    else if (group === GROUP.general && field === 3 && wire === WIRE.bytes) message.takeIButton(reader);
    else if (wire === WIRE.varint) message.take(group, field, reader.uint32());
    else if (wire === WIRE.fixed32) message.take(group, field, reader.fixed32());
    else reader.skip(wire, field);
  }
  if (group !== 0) reader.fail();
  return reader.failed ? null : message.position(recordSeconds);
}

/** What was read of a message up to now. */
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

  /** A field outside of all groups: the numbers of events, or nothing known. */
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

  takeIButton(reader: WireReader): void {
    const length = reader.length();
    if (length > 0 && length <= 16)
      this.#keep('iButton', reader.bytes.toString('hex', reader.offset, reader.offset + length));
    reader.offset += length;
  }

  /** A number of a group. */
  take(group: number, field: number, value: number): void {
    this.#isEmpty = false;
    if (group === GROUP.navigation && this.#takeNavigation(field, value)) return;
    if (group === GROUP.general && this.#takeGeneral(field, value)) return;
    const name = this.#attributeCount < MAX_ATTRIBUTES ? attributeName(group, field, value) : null;
    if (name !== null) this.#keep(name, attributeValue(group, name, value));
  }

  position(recordSeconds: number): Position | null {
    if (this.#isEmpty && this.#attributes === null) return null;
    const hasPlace = !Number.isNaN(this.#latitude) && !Number.isNaN(this.#longitude);
    const flags = this.#flags;
    const hasFlags = flags !== -1;
    if (hasFlags && (flags & FLAG.gsmLink) !== 0) this.#keep('gsmLink', true);
    if (hasFlags && (flags & FLAG.roaming) !== 0) this.#keep('roaming', true);
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
      // The terminal counts the distance since its last record alone. Its sum over the records that arrive is no
      // odometer.
      odometerM: null,
      supplyV: this.#supplyV,
      fuelL: null,
      alarms: hasFlags ? alarmsOf(flags) : NO_ALARMS,
      attributes: this.#attributes,
    };
  }

  #keep(name: string, value: AttributeValue): void {
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
  if ((flags & (FLAG.panic | FLAG.reservePower | FLAG.caseOpen)) === 0) return NO_ALARMS;
  const alarms: Alarm[] = [];
  if ((flags & FLAG.panic) !== 0) alarms.push('sos');
  if ((flags & FLAG.reservePower) !== 0) alarms.push('power-cut');
  if ((flags & FLAG.caseOpen) !== 0) alarms.push('tamper');
  return alarms;
}

/** Numbers of events, with commas between them. */
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

/**
 * What a number without a field of its own in a position is called; null where nothing is known of it in a known group.
 */
function attributeName(group: number, field: number, value: number): string | null {
  switch (group) {
    case GROUP.general:
      if (field === 5) return 'distanceM';
      if (field === 6) return 'sensorSpeedKmh';
      if (field === 7) return 'rpm';
      if (field === 9) return 'batteryPercent';
      return field === 10 ? 'accelerationG' : null;
    case GROUP.navigation:
      return null;
    case GROUP.inputs:
      return field <= INPUTS ? `input${field}` : null;
    case GROUP.can:
      if (field === SPN.fuelPercent && value <= SPN_LIMIT.oneByte) return 'canFuelPercent';
      if (field === SPN.rpm && value <= SPN_LIMIT.twoBytes) return 'canRpm';
      return `spn${field}`;
    default:
      return `group${group}.${field}`;
  }
}

function attributeValue(group: number, name: string, value: number): number {
  if (group === GROUP.inputs) return zigzagDecode(value);
  switch (name) {
    case 'accelerationG':
      return zigzagDecode(value) / 100;
    case 'distanceM':
      return value / 10;
    case 'canFuelPercent':
      // 0.4 % a step, without the binary dust of 0.4.
      return (value * 4) / 10;
    case 'canRpm':
      return value * SPN.rpmStep;
    default:
      return value;
  }
}
