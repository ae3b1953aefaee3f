import {
  blankPosition,
  isTimely,
  MAX_AHEAD_LIVE_MS,
  type OpenTrip,
  type Position,
  type SensorReading,
  type VehicleState as StateName,
  type StatusSurplus,
  type VehicleActivity,
  type VehicleStatus,
} from '@outrider/domain';
import { tankLevelOf } from './fuel/tank-watch.ts';
import { visitId } from './geofences/visits.ts';
import { kindOf, tripTotals } from './motion.ts';
import { beyondOf, makeValues, newestOf, type SensorState, runId as thresholdRunId } from './sensors/sensor-state.ts';
import { runId } from './speeding.ts';
import type { Surplus } from './surplus.ts';
import type { Drive, Rest, VehicleState } from './vehicle-state.ts';

const MINUTE_MS = 60_000;

/**
 * Stores a record as the vehicle's last, unless it is an older one that a black box sent late. A record with an
 * implausible time, as from a terminal that does not know the time yet, is ordered by its arrival.
 */
export function noteRecord(vehicle: VehicleState, record: Position, receivedAtMs: number): void {
  const known = vehicle.record;
  if (known !== null && record.fixTimeMs <= known.fixTimeMs) {
    // A repeated record changes nothing.
    if (record.fixTimeMs === known.fixTimeMs && JSON.stringify(record) === JSON.stringify(known)) return;
    if (
      record.fixTimeMs < known.fixTimeMs &&
      isTimely(record, receivedAtMs) &&
      known.fixTimeMs <= vehicle.recordReceivedAtMs + MAX_AHEAD_LIVE_MS
    )
      return;
  }
  vehicle.record = record;
  vehicle.recordReceivedAtMs = receivedAtMs;
}

/** Placeholder for the last record of a vehicle that only sent heartbeats. */
function signOfLife(receivedAtMs: number): Position {
  return { ...blankPosition(receivedAtMs, 0, 0), valid: false };
}

/** The status to publish after the vehicle's events; null before the first packet. */
export function statusOf(vehicle: VehicleState): VehicleStatus | null {
  const { id, asOfMs, latest, receivedAtMs, receivedLastAtMs, protocol } = vehicle;
  if (receivedLastAtMs === 0) return null;
  const record = vehicle.record ?? signOfLife(receivedLastAtMs);
  const recordReceivedAtMs = vehicle.record === null ? receivedLastAtMs : vehicle.recordReceivedAtMs;
  const trip = openTripOf(vehicle);
  return {
    vehicleId: id,
    asOfMs: Math.max(asOfMs, receivedLastAtMs),
    position: latest,
    receivedAtMs: latest === null ? null : receivedAtMs,
    record,
    recordReceivedAtMs,
    lastContactAtMs: receivedLastAtMs,
    protocol,
    activity: activityOf(vehicle),
    ...(trip && { trip }),
    ...sensorsOf(vehicle),
    ...(vehicle.gauge !== null && tankLevelOf(vehicle, vehicle.surplus?.leftOut ?? [])),
    ...(vehicle.surplus !== null && vehicle.surplus.notes.length > 0 && { surplus: surplusOf(vehicle.surplus) }),
  };
}

function sensorsOf(vehicle: VehicleState): Pick<VehicleStatus, 'sensors'> {
  const states = vehicle.sensors;
  if (states === null) return {};
  makeValues(states);
  const sensors: SensorReading[] = [];
  for (const place of states.sensors.places) {
    const newest = newestOf(states, place);
    if (newest === null) continue;
    const { atMs, value } = newest;
    const { id, name, kind, unit } = place.sensor.definition;
    const beyond = beyondOf(states, place);
    const exceeded = beyond === null ? NONE_EXCEEDED : exceededOf(vehicle, beyond);
    sensors.push({ id, name, kind, unit, atMs, value, exceeded });
  }
  return sensors.length === 0 ? {} : { sensors };
}

const NONE_EXCEEDED: readonly string[] = [];

/** Exceeded thresholds that were published. */
function exceededOf(vehicle: VehicleState, { place, runs }: SensorState): readonly string[] {
  const leftOut = vehicle.surplus?.leftOut ?? [];
  const published = runs.filter((run) => run.reported && !leftOut.includes(thresholdRunId(vehicle, run, place)));
  return published.map(({ threshold }) => threshold.id);
}

function surplusOf({ notes }: Surplus): StatusSurplus[] {
  return notes.map(({ owner, ...note }) => ({ ...note, ownerId: owner === '' ? null : owner }));
}

/** Totals exclude the current standstill, as those of a trip that ends there. */
function openTripOf(vehicle: VehicleState): OpenTrip | null {
  const drive = vehicle.motion?.drive ?? null;
  return drive === null ? null : tripTotals(vehicle, drive);
}

function activityOf(vehicle: VehicleState): VehicleActivity {
  const { conditions, presences, runs, latest, record } = vehicle;
  const [state, sinceMs] = stateOf(vehicle);
  const raised = conditions.flatMap(({ what }) => (what === 'ignition' ? [] : [what]));
  // A vehicle that is about to enter or leave has not changed place according to the events.
  let visited = presences.filter(({ phase }) => phase !== 'entering');
  let exceeded = runs.filter(({ reported }) => reported);
  const leftOut = vehicle.surplus?.leftOut ?? [];
  if (leftOut.length > 0) {
    visited = visited.filter((presence) => !leftOut.includes(visitId(vehicle, presence)));
    exceeded = exceeded.filter((run) => !leftOut.includes(runId(vehicle, run)));
  }
  return {
    state,
    sinceMs,
    // Before the first fix no conditions are tracked, since an event would have no place. The record's values are used
    // instead.
    ignition: latest === null ? (record?.ignition ?? null) : vehicle.ignition,
    alarms: latest === null && record !== null ? record.alarms : raised,
    geofenceIds: visited.map(({ fence }) => fence.definition.id),
    speeding: exceeded.map(({ fence }) => fence?.definition.id ?? null),
    ...(vehicle.shift !== null && { driverCode: vehicle.shift.code }),
  };
}

/** Whether the next fix may show it moving: the first minute of a pause, where the terminal always reports 0 km/h. */
function mayStillMove({ isByPlace }: Drive, { since }: Rest, { fixTimeMs }: Position): boolean {
  return isByPlace && fixTimeMs - since.atMs < MINUTE_MS;
}

function stateOf(vehicle: VehicleState): [state: StateName, sinceMs: number | null] {
  const { motion, latest, ignition, record } = vehicle;
  if (vehicle.offline) return ['offline', vehicle.receivedLastAtMs];
  if (motion === null || latest === null) return ['unknown', null];
  const { drive, rest, halt } = motion;
  // A published stop keeps its kind.
  if (halt !== null) return [halt.kind, halt.start.atMs];
  if (rest !== null && !(drive !== null && mayStillMove(drive, rest, latest)))
    return [kindOf(ignition), rest.since.atMs];
  // If records without a fix follow, the ignition shows whether the vehicle still moves.
  if (ignition === false && record !== null && record.fixTimeMs > latest.fixTimeMs)
    return ['parking', latest.fixTimeMs];
  return drive === null ? ['unknown', null] : ['moving', drive.start.atMs];
}
