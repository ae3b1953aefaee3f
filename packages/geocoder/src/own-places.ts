import type { Geofence } from '@outrider/domain';
import { areaM2, type PreparedShape, prepareShape } from '@outrider/geo';
import type { Point } from './geocoder.ts';

interface Prepared {
  shape: PreparedShape;
  areaM2: number;
}

/** Cache of prepared shapes: each is prepared once, and dropped with its definition. */
const PREPARED = new WeakMap<Geofence, Prepared>();

/** Finds the smallest geofence that contains a point. Each query checks the box of every geofence. */
export class OwnPlaces {
  readonly #geofences: readonly Geofence[];
  /** West, south, east and north of each geofence. */
  readonly #boxes: Float64Array;

  constructor(geofences: readonly Geofence[]) {
    this.#geofences = geofences;
    this.#boxes = new Float64Array(geofences.length * 4);
    for (const [at, geofence] of geofences.entries()) {
      const [west, south, east, north] = preparedOf(geofence).shape.bbox;
      // The east of a box across the antimeridian is beyond 180 degrees.
      this.#boxes.set([west, south, east < west ? east + 360 : east, north], at * 4);
    }
  }

  /** The smallest geofence around the point; null if none contains it. */
  around({ latitude, longitude }: Point): Geofence | null {
    const boxes = this.#boxes;
    let smallest: Geofence | null = null;
    let leastM2 = Number.POSITIVE_INFINITY;
    for (let at = 0; at < this.#geofences.length; at += 1) {
      if (latitude < (boxes[at * 4 + 1] as number) || latitude > (boxes[at * 4 + 3] as number)) continue;
      const [west, east] = [boxes[at * 4] as number, boxes[at * 4 + 2] as number];
      if (!isBetween(longitude, west, east) && !isBetween(longitude + 360, west, east)) continue;
      const geofence = this.#geofences[at] as Geofence;
      const prepared = preparedOf(geofence);
      if (prepared.areaM2 >= leastM2 || !prepared.shape.contains(longitude, latitude)) continue;
      smallest = geofence;
      leastM2 = prepared.areaM2;
    }
    return smallest;
  }
}

function isBetween(value: number, from: number, to: number): boolean {
  return value >= from && value <= to;
}

function preparedOf(geofence: Geofence): Prepared {
  let prepared = PREPARED.get(geofence);
  if (prepared === undefined) {
    prepared = { shape: prepareShape(geofence.shape), areaM2: areaM2(geofence.shape) };
    PREPARED.set(geofence, prepared);
  }
  return prepared;
}
