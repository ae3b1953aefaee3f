import { type FleetEvent, geofenceOf } from '@outrider/domain';
import type { NativeBlock, NativeColumn } from '../native/block.ts';
import {
  fixedColumn,
  Int64Values,
  LowCardinalityValues,
  nullableColumn,
  UuidValues,
  uuidWords,
} from '../native/columns.ts';
import { clamp, degreesE7 } from '../native/scaled.ts';
import type { Recorded } from '../recorded.ts';

/** The version of an event's end stands over that of its begin, whatever their offsets. */
const END_PRECEDENCE = 1n << 62n;

/**
 * Events as rows of table `events`.
 *
 * @throws {UnfitRecordError} when an id is not a UUID
 */
export function eventBlock(events: readonly Recorded<FleetEvent>[]): NativeBlock {
  const rows = events.length;
  const vehicleIds = new UuidValues(rows);
  const beganAt = new Int64Values(rows);
  const ids = new UuidValues(rows);
  const kinds = new LowCardinalityValues(rows || 1);
  const phases = new LowCardinalityValues(rows || 1);
  const startedAt = new Int64Values(rows);
  const notEnded = new Uint8Array(rows);
  const endedAt = new Int64Values(rows);
  const latitudes = new Int32Array(rows);
  const longitudes = new Int32Array(rows);
  const noSpeed = new Uint8Array(rows);
  const speeds = new Uint16Array(rows);
  const fixTimes = new Int64Values(rows);
  const noGeofence = new Uint8Array(rows);
  const geofenceIds = new UuidValues(rows);
  const definitionVersions = new Uint32Array(rows);
  const endReasons = new LowCardinalityValues(rows || 1);
  const fromFixTimes = new Int64Values(rows);
  const origins = new LowCardinalityValues(rows || 1);
  const inferred = new Uint8Array(rows);
  const alarms = new LowCardinalityValues(rows || 1);
  const limitSources = new LowCardinalityValues(rows || 1);
  const limits = new Measures(rows);
  const peaks = new Measures(rows);
  const means = new Measures(rows);
  const distances = new Measures(rows);
  const moving = new Measures(rows);
  const idling = new Measures(rows);
  const noStart = new Uint8Array(rows).fill(1);
  const startLatitudes = new Int32Array(rows);
  const startLongitudes = new Int32Array(rows);
  const precedence = new BigUint64Array(rows);

  events.forEach(({ offset, value: event }, row) => {
    vehicleIds.set(row, uuidWords(event.vehicleId));
    ids.set(row, uuidWords(event.id));
    beganAt.set(row, beganAtOf(event.id));
    kinds.push(event.kind);
    phases.push(event.phase);
    startedAt.set(row, event.startedAtMs);
    if (event.endedAtMs === null) notEnded[row] = 1;
    else endedAt.set(row, event.endedAtMs);
    latitudes[row] = degreesE7(event.latitude);
    longitudes[row] = degreesE7(event.longitude);
    if (event.speedKmh === null) noSpeed[row] = 1;
    else speeds[row] = clamp(event.speedKmh * 10, 0, 0xffff);
    fixTimes.set(row, event.fixTimeMs);
    fromFixTimes.set(row, event.fromFixTimeMs);
    definitionVersions[row] = event.definitionVersion;
    origins.push(event.origin);
    if (event.inferred) inferred[row] = 1;
    if (event.startLatitude !== undefined && event.startLongitude !== undefined) {
      noStart[row] = 0;
      startLatitudes[row] = degreesE7(event.startLatitude);
      startLongitudes[row] = degreesE7(event.startLongitude);
    }
    const geofenceId = geofenceOf(event);
    if (geofenceId === null) noGeofence[row] = 1;
    else geofenceIds.set(row, uuidWords(geofenceId));
    alarms.push(event.kind === 'alarm' ? event.alarm : '');
    limitSources.push(event.kind === 'speeding' ? event.limitSource : '');
    endReasons.push(event.endReason ?? '');
    // As for positions, the first of several that say different things stands.
    precedence[row] = (event.phase === 'end' ? END_PRECEDENCE : 0n) + BigInt(Number.MAX_SAFE_INTEGER - offset);

    switch (event.kind) {
      case 'speeding':
        limits.set(row, event.limitKmh);
        peaks.set(row, event.peakKmh);
        means.set(row, event.meanKmh);
        distances.set(row, event.distanceM);
        break;
      case 'trip':
        peaks.set(row, event.maxKmh);
        means.set(row, event.meanKmh);
        distances.set(row, event.distanceM);
        moving.set(row, event.movingMs);
        idling.set(row, event.idlingMs);
        break;
      case 'parking':
      case 'idling':
        idling.set(row, event.idlingMs);
        break;
      case 'geofence-visit':
      case 'ignition':
      case 'alarm':
      case 'power-cut':
      case 'offline':
        break;
    }
  });

  const time = "DateTime64(3, 'UTC')";
  return {
    rows,
    columns: [
      vehicleIds.column('vehicle_id'),
      beganAt.column('began_at', time),
      ids.column('id'),
      kinds.column('kind'),
      phases.column('phase'),
      startedAt.column('started_at', time),
      endedAt.nullableColumn('ended_at', time, notEnded),
      fixedColumn('latitude_e7', 'Int32', latitudes),
      fixedColumn('longitude_e7', 'Int32', longitudes),
      nullableColumn('speed_kmh_x10', 'UInt16', noSpeed, speeds),
      fixTimes.column('fix_time', time),
      fromFixTimes.column('from_fix_time', time),
      geofenceIds.nullableColumn('geofence_id', noGeofence),
      fixedColumn('definition_version', 'UInt32', definitionVersions),
      origins.column('origin'),
      fixedColumn('inferred', 'Bool', inferred),
      endReasons.column('end_reason'),
      alarms.column('alarm'),
      limitSources.column('limit_source'),
      limits.column('limit_kmh'),
      peaks.column('peak_kmh'),
      means.column('mean_kmh'),
      distances.column('distance_m'),
      nullableColumn('start_latitude_e7', 'Int32', noStart, startLatitudes),
      nullableColumn('start_longitude_e7', 'Int32', noStart, startLongitudes),
      moving.column('moving_ms'),
      idling.column('idling_ms'),
      fixedColumn('precedence', 'UInt64', precedence),
    ],
  };
}

/** Numbers that only some kinds of event have. */
class Measures {
  readonly #values: Float64Array;
  readonly #missing: Uint8Array;

  constructor(rows: number) {
    this.#values = new Float64Array(rows);
    this.#missing = new Uint8Array(rows).fill(1);
  }

  set(row: number, value: number): void {
    this.#values[row] = value;
    this.#missing[row] = 0;
  }

  column(name: string): NativeColumn {
    return nullableColumn(name, 'Float64', this.#missing, this.#values);
  }
}

/** The time in an event's id: Unix milliseconds of the fix that began it (see `deriveEventId`). */
function beganAtOf(eventId: string): number {
  return Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16);
}
