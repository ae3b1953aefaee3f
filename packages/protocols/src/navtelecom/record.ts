import { type Alarm, type AttributeValue, blankPosition, type Position } from '@outrider/domain';
import { setStates, signalPercentOfCsq } from '../attributes.ts';
import { courseOf } from '../degrees.ts';
import { type Field, type Layout, readField } from './fields.ts';

/** Numbers, in the maker's table, of the fields that are read as more than an attribute. */
export const FIELD = {
  recordNumber: 1,
  event: 2,
  time: 3,
  status: 4,
  gsm: 7,
  fix: 8,
  fixTime: 9,
  latitude: 10,
  longitude: 11,
  altitude: 12,
  speed: 13,
  course: 14,
  odometer: 15,
  supplyMv: 19,
  batteryMv: 20,
  inputs: 29,
  inputsHigh: 30,
  outputs: 31,
  generatorSeconds: 37,
  levelRs232: 44,
  fuelLevel: 53,
  fuelUsed: 54,
  rpm: 55,
  coolant: 56,
  canOdometer: 57,
  throttle: 63,
  canSpeed: 69,
  precision: 71,
} as const;

/** Bits of the receiver's state; the other bits count satellites. */
export const FIX = { on: 0x01, valid: 0x02, satellitesShift: 2 } as const;
/** Bits of the device's state. */
const STATUS = { alarm: 0x04, modeShift: 3, modeMask: 0x03, towed: 0x20 } as const;
/** Modes: watching, armed, armed further, service. The second and the third count as armed. */
const ARMED_MODES: ReadonlySet<number> = new Set([1, 2]);

/** Units of a place: ten-thousandths of a minute. */
export const PLACE_PER_DEGREE = 600_000;

const FIRST_ANALOG = 21;
const FIRST_LEVEL = 38;
const FIRST_TEMPERATURE = 45;
const FIRST_FUEL_TEMPERATURE = 78;
/** Bit of the fuel level: tenths of a litre instead of percent. */
const IN_LITRES = 0x8000;
const NO_FUEL = 0x7fff;
/** Number of the first field with level and temperature: those of the seventh and later sensors. */
const FIRST_LEVEL_WITH_TEMPERATURE = 84;
/** Number of the RS-232 sensor, after the 16 RS-485 sensors. */
const LEVEL_OF_RS232 = 17;
/** Higher values are fault codes; 65535 means no sensor. */
const MAX_LEVEL = 65_500;
/** Value of a missing sensor. */
const NO_TEMPERATURE = -128;

const within = (number: number, first: number, count: number): boolean => number >= first && number < first + count;

/**
 * Reads a record. Fields are kept under their numbers, as `flex21`, in addition to the common names. No input is read
 * as the ignition: only the installer knows the wiring.
 *
 * @returns null where it has no time
 */
export function readRecord(layout: Layout, bytes: Buffer, from: number): Position | null {
  const values = new Map<number, AttributeValue>();
  for (const field of layout.fields) {
    const value = readField(field, bytes, from);
    if (value !== null) values.set(field.number, value);
  }
  const number = (field: number): number | null => {
    const value = values.get(field);
    return typeof value === 'number' ? value : null;
  };
  const time = number(FIELD.time);
  if (time === null) return null;
  const latitude = (number(FIELD.latitude) ?? 0) / PLACE_PER_DEGREE;
  const longitude = (number(FIELD.longitude) ?? 0) / PLACE_PER_DEGREE;
  const isPlace = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  const position = blankPosition(time * 1000, isPlace ? latitude : 0, isPlace ? longitude : 0);
  const fix = number(FIELD.fix) ?? 0;
  position.valid = isPlace && values.has(FIELD.latitude) && (fix & FIX.valid) !== 0;
  position.satellites = values.has(FIELD.fix) ? fix >> FIX.satellitesShift : null;
  const speed = number(FIELD.speed);
  position.speedKmh = speed === null || speed < 0 ? null : Math.round(speed * 10) / 10;
  position.courseDeg = courseOf(number(FIELD.course));
  const altitude = number(FIELD.altitude);
  position.altitudeM = altitude === null ? null : Math.round(altitude / 10) + 0;
  const odometerKm = number(FIELD.odometer);
  position.odometerM = odometerKm === null || odometerKm < 0 ? null : Math.round(odometerKm * 1000);
  const supplyMv = number(FIELD.supplyMv);
  position.supplyV = supplyMv === null ? null : supplyMv / 1000;

  const attributes: Record<string, AttributeValue> = {};
  const status = number(FIELD.status);
  if (status !== null) {
    attributes.armed = ARMED_MODES.has((status >> STATUS.modeShift) & STATUS.modeMask);
    const alarms: Alarm[] = [];
    if (status & STATUS.alarm) alarms.push('other');
    if (status & STATUS.towed) alarms.push('towing');
    if (alarms.length > 0) position.alarms = alarms;
  }
  for (const field of layout.fields) {
    const value = values.get(field.number);
    if (value !== undefined) readAttribute(attributes, field, value);
  }
  position.attributes = attributes;
  return position;
}

/** Fields that map to a field of a position. */
const OF_POSITION: ReadonlySet<number> = new Set([
  FIELD.time,
  FIELD.latitude,
  FIELD.longitude,
  FIELD.altitude,
  FIELD.speed,
  FIELD.course,
]);

function readAttribute(attributes: Record<string, AttributeValue>, { number }: Field, value: AttributeValue): void {
  if (OF_POSITION.has(number)) return;
  attributes[`flex${number}`] = value;
  if (typeof value === 'string') return readBytes(attributes, number, Buffer.from(value, 'hex'));
  if (typeof value !== 'number') return;
  if (within(number, FIRST_ANALOG, 8)) attributes[`analog${number - FIRST_ANALOG + 1}V`] = value / 1000;
  else if (within(number, FIRST_LEVEL, 6)) setLevel(attributes, number - FIRST_LEVEL + 1, value);
  else if (within(number, FIRST_TEMPERATURE, 8)) setTemperature(attributes, number - FIRST_TEMPERATURE + 1, value);
  else if (within(number, FIRST_FUEL_TEMPERATURE, 6)) {
    if (value !== NO_TEMPERATURE) attributes[`fuel${number - FIRST_FUEL_TEMPERATURE + 1}C`] = value;
  } else readKnown(attributes, number, value);
}

function readKnown(attributes: Record<string, AttributeValue>, number: number, value: number): void {
  switch (number) {
    case FIELD.event:
      attributes.eventCode = value;
      break;
    case FIELD.gsm: {
      const percent = signalPercentOfCsq(value);
      if (percent !== null) attributes.gsmSignalPercent = percent;
      break;
    }
    case FIELD.batteryMv:
      attributes.batteryV = value / 1000;
      break;
    case FIELD.inputs:
      setStates(attributes, 'input', value);
      break;
    case FIELD.inputsHigh:
      setStates(attributes, 'input', value, 9);
      break;
    case FIELD.outputs:
      setStates(attributes, 'output', value);
      break;
    case FIELD.generatorSeconds:
      attributes.engineHours = Math.round(value / 36) / 100;
      break;
    case FIELD.levelRs232:
      setLevel(attributes, LEVEL_OF_RS232, value);
      break;
    case FIELD.fuelLevel:
      readFuel(attributes, value);
      break;
    case FIELD.fuelUsed:
      if (value >= 0) attributes.fuelUsedL = value;
      break;
    case FIELD.rpm:
      if (value < 0x7fff) attributes.rpm = value;
      break;
    case FIELD.coolant:
      if (value !== NO_TEMPERATURE) attributes.engineTemperatureC = value;
      break;
    case FIELD.canOdometer:
      if (value >= 0) attributes.canOdometerM = Math.round(value * 1000);
      break;
    case FIELD.throttle:
      if (value <= 100) attributes.throttlePercent = value;
      break;
    case FIELD.canSpeed:
      if (value < 0xff) attributes.canSpeedKmh = value;
      break;
  }
}

function readBytes(attributes: Record<string, AttributeValue>, number: number, bytes: Buffer): void {
  if (number === FIELD.precision) attributes.hdop = (bytes[0] as number) / 10;
  if (within(number, FIRST_LEVEL_WITH_TEMPERATURE, 10)) {
    const sensor = number - FIRST_LEVEL_WITH_TEMPERATURE + 7;
    setLevel(attributes, sensor, bytes.readUInt16LE(0));
    if (bytes.readInt8(2) !== NO_TEMPERATURE) attributes[`fuel${sensor}C`] = bytes.readInt8(2);
  }
}

function readFuel(attributes: Record<string, AttributeValue>, value: number): void {
  const level = value & ~IN_LITRES;
  if (level === NO_FUEL) return;
  if ((value & IN_LITRES) !== 0) attributes.fuel1L = level / 10;
  else if (level <= 100) attributes.fuel1Percent = level;
}

function setLevel(attributes: Record<string, AttributeValue>, sensor: number, value: number): void {
  if (value <= MAX_LEVEL) attributes[`fuelLevel${sensor}`] = value;
}

function setTemperature(attributes: Record<string, AttributeValue>, sensor: number, value: number): void {
  if (value !== NO_TEMPERATURE) attributes[`temperature${sensor}C`] = value;
}
