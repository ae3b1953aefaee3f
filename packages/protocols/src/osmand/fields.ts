import { ALARMS, type Alarm, type AttributeValue, NO_ALARMS } from '@outrider/domain';

/** Shared by the query and the JSON form: attributes in addition to the fix, under Traccar's names. */
export interface Extras {
  ignition: boolean | null;
  odometerM: number | null;
  supplyV: number | null;
  fuelL: number | null;
  satellites: number | null;
  alarms: readonly Alarm[];
  attributes: Record<string, AttributeValue> | null;
}

/** Exceeds what any phone sends; further attributes of a request are skipped. */
const MAX_ATTRIBUTES = 96;
const MAX_NAME_LENGTH = 64;
const MAX_TEXT_LENGTH = 1024;

/** Traccar's names of alarms that differ from the service's names. */
const ALARM_BY_NAME: Readonly<Record<string, Alarm>> = {
  powercut: 'power-cut',
  lowbattery: 'low-battery',
  tampering: 'tamper',
  accident: 'crash',
  hardacceleration: 'harsh-acceleration',
  hardbraking: 'harsh-braking',
  hardcornering: 'harsh-cornering',
  tow: 'towing',
};

/**
 * Sorts the values that a request holds in addition to its fix into fields, alarms and attributes. `ignition` is a
 * boolean, `odometer` metres, `power` volts, `fuel` litres, `sat` a count, `alarm` one name or several separated by
 * commas. A value of another form becomes a plain attribute.
 *
 * @param entries names and values in their order of arrival; values other than numbers, texts and booleans are skipped
 */
export function sortExtras(entries: Iterable<readonly [string, unknown]>): Extras {
  const extras: Extras = {
    ignition: null,
    odometerM: null,
    supplyV: null,
    fuelL: null,
    satellites: null,
    alarms: NO_ALARMS,
    attributes: null,
  };
  let held = 0;
  for (const [name, given] of entries) {
    const value = readValue(given);
    if (value === null || takeField(extras, name, value)) continue;
    if (held >= MAX_ATTRIBUTES || name === '' || name.length > MAX_NAME_LENGTH || name === '__proto__') continue;
    extras.attributes ??= {};
    extras.attributes[name] = value;
    held++;
  }
  return extras;
}

function takeField(extras: Extras, name: string, value: AttributeValue): boolean {
  switch (name) {
    case 'ignition': {
      const truth = typeof value === 'string' ? truthOf(value) : value !== false && value !== 0;
      if (truth === null) return false;
      extras.ignition = truth;
      return true;
    }
    case 'odometer': {
      const number = quantityOf(value);
      if (number === null) return false;
      extras.odometerM = Math.round(number);
      return true;
    }
    case 'power': {
      const number = quantityOf(value);
      if (number === null) return false;
      extras.supplyV = number;
      return true;
    }
    case 'fuel': {
      const number = quantityOf(value);
      if (number === null) return false;
      extras.fuelL = number;
      return true;
    }
    case 'sat': {
      const number = quantityOf(value);
      if (number === null || number > 255) return false;
      extras.satellites = Math.round(number);
      return true;
    }
    case 'alarm': {
      if (typeof value !== 'string') return false;
      const words = value.split(',', ALARMS.length).map((word) => word.trim());
      const named = words.filter((word) => !isUnknown(word) && truthOf(word) !== false);
      extras.alarms = [...new Set([...extras.alarms, ...named.map(alarmOf)])];
      return true;
    }
    default:
      return false;
  }
}

/** A number that is not negative, in any notation; null for anything else. */
function quantityOf(value: AttributeValue): number | null {
  const number = typeof value === 'string' ? readNumber(value) : value;
  return typeof number === 'number' && number >= 0 ? number : null;
}

function alarmOf(word: string): Alarm {
  // Only the gateway can detect a conflict.
  if (word === 'terminal-conflict') return 'other';
  return ALARMS.find((alarm) => alarm === word) ?? ALARM_BY_NAME[word.toLowerCase()] ?? 'other';
}

/** Whether the text is one that programs write for an unknown number. */
export function isUnknown(text: string): boolean {
  return /^(-*|[-+]?(nan|inf|infinity)|null|nil|none|undefined|n\/?a)$/i.test(text.trim());
}

/** A boolean, as programs and people write it; null for another text. */
export function truthOf(text: string): boolean | null {
  if (/^(true|1|on|yes|y)$/i.test(text.trim())) return true;
  return /^(false|0|off|no|n)$/i.test(text.trim()) ? false : null;
}

/** A decimal number, with a point or a comma; null for another text. */
export function readNumber(text: string): number | null {
  const trimmed = text.trim();
  return /^[-+]?(\d{1,20}([.,]\d{0,20})?|[.,]\d{1,20})(e[-+]?\d{1,2})?$/i.test(trimmed)
    ? Number(trimmed.replace(',', '.'))
    : null;
}

/** Converts text that looks like a number or a boolean, because a query holds only text. */
function readValue(given: unknown): AttributeValue | null {
  if (typeof given === 'boolean') return given;
  if (typeof given === 'number') return Number.isFinite(given) ? given + 0 : null;
  if (typeof given !== 'string' || given.length > MAX_TEXT_LENGTH || isUnknown(given)) return null;
  if (/^true$/i.test(given)) return true;
  if (/^false$/i.test(given)) return false;
  // `007` and `1e3` are treated as names: as numbers, they would lose their notation.
  return /^-?\d{1,17}(\.\d{1,20})?$/.test(given) &&
    !/^-?0\d/.test(given) &&
    Math.abs(Number(given)) <= Number.MAX_SAFE_INTEGER
    ? Number(given) + 0
    : given;
}

/** Unix milliseconds in the year 2248; later times cannot come from a wrong clock. */
const MAX_TIME_MS = 2 ** 43;
/** Separates seconds from milliseconds: seconds get there in the year 5138, milliseconds did in 1973. */
const SECONDS_LIMIT = 1e11;
const ISO = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?([.,]\d{1,9})?\s*(Z|[ +-]\d\d:?\d\d)?$/;

/**
 * Unix milliseconds of a time in seconds, in milliseconds, or in ISO 8601 (`T` or a space between date and time; no
 * zone means UTC).
 *
 * @returns null where it is not one of them
 */
export function readTimeMs(given: string | number): number | null {
  let timeMs: number;
  if (typeof given === 'number' || /^\d{1,14}([.,]\d{1,9})?$/.test(given)) {
    const number = typeof given === 'number' ? given : Number(given.replace(',', '.'));
    timeMs = Math.round(number < SECONDS_LIMIT ? number * 1000 : number);
  } else {
    const match = ISO.exec(given);
    if (match === null) return null;
    const [, date, minutes, seconds = ':00', fraction = '', zone = 'Z'] = match;
    // A plus sign that was not escaped in a query arrives as a space.
    timeMs = Date.parse(`${date}T${minutes}${seconds}${fraction.replace(',', '.')}${zone.replace(' ', '+')}`);
  }
  return timeMs >= 0 && timeMs < MAX_TIME_MS ? timeMs : null;
}

/** Maximum speed that 16 bits can hold. */
const MAX_SPEED_KMH = 65_535;

/** Speed in km/h, rounded to tenths; null where it is invalid. Phones send -1 for unknown. */
export function speedOf(kmh: number): number | null {
  return kmh >= 0 && kmh <= MAX_SPEED_KMH ? Math.round(kmh * 10) / 10 : null;
}

/** Course in whole degrees from 0 to 359; null where it is invalid. Phones send -1 for unknown. */
export function courseOf(degrees: number): number | null {
  return degrees >= 0 && degrees <= 360 ? Math.round(degrees) % 360 : null;
}
