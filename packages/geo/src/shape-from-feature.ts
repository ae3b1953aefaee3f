import type { LngLat, Shape } from '@outrider/domain';
import { flattenPolygons } from './flat-shape.ts';
import { ErrorList, type GeometryError } from './geometry-error.ts';
import { checkPolygons, type PlainRing } from './ring-order.ts';
import { extentOf, unwrapPath } from './unwrap.ts';

/** Maximum number of points of a shape, over all rings. */
export const MOST_POINTS = 10_000;
/** Maximum radius of a circle, metres; any radius above 0 is allowed. A whole country fits. */
export const MOST_RADIUS_M = 1_000_000;
/** Minimum and maximum width of a line, metres. */
export const LEAST_WIDTH_M = 10;
export const MOST_WIDTH_M = 1000;
/**
 * Highest latitude of a line's path. Its width is measured on a local map, which fails closer to a pole.
 */
export const MOST_LINE_LATITUDE = 85;
/** Limit of the longitudes that a line's path spans in degrees, so that it can't wrap around to itself. */
const MOST_LINE_SPAN_DEG = 359;

export type ShapeResult = { ok: true; shape: Shape } | { ok: false; errors: GeometryError[] };

const GEOMETRY_OF = {
  polygon: 'Polygon',
  multipolygon: 'MultiPolygon',
  circle: 'Point',
  line: 'LineString',
} as const;

const COORDINATES = '/geometry/coordinates';

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A position: longitude and latitude; an altitude or any further number is dropped. Null where it is invalid, with the
 * reason reported.
 */
function positionOf(value: unknown, pointer: string, errors: ErrorList): LngLat | null {
  if (!Array.isArray(value)) {
    errors.add(pointer, 'must be a position: an array of longitude and latitude');
    return null;
  }
  if (value.length < 2) {
    errors.add(pointer, 'must have a longitude and a latitude');
    return null;
  }
  let isGood = true;
  for (const [i, name, most] of [
    [0, 'longitude', 180],
    [1, 'latitude', 90],
  ] as const) {
    const degrees: unknown = value[i];
    if (typeof degrees !== 'number' || !Number.isFinite(degrees)) {
      errors.add(`${pointer}/${i}`, `${name} must be a number`);
      isGood = false;
    } else if (degrees < -most || degrees > most) {
      errors.add(`${pointer}/${i}`, `${name} must be from -${most} to ${most}`);
      isGood = false;
    }
  }
  return isGood ? [value[0], value[1]] : null;
}

/** Positions of a ring or path. Null where one of them is invalid. */
function positionsOf(values: readonly unknown[], pointer: string, errors: ErrorList): LngLat[] | null {
  const positions: LngLat[] = [];
  for (const [i, value] of values.entries()) {
    if (errors.isFull) return null;
    const position = positionOf(value, `${pointer}/${i}`, errors);
    if (position !== null) positions.push(position);
  }
  return positions.length === values.length ? positions : null;
}

function countDistinct(positions: readonly LngLat[]): number {
  return new Set(positions.map(([longitude, latitude]) => `${longitude} ${latitude}`)).size;
}

/** A ring that is valid by itself. Null where it is not, with the reason reported. */
function ringOf(values: readonly unknown[], pointer: string, errors: ErrorList): LngLat[] | null {
  const ring = positionsOf(values, pointer, errors);
  if (ring === null) return null;
  const first = ring[0];
  const last = ring.at(-1);
  if (first === undefined || last === undefined) {
    errors.add(pointer, 'a ring must have at least 3 distinct points');
    return null;
  }
  if (first[0] !== last[0] || first[1] !== last[1]) {
    errors.add(
      `${pointer}/${ring.length - 1}`,
      'a ring must be closed: its last position must be the same as its first',
    );
    return null;
  }
  if (countDistinct(ring) < 3) {
    errors.add(pointer, 'a ring must have at least 3 distinct points');
    return null;
  }
  const xy = unwrapPath(ring);
  if (xy[0] !== xy[xy.length - 2]) {
    errors.add(pointer, 'a ring must not go round a pole');
    return null;
  }
  const { minX, maxX } = extentOf(xy);
  if (maxX - minX >= 360) {
    errors.add(pointer, 'a ring must not span 360 degrees of longitude or more');
    return null;
  }
  return ring;
}

/** The rings of each polygon, all unwrapped consistently and without repeated consecutive points. */
function plainRings(polygons: readonly LngLat[][][], pointers: readonly string[]): PlainRing[][] {
  const { images, ringStarts } = flattenPolygons(polygons);
  const all = images[0]?.xy ?? new Float64Array(0);
  let nth = 0;
  return polygons.map((rings, p) =>
    rings.map((ring, r) => {
      const start = ringStarts[nth++] as number;
      const kept: number[] = [];
      const numbers: number[] = [];
      for (const i of ring.keys()) {
        const x = all[2 * (start + i)] as number;
        const y = all[2 * (start + i) + 1] as number;
        if (i > 0 && x === kept.at(-2) && y === kept.at(-1)) continue;
        kept.push(x, y);
        numbers.push(i);
      }
      return { xy: Float64Array.from(kept), numbers, pointer: `${pointers[p]}/${r}` };
    }),
  );
}

/**
 * Polygons, each at one of the pointers. Null where one is invalid, with the reason reported.
 */
function polygonsOf(values: readonly unknown[], pointers: readonly string[], errors: ErrorList): LngLat[][][] | null {
  let points = 0;
  for (const [p, coordinates] of values.entries()) {
    const pointer = pointers[p] as string;
    if (!Array.isArray(coordinates) || coordinates.length === 0) {
      errors.add(pointer, 'must be an array of at least one ring');
      if (errors.isFull) break;
      continue;
    }
    for (const [r, ring] of coordinates.entries()) {
      if (!Array.isArray(ring)) errors.add(`${pointer}/${r}`, 'must be a ring: an array of positions');
      else points += ring.length;
      if (errors.isFull) break;
    }
    points += coordinates.length > MOST_POINTS ? MOST_POINTS + 1 : 0;
    if (errors.isFull) break;
  }
  if (points > MOST_POINTS) errors.add(COORDINATES, `must have at most ${MOST_POINTS} positions in all`);
  if (!errors.isEmpty) return null;
  const polygons: LngLat[][][] = [];
  for (const [p, coordinates] of (values as unknown[][][]).entries()) {
    const rings: LngLat[][] = [];
    for (const [r, ring] of coordinates.entries()) {
      const good = ringOf(ring as unknown[], `${pointers[p]}/${r}`, errors);
      if (good !== null) rings.push(good);
      if (errors.isFull) return null;
    }
    polygons.push(rings);
  }
  if (!errors.isEmpty) return null;
  checkPolygons(plainRings(polygons, pointers), errors);
  return polygons;
}

function polygonOf(coordinates: unknown, errors: ErrorList): Shape | null {
  const [rings] = polygonsOf([coordinates], [COORDINATES], errors) ?? [];
  return rings === undefined ? null : { type: 'polygon', rings };
}

function multiPolygonOf(coordinates: unknown, errors: ErrorList): Shape | null {
  if (!Array.isArray(coordinates) || coordinates.length === 0) {
    errors.add(COORDINATES, 'must be an array of at least one polygon');
    return null;
  }
  if (coordinates.length > MOST_POINTS) {
    errors.add(COORDINATES, `must have at most ${MOST_POINTS} positions in all`);
    return null;
  }
  const pointers = coordinates.map((_, p) => `${COORDINATES}/${p}`);
  const polygons = polygonsOf(coordinates, pointers, errors);
  if (polygons === null || !errors.isEmpty) return null;
  const { images } = flattenPolygons(polygons);
  const { minX, maxX } = images[0]?.extent ?? { minX: 0, maxX: 0 };
  if (maxX - minX >= 360) {
    errors.add(COORDINATES, 'polygons together must not span 360 degrees of longitude or more');
    return null;
  }
  return { type: 'multipolygon', polygons };
}

/** Number in a property, from `least` (exclusive where that is 0) to `most`. */
function measureOf(
  properties: Record<string, unknown>,
  name: string,
  least: number,
  most: number,
  errors: ErrorList,
): number | null {
  const value = properties[name];
  const pointer = `/properties/${name}`;
  if (typeof value !== 'number' || !Number.isFinite(value)) errors.add(pointer, `${name} must be a number of metres`);
  else if (value > most || value < least || value === 0) {
    errors.add(pointer, `${name} must be ${least === 0 ? 'above 0' : `at least ${least}`} and at most ${most} metres`);
  } else return value;
  return null;
}

function circleOf(coordinates: unknown, properties: Record<string, unknown>, errors: ErrorList): Shape | null {
  const center = positionOf(coordinates, COORDINATES, errors);
  const radiusM = measureOf(properties, 'radiusM', 0, MOST_RADIUS_M, errors);
  return center === null || radiusM === null ? null : { type: 'circle', center, radiusM };
}

function lineOf(coordinates: unknown, properties: Record<string, unknown>, errors: ErrorList): Shape | null {
  const widthM = measureOf(properties, 'widthM', LEAST_WIDTH_M, MOST_WIDTH_M, errors);
  if (!Array.isArray(coordinates)) {
    errors.add(COORDINATES, 'must be a path: an array of positions');
    return null;
  }
  if (coordinates.length > MOST_POINTS) {
    errors.add(COORDINATES, `must have at most ${MOST_POINTS} positions`);
    return null;
  }
  const path = positionsOf(coordinates, COORDINATES, errors);
  if (path === null) return null;
  if (countDistinct(path) < 2) errors.add(COORDINATES, 'a path must have at least 2 distinct points');
  for (const [i, [, latitude]] of path.entries()) {
    if (Math.abs(latitude) > MOST_LINE_LATITUDE) {
      errors.add(
        `${COORDINATES}/${i}/1`,
        `a line's latitude must be from -${MOST_LINE_LATITUDE} to ${MOST_LINE_LATITUDE}`,
      );
    }
  }
  const { minX, maxX } = extentOf(unwrapPath(path));
  if (maxX - minX >= MOST_LINE_SPAN_DEG) {
    errors.add(COORDINATES, `a path must span less than ${MOST_LINE_SPAN_DEG} degrees of longitude`);
  }
  return widthM === null || !errors.isEmpty ? null : { type: 'line', path, widthM };
}

/**
 * Reads a shape from a GeoJSON feature (RFC 7946). `properties.shape` selects its type:
 * - `polygon`: a Polygon; rings closed, in either direction, not touching themselves; holes inside the first ring;
 * - `multipolygon`: a MultiPolygon of such polygons, which may not overlap and may touch at single points;
 * - `circle`: a Point and `properties.radiusM`, above 0 and at most 1,000,000;
 * - `line`: a LineString within 85° of the equator and `properties.widthM`, 10 to 1000.
 *
 * Edges are straight in longitude and latitude. Where consecutive longitudes are more than 180° apart, the edge takes
 * the shorter direction, across the antimeridian. A polygon may not enclose a pole. At most 10,000 positions. Altitudes
 * are dropped, and other properties ignored. Never throws: for invalid input the result lists the errors and where they
 * are (at most 20).
 */
export function shapeFromFeature(feature: unknown): ShapeResult {
  const errors = new ErrorList();
  const shape = readShape(feature, errors);
  return shape !== null && errors.isEmpty ? { ok: true, shape } : { ok: false, errors: errors.errors };
}

function isKind(kind: string): kind is keyof typeof GEOMETRY_OF {
  return Object.hasOwn(GEOMETRY_OF, kind);
}

function readShape(feature: unknown, errors: ErrorList): Shape | null {
  if (!isObject(feature)) {
    errors.add('', 'must be a GeoJSON feature');
    return null;
  }
  const { type, properties, geometry } = feature;
  if (type !== 'Feature') errors.add('/type', 'must be "Feature"');
  if (!isObject(properties)) errors.add('/properties', 'must be an object');
  if (!isObject(geometry)) errors.add('/geometry', 'must be a GeoJSON geometry');
  if (!isObject(properties) || !isObject(geometry)) return null;
  const kind = properties.shape;
  if (typeof kind !== 'string' || !isKind(kind)) {
    errors.add('/properties/shape', 'must be "polygon", "multipolygon", "circle" or "line"');
    return null;
  }
  if (geometry.type !== GEOMETRY_OF[kind]) {
    errors.add('/geometry/type', `must be "${GEOMETRY_OF[kind]}" for the shape "${kind}"`);
    return null;
  }
  if (kind === 'polygon') return polygonOf(geometry.coordinates, errors);
  if (kind === 'multipolygon') return multiPolygonOf(geometry.coordinates, errors);
  if (kind === 'circle') return circleOf(geometry.coordinates, properties, errors);
  return lineOf(geometry.coordinates, properties, errors);
}
