import Flatbush from 'flatbush';
import { chainCrossings, ON_EDGE } from './chain.ts';
import { crossSign } from './cross-sign.ts';
import type { ErrorList } from './geometry-error.ts';
import { extentOf } from './unwrap.ts';

/** A ring laid out in plain degrees, closed, and the number (in the ring as given) of each of its points. */
export interface PlainRing {
  /** Longitude and latitude in turn, without points that repeat the one before. */
  xy: Float64Array;
  /** For each point, which point of the given ring it is. */
  numbers: readonly number[];
  pointer: string;
}

/** The side of the line from a to b that p is on: greater, less, or 0 where it is on the line. */
function side(ax: number, ay: number, bx: number, by: number, px: number, py: number): number {
  return Math.sign(crossSign(ax - px, ay - py, bx - px, by - py));
}

/** How two edges meet: not at all, in a point at which they do not pass through each other, or truly (crossing or overlapping). */
const APART = 0;
const TOUCH = 1;
const CROSS = 2;

/** All edges of all rings, from west to east, four numbers each. */
class Edges {
  readonly count: number;
  readonly #ends: Float64Array;
  /** For each edge its ring, and its number in the ring. */
  readonly ring: Int32Array;
  readonly edge: Int32Array;

  constructor(rings: readonly PlainRing[]) {
    const all = rings.flatMap(({ xy }, ring) =>
      Array.from({ length: edgesOf(xy) }, (_, edge) => ({
        ring,
        edge,
        west: Math.min(xy[2 * edge] ?? 0, xy[2 * edge + 2] ?? 0),
      })),
    );
    all.sort((a, b) => a.west - b.west);
    this.count = all.length;
    this.ring = Int32Array.from(all, ({ ring }) => ring);
    this.edge = Int32Array.from(all, ({ edge }) => edge);
    this.#ends = new Float64Array(4 * this.count);
    for (const [i, { ring, edge }] of all.entries()) {
      const { xy } = rings[ring] as PlainRing;
      this.#ends.set(xy.subarray(2 * edge, 2 * edge + 4), 4 * i);
    }
  }

  west(i: number): number {
    return Math.min(this.#ends[4 * i] as number, this.#ends[4 * i + 2] as number);
  }

  east(i: number): number {
    return Math.max(this.#ends[4 * i] as number, this.#ends[4 * i + 2] as number);
  }

  /** How edge i meets edge j; their longitudes are known to overlap. */
  meeting(i: number, j: number): number {
    const ends = this.#ends;
    const ay = ends[4 * i + 1] as number;
    const by = ends[4 * i + 3] as number;
    const cy = ends[4 * j + 1] as number;
    const dy = ends[4 * j + 3] as number;
    if ((ay < cy && ay < dy && by < cy && by < dy) || (ay > cy && ay > dy && by > cy && by > dy)) return APART;
    const ax = ends[4 * i] as number;
    const bx = ends[4 * i + 2] as number;
    const cx = ends[4 * j] as number;
    const dx = ends[4 * j + 2] as number;
    const c = side(ax, ay, bx, by, cx, cy);
    const d = side(ax, ay, bx, by, dx, dy);
    if (c * d > 0) return APART;
    const a = side(cx, cy, dx, dy, ax, ay);
    const b = side(cx, cy, dx, dy, bx, by);
    if (a * b > 0) return APART;
    if (a === 0 && b === 0 && c === 0 && d === 0) {
      // On one line, and their boxes meet: in one point only, or along a part.
      const sharedX = Math.min(Math.max(ax, bx), Math.max(cx, dx)) - Math.max(Math.min(ax, bx), Math.min(cx, dx));
      const sharedY = Math.min(Math.max(ay, by), Math.max(cy, dy)) - Math.max(Math.min(ay, by), Math.min(cy, dy));
      return sharedX > 0 || sharedY > 0 ? CROSS : TOUCH;
    }
    return a * b < 0 && c * d < 0 ? CROSS : TOUCH;
  }
}

/** Number of edges of a closed ring. */
function edgesOf(xy: Float64Array): number {
  return xy.length / 2 - 1;
}

/**
 * The first two edges found that must not meet as they do: of one ring, edges that meet other than one after the other at their
 * common corner; of two rings, edges that cross or run along each other. Null where there are none.
 *
 * Goes from west to east and compares each edge with those that begin before it ends: a few for most rings. At worst all with all, some
 * 50 million pairs and about half a second for the 10,000 points that a polygon may have.
 */
function findMeeting(rings: readonly PlainRing[], edges: Edges): [number, number] | null {
  for (let i = 0; i < edges.count; i++) {
    const east = edges.east(i);
    const ring = edges.ring[i] as number;
    const last = edgesOf((rings[ring] as PlainRing).xy) - 1;
    for (let j = i + 1; j < edges.count && edges.west(j) <= east; j++) {
      const how = edges.meeting(i, j);
      if (how === APART) continue;
      if (how === CROSS) return [i, j];
      if (edges.ring[j] !== ring) continue;
      const between = Math.abs((edges.edge[i] as number) - (edges.edge[j] as number));
      if (between !== 1 && between !== last) return [i, j];
    }
  }
  return null;
}

/** Refuses rings that cross or touch themselves, and rings that cross or run along each other. Tells of one meeting only. */
function checkMeetings(rings: readonly PlainRing[], errors: ErrorList): void {
  const edges = new Edges(rings);
  const found = findMeeting(rings, edges);
  if (found === null) return;
  const [first, second] = found
    .map((i) => ({ ring: edges.ring[i] as number, edge: edges.edge[i] as number }))
    .sort((a, b) => b.ring - a.ring || a.edge - b.edge);
  // Of two rings, the later one is told of: the hole.
  if (first === undefined || second === undefined) return;
  const ring = rings[first.ring] as PlainRing;
  const other = rings[second.ring] as PlainRing;
  const here = ring.numbers[first.edge];
  const there = other.numbers[second.edge];
  const detail =
    ring === other
      ? `the edge from point ${here} meets the edge from point ${there} of the same ring`
      : `the edge from point ${here} crosses the edge from point ${there} of the ring at ${other.pointer}`;
  errors.add(`${ring.pointer}/${here}`, detail);
}

/** Where a point is, of a ring: inside, outside, or on an edge. */
function placeIn(ring: PlainRing, x: number, y: number): 'inside' | 'outside' | 'edge' {
  const crossings = chainCrossings(ring.xy, 0, edgesOf(ring.xy), x, y);
  if (crossings === ON_EDGE) return 'edge';
  return crossings === 1 ? 'inside' : 'outside';
}

/** The first point of a ring that is not on an edge of another, and where it is; the middles of edges count where no corner does. */
function placeOfRing(ring: PlainRing, other: PlainRing): { point: number; place: 'inside' | 'outside' | 'edge' } {
  for (const share of [0, 0.5]) {
    for (let e = 0; e < edgesOf(ring.xy); e++) {
      const [ax = 0, ay = 0, bx = 0, by = 0] = ring.xy.subarray(2 * e, 2 * e + 4);
      const place = placeIn(other, ax + share * (bx - ax), ay + share * (by - ay));
      if (place !== 'edge') return { point: ring.numbers[e] as number, place };
    }
  }
  return { point: 0, place: 'edge' };
}

/**
 * Checks how the rings of a polygon lie: none may cross or touch itself, no two may cross, holes must be inside the outer ring
 * and not inside each other. Holes may touch other rings in single points.
 */
export function checkRingOrder(rings: readonly PlainRing[], errors: ErrorList): void {
  checkMeetings(rings, errors);
  if (!errors.isEmpty) return;
  const [outer, ...holes] = rings;
  if (outer === undefined || holes.length === 0) return;
  for (const hole of holes) {
    const { point, place } = placeOfRing(hole, outer);
    if (place === 'outside') errors.add(`${hole.pointer}/${point}`, 'this hole is not inside the outer ring');
  }
  const boxes = new Flatbush(holes.length);
  for (const hole of holes) {
    const { minX, minY, maxX, maxY } = extentOf(hole.xy);
    boxes.add(minX, minY, maxX, maxY);
  }
  boxes.finish();
  for (const hole of holes) {
    if (errors.isFull) return;
    const { minX, minY, maxX, maxY } = extentOf(hole.xy);
    for (const j of boxes.search(minX, minY, maxX, maxY)) {
      const other = holes[j] as PlainRing;
      if (other === hole) continue;
      const { point, place } = placeOfRing(hole, other);
      if (place === 'inside')
        errors.add(`${hole.pointer}/${point}`, `this hole is inside the hole at ${other.pointer}`);
    }
  }
}
