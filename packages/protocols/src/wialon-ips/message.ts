import { type Alarm, type AttributeValue, blankPosition, NO_ALARMS, type Position } from '@outrider/domain';
import { setStates } from '../attributes.ts';

/** Why a message was refused: the code of the answer in Gurtam's description. */
export const FAULT = {
  structure: '-1',
  time: '0',
  coordinates: '10',
  speedCourseAltitude: '11',
  satellites: '12',
  inputs: '13',
  adc: '14',
  params: '15',
} as const;
export type Fault = (typeof FAULT)[keyof typeof FAULT];

/** Number of fields of a short and of an extended message, without the checksum that version 2 appends. */
export const SHORT_FIELDS = 10;
export const EXTENDED_FIELDS = 16;
/** The terminal's mark for an unknown value; many terminals leave the field empty instead. */
export const UNKNOWN = 'NA';

function isUnknown(text: string): boolean {
  return text === '' || text === UNKNOWN;
}

/** Exceeds the sensors of any terminal; further parameters of a message are skipped. */
const MAX_ATTRIBUTES = 96;
const MAX_NAME_LENGTH = 64;
/** Maximum length of a driver's message. */
const MAX_TEXT_LENGTH = 1000;
const SOS: readonly Alarm[] = Object.freeze(['sos'] satisfies Alarm[]);

/**
 * Parameters that map to a field. The terminal chooses their names, so only names with a clear meaning and unit are
 * mapped. Every other parameter becomes an attribute under its own name: `odometer` may count metres or kilometres. No
 * digital input is read as the ignition: only the installer knows the wiring.
 */
export const PARAM = {
  sos: 'SOS',
  ignition: 'ignition',
  ignitionShort: 'ign',
  supply: 'pwr_ext',
  battery: 'pwr_int',
  odometer: 'odometer_m',
  fuel: 'fuel_l',
} as const;

/**
 * Reads the fields of one message, short or extended. A message without coordinates becomes a position that is not
 * valid at 0/0, so that its parameters are not lost.
 *
 * @param fields the ten or sixteen texts between the semicolons
 * @param nowMs used where the terminal does not give both date and time
 * @returns the position, or the code of what is wrong
 */
export function readMessage(fields: readonly string[], nowMs: number): Position | Fault {
  if (fields.length !== SHORT_FIELDS && fields.length !== EXTENDED_FIELDS) return FAULT.structure;
  const [date = '', time = '', lat1 = '', lat2 = '', lon1 = '', lon2 = ''] = fields;
  const [, , , , , , speed = '', course = '', altitude = '', sats = ''] = fields;

  const fixTimeMs = isUnknown(date) || isUnknown(time) ? nowMs : readTime(date, time);
  if (Number.isNaN(fixTimeMs)) return FAULT.time;

  const placed = ![lat1, lat2, lon1, lon2].some(isUnknown);
  const latitude = placed ? readDegrees(lat1, lat2, 'N', 'S', 90) : 0;
  const longitude = placed ? readDegrees(lon1, lon2, 'E', 'W', 180) : 0;
  if (Number.isNaN(latitude) || Number.isNaN(longitude)) return FAULT.coordinates;

  const speedKmh = readNumber(speed);
  const courseDeg = readNumber(course);
  const altitudeM = readNumber(altitude);
  if (speedKmh !== null && !(speedKmh >= 0)) return FAULT.speedCourseAltitude;
  if (courseDeg !== null && !(courseDeg >= 0 && courseDeg <= 360)) return FAULT.speedCourseAltitude;
  if (altitudeM !== null && Number.isNaN(altitudeM)) return FAULT.speedCourseAltitude;
  const satellites = readNumber(sats);
  if (satellites !== null && !(satellites >= 0 && satellites <= 255)) return FAULT.satellites;

  const position: Position = {
    fixTimeMs,
    latitude,
    longitude,
    valid: placed,
    speedKmh,
    courseDeg: courseDeg === 360 ? 0 : courseDeg,
    altitudeM: altitudeM === null ? null : Math.round(altitudeM) + 0,
    satellites: satellites === null ? null : Math.round(satellites),
    ignition: null,
    odometerM: null,
    supplyV: null,
    fuelL: null,
    alarms: NO_ALARMS,
    attributes: null,
  };
  if (fields.length === SHORT_FIELDS) return position;
  return readExtension(position, fields) ?? position;
}

/** Adds the fields that only an extended message has. @returns what is wrong, or null */
function readExtension(position: Position, fields: readonly string[]): Fault | null {
  let attributes: Record<string, AttributeValue> | null = null;
  const hdop = readNumber(fields[10] ?? '');
  const inputs = readNumber(fields[11] ?? '');
  const outputs = readNumber(fields[12] ?? '');
  const adc = fields[13] ?? '';
  const ibutton = fields[14] ?? '';
  const params = fields[15] ?? '';
  let held = 0;

  if (Number.isNaN(hdop)) return FAULT.satellites;
  if (Number.isNaN(inputs) || Number.isNaN(outputs)) return FAULT.inputs;
  if (hdop !== null) {
    attributes = { hdop };
    held++;
  }
  if (inputs !== null) {
    attributes ??= {};
    attributes.inputs = inputs;
    held++;
  }
  if (outputs !== null) {
    attributes ??= {};
    attributes.outputs = outputs;
    held++;
  }
  if (!isUnknown(adc)) {
    let input = 0;
    for (const text of adc.split(',')) {
      input++;
      const value = readNumber(text);
      if (Number.isNaN(value)) return FAULT.adc;
      if (value === null || held >= MAX_ATTRIBUTES) continue;
      attributes ??= {};
      attributes[`adc${input}`] = value;
      attributes[`analog${input}V`] = value;
      held++;
    }
  }
  if (!isUnknown(ibutton) && ibutton.length <= MAX_NAME_LENGTH) {
    attributes ??= {};
    attributes.ibutton = ibutton;
    held++;
  }

  if (!isUnknown(params)) {
    for (const param of params.split(',')) {
      if (isUnknown(param)) continue;
      const typeAt = param.indexOf(':') + 1;
      // Name, colon, one-character type, colon, value.
      if (typeAt < 2 || typeAt > MAX_NAME_LENGTH + 1 || param[typeAt + 1] !== ':') return FAULT.params;
      const name = param.slice(0, typeAt - 1);
      const text = param.slice(typeAt + 2);
      if (isUnknown(text)) continue;
      const value = readParam(param[typeAt], text);
      if (value === null) return FAULT.params;

      if (typeof value === 'number' && setField(position, name, value)) continue;
      // Protects the object's prototype from external names.
      if (held >= MAX_ATTRIBUTES || name === '__proto__') continue;
      attributes ??= {};
      attributes[name] = value;
      held++;
    }
  }
  position.attributes = withCommonNames(attributes, position.supplyV, position.fuelL);
  return null;
}

/** Takes a parameter that maps to a field. @returns false where it maps to none */
function setField(position: Position, name: string, value: number): boolean {
  switch (name) {
    case PARAM.sos:
      if (value !== 0) position.alarms = SOS;
      return true;
    case PARAM.ignition:
    case PARAM.ignitionShort:
      if (value !== 0 && value !== 1) return false;
      position.ignition = value === 1;
      return true;
    case PARAM.supply:
      position.supplyV = value;
      return true;
    case PARAM.odometer:
      position.odometerM = Math.round(value);
      return true;
    case PARAM.fuel:
      position.fuelL = value;
      return true;
    default:
      return false;
  }
}

/** Adds the names shared by all brands to the terminal's own names. */
function withCommonNames(
  own: Record<string, AttributeValue> | null,
  supplyV: number | null,
  fuelL: number | null,
): Record<string, AttributeValue> | null {
  if (own === null && supplyV === null && fuelL === null) return null;
  const attributes = own ?? {};
  const { inputs, outputs, ibutton, [PARAM.battery]: battery } = attributes;
  if (typeof inputs === 'number') nameStates(attributes, 'input', inputs);
  if (typeof outputs === 'number') nameStates(attributes, 'output', outputs);
  if (typeof ibutton === 'string') attributes.driverCode = ibutton;
  if (typeof battery === 'number') attributes.batteryV = battery;
  if (supplyV !== null) attributes.externalPowerV = supplyV;
  if (fuelL !== null) attributes.fuel1L = fuelL;
  return attributes;
}

/** Sets each bit as a digital state: the lower eight, and the next eight where one of them is set. */
function nameStates(attributes: Record<string, AttributeValue>, name: 'input' | 'output', bits: number): void {
  setStates(attributes, name, bits);
  if (bits > 0xff) setStates(attributes, name, bits >>> 8, 9);
}

/** Converts a driver's message to a position without a place, because it has no time of its own. */
export function readDriverMessage(text: string, nowMs: number): Position {
  const position = blankPosition(nowMs, 0, 0);
  position.valid = false;
  position.attributes = { driverMessage: text.slice(0, MAX_TEXT_LENGTH) };
  return position;
}

/** Unix milliseconds of DDMMYY and HHMMSS, with or without a fraction; NaN where they are invalid. */
function readTime(date: string, time: string): number {
  if (date.length !== 6 || time.length < 6 || time.length > 16) return Number.NaN;
  const day = twoDigits(date, 0);
  const month = twoDigits(date, 2);
  const year = twoDigits(date, 4);
  const hours = twoDigits(time, 0);
  const minutes = twoDigits(time, 2);
  const seconds = twoDigits(time, 4);
  // NaN fails every comparison.
  if (!(day >= 1 && day <= 31 && month >= 1 && month <= 12 && year >= 0)) return Number.NaN;
  if (!(hours <= 23 && minutes <= 59 && seconds <= 59)) return Number.NaN;
  const midnight = Date.UTC(2000 + year, month - 1, day);
  // Rejects dates that would roll over, such as 31 June to 1 July.
  if (day > 28 && new Date(midnight).getUTCDate() !== day) return Number.NaN;
  let fraction = 0;
  if (time.length > 6) {
    if (time[6] !== '.' || !isDigits(time, 7)) return Number.NaN;
    fraction = Math.floor(Number(time.slice(6)) * 1000);
  }
  return midnight + hours * 3_600_000 + minutes * 60_000 + seconds * 1000 + fraction;
}

function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

function isDigits(text: string, from: number): boolean {
  for (let i = from; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return false;
  }
  return text.length > from;
}

/** Degrees of a number that combines degrees and minutes, with its hemisphere; NaN where they are invalid. */
function readDegrees(text: string, hemisphere: string, positive: string, negative: string, limit: number): number {
  if (hemisphere !== positive && hemisphere !== negative) return Number.NaN;
  const number = readNumber(text);
  if (number === null || !(number >= 0)) return Number.NaN;
  const whole = Math.floor(number / 100);
  const minutes = number - whole * 100;
  // Rounded to the resolution of the log: otherwise the rounding error of the minutes would appear in the tenth
  // decimal.
  const degrees = Math.round((whole + minutes / 60) * 1e7) / 1e7;
  if (minutes >= 60 || degrees > limit) return Number.NaN;
  return hemisphere === positive ? degrees : 0 - degrees;
}

const POWERS_OF_TEN = Float64Array.from({ length: 16 }, (_, exponent) => 10 ** exponent);

/** A plain decimal number; null for "unknown", NaN for anything else. */
function readNumber(text: string): number | null {
  if (isUnknown(text)) return null;
  const first = text.charCodeAt(0);
  const isSigned = first === 0x2d || first === 0x2b;
  let mantissa = 0;
  let digits = 0;
  let decimals = -1;
  for (let i = isSigned ? 1 : 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit >= 0 && digit <= 9) {
      mantissa = mantissa * 10 + digit;
      digits++;
      if (decimals >= 0) decimals++;
    } else if (digit === -2 && decimals === -1) decimals = 0;
    else return Number.NaN;
  }
  if (digits === 0 || digits > 20) return Number.NaN;
  // With up to 15 digits, the digits and the power of ten are exact, so the quotient is correctly rounded. The result
  // is that of Number(), but faster.
  if (digits > 15) return Number(text) + 0;
  const value = decimals > 0 ? mantissa / (POWERS_OF_TEN[decimals] as number) : mantissa;
  return first === 0x2d ? 0 - value : value;
}

/** Parses a parameter by its type: 1 whole, 2 with decimals, 3 text; null where the value does not match the type. */
function readParam(type: string | undefined, text: string): AttributeValue | null {
  switch (type) {
    case '1': {
      const value = readNumber(text);
      if (value === null || Number.isNaN(value)) return null;
      // A 64-bit value beyond the range of a number is kept as its digits.
      return Number.isSafeInteger(value) || text.includes('.') ? value : text;
    }
    case '2': {
      const value = readNumber(text);
      if (value !== null && !Number.isNaN(value)) return value;
      return /^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d{1,3})?$/i.test(text) && Number.isFinite(Number(text))
        ? Number(text) + 0
        : null;
    }
    case '3':
      return text;
    default:
      return null;
  }
}
