import type { Alarm, AttributeValue, GeofenceId, Position, VehicleId } from '@outrider/domain';
import { NO_ALARMS } from '@outrider/domain';
import type { Fence } from './fences.ts';
import type { Moment, SpeedingRun, Stay, Suspects, VehicleState } from './vehicle-state.ts';
import { freshState } from './vehicle-state.ts';

/** First element of every encoded state. A state of another version is refused, never guessed at. */
const VERSION = 1;

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
type EncodedStay = [GeofenceId, Stay['phase'], boolean, number, EncodedMoment, EncodedMoment | null];
type EncodedRun = [GeofenceId | null, number, number, boolean, EncodedMoment, number, number, number];
type Encoded = [
  typeof VERSION,
  number,
  EncodedPosition | null,
  number,
  number | null,
  [number, number, number, number, number] | null,
  EncodedStay[],
  EncodedRun[],
];

/** A vehicle's state as JSON without names: what the checkpoint keeps. Numbers come back bit for bit. */
export function encodeState(state: VehicleState): Buffer {
  const { suspects } = state;
  const encoded: Encoded = [
    VERSION,
    state.offset,
    state.latest && encodePosition(state.latest),
    state.receivedAtMs,
    state.speedKmh,
    suspects && [suspects.count, suspects.firstAtMs, suspects.lastAtMs, suspects.latitude, suspects.longitude],
    state.stays.map((stay) => [
      stay.fence.definition.id,
      stay.phase,
      stay.silent,
      stay.beganAtMs,
      encodeMoment(stay.entry),
      stay.exit && encodeMoment(stay.exit),
    ]),
    state.runs.map((run) => [
      run.fence?.definition.id ?? null,
      run.limitKmh,
      run.definitionVersion,
      run.told,
      encodeMoment(run.start),
      run.peakKmh,
      run.kmhMs,
      run.distanceM,
    ]),
  ];
  return Buffer.from(JSON.stringify(encoded));
}

/**
 * The state that {@link encodeState} wrote; what comes from the definitions is left as in a fresh one.
 *
 * @param fenceOf finds the geofence that a stay or a run names
 * @throws {Error} when the bytes are not such a state
 */
export function decodeState(id: VehicleId, bytes: Buffer, fenceOf: (id: GeofenceId) => Fence): VehicleState {
  const encoded = JSON.parse(bytes.toString()) as Encoded;
  if (encoded[0] !== VERSION) throw new Error(`vehicle state ${id}: version ${encoded[0]}, expected ${VERSION}`);
  const [, offset, latest, receivedAtMs, speedKmh, suspects, stays, runs] = encoded;
  const state = freshState(id);
  state.offset = offset;
  state.latest = latest && decodePosition(latest);
  state.receivedAtMs = receivedAtMs;
  state.speedKmh = speedKmh;
  state.suspects = suspects && decodeSuspects(suspects);
  state.stays = stays.map(
    ([geofenceId, phase, silent, beganAtMs, entry, exit]): Stay => ({
      fence: fenceOf(geofenceId),
      phase,
      silent,
      beganAtMs,
      id: null,
      entry: decodeMoment(entry),
      exit: exit && decodeMoment(exit),
    }),
  );
  state.runs = runs.map(
    ([geofenceId, limitKmh, definitionVersion, told, start, peakKmh, kmhMs, distanceM]): SpeedingRun => ({
      fence: geofenceId === null ? null : fenceOf(geofenceId),
      limitKmh,
      definitionVersion,
      told,
      start: decodeMoment(start),
      id: null,
      peakKmh,
      kmhMs,
      distanceM,
    }),
  );
  return state;
}

/** Without `valid`: only a valid fix moves a vehicle. */
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
