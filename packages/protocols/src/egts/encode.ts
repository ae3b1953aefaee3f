import type { Position } from '@outrider/domain';
import { ByteWriter } from '../byte-writer.ts';
import { clampRound } from '../rounding.ts';
import { ALARM_OF_SOURCE, EPOCH_MS, PLACE, SOURCE, SPEED, SUBRECORD } from './subrecords.ts';
import { buildSubrecord } from './transport.ts';

const U32 = 0xffffffff;
const U24 = 0xffffff;
/** Change of an input: it implies neither an ignition state nor an alarm. */
const NEUTRAL_SOURCE = 4;
const SOURCE_OF_ALARM = new Map([...ALARM_OF_SOURCE].map(([source, alarm]) => [alarm, source]));

/** Encodes one position as the subrecords of a record. The simulator documents what the protocol cannot carry. */
export function encodeTelemetry(position: Position): Buffer {
  const { latitude, longitude, valid, speedKmh, courseDeg, altitudeM, odometerM, satellites, supplyV } = position;
  const course = clampRound(courseDeg ?? 0, 0, 360) % 360;
  const place = new ByteWriter()
    .u32le(clampRound((position.fixTimeMs - EPOCH_MS) / 1000 - 0.5, 0, U32))
    .u32le(clampRound((Math.abs(latitude) / 90) * U32, 0, U32))
    .u32le(clampRound((Math.abs(longitude) / 180) * U32, 0, U32))
    .u8(
      (valid ? PLACE.valid : 0) |
        (latitude < 0 ? PLACE.south : 0) |
        (longitude < 0 ? PLACE.west : 0) |
        (altitudeM !== null ? PLACE.altitude : 0),
    )
    .u16le(
      clampRound((speedKmh ?? 0) * 10, 0, SPEED.mask) |
        (altitudeM !== null && altitudeM < 0 ? SPEED.belowSea : 0) |
        (course > 0xff ? SPEED.courseHigh : 0),
    )
    .u8(course & 0xff);
  writeU24(place, (odometerM ?? 0) / 100);
  place.u8(0).u8(sourceOf(position));
  if (altitudeM !== null) {
    writeU24(place, Math.abs(altitudeM));
    place.u8(0);
  }
  const subrecords = [buildSubrecord(SUBRECORD.place, place.view())];
  if (satellites !== null)
    subrecords.push(buildSubrecord(SUBRECORD.precision, Buffer.of(0x08, clampRound(satellites, 0, 255))));
  if (supplyV !== null)
    subrecords.push(buildSubrecord(SUBRECORD.state, Buffer.of(0, clampRound(supplyV * 10, 0, 255), 0, 0, 0)));
  return Buffer.concat(subrecords);
}

function sourceOf({ alarms, ignition }: Position): number {
  for (const alarm of alarms) {
    const source = SOURCE_OF_ALARM.get(alarm);
    if (source !== undefined) return source;
  }
  return ignition === null ? NEUTRAL_SOURCE : ignition ? SOURCE.ignitionOn : SOURCE.ignitionOff;
}

function writeU24(out: ByteWriter, value: number): void {
  const whole = clampRound(value, 0, U24);
  out.u16le(whole & 0xffff).u8(whole >>> 16);
}
