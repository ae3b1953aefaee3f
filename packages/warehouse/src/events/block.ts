import { type FleetEvent, geofenceOf, type Stop, type Trip } from '@outrider/domain';
import type { NativeBlock, NativeColumn } from '../native/block.ts';
import {
  fixedColumn,
  Int64Values,
  LowCardinalityValues,
  nullableColumn,
  StringValues,
  UuidValues,
  uuidWords,
} from '../native/columns.ts';
import { clamp, degreesE7 } from '../native/scaled.ts';
import type { Recorded } from '../recorded.ts';

/** The version of an event's end stands over that of its begin, whatever their offsets. */
const END_PRECEDENCE = 1n << 62n;

const TIME = "DateTime64(3, 'UTC')";

/**
 * Events as rows of table `events`.
 *
 * @throws {UnfitRecordError} when an id is not a UUID
 */
export function eventBlock(events: readonly Recorded<FleetEvent>[]): NativeBlock {
  const rows = events.length;
  const columns = emptyColumns(rows);
  for (const [row, { offset, value }] of events.entries()) setRow(columns, row, offset, value);
  return { rows, columns: nativeColumns(columns) };
}

/** The columns of table `events`. */
function emptyColumns(rows: number) {
  return {
    vehicleIds: new UuidValues(rows),
    beganAt: new Int64Values(rows),
    ids: new UuidValues(rows),
    kinds: new LowCardinalityValues(rows || 1),
    phases: new LowCardinalityValues(rows || 1),
    startedAt: new Int64Values(rows),
    notEnded: new Uint8Array(rows),
    endedAt: new Int64Values(rows),
    latitudes: new Int32Array(rows),
    longitudes: new Int32Array(rows),
    noSpeed: new Uint8Array(rows),
    speeds: new Uint16Array(rows),
    fixTimes: new Int64Values(rows),
    noGeofence: new Uint8Array(rows),
    geofenceIds: new UuidValues(rows),
    definitionVersions: new Uint32Array(rows),
    endReasons: new LowCardinalityValues(rows || 1),
    fromFixTimes: new Int64Values(rows),
    origins: new LowCardinalityValues(rows || 1),
    inferred: new Uint8Array(rows),
    alarms: new LowCardinalityValues(rows || 1),
    limitSources: new LowCardinalityValues(rows || 1),
    limits: new Measures(rows),
    peaks: new Measures(rows),
    means: new Measures(rows),
    distances: new Measures(rows),
    moving: new Measures(rows),
    idling: new Measures(rows),
    noStart: new Uint8Array(rows).fill(1),
    startLatitudes: new Int32Array(rows),
    startLongitudes: new Int32Array(rows),
    noPlan: new Uint8Array(rows),
    planIds: new UuidValues(rows),
    planNames: new StringValues(16),
    stages: new LowCardinalityValues(rows || 1),
    causes: new LowCardinalityValues(rows || 1),
    driverCodes: new LowCardinalityValues(rows || 1),
    volumes: new Measures(rows),
    levelsBefore: new Measures(rows),
    levelsAfter: new Measures(rows),
    fuelUsed: new Measures(rows),
    whileMoving: new Uint8Array(rows),
    noSensor: new Uint8Array(rows),
    sensorIds: new UuidValues(rows),
    sensorNames: new StringValues(16),
    sensorKinds: new LowCardinalityValues(rows || 1),
    units: new LowCardinalityValues(rows || 1),
    thresholdIds: new UuidValues(rows),
    conditions: new LowCardinalityValues(rows || 1),
    thresholdMins: new Measures(rows),
    thresholdMaxes: new Measures(rows),
    sensorValues: new Measures(rows),
    sensorPeaks: new Measures(rows),
    precedence: new BigUint64Array(rows),
  };
}
type EventColumns = ReturnType<typeof emptyColumns>;

function setRow(columns: EventColumns, row: number, offset: number, event: FleetEvent): void {
  columns.vehicleIds.set(row, uuidWords(event.vehicleId));
  columns.ids.set(row, uuidWords(event.id));
  columns.beganAt.set(row, beganAtOf(event.id));
  columns.kinds.push(event.kind);
  columns.phases.push(event.phase);
  columns.startedAt.set(row, event.startedAtMs);
  if (event.endedAtMs === null) columns.notEnded[row] = 1;
  else columns.endedAt.set(row, event.endedAtMs);
  columns.latitudes[row] = degreesE7(event.latitude);
  columns.longitudes[row] = degreesE7(event.longitude);
  if (event.speedKmh === null) columns.noSpeed[row] = 1;
  else columns.speeds[row] = clamp(event.speedKmh * 10, 0, 0xffff);
  columns.fixTimes.set(row, event.fixTimeMs);
  columns.fromFixTimes.set(row, event.fromFixTimeMs);
  columns.definitionVersions[row] = event.definitionVersion;
  columns.origins.push(event.origin);
  if (event.inferred) columns.inferred[row] = 1;
  if (event.startLatitude !== undefined && event.startLongitude !== undefined) {
    columns.noStart[row] = 0;
    columns.startLatitudes[row] = degreesE7(event.startLatitude);
    columns.startLongitudes[row] = degreesE7(event.startLongitude);
  }
  const geofenceId = geofenceOf(event);
  if (geofenceId === null) columns.noGeofence[row] = 1;
  else columns.geofenceIds.set(row, uuidWords(geofenceId));
  const maintenance = event.kind === 'maintenance-due' ? event : null;
  if (maintenance === null) columns.noPlan[row] = 1;
  else columns.planIds.set(row, uuidWords(maintenance.planId));
  columns.planNames.push(maintenance?.planName ?? '');
  columns.stages.push(maintenance?.stage ?? '');
  columns.causes.push(maintenance?.cause ?? '');
  const threshold = event.kind === 'sensor-threshold' ? event : null;
  if (threshold === null) columns.noSensor[row] = 1;
  else {
    columns.sensorIds.set(row, uuidWords(threshold.sensorId));
    columns.thresholdIds.set(row, uuidWords(threshold.thresholdId));
  }
  columns.sensorNames.push(threshold?.sensorName ?? '');
  columns.sensorKinds.push(threshold?.sensorKind ?? '');
  columns.units.push(threshold?.unit ?? '');
  columns.conditions.push(threshold?.condition ?? '');
  columns.alarms.push(event.kind === 'alarm' ? event.alarm : '');
  columns.limitSources.push(event.kind === 'speeding' ? event.limitSource : '');
  columns.endReasons.push(event.endReason ?? '');
  columns.driverCodes.push(event.driverCode ?? '');
  // As for positions, the first of several that say different things stands.
  columns.precedence[row] = (event.phase === 'end' ? END_PRECEDENCE : 0n) + BigInt(Number.MAX_SAFE_INTEGER - offset);
  setMeasures(columns, row, event);
}

function setMeasures(columns: EventColumns, row: number, event: FleetEvent): void {
  switch (event.kind) {
    case 'speeding':
      columns.limits.set(row, event.limitKmh);
      columns.peaks.set(row, event.peakKmh);
      columns.means.set(row, event.meanKmh);
      columns.distances.set(row, event.distanceM);
      break;
    case 'trip':
      columns.peaks.set(row, event.maxKmh);
      columns.means.set(row, event.meanKmh);
      columns.distances.set(row, event.distanceM);
      columns.moving.set(row, event.movingMs);
      columns.idling.set(row, event.idlingMs);
      setTankLevels(columns, row, event);
      break;
    case 'sensor-threshold':
      if (event.min !== null) columns.thresholdMins.set(row, event.min);
      if (event.max !== null) columns.thresholdMaxes.set(row, event.max);
      columns.sensorValues.set(row, event.value);
      columns.sensorPeaks.set(row, event.peakValue);
      break;
    case 'parking':
    case 'idling':
      columns.idling.set(row, event.idlingMs);
      setTankLevels(columns, row, event);
      break;
    case 'refuelling':
    case 'fuel-drain':
      columns.volumes.set(row, event.volumeL);
      columns.levelsBefore.set(row, event.levelBeforeL);
      columns.levelsAfter.set(row, event.levelAfterL);
      if (event.whileMoving) columns.whileMoving[row] = 1;
      break;
  }
}

function setTankLevels(columns: EventColumns, row: number, { fuelStartL, fuelEndL, fuelUsedL }: Trip | Stop): void {
  if (fuelStartL !== undefined) columns.levelsBefore.set(row, fuelStartL);
  if (fuelEndL !== undefined) columns.levelsAfter.set(row, fuelEndL);
  if (fuelUsedL !== undefined) columns.fuelUsed.set(row, fuelUsedL);
}

function nativeColumns(columns: EventColumns): NativeColumn[] {
  return [
    columns.vehicleIds.column('vehicle_id'),
    columns.beganAt.column('began_at', TIME),
    columns.ids.column('id'),
    columns.kinds.column('kind'),
    columns.phases.column('phase'),
    columns.startedAt.column('started_at', TIME),
    columns.endedAt.nullableColumn('ended_at', TIME, columns.notEnded),
    fixedColumn('latitude_e7', 'Int32', columns.latitudes),
    fixedColumn('longitude_e7', 'Int32', columns.longitudes),
    nullableColumn('speed_kmh_x10', 'UInt16', columns.noSpeed, columns.speeds),
    columns.fixTimes.column('fix_time', TIME),
    columns.fromFixTimes.column('from_fix_time', TIME),
    columns.geofenceIds.nullableColumn('geofence_id', columns.noGeofence),
    fixedColumn('definition_version', 'UInt32', columns.definitionVersions),
    columns.origins.column('origin'),
    fixedColumn('inferred', 'Bool', columns.inferred),
    columns.endReasons.column('end_reason'),
    columns.alarms.column('alarm'),
    columns.limitSources.column('limit_source'),
    columns.limits.column('limit_kmh'),
    columns.peaks.column('peak_kmh'),
    columns.means.column('mean_kmh'),
    columns.distances.column('distance_m'),
    nullableColumn('start_latitude_e7', 'Int32', columns.noStart, columns.startLatitudes),
    nullableColumn('start_longitude_e7', 'Int32', columns.noStart, columns.startLongitudes),
    columns.moving.column('moving_ms'),
    columns.idling.column('idling_ms'),
    columns.planIds.nullableColumn('plan_id', columns.noPlan),
    columns.planNames.column('plan_name'),
    columns.stages.column('stage'),
    columns.causes.column('cause'),
    columns.driverCodes.column('driver_code'),
    columns.volumes.column('volume_l'),
    columns.levelsBefore.column('level_before_l'),
    columns.levelsAfter.column('level_after_l'),
    columns.fuelUsed.column('fuel_used_l'),
    fixedColumn('while_moving', 'Bool', columns.whileMoving),
    columns.sensorIds.nullableColumn('sensor_id', columns.noSensor),
    columns.sensorNames.column('sensor_name'),
    columns.sensorKinds.column('sensor_kind'),
    columns.units.column('unit'),
    columns.thresholdIds.nullableColumn('threshold_id', columns.noSensor),
    columns.conditions.column('condition'),
    columns.thresholdMins.column('threshold_min'),
    columns.thresholdMaxes.column('threshold_max'),
    columns.sensorValues.column('sensor_value'),
    columns.sensorPeaks.column('sensor_peak'),
    fixedColumn('precedence', 'UInt64', columns.precedence),
  ];
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
