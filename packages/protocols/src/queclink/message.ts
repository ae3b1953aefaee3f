import { type Alarm, type AttributeValue, blankPosition, NO_ALARMS, type Position } from '@outrider/domain';
import { utcMsOfText } from '../calendar.ts';
import { courseOf, decimalOrNull } from '../degrees.ts';

/** Reports that are alarms. */
export const ALARM_REPORTS: readonly (readonly [report: string, alarm: Alarm])[] = [
  ['GTSOS', 'sos'],
  ['GTMPF', 'power-cut'],
  ['GTBPL', 'low-battery'],
  ['GTTOW', 'towing'],
  ['GTSPD', 'overspeed'],
  ['GTCRA', 'crash'],
  ['GTJDR', 'jamming'],
];
const ALARM_OF = new Map(ALARM_REPORTS);
/** Reports that imply the ignition state. */
export const IGNITION_REPORTS: ReadonlyMap<string, boolean> = new Map([
  ['GTIGN', true],
  ['GTIGF', false],
  ['GTVGN', true],
  ['GTVGF', false],
]);

/** Fields of a place before its longitude: accuracy, speed, course, altitude. */
const BEFORE_LONGITUDE = 4;
const DEGREES = /^-?\d{1,3}\.\d{3,8}$/;
const UTC = /^\d{14}$/;
const KILOMETRES = /^\d{1,7}\.\d$/;

/**
 * Finds the places of a report. The fields before and after them differ between models; the fields of a place are the
 * same in all: accuracy, speed, course, altitude, longitude, latitude, time, then the cell in four fields.
 *
 * @returns the positions; a text describes what is wrong
 */
export function readPlaces(report: string, fields: readonly string[]): Position[] | string {
  const positions: Position[] = [];
  for (let at = BEFORE_LONGITUDE; at + 2 < fields.length; at += 1) {
    const [longitude = '', latitude = '', time = ''] = fields.slice(at, at + 3);
    if (!DEGREES.test(longitude) || !DEGREES.test(latitude) || !UTC.test(time)) continue;
    const position = readPlace(fields, at);
    if (typeof position === 'string') return position;
    positions.push(position);
    at += 6;
  }
  const newest = positions.at(-1);
  if (newest !== undefined) keepReport(newest, report);
  return positions;
}

/** Applies the alarm or ignition state that the report's name implies to the newest place. */
export function keepReport(position: Position, report: string): void {
  const alarm = ALARM_OF.get(report);
  position.alarms = alarm === undefined ? NO_ALARMS : [alarm];
  position.ignition = IGNITION_REPORTS.get(report) ?? null;
  position.attributes = { report, ...position.attributes };
}

function readPlace(fields: readonly string[], at: number): Position | string {
  const [accuracy, speed, course, altitude] = fields
    .slice(at - BEFORE_LONGITUDE, at)
    .map((text) => decimalOrNull(text));
  const [longitude = 0, latitude = 0] = fields.slice(at, at + 2).map(Number);
  const time = fields[at + 2] as string;
  const fixTimeMs = utcMsOfText(time.slice(0, 8), time.slice(8), 'YYYYMMDD');
  if (Number.isNaN(fixTimeMs)) return 'the time of a place is not one';
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return 'the place of a report is not one';
  const position = blankPosition(fixTimeMs, latitude + 0, longitude + 0);
  // The accuracy is the dilution of precision; 0 means that there is no fix.
  position.valid = accuracy !== 0;
  position.speedKmh = speed ?? null;
  position.courseDeg = courseOf(course ?? null);
  position.altitudeM = typeof altitude === 'number' ? Math.round(altitude) + 0 : null;
  const attributes: Record<string, AttributeValue> = {};
  if (accuracy) attributes.hdop = accuracy;
  readCell(attributes, fields.slice(at + 3, at + 7));
  if (Object.keys(attributes).length > 0) position.attributes = attributes;
  // A reserved field is between the cell and the mileage.
  const mileage = fields[at + 8] ?? '';
  if (KILOMETRES.test(mileage)) position.odometerM = Math.round(Number(mileage) * 1000);
  return position;
}

function readCell(
  attributes: Record<string, AttributeValue>,
  [mcc = '', mnc = '', lac = '', cell = '']: readonly string[],
): void {
  if (!/^0\d{3}$/.test(mcc) || !/^0\d{3}$/.test(mnc) || !/^[0-9A-F]{1,8}$/i.test(lac) || !/^[0-9A-F]{1,8}$/i.test(cell))
    return;
  Object.assign(attributes, {
    mcc: Number(mcc),
    mnc: Number(mnc),
    lac: Number.parseInt(lac, 16),
    cellId: Number.parseInt(cell, 16),
  });
}
