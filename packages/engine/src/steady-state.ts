import type { Position } from '@outrider/domain';
import type { CachedCell } from '@outrider/geo';
import { hasAlarm, saysNothingNew } from './conditions.ts';
import type { OwnerFences } from './geofences/fences.ts';
import { kindOf, leastSpeedKmh } from './motion.ts';
import { isSpeed } from './step.ts';
import type { Moment, Presence, VehicleState } from './vehicle-state.ts';

/**
 * Most fixes change nothing: the vehicle is inside the same geofences as before and passed through no other, nothing
 * waits for time to pass, no limit is near, and it goes on moving, or standing. Such a vehicle is in a steady state.
 * Its bounds are computed after each change ({@link settle}) and compared with each fix, which costs far less than
 * evaluating visits, limits and trips.
 *
 * The bounds are valid for one epoch of the definitions. They are not part of the checkpointed state, since they change
 * no event: without them a fix is evaluated completely, with the same result.
 */

/**
 * Whether the path from the last good fix to the next crosses no boundary of a geofence that may watch the vehicle.
 * False where unknown.
 *
 * @param vehicle settled in the current epoch
 */
export function isInPlace({ watchers, cachedCells }: VehicleState, fix: Position): boolean {
  for (let i = 0; i < watchers.length; i++)
    if (!(watchers[i] as OwnerFences).isUnchanged(cachedCells[i] as CachedCell, fix)) return false;
  return true;
}

/**
 * Whether a fix in the same place changes only the vehicle's place, speed and distance.
 *
 * @param vehicle settled in the current epoch
 */
export function isSteady(vehicle: VehicleState, fix: Position): boolean {
  const { speedKmh } = fix;
  // A speed that the terminal does not send must be computed.
  return isSpeed(speedKmh) && speedKmh <= vehicle.steadyLimitKmh && saysNothingNew(vehicle, fix);
}

/** Whether a vehicle in a steady state keeps moving, or keeps standing: no trip and no stop begins or ends. */
export function keepsOn(vehicle: VehicleState, speedKmh: number, fix: Position, elapsedMs: number): boolean {
  const { steadyPlace } = vehicle;
  return (
    speedKmh > vehicle.steadyOverKmh &&
    speedKmh <= vehicle.steadyKmh &&
    elapsedMs <= vehicle.steadyGapMs &&
    fix.fixTimeMs < vehicle.steadyUntilMs &&
    (steadyPlace === null || isNear(steadyPlace, fix))
  );
}

/** Well below the distance at which a vehicle with 0 km/h, or with its ignition off, has moved. */
const NEAR_DEG = 0.001;

function isNear({ latitude, longitude }: Moment, fix: Position): boolean {
  return Math.abs(fix.latitude - latitude) < NEAR_DEG && Math.abs(fix.longitude - longitude) < NEAR_DEG;
}

/** Computes the bounds of the steady state after a fix: the speed limit, and the conditions for unchanged motion. */
export function settle(vehicle: VehicleState, epoch: number): void {
  vehicle.steadyEpoch = epoch;
  vehicle.steadyLimitKmh = steadySpeedLimitKmh(vehicle);
  settleMotion(vehicle);
}

function steadySpeedLimitKmh(vehicle: VehicleState): number {
  const { definition, presences, runs } = vehicle;
  // Each fix extends a run or ages a presence or absence, and braking may be harsh.
  if (runs.length > 0 || vehicle.harsh !== null || hasAlarm(vehicle)) return -1;
  let limitKmh = definition?.speedLimitKmh ?? Number.MAX_VALUE;
  for (let i = 0; i < presences.length; i++) {
    const { phase, fence } = presences[i] as Presence;
    if (phase !== 'inside') return -1;
    if (fence.speedLimitKmh !== null && fence.speedLimitKmh < limitKmh) limitKmh = fence.speedLimitKmh;
  }
  return definition === null ? limitKmh : limitKmh + definition.speedToleranceKmh;
}

/** Computes until when motion is unchanged: a moving vehicle keeps moving; a standing one stands until it is a stop. */
export function settleMotion(vehicle: VehicleState): void {
  const { definition, motion, ignition } = vehicle;
  if (definition === null || motion === null) return;
  const { drive, rest, halt } = motion;
  vehicle.steadyPlace = rest === null ? null : rest.since;
  vehicle.steadyGapMs = definition.tripGapMinutes * 60_000;
  vehicle.steadyUntilMs = Number.POSITIVE_INFINITY;
  if (rest === null) {
    vehicle.steadyOverKmh = leastSpeedKmh(definition.movingSpeedKmh, ignition);
    vehicle.steadyKmh = drive?.isByPlace === true ? -1 : Number.POSITIVE_INFINITY;
    return;
  }
  vehicle.steadyOverKmh = -1;
  // With the ignition on, a few metres are a movement. If the ignition contradicts the kind of the stop, time counts.
  const isWaiting = halt !== null && (halt.turn !== null || halt.kind !== kindOf(ignition));
  vehicle.steadyKmh = ignition === true || isWaiting || drive?.isByPlace ? -1 : definition.movingSpeedKmh;
  if (halt === null) vehicle.steadyUntilMs = rest.since.atMs + definition.tripStopMinutes * 60_000;
}
