import { deriveEventId, type EventId, type FleetEvent, type Speeding, type Vehicle } from '@outrider/domain';
import type { FenceFinder } from './geofences/fence-finder.ts';
import type { Fence } from './geofences/fences.ts';
import { atFix, crossingOf, type Step } from './step.ts';
import { type Moment, orderOf, type SpeedingRun, type VehicleState } from './vehicle-state.ts';

/** Settings of the vehicle that apply to speeding, whichever limit is exceeded. */
type Patience = Pick<Vehicle, 'speedToleranceKmh' | 'speedingMinSeconds'>;

/** Checks the speed at the end of a step against all limits that apply there. */
export function judgeSpeed(
  vehicle: VehicleState,
  finder: FenceFinder,
  speedKmh: number | null,
  step: Step,
  events: FleetEvent[],
): void {
  const { definition, runs } = vehicle;
  // A first fix without a speed can't begin or end speeding.
  if (definition === null || speedKmh === null) return;
  if (runs.length > 0) {
    let kept = 0;
    for (let i = 0; i < runs.length; i++) {
      const run = runs[i] as SpeedingRun;
      const inside = run.fence === null || run.fence.stamp === finder.hitStamp;
      if (advanceRun(vehicle, run, definition, inside, speedKmh, step, events)) runs[kept++] = run;
    }
    runs.length = kept;
  }
  const { speedLimitKmh } = definition;
  const before = runs.length;
  if (
    speedLimitKmh !== null &&
    isOver(speedKmh, speedLimitKmh, definition) &&
    (runs.length === 0 || runs[0]?.fence !== null)
  )
    runs.push(startRun(vehicle, definition, null, speedLimitKmh, definition.version, speedKmh, step, events));
  if (finder.hitCount > 0) judgeFences(vehicle, definition, finder, speedKmh, step, events);
  if (runs.length > before) runs.sort((a, b) => orderOf(a.fence, b.fence));
}

/** Begins runs over the limits of the geofences that the finder found. */
function judgeFences(
  vehicle: VehicleState,
  definition: Vehicle,
  finder: FenceFinder,
  speedKmh: number,
  step: Step,
  events: FleetEvent[],
): void {
  const { runs } = vehicle;
  let over: Fence[] | null = null;
  for (let i = 0; i < finder.hitCount; i++) {
    const fence = finder.hits[i] as Fence;
    const limitKmh = fence.speedLimitKmh;
    if (limitKmh === null || !isOver(speedKmh, limitKmh, definition)) continue;
    if (runs.some((run) => run.fence === fence)) continue;
    over ??= [];
    over.push(fence);
  }
  if (over === null) return;
  for (const fence of over.sort(orderOf)) {
    const { speedLimitKmh, version } = fence.definition;
    if (speedLimitKmh === null) continue;
    runs.push(startRun(vehicle, definition, fence, speedLimitKmh, version, speedKmh, step, events));
  }
}

/** Whether a run begins at this speed: above the limit by more than the tolerance. */
function isOver(speedKmh: number, limitKmh: number, patience: Patience): boolean {
  return speedKmh > limitKmh + patience.speedToleranceKmh;
}

/** Starts a run with this fix; it is reported at once where no minimum duration applies. */
function startRun(
  vehicle: VehicleState,
  patience: Patience,
  fence: Fence | null,
  limitKmh: number,
  definitionVersion: number,
  speedKmh: number,
  step: Step,
  events: FleetEvent[],
): SpeedingRun {
  const run: SpeedingRun = {
    fence,
    limitKmh,
    definitionVersion,
    reported: false,
    start: atFix(step.to, speedKmh),
    id: null,
    peakKmh: speedKmh,
    kmhMs: 0,
    distanceM: 0,
  };
  reportWhenDue(vehicle, run, patience, step.to.fixTimeMs, events);
  return run;
}

/**
 * Advances a run by one fix (semantics, "Speed"). The run ends with the first fix at or under the limit, or outside the
 * geofence that has the limit. Speed is assumed to change linearly between fixes.
 *
 * @param inside whether the fix is inside the run's geofence; true where the limit is the vehicle's own
 * @returns whether the run continues
 */
function advanceRun(
  vehicle: VehicleState,
  run: SpeedingRun,
  patience: Patience,
  inside: boolean,
  speedKmh: number,
  step: Step,
  events: FleetEvent[],
): boolean {
  const fixTimeMs = step.to.fixTimeMs;
  const beforeKmh = step.fromSpeedKmh ?? speedKmh;
  if (!inside && run.fence !== null) {
    if (!run.reported) return false;
    const { moment, fraction } = crossingOf(run.fence, step);
    // The mean is over the published duration, whose end is rounded: a run of 1 ms would differ by several per cent.
    const lastedMs = fraction === 1 ? step.elapsedMs : moment.atMs - step.to.fixTimeMs + step.elapsedMs;
    const endKmh = fraction === 1 ? speedKmh : beforeKmh + ((speedKmh - beforeKmh) * lastedMs) / step.elapsedMs;
    // A vehicle that speeds up on its way out is fastest at the boundary.
    if (endKmh > run.peakKmh) run.peakKmh = endKmh;
    run.kmhMs += ((beforeKmh + endKmh) / 2) * lastedMs;
    run.distanceM += step.distanceM() * fraction;
    events.push(speedingEnd(vehicle, run, moment, 'left', fixTimeMs));
    return false;
  }
  run.kmhMs += ((beforeKmh + speedKmh) / 2) * step.elapsedMs;
  run.distanceM += step.distanceM();
  if (speedKmh <= run.limitKmh) {
    if (run.reported) events.push(speedingEnd(vehicle, run, atFix(step.to, speedKmh), 'slowed', fixTimeMs));
    return false;
  }
  if (!run.reported && !isOver(speedKmh, run.limitKmh, patience)) return false;
  if (speedKmh > run.peakKmh) run.peakKmh = speedKmh;
  reportWhenDue(vehicle, run, patience, fixTimeMs, events);
  return true;
}

/**
 * Ends a run because a definition changed. Reported only where its begin was. The end is at the vehicle's last fix, not
 * at the time of the change, so that no more speeding is reported than was observed.
 */
export function endRunByDefinition(
  vehicle: VehicleState,
  run: SpeedingRun,
  reason: Exclude<Speeding['endReason'], null | 'slowed' | 'left'>,
  events: FleetEvent[],
): void {
  if (!run.reported) return;
  if (vehicle.latest === null) throw new Error(`vehicle ${vehicle.id} is speeding but has no fix`);
  const last = atFix(vehicle.latest, vehicle.speedKmh);
  events.push(speedingEnd(vehicle, run, last, reason, last.atMs));
}

function reportWhenDue(
  vehicle: VehicleState,
  run: SpeedingRun,
  patience: Patience,
  fixTimeMs: number,
  events: FleetEvent[],
): void {
  if (run.reported || fixTimeMs - run.start.atMs < patience.speedingMinSeconds * 1000) return;
  run.reported = true;
  const { start } = run;
  events.push({
    ...factsOf(vehicle, run, fixTimeMs),
    phase: 'begin',
    endedAtMs: null,
    latitude: start.latitude,
    longitude: start.longitude,
    speedKmh: start.speedKmh,
    meanKmh: meanKmh(run, fixTimeMs),
    endReason: null,
  });
}

function speedingEnd(
  vehicle: VehicleState,
  run: SpeedingRun,
  end: Moment,
  endReason: Speeding['endReason'],
  fixTimeMs: number,
): Speeding {
  return {
    ...factsOf(vehicle, run, fixTimeMs),
    phase: 'end',
    endedAtMs: end.atMs,
    latitude: end.latitude,
    longitude: end.longitude,
    speedKmh: end.speedKmh,
    meanKmh: meanKmh(run, end.atMs),
    endReason,
  };
}

export function runId(vehicle: VehicleState, run: SpeedingRun): EventId {
  run.id ??= deriveEventId('speeding', vehicle.id, run.fence?.definition.id ?? '', run.start.atMs);
  return run.id;
}

function factsOf(vehicle: VehicleState, run: SpeedingRun, fixTimeMs: number) {
  const geofenceId = run.fence?.definition.id ?? null;
  return {
    kind: 'speeding' as const,
    id: runId(vehicle, run),
    vehicleId: vehicle.id,
    startedAtMs: run.start.atMs,
    fromFixTimeMs: run.start.atMs,
    fixTimeMs,
    origin: vehicle.origin,
    inferred: false,
    startLatitude: run.start.latitude,
    startLongitude: run.start.longitude,
    limitSource: geofenceId === null ? ('vehicle' as const) : ('geofence' as const),
    geofenceId,
    definitionVersion: run.definitionVersion,
    limitKmh: run.limitKmh,
    peakKmh: run.peakKmh,
    distanceM: run.distanceM,
  };
}

function meanKmh(run: SpeedingRun, untilMs: number): number {
  const lastedMs = untilMs - run.start.atMs;
  return lastedMs > 0 ? run.kmhMs / lastedMs : run.peakKmh;
}
