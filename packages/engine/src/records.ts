import { type FleetEvent, isTimely, type Position, recordMark } from '@outrider/domain';
import { observe, observeBeside } from './conditions.ts';
import { advanceShift, concernsDriver } from './driver-shift.ts';
import { type FuelGauge, measureFuel } from './fuel/tank-watch.ts';
import { gapMsOf, stepM } from './motion.ts';
import { followSensors } from './sensors/sensor-state.ts';
import { atFix } from './step.ts';
import type { VehicleState } from './vehicle-state.ts';

/** Evaluates the driver data of a fix that moves the vehicle, as {@link observe} does for its conditions. */
export function judgeDriver(vehicle: VehicleState, fix: Position, events: FleetEvent[]): void {
  if (!concernsDriver(vehicle, fix) || fix.fixTimeMs < vehicle.recordAtMs) return;
  advanceShift(vehicle, fix, atFix(fix, fix.speedKmh), fix.fixTimeMs === vehicle.recordAtMs, events);
}

/** Evaluates the fuel data of a fix that moves the vehicle. */
export function judgeFuel(
  vehicle: VehicleState,
  gauge: FuelGauge,
  latest: Position | null,
  fix: Position,
  events: FleetEvent[],
): void {
  const metres = latest === null ? 0 : stepM(latest, fix, fix.fixTimeMs - latest.fixTimeMs);
  measureFuel(vehicle, gauge, fix, metres, fix, events);
}

/**
 * Evaluates the attributes of a record with a bad place: at the vehicle's last place, at the time of the record. Before
 * its first good fix a vehicle has no place, and nothing is published.
 */
export function carry(
  vehicle: VehicleState,
  latest: Position | null,
  record: Position,
  receivedAtMs: number,
  events: FleetEvent[],
): void {
  const { definition } = vehicle;
  const { fixTimeMs } = record;
  if (definition === null || latest === null || fixTimeMs < latest.fixTimeMs || !isTimely(record, receivedAtMs)) return;
  const { latitude, longitude } = latest;
  const at = { atMs: fixTimeMs, latitude, longitude, speedKmh: null };
  if (fixTimeMs === latest.fixTimeMs) {
    if (fixTimeMs >= vehicle.recordAtMs) observeBeside(vehicle, definition.version, latest, record, at, events);
    follow(vehicle, record, latest, null, events);
    return;
  }
  const isNewest = fixTimeMs > vehicle.recordAtMs;
  if (isNewest && concernsDriver(vehicle, record)) advanceShift(vehicle, record, at, false, events);
  observe(vehicle, definition.version, record, at, events);
  follow(vehicle, record, latest, null, events);
  if (!isNewest) return;
  if (vehicle.gauge !== null) measureFuel(vehicle, vehicle.gauge, record, null, latest, events);
  vehicle.recordAtMs = fixTimeMs;
  vehicle.beside = { atMs: fixTimeMs, marks: [recordMark(record)] };
  // The steady state may have changed; the next fix determines it again.
  vehicle.steadyEpoch = -1;
}

/** Evaluates another good record of the newest fix's time. The vehicle stays where the first record put it. */
export function besideFix(
  vehicle: VehicleState,
  latest: Position,
  speedKmh: number | null,
  record: Position,
  events: FleetEvent[],
): void {
  const { definition } = vehicle;
  if (definition !== null) observeBeside(vehicle, definition.version, latest, record, atFix(latest, speedKmh), events);
  follow(vehicle, record, latest, speedKmh, events);
}

/** Passes a record to the sensors that need every value. */
export function follow(
  vehicle: VehicleState,
  record: Position,
  place: Position,
  speedKmh: number | null,
  events: FleetEvent[],
): void {
  const { sensors, definition } = vehicle;
  if (sensors === null || definition === null || sensors.sensors.followed.length === 0) return;
  followSensors(vehicle, sensors, definition.version, record, place, speedKmh, gapMsOf(definition), events);
}
