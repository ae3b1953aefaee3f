import type { CellTable } from './cell-table.ts';
import { isWithinHaversine } from './distance.ts';
import { RADIANS } from './earth.ts';
import { CIRCLE, entryLength, FULL, LINE, POLYGON, runLength, runsAt } from './entry.ts';
import { CELL_DEG, FINEST } from './grid.ts';
import { segmentTouchesBox } from './segment-box.ts';
import { squaredDistanceToSegment } from './segment-distance.ts';

/**
 * A map of one finest cell: a raster of {@link SIDE} by {@link SIDE} fields, each with the number of the region that it is
 * of. No boundary touches a field of a region, and everywhere in a region a query has the same answer, so that it is worked
 * out once, when the map is drawn. A field that a boundary touches is of region 0: there the edges have to be asked.
 *
 * In a block of words: the fields, 4 bits each, row by row from the south west; then the number of regions, for each region
 * where its keys begin (counted from the block's first word) and where the last one's end; then the keys.
 */
export const SIDE = 16;

/** As many as there are numbers of 4 bits besides 0. Fields of further regions are left as if a boundary touched them. */
const MOST_REGIONS = 15;

const FIELDS = SIDE * SIDE;
/** Words that the fields take. */
export const FIELD_WORDS = FIELDS / 8;
const FIELD_DEG = (CELL_DEG[FINEST] as number) / SIDE;

/** Margin around a field, degrees: far above rounding (1e-13). */
const MARGIN_DEG = 1e-9;
const HALF_DEG = FIELD_DEG / 2 + MARGIN_DEG;

/** No place of a field is farther from its middle than this, in degrees of a great circle, wherever on the Earth it is. */
const REACH_DEG = HALF_DEG * Math.SQRT2;

/** Scales of the maps that lines are measured on differ by less than this within a field, below 85° of latitude. */
const SCALE_SLACK = 1e-4;

/** Region of the field with so many fields west and south of it in the cell; 0 where a boundary touches it. */
export function regionOf(words: Int32Array, map: number, column: number, row: number): number {
  const field = row * SIDE + column;
  return ((words[map + (field >> 3)] as number) >>> ((field & 7) * 4)) & 15;
}

/** Word at which the keys of a region begin, counted from the map's first. Those of the next region begin where they end. */
export function keysOfRegion(words: Int32Array, map: number, region: number): number {
  return words[map + FIELD_WORDS + region] as number;
}

/** Writes the keys of the geofences that contain a place into an array and returns how many there are, as `query` does. */
export type Ask = (longitude: number, latitude: number, out: Int32Array) => number;

/** Draws maps: one after the other with the same tools. */
export class MapDrawer {
  /** The map last drawn, in its first words. */
  words = new Int32Array(256);
  readonly #regions = new Int8Array(FIELDS);
  readonly #open: number[] = [];
  #keys = new Int32Array(64);
  #west = 0;
  #south = 0;

  /**
   * Draws the map of a finest cell.
   *
   * @returns how many of {@link words} it takes
   */
  draw(cells: CellTable, column: number, row: number, ask: Ask): number {
    const size = CELL_DEG[FINEST] as number;
    this.#west = column * size - 180;
    this.#south = row * size - 90;
    this.#regions.fill(UNKNOWN);
    for (let level = FINEST, x = column, y = row; level >= 0; level--, x >>= 2, y >>= 2) {
      if (cells.levelCells[level] === 0) continue;
      const cell = cells.find(level, x, y);
      if (cell >= 0) this.#markBoundaries(cells, cell);
    }
    return this.#writeRegions(ask);
  }

  /** Middle of the fields of a column, and of a row. */
  #x(column: number): number {
    return this.#west + (column + 0.5) * FIELD_DEG;
  }

  #y(row: number): number {
    return this.#south + (row + 0.5) * FIELD_DEG;
  }

  #markBoundaries(cells: CellTable, cell: number): void {
    const { words, doubles } = cells.pool;
    let at = cells.entriesAt(cell);
    const end = at + cells.usedAt(cell);
    for (; at < end; at += entryLength(words, at)) {
      const kind = (words[at] as number) & 3;
      if (kind === FULL) continue;
      if (kind === CIRCLE) this.#markCircle(doubles, (at >> 1) + 1);
      else if (kind === LINE) this.#markLine(words, doubles, at);
      else if (kind === POLYGON) this.#markEdges(words, doubles, at, at + entryLength(words, at));
    }
  }

  #markEdges(words: Int32Array, doubles: Float64Array, at: number, end: number): void {
    for (let run = runsAt(at, POLYGON); run < end; ) {
      const edges = (words[run] as number) >> 2;
      let i = (run >> 1) + 1;
      run += runLength(edges);
      for (const last = i + 2 * edges; i < last; i += 2)
        this.#markEdge(
          doubles[i] as number,
          doubles[i + 1] as number,
          doubles[i + 2] as number,
          doubles[i + 3] as number,
        );
    }
  }

  #markEdge(ax: number, ay: number, bx: number, by: number): void {
    const west = fieldAt(Math.min(ax, bx) - MARGIN_DEG - this.#west);
    const east = fieldAt(Math.max(ax, bx) + MARGIN_DEG - this.#west);
    const south = fieldAt(Math.min(ay, by) - MARGIN_DEG - this.#south);
    const north = fieldAt(Math.max(ay, by) + MARGIN_DEG - this.#south);
    for (let row = south; row <= north; row++)
      for (let column = west; column <= east; column++)
        if (segmentTouchesBox(ax, ay, bx, by, this.#x(column), this.#y(row), HALF_DEG, HALF_DEG))
          this.#regions[row * SIDE + column] = 0;
  }

  /** A field is clear of the circle where its middle is far enough inside, or outside. */
  #markCircle(doubles: Float64Array, n: number): void {
    const longitude = doubles[n] as number;
    const latitude = doubles[n + 1] as number;
    const radius = 2 * Math.asin(Math.sqrt(doubles[n + 3] as number));
    const reach = REACH_DEG * RADIANS;
    const inner = radius > reach ? Math.sin((radius - reach) / 2) ** 2 : -1;
    const outer = Math.sin((radius + reach) / 2) ** 2;
    for (let row = 0; row < SIDE; row++) {
      const y = this.#y(row);
      const cosLatitudes = (doubles[n + 2] as number) * Math.cos(y * RADIANS);
      for (let column = 0; column < SIDE; column++) {
        const x = this.#x(column);
        if (
          isWithinHaversine(longitude, latitude, x, y, cosLatitudes, outer) &&
          !isWithinHaversine(longitude, latitude, x, y, cosLatitudes, inner)
        )
          this.#regions[row * SIDE + column] = 0;
      }
    }
  }

  #markLine(words: Int32Array, doubles: Float64Array, at: number): void {
    const halfWidthDeg = doubles[(at >> 1) + 2] as number;
    const reach = REACH_DEG + halfWidthDeg * SCALE_SLACK;
    const inner = Math.max(0, halfWidthDeg - reach) ** 2;
    const outer = (halfWidthDeg + reach) ** 2;
    const end = at + entryLength(words, at);
    for (let row = 0; row < SIDE; row++) {
      const y = this.#y(row);
      const cosLatitude = Math.cos(y * RADIANS);
      for (let column = 0; column < SIDE; column++) {
        const x = this.#x(column);
        let nearest = Number.POSITIVE_INFINITY;
        for (let run = runsAt(at, LINE); run < end; ) {
          const edges = (words[run] as number) >> 2;
          let i = (run >> 1) + 1;
          run += runLength(edges);
          for (const last = i + 2 * edges; i < last; i += 2)
            nearest = Math.min(
              nearest,
              squaredDistanceToSegment(
                doubles[i] as number,
                doubles[i + 1] as number,
                doubles[i + 2] as number,
                doubles[i + 3] as number,
                x,
                y,
                cosLatitude,
              ),
            );
        }
        if (nearest <= outer && nearest >= inner) this.#regions[row * SIDE + column] = 0;
      }
    }
  }

  /** Numbers the regions, asks for the answer in each, and writes all down. Regions with one answer have one number. */
  #writeRegions(ask: Ask): number {
    const regions = this.#regions;
    const answers: Int32Array[] = [];
    for (let field = 0; field < FIELDS; field++) {
      if (regions[field] !== UNKNOWN) continue;
      const answer = this.#answerIn(field, ask);
      let region = answers.findIndex((other) => isSame(answer, other)) + 1;
      if (region === 0 && answers.length < MOST_REGIONS) region = answers.push(answer);
      this.#spread(field, region);
    }
    const keysAt = FIELD_WORDS + 1 + answers.length + 1;
    const length = answers.reduce((sum, keys) => sum + keys.length, keysAt);
    if (length > this.words.length) this.words = new Int32Array(2 * length);
    const { words } = this;
    words.fill(0, 0, FIELD_WORDS);
    for (let field = 0; field < FIELDS; field++)
      words[field >> 3] = (words[field >> 3] as number) | ((regions[field] as number) << ((field & 7) * 4));
    words[FIELD_WORDS] = answers.length;
    let at = keysAt;
    for (const [i, keys] of answers.entries()) {
      words[FIELD_WORDS + 1 + i] = at;
      words.set(keys, at);
      at += keys.length;
    }
    words[FIELD_WORDS + 1 + answers.length] = at;
    return length;
  }

  /** The keys at the middle of a field, sorted. */
  #answerIn(field: number, ask: Ask): Int32Array {
    const [x, y] = [this.#x(field % SIDE), this.#y(Math.floor(field / SIDE))];
    let found = ask(x, y, this.#keys);
    if (found > this.#keys.length) {
      this.#keys = new Int32Array(2 * found);
      found = ask(x, y, this.#keys);
    }
    return this.#keys.slice(0, found).sort();
  }

  /** Gives a field, and all that it is connected with by sides, to a region. */
  #spread(from: number, region: number): void {
    const regions = this.#regions;
    const open = this.#open;
    const take = (field: number) => {
      if (regions[field] !== UNKNOWN) return;
      regions[field] = region;
      open.push(field);
    };
    take(from);
    for (let field = open.pop(); field !== undefined; field = open.pop()) {
      const column = field % SIDE;
      if (column > 0) take(field - 1);
      if (column < SIDE - 1) take(field + 1);
      if (field >= SIDE) take(field - SIDE);
      if (field < FIELDS - SIDE) take(field + SIDE);
    }
  }
}

/** Of a field whose region is not known yet. */
const UNKNOWN = -1;

/** The nearest column or row of fields to so many degrees from the cell's west or south side. */
function fieldAt(degrees: number): number {
  return Math.min(SIDE - 1, Math.max(0, Math.floor(degrees / FIELD_DEG)));
}

function isSame(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((key, i) => key === b[i]);
}
