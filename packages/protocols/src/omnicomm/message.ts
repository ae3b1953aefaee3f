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
 * Reads one message of an archive record. Fields that nothing is known of are passed over; single numbers in groups that nothing
 * is known of (fuel level sensors among them) are kept as they stand, as the attribute `group<n>.<field>`.
 *
 * The time is that of the fix, else of the message, else of the record. A message without a place is not valid and stands at
 * 0/0, so that its ignition, alarms and sensors are not lost.
 *
 * @param reader opened on the message; its `failed` tells afterwards whether the message could be read
 * @param recordSeconds time of the record, in the protocol's seconds
 * @returns the position; null where the message says nothing, or could not be read
 */
export function readMessage(reader: WireReader, recordSeconds: number): Position | null {
  let group = 0;
  let empty = true;
  let generalSeconds = 0;
  let fixSeconds = 0;
  let flags = -1;
  let latitude = Number.NaN;
  let longitude = Number.NaN;
  let speedKmh: number | null = null;
  let courseDeg: number | null = null;
  let altitudeM: number | null = null;
  let satellites: number | null = null;
  let supplyV: number | null = null;
  let attributes: Record<string, AttributeValue> | null = null;
  let held = 0;

  while (reader.offset < reader.end) {
    const tag = reader.uint32();
    const field = tag >>> 3;
    const wire = tag & 7;

    if (wire === WIRE.endGroup) {
      if (group === 0 || field !== group) reader.fail();
      group = 0;
      continue;
    }
    if (field === 0) {
      reader.fail();
      continue;
    }
    if (wire === WIRE.startGroup) {
      if (group === 0) group = field;
      else reader.skip(wire, field);
      continue;
    }
    if (group === 0) {
      if (field !== EVENTS || (wire !== WIRE.bytes && wire !== WIRE.varint)) {
        reader.skip(wire, field);
        continue;
      }
      const events = readEvents(reader, wire);
      if (events !== '') {
        attributes ??= {};
        attributes.events = typeof attributes.events === 'string' ? `${attributes.events},${events}` : events;
        held++;
        empty = false;
      }
      continue;
    }
    if (wire === WIRE.bytes && group === GROUP.general && field === 3) {
      const length = reader.length();
      if (length > 0 && length <= 16) {
        attributes ??= {};
        attributes.iButton = reader.bytes.toString('hex', reader.offset, reader.offset + length);
        held++;
      }
      reader.offset += length;
      continue;
    }
    if (wire !== WIRE.varint && wire !== WIRE.fixed32) {
      reader.skip(wire, field);
      continue;
    }

    const value = wire === WIRE.varint ? reader.uint32() : reader.fixed32();
    empty = false;
    if (group === GROUP.navigation) {
      switch (field) {
        case 1:
          latitude = zigzagDecode(value) / 1e7;
          continue;
        case 2:
          longitude = zigzagDecode(value) / 1e7;
          continue;
        case 3:
          speedKmh = value / 10;
          continue;
        case 4:
          courseDeg = value < 360 ? value : value === 360 ? 0 : null;
          continue;
        case 5:
          satellites = value <= 255 ? value : null;
          continue;
        case 6:
          altitudeM = Math.round(zigzagDecode(value) / 10) + 0;
          continue;
        case 7:
          fixSeconds = value;
          continue;
      }
    } else if (group === GROUP.general) {
      switch (field) {
        case 1:
          generalSeconds = value;
          continue;
        case 2:
          // The terminal's own number: the identification said it before.
          continue;
        case 4:
          flags = value;
          continue;
        case 8:
          supplyV = value / 10;
          continue;
      }
    }
    const name = held < MAX_ATTRIBUTES ? attributeName(group, field, value) : null;
    if (name === null) continue;
    attributes ??= {};
    attributes[name] = attributeValue(group, name, value);
    held++;
  }
  if (group !== 0) reader.fail();
  if (reader.failed || (empty && attributes === null)) return null;

  const placed = !Number.isNaN(latitude) && !Number.isNaN(longitude);
  let alarms: readonly Alarm[] = NO_ALARMS;
  let valid = placed;
  let ignition: boolean | null = null;
  if (flags !== -1) {
    ignition = (flags & FLAG.ignition) !== 0;
    valid = placed && (flags & FLAG.fix) !== 0;
    alarms = alarmsOf(flags);
    if ((flags & FLAG.gsmLink) !== 0) {
      attributes ??= {};
      attributes.gsmLink = true;
    }
    if ((flags & FLAG.roaming) !== 0) {
      attributes ??= {};
      attributes.roaming = true;
    }
  }

  return {
    // 0 is the clock of a terminal that has not learned the time yet.
    fixTimeMs: EPOCH_MS + (fixSeconds || generalSeconds || recordSeconds) * 1000,
    latitude: placed ? latitude : 0,
    longitude: placed ? longitude : 0,
    valid,
    speedKmh,
    courseDeg,
    altitudeM,
    satellites,
    ignition,
    // The terminal counts the distance since its last record alone. Its sum over the records that arrive is no odometer.
    odometerM: null,
    supplyV,
    fuelL: null,
    alarms,
    attributes,
  };
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

/** What a number without a field of its own in a position is called; null where nothing is known of it in a known group. */
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
