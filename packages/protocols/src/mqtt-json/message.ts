import { ALARMS, type Alarm, blankPosition, isoTime, type Position } from '@outrider/domain';
import { AttributeList, isObject, numberWithin, quote, refused } from '../json-input.ts';
import { readTimeMs } from '../osmand/fields.ts';
import type { RefusedReports } from '../protocol.ts';

const MAX_POSITIONS = 1000;
const MAX_ALARMS = 32;

/** Minimum and maximum of each numeric field. */
const NUMBERS = {
  speedKmh: [0, 1000],
  courseDeg: [0, 360],
  altitudeM: [-10_000, 100_000],
  satellites: [0, 255],
  odometerM: [0, 1e12],
  supplyV: [0, 1000],
  fuelL: [0, 100_000],
} as const;
const WHOLE: ReadonlySet<string> = new Set(['courseDeg', 'altitudeM', 'satellites', 'odometerM']);
const NUMBER_NAMES = Object.keys(NUMBERS) as (keyof typeof NUMBERS)[];
const NAMES: ReadonlySet<string> = new Set([
  'fixTime',
  'latitude',
  'longitude',
  'valid',
  'ignition',
  'alarms',
  'attributes',
  ...NUMBER_NAMES,
]);

/** Reads one position, or an array of them. Refuses unknown names, because a misspelt one would go unnoticed. */
export function readPositions(value: unknown, nowMs: number): Position[] | RefusedReports {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  if (items.length > MAX_POSITIONS)
    return refused('bad-length', `${items.length} positions, ${MAX_POSITIONS} at most`, 413);
  const positions: Position[] = [];
  for (const [nth, item] of items.entries()) {
    const position = readPosition(item, Array.isArray(value) ? `[${nth}].` : '', nowMs);
    if ('refused' in position) return position;
    positions.push(position);
  }
  return positions;
}

function readPosition(item: unknown, path: string, nowMs: number): Position | RefusedReports {
  const bad = (name: string, expected: string, given: unknown) =>
    refused('bad-content', `${path}${name}: ${quote(given)} is not ${expected}`);
  if (!isObject(item)) return refused('bad-content', `${path || 'the message'}: not a JSON object`);
  const unknown = Object.keys(item).find((name) => !NAMES.has(name));
  if (unknown !== undefined)
    return refused('bad-content', `${path}${quote(unknown)} is not known; known are ${[...NAMES].join(', ')}`);

  const { fixTime, latitude, longitude, valid = true, ignition = null, alarms, attributes = null } = item;
  const isTime = typeof fixTime === 'string' || typeof fixTime === 'number';
  const fixTimeMs = fixTime === undefined ? nowMs : isTime ? readTimeMs(fixTime) : null;
  if (fixTimeMs === null) return bad('fixTime', 'a time in ISO 8601 or in Unix seconds or milliseconds', fixTime);
  if (typeof valid !== 'boolean') return bad('valid', 'true or false', valid);
  if (ignition !== null && typeof ignition !== 'boolean') return bad('ignition', 'true, false or null', ignition);
  const hasPlace = latitude != null || longitude != null;
  const [lat, lon] = [numberWithin(latitude, -90, 90), numberWithin(longitude, -180, 180)];
  if (hasPlace && lat === null) return bad('latitude', 'a number within 90 degrees', latitude);
  if (hasPlace && lon === null) return bad('longitude', 'a number within 180 degrees', longitude);

  const position = blankPosition(fixTimeMs, lat ?? 0, lon ?? 0);
  position.valid = valid && hasPlace;
  for (const name of NUMBER_NAMES) {
    const [least, most] = NUMBERS[name];
    const given = item[name] ?? null;
    const number = numberWithin(given, least, most);
    if (given !== null && number === null) return bad(name, `a number from ${least} to ${most}`, given);
    position[name] = number !== null && WHOLE.has(name) ? Math.round(number) + 0 : number;
  }
  if (position.courseDeg === 360) position.courseDeg = 0;
  position.ignition = ignition;
  const named = readAlarms(alarms);
  if (named === null) return bad('alarms', `a list of ${ALARMS.join(', ')}`, alarms);
  position.alarms = named;
  if (attributes !== null && !isObject(attributes)) return bad('attributes', 'a JSON object', attributes);
  const list = new AttributeList();
  for (const [name, value] of Object.entries(attributes ?? {})) list.set(name, value);
  position.attributes = list.all;
  return position;
}

function readAlarms(given: unknown): Alarm[] | null {
  if (given === undefined || given === null) return [];
  if (!Array.isArray(given) || given.length > MAX_ALARMS) return null;
  const alarms = given.map((each) => ALARMS.find((alarm) => alarm === each));
  // Only the gateway can detect a conflict.
  if (alarms.some((alarm) => alarm === undefined || alarm === 'terminal-conflict')) return null;
  return [...new Set(alarms as Alarm[])];
}

/** Encodes a position as a message; unknown values are omitted. */
export function encodePosition(position: Position): string {
  const { fixTimeMs, alarms, attributes, ...fields } = position;
  const known = Object.entries(fields).filter(([, value]) => value !== null);
  return JSON.stringify({
    fixTime: isoTime(fixTimeMs),
    ...Object.fromEntries(known),
    alarms: alarms.length === 0 ? undefined : alarms.filter((alarm) => alarm !== 'terminal-conflict'),
    attributes: attributes ?? undefined,
  });
}
