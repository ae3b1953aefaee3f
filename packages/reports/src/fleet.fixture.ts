import {
  blankPosition,
  type Definition,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  type Position,
  type TerminalId,
  type User,
  type UserId,
  type Vehicle,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import { sampleGeofence, sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { Engine } from '@outrider/engine';
import type { Warehouse } from '@outrider/warehouse';

/** What a simulated vehicle does next, and for how long. */
export type Leg =
  /** A fix every 10 s; its speed wanders between the two. */
  | { does: 'drive'; seconds: number; kmh: readonly [number, number] }
  /** A fix every 30 s. */
  | { does: 'park' | 'idle'; seconds: number }
  /** It sends nothing and does not move. */
  | { does: 'silence'; seconds: number };

/** A trip as the simulator itself drove it. */
export interface TrueTrip {
  startMs: number;
  endMs: number;
  distanceM: number;
  /** Of each step of it: when, and how far. */
  steps: { fromMs: number; toMs: number; metres: number }[];
  movingMs: number;
}

/** What is true of a simulated vehicle, because it was made so. */
export interface Truth {
  vehicleId: VehicleId;
  positions: Position[];
  trips: TrueTrip[];
  /** Stops of five minutes and more, with their kind: what it did between trips. */
  stops: { kind: 'parking' | 'idling'; startMs: number; endMs: number | null }[];
  ignitionOn: { startMs: number; endMs: number | null }[];
}

const RADIUS_M = 6_371_008.8;
const RADIANS = Math.PI / 180;

/** Great-circle distance in metres: the haversine, written out once more. */
export function metresBetween(a: Position, b: Position): number {
  const dLat = (b.latitude - a.latitude) * RADIANS;
  const dLon = (b.longitude - a.longitude) * RADIANS;
  const h =
    Math.sin(dLat / 2) ** 2 + Math.cos(a.latitude * RADIANS) * Math.cos(b.latitude * RADIANS) * Math.sin(dLon / 2) ** 2;
  return 2 * RADIUS_M * Math.asin(Math.sqrt(h));
}

export const vehicleIdOf = (number: number) =>
  `0190a1b2-c3d4-7000-8000-${number.toString(16).padStart(12, '0')}` as VehicleId;

/** Simulates a vehicle and records what it did. Legs without movement must last 6 minutes or more. */
export function simulate(vehicleId: VehicleId, startMs: number, legs: readonly Leg[], seed: number): Truth {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const truth: Truth = { vehicleId, positions: [], trips: [], stops: [], ignitionOn: [] };
  let atMs = startMs;
  let latitude = 52 + random();
  let longitude = 13 + random();
  let heading = random() * 2 * Math.PI;
  let trip: TrueTrip | null = null;
  let last: Position | null = null;

  const fix = (speedKmh: number, ignition: boolean) => {
    const position = {
      ...blankPosition(atMs, Math.round(latitude * 1e7) / 1e7, Math.round(longitude * 1e7) / 1e7),
      speedKmh: Math.round(speedKmh * 10) / 10,
      ignition,
    };
    truth.positions.push(position);
    if (trip !== null && last !== null) {
      const metres = metresBetween(last, position);
      trip.steps.push({ fromMs: last.fixTimeMs, toMs: atMs, metres });
      trip.distanceM += metres;
      trip.movingMs += atMs - last.fixTimeMs;
    }
    last = position;
    const on = truth.ignitionOn.at(-1);
    if (ignition && (!on || on.endMs !== null)) truth.ignitionOn.push({ startMs: atMs, endMs: null });
    if (!ignition && on && on.endMs === null) on.endMs = atMs;
  };
  const endTrip = () => {
    if (trip === null) return;
    trip.endMs = atMs;
    truth.trips.push(trip);
    trip = null;
  };
  const endStop = (endMs: number) => {
    const stop = truth.stops.at(-1);
    if (stop && stop.endMs === null) stop.endMs = endMs;
  };

  for (const leg of legs) {
    const until = atMs + leg.seconds * 1000;
    if (leg.does === 'drive') {
      endStop(atMs);
      let speedKmh = (leg.kmh[0] + leg.kmh[1]) / 2;
      for (; atMs < until; atMs += 10_000) {
        fix(speedKmh, true);
        trip ??= { startMs: atMs, endMs: atMs, distanceM: 0, steps: [], movingMs: 0 };
        speedKmh = Math.min(leg.kmh[1], Math.max(leg.kmh[0], speedKmh + (random() - 0.5) * 20));
        heading += (random() - 0.5) * 0.3;
        const metres = speedKmh / 0.36;
        latitude += (metres * Math.cos(heading)) / 111_195;
        longitude += (metres * Math.sin(heading)) / (111_195 * Math.cos(latitude * RADIANS));
      }
    } else if (leg.does === 'silence') {
      // A trip ends at the last record before the silence.
      if (trip !== null && last !== null) {
        const resumeMs = atMs;
        atMs = (last as Position).fixTimeMs;
        endTrip();
        atMs = resumeMs;
      }
      atMs = until;
    } else {
      const kind = leg.does === 'park' ? 'parking' : 'idling';
      for (let isFirst = true; atMs < until; atMs += 30_000) {
        fix(0, leg.does === 'idle');
        if (isFirst) {
          endTrip();
          const before = truth.stops.at(-1);
          if (before?.kind !== kind || before.endMs !== null) {
            endStop(atMs);
            truth.stops.push({ kind, startMs: atMs, endMs: null });
          }
          isFirst = false;
        }
      }
    }
  }
  return truth;
}

export const OPERATOR: User = sampleUser({ id: '00000000-0000-7000-8000-0000000000aa' as UserId });

export function vehicleOf(id: VehicleId, more: Partial<Vehicle> = {}): Vehicle {
  return sampleVehicle({ id, name: `Van ${id.slice(-4)}`, ...more });
}

export function geofenceOf(number: number, more: Pick<Geofence, 'shape'> & Partial<Geofence>): Geofence {
  return sampleGeofence({
    id: `00000000-0000-7000-8000-${number.toString(16).padStart(12, 'f')}` as GeofenceId,
    name: `Zone ${number}`,
    ownerId: OPERATOR.id,
    ...more,
  });
}

/**
 * Archives tracks as the service does: positions as they are, and what the engine makes of them.
 *
 * @param statuses where the newest status of each vehicle is put
 */
export async function archive(
  warehouse: Warehouse,
  tracks: readonly { vehicleId: VehicleId; positions: readonly Position[] }[],
  definitions: readonly Definition[],
  statuses = new Map<VehicleId, VehicleStatus>(),
): Promise<FleetEvent[]> {
  const engine = new Engine();
  engine.load(
    definitions.map((definition) => ({
      kind: definition.kind,
      id: definition.id,
      version: 1,
      changedAtMs: 0,
      definition,
    })),
  );
  const events: FleetEvent[] = [];
  let offset = 0;
  for (const { vehicleId, positions } of tracks) {
    const packets = [];
    for (let at = 0; at < positions.length; at += 20) {
      const part = positions.slice(at, at + 20);
      const receivedAtMs = part.at(-1)?.fixTimeMs ?? 0;
      const value = {
        vehicleId,
        terminalId: '1' as TerminalId,
        protocol: 'osmand' as const,
        receivedAtMs,
        positions: part,
      };
      packets.push({ offset, value });
      engine.process(value, offset++, events);
    }
    await warehouse.insertPositions(packets);
  }
  await warehouse.insertEvents(events.map((value, place) => ({ offset: place, value })));
  for (const status of engine.takeUpdated()) statuses.set(status.vehicleId, status);
  return events;
}
