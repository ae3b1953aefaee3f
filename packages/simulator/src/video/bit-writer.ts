/** Writes bits, the highest first, as the payload of an H.264 unit. */
export class BitWriter {
  #bytes = Buffer.alloc(4096);
  #bit = 0;

  /** @param count at most 32 */
  bits(value: number, count: number): this {
    this.#reserve(count);
    for (let i = count - 1; i >= 0; i--) {
      if ((value >>> i) & 1)
        this.#bytes[this.#bit >> 3] = (this.#bytes[this.#bit >> 3] as number) | (0x80 >> (this.#bit & 7));
      this.#bit++;
    }
    return this;
  }

  /** An unsigned number in Exp-Golomb code (H.264, 9.1). */
  unsigned(value: number): this {
    const length = Math.floor(Math.log2(value + 1));
    return this.bits(0, length).bits(value + 1, length + 1);
  }

  /** A signed number in Exp-Golomb code. */
  signed(value: number): this {
    return this.unsigned(value > 0 ? 2 * value - 1 : -2 * value);
  }

  /** Adds zeros up to the next byte. */
  align(): this {
    this.#bit = (this.#bit + 7) & ~7;
    return this;
  }

  /** Writes whole bytes; allowed only at a byte boundary. */
  bytes(bytes: Uint8Array): this {
    if (this.#bit % 8 !== 0) throw new Error('not at the beginning of a byte');
    this.#reserve(8 * bytes.length);
    this.#bytes.set(bytes, this.#bit / 8);
    this.#bit += 8 * bytes.length;
    return this;
  }

  /** The payload with its stop bit. */
  end(): Buffer {
    this.bits(1, 1).align();
    return this.#bytes.subarray(0, this.#bit / 8);
  }

  #reserve(bits: number): void {
    const bytes = (this.#bit + bits + 7) >> 3;
    if (bytes + 1 <= this.#bytes.length) return;
    const grown = Buffer.alloc(Math.max(bytes + 1, 2 * this.#bytes.length));
    this.#bytes.copy(grown);
    this.#bytes = grown;
  }
}
