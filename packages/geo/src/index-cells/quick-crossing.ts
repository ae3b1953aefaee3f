import { haversine } from '../distance.ts';
import { RADIANS } from '../earth.ts';
import { rootBetween } from '../root.ts';
import { squaredDistanceToSegment } from '../segment-distance.ts';

/*
 * Fast path for finding where a segment first crosses a boundary: most steps of vehicles are short and cross one edge.
 * The result is NaN for degenerate segments and for segments with both ends on one side; callers then use the complete
 * method of `inside-intervals.ts`.
 */

/** Distance in degrees between segment and vertex below which rounding could decide: the segment is degenerate. */
const NEAR_DEG = 1e-12;
/** Two fractions of a segment with a smaller difference are the same. */
const NEAR_FRACTION = 1e-9;

/**
 * Finds where a segment crosses a polygon: call {@link begin} with the segment, {@link take} with all edges that it may
 * cross, then {@link fraction}. Degenerate segments are left to `PreparedShape.crossing`: those that touch a vertex,
 * run along an edge, begin or end on one, or cross two at one point.
 *
 * Each crossed edge changes the side, so an odd number of them leads from one side to the other.
 */
export class PolygonCrossing {
  #x = 0;
  #y = 0;
  #dx = 0;
  #dy = 0;
  #first = 0;
  #meetings = 0;
  #isPlain = true;

  begin(x: number, y: number, dx: number, dy: number): void {
    this.#x = x;
    this.#y = y;
    this.#dx = dx;
    this.#dy = dy;
    this.#first = Number.POSITIVE_INFINITY;
    this.#meetings = 0;
    this.#isPlain = true;
  }

  /** @param at index of the longitude of the chain's first point */
  take(xy: Float64Array, at: number, edges: number): void {
    const x = this.#x;
    const y = this.#y;
    const dx = this.#dx;
    const dy = this.#dy;
    const near = NEAR_DEG * (Math.abs(dx) + Math.abs(dy));
    let ax = (xy[at] as number) - x;
    let ay = (xy[at + 1] as number) - y;
    // Sides of the infinite line through the segment on which the edge's begin and end lie.
    let sideA = dx * ay - dy * ax;
    for (let i = at + 2, end = at + 2 * edges; i <= end; i += 2) {
      const bx = (xy[i] as number) - x;
      const by = (xy[i + 1] as number) - y;
      const sideB = dx * by - dy * bx;
      if (!(sideA > near && sideB > near) && !(sideA < -near && sideB < -near))
        this.#meet(ax, ay, sideA, bx, by, sideB, near);
      ax = bx;
      ay = by;
      sideA = sideB;
    }
  }

  /** The fraction of the segment at which it first crosses an edge, or NaN. */
  fraction(): number {
    return this.#isPlain && (this.#meetings & 1) === 1 ? this.#first : Number.NaN;
  }

  #meet(ax: number, ay: number, sideA: number, bx: number, by: number, sideB: number, near: number): void {
    if (Math.abs(sideA) <= near || Math.abs(sideB) <= near) {
      // A vertex on the infinite line through the segment: irrelevant if beyond the segment's ends.
      const dx = this.#dx;
      const dy = this.#dy;
      const length = dx * dx + dy * dy;
      const alongA = (ax * dx + ay * dy) / length;
      const alongB = (bx * dx + by * dy) / length;
      const isBefore = alongA < -NEAR_FRACTION && alongB < -NEAR_FRACTION;
      const isBeyond = alongA > 1 + NEAR_FRACTION && alongB > 1 + NEAR_FRACTION;
      if (!isBefore && !isBeyond) this.#isPlain = false;
      return;
    }
    const t = (ax * (by - ay) - ay * (bx - ax)) / (sideB - sideA);
    if (!(t > -NEAR_FRACTION && t < 1 + NEAR_FRACTION)) return;
    if (t < NEAR_FRACTION || t > 1 - NEAR_FRACTION || Math.abs(t - this.#first) < NEAR_FRACTION) this.#isPlain = false;
    this.#meetings++;
    if (t < this.#first) this.#first = t;
  }
}

/** A segment up to this many degrees crosses a circle at most twice, and once if one of its ends is inside. */
const SHORT_DEG = 1;

/**
 * Where a segment from x, y crosses a circle; NaN for a segment of over a degree.
 *
 * @param limit value of {@link haversine} for places exactly on the circle
 */
export function quickCircleCrossing(
  longitude: number,
  latitude: number,
  cosLatitude: number,
  limit: number,
  x: number,
  y: number,
  dx: number,
  dy: number,
): number {
  if (Math.abs(dx) > SHORT_DEG || Math.abs(dy) > SHORT_DEG) return Number.NaN;
  return rootBetween(
    (t) => {
      const placeY = y + t * dy;
      const cosLatitudes = cosLatitude * Math.cos(placeY * RADIANS);
      return haversine(longitude, latitude, x + t * dx, placeY, cosLatitudes) - limit;
    },
    0,
    1,
  );
}

/** For segments longer than this, degrees, no single map is accurate enough along the whole segment. */
const MAP_DEG = 0.01;
/** Relative difference of the maps' scales along a segment up to that length, below 85° of latitude. */
const MAP_SLACK = 2e-3;

/**
 * Finds where a segment crosses the boundary of a line, like {@link PolygonCrossing}. Left undecided are segments of
 * over {@link MAP_DEG}, and segments that cross the width of an edge that contains neither of their ends.
 *
 * The area within the width of an edge is convex: a segment with one end inside crosses its boundary once.
 */
export class LineCrossing {
  #x = 0;
  #y = 0;
  #dx = 0;
  #dy = 0;
  #limit = 0;
  #cosFrom = 0;
  #cosTo = 0;
  #reachX = 0;
  #reachY = 0;
  #entry = 0;
  #exit = 0;
  #startsInside = false;
  #endsInside = false;
  #isPlain = true;

  begin(halfWidthDeg: number, x: number, y: number, dx: number, dy: number): void {
    this.#x = x;
    this.#y = y;
    this.#dx = dx;
    this.#dy = dy;
    this.#limit = halfWidthDeg * halfWidthDeg;
    this.#cosFrom = Math.cos(y * RADIANS);
    this.#cosTo = Math.cos((y + dy) * RADIANS);
    this.#reachY = halfWidthDeg * (1 + MAP_SLACK);
    this.#reachX = this.#reachY / Math.min(this.#cosFrom, this.#cosTo);
    this.#entry = Number.POSITIVE_INFINITY;
    this.#exit = Number.NEGATIVE_INFINITY;
    this.#startsInside = false;
    this.#endsInside = false;
    this.#isPlain = Math.abs(dx) <= MAP_DEG && Math.abs(dy) <= MAP_DEG;
  }

  /** @param at index of the longitude of the chain's first point */
  take(xy: Float64Array, at: number, edges: number): void {
    const x = this.#x;
    const y = this.#y;
    const toX = x + this.#dx;
    const toY = y + this.#dy;
    const west = Math.min(x, toX) - this.#reachX;
    const east = Math.max(x, toX) + this.#reachX;
    const south = Math.min(y, toY) - this.#reachY;
    const north = Math.max(y, toY) + this.#reachY;
    for (let i = at, end = at + 2 * edges; i < end && this.#isPlain; i += 2) {
      const ax = xy[i] as number;
      const ay = xy[i + 1] as number;
      const bx = xy[i + 2] as number;
      const by = xy[i + 3] as number;
      if ((ax < west && bx < west) || (ax > east && bx > east)) continue;
      if ((ay < south && by < south) || (ay > north && by > north)) continue;
      this.#meet(ax, ay, bx, by);
    }
  }

  /** The fraction of the segment at which it first leaves or enters the line; or NaN. */
  fraction(): number {
    if (!this.#isPlain || this.#startsInside === this.#endsInside) return Number.NaN;
    // Of several edges' widths, the first entry counts, or the last exit.
    return this.#endsInside ? this.#entry : this.#exit;
  }

  #meet(ax: number, ay: number, bx: number, by: number): void {
    const x = this.#x;
    const y = this.#y;
    const dx = this.#dx;
    const dy = this.#dy;
    const limit = this.#limit;
    const startsHere = squaredDistanceToSegment(ax, ay, bx, by, x, y, this.#cosFrom) <= limit;
    const endsHere = squaredDistanceToSegment(ax, ay, bx, by, x + dx, y + dy, this.#cosTo) <= limit;
    if (startsHere) this.#startsInside = true;
    if (endsHere) this.#endsInside = true;
    if (startsHere === endsHere) {
      if (startsHere || !passesBy(x, y, dx, dy, ax, ay, bx, by, limit)) this.#isPlain = false;
      return;
    }
    const t = rootBetween(
      (share) => {
        const placeY = y + share * dy;
        const cosLatitude = Math.cos(placeY * RADIANS);
        return squaredDistanceToSegment(ax, ay, bx, by, x + share * dx, placeY, cosLatitude) - limit;
      },
      0,
      1,
    );
    if (Number.isNaN(t)) this.#isPlain = false;
    if (t < this.#entry) this.#entry = t;
    if (t > this.#exit) this.#exit = t;
  }
}

/**
 * Whether a short segment stays clearly outside the width around an edge. Decided by the ends of both, where the two do
 * not cross. False where undecided.
 *
 * @param limit square of half of the width, in degrees of latitude
 */
export function passesBy(
  x: number,
  y: number,
  dx: number,
  dy: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
  limit: number,
): boolean {
  if (Math.abs(dx) > MAP_DEG || Math.abs(dy) > MAP_DEG) return false;
  const toX = x + dx;
  const toY = y + dy;
  const sideA = dx * (ay - y) - dy * (ax - x);
  const sideB = dx * (by - y) - dy * (bx - x);
  const sideFrom = (bx - ax) * (y - ay) - (by - ay) * (x - ax);
  const sideTo = (bx - ax) * (toY - ay) - (by - ay) * (toX - ax);
  if (sideA * sideB <= 0 && sideFrom * sideTo <= 0) return false;
  const far = limit * (1 + MAP_SLACK) ** 2;
  const cosLatitude = Math.cos((y + dy / 2) * RADIANS);
  return (
    squaredDistanceToSegment(ax, ay, bx, by, x, y, cosLatitude) > far &&
    squaredDistanceToSegment(ax, ay, bx, by, toX, toY, cosLatitude) > far &&
    squaredDistanceToSegment(x, y, toX, toY, ax, ay, cosLatitude) > far &&
    squaredDistanceToSegment(x, y, toX, toY, bx, by, cosLatitude) > far
  );
}
