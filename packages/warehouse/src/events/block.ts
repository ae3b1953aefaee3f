import type { FleetEvent } from '@outrider/domain';
import type { NativeBlock } from '../native/block.ts';
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
  const limitSources = new LowCardinalityValues(rows || 1);
  const notSpeeding = new Uint8Array(rows);
  const limits = new Float64Array(rows);
  const peaks = new Float64Array(rows);
  const means = new Float64Array(rows);
  const distances = new Float64Array(rows);
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
    if (event.geofenceId === null) noGeofence[row] = 1;
    else geofenceIds.set(row, uuidWords(event.geofenceId));
    endReasons.push(event.endReason ?? '');
    // As for positions, the first of several that say different things stands.
    precedence[row] = (event.phase === 'end' ? END_PRECEDENCE : 0n) + BigInt(Number.MAX_SAFE_INTEGER - offset);

    switch (event.kind) {
      case 'geofence-visit':
        definitionVersions[row] = event.geofenceVersion;
        limitSources.push('');
        notSpeeding[row] = 1;
        break;
      case 'speeding':
        definitionVersions[row] = event.definitionVersion;
        limitSources.push(event.limitSource);
        limits[row] = event.limitKmh;
        peaks[row] = event.peakKmh;
        means[row] = event.meanKmh;
        distances[row] = event.distanceM;
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
      geofenceIds.nullableColumn('geofence_id', noGeofence),
      fixedColumn('definition_version', 'UInt32', definitionVersions),
      endReasons.column('end_reason'),
      limitSources.column('limit_source'),
      nullableColumn('limit_kmh', 'Float64', notSpeeding, limits),
      nullableColumn('peak_kmh', 'Float64', notSpeeding, peaks),
      nullableColumn('mean_kmh', 'Float64', notSpeeding, means),
      nullableColumn('distance_m', 'Float64', notSpeeding, distances),
      fixedColumn('precedence', 'UInt64', precedence),
    ],
  };
}

/** The time in an event's id: Unix milliseconds of the fix that began it (see `deriveEventId`). */
function beganAtOf(eventId: string): number {
  return Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16);
}
