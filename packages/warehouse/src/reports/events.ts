import type {
  Alarm,
  AlarmRaised,
  DriverShift,
  EventId,
  FleetEvent,
  FuelChange,
  GeofenceId,
  GeofenceVisit,
  Ignition,
  MaintenanceDue,
  MaintenancePlanId,
  Offline,
  PowerCut,
  SensorId,
  SensorKind,
  SensorThresholdExceeded,
  Speeding,
  Stop,
  Trip,
  VehicleId,
} from '@outrider/domain';
import type { Engine } from '../engines/engine.ts';
import { NOT_REMOVED } from '../events/replacement.ts';
import { boundMs } from '../native/time.ts';

export interface EventsQuestion {
  vehicleId: VehicleId;
  /** Unix milliseconds of the fix that began the event, inclusive. */
  fromMs: number;
  /** Unix milliseconds of the fix that began the event, exclusive. */
  toMs: number;
  /** At most this many events: 1 to 10,000. */
  limit: number;
  /** Where to go on: the `next` of the page before. */
  after?: EventsCursor | null;
}

/** The last event of a page, by what events are ordered by. */
export interface EventsCursor {
  beganAtMs: number;
  id: EventId;
}

export interface Events {
  /** By the time at which they began, oldest first; each as its latest phase reports it. */
  events: FleetEvent[];
  /** Null when there are no more. */
  next: EventsCursor | null;
}

/** What one page may hold at most. */
export const MAX_EVENTS_LIMIT = 10_000;

/** The columns of an {@link EventRow}, in its order. */
export const EVENT_COLUMNS = `id, kind, phase, vehicle_id, toUnixTimestamp64Milli(started_at), toUnixTimestamp64Milli(ended_at),
  latitude_e7, longitude_e7, speed_kmh_x10, toUnixTimestamp64Milli(fix_time), geofence_id, definition_version, end_reason,
  limit_source, limit_kmh, peak_kmh, mean_kmh, distance_m, toUnixTimestamp64Milli(began_at),
  toUnixTimestamp64Milli(from_fix_time), origin, inferred, alarm, start_latitude_e7, start_longitude_e7, moving_ms, idling_ms,
  plan_id, plan_name, stage, cause, driver_code,
  volume_l, level_before_l, level_after_l, fuel_used_l, while_moving, sensor_id, sensor_name, sensor_kind, unit,
  threshold_id, condition, threshold_min, threshold_max, sensor_value, sensor_peak`;

/**
 * The vehicle's events that began in a time range, a page at a time.
 *
 * @throws {RangeError} when the limit is not 1 to 10,000, or a time is not a number
 */
export async function events(engine: Engine, question: EventsQuestion): Promise<Events> {
  const { vehicleId, fromMs, toMs, limit, after = null } = question;
  if (!(Number.isInteger(limit) && limit >= 1 && limit <= MAX_EVENTS_LIMIT))
    throw new RangeError(`The limit of events must be 1 to ${MAX_EVENTS_LIMIT}, not ${limit}`);
  const parameters: Record<string, string | number> = {
    vehicleId,
    fromMs: boundMs(fromMs),
    toMs: boundMs(toMs),
    limit: limit + 1,
  };
  const conditions = [
    'vehicle_id = {vehicleId:UUID}',
    "began_at >= fromUnixTimestamp64Milli({fromMs:Int64}, 'UTC')",
    "began_at < fromUnixTimestamp64Milli({toMs:Int64}, 'UTC')",
    NOT_REMOVED,
  ];
  if (after) {
    parameters.afterMs = boundMs(after.beganAtMs);
    parameters.afterId = after.id;
    conditions.push("(began_at, id) > (fromUnixTimestamp64Milli({afterMs:Int64}, 'UTC'), {afterId:UUID})");
  }
  const rows = (await engine.select({
    sql: `SELECT ${EVENT_COLUMNS} FROM events FINAL WHERE ${conditions.join(' AND ')}
      ORDER BY vehicle_id, began_at, id LIMIT {limit:UInt32}`,
    parameters,
  })) as EventRow[];
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const next = rows.length > limit && last ? { beganAtMs: last[18], id: last[0] } : null;
  return { events: page.map(fleetEvent), next };
}

/** An event as it is selected. */
export type EventRow = [
  id: EventId,
  kind: FleetEvent['kind'],
  phase: FleetEvent['phase'],
  vehicleId: VehicleId,
  startedAtMs: number,
  endedAtMs: number | null,
  latitudeE7: number,
  longitudeE7: number,
  speedKmhX10: number | null,
  fixTimeMs: number,
  geofenceId: GeofenceId | null,
  definitionVersion: number,
  endReason: string,
  limitSource: string,
  limitKmh: number | null,
  peakKmh: number | null,
  meanKmh: number | null,
  distanceM: number | null,
  beganAtMs: number,
  fromFixTimeMs: number,
  origin: FleetEvent['origin'],
  inferred: boolean,
  alarm: string,
  startLatitudeE7: number | null,
  startLongitudeE7: number | null,
  movingMs: number | null,
  idlingMs: number | null,
  planId: MaintenancePlanId | null,
  planName: string,
  stage: string,
  cause: string,
  driverCode: string,
  volumeL: number | null,
  levelBeforeL: number | null,
  levelAfterL: number | null,
  fuelUsedL: number | null,
  whileMoving: boolean,
  sensorId: SensorId | null,
  sensorName: string,
  sensorKind: string,
  unit: string,
  thresholdId: string | null,
  condition: string,
  thresholdMin: number | null,
  thresholdMax: number | null,
  sensorValue: number | null,
  sensorPeak: number | null,
];

/** @throws {Error} when the archive lacks what every such event has */
export function fleetEvent(row: EventRow): FleetEvent {
  const base = {
    id: row[0],
    phase: row[2],
    vehicleId: row[3],
    startedAtMs: row[4],
    endedAtMs: row[5],
    latitude: row[6] / 1e7,
    longitude: row[7] / 1e7,
    speedKmh: row[8] === null ? null : row[8] / 10,
    fromFixTimeMs: row[19],
    fixTimeMs: row[9],
    definitionVersion: row[11],
    origin: row[20],
    inferred: row[21],
    ...(row[23] === null || row[24] === null ? {} : { startLatitude: row[23] / 1e7, startLongitude: row[24] / 1e7 }),
    ...(row[31] !== '' && { driverCode: row[31] }),
  };
  switch (row[1]) {
    case 'geofence-visit': {
      const endReason = reasonOf<GeofenceVisit>(row);
      return { ...base, kind: 'geofence-visit', geofenceId: present(row[10], 'geofence_id'), endReason };
    }
    case 'speeding':
      return {
        ...base,
        kind: 'speeding',
        limitSource: row[13] as Speeding['limitSource'],
        geofenceId: row[10],
        limitKmh: present(row[14], 'limit_kmh'),
        peakKmh: present(row[15], 'peak_kmh'),
        meanKmh: present(row[16], 'mean_kmh'),
        distanceM: present(row[17], 'distance_m'),
        endReason: reasonOf<Speeding>(row),
      };
    case 'trip':
      return {
        ...base,
        kind: 'trip',
        startLatitude: present(row[23], 'start_latitude_e7') / 1e7,
        startLongitude: present(row[24], 'start_longitude_e7') / 1e7,
        distanceM: present(row[17], 'distance_m'),
        movingMs: present(row[25], 'moving_ms'),
        idlingMs: present(row[26], 'idling_ms'),
        maxKmh: present(row[15], 'peak_kmh'),
        meanKmh: present(row[16], 'mean_kmh'),
        ...tankLevels(row),
        endReason: reasonOf<Trip>(row),
      };
    case 'parking':
    case 'idling':
      return {
        ...base,
        kind: row[1],
        idlingMs: present(row[26], 'idling_ms'),
        ...tankLevels(row),
        endReason: reasonOf<Stop>(row),
      };
    case 'ignition':
      return { ...base, kind: 'ignition', endReason: reasonOf<Ignition>(row) };
    case 'alarm':
      return { ...base, kind: 'alarm', alarm: row[22] as Alarm, endReason: reasonOf<AlarmRaised>(row) };
    case 'power-cut':
      return { ...base, kind: 'power-cut', endReason: reasonOf<PowerCut>(row) };
    case 'offline':
      return { ...base, kind: 'offline', endReason: reasonOf<Offline>(row) };
    case 'maintenance-due':
      return {
        ...base,
        kind: 'maintenance-due',
        planId: present(row[27], 'plan_id'),
        planName: row[28],
        stage: row[29] as MaintenanceDue['stage'],
        cause: row[30] as MaintenanceDue['cause'],
        endReason: reasonOf<MaintenanceDue>(row),
      };
    case 'driver-shift':
      return { ...base, kind: 'driver-shift', driverCode: row[31], endReason: reasonOf<DriverShift>(row) };
    case 'refuelling':
    case 'fuel-drain':
      return {
        ...base,
        kind: row[1],
        volumeL: present(row[32], 'volume_l'),
        levelBeforeL: present(row[33], 'level_before_l'),
        levelAfterL: present(row[34], 'level_after_l'),
        whileMoving: row[36],
        endReason: reasonOf<FuelChange>(row),
      };
    case 'sensor-threshold':
      return {
        ...base,
        kind: 'sensor-threshold',
        sensorId: present(row[37], 'sensor_id'),
        sensorName: row[38],
        sensorKind: row[39] as SensorKind,
        unit: row[40],
        thresholdId: present(row[41], 'threshold_id'),
        condition: row[42] as SensorThresholdExceeded['condition'],
        min: row[43],
        max: row[44],
        value: present(row[45], 'sensor_value'),
        peakValue: present(row[46], 'sensor_peak'),
        endReason: reasonOf<SensorThresholdExceeded>(row),
      };
  }
}

function tankLevels(row: EventRow): Pick<Trip, 'fuelStartL' | 'fuelEndL' | 'fuelUsedL'> {
  const [fuelStartL, fuelEndL, fuelUsedL] = [row[33], row[34], row[35]];
  return {
    ...(fuelStartL !== null && { fuelStartL }),
    ...(fuelEndL !== null && { fuelEndL }),
    ...(fuelUsedL !== null && { fuelUsedL }),
  };
}

function reasonOf<Event extends FleetEvent>(row: EventRow): Event['endReason'] {
  return (row[12] || null) as Event['endReason'];
}

function present<T>(value: T | null, column: string): T {
  if (value === null) throw new Error(`An archived event has no ${column}`);
  return value;
}
