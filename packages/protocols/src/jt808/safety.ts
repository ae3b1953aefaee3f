import type { AttributeValue, Position } from '@outrider/domain';

/** Items of active safety systems in a location (T/JSATL 12-2017, tables 4-15, 4-17, 4-18 and 4-20). */
export const SAFETY_ITEM = { adas: 0x64, dsm: 0x65, tyres: 0x66, bsd: 0x67 } as const;

/** Minimum length of each item: the last 16 bytes identify the alarm's files. */
const MIN_BYTES = {
  [SAFETY_ITEM.adas]: 47,
  [SAFETY_ITEM.dsm]: 47,
  [SAFETY_ITEM.tyres]: 41,
  [SAFETY_ITEM.bsd]: 41,
} as const;

/** The identifier of the alarm (4 bytes) and the state (1) come first. */
const STATE_AT = 4;
const KIND_AT = 5;
const LEVEL_AT = 6;
const FATIGUE_AT = 7;
/**
 * Offset of the tyre count. Guangdong's edition of the standard has a longer identifier before it: 40 bytes instead of
 * 16.
 */
const TYRES_AT = [40, 64] as const;
const TYRE_BYTES = 9;
/** Bit of an alarm word: a periodic pressure report without an alarm. */
const REGULAR_REPORT = 1;
const MAX_TYRES = 34;

const STATES = ['moment', 'begin', 'end'] as const;
/** Kinds from this number on are notices, not alarms. */
const FIRST_NOTICE = 0x10;

const ADAS: Readonly<Record<number, string>> = {
  1: 'forward-collision',
  2: 'lane-departure',
  3: 'too-close',
  4: 'pedestrian-collision',
  5: 'frequent-lane-changes',
  6: 'road-sign-exceeded',
  7: 'obstacle',
  16: 'road-sign',
  17: 'snapshot',
};
const DSM: Readonly<Record<number, string>> = {
  1: 'fatigue',
  2: 'phone-call',
  3: 'smoking',
  4: 'distraction',
  5: 'driver-not-seen',
  16: 'snapshot',
  17: 'driver-change',
};
const BSD: Readonly<Record<number, string>> = { 1: 'behind', 2: 'behind-left', 3: 'behind-right' };

/**
 * Reads an alarm of driver assistance (0x64), driver monitoring (0x65), tyres (0x66) or blind areas (0x67). Unless its
 * state is `end`, an alarm becomes the position's alarm `other`.
 *
 * @returns false where the item is not one of these, or cut off
 */
export function readSafetyItem(
  position: Position,
  attributes: Record<string, AttributeValue>,
  id: number,
  bytes: Buffer,
  at: number,
  length: number,
): boolean {
  const minBytes = (MIN_BYTES as Readonly<Record<number, number>>)[id];
  if (minBytes === undefined || length < minBytes) return false;
  const state = STATES[bytes[at + STATE_AT] as number] ?? 'moment';
  const kind = bytes[at + KIND_AT] as number;
  let isAlarm = kind < FIRST_NOTICE;
  switch (id) {
    case SAFETY_ITEM.adas:
      attributes.adasEvent = ADAS[kind] ?? `adas-${kind}`;
      attributes.adasState = state;
      attributes.adasLevel = bytes[at + LEVEL_AT] as number;
      break;
    case SAFETY_ITEM.dsm:
      attributes.dsmEvent = DSM[kind] ?? `dsm-${kind}`;
      attributes.dsmState = state;
      attributes.dsmLevel = bytes[at + LEVEL_AT] as number;
      attributes.driverFatigueLevel = bytes[at + FATIGUE_AT] as number;
      break;
    case SAFETY_ITEM.bsd:
      attributes.bsdEvent = BSD[kind] ?? `bsd-${kind}`;
      attributes.bsdState = state;
      break;
    default:
      attributes.tyreState = state;
      isAlarm = readTyres(attributes, bytes, at, length);
  }
  if (isAlarm && state !== 'end' && !position.alarms.includes('other')) position.alarms = [...position.alarms, 'other'];
  return true;
}

/** @returns whether any tyre reports an alarm */
function readTyres(attributes: Record<string, AttributeValue>, bytes: Buffer, at: number, length: number): boolean {
  const countAt = TYRES_AT.find((from) => length > from && (length - from - 1) % TYRE_BYTES === 0) ?? TYRES_AT[0];
  const count = Math.min(bytes[at + countAt] as number, Math.floor((length - countAt - 1) / TYRE_BYTES));
  let isAlarm = false;
  for (let i = 0; i < count; i++) {
    const tyreAt = at + countAt + 1 + i * TYRE_BYTES;
    // Counted from the left front wheel.
    const tyre = (bytes[tyreAt] as number) + 1;
    if (tyre > MAX_TYRES) continue;
    const alarmBits = bytes.readUInt16BE(tyreAt + 1);
    attributes[`tyre${tyre}AlarmBits`] = alarmBits;
    attributes[`tyre${tyre}Kpa`] = bytes.readUInt16BE(tyreAt + 3);
    attributes[`tyre${tyre}C`] = bytes.readInt16BE(tyreAt + 5);
    attributes[`tyre${tyre}BatteryPercent`] = bytes.readUInt16BE(tyreAt + 7);
    if ((alarmBits & ~REGULAR_REPORT) !== 0) isAlarm = true;
  }
  return isAlarm;
}
