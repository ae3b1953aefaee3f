import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Shape } from '@outrider/domain';
import { booleanPointInPolygon } from '@turf/boolean-point-in-polygon';
import { distance } from '@turf/distance';
import Flatbush from 'flatbush';
import { boundingBox } from './bounding-box.ts';
import { cityGeofences, cityTrack } from './generate.ts';
import { GeofenceIndex } from './geofence-index.ts';
import { prepareShape } from './prepare-shape.ts';

/** Result for one number of geofences over one city. */
export interface GeofenceIndexRow {
  geofences: number;
  /** Queries a second of `GeofenceIndex`, on one core. */
  positionsPerSecond: number;
  /** Queries a second of flatbush (boxes) with turf (containment in them), with the same results. */
  baselinePositionsPerSecond: number;
  /** Speed relative to the baseline. */
  ratio: number;
  /** Positions a second, each queried together with the boundaries between it and the vehicle's previous position. */
  waysPerSecond: number;
  /** Memory of the index per geofence. */
  bytesPerGeofence: number;
  /** Mean number of geofences that contain a position. */
  hitsPerPosition: number;
  buildMs: number;
  /** Mean time in milliseconds to change the shape of one geofence. */
  putMs: number;
}

/** Queries one place, like `GeofenceIndex.query`. */
export type Query = (longitude: number, latitude: number, out: Int32Array) => number;

/**
 * Whether a place is inside a shape, by turf. Lines use their prepared shape, since turf has no suitable test for them.
 */
export function turfTest(shape: Shape): (point: [number, number]) => boolean {
  const box = boundingBox(shape);
  if (shape.type === 'polygon') {
    const rings = shape.rings.map((ring) => ring.map(([x, y]) => [x, y]));
    const bbox: [number, number, number, number] = [box[0], box[1], box[2], box[3]];
    const feature = {
      type: 'Feature' as const,
      bbox,
      properties: {},
      geometry: { type: 'Polygon' as const, coordinates: rings },
    };
    return (point) => booleanPointInPolygon(point, feature);
  }
  if (shape.type === 'circle') {
    const center = [shape.center[0], shape.center[1]];
    return (point) => distance(center, point, { units: 'meters' }) <= shape.radiusM;
  }
  const prepared = prepareShape(shape);
  return (point) => prepared.contains(point[0], point[1]);
}

/** Conventional baseline: a tree of boxes, then turf. */
export function baselineOf(shapes: readonly Shape[], tests = shapes.map(turfTest)): Query {
  const boxes = new Flatbush(shapes.length);
  for (const shape of shapes) boxes.add(...boundingBox(shape));
  boxes.finish();
  return (longitude, latitude, out) => {
    const point: [number, number] = [longitude, latitude];
    let found = 0;
    for (const key of boxes.search(longitude, latitude, longitude, latitude)) {
      if (tests[key]?.(point)) out[found++] = key;
    }
    return found;
  };
}

/**
 * Repeats a run over all positions for about `seconds`. Returns positions a second, and the sum of all results of one
 * run.
 */
function measure(run: () => number, positions: number, seconds: number): { perSecond: number; hits: number } {
  let hits = run();
  let rounds = 0;
  const began = performance.now();
  let elapsedMs = 0;
  do {
    hits = run();
    rounds++;
    elapsedMs = performance.now() - began;
  } while (elapsedMs < seconds * 1000);
  return { perSecond: Math.round((rounds * positions * 1000) / elapsedMs), hits };
}

function memoryInUse(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/**
 * Measures `GeofenceIndex` against flatbush with turf, for each number of geofences over one city, with 2,000 vehicles
 * driving there.
 *
 * @throws Error when the results of the two differ for a position
 */
export function benchGeofenceIndex(counts: readonly number[], seconds = 2): GeofenceIndexRow[] {
  const vehicles = 2000;
  const { longitudes, latitudes } = cityTrack(vehicles, 100, 7);
  const positions = longitudes.length;
  return counts.map((geofences) => {
    const shapes = cityGeofences(geofences, 42);
    const items = shapes.map((shape, key) => ({ key, shape }));
    // For few geofences, many indexes are built, as there may be many users with so few: the memory of a single one is
    // below the noise of the heap.
    const copies = Math.max(1, Math.floor(5000 / geofences));
    const indexes = [GeofenceIndex.build(items)];
    const before = memoryInUse();
    const began = performance.now();
    for (let copy = 0; copy < copies; copy++) indexes.push(GeofenceIndex.build(items));
    const buildMs = (performance.now() - began) / copies;
    const bytes = (memoryInUse() - before) / copies;
    const index = indexes.splice(0).pop() as GeofenceIndex;
    const baseline = baselineOf(shapes);

    const out = new Int32Array(geofences);
    const outOfBaseline = new Int32Array(geofences);
    for (let i = 0; i < positions; i += 7) {
      const found = index.query(longitudes[i] as number, latitudes[i] as number, out);
      const expected = baseline(longitudes[i] as number, latitudes[i] as number, outOfBaseline);
      const same =
        found === expected && out.subarray(0, found).sort().join() === outOfBaseline.subarray(0, found).sort().join();
      if (!same) throw new Error(`the index and turf differ at ${longitudes[i]}, ${latitudes[i]}`);
    }

    const runOf = (query: Query, step: number) => () => {
      let hits = 0;
      for (let i = 0; i < positions; i += step) hits += query(longitudes[i] as number, latitudes[i] as number, out);
      return hits;
    };
    const fast = measure(
      runOf((x, y, o) => index.query(x, y, o), 1),
      positions,
      seconds,
    );
    const step = geofences > 20_000 ? 10 : 1;
    const slow = measure(runOf(baseline, step), positions / step, seconds);
    const ways = measure(
      () => {
        let hits = 0;
        for (let i = vehicles; i < positions; i++) {
          const x = longitudes[i] as number;
          const y = latitudes[i] as number;
          hits += index.query(x, y, out);
          hits += index.queryWay(longitudes[i - vehicles] as number, latitudes[i - vehicles] as number, x, y, out);
        }
        return hits;
      },
      positions - vehicles,
      seconds,
    );
    const changes = Math.min(geofences, 2000);
    const others = cityGeofences(changes, 43);
    const changed = performance.now();
    for (const [key, shape] of others.entries()) index.put(key, shape);
    const putMs = (performance.now() - changed) / changes;
    return {
      geofences,
      positionsPerSecond: fast.perSecond,
      baselinePositionsPerSecond: slow.perSecond,
      ratio: Math.round((fast.perSecond / slow.perSecond) * 10) / 10,
      waysPerSecond: ways.perSecond,
      bytesPerGeofence: Math.round(bytes / geofences),
      hitsPerPosition: Math.round((fast.hits / positions) * 100) / 100,
      buildMs: Math.round(buildMs * 100) / 100,
      putMs: Math.round(putMs * 1000) / 1000,
    };
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const counts = process.argv.slice(2).map(Number);
  console.table(benchGeofenceIndex(counts.length > 0 ? counts : [100, 10_000, 100_000]));
}
