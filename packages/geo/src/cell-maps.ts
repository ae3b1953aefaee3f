import { BlockPool, blockClassFor } from './block-pool.ts';
import { type Ask, FIELD_WORDS, MapDrawer } from './cell-map.ts';
import type { CellTable } from './cell-table.ts';

/** Words of a bucket: column + 1 (0: empty bucket), row, place of the map (0: none), visits * 64 + block class of the map. */
const BUCKET = 4;
const CLASS_BITS = 6;
const FEWEST_BUCKETS = 64;

/** A map costs as much to draw as some 20 queries in its cell cost without one: so it is drawn once as many were made. */
const VISITS_BEFORE_MAP = 20;

/** With more cells than this, and than the geofences have, nearly all are seldom visited: then all is forgotten. */
const MOST_CELLS = 4096;

/**
 * Maps (see `cell-map.ts`) of finest cells with boundaries that places are often asked about: where vehicles are. An open hash
 * table by column and row. Maps of cells that change are dropped, and drawn anew when they were asked about often again.
 */
export class CellMaps {
  /** A map of a cell without any boundary: one region. It has no keys: whoever meets it knows them. */
  readonly clear: number;
  readonly #drawer = new MapDrawer();
  #pool = new BlockPool();
  #buckets = new Int32Array(FEWEST_BUCKETS * BUCKET);
  #mask = FEWEST_BUCKETS - 1;
  #count = 0;

  constructor() {
    this.clear = this.#allocateClear();
  }

  get byteLength(): number {
    return this.#buckets.byteLength + this.#pool.words.byteLength;
  }

  /** Where the maps are. */
  get words(): Int32Array {
    return this.#pool.words;
  }

  /** Place of a cell's map in {@link words}, or 0 where none is drawn. */
  find(column: number, row: number): number {
    const at = this.#bucketOf(column, row);
    return this.#buckets[at] === 0 ? 0 : (this.#buckets[at + 2] as number);
  }

  /**
   * Counts a visit to a cell without a map, and draws it when it is time.
   *
   * @returns false when all maps had to be forgotten
   */
  visit(cells: CellTable, column: number, row: number, ask: Ask): boolean {
    let isKept = true;
    let at = this.#bucketOf(column, row);
    if (this.#buckets[at] === 0) {
      if (this.#count >= Math.max(MOST_CELLS, cells.size)) {
        this.#forgetAll();
        isKept = false;
      }
      if ((this.#count + 1) * 3 > (this.#mask + 1) * 2) this.#grow();
      at = this.#bucketOf(column, row);
      this.#buckets[at] = column + 1;
      this.#buckets[at + 1] = row;
      this.#count++;
    }
    const visits = ((this.#buckets[at + 3] as number) >>> CLASS_BITS) + 1;
    if (visits < VISITS_BEFORE_MAP) this.#buckets[at + 3] = visits << CLASS_BITS;
    else this.#draw(at, cells, column, row, ask);
    return isKept;
  }

  /** Drops the maps of all cells in a range of columns and rows. */
  drop(west: number, south: number, east: number, north: number): void {
    if ((east - west + 1) * (north - south + 1) <= this.#count) {
      for (let row = south; row <= north; row++)
        for (let column = west; column <= east; column++) this.#dropAt(this.#bucketOf(column, row));
      return;
    }
    for (let at = 0; at < this.#buckets.length; at += BUCKET) {
      const column = (this.#buckets[at] as number) - 1;
      const row = this.#buckets[at + 1] as number;
      if (column >= west && column <= east && row >= south && row <= north) this.#dropAt(at);
    }
  }

  #allocateClear(): number {
    const at = this.#pool.allocate(blockClassFor(FIELD_WORDS));
    this.#pool.words.fill(0x11111111, at, at + FIELD_WORDS);
    return at;
  }

  #forgetAll(): void {
    this.#buckets = new Int32Array(FEWEST_BUCKETS * BUCKET);
    this.#mask = FEWEST_BUCKETS - 1;
    this.#count = 0;
    this.#pool = new BlockPool();
    this.#allocateClear();
  }

  #dropAt(at: number): void {
    const map = this.#buckets[at + 2] as number;
    if (map !== 0) this.#pool.free(map, (this.#buckets[at + 3] as number) & ((1 << CLASS_BITS) - 1));
    this.#buckets[at + 2] = 0;
    this.#buckets[at + 3] = 0;
  }

  #draw(at: number, cells: CellTable, column: number, row: number, ask: Ask): void {
    const length = this.#drawer.draw(cells, column, row, ask);
    const blockClass = blockClassFor(length);
    const map = this.#pool.allocate(blockClass);
    const drawn = this.#drawer.words;
    const { words } = this.#pool;
    for (let i = 0; i < length; i++) words[map + i] = drawn[i] as number;
    this.#buckets[at + 2] = map;
    this.#buckets[at + 3] = blockClass;
  }

  /** Place of the cell's bucket, or of the empty one that would be its. */
  #bucketOf(column: number, row: number): number {
    const buckets = this.#buckets;
    const mask = this.#mask;
    let bucket = hashOf(column, row) & mask;
    for (;;) {
      const at = bucket * BUCKET;
      const found = buckets[at] as number;
      if (found === 0 || (found === column + 1 && buckets[at + 1] === row)) return at;
      bucket = (bucket + 1) & mask;
    }
  }

  #grow(): void {
    const old = this.#buckets;
    this.#buckets = new Int32Array(old.length * 2);
    this.#mask = this.#buckets.length / BUCKET - 1;
    for (let from = 0; from < old.length; from += BUCKET) {
      if (old[from] === 0) continue;
      const at = this.#bucketOf((old[from] as number) - 1, old[from + 1] as number);
      for (let i = 0; i < BUCKET; i++) this.#buckets[at + i] = old[from + i] as number;
    }
  }
}

function hashOf(column: number, row: number): number {
  const mixed = Math.imul(Math.imul(column, 0x9e3779b1) ^ row, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}
