import { BlockPool, blockClassFor, blockLength } from './block-pool.ts';
import { entryLength } from './entry.ts';
import { LEVELS } from './grid.ts';

/**
 * Number of words in a bucket: column with level, row, offset of the cell's block (0: empty bucket), words used * 64 +
 * block class.
 */
const BUCKET = 4;
const CLASS_BITS = 6;
const FEWEST_BUCKETS = 64;

/** A column and its level in one word: columns have 20 bits. */
function columnWord(level: number, column: number): number {
  return column | (level << 24);
}

function hashOf(columnAndLevel: number, row: number): number {
  const mixed = Math.imul(Math.imul(columnAndLevel, 0x9e3779b1) ^ row, 0x85ebca6b);
  return mixed ^ (mixed >>> 15);
}

/** Hash table with open addressing from non-empty cells (level, column, row) to their entries. */
export class CellTable {
  /** Number of cells on each level, so that empty levels can be skipped. */
  readonly levelCells = new Int32Array(LEVELS);
  /** Memory of the entries. */
  readonly pool = new BlockPool();
  #buckets = new Int32Array(FEWEST_BUCKETS * BUCKET);
  #mask = FEWEST_BUCKETS - 1;
  #count = 0;

  /** Number of non-empty cells. */
  get size(): number {
    return this.#count;
  }

  get byteLength(): number {
    return this.#buckets.byteLength + this.pool.words.byteLength + this.levelCells.byteLength;
  }

  /** Index of the cell's bucket, or -1 where the cell is empty; for {@link entriesAt} and {@link usedAt}. */
  find(level: number, column: number, row: number): number {
    const buckets = this.#buckets;
    const mask = this.#mask;
    const word = columnWord(level, column);
    let bucket = hashOf(word, row) & mask;
    for (;;) {
      const at = bucket * BUCKET;
      if (buckets[at + 2] === 0) return -1;
      if (buckets[at] === word && buckets[at + 1] === row) return at;
      bucket = (bucket + 1) & mask;
    }
  }

  /** Offset of the cell's first entry in the pool. */
  entriesAt(at: number): number {
    return this.#buckets[at + 2] as number;
  }

  /** Number of words of all entries of the cell. */
  usedAt(at: number): number {
    return (this.#buckets[at + 3] as number) >>> CLASS_BITS;
  }

  /** Adds an entry, given as the first `length` words of `entry`, to a cell. */
  add(level: number, column: number, row: number, entry: Int32Array, length: number): void {
    let at = this.find(level, column, row);
    if (at < 0) at = this.#insert(level, column, row, blockClassFor(length));
    const state = this.#buckets[at + 3] as number;
    const used = state >>> CLASS_BITS;
    let blockClass = state & ((1 << CLASS_BITS) - 1);
    let block = this.#buckets[at + 2] as number;
    if (used + length > blockLength(blockClass)) {
      const larger = blockClassFor(used + length);
      const moved = this.pool.allocate(larger);
      this.pool.words.copyWithin(moved, block, block + used);
      this.pool.free(block, blockClass);
      block = moved;
      blockClass = larger;
      this.#buckets[at + 2] = block;
    }
    const words = this.pool.words;
    for (let i = 0; i < length; i++) words[block + used + i] = entry[i] as number;
    this.#buckets[at + 3] = ((used + length) << CLASS_BITS) | blockClass;
  }

  /** Removes all entries of a slot from a cell. A cell without entries is removed. */
  remove(level: number, column: number, row: number, slot: number): void {
    const at = this.find(level, column, row);
    if (at < 0) return;
    const words = this.pool.words;
    const block = this.entriesAt(at);
    const state = this.#buckets[at + 3] as number;
    const blockClass = state & ((1 << CLASS_BITS) - 1);
    let used = state >>> CLASS_BITS;
    let i = 0;
    while (i < used) {
      const length = entryLength(words, block + i);
      if ((words[block + i] as number) >>> 2 === slot) {
        words.copyWithin(block + i, block + i + length, block + used);
        used -= length;
      } else i += length;
    }
    if (used > 0) {
      this.#buckets[at + 3] = (used << CLASS_BITS) | blockClass;
      return;
    }
    this.pool.free(block, blockClass);
    this.levelCells[level] = (this.levelCells[level] as number) - 1;
    this.#empty(at / BUCKET);
  }

  /** Inserts a cell with an empty block; returns the index of its bucket. */
  #insert(level: number, column: number, row: number, blockClass: number): number {
    if ((this.#count + 1) * 3 > (this.#mask + 1) * 2) this.#grow();
    const word = columnWord(level, column);
    let bucket = hashOf(word, row) & this.#mask;
    while (this.#buckets[bucket * BUCKET + 2] !== 0) bucket = (bucket + 1) & this.#mask;
    const at = bucket * BUCKET;
    this.#buckets[at] = word;
    this.#buckets[at + 1] = row;
    this.#buckets[at + 2] = this.pool.allocate(blockClass);
    this.#buckets[at + 3] = blockClass;
    this.#count++;
    this.levelCells[level] = (this.levelCells[level] as number) + 1;
    return at;
  }

  #grow(): void {
    const old = this.#buckets;
    this.#buckets = new Int32Array(old.length * 2);
    this.#mask = this.#buckets.length / BUCKET - 1;
    for (let from = 0; from < old.length; from += BUCKET) {
      if (old[from + 2] === 0) continue;
      let bucket = hashOf(old[from] as number, old[from + 1] as number) & this.#mask;
      while (this.#buckets[bucket * BUCKET + 2] !== 0) bucket = (bucket + 1) & this.#mask;
      for (let i = 0; i < BUCKET; i++) this.#buckets[bucket * BUCKET + i] = old[from + i] as number;
    }
  }

  /** Empties a bucket, and moves following ones up so that each can still be found from its hash. */
  #empty(bucket: number): void {
    const buckets = this.#buckets;
    const mask = this.#mask;
    let hole = bucket;
    let next = (hole + 1) & mask;
    while (buckets[next * BUCKET + 2] !== 0) {
      const home = hashOf(buckets[next * BUCKET] as number, buckets[next * BUCKET + 1] as number) & mask;
      if (((next - home) & mask) >= ((next - hole) & mask)) {
        buckets.copyWithin(hole * BUCKET, next * BUCKET, next * BUCKET + BUCKET);
        hole = next;
      }
      next = (next + 1) & mask;
    }
    buckets.fill(0, hole * BUCKET, hole * BUCKET + BUCKET);
    this.#count--;
  }
}
