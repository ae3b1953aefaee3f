/** Number of words of a block of a class: 4, 6, 8, 12, 16, 24, 32, … */
export function blockLength(blockClass: number): number {
  return (2 + (blockClass & 1)) << ((blockClass >> 1) + 1);
}

/** The smallest class whose blocks hold so many words. */
export function blockClassFor(length: number): number {
  let blockClass = 0;
  while (blockLength(blockClass) < length) blockClass++;
  return blockClass;
}

/** Classes up to blocks of 2^29 words: more than a pool can have. */
const CLASSES = 56;

/**
 * Blocks of 32-bit words in one array that grows. A freed block is given out again to the next who wants one of its
 * class; nothing is ever moved, so that a place names a block for as long as it lives. Blocks begin and end at
 * multiples of 8 bytes.
 */
export class BlockPool {
  /** Replaced by a longer one when it is full: read it anew after each allocation. */
  words: Int32Array<ArrayBuffer>;
  /** The same memory as doubles: the one at word `w` is number `w / 2`. */
  doubles: Float64Array<ArrayBuffer>;
  /** For each class the first free block, or 0; a free block's first word names the next one. */
  readonly #free = new Int32Array(CLASSES);
  /** Starts at 2: a place of 0 means none, and all places are even. */
  #top = 2;

  constructor() {
    this.words = new Int32Array(256);
    this.doubles = new Float64Array(this.words.buffer);
  }

  /** Place (word) of a block of the class; what it holds is undefined. */
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

  /** Gives a block back; it must be of the class it was allocated with. */
  free(at: number, blockClass: number): void {
    this.words[at] = this.#free[blockClass] as number;
    this.#free[blockClass] = at;
  }
}
