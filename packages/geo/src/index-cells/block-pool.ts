/** Number of words in a block of a size class: 4, 6, 8, 12, 16, 24, 32, … */
export function blockLength(blockClass: number): number {
  return (2 + (blockClass & 1)) << ((blockClass >> 1) + 1);
}

/** The smallest size class whose blocks hold this many words. */
export function blockClassFor(length: number): number {
  let blockClass = 0;
  while (blockLength(blockClass) < length) blockClass++;
  return blockClass;
}

/** Number of size classes, up to blocks of 2^29 words: larger than any pool. */
const CLASSES = 56;

/**
 * Pool allocator for blocks of 32-bit words in one growing array. A freed block is reused for the next allocation of
 * its size class. Blocks are never moved, so that an offset is valid for the lifetime of its block. Blocks begin and
 * end at multiples of 8 bytes.
 */
export class BlockPool {
  /** Replaced by a longer array when it is full: read this field again after each allocation. */
  words: Int32Array<ArrayBuffer>;
  /** The same memory as doubles: the double at word `w` has index `w / 2`. */
  doubles: Float64Array<ArrayBuffer>;
  /** First free block of each class, or 0. The first word of a free block links to the next one. */
  readonly #free = new Int32Array(CLASSES);
  /** Starts at 2: an offset of 0 means none, and all offsets are even. */
  #top = 2;

  constructor() {
    this.words = new Int32Array(256);
    this.doubles = new Float64Array(this.words.buffer);
  }

  /** Allocates a block of the class and returns its offset in words; its content is undefined. */
  allocate(blockClass: number): number {
    const freed = this.#free[blockClass] as number;
    if (freed !== 0) {
      this.#free[blockClass] = this.words[freed] as number;
      return freed;
    }
    const at = this.#top;
    this.#top += blockLength(blockClass);
    if (this.#top > this.words.length) {
      const longer = new Int32Array(2 * Math.max(this.#top / 2, Math.ceil(this.words.length * 0.75)));
      longer.set(this.words);
      this.words = longer;
      this.doubles = new Float64Array(longer.buffer);
    }
    return at;
  }

  /** Frees a block; the class must be that of its allocation. */
  free(at: number, blockClass: number): void {
    this.words[at] = this.#free[blockClass] as number;
    this.#free[blockClass] = at;
  }
}
