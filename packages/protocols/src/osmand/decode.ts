import { type AttributeValue, KMH_PER_UNIT, type Position, type TerminalId } from '@outrider/domain';
import { isObject, quote } from '../json-input.ts';
import type { RefusalReason } from '../protocol.ts';
import { courseOf, isUnknown, readNumber, readTimeMs, sortExtras, speedOf, truthOf } from './fields.ts';

const MAX_ID_LENGTH = 64;
/**
 * Traccar Client sends one location per request; its SDK can be configured to send its buffered ones in one request.
 */
const MAX_LOCATIONS = 1000;

/** The parts of a request that the protocol uses. */
export interface OsmandRequest {
  method: string;
  /** As in the request line: path and query. */
  url: string;
  contentType: string | null;
  body: Buffer;
  /** Used where the request has no time. */
  nowMs: number;
}

/** A valid request; no positions mean a sign of life. */
export interface OsmandReport {
  terminalId: TerminalId;
  positions: Position[];
  /** True where the speed was a parameter, assumed to be in knots. */
  isInKnots?: boolean;
  /** Locations of a list that could not be read; the others are in `positions`. */
  unread?: OsmandRefusal[];
  /** The parameter `token`: the secret that the phone sends with its id. */
  secret?: string;
}

/** An invalid request: what is wrong and where, and the status of the response. */
export interface OsmandRefusal {
  refused: RefusalReason;
  status: number;
  detail: string;
}

/**
 * Reads a request of a phone, by Traccar's page "OsmAnd": parameters in the query, in a form or in both (speed in
 * knots), or the JSON of Traccar Client from version 9 (speed in m/s).
 *
 * A report without a place becomes a position that is not valid at 0/0, so that an alarm or a battery is not lost. A
 * report with only an identifier and a time has no position. A place under an unknown name is refused, because it would
 * be lost silently. The readable locations of a list are kept, because a phone repeats a refused list for ever.
 */
export function decodeOsmand(request: OsmandRequest): OsmandReport | OsmandRefusal {
  if (request.method !== 'GET' && request.method !== 'POST' && request.method !== 'PUT')
    return { refused: 'unsupported', status: 405, detail: `method: ${quote(request.method)} is neither GET nor POST` };
  const type = (request.contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  // curl posts everything as a form unless it is asked not to.
  const isJson = type === 'application/json' || type.endsWith('+json') || request.body[0] === OPENING_BRACE;
  const question = request.url.indexOf('?');
  const parameters = new URLSearchParams(question === -1 ? '' : request.url.slice(question + 1));
  if (isJson && request.body.length > 0) return readJson(request.body, parameters, request.nowMs);
  if (type === 'application/x-www-form-urlencoded')
    for (const [name, value] of new URLSearchParams(request.body.toString('utf8'))) parameters.append(name, value);
  return readParameters(parameters, request.nowMs);
}

const OPENING_BRACE = 0x7b;

/** Lower-case names of a latitude or a longitude. */
const LATITUDES: ReadonlySet<string> = new Set(['lat', 'latitude']);
const LONGITUDES: ReadonlySet<string> = new Set(['lon', 'lng', 'long', 'longitude']);
/** Names that only a place, or a part of one, has. */
const PLACE_LIKE =
  /^(x|y|(\w+[._-])?(lat|lon|long|lng|lat+it\w*|longit\w*|latlng|latlon|coords?|coordinates?|locations?|positions?|point|geometry))$/;
/** Matches a value that is a place, whatever its name. */
const TWO_DEGREES = /^-?\d{1,3}\.\d+[,; ] ?-?\d{1,3}\.\d+$/;
/** Parameters that accompany a place: if the place is missing, it was sent under another name. */
const BESIDE_PLACE: ReadonlySet<string> = new Set(['speed', 'bearing', 'altitude', 'accuracy']);
const KNOWN_NAMES = 'known are lat and lon (latitude and longitude), or location=lat,lon';

/** Parameters of the fix; every other parameter goes to {@link sortExtras}. */
const FIX_PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['id', 'id'],
  ['deviceid', 'id'],
  ['valid', 'valid'],
  ['timestamp', 'timestamp'],
  ...[...LATITUDES].map((name) => [name, 'lat'] as const),
  ...[...LONGITUDES].map((name) => [name, 'lon'] as const),
  ['location', 'location'],
  ['speed', 'speed'],
  ['bearing', 'bearing'],
  ['heading', 'bearing'],
  ['altitude', 'altitude'],
  ['token', 'token'],
]);

/** Separates the parameters of the fix, ignoring case, from the others. The first value of a name wins. */
function sortParameters(parameters: URLSearchParams): { fix: Map<string, string>; others: [string, string][] } {
  const fix = new Map<string, string>();
  const others: [string, string][] = [];
  for (const [name, value] of parameters) {
    const known = FIX_PARAMETERS.get(name.toLowerCase());
    if (known === undefined) others.push([name, value]);
    else if (!fix.has(known)) fix.set(known, value);
  }
  return { fix, others };
}

function readParameters(parameters: URLSearchParams, nowMs: number): OsmandReport | OsmandRefusal {
  const { fix, others } = sortParameters(parameters);
  const terminalId = readId(fix.get('id'), 'id');
  if (typeof terminalId !== 'string') return terminalId;

  const fixTimeMs = timeOf(fix.get('timestamp'), nowMs);
  if (fixTimeMs === null) return bad(`timestamp: ${quote(fix.get('timestamp'))} is no time`);

  const place = readPlace(fix);
  if ('refused' in place) return place;

  const reported = fix.get('valid') ?? '';
  const valid = reported === '' ? true : truthOf(reported);
  if (valid === null) return bad(`valid: ${quote(reported)} is neither true nor false`);
  const [speed, bearing, altitude] = ['speed', 'bearing', 'altitude'].map((name) => readNumber(fix.get(name) ?? ''));

  const { attributes, ...fields } = sortExtras(others);
  if (!fix.has('lat') && !fix.has('location') && fields.alarms.length === 0) {
    const misnamed = misnamedPlace([...fix, ...others]);
    if (misnamed !== null) return misnamed;
  }
  const position = positionOf(
    fixTimeMs,
    place,
    valid,
    speed == null ? null : speedOf(speed * KMH_PER_UNIT.knots),
    bearing == null ? null : courseOf(bearing),
    altitude ?? null,
    fields,
    attributes,
  );
  const positions = saysSomething(position) ? [position] : [];
  return { terminalId, positions, isInKnots: true, ...secretOf(fix.get('token')) };
}

/** Either both coordinates are known or neither. */
type Place = { latitude: number; longitude: number } | { latitude: null; longitude: null };

const NO_PLACE = { latitude: null, longitude: null } as const;

function readPlace(fix: ReadonlyMap<string, string>): Place | OsmandRefusal {
  let lat = fix.get('lat');
  let lon = fix.get('lon');
  if (lat === undefined && lon === undefined) {
    const location = fix.get('location');
    if (location === undefined || isUnknown(location)) return NO_PLACE;
    const parts = location.split(',');
    // With decimal commas, the separator is ambiguous.
    if (parts.length > 2) return bad(`location: ${quote(location)} is not lat,lon`);
    [lat, lon] = parts;
  }
  if (lat === undefined || lon === undefined) return bad(`${lat === undefined ? 'lat' : 'lon'}: missing`);
  // An app without a fix sends empty texts.
  if (isUnknown(lat) && isUnknown(lon)) return NO_PLACE;
  const latitude = readNumber(lat);
  const longitude = readNumber(lon);
  if (latitude === null) return bad(`lat: ${quote(lat)} is no number`);
  if (longitude === null) return bad(`lon: ${quote(lon)} is no number`);
  return checkPlace(latitude, longitude, 'lat', 'lon');
}

/** Refuses a report without a place where one of its names suggests a place; null where none does. */
function misnamedPlace(entries: readonly (readonly [string, unknown])[]): OsmandRefusal | null {
  for (const [name, value] of entries) {
    const lower = name.toLowerCase();
    if (value == null || (typeof value === 'string' && isUnknown(value))) continue;
    if (BESIDE_PLACE.has(lower) || PLACE_LIKE.test(lower) || (typeof value === 'string' && TWO_DEGREES.test(value)))
      return bad(`${quote(name)} without a place that can be read: ${KNOWN_NAMES}`);
  }
  return null;
}

/** @returns null where the time is invalid; `nowMs` where none is given */
function timeOf(given: unknown, nowMs: number): number | null {
  if (given === undefined || given === null || (typeof given === 'string' && isUnknown(given))) return nowMs;
  return typeof given === 'string' || typeof given === 'number' ? readTimeMs(given) : null;
}

function secretOf(secret: string | null | undefined): Pick<OsmandReport, 'secret'> {
  return secret == null ? {} : { secret };
}

function readJson(body: Buffer, parameters: URLSearchParams, nowMs: number): OsmandReport | OsmandRefusal {
  let root: unknown;
  try {
    root = JSON.parse(body.toString('utf8'));
  } catch (error) {
    return bad(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(root)) return bad('the body is not a JSON object');
  const { device_id, id, deviceid, location, locations, ...flat } = root;
  const terminalId = readId(
    device_id ?? id ?? deviceid ?? parameters.get('id') ?? parameters.get('deviceid') ?? undefined,
    'device_id',
  );
  if (typeof terminalId !== 'string') return terminalId;
  const secret = secretOf(parameters.get('token'));

  const name = location == null ? 'locations' : 'location';
  const given = location ?? locations;
  if (given === undefined || given === null) {
    const position = readLocation(flat, '', nowMs);
    if ('refused' in position) return position;
    return { terminalId, positions: saysSomething(position) ? [position] : [], ...secret };
  }
  if (!Array.isArray(given)) {
    const position = readLocation(given, name, nowMs);
    return 'refused' in position ? position : { terminalId, positions: [position], ...secret };
  }
  if (given.length > MAX_LOCATIONS)
    return {
      refused: 'bad-length',
      status: 413,
      detail: `${name}: ${given.length} of them, ${MAX_LOCATIONS} at most`,
    };
  const positions: Position[] = [];
  const unread: OsmandRefusal[] = [];
  for (const [index, item] of given.entries()) {
    const position = readLocation(item, `${name}[${index}]`, nowMs);
    if ('refused' in position) unread.push(position);
    else positions.push(position);
  }
  const [first] = unread;
  if (first !== undefined && positions.length === 0) return first;
  return { terminalId, positions, ...(first !== undefined && { unread }), ...secret };
}

/** Attributes that are read by name, regardless of where the place is. */
const NAMED: ReadonlySet<string> = new Set(['accuracy', 'is_moving', 'odometer', 'event']);

/**
 * Reads a location of the JSON form. The place is in its `coords`, or beside the other values.
 *
 * @param path of the location in the body; empty for the whole body, which alone may have no place
 */
function readLocation(location: unknown, path: string, nowMs: number): Position | OsmandRefusal {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  if (!isObject(location)) return bad(`${path}: no object`);
  const { timestamp, coords, battery, activity, extras, ...beside } = location;

  const fixTimeMs = timeOf(timestamp, nowMs);
  if (fixTimeMs === null) return bad(`${at('timestamp')}: ${quote(timestamp)} is no time`);

  const isNested = isObject(coords);
  if (coords !== undefined && coords !== null && !isNested) return bad(`${at('coords')}: no object`);
  const fix = new Map<string, unknown>();
  const others: [string, unknown][] = [];
  for (const [name, value] of Object.entries(isNested ? coords : beside)) {
    const known = FIX_PARAMETERS.get(name.toLowerCase());
    if (known === undefined) others.push([name, value]);
    else if (!fix.has(known)) fix.set(known, value);
  }
  const place = placeOf(fix, isNested ? at('coords.') : path === '' ? '' : `${path}.`);
  if ('refused' in place) return place;
  if (place.latitude === null && path !== '')
    return bad(`${at(isNested ? 'coords.latitude' : 'coords')}: missing; ${KNOWN_NAMES}`);

  const { accuracy } = isNested ? coords : beside;
  const entries: [string, unknown][] = [
    ['accuracy', numberOf(accuracy)],
    ['is_moving', location.is_moving],
    ['odometer', location.odometer],
    ['event', location.event],
  ];
  if (isObject(battery)) {
    const { level, is_charging: isCharging } = battery;
    // With the names and the unit of the query form.
    if (typeof level === 'number' && level >= 0) entries.push(['batt', Math.round(level * 1000) / 10]);
    entries.push(['charge', isCharging]);
  }
  if (isObject(activity)) entries.push(['activity', activity.type]);
  // A flat report has its attributes at the level of the place, as the query form does.
  const more = isNested ? Object.entries(path === '' ? beside : {}) : others;
  entries.push(...more.filter(([name]) => !NAMED.has(name)));
  let valid = fix.get('valid') !== false;
  if (isObject(extras)) {
    const { valid: reported, ...named } = extras;
    if (reported === false) valid = false;
    entries.push(...Object.entries(named));
  }
  const { attributes, ...fields } = sortExtras(entries);
  if (place.latitude === null && fields.alarms.length === 0) {
    const misnamed = misnamedPlace([...fix, ...others]);
    if (misnamed !== null) return misnamed;
  }
  const [speed, heading, altitude] = ['speed', 'bearing', 'altitude'].map((name) => numberOf(fix.get(name)));
  return positionOf(
    fixTimeMs,
    place,
    valid,
    speed == null ? null : speedOf(speed * KMH_PER_UNIT['m/s']),
    heading == null ? null : courseOf(heading),
    altitude ?? null,
    fields,
    attributes,
  );
}

function placeOf(fix: ReadonlyMap<string, unknown>, path: string): Place | OsmandRefusal {
  const lat = fix.get('lat') ?? null;
  const lon = fix.get('lon') ?? null;
  if (lat === null && lon === null) return NO_PLACE;
  if (lat === null || lon === null) return bad(`${path}${lat === null ? 'latitude' : 'longitude'}: missing`);
  const latitude = numberOf(lat);
  const longitude = numberOf(lon);
  if (latitude === null) return bad(`${path}latitude: ${quote(lat)} is no number`);
  if (longitude === null) return bad(`${path}longitude: ${quote(lon)} is no number`);
  return checkPlace(latitude, longitude, `${path}latitude`, `${path}longitude`);
}

/** A number, or a text that holds one. JSON numbers such as 1e999 become infinite here. */
function numberOf(given: unknown): number | null {
  if (typeof given === 'string') return readNumber(given);
  return typeof given === 'number' && Number.isFinite(given) ? given : null;
}

function positionOf(
  fixTimeMs: number,
  { latitude, longitude }: Place,
  valid: boolean,
  speedKmh: number | null,
  courseDeg: number | null,
  altitude: number | null,
  fields: Pick<Position, 'satellites' | 'ignition' | 'odometerM' | 'supplyV' | 'fuelL' | 'alarms'>,
  attributes: Record<string, AttributeValue> | null,
): Position {
  return {
    fixTimeMs,
    latitude: latitude ?? 0,
    longitude: longitude ?? 0,
    valid: valid && latitude !== null,
    speedKmh,
    courseDeg,
    altitudeM: altitude === null ? null : Math.round(altitude) + 0,
    satellites: fields.satellites,
    ignition: fields.ignition,
    odometerM: fields.odometerM,
    supplyV: fields.supplyV,
    fuelL: fields.fuelL,
    alarms: fields.alarms,
    attributes,
  };
}

/** Whether the position holds more than a sign of life. */
function saysSomething({ valid, latitude, longitude, ignition, alarms, attributes, ...fields }: Position): boolean {
  if (valid || latitude !== 0 || longitude !== 0 || ignition !== null || alarms.length > 0) return true;
  const { satellites, odometerM, supplyV, fuelL } = fields;
  return attributes !== null || [satellites, odometerM, supplyV, fuelL].some((field) => field !== null);
}

function checkPlace(
  latitude: number,
  longitude: number,
  latitudeName: string,
  longitudeName: string,
): { latitude: number; longitude: number } | OsmandRefusal {
  if (!(latitude >= -90 && latitude <= 90)) return bad(`${latitudeName}: ${latitude} is not within 90 degrees`);
  if (!(longitude >= -180 && longitude <= 180)) return bad(`${longitudeName}: ${longitude} is not within 180 degrees`);
  return { latitude: latitude + 0, longitude: longitude + 0 };
}

function readId(given: unknown, name: string): TerminalId | OsmandRefusal {
  const id = typeof given === 'number' && Number.isSafeInteger(given) ? String(given) : given;
  if (id === undefined || id === null || id === '')
    return { refused: 'not-identified', status: 400, detail: `${name}: missing` };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is kept out
  if (typeof id !== 'string' || id.length > MAX_ID_LENGTH || /[\u0000-\u001f\u007f]/.test(id))
    return bad(`${name}: ${quote(id)} is no identifier of at most ${MAX_ID_LENGTH} characters`);
  return id as TerminalId;
}

function bad(detail: string): OsmandRefusal {
  return { refused: 'bad-content', status: 400, detail };
}
