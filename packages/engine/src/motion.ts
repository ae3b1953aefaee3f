import { deriveEventId, type FleetEvent, type Position, type Stop, type Trip, type Vehicle } from '@outrider/domain';
import { distanceM } from '@outrider/geo';
import { isTooFar } from './jump.ts';
import { atFix, type Step } from './step.ts';
import type { Drive, Moment, Motion, Rest, Standing, VehicleState } from './vehicle-state.ts';

const MINUTE_MS = 60_000;

/**
 * What one more fix makes of trips and stops (semantics, "Trips and stops"). A trip lasts from the first fix that moves to
 * the first that does not and is followed by five minutes of standing; then a stop begins, at the same fix. So trips and
 * stops follow each other without a gap but for those in the data.
 *
 * @param speedKmh at the fix
 * @param ignitionBefore as it was known before the fix; `vehicle.ignition` is as known with it
 */
export function advanceMotion(
  vehicle: VehicleState,
  definition: Vehicle,
  step: Step,
  speedKmh: number | null,
  ignitionBefore: boolean | null,
  events: FleetEvent[],
): void {
  const known = step.last === null ? null : vehicle.motion;
  const motion = known === null ? null : afterGap(vehicle, definition, known, step, events);
  if (motion === null) vehicle.motion = begin(vehicle, definition, step, speedKmh, events);
  else proceed(vehicle, definition, motion, step, speedKmh, ignitionBefore, events);
}

/**
 * What a step adds to the totals of a vehicle that goes on moving, or standing with its ignition not on: all there is to do
 * where nothing begins or ends.
 */
export function continueMotion(motion: Motion, from: Position, to: Position, elapsedMs: number): void {
  const { drive, rest, standing } = motion;
  if (rest === null) {
    if (drive !== null) countStep(drive, from, to, elapsedMs, to.speedKmh);
  } else if (standing === null) {
    rest.distanceM += odometerStepM(from, to, elapsedMs) ?? 0;
  }
}

/**
 * Adds a step of a trip that moves at its end or its beginning.
 *
 * @param speedKmh at the end of the step; null where it does not move there
 */
function countStep(drive: Drive, from: Position, to: Position, elapsedMs: number, speedKmh: number | null): void {
  const odometer = odometerStepM(from, to, elapsedMs);
  drive.distanceM += odometer ?? distanceM(from.longitude, from.latitude, to.longitude, to.latitude);
  drive.movingMs += elapsedMs;
  if (speedKmh !== null && speedKmh > drive.maxKmh) drive.maxKmh = speedKmh;
}

/** Ends a trip or a stop because the vehicle is no longer defined, at its last fix. */
export function endMotionByDefinition(vehicle: VehicleState, version: number, events: FleetEvent[]): void {
  const { motion, latest } = vehicle;
  if (motion === null || latest === null) return;
  const last = atFix(latest, vehicle.speedKmh);
  const { drive, standing } = motion;
  if (drive !== null) {
    addRest(drive, motion.rest);
    events.push(tripEnd(vehicle, drive, last, 'no-longer-watched', version, last.atMs));
  }
  if (standing !== null)
    events.push(stopEnd(vehicle, standing, last, standing.idlingMs, 'no-longer-watched', version, last.atMs));
  vehicle.motion = null;
}

/**
 * What a gap in the data leaves of the motion. A trip ends before it; a stop goes on only where the vehicle is found where it
 * stood. Null where all begins anew.
 */
function afterGap(
  vehicle: VehicleState,
  definition: Vehicle,
  motion: Motion,
  step: Step,
  events: FleetEvent[],
): Motion | null {
  const { from, last, to } = step;
  if (last === null || (from !== null && step.elapsedMs <= definition.tripGapMinutes * MINUTE_MS)) return motion;
  const { drive, rest, standing } = motion;
  const isThere = from !== null && rest !== null && !isAwayFrom(rest.since, to, definition);
  if (isThere && (drive === null || hasLasted(rest.since, to, definition))) return motion;

  const before = atFix(last, step.fromSpeedKmh);
  const { version } = definition;
  if (drive !== null) {
    addRest(drive, rest);
    events.push(tripEnd(vehicle, drive, before, 'gap', version, to.fixTimeMs));
    motion.drive = null;
  }
  if (isThere) return motion;
  if (standing !== null)
    events.push(stopEnd(vehicle, standing, before, standing.idlingMs, 'gap', version, to.fixTimeMs));
  return null;
}

/** Motion that begins with this fix: nothing is known of what was before. */
function begin(
  vehicle: VehicleState,
  { movingSpeedKmh, version }: Vehicle,
  { to }: Step,
  speedKmh: number | null,
  events: FleetEvent[],
): Motion {
  const here = atFix(to, speedKmh);
  if (speedKmh === null || speedKmh <= movingSpeedKmh)
    return { drive: null, rest: { since: here, distanceM: 0, idlingMs: 0 }, standing: null };
  return { drive: setOut(vehicle, here, speedKmh, version, events), rest: null, standing: null };
}

/** Motion that goes on with this fix. */
function proceed(
  vehicle: VehicleState,
  definition: Vehicle,
  motion: Motion,
  step: Step,
  speedKmh: number | null,
  ignitionBefore: boolean | null,
  events: FleetEvent[],
): void {
  const { to, elapsedMs } = step;
  const { rest } = motion;
  // It may have stood for long enough before this fix, whatever this fix says.
  if (rest !== null) settleStop(vehicle, definition, motion, rest, ignitionBefore, to, events);
  const { drive, standing } = motion;
  if (standing !== null && ignitionBefore === true) standing.idlingMs += elapsedMs;

  if (isMoving(definition, rest, to, speedKmh, vehicle.ignition)) {
    const here = atFix(to, speedKmh);
    if (standing !== null) {
      const { idlingMs } = standing;
      events.push(stopEnd(vehicle, standing, here, idlingMs, 'moved', definition.version, to.fixTimeMs));
      motion.standing = null;
    }
    if (drive === null) motion.drive = setOut(vehicle, here, speedKmh ?? 0, definition.version, events);
    else {
      addRest(drive, rest);
      if (step.from !== null) countStep(drive, step.from, to, elapsedMs, speedKmh);
    }
    motion.rest = null;
  } else if (rest === null) {
    if (drive !== null && step.from !== null) countStep(drive, step.from, to, elapsedMs, null);
    motion.rest = { since: atFix(to, speedKmh), distanceM: 0, idlingMs: 0 };
  } else if (standing === null) {
    if (ignitionBefore === true) rest.idlingMs += elapsedMs;
    if (step.from !== null) rest.distanceM += odometerStepM(step.from, to, elapsedMs) ?? 0;
  } else if (kindOf(vehicle.ignition) === standing.kind) {
    standing.turn = null;
  } else {
    standing.turn ??= { at: atFix(to, speedKmh), idlingMs: standing.idlingMs };
  }
}

/** Tells the stop, where the vehicle has stood for long enough; or that it is one of the other kind now. */
function settleStop(
  vehicle: VehicleState,
  definition: Vehicle,
  motion: Motion,
  rest: Rest,
  ignition: boolean | null,
  to: Position,
  events: FleetEvent[],
): void {
  const { drive, standing } = motion;
  const { version } = definition;
  if (standing === null) {
    if (!hasLasted(rest.since, to, definition)) return;
    if (drive !== null) {
      events.push(tripEnd(vehicle, drive, rest.since, 'stopped', version, to.fixTimeMs));
      motion.drive = null;
    }
    const { since, idlingMs } = rest;
    motion.standing = { kind: kindOf(ignition), start: since, id: null, idlingMs, turn: null };
    events.push(stopBegin(vehicle, motion.standing, version, to.fixTimeMs));
    return;
  }
  const { turn } = standing;
  if (turn === null || !hasLasted(turn.at, to, definition)) return;
  events.push(stopEnd(vehicle, standing, turn.at, turn.idlingMs, 'ignition', version, to.fixTimeMs));
  const kind = standing.kind === 'parking' ? 'idling' : 'parking';
  const idlingMs = standing.idlingMs - turn.idlingMs;
  motion.standing = { kind, start: turn.at, id: null, idlingMs, turn: null };
  events.push(stopBegin(vehicle, motion.standing, version, to.fixTimeMs));
}

function isMoving(
  definition: Vehicle,
  rest: Rest | null,
  to: Position,
  speedKmh: number | null,
  ignition: boolean | null,
): boolean {
  if (speedKmh !== null && speedKmh > definition.movingSpeedKmh) return true;
  return ignition === true && rest !== null && isAwayFrom(rest.since, to, definition);
}

function isAwayFrom(place: Moment, to: Position, { movingDistanceM }: Vehicle): boolean {
  return distanceM(place.longitude, place.latitude, to.longitude, to.latitude) > movingDistanceM;
}

function hasLasted(since: Moment, to: Position, { tripStopMinutes }: Vehicle): boolean {
  return to.fixTimeMs - since.atMs >= tripStopMinutes * MINUTE_MS;
}

/** By the ignition: where it is not known to be on, the vehicle is parked. */
export function kindOf(ignition: boolean | null): Stop['kind'] {
  return ignition === true ? 'idling' : 'parking';
}

/** What the odometer counted between two fixes; null where it says nothing, was reset, or says what cannot be. */
function odometerStepM(from: Position, to: Position, elapsedMs: number): number | null {
  if (from.odometerM === null || to.odometerM === null) return null;
  const metres = to.odometerM - from.odometerM;
  return metres >= 0 && !isTooFar(metres, elapsedMs) ? metres : null;
}

function addRest(drive: Drive, rest: Rest | null): void {
  if (rest === null) return;
  drive.distanceM += rest.distanceM;
  drive.idlingMs += rest.idlingMs;
}

function setOut(vehicle: VehicleState, start: Moment, speedKmh: number, version: number, events: FleetEvent[]): Drive {
  const drive: Drive = { start, id: null, distanceM: 0, movingMs: 0, idlingMs: 0, maxKmh: speedKmh };
  events.push({
    ...tripFacts(vehicle, drive, version, start.atMs),
    phase: 'begin',
    endedAtMs: null,
    latitude: start.latitude,
    longitude: start.longitude,
    speedKmh: start.speedKmh,
    meanKmh: speedKmh,
    endReason: null,
  });
  return drive;
}

function tripEnd(
  vehicle: VehicleState,
  drive: Drive,
  end: Moment,
  endReason: Trip['endReason'],
  version: number,
  fixTimeMs: number,
): Trip {
  const lastedMs = end.atMs - drive.start.atMs;
  return {
    ...tripFacts(vehicle, drive, version, fixTimeMs),
    phase: 'end',
    endedAtMs: end.atMs,
    latitude: end.latitude,
    longitude: end.longitude,
    speedKmh: end.speedKmh,
    meanKmh: lastedMs > 0 ? (drive.distanceM * 3600) / lastedMs : drive.maxKmh,
    endReason,
  };
}

function tripFacts(vehicle: VehicleState, drive: Drive, definitionVersion: number, fixTimeMs: number) {
  const { start, distanceM, movingMs, idlingMs, maxKmh } = drive;
  drive.id ??= deriveEventId('trip', vehicle.id, '', start.atMs);
  return {
    kind: 'trip' as const,
    id: drive.id,
    vehicleId: vehicle.id,
    startedAtMs: start.atMs,
    fromFixTimeMs: start.atMs,
    fixTimeMs,
    definitionVersion,
    origin: vehicle.origin,
    inferred: false,
    startLatitude: start.latitude,
    startLongitude: start.longitude,
    distanceM,
    movingMs,
    idlingMs,
    maxKmh,
  };
}

function stopBegin(vehicle: VehicleState, standing: Standing, version: number, fixTimeMs: number): Stop {
  const { start, idlingMs } = standing;
  return {
    ...stopFacts(vehicle, standing, version, fixTimeMs),
    phase: 'begin',
    endedAtMs: null,
    latitude: start.latitude,
    longitude: start.longitude,
    speedKmh: start.speedKmh,
    idlingMs,
    endReason: null,
  };
}

function stopEnd(
  vehicle: VehicleState,
  standing: Standing,
  end: Moment,
  idlingMs: number,
  endReason: Stop['endReason'],
  version: number,
  fixTimeMs: number,
): Stop {
  return {
    ...stopFacts(vehicle, standing, version, fixTimeMs),
    phase: 'end',
    endedAtMs: end.atMs,
    latitude: end.latitude,
    longitude: end.longitude,
    speedKmh: end.speedKmh,
    idlingMs,
    endReason,
  };
}

function stopFacts(vehicle: VehicleState, standing: Standing, definitionVersion: number, fixTimeMs: number) {
  const { kind, start } = standing;
  standing.id ??= deriveEventId(kind, vehicle.id, '', start.atMs);
  return {
    kind,
    id: standing.id,
    vehicleId: vehicle.id,
    startedAtMs: start.atMs,
    fromFixTimeMs: start.atMs,
    fixTimeMs,
    definitionVersion,
    origin: vehicle.origin,
    inferred: false,
    startLatitude: start.latitude,
    startLongitude: start.longitude,
  };
}
