import Flatbush from 'flatbush';
import { chainCrossings, ON_EDGE } from './chain.ts';
import { crossSign } from './cross-sign.ts';
import type { ErrorList } from './geometry-error.ts';
import { extentOf } from './unwrap.ts';

/** A closed ring in unwrapped degrees, with the index of each point in the given ring. */
export interface PlainRing {
  /** Longitude and latitude alternately, without repeated consecutive points. */
  xy: Float64Array;
  /** For each point, its index in the given ring. */
  numbers: readonly number[];
  pointer: string;
}

/** Side of the line from a to b on which p is: greater or less than 0, or 0 where p is on the line. */
function side(ax: number, ay: number, bx: number, by: number, px: number, py: number): number {
  return Math.sign(crossSign(ax - px, ay - py, bx - px, by - py));
}

/**
 * How two edges meet: not at all, at a point where they do not pass through each other, or properly (crossing or
 * overlapping).
 */
const APART = 0;
const TOUCH = 1;
const CROSS = 2;

/**
 * All edges of all rings, four numbers each: the western end first (of equal longitudes, the southern one).
 */
class Edges {
  readonly count: number;
  readonly #ends: Float64Array;
  /** For each edge its ring, and its index in the ring. */
  readonly ring: Int32Array;
  readonly edge: Int32Array;

  constructor(rings: readonly PlainRing[]) {
    this.count = rings.reduce((sum, { xy }) => sum + edgesOf(xy), 0);
    this.ring = new Int32Array(this.count);
    this.edge = new Int32Array(this.count);
    this.#ends = new Float64Array(4 * this.count);
    let i = 0;
    for (const [ring, { xy }] of rings.entries())
      for (let edge = 0; edge < edgesOf(xy); edge++, i++) {
        this.ring[i] = ring;
        this.edge[i] = edge;
        const [ax = 0, ay = 0, bx = 0, by = 0] = xy.subarray(2 * edge, 2 * edge + 4);
        this.#ends.set(ax < bx || (ax === bx && ay < by) ? [ax, ay, bx, by] : [bx, by, ax, ay], 4 * i);
      }
  }

  /** Longitude of the first or the second end (0 or 1). */
  x(i: number, end: number): number {
    return this.#ends[4 * i + 2 * end] as number;
  }

  y(i: number, end: number): number {
    return this.#ends[4 * i + 2 * end + 1] as number;
  }

  /** Negative where a place is above edge i, positive where it is below, 0 where it is on its line. */
  side(i: number, x: number, y: number): number {
    const ends = this.#ends;
    const n = 4 * i;
    return side(ends[n] as number, ends[n + 1] as number, ends[n + 2] as number, ends[n + 3] as number, x, y);
  }

  /** How edge i meets edge j; their longitudes must overlap. */
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
      // Collinear edges with overlapping boxes: they share one point, or a part.
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
 * Finds two edges that must not meet as they do. Edges of one ring may only meet at their common vertex, one following
 * the other. Edges of two rings must not cross or overlap. Null if none exist.
 *
 * A sweep line passes over the edges from west to east (Shamos and Hoey). Two edges that meet are neighbours on it just
 * before the westernmost meeting point, and only edges that become neighbours are compared: O(n log n) for n points in
 * any case.
 */
function findMeeting(rings: readonly PlainRing[], edges: Edges): [number, number] | null {
  const isBad = (i: number, j: number): boolean => {
    const how = edges.meeting(i, j);
    if (how !== TOUCH) return how === CROSS;
    const ring = edges.ring[i] as number;
    if (edges.ring[j] !== ring) return false;
    const last = edgesOf((rings[ring] as PlainRing).xy) - 1;
    const between = Math.abs((edges.edge[i] as number) - (edges.edge[j] as number));
    return between !== 1 && between !== last;
  };
  const corner = findRepeatedCorner(rings);
  if (corner !== null) return corner;
  const line = new SweepLine(edges);
  /** First bad meeting of an edge with its neighbours on the sweep line that pass through a place. */
  const around = (i: number, x: number, y: number): [number, number] | null => {
    for (const step of [line.below, line.above])
      for (let j = step[i] as number; j >= 0; j = step[j] as number) {
        if (isBad(i, j)) return [i, j];
        if (edges.side(j, x, y) !== 0) break;
      }
    return null;
  };
  for (const event of eventsOf(edges)) {
    const i = event >> 1;
    const end = event & 1;
    const x = edges.x(i, end);
    const y = edges.y(i, end);
    if (end === 0) line.insert(i);
    const bad = around(i, x, y);
    if (bad !== null) return bad;
    if (end === 0) continue;
    const below = line.below[i] as number;
    const above = line.above[i] as number;
    line.remove(i);
    if (below >= 0 && above >= 0 && isBad(below, above)) return [below, above];
  }
  return null;
}

/**
 * Both ends of all edges (twice the edge's index, plus 1 for its second end), from west to east. Where one edge ends
 * and another begins, the end comes first.
 */
function eventsOf(edges: Edges): Int32Array {
  const events = Int32Array.from({ length: 2 * edges.count }, (_, event) => event);
  return events.sort((a, b) => {
    const [i, j, end, otherEnd] = [a >> 1, b >> 1, a & 1, b & 1];
    return edges.x(i, end) - edges.x(j, otherEnd) || edges.y(i, end) - edges.y(j, otherEnd) || otherEnd - end;
  });
}

/** Two edges of one ring that begin at the same place and are not the same edge. */
function findRepeatedCorner(rings: readonly PlainRing[]): [number, number] | null {
  let first = 0;
  for (const { xy } of rings) {
    const count = edgesOf(xy);
    const order = Int32Array.from({ length: count }, (_, edge) => edge).sort(
      (a, b) => (xy[2 * a] as number) - (xy[2 * b] as number) || (xy[2 * a + 1] as number) - (xy[2 * b + 1] as number),
    );
    for (let nth = 1; nth < count; nth++) {
      const a = order[nth - 1] as number;
      const b = order[nth] as number;
      if (xy[2 * a] === xy[2 * b] && xy[2 * a + 1] === xy[2 * b + 1])
        return [first + Math.min(a, b), first + Math.max(a, b)];
    }
    first += count;
  }
  return null;
}

/**
 * The edges that a line from south to north crosses, in their order along it: a treap with linked neighbours.
 */
class SweepLine {
  readonly #edges: Edges;
  /** The neighbours below and above each edge on the line; -1: none. */
  readonly below: Int32Array;
  readonly above: Int32Array;
  readonly #left: Int32Array;
  readonly #right: Int32Array;
  readonly #parent: Int32Array;
  /** Random, so that no input makes the tree deep. The result does not depend on it. */
  readonly #priority: Float64Array;
  #root = -1;

  constructor(edges: Edges) {
    this.#edges = edges;
    const none = () => new Int32Array(edges.count).fill(-1);
    this.below = none();
    this.above = none();
    this.#left = none();
    this.#right = none();
    this.#parent = none();
    this.#priority = Float64Array.from({ length: edges.count }, () => Math.random());
  }

  /** Inserts an edge when the sweep line is at its first end. */
  insert(i: number): void {
    let below = -1;
    let above = -1;
    let parent = -1;
    for (let at = this.#root; at >= 0; ) {
      parent = at;
      if (this.#isAbove(i, at)) {
        below = at;
        at = this.#right[at] as number;
      } else {
        above = at;
        at = this.#left[at] as number;
      }
    }
    this.below[i] = below;
    this.above[i] = above;
    if (below >= 0) this.above[below] = i;
    if (above >= 0) this.below[above] = i;
    this.#parent[i] = parent;
    if (parent < 0) this.#root = i;
    else if (parent === below) this.#right[parent] = i;
    else this.#left[parent] = i;
    for (let up = parent; up >= 0 && this.#isPrior(i, up); up = this.#parent[i] as number) this.#rotateUp(i);
  }

  /** Removes an edge when the sweep line is at its second end. */
  remove(i: number): void {
    const below = this.below[i] as number;
    const above = this.above[i] as number;
    if (below >= 0) this.above[below] = above;
    if (above >= 0) this.below[above] = below;
    for (;;) {
      const left = this.#left[i] as number;
      const right = this.#right[i] as number;
      if (left < 0 && right < 0) break;
      this.#rotateUp(right < 0 || (left >= 0 && this.#isPrior(left, right)) ? left : right);
    }
    this.#replaceChild(this.#parent[i] as number, i, -1);
  }

  #isPrior(i: number, j: number): boolean {
    return (this.#priority[i] as number) > (this.#priority[j] as number);
  }

  /**
   * Whether an edge that begins at the sweep line goes above another edge on the line. Where it begins on that edge,
   * its second end decides.
   */
  #isAbove(i: number, other: number): boolean {
    const edges = this.#edges;
    return (edges.side(other, edges.x(i, 0), edges.y(i, 0)) || edges.side(other, edges.x(i, 1), edges.y(i, 1))) < 0;
  }

  #rotateUp(i: number): void {
    const parent = this.#parent[i] as number;
    const [near, far] = this.#left[parent] === i ? [this.#left, this.#right] : [this.#right, this.#left];
    const inner = far[i] as number;
    near[parent] = inner;
    if (inner >= 0) this.#parent[inner] = parent;
    this.#replaceChild(this.#parent[parent] as number, parent, i);
    far[i] = parent;
    this.#parent[parent] = i;
  }

  #replaceChild(parent: number, child: number, by: number): void {
    if (by >= 0) this.#parent[by] = parent;
    if (parent < 0) this.#root = by;
    else if (this.#left[parent] === child) this.#left[parent] = by;
    else this.#right[parent] = by;
  }
}

/**
 * Rejects rings that cross or touch themselves, and rings that cross or overlap each other. Reports only one such
 * place.
 */
function checkMeetings(rings: readonly PlainRing[], errors: ErrorList): void {
  const edges = new Edges(rings);
  const found = findMeeting(rings, edges);
  if (found === null) return;
  const [first, second] = found
    .map((i) => ({ ring: edges.ring[i] as number, edge: edges.edge[i] as number }))
    .sort((a, b) => b.ring - a.ring || a.edge - b.edge);
  // Of two rings, the error names the later one.
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

/** Location of a point relative to a ring: inside, outside, or on an edge. */
function placeIn(ring: PlainRing, x: number, y: number): 'inside' | 'outside' | 'edge' {
  const crossings = chainCrossings(ring.xy, 0, edgesOf(ring.xy), x, y);
  if (crossings === ON_EDGE) return 'edge';
  return crossings === 1 ? 'inside' : 'outside';
}

/**
 * The first point of a ring that is not on an edge of another, with its location. If all vertices are, the middles of
 * edges are tried.
 */
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
 * Checks the rings of polygons: none may cross or touch itself, no two may cross, holes must be inside their outer ring
 * and not inside each other, and no polygon may be inside another, except in one of its holes. Rings may touch others
 * at single points.
 */
export function checkPolygons(polygons: readonly (readonly PlainRing[])[], errors: ErrorList): void {
  checkMeetings(polygons.flat(), errors);
  if (!errors.isEmpty) return;
  for (const rings of polygons) checkHoles(rings, errors);
  if (errors.isEmpty && polygons.length > 1) checkApart(polygons, errors);
}

function checkApart(polygons: readonly (readonly PlainRing[])[], errors: ErrorList): void {
  const outers = polygons.map(([outer]) => outer as PlainRing);
  const boxes = boxesOf(outers);
  for (const outer of outers) {
    const { minX, minY, maxX, maxY } = extentOf(outer.xy);
    for (const j of boxes.search(minX, minY, maxX, maxY)) {
      const [other, ...holes] = polygons[j] as [PlainRing, ...PlainRing[]];
      if (other === outer || errors.isFull) continue;
      const { point, place } = placeOfRing(outer, other);
      if (place === 'inside' && !holes.some((hole) => placeOfRing(outer, hole).place === 'inside'))
        errors.add(`${outer.pointer}/${point}`, `this polygon is inside the one at ${other.pointer}`);
    }
  }
}

function boxesOf(rings: readonly PlainRing[]): Flatbush {
  const boxes = new Flatbush(rings.length);
  for (const ring of rings) {
    const { minX, minY, maxX, maxY } = extentOf(ring.xy);
    boxes.add(minX, minY, maxX, maxY);
  }
  boxes.finish();
  return boxes;
}

function checkHoles(rings: readonly PlainRing[], errors: ErrorList): void {
  const [outer, ...holes] = rings;
  if (outer === undefined || holes.length === 0) return;
  for (const hole of holes) {
    const { point, place } = placeOfRing(hole, outer);
    if (place === 'outside') errors.add(`${hole.pointer}/${point}`, 'this hole is not inside the outer ring');
  }
  const boxes = boxesOf(holes);
  for (const hole of holes) {
    if (errors.isFull) return;
    const { minX, minY, maxX, maxY } = extentOf(hole.xy);
    for (const j of boxes.search(minX, minY, maxX, maxY)) {
      const other = holes[j] as PlainRing;
      if (other === hole) continue;
      const around = extentOf(other.xy);
      if (minX < around.minX || minY < around.minY || maxX > around.maxX || maxY > around.maxY) continue;
      const { point, place } = placeOfRing(hole, other);
      if (place === 'inside')
        errors.add(`${hole.pointer}/${point}`, `this hole is inside the hole at ${other.pointer}`);
    }
  }
}
