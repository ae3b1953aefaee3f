import type { LngLat } from '@outrider/domain';
import { flatContains, isPlace } from './contains.ts';
import { haversine } from './distance.ts';
import { RADIANS } from './earth.ts';
import type { FlatCircle, FlatLine, FlatPolygon, FlatShape } from './flat-shape.ts';
import { LineCrossing, PolygonCrossing, passesBy, quickCircleCrossing } from './index-cells/quick-crossing.ts';
import { rootBetween } from './root.ts';
import { squaredDistanceToSegment } from './segment-distance.ts';
import { type Extent, normalLongitude } from './unwrap.ts';

/** A part of a segment that is inside a shape, as fractions of the segment from 0 to 1. */
export interface InsideInterval {
  entry: number;
  exit: number;
}

/** A segment, straight in longitude and latitude, in the shorter direction around the Earth. */
interface Way {
  x: number;
  y: number;
  dx: number;
  dy: number;
}

/** The segment between two places; if their longitudes differ by over 180°, it crosses the antimeridian. */
function wayBetween(from: LngLat, to: LngLat): Way {
  let dx = to[0] - from[0];
  if (dx > 180) dx -= 360;
  else if (dx < -180) dx += 360;
  return { x: from[0], y: from[1], dx, dy: to[1] - from[1] };
}

/** Whether a shape contains the place at a fraction of the segment. */
function isInsideAt(shape: FlatShape, way: Way, t: number): boolean {
  const latitude = Math.min(90, Math.max(-90, way.y + t * way.dy));
  return flatContains(shape, normalLongitude(way.x + t * way.dx), latitude);
}

/** Whole turns by which the segment can be moved to overlap the extent. */
function turnsToMeet(way: Way, extent: Extent): number[] {
  const south = Math.min(way.y, way.y + way.dy);
  const north = Math.max(way.y, way.y + way.dy);
  if (south > extent.maxY || north < extent.minY) return [];
  const west = Math.min(way.x, way.x + way.dx);
  const east = Math.max(way.x, way.x + way.dx);
  return [0, 360, -360].filter((turn) => west + turn <= extent.maxX && east + turn >= extent.minX);
}

/** Adds the fractions at which the segment, moved by a turn, meets the edge from a to b; both ends if collinear. */
function addMeetings(way: Way, turn: number, ax: number, ay: number, bx: number, by: number, found: number[]): void {
  const x = way.x + turn;
  const ex = bx - ax;
  const ey = by - ay;
  const denominator = way.dx * ey - way.dy * ex;
  if (denominator === 0) {
    const length = way.dx * way.dx + way.dy * way.dy;
    if (length === 0 || way.dx * (ay - way.y) !== way.dy * (ax - x)) return;
    found.push(((ax - x) * way.dx + (ay - way.y) * way.dy) / length);
    found.push(((bx - x) * way.dx + (by - way.y) * way.dy) / length);
    return;
  }
  const s = ((ax - x) * way.dy - (ay - way.y) * way.dx) / denominator;
  if (s < -1e-12 || s > 1 + 1e-12) return;
  found.push(((ax - x) * ey - (ay - way.y) * ex) / denominator);
}

function polygonIntervals(polygon: FlatPolygon, way: Way): InsideInterval[] {
  const found = [0, 1];
  const image = polygon.images[0];
  if (image === undefined) return [];
  const turns = turnsToMeet(way, image.extent);
  const { xy } = image;
  for (const turn of turns) {
    for (let r = 0; r + 1 < polygon.ringStarts.length; r++) {
      const end = 2 * ((polygon.ringStarts[r + 1] as number) - 1);
      for (let i = 2 * (polygon.ringStarts[r] as number); i < end; i += 2) {
        const [ax = 0, ay = 0, bx = 0, by = 0] = [xy[i], xy[i + 1], xy[i + 2], xy[i + 3]];
        addMeetings(way, turn, ax, ay, bx, by, found);
      }
    }
  }
  const cuts = found.filter((t) => t >= 0 && t <= 1).sort((a, b) => a - b);
  const intervals: InsideInterval[] = [];
  for (let i = 1; i < cuts.length; i++) {
    const entry = cuts[i - 1] as number;
    const exit = cuts[i] as number;
    if (exit > entry && isInsideAt(polygon, way, (entry + exit) / 2)) intervals.push({ entry, exit });
  }
  return intervals;
}

/** Number of bisections that determine a fraction to the last bits of a double. */
const HALVINGS = 52;

/** The fraction at which the boundary lies, between one that is inside and one that is outside. */
function bisect(inside: (t: number) => boolean, insideT: number, outsideT: number): number {
  let near = insideT;
  let far = outsideT;
  for (let i = 0; i < HALVINGS; i++) {
    const middle = (near + far) / 2;
    if (inside(middle)) near = middle;
    else far = middle;
  }
  return (near + far) / 2;
}

/** As {@link bisect}, for a distance and its limit. */
function boundaryBetween(distance: (t: number) => number, limit: number, insideT: number, outsideT: number): number {
  const root = rootBetween((t) => distance(t) - limit, insideT, outsideT);
  return Number.isNaN(root) ? bisect((t) => distance(t) <= limit, insideT, outsideT) : root;
}

/** Largest extent of a segment, and highest latitude, for which a plane map is accurate enough. */
const PLAIN_DEG = 0.005;
const PLAIN_LATITUDE = 80;

/**
 * Relative error of a squared distance taken at the nearest point by a plane map, instead of the true nearest point of
 * a short segment: 0.03 % at 10 m, the smallest size of any shape, and less for larger distances.
 */
const PLAIN_SLACK = 0.01;

/** Whether a plane map is accurate enough to find the nearest point of a segment. */
function isPlain(way: Way): boolean {
  return (
    Math.abs(way.dx) <= PLAIN_DEG && Math.abs(way.dy) <= PLAIN_DEG && Math.abs(way.y) <= PLAIN_LATITUDE - PLAIN_DEG
  );
}

/**
 * The interval between two fractions in which a distance, which first falls and then grows, is within its limit; null
 * where none exists.
 *
 * @param guess approximate fraction of the minimum
 * @param isGood whether the minimum is below the distance at `guess` by at most {@link PLAIN_SLACK}
 */
function intervalWithin(
  distance: (t: number) => number,
  limit: number,
  from: number,
  to: number,
  guess: number,
  isGood: boolean,
): InsideInterval | null {
  const inside = (t: number) => distance(t) <= limit;
  let nearest = from;
  if (inside(to)) nearest = to;
  if (!inside(nearest)) {
    const least = distance(guess);
    if (least <= limit) nearest = guess;
    else if (isGood && least > limit * (1 + PLAIN_SLACK)) return null;
  }
  if (!inside(nearest)) {
    let low = from;
    let high = to;
    for (let i = 0; i < 2 * HALVINGS && !inside(nearest); i++) {
      const third = (high - low) / 3;
      if (distance(low + third) <= distance(high - third)) high -= third;
      else low += third;
      nearest = (low + high) / 2;
    }
    if (!inside(nearest)) return null;
  }
  return {
    entry: inside(from) ? from : boundaryBetween(distance, limit, nearest, from),
    exit: inside(to) ? to : boundaryBetween(distance, limit, nearest, to),
  };
}

/**
 * Largest piece of a segment, in degrees, in which the distance to a place or a short edge first falls and then grows.
 */
const PIECE_DEG = 1;
const MOST_PIECES = 180;

function circleIntervals(circle: FlatCircle, way: Way): InsideInterval[] {
  if (turnsToMeet(way, circle.extent).length === 0) return [];
  const distance = (t: number): number => {
    const y = way.y + t * way.dy;
    const cosLatitudes = circle.cosLatitude * Math.cos(y * RADIANS);
    return haversine(circle.longitude, circle.latitude, way.x + t * way.dx, y, cosLatitudes);
  };
  const nearest = nearestFraction(way, 0, circle.longitude, circle.latitude);
  const isGood = isPlain(way) && Math.abs(way.x - circle.longitude) < 90;
  const pieces = Math.min(MOST_PIECES, Math.ceil(Math.max(Math.abs(way.dx), Math.abs(way.dy)) / PIECE_DEG));
  const intervals: InsideInterval[] = [];
  for (let i = 0; i < pieces; i++) {
    const guess = Math.min((i + 1) / pieces, Math.max(i / pieces, nearest));
    const interval = intervalWithin(distance, circle.limit, i / pieces, (i + 1) / pieces, guess, isGood);
    if (interval !== null) intervals.push(interval);
  }
  return intervals;
}

/**
 * The fraction of a segment, moved by a turn, that is nearest to a place, on a plane map that is true to scale at the
 * segment's beginning.
 */
function nearestFraction(way: Way, turn: number, x: number, y: number): number {
  const scale = Math.cos(way.y * RADIANS);
  const dx = way.dx * scale;
  const along = ((x - way.x - turn) * scale * dx + (y - way.y) * way.dy) / (dx * dx + way.dy * way.dy);
  return Math.min(1, Math.max(0, along));
}

/**
 * The fraction of a segment, moved by a turn, that is nearest to an edge: their intersection, or next to an end of
 * either. The ends of `part` are checked separately.
 */
function nearestToSegment(
  way: Way,
  turn: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
  part: InsideInterval,
  distance: (t: number) => number,
): number {
  const within = (t: number) => Math.min(part.exit, Math.max(part.entry, t));
  const ex = bx - ax;
  const ey = by - ay;
  const cross = way.dx * ey - way.dy * ex;
  const atA = within(nearestFraction(way, turn, ax, ay));
  const atB = within(nearestFraction(way, turn, bx, by));
  const best = distance(atA) <= distance(atB) ? atA : atB;
  if (cross === 0) return best;
  const meeting = within(((ax - way.x - turn) * ey - (ay - way.y) * ex) / cross);
  return distance(meeting) < distance(best) ? meeting : best;
}

/** Fractions of the segment, moved by a turn, within a box; null if it passes by. */
function clip(way: Way, turn: number, box: Extent): InsideInterval | null {
  let entry = 0;
  let exit = 1;
  for (const [start, step, low, high] of [
    [way.x + turn, way.dx, box.minX, box.maxX],
    [way.y, way.dy, box.minY, box.maxY],
  ] as const) {
    if (step === 0) {
      if (start < low || start > high) return null;
      continue;
    }
    const [a, b] = [(low - start) / step, (high - start) / step];
    entry = Math.max(entry, Math.min(a, b));
    exit = Math.min(exit, Math.max(a, b));
  }
  return entry <= exit ? { entry, exit } : null;
}

function lineIntervals(line: FlatLine, way: Way): InsideInterval[] {
  const image = line.images[0];
  if (image === undefined) return [];
  const limit = line.halfWidthDeg * line.halfWidthDeg;
  const { xy, extent } = image;
  const reachY = line.halfWidthDeg * (1 + 1e-6);
  const reachX = reachY / Math.cos(Math.max(Math.abs(extent.minY), Math.abs(extent.maxY)) * RADIANS);
  const isGood = isPlain(way);
  const intervals: InsideInterval[] = [];
  for (const turn of turnsToMeet(way, extent)) {
    const west = Math.min(way.x, way.x + way.dx) + turn - reachX;
    const east = Math.max(way.x, way.x + way.dx) + turn + reachX;
    const south = Math.min(way.y, way.y + way.dy) - reachY;
    const north = Math.max(way.y, way.y + way.dy) + reachY;
    for (let i = 0; i + 3 < xy.length; i += 2) {
      const ax = xy[i] as number;
      const ay = xy[i + 1] as number;
      const bx = xy[i + 2] as number;
      const by = xy[i + 3] as number;
      if (ax < west && bx < west) continue;
      if (ax > east && bx > east) continue;
      if ((ay < south && by < south) || (ay > north && by > north)) continue;
      const part = clip(way, turn, {
        minX: Math.min(ax, bx) - reachX,
        maxX: Math.max(ax, bx) + reachX,
        minY: Math.min(ay, by) - reachY,
        maxY: Math.max(ay, by) + reachY,
      });
      if (part === null || passesBy(way.x + turn, way.y, way.dx, way.dy, ax, ay, bx, by, limit)) continue;
      const distance = (t: number): number => {
        const y = way.y + t * way.dy;
        return squaredDistanceToSegment(ax, ay, bx, by, way.x + turn + t * way.dx, y, Math.cos(y * RADIANS));
      };
      const guess = nearestToSegment(way, turn, ax, ay, bx, by, part, distance);
      const interval = intervalWithin(distance, limit, part.entry, part.exit, guess, isGood);
      if (interval !== null) intervals.push(interval);
    }
  }
  return intervals;
}

/** Intervals separated by less than this fraction are merged: the gap is a rounding error. */
const SAME_FRACTION = 1e-12;

function merge(intervals: InsideInterval[]): InsideInterval[] {
  const merged: InsideInterval[] = [];
  for (const interval of intervals.sort((a, b) => a.entry - b.entry)) {
    const last = merged.at(-1);
    if (last !== undefined && interval.entry <= last.exit + SAME_FRACTION)
      last.exit = Math.max(last.exit, interval.exit);
    else merged.push({ ...interval });
  }
  return merged;
}

/**
 * The parts of the segment between two places that are inside a shape, in order. The segment is straight in longitude
 * and latitude, in the shorter direction. Merely touching a polygon's boundary is not inside.
 */
export function insideIntervals(shape: FlatShape, from: LngLat, to: LngLat): InsideInterval[] {
  const way = wayBetween(from, to);
  if (way.dx === 0 && way.dy === 0) return flatContains(shape, from[0], from[1]) ? [{ entry: 0, exit: 1 }] : [];
  if (shape.type === 'polygon') return merge(polygonIntervals(shape, way));
  if (shape.type === 'circle') return merge(circleIntervals(shape, way));
  return merge(lineIntervals(shape, way));
}

const polygonCrossing = new PolygonCrossing();
const lineCrossing = new LineCrossing();

/** {@link crossingBetween} for simple cases away from the antimeridian; else NaN. */
function quickCrossing(shape: FlatShape, from: LngLat, to: LngLat): number {
  if (!isPlace(from[0], from[1]) || !isPlace(to[0], to[1])) return Number.NaN;
  const { x, y, dx, dy } = wayBetween(from, to);
  if (shape.type === 'circle') {
    const { longitude, latitude, cosLatitude, limit } = shape;
    return quickCircleCrossing(longitude, latitude, cosLatitude, limit, x, y, dx, dy);
  }
  const image = shape.images[0];
  if (image === undefined || shape.images.length > 1 || Math.abs(x + dx) > 180) return Number.NaN;
  if (shape.type === 'line') {
    lineCrossing.begin(shape.halfWidthDeg, x, y, dx, dy);
    lineCrossing.take(image.xy, 0, image.xy.length / 2 - 1);
    return lineCrossing.fraction();
  }
  polygonCrossing.begin(x, y, dx, dy);
  for (let r = 0; r + 1 < shape.ringStarts.length; r++) {
    const start = shape.ringStarts[r] as number;
    polygonCrossing.take(image.xy, 2 * start, (shape.ringStarts[r + 1] as number) - start - 1);
  }
  return polygonCrossing.fraction();
}

/**
 * The fraction of the segment between two places at which it first crosses a shape's boundary, where one of them is
 * inside and the other is not; null where both are inside or both outside.
 */
export function crossingBetween(shape: FlatShape, from: LngLat, to: LngLat): number | null {
  const quick = quickCrossing(shape, from, to);
  if (!Number.isNaN(quick)) return quick;
  const startsInside = flatContains(shape, from[0], from[1]);
  const endsInside = flatContains(shape, to[0], to[1]);
  if (startsInside === endsInside) return null;
  const intervals = insideIntervals(shape, from, to);
  const first = intervals[0];
  if (startsInside) {
    if (first !== undefined && first.entry <= SAME_FRACTION && first.exit < 1) return first.exit;
  } else if (first !== undefined && first.entry > 0) {
    return first.entry;
  }
  // Rounding at the very boundary: the result of `contains` for the places decides.
  const way = wayBetween(from, to);
  const inside = (t: number) => isInsideAt(shape, way, t);
  return startsInside ? bisect(inside, 0, 1) : bisect(inside, 1, 0);
}

/**
 * For a segment between two places that are both outside: where it first enters and where it last leaves the shape (a
 * concave shape can be left in between); null where it passes by, or where one of the two is inside.
 */
export function passageBetween(shape: FlatShape, from: LngLat, to: LngLat): InsideInterval | null {
  const intervals = insideIntervals(shape, from, to);
  const first = intervals[0];
  const last = intervals.at(-1);
  if (first === undefined || last === undefined) return null;
  if (flatContains(shape, from[0], from[1]) || flatContains(shape, to[0], to[1])) return null;
  return { entry: first.entry, exit: last.exit };
}
