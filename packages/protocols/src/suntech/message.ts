import { type Alarm, type AttributeValue, blankPosition, NO_ALARMS, type Position } from '@outrider/domain';
import { setStates } from '../attributes.ts';
import { utcMsOfText } from '../calendar.ts';
import { courseOf, decimal, decimalOrNull } from '../degrees.ts';

/** Alarms by the numbers of emergencies (`EMG`). */
export const EMERGENCIES: readonly (readonly [number: string, alarm: Alarm])[] = [
  ['1', 'sos'],
  ['2', 'tamper'],
  ['3', 'power-cut'],
  ['5', 'other'],
  ['6', 'towing'],
];
/** Alarms by the numbers of alerts (`ALT`). */
export const ALERTS: readonly (readonly [number: string, alarm: Alarm])[] = [
  ['1', 'overspeed'],
  ['14', 'low-battery'],
  ['15', 'other'],
  ['16', 'crash'],
  ['41', 'power-cut'],
  ['46', 'harsh-acceleration'],
  ['47', 'harsh-braking'],
  ['50', 'jamming'],
];
const ALARM_OF: Readonly<Record<string, ReadonlyMap<string, Alarm>>> = {
  EMG: new Map(EMERGENCIES),
  ALT: new Map(ALERTS),
};

/** Alerts that imply the ignition state. */
export const IGNITION_ALERTS: ReadonlyMap<string, boolean> = new Map([
  ['33', true],
  ['34', false],
]);

const DEGREES = /^[+-]\d{1,3}\.\d{4,8}$/;
/** Speed, course, satellites, fix, distance, supply, inputs and outputs, and a code that depends on the kind. */
const FIELDS_BEHIND_PLACE = 8;

/**
 * Reads a report: date, time, cell, place and the fields after it. The fields before the place differ between models.
 *
 * @param kind `STT`, `EMG`, `EVT`, `ALT`, …
 * @returns what is wrong, where there is no position
 */
export function readReport(kind: string, fields: readonly string[]): Position | string {
  const place = readPlace(fields);
  if (typeof place === 'string') return place;
  const { position, behind } = place;
  if (behind.length < FIELDS_BEHIND_PLACE) return 'a report is cut off';
  const [speed, course, satellites, fix, distance, supply, states = '', code = ''] = behind;
  position.speedKmh = decimalOrNull(speed);
  position.courseDeg = courseOf(decimalOrNull(course));
  position.satellites = decimalOrNull(satellites);
  position.valid = fix === '1';
  position.odometerM = decimalOrNull(distance);
  position.supplyV = decimalOrNull(supply);
  position.alarms = alarmsOf(kind, code);
  position.attributes = attributesOf(kind, states, code, behind.slice(FIELDS_BEHIND_PLACE));
  position.ignition = (kind === 'ALT' ? IGNITION_ALERTS.get(code) : undefined) ?? ignitionOf(states);
  return position;
}

/** @returns the place with its time, and the fields after it; or what is wrong */
function readPlace(fields: readonly string[]): { position: Position; behind: string[] } | string {
  const dateAt = fields.findIndex(
    (text, index) => /^\d{8}$/.test(text) && /^\d\d:\d\d:\d\d$/.test(fields[index + 1] ?? ''),
  );
  const placeAt = fields.findIndex((text, index) => DEGREES.test(text) && DEGREES.test(fields[index + 1] ?? ''));
  if (dateAt === -1 || placeAt < dateAt) return 'a report has no date and place';
  const fixTimeMs = utcMsOfText(fields[dateAt] ?? '', (fields[dateAt + 1] ?? '').replaceAll(':', ''), 'YYYYMMDD');
  if (Number.isNaN(fixTimeMs)) return 'the time of a report is not one';
  const [latitude, longitude] = [decimal(fields[placeAt] ?? ''), decimal(fields[placeAt + 1] ?? '')];
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return 'the place of a report is not one';
  return { position: blankPosition(fixTimeMs, latitude + 0, longitude + 0), behind: fields.slice(placeAt + 2) };
}

function alarmsOf(kind: string, code: string): readonly Alarm[] {
  const alarm = ALARM_OF[kind]?.get(code) ?? (kind === 'EMG' ? 'other' : undefined);
  return alarm === undefined ? NO_ALARMS : [alarm];
}

/** The first state is the ignition; inputs and outputs follow. */
function ignitionOf(states: string): boolean | null {
  return /^[01]{6,8}$/.test(states) ? states[0] === '1' : null;
}

function attributesOf(
  kind: string,
  states: string,
  code: string,
  rest: readonly string[],
): Record<string, AttributeValue> {
  const attributes: Record<string, AttributeValue> = { report: kind };
  if (/^\d{1,3}$/.test(code)) attributes.eventCode = Number(code);
  if (/^[01]{6}$/.test(states))
    for (const [index, name] of ['input1', 'input2', 'input3', 'output1', 'output2'].entries())
      attributes[name] = states[index + 1] === '1';
  // A regular report continues with the message number, the driving time in minutes, and the battery voltage.
  const [, minutes, battery] = rest.map((text) => decimalOrNull(text));
  if (kind === 'STT' && typeof minutes === 'number') attributes.engineHours = Math.round((minutes / 60) * 100) / 100;
  if (kind === 'STT' && typeof battery === 'number') attributes.batteryV = battery;
  return attributes;
}

/** States in eight binary digits, the lowest bit last. The lowest input is the ignition. */
const BITS = /^[01]{8}$/;

/**
 * Reads a report of the models that share one format (ST4300, ST8300, …): the terminal's number, a map of the fields
 * that it is configured to send, and these fields. The place is followed by speed, course, satellites and fix, then by
 * the states and the code of the report.
 *
 * @param kind `STT`, `EMG`, `EVT`, `ALT`
 * @returns what is wrong, where there is no position
 */
export function readUniversalReport(kind: string, fields: readonly string[]): Position | string {
  const place = readPlace(fields);
  if (typeof place === 'string') return place;
  const { position, behind } = place;
  const statesAt = behind.findIndex((text) => BITS.test(text));
  const [speed, course, satellites, fix] = statesAt === -1 ? behind : behind.slice(0, statesAt);
  position.speedKmh = decimalOrNull(speed);
  position.courseDeg = courseOf(decimalOrNull(course));
  position.satellites = decimalOrNull(satellites);
  // 3: by dead reckoning from the last fix.
  position.valid = fix === '1' || fix === '3';
  const attributes: Record<string, AttributeValue> = { report: kind };
  if (statesAt !== -1) {
    const [inputs = '', outputs = '', mode = '', number = ''] = behind.slice(statesAt);
    position.ignition = inputs[7] === '1';
    setStates(attributes, 'input', Number.parseInt(inputs, 2) >> 1);
    if (BITS.test(outputs)) setStates(attributes, 'output', Number.parseInt(outputs, 2));
    // A regular report holds the mode of the terminal, then its cause; other reports hold their code here.
    const code = kind === 'STT' ? number : mode;
    if (/^\d{1,3}$/.test(code)) attributes.eventCode = Number(code);
    position.alarms = alarmsOf(kind, mode);
    position.ignition = (kind === 'ALT' ? IGNITION_ALERTS.get(mode) : undefined) ?? position.ignition;
  }
  position.attributes = attributes;
  return position;
}

/**
 * Reads a report of the battery-powered model ST910: speed, course, fix and the battery voltage follow the place. No
 * public document of the maker describes this form.
 *
 * @returns what is wrong, where there is no position
 */
export function readPortableReport(kind: string, fields: readonly string[]): Position | string {
  const place = readPlace(fields);
  if (typeof place === 'string') return place;
  const { position, behind } = place;
  const [speed, course, fix, battery] = behind;
  position.speedKmh = decimalOrNull(speed);
  position.courseDeg = courseOf(decimalOrNull(course));
  position.valid = fix === '1';
  const batteryV = decimalOrNull(battery);
  position.attributes = { report: kind, ...(batteryV !== null && { batteryV }) };
  position.alarms = kind === 'Emergency' ? ['sos'] : NO_ALARMS;
  return position;
}
