import { type Alarm, type AttributeValue, blankPosition, NO_ALARMS, type Position } from '@outrider/domain';
import { utcMsOfText } from '../calendar.ts';
import { courseOf, decimalOrNull, degreesOfNmea, kmhOfKnots } from '../degrees.ts';

/** Alarm keywords; the simulator sends the first of several keywords with the same meaning. */
export const ALARM_KEYWORDS: readonly (readonly [keyword: string, alarm: Alarm])[] = [
  ['help me', 'sos'],
  ['ac alarm', 'power-cut'],
  ['low battery', 'low-battery'],
  ['door alarm', 'tamper'],
  ['bonnet alarm', 'tamper'],
  ['speed', 'overspeed'],
  ['accident alarm', 'crash'],
  ['move', 'towing'],
  ['sensor alarm', 'other'],
  ['acc alarm', 'other'],
];
const ALARM_OF = new Map(ALARM_KEYWORDS);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** UTC offsets range from -12 to +14 hours. */
const LEAST_OFFSET_MS = -12 * HOUR_MS;
const MOST_OFFSET_MS = 14 * HOUR_MS;

/**
 * Reads the fields behind the IMEI: keyword, local time, phone, `F` (a fix) or `L` (cells), UTC time of day, validity,
 * place, knots, course, altitude, ignition, door, fuel of two tanks in percent, temperature.
 *
 * @param nowMs the time of a report that has none of UTC
 * @returns what is wrong, where there is no position
 */
export function readReport(fields: readonly string[], nowMs: number): Position | string {
  const [keyword = '', localTime = '', , kind = '', time = '', validity = '', ...place] = fields;
  const [lat = '', northSouth = '', lon = '', eastWest = '', speed, course, ...sensors] = place;
  const hasFix = kind === 'F' && validity === 'A';
  const fixTimeMs = kind === 'F' ? utcTimeMs(localTime, time) : nowMs;
  if (Number.isNaN(fixTimeMs)) return 'the time of a report is not one';
  const latitude = degreesOfNmea(lat, northSouth);
  const longitude = degreesOfNmea(lon, eastWest);
  if (hasFix && (Number.isNaN(latitude) || Number.isNaN(longitude))) return 'the place of a report is not one';
  const position = blankPosition(fixTimeMs, kind === 'F' ? latitude || 0 : 0, kind === 'F' ? longitude || 0 : 0);
  position.valid = hasFix;
  const attributes: Record<string, AttributeValue> = {};
  if (kind === 'F') {
    position.speedKmh = kmhOfKnots(speed);
    position.courseDeg = courseOf(decimalOrNull(course));
    readSensors(position, attributes, sensors);
  } else if (kind === 'L') {
    const [lac, cellId] = [Number.parseInt(lat, 16), Number.parseInt(lon, 16)];
    if (lac > 0 && cellId > 0) Object.assign(attributes, { lac, cellId });
  }
  readKeyword(position, attributes, keyword);
  if (Object.keys(attributes).length > 0) position.attributes = attributes;
  return position;
}

function readKeyword(position: Position, attributes: Record<string, AttributeValue>, keyword: string): void {
  if (keyword === 'acc on') position.ignition = true;
  else if (keyword === 'acc off') position.ignition = false;
  const alarm = ALARM_OF.get(keyword);
  position.alarms = alarm === undefined ? NO_ALARMS : [alarm];
  const temperature = /^T:([+-]?\d{1,3}(?:\.\d{1,2})?)$/.exec(keyword)?.[1];
  if (temperature !== undefined) attributes.temperature1C = Number(temperature);
  else if (keyword !== 'tracker' && alarm === undefined) attributes.report = keyword.slice(0, 64);
}

function readSensors(
  position: Position,
  attributes: Record<string, AttributeValue>,
  [altitude, ignition, door, fuel1, fuel2, temperature]: readonly string[],
): void {
  const altitudeM = decimalOrNull(altitude);
  position.altitudeM = altitudeM === null ? null : Math.round(altitudeM) + 0;
  if (ignition === '0' || ignition === '1') position.ignition = ignition === '1';
  if (door === '0' || door === '1') attributes.door1 = door === '1';
  for (const [name, text] of [
    ['fuel1Percent', fuel1],
    ['fuel2Percent', fuel2],
    ['temperature1C', temperature],
  ] as const) {
    const value = decimalOrNull(text?.replace('%', ''));
    if (value !== null) attributes[name] = value;
  }
}

/** The terminal gives its local date and time, and the time of day of UTC. */
function utcTimeMs(localTime: string, time: string): number {
  const localMs = utcMsOfText(localTime.slice(0, 6), localTime.slice(6, 12).padEnd(6, '0'));
  const sameDayMs = utcMsOfText(localTime.slice(0, 6), time);
  if (Number.isNaN(localMs) || Number.isNaN(sameDayMs)) return Number.NaN;
  if (localMs - sameDayMs < LEAST_OFFSET_MS) return sameDayMs - DAY_MS;
  return localMs - sameDayMs > MOST_OFFSET_MS ? sameDayMs + DAY_MS : sameDayMs;
}
