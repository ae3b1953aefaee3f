import { type Alarm, type AttributeValue, NO_ALARMS, type Position } from '@outrider/domain';
import { alarmOf, IO, ioName, raisesAlarm, signedBytesOf } from './io.ts';

/** Time (8), priority (1), longitude (4), latitude (4), altitude (2), angle (2), satellites (1), speed (2). */
const FIXED_BYTES = 24;
const TWO_32 = 2 ** 32;
/**
 * Upper half of the first time refused: 2^43 ms is the year 2248. No clock drifts up to now; what stands there is not a
 * time.
 */
const TIME_HIGH_LIMIT = 1 << 11;

/**
 * Reads AVL records of Codec 8, or of 8 Extended whose ids and counts are two bytes and which has a group of elements
 * of any length after the four of 1, 2, 4 and 8 bytes.
 *
 * A record whose fix was lost repeats the last place with no satellites (Teltonika's wiki, "GPS element"): it is not
 * valid.
 *
 * @param bytes where the records lie, from `start` up to `end`
 * @param count how many records there must be: they must fill the bytes exactly
 * @param positions is given one position for each record
 * @returns what is wrong, or null
 */
export function readRecords(
  bytes: Buffer,
  start: number,
  end: number,
  count: number,
  extended: boolean,
  positions: Position[],
): string | null {
  const idBytes = extended ? 2 : 1;
  let p = start;

  for (let record = 0; record < count; record++) {
    if (end - p < FIXED_BYTES + 2 * idBytes) return `record ${record + 1} of ${count} is cut off`;
    const timeHigh = u32(bytes, p);
    if (timeHigh >= TIME_HIGH_LIMIT) return `record ${record + 1} of ${count} has no possible time`;
    const fixTimeMs = timeHigh * TWO_32 + u32(bytes, p + 4);
    const longitude = i32(bytes, p + 9) / 1e7;
    const latitude = i32(bytes, p + 13) / 1e7;
    const altitudeM = (u16(bytes, p + 17) << 16) >> 16;
    const angle = u16(bytes, p + 19);
    const satellites = u8(bytes, p + 21);
    const speedKmh = u16(bytes, p + 22);
    p += FIXED_BYTES;

    const eventId = extended ? u16(bytes, p) : u8(bytes, p);
    // The total after it is not read: what the groups themselves count decides.
    p += 2 * idBytes;

    let ignition: boolean | null = null;
    let odometerM: number | null = null;
    let supplyV: number | null = null;
    let fuelL: number | null = null;
    let alarms: Alarm[] | null = null;
    let attributes: Record<string, AttributeValue> | null = null;
    if (eventId !== 0 && !raisesAlarm(eventId)) attributes = { eventIo: eventId };

    for (let width = 1; width <= 8; width *= 2) {
      if (end - p < idBytes) return `record ${record + 1} of ${count} is cut off`;
      let elements = extended ? u16(bytes, p) : u8(bytes, p);
      p += idBytes;
      if (elements * (idBytes + width) > end - p) return `record ${record + 1} of ${count} has elements cut off`;

      for (; elements > 0; elements--) {
        const id = extended ? u16(bytes, p) : u8(bytes, p);
        p += idBytes;
        let value: number;
        if (width === 1) value = u8(bytes, p);
        else if (width === 2) value = u16(bytes, p);
        else if (width === 4) value = u32(bytes, p);
        else value = u32(bytes, p) * TWO_32 + u32(bytes, p + 4);
        p += width;

        switch (id) {
          case IO.ignition:
            ignition = value !== 0;
            continue;
          case IO.odometer:
            odometerM = value;
            continue;
          case IO.supply:
          case IO.supplyWide:
            supplyV = value / 1000;
            continue;
          case IO.fuel:
            fuelL = value / 10;
            continue;
        }
        if (raisesAlarm(id)) {
          const alarm = alarmOf(id, value, eventId);
          if (alarm !== null) {
            if (alarms === null) alarms = [alarm];
            else if (!alarms.includes(alarm)) alarms.push(alarm);
          }
          // 0 says that all is well; what is neither an alarm nor all well is reported as it stands.
          if (value === 0 || (alarm !== null && id !== IO.overspeed)) continue;
        }
        if (attributes === null) attributes = {};
        attributes[ioName(id)] =
          width === 8 && !Number.isSafeInteger(value) ? u64(bytes, p - 8) : signed(id, width, value);
      }
    }

    if (extended) {
      if (end - p < 2) return `record ${record + 1} of ${count} is cut off`;
      let elements = u16(bytes, p);
      p += 2;
      for (; elements > 0; elements--) {
        if (end - p < 4) return `record ${record + 1} of ${count} has elements cut off`;
        const id = u16(bytes, p);
        const length = u16(bytes, p + 2);
        p += 4;
        if (length > end - p) return `record ${record + 1} of ${count} has an element cut off`;
        if (attributes === null) attributes = {};
        attributes[ioName(id)] = bytes.toString(id === IO.vin ? 'latin1' : 'hex', p, p + length);
        p += length;
      }
    }

    positions.push({
      fixTimeMs,
      latitude,
      longitude,
      valid: satellites !== 0,
      speedKmh,
      courseDeg: angle < 360 ? angle : angle === 360 ? 0 : null,
      altitudeM,
      satellites,
      ignition,
      odometerM,
      supplyV,
      fuelL,
      alarms: alarms === null ? NO_ALARMS : alarms,
      attributes,
    });
  }
  return p === end ? null : `${end - p} bytes after the last record`;
}

function signed(id: number, width: number, value: number): number {
  if (signedBytesOf(id) !== width) return value;
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

/** A value that a number can't hold, as its decimal digits. */
function u64(bytes: Buffer, at: number): string {
  return bytes.readBigUInt64BE(at).toString();
}
