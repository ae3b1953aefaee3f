import { type Alarm, blankPosition, type Position } from '@outrider/domain';
import { utcMsOfText } from '../calendar.ts';
import { courseOf, decimalOrNull, degreesOfNmea, kmhOfKnots } from '../degrees.ts';

/**
 * Bits of the status, in negative logic: a condition holds where its bit is 0. Only bits with the same meaning for all
 * makers are read; the whole word is kept as `statusBits`.
 */
export const STATUS_BIT = { shock: 0, sos: 1, overspeed: 2, ignitionOff: 10, powerCut: 19 } as const;
const ALARM_BITS: readonly (readonly [bit: number, alarm: Alarm])[] = [
  [STATUS_BIT.shock, 'other'],
  [STATUS_BIT.sos, 'sos'],
  [STATUS_BIT.overspeed, 'overspeed'],
  [STATUS_BIT.powerCut, 'power-cut'],
];

/** Number of fields of a place, without the optional state after them. */
const PLACE_FIELDS = 9;

/**
 * Index of the first field of a place: the time of day, followed by the fix flag. Answers to commands have other fields
 * before it. -1 where the message holds no place.
 */
export function placeAt(fields: readonly string[]): number {
  return fields.findIndex((text, index) => /^\d{6}$/.test(text) && /^[AVB]$/.test(fields[index + 1] ?? ''));
}

/**
 * Reads the fields of a place: `HHMMSS,A,DDMM.MMMM,N,DDDMM.MMMM,E,speed,course,DDMMYY,state[,mcc,mnc,lac,cell…]`.
 *
 * @returns what is wrong, where there is no position
 */
export function readPlace(fields: readonly string[]): Position | string {
  if (fields.length < PLACE_FIELDS) return 'a place is cut off';
  const [time = '', validity, lat = '', northSouth = '', lon = '', eastWest = '', speed, course, date = ''] = fields;
  const fixTimeMs = utcMsOfText(date, time, 'DDMMYY');
  if (Number.isNaN(fixTimeMs)) return 'the time of a place is not one';
  const latitude = degreesOfNmea(lat, northSouth);
  const position = placeOf(fixTimeMs, validity === 'A', latitude, degreesOfNmea(lon, eastWest));
  if (typeof position === 'string') return position;
  position.speedKmh = kmhOfKnots(speed);
  position.courseDeg = courseOf(decimalOrNull(course));
  readStatus(position, fields[PLACE_FIELDS] ?? '');
  keepCell(position, fields.slice(PLACE_FIELDS + 1));
  return position;
}

/** @returns what is wrong with a fix that has no place */
export function placeOf(fixTimeMs: number, isValid: boolean, latitude: number, longitude: number): Position | string {
  if (isValid && (Number.isNaN(latitude) || Number.isNaN(longitude))) return 'the place is not one';
  const position = blankPosition(fixTimeMs, latitude || 0, longitude || 0);
  position.valid = isValid;
  return position;
}

/** Reads the state of eight hexadecimal digits; other forms of some models are ignored. */
export function readStatus(position: Position, text: string): void {
  if (!/^[0-9A-F]{8}$/i.test(text)) return;
  const statusBits = Number.parseInt(text, 16);
  const isSet = (bit: number) => ((statusBits >>> bit) & 1) === 1;
  position.ignition = isSet(STATUS_BIT.ignitionOff);
  position.alarms = ALARM_BITS.filter(([bit]) => !isSet(bit)).map(([, alarm]) => alarm);
  position.attributes = { statusBits };
}

/**
 * Reads a message without a place: the neighbouring cells (`NBR`), or signal, satellites and battery (`LINK`, `HTBT`).
 *
 * @returns null where it holds nothing to store
 */
export function readWithoutPlace(message: string, fields: readonly string[], nowMs: number): Position | null {
  const position = blankPosition(nowMs, 0, 0);
  position.valid = false;
  if (message === 'NBR') {
    // Time, network, advance and count come before the cells.
    const [, mcc = '', mnc = '', , , lac = '', cell = ''] = fields;
    keepCell(position, [mcc, mnc, lac, cell]);
  } else {
    const [percent, satellites] = message === 'LINK' ? [fields[3], fields[2]] : [fields[0], undefined];
    position.satellites = decimalOrNull(satellites);
    const batteryPercent = decimalOrNull(percent);
    if (batteryPercent !== null && batteryPercent >= 0 && batteryPercent <= 100)
      position.attributes = { batteryPercent };
  }
  return position.attributes === null ? null : position;
}

function keepCell(position: Position, texts: readonly string[]): void {
  const [mcc, mnc, lac, cellId] = texts.map((text) => decimalOrNull(text));
  if (mcc && mnc !== null && mnc !== undefined && lac && cellId)
    position.attributes = { ...position.attributes, mcc, mnc, lac, cellId };
}
