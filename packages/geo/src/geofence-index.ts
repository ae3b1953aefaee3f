import type { Shape } from '@outrider/domain';
import { chainCrossings, ON_EDGE } from './chain.ts';
import { flatContains, isPlace } from './contains.ts';
import { isWithinHaversine } from './distance.ts';
import { RADIANS } from './earth.ts';
import { type FlatShape, flatten } from './flat-shape.ts';
import type { CachedCell } from './index-cells/cached-cell.ts';
import { CellTable } from './index-cells/cell-table.ts';
import { coverShape } from './index-cells/cover.ts';
import {
  CIRCLE,
  END_COUNTS,
  entryLength,
  FULL,
  LINE,
  POLYGON,
  runLength,
  runsAt,
  START_COUNTS,
} from './index-cells/entry.ts';
import { clampColumn, clampRow, columnOf, FINEST, rowOf } from './index-cells/grid.ts';
import { LineCrossing, PolygonCrossing, quickCircleCrossing } from './index-cells/quick-crossing.ts';
import { Slots } from './index-cells/slots.ts';
import { WaySearch } from './index-cells/way-search.ts';
import { squaredDistanceToSegment } from './segment-distance.ts';

/** A geofence to be indexed. `key` is an integer from 0 to 2^31 - 1, chosen by the caller. */
export interface IndexItem {
  readonly key: number;
  readonly shape: Shape;
}

/** Up to this many geofences with this many points in total are scanned: cells would cost more than they save. */
const FEW_GEOFENCES = 6;
const FEW_POINTS = 200;

/**
 * Finds the geofences that contain a place: exactly those whose `PreparedShape.contains` is true.
 *
 * Geofences are divided into cells. A cell wholly inside a geofence only stores its number; a cell on a boundary stores
 * the relevant edges. So the cost of a query depends on what lies around the place, not on how many geofences exist or
 * how many points they have. Queries allocate nothing. Adding, changing or removing a geofence affects only its own
 * cells, whose number is bounded whatever its size. In a city of polygons of 5 to 40 points the index takes about
 * 1.5 kB for each; an index of three geofences, which has no cells, takes 6 kB in total.
 */
export class GeofenceIndex {
  readonly #slots = new Slots();
  readonly #ways = new WaySearch(this.#slots);
  /** Shapes by slot, of a small index without cells. Null once the index has cells. */
  #few: (FlatShape | undefined)[] | null = [];
  #fewPoints = 0;
  #cells: CellTable | null = null;
  /** Grows with every change: a {@link CachedCell} is valid for one version. */
  #version = 0;
  /** Whether the last {@link #queryCells} found a boundary in one of the cells. */
  #metBoundary = false;
  /** Builds an index of the given geofences. Of two items with one key the later one counts. */
  static build(items: readonly IndexItem[]): GeofenceIndex {
    const index = new GeofenceIndex();
    for (const { key, shape } of items) index.put(key, shape);
    return index;
  }

  get size(): number {
    return this.#slots.size;
  }

  /** Size of the index's arrays in bytes: its total memory except for the shapes and 40 bytes for each key. */
  get byteLength(): number {
    return this.#slots.byteLength + this.#ways.byteLength + (this.#cells?.byteLength ?? 0);
  }

  has(key: number): boolean {
    return this.#slots.of(key) !== undefined;
  }

  /**
   * Adds a geofence, or changes the shape of the one with this key. The shape must be one that `shapeFromFeature`
   * accepted, and must not be changed afterwards.
   *
   * @throws RangeError when the key is not a whole number of 0 to 2^31 - 1
   */
  put(key: number, shape: Shape): void {
    if (!Number.isInteger(key) || key < 0 || key > 0x7fffffff) throw new RangeError(`not a geofence key: ${key}`);
    const flat = flatten(shape);
    this.remove(key);
    const slot = this.#slots.take(key, shape, flat);
    this.#version++;
    if (this.#few !== null) {
      this.#few[slot] = flat;
      this.#fewPoints += pointsOf(flat);
      if (this.size <= FEW_GEOFENCES && this.#fewPoints <= FEW_POINTS) return;
      this.#startCells(this.#few);
    } else this.#addCells(slot, flat);
  }

  /** Removes a geofence. False for an unknown key. */
  remove(key: number): boolean {
    const slot = this.#slots.of(key);
    if (slot === undefined) return false;
    const flat = this.#few?.[slot] ?? flatten(this.#slots.shapes[slot] as Shape);
    this.#version++;
    if (this.#few !== null) {
      this.#fewPoints -= pointsOf(flat);
      this.#few[slot] = undefined;
    } else this.#removeCells(slot, flat);
    this.#slots.free(key, slot);
    return true;
  }

  /**
   * Writes the keys of all geofences that contain the place (degrees) into `out`, in no particular order, and returns
   * their number. If that exceeds the length of `out`, the rest is not written: query again with a longer array.
   *
   * @param cached set to the cell of the place if it contains no boundary, else cleared; for {@link isUnchanged}
   */
  query(longitude: number, latitude: number, out: Int32Array, cached: CachedCell | null = null): number {
    cached?.clear();
    if (!isPlace(longitude, latitude)) return 0;
    const cells = this.#cells;
    if (cells === null) return this.#queryFew(longitude, latitude, out);
    const column = clampColumn(columnOf(longitude));
    const row = clampRow(rowOf(latitude));
    const found = this.#queryCells(cells, longitude, latitude, column, row, out);
    if (cached !== null && !this.#metBoundary) cached.set(column, row, this.#version);
    return found;
  }

  /**
   * Whether a place is in the cached cell. Then the same geofences contain it as the queried place, and the straight
   * segment between the two crosses no boundary. If false, query again.
   */
  isUnchanged(cached: CachedCell, longitude: number, latitude: number): boolean {
    return cached.version === this.#version && columnOf(longitude) === cached.column && rowOf(latitude) === cached.row;
  }

  /** Whether the last {@link query} with this cell found no boundary in it, and the index has not changed since. */
  isClear(cached: CachedCell): boolean {
    return cached.version === this.#version;
  }

  /**
   * The fraction of the segment between two places at which it first crosses the boundary of a geofence that contains
   * one of the two, like `PreparedShape.crossing`; NaN where only that function can decide. For most short segments the
   * entries of the cell suffice, which the last {@link query} has just read.
   */
  crossing(key: number, fromLongitude: number, fromLatitude: number, toLongitude: number, toLatitude: number): number {
    const cells = this.#cells;
    let column = columnOf(fromLongitude);
    let row = rowOf(fromLatitude);
    if (cells === null || column !== columnOf(toLongitude) || row !== rowOf(toLatitude)) return Number.NaN;
    const { words, doubles } = cells.pool;
    const { keys } = this.#slots;
    const { levelCells } = cells;
    let entry = -1;
    for (let level = FINEST; level >= 0; level--, column >>= 2, row >>= 2) {
      if (levelCells[level] === 0) continue;
      const cell = cells.find(level, column, row);
      if (cell < 0) continue;
      let at = cells.entriesAt(cell);
      const end = at + cells.usedAt(cell);
      for (; at < end; at += entryLength(words, at)) {
        if (keys[(words[at] as number) >>> 2] !== key) continue;
        // Two entries of one geofence: one is an image of the other, beyond the antimeridian.
        if (entry >= 0) return Number.NaN;
        entry = at;
      }
    }
    if (entry < 0) return Number.NaN;
    return crossingInEntry(
      words,
      doubles,
      entry,
      fromLongitude,
      fromLatitude,
      toLongitude - fromLongitude,
      toLatitude - fromLatitude,
    );
  }

  /** Evaluates the entries of all cells that contain a place. */
  #queryCells(
    cells: CellTable,
    longitude: number,
    latitude: number,
    finestColumn: number,
    finestRow: number,
    out: Int32Array,
  ): number {
    const { words, doubles } = cells.pool;
    const { keys } = this.#slots;
    const { levelCells } = cells;
    let column = finestColumn;
    let row = finestRow;
    let metBoundary = false;
    let cosLatitude = 2; // Not known yet: few places need it.
    let found = 0;
    for (let level = FINEST; level >= 0; level--, column >>= 2, row >>= 2) {
      if (levelCells[level] === 0) continue;
      const cell = cells.find(level, column, row);
      if (cell < 0) continue;
      let at = cells.entriesAt(cell);
      const end = at + cells.usedAt(cell);
      while (at < end) {
        const head = words[at] as number;
        const kind = head & 3;
        let inside = false;
        if (kind === FULL) {
          inside = true;
          at += 2;
        } else if (kind === POLYGON) {
          let parity = words[at + 1] as number;
          at += 2;
          for (let left = parity >> 1; left > 0; left--) {
            const count = words[at] as number;
            const edges = count >> 2;
            const first = (at >> 1) + 1;
            const crossings = chainCrossings(doubles, first, edges, longitude, latitude);
            if (crossings === ON_EDGE) inside = true;
            else parity ^= crossings;
            if ((count & START_COUNTS) !== 0 && latitude >= (doubles[first + 1] as number)) parity ^= 1;
            if ((count & END_COUNTS) !== 0 && latitude >= (doubles[first + 2 * edges + 1] as number)) parity ^= 1;
            at += runLength(edges);
          }
          inside ||= (parity & 1) === 1;
        } else {
          if (cosLatitude === 2) cosLatitude = Math.cos(latitude * RADIANS);
          if (kind === CIRCLE) {
            const n = (at >> 1) + 1;
            const cosLatitudes = (doubles[n + 2] as number) * cosLatitude;
            inside = isWithinHaversine(
              doubles[n] as number,
              doubles[n + 1] as number,
              longitude,
              latitude,
              cosLatitudes,
              doubles[n + 3] as number,
            );
            at += 10;
          } else {
            inside = isNearRuns(words, at, doubles, longitude, latitude, cosLatitude);
            at += entryLength(words, at);
          }
        }
        if (inside) {
          if (found < out.length) out[found] = keys[head >>> 2] as number;
          found++;
        }
        metBoundary ||= kind !== FULL;
      }
    }
    this.#metBoundary = metBoundary;
    return found;
  }

  /**
   * Writes the keys of all geofences whose boundary the straight segment between two places (degrees; in the shorter
   * direction) may cross. None is missing; some may only be near the segment. So it finds the geofences entered, left,
   * and passed through without a fix inside; `PreparedShape.crossing` and `passage` decide about each. Returns their
   * number and writes as many as fit, like {@link query}.
   */
  queryWay(
    fromLongitude: number,
    fromLatitude: number,
    toLongitude: number,
    toLatitude: number,
    out: Int32Array,
  ): number {
    return this.#ways.find(this.#cells, fromLongitude, fromLatitude, toLongitude, toLatitude, out);
  }

  #queryFew(longitude: number, latitude: number, out: Int32Array): number {
    const few = this.#few as (FlatShape | undefined)[];
    const { keys } = this.#slots;
    let found = 0;
    for (let slot = 0; slot < few.length; slot++) {
      const flat = few[slot];
      if (flat === undefined || !flatContains(flat, longitude, latitude)) continue;
      if (found < out.length) out[found] = keys[slot] as number;
      found++;
    }
    return found;
  }

  /** Converts a small index permanently into one with cells. */
  #startCells(few: readonly (FlatShape | undefined)[]): void {
    this.#few = null;
    this.#cells = new CellTable();
    for (const [slot, flat] of few.entries()) if (flat !== undefined) this.#addCells(slot, flat);
  }

  #addCells(slot: number, flat: FlatShape): void {
    const cells = this.#cells as CellTable;
    coverShape(flat, slot, (level, column, row, entry, length) => cells.add(level, column, row, entry, length));
  }

  #removeCells(slot: number, flat: FlatShape): void {
    const cells = this.#cells as CellTable;
    coverShape(flat, slot, (level, column, row) => cells.remove(level, column, row, slot));
  }
}

const polygonCrossing = new PolygonCrossing();
const lineCrossing = new LineCrossing();

/** Where a segment within a cell crosses the boundary in an entry of the cell; NaN for degenerate segments. */
function crossingInEntry(
  words: Int32Array,
  doubles: Float64Array,
  at: number,
  x: number,
  y: number,
  dx: number,
  dy: number,
): number {
  const kind = (words[at] as number) & 3;
  if (kind === FULL) return Number.NaN;
  const n = (at >> 1) + 1;
  if (kind === CIRCLE) {
    const longitude = doubles[n] as number;
    const latitude = doubles[n + 1] as number;
    return quickCircleCrossing(longitude, latitude, doubles[n + 2] as number, doubles[n + 3] as number, x, y, dx, dy);
  }
  const crossing = kind === POLYGON ? polygonCrossing : lineCrossing;
  if (kind === POLYGON) polygonCrossing.begin(x, y, dx, dy);
  else lineCrossing.begin(doubles[n + 1] as number, x, y, dx, dy);
  const end = at + entryLength(words, at);
  for (let run = runsAt(at, kind); run < end; ) {
    const edges = (words[run] as number) >> 2;
    crossing.take(doubles, (run >> 1) + 1, edges);
    run += runLength(edges);
  }
  return crossing.fraction();
}

/** Number of points that a scan of a shape reads. */
function pointsOf(flat: FlatShape): number {
  return flat.type === 'circle' ? 1 : flat.images.reduce((sum, { xy }) => sum + xy.length / 2, 0);
}

/** Whether a place is within a line, by the edges of an entry. */
function isNearRuns(
  words: Int32Array,
  at: number,
  doubles: Float64Array,
  x: number,
  y: number,
  cosLatitude: number,
): boolean {
  const limit = doubles[(at >> 1) + 1] as number;
  let run = runsAt(at, LINE);
  for (let left = words[at + 1] as number; left > 0; left--) {
    const edges = (words[run] as number) >> 2;
    let i = (run >> 1) + 1;
    run += runLength(edges);
    for (const last = i + 2 * edges; i < last; i += 2) {
      const distance = squaredDistanceToSegment(
        doubles[i] as number,
        doubles[i + 1] as number,
        doubles[i + 2] as number,
        doubles[i + 3] as number,
        x,
        y,
        cosLatitude,
      );
      if (distance <= limit) return true;
    }
  }
  return false;
}
