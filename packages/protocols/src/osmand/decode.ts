import type { AttributeValue, Position, TerminalId } from '@outrider/domain';
import { isObject, quote } from '../json-input.ts';
import type { RefusalReason } from '../protocol.ts';
import { courseOf, readTimeMs, sortExtras, speedOf } from './fields.ts';

export const KMH_PER_KNOT = 1.852;
export const KMH_PER_MS = 3.6;

const MAX_ID_LENGTH = 64;
/** Traccar Client sends one location a request; its SDK can be set to send what it kept in one. */
const MAX_LOCATIONS = 1000;

/** What of a request the protocol looks at. */
export interface OsmandRequest {
  method: string;
  /** As in the request line: path and query. */
  url: string;
  contentType: string | null;
  body: Buffer;
  /** Taken where the request says no time. */
  nowMs: number;
}

/** A request that means something: no position at all is a sign of life. */
export interface OsmandReport {
  terminalId: TerminalId;
  positions: Position[];
  /** The parameter `token`: what the phone shows beside its id. */
  secret?: string;
}

/** A request that means nothing: what is wrong and where, and the status to answer with. */
export interface OsmandRefusal {
  refused: RefusalReason;
  status: number;
  detail: string;
}

/**
 * Reads a request of a phone, by Traccar's page "OsmAnd": parameters in the query, in a form or in both (speed in
 * knots), or the JSON of Traccar Client from version 9 (speed in m/s).
 *
 * Without a place the position is not valid and stands at 0/0, so that an alarm or a battery is not lost; with nothing
 * but an identifier and a time there is no position.
 */
export function decodeOsmand(request: OsmandRequest): OsmandReport | OsmandRefusal {
  if (request.method !== 'GET' && request.method !== 'POST' && request.method !== 'PUT')
    return { refused: 'unsupported', status: 405, detail: `method: ${quote(request.method)} is neither GET nor POST` };
  const type = (request.contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const isJson = type === 'application/json' || type.endsWith('+json');
  const question = request.url.indexOf('?');
  const parameters = new URLSearchParams(question === -1 ? '' : request.url.slice(question + 1));
  if (isJson && request.body.length > 0) return readJson(request.body, secretOf(parameters), request.nowMs);
  if (type === 'application/x-www-form-urlencoded')
    for (const [name, value] of new URLSearchParams(request.body.toString('utf8'))) parameters.append(name, value);
  return readParameters(parameters, request.nowMs);
}

/** Parameters that the fix is made of; every other one goes to {@link sortExtras}. */
const FIX_PARAMETERS = new Set([
  'id',
  'deviceid',
  'valid',
  'timestamp',
  'lat',
  'lon',
  'location',
  'speed',
  'bearing',
  'heading',
  'altitude',
  'token',
]);

function readParameters(parameters: URLSearchParams, nowMs: number): OsmandReport | OsmandRefusal {
  const terminalId = readId(parameters.get('id') ?? parameters.get('deviceid'), 'id');
  if (typeof terminalId !== 'string') return terminalId;

  const timestamp = parameters.get('timestamp');
  const fixTimeMs = timestamp === null ? nowMs : readTimeMs(timestamp);
  if (fixTimeMs === null) return bad(`timestamp: ${quote(timestamp)} is no time`);

  const place = readPlace(parameters);
  if ('refused' in place) return place;

  const reported = parameters.get('valid');
  if (reported !== null && !/^(true|false|1|0)$/.test(reported))
    return bad(`valid: ${quote(reported)} is neither true nor false`);
  const numbers: Record<'speed' | 'bearing' | 'altitude', number | null> = {
    speed: null,
    bearing: null,
    altitude: null,
  };
  for (const [name, other] of [
    ['speed', null],
    ['bearing', 'heading'],
    ['altitude', null],
  ] as const) {
    const text = parameters.get(name) ?? (other === null ? null : parameters.get(other));
    if (text === null || text === '') continue;
    const number = readNumber(text);
    if (number === null) return bad(`${name}: ${quote(text)} is no number`);
    numbers[name] = number;
  }

  const extras = sortExtras([...parameters].filter(([name]) => !FIX_PARAMETERS.has(name)));
  const { attributes, ...fields } = extras;
  const position = positionOf(
    fixTimeMs,
    place.latitude,
    place.longitude,
    reported !== 'false' && reported !== '0',
    numbers.speed === null ? null : speedOf(numbers.speed * KMH_PER_KNOT),
    numbers.bearing === null ? null : courseOf(numbers.bearing),
    numbers.altitude,
    fields,
    attributes,
  );
  const positions = saysSomething(position, place.latitude) ? [position] : [];
  return { terminalId, positions, ...secretOf(parameters) };
}

type Place = { latitude: number | null; longitude: number | null };

function readPlace(parameters: URLSearchParams): Place | OsmandRefusal {
  let lat = parameters.get('lat');
  let lon = parameters.get('lon');
  const location = parameters.get('location');
  if (lat === null && lon === null) {
    if (location === null) return { latitude: null, longitude: null };
    const [first, second] = location.split(',', 2);
    lat = first ?? null;
    lon = second ?? null;
  }
  if (lat === null || lon === null) return bad(`${lat === null ? 'lat' : 'lon'}: missing`);
  const latitude = readNumber(lat);
  const longitude = readNumber(lon);
  if (latitude === null) return bad(`lat: ${quote(lat)} is no number`);
  if (longitude === null) return bad(`lon: ${quote(lon)} is no number`);
  return checkPlace(latitude, longitude, 'lat', 'lon');
}

function secretOf(parameters: URLSearchParams): Pick<OsmandReport, 'secret'> {
  const secret = parameters.get('token');
  return secret === null ? {} : { secret };
}

function readJson(body: Buffer, secret: Pick<OsmandReport, 'secret'>, nowMs: number): OsmandReport | OsmandRefusal {
  let root: unknown;
  try {
    root = JSON.parse(body.toString('utf8'));
  } catch (error) {
    return bad(`the body is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isObject(root)) return bad('the body is no JSON object');
  const terminalId = readId(root.device_id, 'device_id');
  if (typeof terminalId !== 'string') return terminalId;
  const { location } = root;
  if (location === undefined || location === null) return { terminalId, positions: [], ...secret };

  const isList = Array.isArray(location);
  const locations: unknown[] = isList ? location : [location];
  if (locations.length > MAX_LOCATIONS)
    return {
      refused: 'bad-length',
      status: 413,
      detail: `location: ${locations.length} of them, ${MAX_LOCATIONS} at most`,
    };
  const positions: Position[] = [];
  for (const [index, item] of locations.entries()) {
    const position = readLocation(item, isList ? `location[${index}]` : 'location', nowMs);
    if ('refused' in position) return position;
    positions.push(position);
  }
  return { terminalId, positions, ...secret };
}

function readLocation(location: unknown, path: string, nowMs: number): Position | OsmandRefusal {
  if (!isObject(location)) return bad(`${path}: no object`);
  const { timestamp, coords, battery, activity, extras } = location;

  let fixTimeMs: number | null = nowMs;
  if (timestamp !== undefined && timestamp !== null) {
    fixTimeMs = typeof timestamp === 'string' || typeof timestamp === 'number' ? readTimeMs(timestamp) : null;
    if (fixTimeMs === null) return bad(`${path}.timestamp: ${quote(timestamp)} is no time`);
  }

  if (!isObject(coords)) return bad(`${path}.coords: missing`);
  const numbers: Record<string, number | null> = {};
  for (const name of ['latitude', 'longitude', 'speed', 'heading', 'altitude', 'accuracy']) {
    const value = coords[name] ?? null;
    // JSON has numbers that are infinite here, such as 1e999.
    if (value !== null && !Number.isFinite(value)) return bad(`${path}.coords.${name}: ${quote(value)} is no number`);
    numbers[name] = value as number | null;
  }
  const { latitude = null, longitude = null, speed = null, heading = null, altitude = null, accuracy = null } = numbers;
  if (latitude === null || longitude === null)
    return bad(`${path}.coords.${latitude === null ? 'latitude' : 'longitude'}: missing`);
  const place = checkPlace(latitude, longitude, `${path}.coords.latitude`, `${path}.coords.longitude`);
  if ('refused' in place) return place;

  const entries: [string, unknown][] = [
    ['accuracy', accuracy],
    ['is_moving', location.is_moving],
    ['odometer', location.odometer],
    ['event', location.event],
  ];
  if (isObject(battery)) {
    const { level, is_charging: isCharging } = battery;
    // Under the names, and in the unit, that the query has for them.
    if (typeof level === 'number' && level >= 0) entries.push(['batt', Math.round(level * 1000) / 10]);
    entries.push(['charge', isCharging]);
  }
  if (isObject(activity)) entries.push(['activity', activity.type]);
  let valid = true;
  if (isObject(extras)) {
    const { valid: reported, ...others } = extras;
    valid = reported !== false;
    entries.push(...Object.entries(others));
  }
  const { attributes, ...fields } = sortExtras(entries);
  return positionOf(
    fixTimeMs,
    place.latitude,
    place.longitude,
    valid,
    speed === null ? null : speedOf(speed * KMH_PER_MS),
    heading === null ? null : courseOf(heading),
    altitude,
    fields,
    attributes,
  );
}

function positionOf(
  fixTimeMs: number,
  latitude: number | null,
  longitude: number | null,
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

function saysSomething(position: Position, latitude: number | null): boolean {
  return latitude !== null || position.ignition !== null || position.alarms.length > 0 || position.attributes !== null;
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

function readNumber(text: string): number | null {
  const trimmed = text.trim();
  return /^[-+]?(\d{1,20}\.?\d{0,20}|\.\d{1,20})(e[-+]?\d{1,2})?$/i.test(trimmed) ? Number(trimmed) : null;
}

function bad(detail: string): OsmandRefusal {
  return { refused: 'bad-content', status: 400, detail };
}
