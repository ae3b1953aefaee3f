import { isPlace } from '../contains.ts';
import { METRES_PER_DEGREE, RADIANS } from '../earth.ts';
import { segmentTouchesBox } from '../segment-box.ts';
import { squaredDistanceToSegment } from '../segment-distance.ts';
import type { CellTable } from './cell-table.ts';
import { CIRCLE, entryLength, FULL, POLYGON, runLength, runsAt } from './entry.ts';
import { CELL_DEG, clampColumn, clampRow, columnOf, FINEST, rowOf } from './grid.ts';
import type { Slots } from './slots.ts';

/** A segment that touches more cells than this on one level is compared with the boxes of all geofences instead. */
const LONG_WAY_CELLS = 256;

/** Margin around a segment, degrees: far above rounding. */
const WAY_MARGIN_DEG = 1e-7;

/** Finds the geofences whose boundary a segment may cross. */
export class WaySearch {
  readonly #slots: Slots;
  /** By slot: number of the last search that found the geofence. */
  #seen = new Int32Array(4);
  #seenNow = 0;

  constructor(slots: Slots) {
    this.#slots = slots;
  }

  get byteLength(): number {
    return this.#seen.byteLength;
  }

  /** See `GeofenceIndex.queryWay`. */
  find(
    cells: CellTable | null,
    fromLongitude: number,
    fromLatitude: number,
    toLongitude: number,
    toLatitude: number,
    out: Int32Array,
  ): number {
    if (!isPlace(fromLongitude, fromLatitude) || !isPlace(toLongitude, toLatitude)) return 0;
    this.#begin();
    const column = clampColumn(columnOf(toLongitude));
    const row = clampRow(rowOf(toLatitude));
    if (cells !== null && clampColumn(columnOf(fromLongitude)) === column && clampRow(rowOf(fromLatitude)) === row)
      return this.#queryWithinCell(cells, column, row, fromLongitude, fromLatitude, toLongitude, toLatitude, out);
    const across = toLongitude - fromLongitude;
    if (across >= -180 && across <= 180) {
      return this.#queryPiece(cells, fromLongitude, fromLatitude, toLongitude, toLatitude, out, 0);
    }
    // The segment is searched twice, each time with the part beyond the antimeridian outside the grid.
    const turn = across > 0 ? -360 : 360;
    const found = this.#queryPiece(cells, fromLongitude, fromLatitude, toLongitude + turn, toLatitude, out, 0);
    return this.#queryPiece(cells, fromLongitude - turn, fromLatitude, toLongitude, toLatitude, out, found);
  }

  /**
   * As {@link queryWay}, for a segment within one finest cell: it can only cross boundaries in that cell and in the
   * coarser cells that contain it.
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

  #begin(): void {
    const { length } = this.#slots.keys;
    if (this.#seen.length < length) this.#seen = new Int32Array(length);
    this.#seenNow = (this.#seenNow + 1) | 0;
    if (this.#seenNow !== 0) return;
    this.#seen.fill(0);
    this.#seenNow = 1;
  }

  /** Writes a geofence to the results of the current search, once. */
  #note(slot: number, out: Int32Array, found: number): number {
    if (this.#seen[slot] === this.#seenNow) return found;
    this.#seen[slot] = this.#seenNow;
    if (found < out.length) out[found] = this.#slots.keys[slot] as number;
    return found + 1;
  }

  #queryPiece(
    cells: CellTable | null,
    ax: number,
    ay: number,
    bx: number,
    by: number,
    out: Int32Array,
    foundBefore: number,
  ): number {
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
        // The columns of the segment within this row, with one more on each side for rounding.
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

  /** Finds the geofences of a cell whose boundary a segment may cross there. */
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

  /** Finds the geofences whose box overlaps a box: for very long segments and very small indexes. */
  #queryBoxes(west: number, south: number, east: number, north: number, out: Int32Array, foundBefore: number): number {
    let found = foundBefore;
    const { boxes, shapes } = this.#slots;
    for (let slot = 0; slot < shapes.length; slot++) {
      const i = slot * 4;
      // The box of a free slot is NaN and overlaps nothing.
      if (!((boxes[i + 1] as number) <= north && (boxes[i + 3] as number) >= south)) continue;
      for (let turn = -360; turn <= 360; turn += 360) {
        if ((boxes[i] as number) <= east + turn && (boxes[i + 2] as number) >= west + turn) {
          found = this.#note(slot, out, found);
        }
      }
    }
    return found;
  }
}

/** Whether a segment may come within `reach` (degrees of latitude) of one of the edges. */
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
      // Whether both ends of the edge are clearly on one side of the segment.
      const p = wayX * (py - ay) - wayY * (px - ax);
      const q = wayX * (qy - ay) - wayY * (qx - ax);
      if ((p > away && q > away) || (p < -away && q < -away)) continue;
      if (segmentTouchesBox(px, py, qx, qy, middleX, middleY, halfX, halfY)) return true;
    }
  }
  return false;
}

/**
 * Whether a segment may enter a circle. Measured on a plane map where that is accurate enough; else true is returned.
 */
function mayMeetCircle(doubles: Float64Array, n: number, ax: number, ay: number, bx: number, by: number): boolean {
  const longitude = doubles[n] as number;
  const latitude = doubles[n + 1] as number;
  const radiusDeg = (2 * Math.sqrt(doubles[n + 3] as number)) / RADIANS;
  if (radiusDeg * METRES_PER_DEGREE > 20_000 || Math.abs(latitude) > 80) return true;
  const x = longitude - ax > 180 ? longitude - 360 : longitude - ax < -180 ? longitude + 360 : longitude;
  // The error is below 2 % at 20 km from the centre, up to 80° of latitude.
  const reach = radiusDeg * 1.05 + WAY_MARGIN_DEG;
  return squaredDistanceToSegment(ax, ay, bx, by, x, latitude, doubles[n + 2] as number) <= reach * reach;
}
