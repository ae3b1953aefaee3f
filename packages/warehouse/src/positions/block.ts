import { type Position, recordMark, rejectionOf, type TelemetryPacket } from '@outrider/domain';
import type { NativeBlock } from '../native/block.ts';
import {
  fixedColumn,
  Int64Values,
  LowCardinalityValues,
  nullableColumn,
  OffsetValues,
  StringValues,
  UuidValues,
  uuidWords,
} from '../native/columns.ts';
import { clamp, degreesE7 } from '../native/scaled.ts';
import { storableMs } from '../native/time.ts';
import type { Recorded } from '../recorded.ts';

/** How many positions of one packet have an order of precedence of their own; all after them share the last. */
const PACKET_PLACES = 1024;

/**
 * The positions of packets as rows of table `positions`. One pass over the positions, straight into the columns.
 *
 * What a column can't hold is put in as the nearest that it can (a latitude of 500 degrees as 214.7, which is flagged
 * `out-of-range` all the same).
 *
 * @throws {UnfitRecordError} when a vehicle id is not a UUID
 */
export function positionBlock(packets: readonly Recorded<TelemetryPacket>[]): NativeBlock {
  let rows = 0;
  for (const { value } of packets) rows += value.positions.length;

  const vehicleIds = new UuidValues(rows);
  const fixTimes = new Int64Values(rows);
  const rejections = new LowCardinalityValues(rows || 1);
  const latitudes = new Int32Array(rows);
  const longitudes = new Int32Array(rows);
  const valid = new Uint8Array(rows);
  const noSpeed = new Uint8Array(rows);
  const speeds = new Uint16Array(rows);
  const noCourse = new Uint8Array(rows);
  const courses = new Uint16Array(rows);
  const noAltitude = new Uint8Array(rows);
  const altitudes = new Int16Array(rows);
  const noSatellites = new Uint8Array(rows);
  const satellites = new Uint8Array(rows);
  const noIgnition = new Uint8Array(rows);
  const ignitions = new Uint8Array(rows);
  const noOdometer = new Uint8Array(rows);
  const odometers = new Uint32Array(rows);
  const noSupply = new Uint8Array(rows);
  const supplies = new Uint32Array(rows);
  const noFuel = new Uint8Array(rows);
  const fuels = new Uint32Array(rows);
  const alarms = new LowCardinalityValues();
  const alarmEnds = new OffsetValues(rows);
  let alarmCount = 0;
  const attributes = new StringValues(rows * 16 + 16);
  const terminalIds = new LowCardinalityValues(rows || 1);
  const protocols = new LowCardinalityValues(rows || 1);
  const marks = new Uint32Array(rows);
  const receivedAt = new Int64Values(rows);
  const precedence = new PrecedenceValues(rows);

  const good = rejections.index('');
  let row = 0;
  for (const { offset, value: packet } of packets) {
    const vehicleId = uuidWords(packet.vehicleId);
    const terminalId = terminalIds.index(packet.terminalId);
    const protocol = protocols.index(packet.protocol);
    const { receivedAtMs, positions } = packet;
    for (let place = 0; place < positions.length; place++, row++) {
      const position = positions[place] as Position;
      vehicleIds.set(row, vehicleId);
      terminalIds.pushIndex(terminalId);
      protocols.pushIndex(protocol);
      receivedAt.set(row, receivedAtMs);
      precedence.set(row, offset, place);

      const rejection = rejectionOf(position, receivedAtMs);
      rejections.pushIndex(rejection === null ? good : rejections.index(rejection));
      marks[row] = recordMark(position);
      fixTimes.set(row, storableMs(position.fixTimeMs));
      latitudes[row] = degreesE7(position.latitude);
      longitudes[row] = degreesE7(position.longitude);
      valid[row] = position.valid ? 1 : 0;

      if (position.speedKmh === null) noSpeed[row] = 1;
      else speeds[row] = clamp(position.speedKmh * 10, 0, 0xffff);
      if (position.courseDeg === null) noCourse[row] = 1;
      else courses[row] = clamp(position.courseDeg, 0, 0xffff);
      if (position.altitudeM === null) noAltitude[row] = 1;
      else altitudes[row] = clamp(position.altitudeM, -0x8000, 0x7fff);
      if (position.satellites === null) noSatellites[row] = 1;
      else satellites[row] = clamp(position.satellites, 0, 0xff);
      if (position.ignition === null) noIgnition[row] = 1;
      else ignitions[row] = position.ignition ? 1 : 0;
      if (position.odometerM === null) noOdometer[row] = 1;
      else odometers[row] = clamp(position.odometerM, 0, 0xffff_ffff);
      if (position.supplyV === null) noSupply[row] = 1;
      else supplies[row] = clamp(position.supplyV * 1000, 0, 0xffff_ffff);
      if (position.fuelL === null) noFuel[row] = 1;
      else fuels[row] = clamp(position.fuelL * 10, 0, 0xffff_ffff);

      if (position.alarms.length > 0) {
        for (const alarm of position.alarms) alarms.push(alarm);
        alarmCount += position.alarms.length;
      }
      alarmEnds.set(row, alarmCount);

      attributes.push(position.attributes === null ? '' : JSON.stringify(position.attributes));
    }
  }

  return {
    rows,
    columns: [
      vehicleIds.column('vehicle_id'),
      fixTimes.column('fix_time', "DateTime64(3, 'UTC')"),
      rejections.column('rejection'),
      fixedColumn('latitude_e7', 'Int32', latitudes),
      fixedColumn('longitude_e7', 'Int32', longitudes),
      fixedColumn('valid', 'Bool', valid),
      nullableColumn('speed_kmh_x10', 'UInt16', noSpeed, speeds),
      nullableColumn('course_deg', 'UInt16', noCourse, courses),
      nullableColumn('altitude_m', 'Int16', noAltitude, altitudes),
      nullableColumn('satellites', 'UInt8', noSatellites, satellites),
      nullableColumn('ignition', 'Bool', noIgnition, ignitions),
      nullableColumn('odometer_m', 'UInt32', noOdometer, odometers),
      nullableColumn('supply_v_x1000', 'UInt32', noSupply, supplies),
      nullableColumn('fuel_l_x10', 'UInt32', noFuel, fuels),
      alarms.arrayColumn('alarms', alarmEnds),
      attributes.column('attributes'),
      terminalIds.column('terminal_id'),
      protocols.column('protocol'),
      receivedAt.column('received_at', "DateTime64(3, 'UTC')"),
      precedence.column('precedence'),
      fixedColumn('record', 'UInt32', marks),
    ],
  };
}

/**
 * The version by which the first of several positions of one vehicle and time wins: it falls with the offset, and
 * within a packet with the place in it: the complement of offset * PACKET_PLACES + place, in two 32-bit halves.
 */
class PrecedenceValues {
  readonly #halves: Uint32Array;

  constructor(rows: number) {
    this.#halves = new Uint32Array(rows * 2);
  }

  set(row: number, offset: number, place: number): void {
    // offset < 2^53, so its product with 2^10 needs 63 bits: the halves are worked out apart.
    const offsetLow = offset % 0x40_0000;
    const low = offsetLow * PACKET_PLACES + Math.min(place, PACKET_PLACES - 1);
    const high = (offset - offsetLow) / 0x40_0000;
    // The complement of both halves falls as the number grows.
    this.#halves[row * 2] = ~low >>> 0;
    this.#halves[row * 2 + 1] = ~high >>> 0;
  }

  column(name: string) {
    return fixedColumn(name, 'UInt64', this.#halves);
  }
}
