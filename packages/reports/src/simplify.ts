/** A point of a track, as the simplification needs it. */
export interface TrackPoint {
  latitude: number;
  longitude: number;
  speedKmh: number | null;
}

/** How many times the wanted number of points is held, before the least significant points are removed. */
const HELD = 4;
const RADIANS = Math.PI / 180;

/**
 * Keeps the points that are most significant for the shape of a track, by the area of the triangle that each makes with
 * its neighbours (Visvalingam and Whyatt, 1993). The extremes are always kept: first and last, northernmost,
 * southernmost, easternmost, westernmost, and fastest. Points come in the order of the track. At most four times the
 * wanted number of points is held, whatever the length of the track.
 */
export class Simplifier<P extends TrackPoint> {
  readonly #maxPoints: number;
  readonly #kept = new Set<P>();
  #held: P[] = [];

  /** @param maxPoints at least 7, the maximum number of extremes */
  constructor(maxPoints: number) {
    if (!(Number.isInteger(maxPoints) && maxPoints >= 7))
      throw new RangeError(`${maxPoints} points can't hold all extremes`);
    this.#maxPoints = maxPoints;
  }

  add(point: P): void {
    this.#held.push(point);
    if (this.#held.length >= HELD * this.#maxPoints) this.#held = this.#thinned(2 * this.#maxPoints);
  }

  /** Keeps the last point that was added, however insignificant. Not for more than half of all points. */
  keepLast(): void {
    const last = this.#held.at(-1);
    if (last !== undefined) this.#kept.add(last);
  }

  /** The remaining points, in the order in which they came: at most as many as are wanted. */
  points(): P[] {
    this.#held = this.#thinned(this.#maxPoints);
    return this.#held;
  }

  #thinned(wanted: number): P[] {
    return thinned(this.#held, wanted, (point) => this.#kept.has(point));
  }
}

/** The indexes of the extremes. */
function extremesOf(points: readonly TrackPoint[]): Set<number> {
  const best = [0, 0, 0, 0, 0];
  const scores = (point: TrackPoint) => [
    point.latitude,
    -point.latitude,
    point.longitude,
    -point.longitude,
    point.speedKmh ?? -1,
  ];
  const highest = [-Infinity, -Infinity, -Infinity, -Infinity, -Infinity];
  for (const [at, point] of points.entries())
    for (const [which, score] of scores(point).entries())
      if (score > (highest[which] ?? 0)) {
        highest[which] = score;
        best[which] = at;
      }
  return new Set([0, points.length - 1, ...best]);
}

/** Removes the least significant points one by one, until few enough are left. */
function thinned<P extends TrackPoint>(points: P[], wanted: number, isKept: (point: P) => boolean): P[] {
  const count = points.length;
  if (count <= wanted) return points;
  const kept = extremesOf(points);
  for (const [at, point] of points.entries()) if (isKept(point)) kept.add(at);
  const before = Int32Array.from({ length: count }, (_, at) => at - 1);
  const after = Int32Array.from({ length: count }, (_, at) => at + 1);
  const areas = new Float64Array(count);
  const isGone = new Uint8Array(count);
  const areaAt = (at: number) => triangle(points[before[at] ?? 0], points[at], points[after[at] ?? 0]);
  const heap = new Heap();
  for (let at = 1; at < count - 1; at++) {
    if (kept.has(at)) continue;
    areas[at] = areaAt(at);
    heap.push(areas[at] as number, at);
  }
  let left = count;
  while (left > wanted) {
    const next = heap.pop();
    if (next === null) break;
    const { score, at } = next;
    // Outdated entry: a neighbour was removed meanwhile, and the heap has a newer entry for this point.
    if (isGone[at] || areas[at] !== score) continue;
    isGone[at] = 1;
    left -= 1;
    const [one, other] = [before[at] as number, after[at] as number];
    after[one] = other;
    before[other] = one;
    for (const neighbour of [one, other]) {
      if (kept.has(neighbour)) continue;
      // At least the area of the removed point: else a whole bend would be removed, point by point.
      areas[neighbour] = Math.max(areaAt(neighbour), score);
      heap.push(areas[neighbour] as number, neighbour);
    }
  }
  return points.filter((_, at) => !isGone[at]);
}

/** Twice the area in square degrees of latitude, by the shorter way round at the antimeridian. */
function triangle(a: TrackPoint | undefined, b: TrackPoint | undefined, c: TrackPoint | undefined): number {
  if (!a || !b || !c) return Number.POSITIVE_INFINITY;
  const scale = Math.cos(b.latitude * RADIANS);
  const x = (to: TrackPoint) => (((to.longitude - b.longitude + 540) % 360) - 180) * scale;
  return Math.abs(x(a) * (c.latitude - b.latitude) - x(c) * (a.latitude - b.latitude));
}

/** Min-heap. */
class Heap {
  readonly #scores: number[] = [];
  readonly #places: number[] = [];

  push(score: number, at: number): void {
    let child = this.#scores.length;
    this.#scores.push(score);
    this.#places.push(at);
    while (child > 0) {
      const parent = (child - 1) >> 1;
      if ((this.#scores[parent] as number) <= (this.#scores[child] as number)) return;
      this.#swap(parent, child);
      child = parent;
    }
  }

  pop(): { score: number; at: number } | null {
    const [score] = this.#scores;
    const [at] = this.#places;
    if (score === undefined || at === undefined) return null;
    const last = this.#scores.length - 1;
    this.#swap(0, last);
    this.#scores.pop();
    this.#places.pop();
    for (let parent = 0; ; ) {
      let least = parent;
      for (const child of [2 * parent + 1, 2 * parent + 2])
        if (child < last && (this.#scores[child] as number) < (this.#scores[least] as number)) least = child;
      if (least === parent) return { score, at };
      this.#swap(parent, least);
      parent = least;
    }
  }

  #swap(a: number, b: number): void {
    [this.#scores[a], this.#scores[b]] = [this.#scores[b] as number, this.#scores[a] as number];
    [this.#places[a], this.#places[b]] = [this.#places[b] as number, this.#places[a] as number];
  }
}
