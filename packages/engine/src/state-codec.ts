import type {
  Alarm,
  AttributeValue,
  FleetEvent,
  GeofenceId,
  Position,
  ProtocolName,
  SensorId,
  SensorThreshold,
  VehicleId,
} from '@outrider/domain';
import { NO_ALARMS } from '@outrider/domain';
import { kindOf } from './conditions.ts';
import { decodeFuel, type EncodedFuel, encodeFuel } from './fuel/fuel-state.ts';
import type { Fence } from './geofences/fences.ts';
import { type Disagreement, noDisagreement } from './odometer.ts';
import {
  beyondOf,
  freshSensors,
  makeValues,
  newestOf,
  restore,
  type SensorStates,
  type ThresholdRun,
  windowOf,
} from './sensors/sensor-state.ts';
import type { VehicleSensors } from './sensors/vehicle-sensors.ts';
import type { Surplus, SurplusOwner } from './surplus.ts';
import type {
  Condition,
  Drive,
  Halt,
  Moment,
  Motion,
  Presence,
  SpeedingRun,
  Suspects,
  VehicleState,
} from './vehicle-state.ts';
import { freshState } from './vehicle-state.ts';

/**
 * First element of every encoded state. States of unknown versions are rejected: losing a checkpoint costs no more than
 * a replay.
 */
export const STATE_VERSION = 6;
/**
 * Earlier versions that can be read. Missing fields get the values of a fresh state: in 5 `aheadFixes` and a drive's
 * fields after `leadM`, in 4 what follows the surplus, in 3 the surplus, in 2 also a drive's `leadM` and what follows
 * `conditions`.
 */
const EARLIER_VERSIONS: readonly number[] = [2, 3, 4, 5];

type EncodedPosition = [
  number,
  number,
  number,
  number | null,
  number | null,
  number | null,
  number | null,
  boolean | null,
  number | null,
  number | null,
  number | null,
  readonly Alarm[],
  Readonly<Record<string, AttributeValue>> | null,
];
type EncodedMoment = [number, number, number, number | null];
type EncodedPresence = [
  GeofenceId,
  Presence['phase'],
  silent: boolean,
  inferred: boolean,
  beganAtMs: number,
  fromFixTimeMs: number,
  EncodedMoment,
  EncodedMoment | null,
];
type EncodedDrive = [
  EncodedMoment,
  distanceM: number,
  movingMs: number,
  idlingMs: number,
  maxKmh: number,
  leadM?: number,
  disagreement?: [odometerM: number, fixesM: number, countedM: number],
  isByPlace?: boolean,
];
type EncodedRest = [EncodedMoment, distanceM: number, idlingMs: number];
type EncodedHalt = [Halt['kind'], EncodedMoment, idlingMs: number, [EncodedMoment, idlingMs: number] | null];
type EncodedMotion = [EncodedDrive | null, EncodedRest | null, EncodedHalt | null];
/** Harsh driving ends with its highest acceleration; an earlier version stored it as an alarm. */
type EncodedCondition = [Condition['what'], silent: boolean, EncodedMoment, peakMps2?: number | null];
type EncodedRun = [GeofenceId | null, number, number, boolean, EncodedMoment, number, number, number];
type Encoded = [
  version: number,
  number,
  EncodedPosition | null,
  number,
  number | null,
  [number, number, number, number, number] | null,
  EncodedPresence[],
  EncodedRun[],
  EncodedMotion | null,
  receivedLastAtMs: number,
  offline: boolean,
  recordAtMs: number,
  ignition: boolean | null,
  supplied: boolean | null,
  EncodedCondition[],
  // The following elements are missing in states of earlier versions.
  tripCut?: boolean,
  /** Null where the last record is the newest good fix. */
  record?: [valid: boolean, receivedAtMs: number, EncodedPosition] | null,
  protocol?: ProtocolName | null,
  asOfMs?: number,
  beside?: [atMs: number, marks: number[]] | null,
  aheadMs?: number,
  surplus?: EncodedSurplus | null,
  shift?: [code: string, start: EncodedMoment, seen: EncodedMoment] | null,
  pastShifts?: [code: string, startedAtMs: number, untilMs: number][],
  fuel?: EncodedFuel | null,
  sensors?: EncodedSensor[] | null,
  aheadFixes?: number,
];
type EncodedValue = [atMs: number, value: number];
type EncodedThresholdRun = [
  SensorThreshold,
  EncodedMoment,
  reported: boolean,
  peakValue: number,
  definitionVersion: number,
];
type EncodedSensor = [
  SensorId,
  window: EncodedValue[],
  newest: EncodedValue | null,
  place: EncodedMoment | null,
  EncodedThresholdRun[],
];
type EncodedSurplus = [
  minuteMs: number,
  Surplus['begun'],
  Surplus['leftOut'],
  [owner: SurplusOwner, atMs: number, geofences: number, events: number][],
];

/** Encodes a vehicle's state for the checkpoint, as JSON without names. Numbers are restored bit for bit. */
export function encodeState(state: VehicleState): Buffer {
  const { suspects } = state;
  const encoded: Encoded = [
    STATE_VERSION,
    state.offset,
    state.latest && encodePosition(state.latest),
    state.receivedAtMs,
    state.speedKmh,
    suspects && [suspects.count, suspects.firstAtMs, suspects.lastAtMs, suspects.latitude, suspects.longitude],
    state.presences.map((presence) => [
      presence.fence.definition.id,
      presence.phase,
      presence.silent,
      presence.inferred,
      presence.beganAtMs,
      presence.fromFixTimeMs,
      encodeMoment(presence.entry),
      presence.exit && encodeMoment(presence.exit),
    ]),
    state.runs.map((run) => [
      run.fence?.definition.id ?? null,
      run.limitKmh,
      run.definitionVersion,
      run.reported,
      encodeMoment(run.start),
      run.peakKmh,
      run.kmhMs,
      run.distanceM,
    ]),
    state.motion && encodeMotion(state.motion),
    state.receivedLastAtMs,
    state.offline,
    state.recordAtMs,
    state.ignition,
    state.supplied,
    state.conditions.map(
      ({ what, kind, silent, start, peakMps2 }): EncodedCondition =>
        kind === 'harsh-driving' ? [what, silent, encodeMoment(start), peakMps2] : [what, silent, encodeMoment(start)],
    ),
    state.tripCut,
    encodeRecord(state),
    state.protocol,
    state.asOfMs,
    state.beside && [state.beside.atMs, state.beside.marks],
    state.aheadMs,
    state.surplus && encodeSurplus(state.surplus),
    state.shift && [state.shift.code, encodeMoment(state.shift.start), encodeMoment(state.shift.seen)],
    state.pastShifts.map(({ code, startedAtMs, untilMs }) => [code, startedAtMs, untilMs]),
    state.fuel && encodeFuel(state.fuel),
    state.sensors && encodeSensors(state.sensors),
    state.aheadFixes,
  ];
  return Buffer.from(JSON.stringify(encoded));
}

/**
 * Decodes a state from {@link encodeState} of this or an earlier version. Fields derived from definitions are left as
 * in a fresh state.
 *
 * @param fenceOf finds the geofence of a presence or a run
 * @param sensors the vehicle's sensors at the time when the state was encoded
 * @throws {Error} when the bytes are not such a state
 */
export function decodeState(
  id: VehicleId,
  bytes: Buffer,
  origin: FleetEvent['origin'],
  fenceOf: (id: GeofenceId) => Fence,
  sensors: VehicleSensors,
): VehicleState {
  const encoded = JSON.parse(bytes.toString()) as Encoded;
  if (encoded[0] !== STATE_VERSION && !EARLIER_VERSIONS.includes(encoded[0]))
    throw new Error(`vehicle state ${id}: version ${encoded[0]}, expected ${STATE_VERSION}`);
  const [, offset, latest, receivedAtMs, speedKmh, suspects, presences, runs, motion, ...rest] = encoded;
  const state = freshState(id, origin);
  state.offset = offset;
  state.latest = latest && decodePosition(latest);
  state.receivedAtMs = receivedAtMs;
  state.speedKmh = speedKmh;
  state.suspects = suspects && decodeSuspects(suspects);
  state.presences = presences.map(
    ([geofenceId, phase, silent, inferred, beganAtMs, fromFixTimeMs, entry, exit]): Presence => ({
      fence: fenceOf(geofenceId),
      phase,
      silent,
      inferred,
      beganAtMs,
      fromFixTimeMs,
      id: null,
      entry: decodeMoment(entry),
      exit: exit && decodeMoment(exit),
    }),
  );
  state.runs = runs.map(
    ([geofenceId, limitKmh, definitionVersion, reported, start, peakKmh, kmhMs, distanceM]): SpeedingRun => ({
      fence: geofenceId === null ? null : fenceOf(geofenceId),
      limitKmh,
      definitionVersion,
      reported,
      start: decodeMoment(start),
      id: null,
      peakKmh,
      kmhMs,
      distanceM,
    }),
  );
  state.motion = motion && decodeMotion(motion);
  const [receivedLastAtMs, offline, recordAtMs, ignition, supplied, conditions, ...added] = rest;
  const [tripCut = false, record = null, protocol = null, asOfMs = 0, beside = null, aheadMs = 0, ...newest] = added;
  const [surplus = null, shift = null, pastShifts = [], fuel = null, sensorStates = null, aheadFixes = 0] = newest;
  state.fuel = fuel && decodeFuel(fuel);
  state.shift = shift && {
    code: shift[0],
    start: decodeMoment(shift[1]),
    id: null,
    seen: decodeMoment(shift[2]),
  };
  state.pastShifts = pastShifts.map(([code, startedAtMs, untilMs]) => ({ code, startedAtMs, untilMs }));
  state.surplus = surplus && decodeSurplus(surplus);
  state.sensors = decodeSensors(sensorStates, sensors);
  state.receivedLastAtMs = receivedLastAtMs;
  state.offline = offline;
  state.recordAtMs = recordAtMs;
  state.ignition = ignition;
  state.supplied = supplied;
  state.tripCut = tripCut;
  state.aheadMs = aheadMs;
  state.aheadFixes = aheadFixes;
  state.beside = beside && { atMs: beside[0], marks: beside[1] };
  state.conditions = conditions.map(([what, silent, start, peakMps2]) => ({
    what,
    // A condition that began as an alarm must end as one.
    kind: kindOf(what) === 'harsh-driving' && peakMps2 === undefined ? 'alarm' : kindOf(what),
    silent,
    start: decodeMoment(start),
    id: null,
    peakMps2: peakMps2 ?? null,
  }));
  state.record = record === null ? state.latest : { ...decodePosition(record[2]), valid: record[0] };
  state.recordReceivedAtMs = record === null ? receivedAtMs : record[1];
  state.protocol = protocol;
  state.asOfMs = asOfMs;
  return state;
}

function encodeRecord({ record, recordReceivedAtMs, latest }: VehicleState): [boolean, number, EncodedPosition] | null {
  return record === null || record === latest ? null : [record.valid, recordReceivedAtMs, encodePosition(record)];
}

function encodeSurplus({ minuteMs, begun, leftOut, notes }: Surplus): EncodedSurplus {
  return [
    minuteMs,
    begun,
    leftOut,
    notes.map(({ owner, atMs, geofences, events }) => [owner, atMs, geofences, events]),
  ];
}

function decodeSurplus([minuteMs, begun, leftOut, notes]: EncodedSurplus): Surplus {
  return {
    minuteMs,
    begun,
    leftOut,
    notes: notes.map(([owner, atMs, geofences, events]) => ({ owner, atMs, geofences, events })),
  };
}

function encodeSensors(states: SensorStates): EncodedSensor[] {
  makeValues(states);
  return states.sensors.places.map((place): EncodedSensor => {
    const newest = newestOf(states, place);
    const { where, runs } = beyondOf(states, place) ?? { where: null, runs: [] };
    return [
      place.sensor.definition.id,
      windowOf(states, place),
      newest && [newest.atMs, newest.value],
      where && encodeMoment(where),
      runs.map((run) => [run.threshold, encodeMoment(run.start), run.reported, run.peakValue, run.definitionVersion]),
    ];
  });
}

function decodeSensors(encoded: EncodedSensor[] | null, sensors: VehicleSensors): SensorStates | null {
  const states = freshSensors(sensors);
  if (encoded === null || states === null) return states;
  const known = new Map(encoded.map((state) => [state[0], state]));
  for (const place of sensors.places) {
    const state = known.get(place.sensor.definition.id);
    if (state === undefined) continue;
    const [, window, newest, where, encodedRuns] = state;
    const runs = encodedRuns.map(
      ([threshold, start, reported, peakValue, definitionVersion]): ThresholdRun => ({
        threshold,
        start: decodeMoment(start),
        reported,
        peakValue,
        definitionVersion,
        id: null,
      }),
    );
    const value = newest && { atMs: newest[0], value: newest[1] };
    restore(states, place, value, window, where && decodeMoment(where), runs);
  }
  return states;
}

function encodeMotion({ drive, rest, halt }: Motion): EncodedMotion {
  return [
    drive && encodeDrive(drive),
    rest && [encodeMoment(rest.since), rest.distanceM, rest.idlingMs],
    halt && [
      halt.kind,
      encodeMoment(halt.start),
      halt.idlingMs,
      halt.turn && [encodeMoment(halt.turn.at), halt.turn.idlingMs],
    ],
  ];
}

function encodeDrive(drive: Drive): EncodedDrive {
  const { start, distanceM, movingMs, idlingMs, maxKmh, leadM, isByPlace } = drive;
  const { odometerM, fixesM, countedM } = drive.disagreement;
  const disagreement: EncodedDrive[6] = [odometerM, fixesM, countedM];
  return [encodeMoment(start), distanceM, movingMs, idlingMs, maxKmh, leadM, disagreement, isByPlace];
}

function decodeDisagreement([odometerM, fixesM, countedM]: NonNullable<EncodedDrive[6]>): Disagreement {
  return { odometerM, fixesM, countedM };
}

function decodeMotion([drive, rest, halt]: EncodedMotion): Motion {
  return {
    drive: drive && {
      start: decodeMoment(drive[0]),
      id: null,
      distanceM: drive[1],
      movingMs: drive[2],
      idlingMs: drive[3],
      maxKmh: drive[4],
      leadM: drive[5] ?? 0,
      disagreement: drive[6] ? decodeDisagreement(drive[6]) : noDisagreement(),
      isByPlace: drive[7] ?? false,
    },
    rest: rest && { since: decodeMoment(rest[0]), distanceM: rest[1], idlingMs: rest[2] },
    halt: halt && {
      kind: halt[0],
      start: decodeMoment(halt[1]),
      id: null,
      idlingMs: halt[2],
      turn: halt[3] && { at: decodeMoment(halt[3][0]), idlingMs: halt[3][1] },
    },
  };
}

/** Without `valid`, since only a valid fix moves a vehicle; for other records it is stored separately. */
function encodePosition(p: Position): EncodedPosition {
  return [
    p.fixTimeMs,
    p.latitude,
    p.longitude,
    p.speedKmh,
    p.courseDeg,
    p.altitudeM,
    p.satellites,
    p.ignition,
    p.odometerM,
    p.supplyV,
    p.fuelL,
    p.alarms,
    p.attributes,
  ];
}

function decodePosition(encoded: EncodedPosition): Position {
  const [fixTimeMs, latitude, longitude, speedKmh, courseDeg, altitudeM, satellites, ...rest] = encoded;
  const [ignition, odometerM, supplyV, fuelL, alarms, attributes] = rest;
  return {
    fixTimeMs,
    latitude,
    longitude,
    valid: true,
    speedKmh,
    courseDeg,
    altitudeM,
    satellites,
    ignition,
    odometerM,
    supplyV,
    fuelL,
    alarms: alarms.length === 0 ? NO_ALARMS : alarms,
    attributes,
  };
}

function encodeMoment(moment: Moment): EncodedMoment {
  return [moment.atMs, moment.latitude, moment.longitude, moment.speedKmh];
}

function decodeMoment([atMs, latitude, longitude, speedKmh]: EncodedMoment): Moment {
  return { atMs, latitude, longitude, speedKmh };
}

function decodeSuspects([count, firstAtMs, lastAtMs, latitude, longitude]: [
  number,
  number,
  number,
  number,
  number,
]): Suspects {
  return { count, firstAtMs, lastAtMs, latitude, longitude };
}
