import { randomUUID } from 'node:crypto';
import type { Shape, TelemetryPacket, VehicleId } from '@outrider/domain';
import { baselineOf, type Query, turfTest } from '@outrider/geo/bench';

/** An exceeded limit. */
interface Run {
  startedAtMs: number;
  peakKmh: number;
}

interface Car {
  inside: number[];
  runs: Map<number, Run>;
  longitude: number;
  latitude: number;
  fixTimeMs: number;
}

export interface PlainEvent {
  id: string;
  kind: 'visit' | 'speeding';
  phase: 'begin' | 'end';
  vehicleId: VehicleId;
  geofence: number;
  atMs: number;
  longitude: number;
  latitude: number;
  peakKmh: number | null;
}

const OWN_LIMIT = -1;
const HALVINGS = 20;

/**
 * A conventional implementation of the rules as a baseline for the engine. Flatbush and turf find the geofences that
 * contain a fix; a difference from the previous fix is an entry or an exit, placed by bisecting the path. Speeding by
 * vehicle and by geofence. No jumps, no dwell, no passing through, no trips, no state that survives a restart.
 */
export class PlainRules {
  readonly #find: Query;
  readonly #tests: ((point: [number, number]) => boolean)[];
  readonly #limits: readonly (number | null)[];
  readonly #limitOf: ReadonlyMap<VehicleId, number>;
  readonly #cars = new Map<VehicleId, Car>();
  readonly #hits: Int32Array;

  /**
   * @param limits of the geofences, in the order of `shapes`
   * @param limitOf of the vehicles that have a limit
   */
  constructor(shapes: readonly Shape[], limits: readonly (number | null)[], limitOf: ReadonlyMap<VehicleId, number>) {
    this.#tests = shapes.map(turfTest);
    this.#find = baselineOf(shapes, this.#tests);
    this.#limits = limits;
    this.#limitOf = limitOf;
    this.#hits = new Int32Array(shapes.length);
  }

  process({ vehicleId, positions }: TelemetryPacket, events: PlainEvent[]): void {
    let car = this.#cars.get(vehicleId);
    for (const { longitude, latitude, fixTimeMs, speedKmh } of positions) {
      if (car !== undefined && fixTimeMs <= car.fixTimeMs) continue;
      const inside = [...this.#hits.subarray(0, this.#find(longitude, latitude, this.#hits))];
      if (car === undefined) {
        car = { inside, runs: new Map(), longitude, latitude, fixTimeMs };
        this.#cars.set(vehicleId, car);
      } else {
        for (const key of car.inside)
          if (!inside.includes(key))
            events.push(this.#cross(vehicleId, car, key, 'end', longitude, latitude, fixTimeMs));
        for (const key of inside)
          if (!car.inside.includes(key))
            events.push(this.#cross(vehicleId, car, key, 'begin', longitude, latitude, fixTimeMs));
      }
      car.inside = inside;
      car.longitude = longitude;
      car.latitude = latitude;
      car.fixTimeMs = fixTimeMs;
      const own = this.#limitOf.get(vehicleId);
      if (own !== undefined) this.#judge(vehicleId, car, OWN_LIMIT, own, speedKmh ?? 0, events);
      for (const key of inside) {
        const limitKmh = this.#limits[key];
        if (limitKmh != null) this.#judge(vehicleId, car, key, limitKmh, speedKmh ?? 0, events);
      }
      for (const key of car.runs.keys())
        if (key !== OWN_LIMIT && !inside.includes(key)) this.#slow(vehicleId, car, key, events);
    }
  }

  #cross(
    vehicleId: VehicleId,
    car: Car,
    geofence: number,
    phase: 'begin' | 'end',
    longitude: number,
    latitude: number,
    fixTimeMs: number,
  ): PlainEvent {
    const test = this.#tests[geofence];
    let low = 0;
    let high = 1;
    for (let i = 0; i < HALVINGS; i++) {
      const middle = (low + high) / 2;
      const x = car.longitude + (longitude - car.longitude) * middle;
      const y = car.latitude + (latitude - car.latitude) * middle;
      if (test?.([x, y]) === (phase === 'begin')) high = middle;
      else low = middle;
    }
    return {
      id: randomUUID(),
      kind: 'visit',
      phase,
      vehicleId,
      geofence,
      atMs: Math.round(car.fixTimeMs + (fixTimeMs - car.fixTimeMs) * high),
      longitude: car.longitude + (longitude - car.longitude) * high,
      latitude: car.latitude + (latitude - car.latitude) * high,
      peakKmh: null,
    };
  }

  #judge(vehicleId: VehicleId, car: Car, key: number, limitKmh: number, speedKmh: number, events: PlainEvent[]): void {
    const run = car.runs.get(key);
    if (run === undefined) {
      if (speedKmh <= limitKmh) return;
      car.runs.set(key, { startedAtMs: car.fixTimeMs, peakKmh: speedKmh });
      events.push(speeding(vehicleId, car, key, 'begin', speedKmh));
    } else if (speedKmh <= limitKmh) this.#slow(vehicleId, car, key, events);
    else run.peakKmh = Math.max(run.peakKmh, speedKmh);
  }

  #slow(vehicleId: VehicleId, car: Car, key: number, events: PlainEvent[]): void {
    events.push(speeding(vehicleId, car, key, 'end', car.runs.get(key)?.peakKmh ?? 0));
    car.runs.delete(key);
  }
}

function speeding(
  vehicleId: VehicleId,
  car: Car,
  geofence: number,
  phase: PlainEvent['phase'],
  peakKmh: number,
): PlainEvent {
  const { longitude, latitude, fixTimeMs: atMs } = car;
  return { id: randomUUID(), kind: 'speeding', phase, vehicleId, geofence, atMs, longitude, latitude, peakKmh };
}
