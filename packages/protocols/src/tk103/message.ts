import { type Alarm, type AttributeValue, blankPosition, type Position } from '@outrider/domain';
import { utcMsOfText } from '../calendar.ts';
import { courseOf, degreesOfNmea } from '../degrees.ts';

/** Codes of alarms, one digit; 3 (theft) and 6 (a fence of the terminal's own) are `other`. */
export const ALARM_CODES: readonly (readonly [code: string, alarm: Alarm])[] = [
  ['0', 'power-cut'],
  ['1', 'crash'],
  ['2', 'sos'],
  ['3', 'other'],
  ['5', 'overspeed'],
];
const ALARM_OF = new Map(ALARM_CODES);

/**
 * Date, validity, place, speed in km/h, time, course, eight states, and the odometer in hexadecimal metres, which some
 * leave out.
 */
const PLACE =
  /^(\d{6})([AV])(\d{4}\.\d{3,6})([NS])(\d{5}\.\d{3,6})([EW])(\d{1,3}\.\d)(\d{6})(\d{3}\.?\d{0,2})([0-9A-F:;<=>?]{8})?(?:L([0-9A-F]{8}))?/i;

/** @returns what is wrong, where there is no position */
export function readPlace(text: string, alarmCode: string | null): Position | string {
  const found = PLACE.exec(text.replaceAll(',', ''));
  if (found === null) return 'a place is not one';
  const [, date = '', validity, lat = '', northSouth = '', lon = '', eastWest = '', speed, time = '', course] = found;
  const [states, mileage] = [found[10], found[11]];
  const fixTimeMs = utcMsOfText(date, time);
  if (Number.isNaN(fixTimeMs)) return 'the time of a place is not one';
  const [latitude, longitude] = [degreesOfNmea(lat, northSouth), degreesOfNmea(lon, eastWest)];
  if (Number.isNaN(latitude) || Number.isNaN(longitude)) return 'a place is not one';
  const position = blankPosition(fixTimeMs, latitude, longitude);
  position.valid = validity === 'A';
  position.speedKmh = Number(speed);
  position.courseDeg = courseOf(Number(course));
  if (mileage !== undefined) position.odometerM = Number.parseInt(mileage, 16);
  const attributes: Record<string, AttributeValue> = {};
  if (states !== undefined) {
    // The first state is 1 without external power, the second is the ignition.
    position.ignition = states[1] === '1';
    attributes.states = states;
  }
  const alarm = alarmCode === null ? undefined : (ALARM_OF.get(alarmCode) ?? 'other');
  if (alarm !== undefined) position.alarms = [alarm];
  if (Object.keys(attributes).length > 0) position.attributes = attributes;
  return position;
}
