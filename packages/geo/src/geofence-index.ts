import type { Shape } from '@outrider/domain';
import { chainCrossings, ON_EDGE } from './chain.ts';
import { flatContains, isPlace } from './contains.ts';
import { isWithinHaversine } from './distance.ts';
import { METRES_PER_DEGREE, RADIANS } from './earth.ts';
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
import { CELL_DEG, clampColumn, clampRow, columnOf, FINEST, rowOf } from './index-cells/grid.ts';
import { LineCrossing, PolygonCrossing, quickCircleCrossing } from './index-cells/quick-crossing.ts';
import { segmentTouchesBox } from './segment-box.ts';
import { squaredDistanceToSegment } from './segment-distance.ts';

/** One geofence to be indexed: `key` is the caller's number for it, a whole number of 0 to 2^31 - 1. */
export interface IndexItem {
  readonly key: number;
  readonly shape: Shape;
}

/**
 * Up to this many geofences with this many points together are simply gone through: cells would cost more than they
 * save.
 */
const FEW_GEOFENCES = 6;
const FEW_POINTS = 200;

/** A way that touches more cells than this on one level is compared with all geofences' boxes instead. */
const LONG_WAY_CELLS = 256;

/** Margin around a way, degrees: far above rounding. */
const WAY_MARGIN_DEG = 1e-7;

/**
 * Finds the geofences that contain a place: exactly those whose `PreparedShape.contains` is true.
 *
 * Geofences are cut into cells: a cell wholly inside one needs no more than its number, and one on a boundary has the
 * edges that matter there, so that what a query costs depends on what lies around the place, not on how many geofences
 * there are or how many points they have. Queries allocate nothing. Adding, changing and removing one geofence touches
 * its own cells alone. Cells per geofence are bounded whatever its size. In a city of polygons of 5 to 40 points it
 * takes about 1.5 kB for each; an index of three, which has no cells, takes 6 kB in all.
 */
export class GeofenceIndex {
  readonly #slotOf = new Map<number, number>();
  /** By slot; -1 where the slot is free. */
  #keys = new Int32Array(4);
  #shapes: (Shape | undefined)[] = [];
  readonly #freeSlots: number[] = [];
  /** By slot: unwrapped west, south, east, north of the shape. */
  #boxes = new Float64Array(16);
  /** By slot, of a small index: what to ask. Null in one with cells. */
  #few: (FlatShape | undefined)[] | null = [];
  #fewPoints = 0;
  #cells: CellTable | null = null;
  /** Grows with every change: a {@link CachedCell} is valid for one version. */
  #version = 0;
  /** Whether the last {@link #queryCells} met a boundary. */
  #metBoundary = false;
  /** By slot: the last {@link queryWay} that found the geofence. */
  #seen = new Int32Array(4);
  #seenNow = 0;

  /** An index of the given geofences. Of two items with one key the later one counts. */
  static build(items: readonly IndexItem[]): GeofenceIndex {
    const index = new GeofenceIndex();
    for (const { key, shape } of items) index.put(key, shape);
    return index;
  }

  /** Number of geofences. */
  get size(): number {
    return this.#slotOf.size;
  }

  /** Bytes of the index's arrays: about all that it takes besides the shapes themselves and 40 bytes for each key. */
  get byteLength(): number {
    const arrays = this.#keys.byteLength + this.#boxes.byteLength + this.#seen.byteLength;
    return arrays + (this.#cells?.byteLength ?? 0) + this.#shapes.length * 8;
  }

  has(key: number): boolean {
    return this.#slotOf.has(key);
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
    const slot = this.#freeSlots.pop() ?? this.#shapes.length;
    if (slot >= this.#keys.length) this.#growSlots();
    this.#slotOf.set(key, slot);
    this.#keys[slot] = key;
    this.#shapes[slot] = shape;
    this.#setBox(slot, flat);
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
    const slot = this.#slotOf.get(key);
    if (slot === undefined) return false;
    const flat = this.#few?.[slot] ?? flatten(this.#shapes[slot] as Shape);
    this.#version++;
    if (this.#few !== null) {
      this.#fewPoints -= pointsOf(flat);
      this.#few[slot] = undefined;
    } else this.#removeCells(slot, flat);
    this.#slotOf.delete(key);
    this.#keys[slot] = -1;
    this.#shapes[slot] = undefined;
    this.#boxes.fill(Number.NaN, slot * 4, slot * 4 + 4);
    this.#freeSlots.push(slot);
    return true;
  }

  /**
   * Writes the keys of all geofences that contain the place (degrees), in no particular order, and returns how many
   * there are. Where that is more than `out` holds, only as many as fit are written: take a longer one and ask again.
   *
   * @param cached filled in where no boundary is in the cell of the place, else cleared; for {@link isUnchanged}
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
   * True where a place is in the cached cell. Then the same geofences contain it as the place that was queried, and a
   * straight way between the two meets no boundary. False: query again.
   */
  isUnchanged(cached: CachedCell, longitude: number, latitude: number): boolean {
    return cached.version === this.#version && columnOf(longitude) === cached.column && rowOf(latitude) === cached.row;
  }

  /** True where the last {@link query} with this cell found no boundary in it, and nothing has changed since. */
  isClear(cached: CachedCell): boolean {
    return cached.version === this.#version;
  }

  /**
   * The fraction of the way between two places at which it first meets the boundary of a geofence that one of the two
   * is in, as `PreparedShape.crossing` gives it; NaN where only that function can decide. For most short ways the
   * entries of the cell are enough, which the last {@link query} has just read.
   */
  crossing(key: number, fromLongitude: number, fromLatitude: number, toLongitude: number, toLatitude: number): number {
    const cells = this.#cells;
    let column = columnOf(fromLongitude);
    let row = rowOf(fromLatitude);
    if (cells === null || column !== columnOf(toLongitude) || row !== rowOf(toLatitude)) return Number.NaN;
    const { words, doubles } = cells.pool;
    const { levelCells } = cells;
    let entry = -1;
    for (let level = FINEST; level >= 0; level--, column >>= 2, row >>= 2) {
      if (levelCells[level] === 0) continue;
      const cell = cells.find(level, column, row);
      if (cell < 0) continue;
      let at = cells.entriesAt(cell);
      const end = at + cells.usedAt(cell);
      for (; at < end; at += entryLength(words, at)) {
        if (this.#keys[(words[at] as number) >>> 2] !== key) continue;
        // Two of one geofence: one is an image of the other, beyond the antimeridian.
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

  /** Goes through all that the cells around a place have there. */
  #queryCells(
    cells: CellTable,
    longitude: number,
    latitude: number,
    finestColumn: number,
    finestRow: number,
    out: Int32Array,
  ): number {
    const { words, doubles } = cells.pool;
    const keys = this.#keys;
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
   * Writes the keys of all geofences whose boundary the straight way between two places (degrees; the short way round)
   * may meet: none is missing, some may be there that it only passes near. So it finds the geofences entered, left, and
   * passed through without a fix inside; ask `PreparedShape.crossing` and `passage` about each. Returns how many there
   * are and writes as many as fit, like {@link query}.
   */
  queryWay(
    fromLongitude: number,
    fromLatitude: number,
    toLongitude: number,
    toLatitude: number,
    out: Int32Array,
  ): number {
    if (!isPlace(fromLongitude, fromLatitude) || !isPlace(toLongitude, toLatitude)) return 0;
    this.#seenNow = (this.#seenNow + 1) | 0;
    if (this.#seenNow === 0) {
      this.#seen.fill(0);
      this.#seenNow = 1;
    }
    const column = clampColumn(columnOf(toLongitude));
    const row = clampRow(rowOf(toLatitude));
    const cells = this.#cells;
    if (cells !== null && clampColumn(columnOf(fromLongitude)) === column && clampRow(rowOf(fromLatitude)) === row)
      return this.#queryWithinCell(cells, column, row, fromLongitude, fromLatitude, toLongitude, toLatitude, out);
    const across = toLongitude - fromLongitude;
    if (across >= -180 && across <= 180) {
      return this.#queryPiece(fromLongitude, fromLatitude, toLongitude, toLatitude, out, 0);
    }
    // The same way twice, each time with the part beyond the antimeridian out of the grid.
    const turn = across > 0 ? -360 : 360;
    const found = this.#queryPiece(fromLongitude, fromLatitude, toLongitude + turn, toLatitude, out, 0);
    return this.#queryPiece(fromLongitude - turn, fromLatitude, toLongitude, toLatitude, out, found);
  }

  /**
   * As {@link queryWay}, for a way that does not leave a finest cell: so it may meet only what touches it and those
   * around it.
   */
  #queryWithinCell(
    cells: CellTable,
    finestColumn: number,
    finestRow: number,
    ax: number,
    ay: number,
    bx: number,
    by: number,
    out: Int32Array,
  ): number {
    const { levelCells } = cells;
    let column = finestColumn;
    let row = finestRow;
    let found = 0;
    for (let level = FINEST; level >= 0; level--, column >>= 2, row >>= 2) {
      if (levelCells[level] === 0) continue;
      const cell = cells.find(level, column, row);
      if (cell >= 0) found = this.#boundariesIn(cells, cell, ax, ay, bx, by, out, found);
    }
    return found;
  }

  #queryFew(longitude: number, latitude: number, out: Int32Array): number {
    const few = this.#few as (FlatShape | undefined)[];
    let found = 0;
    for (let slot = 0; slot < few.length; slot++) {
      const flat = few[slot];
      if (flat === undefined || !flatContains(flat, longitude, latitude)) continue;
      if (found < out.length) out[found] = this.#keys[slot] as number;
      found++;
    }
    return found;
  }

  /** Notes a geofence as found by the present {@link queryWay}, once. */
  #note(slot: number, out: Int32Array, found: number): number {
    if (this.#seen[slot] === this.#seenNow) return found;
    this.#seen[slot] = this.#seenNow;
    if (found < out.length) out[found] = this.#keys[slot] as number;
    return found + 1;
  }

  #queryPiece(ax: number, ay: number, bx: number, by: number, out: Int32Array, foundBefore: number): number {
    const cells = this.#cells;
    const west = Math.min(ax, bx) - WAY_MARGIN_DEG;
    const east = Math.max(ax, bx) + WAY_MARGIN_DEG;
    const south = Math.min(ay, by) - WAY_MARGIN_DEG;
    const north = Math.max(ay, by) + WAY_MARGIN_DEG;
    const westColumn = clampColumn(columnOf(west));
    const eastColumn = clampColumn(columnOf(east));
    const southRow = clampRow(rowOf(south));
    const northRow = clampRow(rowOf(north));
    if (cells === null) return this.#queryBoxes(west, south, east, north, out, foundBefore);
    let finest = FINEST;
    while (finest > 0 && cells.levelCells[finest] === 0) finest--;
    const finestShift = 2 * (FINEST - finest);
    const most = ((eastColumn - westColumn) >> finestShift) + ((northRow - southRow) >> finestShift);
    if (most > LONG_WAY_CELLS) return this.#queryBoxes(west, south, east, north, out, foundBefore);
    let found = foundBefore;
    for (let level = finest; level >= 0; level--) {
      if (cells.levelCells[level] === 0) continue;
      const shift = 2 * (FINEST - level);
      const size = CELL_DEG[level] as number;
      const half = size / 2 + WAY_MARGIN_DEG;
      for (let row = southRow >> shift; row <= northRow >> shift; row++) {
        const middleY = (row + 0.5) * size - 90;
        // The columns that the way is in while it is in this row, and one more on each side for rounding.
        let first = westColumn >> shift;
        let last = eastColumn >> shift;
        if (last - first > 2 && by !== ay) {
          const xLow = ax + ((middleY - half - ay) / (by - ay)) * (bx - ax);
          const xHigh = ax + ((middleY + half - ay) / (by - ay)) * (bx - ax);
          first = Math.max(first, (clampColumn(columnOf(Math.min(xLow, xHigh))) >> shift) - 1);
          last = Math.min(last, (clampColumn(columnOf(Math.max(xLow, xHigh))) >> shift) + 1);
        }
        for (let column = first; column <= last; column++) {
          const cell = cells.find(level, column, row);
          if (cell < 0) continue;
          if (!segmentTouchesBox(ax, ay, bx, by, (column + 0.5) * size - 180, middleY, half, half)) continue;
          found = this.#boundariesIn(cells, cell, ax, ay, bx, by, out, found);
        }
      }
    }
    return found;
  }

  /** Finds the geofences of a cell whose boundary a way may meet there. */
  #boundariesIn(
    cells: CellTable,
    cell: number,
    ax: number,
    ay: number,
    bx: number,
    by: number,
    out: Int32Array,
    foundBefore: number,
  ): number {
    const { words, doubles } = cells.pool;
    let found = foundBefore;
    let at = cells.entriesAt(cell);
    const end = at + cells.usedAt(cell);
    while (at < end) {
      const head = words[at] as number;
      const kind = head & 3;
      const length = entryLength(words, at);
      if (kind !== FULL && this.#seen[head >>> 2] !== this.#seenNow) {
        let meets = false;
        if (kind === CIRCLE) meets = mayMeetCircle(doubles, (at >> 1) + 1, ax, ay, bx, by);
        else {
          const reach = kind === POLYGON ? 0 : (doubles[(at >> 1) + 2] as number);
          meets = mayMeetRuns(words, runsAt(at, kind), at + length, doubles, reach, ax, ay, bx, by);
        }
        if (meets) found = this.#note(head >>> 2, out, found);
      }
      at += length;
    }
    return found;
  }

  /** Finds the geofences whose box meets a box: for very long ways and very small indexes. */
  #queryBoxes(west: number, south: number, east: number, north: number, out: Int32Array, foundBefore: number): number {
    let found = foundBefore;
    const boxes = this.#boxes;
    for (let slot = 0; slot < this.#shapes.length; slot++) {
      const i = slot * 4;
      // A free slot's box is of NaN, and meets nothing.
      if (!((boxes[i + 1] as number) <= north && (boxes[i + 3] as number) >= south)) continue;
      for (let turn = -360; turn <= 360; turn += 360) {
        if ((boxes[i] as number) <= east + turn && (boxes[i + 2] as number) >= west + turn) {
          found = this.#note(slot, out, found);
        }
      }
    }
    return found;
  }

  #setBox(slot: number, flat: FlatShape): void {
    const extent = flat.type === 'circle' ? flat.extent : flat.images[0]?.extent;
    if (extent !== undefined) this.#boxes.set([extent.minX, extent.minY, extent.maxX, extent.maxY], slot * 4);
  }

  #growSlots(): void {
    const length = Math.ceil(this.#keys.length * 1.5);
    const longer = (array: Int32Array) => {
      const grown = new Int32Array(length);
      grown.set(array);
      return grown;
    };
    this.#keys = longer(this.#keys);
    this.#seen = longer(this.#seen);
    const boxes = new Float64Array(length * 4);
    boxes.set(this.#boxes);
    this.#boxes = boxes;
  }

  /** Turns a small index into one with cells; it stays one. */
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

/** Where a way within a cell meets the boundary in an entry of the cell; NaN for degenerate ways. */
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

/** Number of points that going through a shape looks at. */
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

/** Whether a way may come within `reach` (degrees of latitude) of one of the edges. */
function mayMeetRuns(
  words: Int32Array,
  firstRun: number,
  end: number,
  doubles: Float64Array,
  reach: number,
  ax: number,
  ay: number,
  bx: number,
  by: number,
): boolean {
  const middleX = (ax + bx) / 2;
  const middleY = (ay + by) / 2;
  const reachX =
    reach === 0 ? 0 : reach / Math.cos(Math.min(89, Math.max(Math.abs(ay), Math.abs(by)) + reach) * RADIANS);
  const halfX = Math.abs(bx - ax) / 2 + reachX * 1.001 + WAY_MARGIN_DEG;
  const halfY = Math.abs(by - ay) / 2 + reach * 1.001 + WAY_MARGIN_DEG;
  const wayX = bx - ax;
  const wayY = by - ay;
  const slack = (Math.abs(wayX) + Math.abs(wayY) + WAY_MARGIN_DEG) * WAY_MARGIN_DEG;
  const away = Math.abs(wayX) * reach * 1.001 + Math.abs(wayY) * reachX * 1.001 + slack;
  for (let run = firstRun; run < end; ) {
    const edges = (words[run] as number) >> 2;
    let i = (run >> 1) + 1;
    run += runLength(edges);
    for (const last = i + 2 * edges; i < last; i += 2) {
      const px = doubles[i] as number;
      const py = doubles[i + 1] as number;
      const qx = doubles[i + 2] as number;
      const qy = doubles[i + 3] as number;
      // Both ends of the edge clearly on one side of the way?
      const p = wayX * (py - ay) - wayY * (px - ax);
      const q = wayX * (qy - ay) - wayY * (qx - ax);
      if ((p > away && q > away) || (p < -away && q < -away)) continue;
      if (segmentTouchesBox(px, py, qx, qy, middleX, middleY, halfX, halfY)) return true;
    }
  }
  return false;
}

/**
 * Whether a way may come within a circle. Measured on a plain map where that is good enough, else taken for granted.
 */
function mayMeetCircle(doubles: Float64Array, n: number, ax: number, ay: number, bx: number, by: number): boolean {
  const longitude = doubles[n] as number;
  const latitude = doubles[n + 1] as number;
  const radiusDeg = (2 * Math.sqrt(doubles[n + 3] as number)) / RADIANS;
  if (radiusDeg * METRES_PER_DEGREE > 20_000 || Math.abs(latitude) > 80) return true;
  const x = longitude - ax > 180 ? longitude - 360 : longitude - ax < -180 ? longitude + 360 : longitude;
  // Off by less than 2 % at 20 km from the middle, up to 80° of latitude.
  const reach = radiusDeg * 1.05 + WAY_MARGIN_DEG;
  return squaredDistanceToSegment(ax, ay, bx, by, x, latitude, doubles[n + 2] as number) <= reach * reach;
}
