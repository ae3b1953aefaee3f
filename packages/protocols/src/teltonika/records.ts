import { type Alarm, type AttributeValue, NO_ALARMS, type Position } from '@outrider/domain';
import { type Element, type Elements, inUnit, setDoors, setOperator } from './elements.ts';
import { alarmOf, IO, ioName } from './io.ts';

export const CODEC_8 = 0x08;
export const CODEC_8_EXTENDED = 0x8e;
export const CODEC_16 = 0x10;

/** Layout of the elements of a record. */
export interface RecordCodec {
  idBytes: 1 | 2;
  countBytes: 1 | 2;
  /** Whether a byte after the event id holds the cause of the record. */
  hasGeneration: boolean;
  /** Whether elements of variable length follow those of 1, 2, 4 and 8 bytes. */
  hasAnyLength: boolean;
}

export const RECORD_CODECS: Readonly<Record<number, RecordCodec>> = {
  [CODEC_8]: { idBytes: 1, countBytes: 1, hasGeneration: false, hasAnyLength: false },
  [CODEC_8_EXTENDED]: { idBytes: 2, countBytes: 2, hasGeneration: false, hasAnyLength: true },
  [CODEC_16]: { idBytes: 2, countBytes: 1, hasGeneration: true, hasAnyLength: false },
};

/** Elements of variable length that are text. */
const TEXTS: ReadonlySet<number> = new Set([IO.vin, IO.barcode, IO.faultCodes, IO.canVin, IO.iso6709, IO.iccid]);

/** Time (8), priority (1), longitude (4), latitude (4), altitude (2), angle (2), satellites (1), speed (2). */
const FIXED_BYTES = 24;
const TWO_32 = 2 ** 32;
/**
 * Upper half of the first time refused: 2^43 ms is the year 2248. No clock is that wrong, so the value is not a time.
 */
const TIME_HIGH_LIMIT = 1 << 11;

/**
 * Reads AVL records.
 *
 * A record whose fix was lost repeats the last place with no satellites (Teltonika's wiki, "GPS element"): it is not
 * valid.
 *
 * @param bytes hold the records from `start` up to `end`
 * @param count number of records, which must fill the bytes exactly
 * @param elements of the terminal's family
 * @param positions receives one position for each record
 * @returns what is wrong, or null
 */
export function readRecords(
  bytes: Buffer,
  start: number,
  end: number,
  count: number,
  codec: RecordCodec,
  elements: Elements,
  positions: Position[],
): string | null {
  const { idBytes, countBytes, hasGeneration, hasAnyLength } = codec;
  const headBytes = FIXED_BYTES + idBytes + (hasGeneration ? 1 : 0) + countBytes;
  const hasWideIds = idBytes === 2;
  const hasWideCounts = countBytes === 2;
  let p = start;

  for (let record = 0; record < count; record++) {
    if (end - p < headBytes) return `record ${record + 1} of ${count} is cut off`;
    if (u32(bytes, p) >= TIME_HIGH_LIMIT) return `record ${record + 1} of ${count} has no possible time`;
    const position = readFix(bytes, p);
    p += FIXED_BYTES;

    const eventId = hasWideIds ? u16(bytes, p) : u8(bytes, p);
    const generation = hasGeneration ? u8(bytes, p + idBytes) : 0;
    // The total that follows is ignored: the counts of the groups are used.
    p += headBytes - FIXED_BYTES;

    let alarms: Alarm[] | null = null;
    let attributes: Record<string, AttributeValue> | null = null;
    if (eventId !== 0 && elements.of(eventId, 0)?.use !== 'alarm') attributes = { eventIo: eventId };
    if (hasGeneration) attributes = { ...attributes, generationType: generation };

    for (let nth = 0; nth < 4; nth++) {
      const width = 1 << nth;
      if (end - p < countBytes) return `record ${record + 1} of ${count} is cut off`;
      let left = hasWideCounts ? u16(bytes, p) : u8(bytes, p);
      p += countBytes;
      if (left * (idBytes + width) > end - p) return `record ${record + 1} of ${count} has elements cut off`;

      for (; left > 0; left--) {
        const id = hasWideIds ? u16(bytes, p) : u8(bytes, p);
        p += idBytes;
        const value = unsigned(bytes, p, nth);
        p += width;

        const element = elements.of(id, nth);
        if (element !== null) {
          switch (element.use) {
            case 'attribute':
              break;
            case 'ignition':
              position.ignition = value !== 0;
              continue;
            case 'odometer':
              position.odometerM = value;
              continue;
            case 'supply':
              position.supplyV = value / element.per;
              continue;
            case 'fuel':
              position.fuelL = value / element.per;
              continue;
            case 'alarm': {
              const alarm = alarmOf(id, value, eventId);
              if (alarm !== null) {
                if (alarms === null) alarms = [alarm];
                else if (!alarms.includes(alarm)) alarms.push(alarm);
              }
              // 0 means no alarm. Other values that are no alarm become attributes.
              if (value === 0 || (alarm !== null && id !== IO.overspeed)) continue;
            }
          }
        }
        if (attributes === null) attributes = {};
        setAttributes(attributes, element, id, value, width, bytes, p);
      }
    }

    if (hasAnyLength) {
      if (end - p < 2) return `record ${record + 1} of ${count} is cut off`;
      const elementsLeft = u16(bytes, p);
      p += 2;
      if (elementsLeft > 0) {
        if (attributes === null) attributes = {};
        p = readAnyLength(bytes, p, end, elementsLeft, attributes);
        if (p < 0) return `record ${record + 1} of ${count} has an element cut off`;
      }
    }

    if (alarms !== null) position.alarms = alarms;
    position.attributes = attributes;
    positions.push(position);
  }
  return p === end ? null : `${end - p} bytes after the last record`;
}

/** Reads the fixed fields of a record, before its elements: time and place. */
function readFix(bytes: Buffer, at: number): Position {
  const angle = u16(bytes, at + 19);
  const satellites = u8(bytes, at + 21);
  return {
    fixTimeMs: u32(bytes, at) * TWO_32 + u32(bytes, at + 4),
    latitude: i32(bytes, at + 13) / 1e7,
    longitude: i32(bytes, at + 9) / 1e7,
    valid: satellites !== 0,
    speedKmh: u16(bytes, at + 22),
    courseDeg: angle < 360 ? angle : angle === 360 ? 0 : null,
    altitudeM: (u16(bytes, at + 17) << 16) >> 16,
    satellites,
    ignition: null,
    odometerM: null,
    supplyV: null,
    fuelL: null,
    alarms: NO_ALARMS,
    attributes: null,
  };
}

/**
 * Sets the attributes of one element: its raw value, and its interpreted value.
 *
 * @param element null where it is unknown
 * @param end offset after its value
 */
function setAttributes(
  attributes: Record<string, AttributeValue>,
  element: Element | null,
  id: number,
  value: number,
  width: number,
  bytes: Buffer,
  end: number,
): void {
  if (element === null || element.use === 'key') {
    attributes[ioName(id)] = Number.isSafeInteger(value) ? value : u64(bytes, end - 8);
    if (element !== null && value !== 0) attributes[element.name] = printedKey(bytes, end - 8);
    return;
  }
  const { use, name } = element;
  const raw = element.isSigned ? signed(width, value) : value;
  attributes[ioName(id)] = raw;
  if (use === 'attribute') {
    const known = inUnit(element, raw);
    if (known !== null) attributes[name] = known;
  } else if (use === 'state') attributes[name] = raw !== 0;
  else if (use === 'operator') setOperator(attributes, raw);
  else if (use === 'doors') setDoors(attributes, raw);
}

/** @returns offset after the elements; -1 where one is cut off */
function readAnyLength(
  bytes: Buffer,
  from: number,
  end: number,
  count: number,
  attributes: Record<string, AttributeValue>,
): number {
  let p = from;
  for (let left = count; left > 0; left--) {
    if (end - p < 4) return -1;
    const id = u16(bytes, p);
    const length = u16(bytes, p + 2);
    p += 4;
    if (length > end - p) return -1;
    attributes[ioName(id)] = bytes.toString(TEXTS.has(id) ? 'latin1' : 'hex', p, p + length);
    p += length;
  }
  return p;
}

/** The code printed on a key, whose bytes the terminal sends in the opposite order. */
function printedKey(bytes: Buffer, at: number): string {
  return Buffer.from(bytes.subarray(at, at + 8))
    .reverse()
    .toString('hex')
    .toUpperCase();
}

/** @param nth index of its width among 1, 2, 4 and 8 */
function unsigned(bytes: Buffer, at: number, nth: number): number {
  if (nth === 0) return u8(bytes, at);
  if (nth === 1) return u16(bytes, at);
  if (nth === 2) return u32(bytes, at);
  return u32(bytes, at) * TWO_32 + u32(bytes, at + 4);
}

function signed(width: number, value: number): number {
  const unused = 32 - 8 * width;
  return (value << unused) >> unused;
}

function u8(bytes: Buffer, at: number): number {
  return bytes[at] as number;
}

function u16(bytes: Buffer, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

function i32(bytes: Buffer, at: number): number {
  return (
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  );
}

function u32(bytes: Buffer, at: number): number {
  return i32(bytes, at) >>> 0;
}

/** A value beyond the range of a number, as its decimal digits. */
function u64(bytes: Buffer, at: number): string {
  return bytes.readBigUInt64BE(at).toString();
}
