import {
  deriveEventId,
  type FleetEvent,
  type OpenTrip,
  type Position,
  type Stop,
  type Trip,
  type Vehicle,
} from '@outrider/domain';
import { distanceM } from '@outrider/geo';
import { fuelBetween, markFuel } from './fuel/tank-watch.ts';
import { isTooFar } from './intake/jump.ts';
import { countDistance, noDisagreement, odometerStepM } from './odometer.ts';
import { atFix, repeatsSpeed, type Step } from './step.ts';
import type { Drive, Halt, Moment, Motion, Rest, VehicleState } from './vehicle-state.ts';

const MINUTE_MS = 60_000;
/** Receivers of parked vehicles wander by less than this distance. */
const WANDERING_M = 300;
/** Speeds of wandering receivers are below this. */
const WANDERING_KMH = 20;
/** A vehicle this far from where it stood has moved, even if its terminal reports 0 km/h. */
const DISPLACED_M = 500;

/**
 * Advances trips and stops by one fix (semantics, "Trips and stops"). A trip lasts from the first moving fix to the
 * first that is not moving and is followed by `tripStopMinutes` of standing. A stop begins at the same fix. So trips
 * and stops follow each other without a gap except for gaps in the data.
 *
 * @param speedKmh at the fix
 * @param ignitionBefore the ignition known before the fix; `vehicle.ignition` already includes the fix
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
 * Adds a step to the totals of a vehicle that keeps moving, or keeps standing with its ignition not on. Sufficient
 * where nothing begins or ends.
 */
export function continueMotion(motion: Motion, from: Position, to: Position, elapsedMs: number): void {
  const { drive, rest } = motion;
  if (rest === null) {
    if (drive !== null) countStep(drive, from, to, elapsedMs, to.speedKmh);
  } else {
    rest.distanceM += odometerStepM(from, to, elapsedMs) ?? 0;
  }
}

/**
 * Adds a step of a trip that is moving at the end or the begin of the step.
 *
 * @param speedKmh at the end of the step; null where it is not moving there
 */
function countStep(drive: Drive, from: Position, to: Position, elapsedMs: number, speedKmh: number | null): void {
  const fixesM = distanceM(from.longitude, from.latitude, to.longitude, to.latitude);
  drive.distanceM += countDistance(drive.disagreement, odometerStepM(from, to, elapsedMs), fixesM);
  drive.movingMs += elapsedMs;
  if (speedKmh !== null && speedKmh > drive.maxKmh) drive.maxKmh = speedKmh;
}

/** Time until which the trip of a silent vehicle continues, in Unix milliseconds; infinity without a trip. */
export function tripLastsUntilMs(vehicle: VehicleState): number {
  const { definition, latest, motion, receivedLastAtMs } = vehicle;
  if (definition === null || latest === null || motion === null || motion.drive === null)
    return Number.POSITIVE_INFINITY;
  return Math.max(receivedLastAtMs, latest.fixTimeMs) + gapMsOf(definition);
}

/**
 * Ends a trip because nothing came up to `nowMs` for longer than the maximum gap, as the next fix after such a gap
 * would end it. Fixes from within the gap may still arrive: see {@link VehicleState.tripCut}.
 *
 * @returns whether there was a trip to end
 */
export function endSilentTrip(vehicle: VehicleState, nowMs: number, events: FleetEvent[]): boolean {
  const { definition, latest, motion } = vehicle;
  if (definition === null || latest === null || motion === null || nowMs <= tripLastsUntilMs(vehicle)) return false;
  const last = atFix(latest, vehicle.speedKmh);
  endBeforeGap(vehicle, definition, motion, last, last.atMs + gapMsOf(definition), events);
  if (motion.rest === null) vehicle.motion = null;
  vehicle.tripCut = true;
  // The next fix determines the steady state again.
  vehicle.steadyEpoch = -1;
  return true;
}

/** A longer gap in the data than this ends a trip. */
export function gapMsOf({ tripGapMinutes }: Vehicle): number {
  return Math.round(tripGapMinutes * MINUTE_MS);
}

/** Ends a trip or a stop because the vehicle is no longer defined, at its last fix. */
export function endMotionByDefinition(vehicle: VehicleState, version: number, events: FleetEvent[]): void {
  const { motion, latest } = vehicle;
  if (motion === null || latest === null) return;
  const last = atFix(latest, vehicle.speedKmh);
  const { drive, halt } = motion;
  if (drive !== null) {
    addRest(drive, motion.rest);
    events.push(tripEnd(vehicle, drive, last, 'no-longer-watched', version, last.atMs));
  }
  if (halt !== null) events.push(stopEnd(vehicle, halt, last, halt.idlingMs, 'no-longer-watched', version, last.atMs));
  vehicle.motion = null;
}

/**
 * Adjusts the motion to a gap in the data. A trip ends before it, see {@link endBeforeGap}; a stop continues only if
 * the vehicle is still where it stood. Null where the motion begins anew.
 */
function afterGap(
  vehicle: VehicleState,
  definition: Vehicle,
  motion: Motion,
  step: Step,
  events: FleetEvent[],
): Motion | null {
  const { from, last, to, elapsedMs } = step;
  const gapMs = gapMsOf(definition);
  if (last === null || (from !== null && elapsedMs <= gapMs)) return motion;
  const { rest, halt } = motion;
  const before = atFix(last, step.fromSpeedKmh);
  // Elapsed time reveals a gap before the fix after it does: both give the same event.
  const knownAtMs = elapsedMs > gapMs ? last.fixTimeMs + gapMs : to.fixTimeMs;
  endBeforeGap(vehicle, definition, motion, before, knownAtMs, events);
  if (from !== null && rest !== null && !isAwayFrom(rest.since, to, definition.movingDistanceM)) return motion;
  if (halt !== null)
    events.push(stopEnd(vehicle, halt, before, halt.idlingMs, 'gap', definition.version, to.fixTimeMs));
  return null;
}

/** Ends the trip before a gap: at the last fix if the vehicle was moving, else where it had come to stand. */
function endBeforeGap(
  vehicle: VehicleState,
  { version }: Vehicle,
  motion: Motion,
  last: Moment,
  knownAtMs: number,
  events: FleetEvent[],
): void {
  const { drive, rest } = motion;
  if (drive === null) return;
  motion.drive = null;
  if (rest === null) events.push(tripEnd(vehicle, drive, last, 'gap', version, knownAtMs));
  else events.push(tripEnd(vehicle, drive, rest.since, 'stopped', version, knownAtMs));
}

/** Motion that begins with this fix, without any earlier data. */
function begin(
  vehicle: VehicleState,
  { movingSpeedKmh, version }: Vehicle,
  step: Step,
  speedKmh: number | null,
  events: FleetEvent[],
): Motion {
  const here = atFix(step.to, speedKmh);
  if (speedKmh === null || speedKmh <= leastSpeedKmh(movingSpeedKmh, vehicle.ignition) || isRepeated(step))
    return { drive: null, rest: { since: here, distanceM: 0, idlingMs: 0 }, halt: null };
  return { drive: setOut(vehicle, newDrive(here, speedKmh), version, events), rest: null, halt: null };
}

/** Continues the motion with this fix. */
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
  // The vehicle may have stood for long enough before this fix, whatever this fix shows.
  if (rest !== null) settleStop(vehicle, definition, motion, rest, ignitionBefore, to, events);
  const { drive, halt } = motion;
  if (halt !== null && ignitionBefore === true) halt.idlingMs += elapsedMs;

  const movement = movementAt(definition, motion, step, speedKmh, vehicle.ignition);
  if (movement !== null) {
    const here = atFix(to, speedKmh);
    if (halt !== null) {
      const { idlingMs } = halt;
      events.push(stopEnd(vehicle, halt, here, idlingMs, 'moved', definition.version, to.fixTimeMs));
      motion.halt = null;
    }
    if (drive === null) {
      const started = newDrive(here, speedKmh ?? 0);
      if (movement === 'place' && rest !== null) countDisplacement(started, rest, step, speedKmh);
      else countLead(started, definition, step);
      started.leadM = started.distanceM;
      started.movingMs = 0;
      motion.drive = setOut(vehicle, started, definition.version, events);
    } else if (movement === 'place' && rest !== null) {
      countDisplacement(drive, rest, step, speedKmh);
    } else {
      addRest(drive, rest);
      if (step.from !== null)
        countStep(
          drive,
          step.from,
          to,
          elapsedMs,
          movement === 'place' ? Math.max(step.impliedKmh(), speedKmh ?? 0) : speedKmh,
        );
    }
    motion.rest = null;
  } else if (rest === null) {
    if (drive !== null && step.from !== null) countStep(drive, step.from, to, elapsedMs, null);
    motion.rest = { since: atFix(to, speedKmh), distanceM: 0, idlingMs: 0 };
  } else {
    if (step.from !== null) rest.distanceM += odometerStepM(step.from, to, elapsedMs) ?? 0;
    if (halt === null) {
      if (ignitionBefore === true) rest.idlingMs += elapsedMs;
    } else if (kindOf(vehicle.ignition) === halt.kind) {
      halt.turn = null;
    } else {
      halt.turn ??= { at: atFix(to, speedKmh), idlingMs: halt.idlingMs };
    }
  }
}

/** Reports a stop once the vehicle has stood for long enough, and its change to the other kind. */
function settleStop(
  vehicle: VehicleState,
  definition: Vehicle,
  motion: Motion,
  rest: Rest,
  ignition: boolean | null,
  to: Position,
  events: FleetEvent[],
): void {
  const { drive, halt } = motion;
  const { version } = definition;
  if (halt === null) {
    if (!hasLasted(rest.since, to, definition)) return;
    if (drive !== null) {
      events.push(tripEnd(vehicle, drive, rest.since, 'stopped', version, to.fixTimeMs));
      motion.drive = null;
    }
    const { since, idlingMs } = rest;
    motion.halt = { kind: kindOf(ignition), start: since, id: null, idlingMs, turn: null };
    events.push(stopBegin(vehicle, motion.halt, version, to.fixTimeMs));
    return;
  }
  const { turn } = halt;
  if (turn === null || !hasLasted(turn.at, to, definition)) return;
  events.push(stopEnd(vehicle, halt, turn.at, turn.idlingMs, 'ignition', version, to.fixTimeMs));
  const kind = halt.kind === 'parking' ? 'idling' : 'parking';
  const idlingMs = halt.idlingMs - turn.idlingMs;
  motion.halt = { kind, start: turn.at, id: null, idlingMs, turn: null };
  events.push(stopBegin(vehicle, motion.halt, version, to.fixTimeMs));
}

/**
 * How a fix shows that the vehicle moves: `report`, by the terminal's data (its speed, or the ignition with a change of
 * place); `place`, by its place alone, against that data. Null where it stands.
 *
 * With the ignition off, a low speed proves nothing: the receiver of a parked vehicle wanders. And some terminals
 * always report 0 km/h. In both cases the vehicle has moved once it is far from where it stood.
 */
function movementAt(
  { movingSpeedKmh, movingDistanceM }: Vehicle,
  { drive, rest }: Motion,
  step: Step,
  speedKmh: number | null,
  ignition: boolean | null,
): 'report' | 'place' | null {
  const { to } = step;
  const isByPlace = drive?.isByPlace === true;
  const leastKmh = leastSpeedKmh(movingSpeedKmh, isByPlace ? null : ignition);
  const hasSpeed = speedKmh !== null && speedKmh > leastKmh && !isRepeated(step);
  if (rest === null) {
    if (hasSpeed) return 'report';
    return isByPlace && to.speedKmh === 0 && step.distanceM() > movingDistanceM ? 'place' : null;
  }
  if (hasSpeed && ignition !== false) return 'report';
  const awayM = distanceM(rest.since.longitude, rest.since.latitude, to.longitude, to.latitude);
  if ((hasSpeed || ignition === true) && awayM > movingDistanceM) return 'report';
  if (ignition !== false && to.speedKmh !== 0) return null;
  const leastM = isByPlace ? 0 : ignition === false ? WANDERING_M : DISPLACED_M;
  return awayM > Math.max(leastM, movingDistanceM) ? 'place' : null;
}

function isRepeated({ from, to, elapsedMs }: Step): boolean {
  return from !== null && repeatsSpeed(from, to, elapsedMs);
}

/** Speed above which the vehicle moves. */
export function leastSpeedKmh(movingSpeedKmh: number, ignition: boolean | null): number {
  return ignition === false ? Math.max(movingSpeedKmh, WANDERING_KMH) : movingSpeedKmh;
}

function isAwayFrom(place: Moment, to: Position, metres: number): boolean {
  return distanceM(place.longitude, place.latitude, to.longitude, to.latitude) > metres;
}

function hasLasted(since: Moment, to: Position, { tripStopMinutes }: Vehicle): boolean {
  return to.fixTimeMs - since.atMs >= tripStopMinutes * MINUTE_MS;
}

/** Kind of stop by the ignition: unless it is known to be on, the vehicle is parked. */
export function kindOf(ignition: boolean | null): Stop['kind'] {
  return ignition === true ? 'idling' : 'parking';
}

/** Distance between two fixes in metres: by the odometer where there is one; 0 after a jump. */
export function stepM(from: Position, to: Position, elapsedMs: number): number {
  const odometer = odometerStepM(from, to, elapsedMs);
  if (odometer !== null) return odometer;
  const metres = distanceM(from.longitude, from.latitude, to.longitude, to.latitude);
  return isTooFar(metres, elapsedMs) ? 0 : metres;
}

/**
 * Counts the step from the last fix where the vehicle stood to the first moving one. It counts nothing where the
 * distance may be jitter of the receiver.
 */
function countLead(drive: Drive, { movingSpeedKmh, movingDistanceM }: Vehicle, step: Step): void {
  const { from, to, elapsedMs } = step;
  if (from === null) return;
  const metres = step.distanceM();
  const fixesM = metres > movingDistanceM || metres * 3600 > movingSpeedKmh * elapsedMs ? metres : 0;
  drive.distanceM += countDistance(drive.disagreement, odometerStepM(from, to, elapsedMs), fixesM);
}

/**
 * Counts the straight-line distance from where the vehicle stood: it moved since, whatever its terminal reported.
 *
 * @param speedKmh at the end of the step
 */
function countDisplacement(drive: Drive, { since, distanceM: restM }: Rest, step: Step, speedKmh: number | null): void {
  const { from, to, elapsedMs } = step;
  drive.isByPlace = true;
  if (from === null) return;
  const fixesM = distanceM(since.longitude, since.latitude, to.longitude, to.latitude);
  const odometerM = odometerStepM(from, to, elapsedMs);
  drive.distanceM += countDistance(drive.disagreement, odometerM === null ? null : restM + odometerM, fixesM);
  drive.movingMs += to.fixTimeMs - since.atMs;
  drive.maxKmh = Math.max(drive.maxKmh, (fixesM * 3600) / (to.fixTimeMs - since.atMs), speedKmh ?? 0);
}

function addRest(drive: Drive, rest: Rest | null): void {
  if (rest === null) return;
  drive.distanceM += countDistance(drive.disagreement, rest.distanceM, 0);
  drive.idlingMs += rest.idlingMs;
}

function newDrive(start: Moment, speedKmh: number): Drive {
  return {
    start,
    id: null,
    distanceM: 0,
    leadM: 0,
    movingMs: 0,
    idlingMs: 0,
    maxKmh: speedKmh,
    disagreement: noDisagreement(),
    isByPlace: false,
  };
}

/** Reports the begin of a trip. */
function setOut(vehicle: VehicleState, drive: Drive, version: number, events: FleetEvent[]): Drive {
  const { start } = drive;
  if (vehicle.fuel !== null) vehicle.fuel.trip = markFuel(vehicle, start.atMs);
  events.push({
    ...tripFacts(vehicle, drive, version, start.atMs),
    phase: 'begin',
    endedAtMs: null,
    latitude: start.latitude,
    longitude: start.longitude,
    speedKmh: start.speedKmh,
    meanKmh: drive.maxKmh,
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
    ...(vehicle.fuel && fuelBetween(vehicle.fuel.trip, markFuel(vehicle, end.atMs))),
    phase: 'end',
    endedAtMs: end.atMs,
    latitude: end.latitude,
    longitude: end.longitude,
    speedKmh: end.speedKmh,
    meanKmh: lastedMs > 0 ? ((drive.distanceM - drive.leadM) * 3600) / lastedMs : drive.maxKmh,
    endReason,
  };
}

/** Id and totals of a trip. */
export function tripTotals(vehicle: VehicleState, drive: Drive): OpenTrip {
  const { start, distanceM, movingMs, idlingMs, maxKmh } = drive;
  drive.id ??= deriveEventId('trip', vehicle.id, '', start.atMs);
  return { id: drive.id, startedAtMs: start.atMs, distanceM, movingMs, idlingMs, maxKmh };
}

function tripFacts(vehicle: VehicleState, drive: Drive, definitionVersion: number, fixTimeMs: number) {
  const { start } = drive;
  return {
    kind: 'trip' as const,
    ...tripTotals(vehicle, drive),
    vehicleId: vehicle.id,
    fromFixTimeMs: start.atMs,
    fixTimeMs,
    definitionVersion,
    origin: vehicle.origin,
    inferred: false,
    startLatitude: start.latitude,
    startLongitude: start.longitude,
  };
}

function stopBegin(vehicle: VehicleState, halt: Halt, version: number, fixTimeMs: number): Stop {
  const { start, idlingMs } = halt;
  if (vehicle.fuel !== null) vehicle.fuel.stop = markFuel(vehicle, start.atMs);
  return {
    ...stopFacts(vehicle, halt, version, fixTimeMs),
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
  halt: Halt,
  end: Moment,
  idlingMs: number,
  endReason: Stop['endReason'],
  version: number,
  fixTimeMs: number,
): Stop {
  return {
    ...stopFacts(vehicle, halt, version, fixTimeMs),
    ...(vehicle.fuel && fuelBetween(vehicle.fuel.stop, markFuel(vehicle, end.atMs))),
    phase: 'end',
    endedAtMs: end.atMs,
    latitude: end.latitude,
    longitude: end.longitude,
    speedKmh: end.speedKmh,
    idlingMs,
    endReason,
  };
}

function stopFacts(vehicle: VehicleState, halt: Halt, definitionVersion: number, fixTimeMs: number) {
  const { kind, start } = halt;
  halt.id ??= deriveEventId(kind, vehicle.id, '', start.atMs);
  return {
    kind,
    id: halt.id,
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
