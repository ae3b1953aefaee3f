import { chainParity } from '../chain.ts';
import { distanceM } from '../distance.ts';
import { EARTH_RADIUS_M, RADIANS } from '../earth.ts';
import type { FlatCircle, FlatShape, Image } from '../flat-shape.ts';
import { segmentTouchesBox } from '../segment-box.ts';
import { squaredDistanceToSegment } from '../segment-distance.ts';
import type { Extent } from '../unwrap.ts';
import { CIRCLE, END_COUNTS, FULL, LINE, POLYGON, runLength, START_COUNTS } from './entry.ts';
import { CELL_DEG, clampColumn, clampRow, columnOf, FINEST, FINEST_COLUMNS, MARGIN_DEG, rowOf } from './grid.ts';

/** Receives each cell of a shape with its entry (see `entry.ts`): the first `length` words of `entry`. */
export type CellSink = (level: number, column: number, row: number, entry: Int32Array, length: number) => void;

/** Approximate number of cells along a shape's boundary, which decides the finest level. */
const BOUNDARY_CELLS = 48;
/** A cell with more edges than this is subdivided, within the limit of {@link MOST_CELLS}. */
const MANY_EDGES = 24;
/** Number of cells of a shape from which on cells with many edges are no longer subdivided. */
const MOST_CELLS = 512;
/** The search for cells starts on the finest level on which the shape's box has at most this many. */
const START_CELLS = 9;

/**
 * The finest level on which a boundary of this length (degrees of longitude plus degrees of latitude) has few enough
 * cells.
 */
function levelForBoundary(lengthDeg: number): number {
  let level = FINEST;
  while (level > 0 && lengthDeg / (CELL_DEG[level] as number) > BOUNDARY_CELLS) level--;
  return level;
}

/** Rows and columns of the finest cells in a box. */
interface CellRange {
  west: number;
  east: number;
  south: number;
  north: number;
}

function levelForBox(range: CellRange): number {
  let level = FINEST;
  for (; level > 0; level--) {
    const shift = 2 * (FINEST - level);
    const columns = (range.east >> shift) - (range.west >> shift) + 1;
    const rows = (range.north >> shift) - (range.south >> shift) + 1;
    if (columns * rows <= START_CELLS) break;
  }
  return level;
}

/** Calls `visit` for each cell of a level in the range. */
function eachCell(range: CellRange, level: number, visit: (column: number, row: number) => void): void {
  const shift = 2 * (FINEST - level);
  for (let row = range.south >> shift; row <= range.north >> shift; row++) {
    for (let column = range.west >> shift; column <= range.east >> shift; column++) visit(column, row);
  }
}

/** The part of the range that lies in one cell. */
function rangeWithin(range: CellRange, level: number, column: number, row: number): CellRange {
  const shift = 2 * (FINEST - level);
  return {
    west: Math.max(range.west, column << shift),
    east: Math.min(range.east, ((column + 1) << shift) - 1),
    south: Math.max(range.south, row << shift),
    north: Math.min(range.north, ((row + 1) << shift) - 1),
  };
}

/** Buffer in which entries are written before they are passed on. */
class EntryScratch {
  words = new Int32Array(256);
  doubles = new Float64Array(this.words.buffer);

  /** Ensures capacity for an entry of this many words. */
  reserve(length: number): void {
    if (length <= this.words.length) return;
    this.words = new Int32Array(2 * length);
    this.doubles = new Float64Array(this.words.buffer);
  }
}

const scratch = new EntryScratch();

/**
 * Edges of a polygon or path near a cell: runs as `first point, edges, flags`, and a polygon's base (see `entry.ts`).
 */
interface Edges {
  runs: number[];
  count: number;
  base: number;
}

/** Computes the cells of one image of a polygon or a line. */
class PathCover {
  readonly #polygon: boolean;
  readonly #xy: Float64Array;
  readonly #ringStarts: Int32Array;
  readonly #range: CellRange;
  readonly #reachX: number;
  readonly #reachY: number;
  readonly #level: number;
  readonly #slot: number;
  /** For a line, in degrees of latitude; null for a polygon. */
  readonly #halfWidthDeg: number | null;
  readonly #sink: CellSink;
  #cells = 0;

  constructor(image: Image, ringStarts: Int32Array, halfWidthDeg: number | null, slot: number, sink: CellSink) {
    const { extent, xy } = image;
    this.#polygon = halfWidthDeg === null;
    this.#xy = xy;
    this.#ringStarts = ringStarts;
    this.#slot = slot;
    this.#halfWidthDeg = halfWidthDeg;
    this.#sink = sink;
    this.#reachY = (halfWidthDeg ?? 0) * (1 + 1e-9);
    this.#reachX = this.#reachY / Math.cos(Math.min(89.9, Math.max(-extent.minY, extent.maxY)) * RADIANS);
    const margin = MARGIN_DEG[0] as number;
    this.#range = {
      west: clampColumn(columnOf(extent.minX - margin)),
      east: clampColumn(columnOf(extent.maxX + margin)),
      south: clampRow(rowOf(extent.minY - margin)),
      north: clampRow(rowOf(extent.maxY + margin)),
    };
    let lengthDeg = 0;
    for (let r = 0; r + 1 < ringStarts.length; r++) {
      const end = 2 * ((ringStarts[r + 1] as number) - 1);
      for (let i = 2 * (ringStarts[r] as number); i < end; i += 2) {
        lengthDeg += Math.abs((xy[i + 2] as number) - (xy[i] as number));
        lengthDeg += Math.abs((xy[i + 3] as number) - (xy[i + 1] as number));
      }
    }
    // The boundary of a wide line consists of its two sides.
    this.#level = levelForBoundary(lengthDeg + 2 * (this.#reachX + this.#reachY));
  }

  cover(): void {
    const runs: number[] = [];
    let count = 0;
    for (let r = 0; r + 1 < this.#ringStarts.length; r++) {
      const start = this.#ringStarts[r] as number;
      const edges = (this.#ringStarts[r + 1] as number) - start - 1;
      runs.push(start, edges, 0);
      count += edges;
    }
    const all: Edges = { runs, count, base: 0 };
    const level = Math.min(this.#level, levelForBox(this.#range));
    eachCell(this.#range, level, (column, row) => this.#cell(level, column, row, all));
  }

  #cell(level: number, column: number, row: number, parent: Edges): void {
    const size = CELL_DEG[level] as number;
    const middleX = (column + 0.5) * size - 180;
    const middleY = (row + 0.5) * size - 90;
    const edges = this.#near(parent, level, middleX, middleY);
    if (edges.count === 0) {
      if (this.#polygon && this.#parity(parent, middleX, middleY) === 1) this.#full(level, column, row);
      return;
    }
    if (this.#polygon) edges.base = this.#parity(parent, middleX, middleY) ^ this.#parity(edges, middleX, middleY);
    else if (this.#isWithinLine(edges, size, middleX, middleY)) {
      this.#full(level, column, row);
      return;
    }
    const divide = level < this.#level || (edges.count > MANY_EDGES && this.#cells < MOST_CELLS && level < FINEST);
    if (divide) {
      const children = rangeWithin(this.#range, level, column, row);
      eachCell(children, level + 1, (x, y) => this.#cell(level + 1, x, y, edges));
    } else this.#boundary(level, column, row, edges);
  }

  #touches(edge: number, middleX: number, middleY: number, halfX: number, halfY: number): boolean {
    const xy = this.#xy;
    const i = 2 * edge;
    return segmentTouchesBox(
      xy[i] as number,
      xy[i + 1] as number,
      xy[i + 2] as number,
      xy[i + 3] as number,
      middleX,
      middleY,
      halfX,
      halfY,
    );
  }

  /** The parent's edges that are in or near the cell. */
  #near(parent: Edges, level: number, middleX: number, middleY: number): Edges {
    const half = (CELL_DEG[level] as number) / 2 + (MARGIN_DEG[level] as number);
    const halfX = half + this.#reachX;
    const halfY = half + this.#reachY;
    const runs: number[] = [];
    let count = 0;
    for (let i = 0; i < parent.runs.length; i += 3) {
      const first = parent.runs[i] as number;
      const end = first + (parent.runs[i + 1] as number);
      let start = -1;
      for (let edge = first; edge < end; edge++) {
        if (this.#touches(edge, middleX, middleY, halfX, halfY)) {
          if (start < 0) start = edge;
          count++;
        } else if (start >= 0) {
          runs.push(start, edge - start, 0);
          start = -1;
        }
      }
      if (start >= 0) runs.push(start, end - start, 0);
    }
    if (this.#polygon) {
      for (let i = 0; i < runs.length; i += 3) {
        const start = runs[i] as number;
        const end = start + (runs[i + 1] as number);
        let flags = 0;
        if (
          this.#isLeftOf(start, middleX, middleY, half) &&
          !this.#touches(this.#before(start), middleX, middleY, half, half)
        )
          flags |= START_COUNTS;
        if (
          this.#isLeftOf(end, middleX, middleY, half) &&
          !this.#touches(this.#after(end), middleX, middleY, half, half)
        )
          flags |= END_COUNTS;
        runs[i + 2] = flags;
      }
    }
    return { runs, count, base: 0 };
  }

  /** Whether a point is west of the cell, at a latitude of the cell. */
  #isLeftOf(point: number, middleX: number, middleY: number, half: number): boolean {
    const x = this.#xy[2 * point] as number;
    const y = this.#xy[2 * point + 1] as number;
    return x < middleX && y >= middleY - half && y <= middleY + half;
  }

  /** Index of the ring that contains a point. */
  #ringOf(point: number): number {
    let low = 0;
    let high = this.#ringStarts.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#ringStarts[middle] as number) <= point) low = middle;
      else high = middle;
    }
    return low;
  }

  /** The edge that ends at the point where another begins. */
  #before(point: number): number {
    const ring = this.#ringOf(point);
    return point === this.#ringStarts[ring] ? (this.#ringStarts[ring + 1] as number) - 2 : point - 1;
  }

  /** The edge that begins where another ends. */
  #after(point: number): number {
    const ring = this.#ringOf(point);
    return point === (this.#ringStarts[ring + 1] as number) - 1 ? (this.#ringStarts[ring] as number) : point;
  }

  /** Parity of a place in a polygon, inside (1) or outside (0), by the edges near a cell that contains it. */
  #parity(edges: Edges, x: number, y: number): number {
    const xy = this.#xy;
    let parity = edges.base;
    for (let i = 0; i < edges.runs.length; i += 3) {
      const first = edges.runs[i] as number;
      const count = edges.runs[i + 1] as number;
      const flags = edges.runs[i + 2] as number;
      parity ^= chainParity(xy, 2 * first, count, x, y);
      if ((flags & START_COUNTS) !== 0 && y >= (xy[2 * first + 1] as number)) parity ^= 1;
      if ((flags & END_COUNTS) !== 0 && y >= (xy[2 * (first + count) + 1] as number)) parity ^= 1;
    }
    return parity;
  }

  /**
   * Whether the whole cell is within the line's width of one of the edges. A map with the scale of the cell's widest
   * parallel never understates a distance, and the points within a distance of a segment form a convex set. So testing
   * the cell's corners is sufficient.
   */
  #isWithinLine(edges: Edges, size: number, middleX: number, middleY: number): boolean {
    const half = size / 2 + (MARGIN_DEG[0] as number);
    const limit = this.#reachY * this.#reachY * (1 - 1e-6);
    if (half * half > limit) return false;
    const nearest = Math.max(0, Math.abs(middleY) - half);
    const cosLatitude = Math.cos(nearest * RADIANS);
    const xy = this.#xy;
    for (let i = 0; i < edges.runs.length; i += 3) {
      const first = edges.runs[i] as number;
      for (let e = first; e < first + (edges.runs[i + 1] as number); e++) {
        const [ax = 0, ay = 0, bx = 0, by = 0] = [xy[2 * e], xy[2 * e + 1], xy[2 * e + 2], xy[2 * e + 3]];
        const isNear = (x: number, y: number) => squaredDistanceToSegment(ax, ay, bx, by, x, y, cosLatitude) <= limit;
        if (
          isNear(middleX - half, middleY - half) &&
          isNear(middleX + half, middleY - half) &&
          isNear(middleX - half, middleY + half) &&
          isNear(middleX + half, middleY + half)
        )
          return true;
      }
    }
    return false;
  }

  #full(level: number, column: number, row: number): void {
    scratch.words[0] = this.#slot * 4 + FULL;
    this.#cells++;
    this.#sink(level, column, row, scratch.words, 2);
  }

  #boundary(level: number, column: number, row: number, { runs, count, base }: Edges): void {
    const runCount = runs.length / 3;
    scratch.reserve(6 + runCount * runLength(0) + count * (runLength(1) - runLength(0)));
    const { words, doubles } = scratch;
    let at = 2;
    if (this.#halfWidthDeg === null) {
      words[0] = this.#slot * 4 + POLYGON;
      words[1] = runCount * 2 + base;
    } else {
      words[0] = this.#slot * 4 + LINE;
      words[1] = runCount;
      doubles[1] = this.#halfWidthDeg * this.#halfWidthDeg;
      doubles[2] = this.#halfWidthDeg;
      at = 6;
    }
    for (let i = 0; i < runs.length; i += 3) {
      const first = runs[i] as number;
      const edges = runs[i + 1] as number;
      words[at] = edges * 4 + (runs[i + 2] as number);
      let next = at / 2 + 1;
      for (let n = 2 * first; n < 2 * (first + edges + 1); n++) doubles[next++] = this.#xy[n] as number;
      at += runLength(edges);
    }
    this.#cells++;
    this.#sink(level, column, row, words, at);
  }
}

/** Minimum distance in metres of a cell from a circle's edge to count as inside or outside: far above rounding. */
const CLEAR_M = 1e-3;

function coverCircle(circle: FlatCircle, slot: number, sink: CellSink): void {
  const range = circleRange(circle.extent);
  const lengthDeg = 2 * (circle.extent.maxX - circle.extent.minX + circle.extent.maxY - circle.extent.minY);
  const target = levelForBoundary(lengthDeg);
  const { words, doubles } = scratch;
  doubles.set([circle.longitude, circle.latitude, circle.cosLatitude, circle.limit], 1);
  const visit = (level: number, column: number, row: number): void => {
    const size = CELL_DEG[level] as number;
    const middleX = (column + 0.5) * size - 180;
    const middleY = (row + 0.5) * size - 90;
    // Upper bound of the distance from the cell's middle to its places: haversine, with sines replaced by their angles.
    const half = (size / 2) * RADIANS;
    const widest = Math.cos(Math.max(0, Math.abs(middleY) - size / 2) * RADIANS);
    const reachM = 2 * Math.asin(Math.min(1, (half / 2) * Math.sqrt(1 + widest * widest))) * EARTH_RADIUS_M;
    const awayM = distanceM(circle.longitude, circle.latitude, middleX, middleY);
    if (awayM - reachM > circle.radiusM + CLEAR_M) return;
    const isFull = awayM + reachM < circle.radiusM - CLEAR_M;
    if (!isFull && level < target) {
      eachCell(rangeWithin(range, level, column, row), level + 1, (x, y) => visit(level + 1, x, y));
      return;
    }
    words[0] = slot * 4 + (isFull ? FULL : CIRCLE);
    sink(level, column & (4 ** (level + 1) - 1), row, words, isFull ? 2 : 10);
  };
  const level = Math.min(target, levelForBox(range));
  eachCell(range, level, (column, row) => visit(level, column, row));
}

/** Cell range of a circle: its columns continue past the antimeridian, but never wrap around to their start. */
function circleRange(extent: Extent): CellRange {
  const margin = MARGIN_DEG[0] as number;
  const rows = { south: clampRow(rowOf(extent.minY - margin)), north: clampRow(rowOf(extent.maxY + margin)) };
  const west = columnOf(extent.minX - margin);
  const east = columnOf(extent.maxX + margin);
  // Coarse cells wrap around sooner than fine ones: a nearly full circle of longitudes is treated as a full one.
  if (extent.maxX - extent.minX > 360 - 2 * (CELL_DEG[0] as number))
    return { ...rows, west: 0, east: FINEST_COLUMNS - 1 };
  return { ...rows, west, east };
}

/**
 * Finds the cells that a shape covers: those wholly inside, and those that its boundary passes through (with only the
 * relevant part of the boundary). Cells are coarse inside and finer towards the boundary. Their number is bounded for
 * any shape: about 50 on the boundary and as many inside; more, up to some 500, only where many edges lie close
 * together. The same shape always has the same cells.
 *
 * @param slot number of the geofence to store in the entries
 */
export function coverShape(shape: FlatShape, slot: number, sink: CellSink): void {
  if (shape.type === 'circle') return coverCircle(shape, slot, sink);
  for (const image of shape.images) {
    const ringStarts = shape.type === 'line' ? Int32Array.of(0, image.xy.length / 2) : shape.ringStarts;
    const halfWidthDeg = shape.type === 'line' ? shape.halfWidthDeg : null;
    new PathCover(image, ringStarts, halfWidthDeg, slot, sink).cover();
  }
}
