import { rejectionOfFix } from '@outrider/domain';
import type { NativeBlock, NativeColumn } from '../native/block.ts';
import {
  fixedColumn,
  Int64Values,
  LowCardinalityValues,
  nullableColumn,
  OffsetValues,
  UuidValues,
} from '../native/columns.ts';

/** Number of positions of one packet that have distinct precedence; all after them share the last. */
const PACKET_PLACES = 1024;

/** The columns of table `positions`, to be filled row by row from the first. */
export class PositionColumns {
  readonly rows: number;
  readonly vehicleIds: UuidValues;
  readonly fixTimes: Int64Values;
  readonly rejections: LowCardinalityValues;
  readonly latitudes: Int32Array;
  readonly longitudes: Int32Array;
  readonly valid: Uint8Array;
  readonly noSpeed: Uint8Array;
  readonly speeds: Uint16Array;
  readonly noCourse: Uint8Array;
  readonly courses: Uint16Array;
  readonly noAltitude: Uint8Array;
  readonly altitudes: Int16Array;
  readonly noSatellites: Uint8Array;
  readonly satellites: Uint8Array;
  readonly noIgnition: Uint8Array;
  readonly ignitions: Uint8Array;
  readonly noOdometer: Uint8Array;
  readonly odometers: Uint32Array;
  readonly noSupply: Uint8Array;
  readonly supplies: Uint32Array;
  readonly noFuel: Uint8Array;
  readonly fuels: Uint32Array;
  readonly alarms = new LowCardinalityValues();
  readonly alarmEnds: OffsetValues;
  readonly terminalIds: LowCardinalityValues;
  readonly protocols: LowCardinalityValues;
  readonly marks: Uint32Array;
  readonly receivedAt: Int64Values;
  readonly precedence: PrecedenceValues;
  /** Index of the value for accepted positions. */
  readonly #good: number;

  constructor(rows: number) {
    this.rows = rows;
    this.vehicleIds = new UuidValues(rows);
    this.fixTimes = new Int64Values(rows);
    this.rejections = new LowCardinalityValues(rows || 1);
    this.latitudes = new Int32Array(rows);
    this.longitudes = new Int32Array(rows);
    this.valid = new Uint8Array(rows);
    this.noSpeed = new Uint8Array(rows);
    this.speeds = new Uint16Array(rows);
    this.noCourse = new Uint8Array(rows);
    this.courses = new Uint16Array(rows);
    this.noAltitude = new Uint8Array(rows);
    this.altitudes = new Int16Array(rows);
    this.noSatellites = new Uint8Array(rows);
    this.satellites = new Uint8Array(rows);
    this.noIgnition = new Uint8Array(rows);
    this.ignitions = new Uint8Array(rows);
    this.noOdometer = new Uint8Array(rows);
    this.odometers = new Uint32Array(rows);
    this.noSupply = new Uint8Array(rows);
    this.supplies = new Uint32Array(rows);
    this.noFuel = new Uint8Array(rows);
    this.fuels = new Uint32Array(rows);
    this.alarmEnds = new OffsetValues(rows);
    this.terminalIds = new LowCardinalityValues(rows || 1);
    this.protocols = new LowCardinalityValues(rows || 1);
    this.marks = new Uint32Array(rows);
    this.receivedAt = new Int64Values(rows);
    this.precedence = new PrecedenceValues(rows);
    this.#good = this.rejections.index('');
  }

  /** Sets whether the fix of the next row is good. */
  pushRejection(fixTimeMs: number, latitude: number, longitude: number, receivedAtMs: number): void {
    const rejection = rejectionOfFix(fixTimeMs, latitude, longitude, receivedAtMs);
    this.rejections.pushIndex(rejection === null ? this.#good : this.rejections.index(rejection));
  }

  /** @param attributes the column `attributes` */
  block(attributes: NativeColumn): NativeBlock {
    return {
      rows: this.rows,
      columns: [
        this.vehicleIds.column('vehicle_id'),
        this.fixTimes.column('fix_time', "DateTime64(3, 'UTC')"),
        this.rejections.column('rejection'),
        fixedColumn('latitude_e7', 'Int32', this.latitudes),
        fixedColumn('longitude_e7', 'Int32', this.longitudes),
        fixedColumn('valid', 'Bool', this.valid),
        nullableColumn('speed_kmh_x10', 'UInt16', this.noSpeed, this.speeds),
        nullableColumn('course_deg', 'UInt16', this.noCourse, this.courses),
        nullableColumn('altitude_m', 'Int16', this.noAltitude, this.altitudes),
        nullableColumn('satellites', 'UInt8', this.noSatellites, this.satellites),
        nullableColumn('ignition', 'Bool', this.noIgnition, this.ignitions),
        nullableColumn('odometer_m', 'UInt32', this.noOdometer, this.odometers),
        nullableColumn('supply_v_x1000', 'UInt32', this.noSupply, this.supplies),
        nullableColumn('fuel_l_x10', 'UInt32', this.noFuel, this.fuels),
        this.alarms.arrayColumn('alarms', this.alarmEnds),
        attributes,
        this.terminalIds.column('terminal_id'),
        this.protocols.column('protocol'),
        this.receivedAt.column('received_at', "DateTime64(3, 'UTC')"),
        this.precedence.column('precedence'),
        fixedColumn('record', 'UInt32', this.marks),
      ],
    };
  }
}

/**
 * The version that makes the first of several positions of one vehicle and time win. It decreases with the offset, and
 * within a packet with the index: the complement of offset * PACKET_PLACES + place, in two 32-bit halves.
 */
class PrecedenceValues {
  readonly #halves: Uint32Array;

  constructor(rows: number) {
    this.#halves = new Uint32Array(rows * 2);
  }

  set(row: number, offset: number, place: number): void {
    // offset < 2^53, so its product with 2^10 needs 63 bits: the halves are computed separately.
    const offsetLow = offset % 0x40_0000;
    const low = offsetLow * PACKET_PLACES + Math.min(place, PACKET_PLACES - 1);
    const high = (offset - offsetLow) / 0x40_0000;
    // The complement of both halves decreases as the number grows.
    this.#halves[row * 2] = ~low >>> 0;
    this.#halves[row * 2 + 1] = ~high >>> 0;
  }

  column(name: string) {
    return fixedColumn(name, 'UInt64', this.#halves);
  }
}
