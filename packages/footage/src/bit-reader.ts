/** Reads bits of a unit's payload, without its emulation prevention bytes. Past the end it reads zeros. */
export class BitReader {
  readonly #bytes: Uint8Array;
  #bit = 0;

  /** @param from the first byte of the payload */
  constructor(unit: Uint8Array, from: number) {
    const plain = new Uint8Array(unit.length - Math.min(from, unit.length));
    let length = 0;
    let zeros = 0;
    for (let i = from; i < unit.length; i++) {
      const byte = unit[i] as number;
      if (zeros >= 2 && byte === 3) {
        zeros = 0;
        continue;
      }
      zeros = byte === 0 ? zeros + 1 : 0;
      plain[length++] = byte;
    }
    this.#bytes = plain.subarray(0, length);
  }

  /** Whether more bits were read than exist. */
  get exhausted(): boolean {
    return this.#bit > 8 * this.#bytes.length;
  }

  /** @param count 32 at most */
  bits(count: number): number {
    let value = 0;
    for (let i = 0; i < count; i++) {
      const byte = this.#bytes[this.#bit >> 3] ?? 0;
      value = value * 2 + ((byte >> (7 - (this.#bit & 7))) & 1);
      this.#bit++;
    }
    return value;
  }

  flag(): boolean {
    return this.bits(1) === 1;
  }

  skip(count: number): void {
    this.#bit += count;
  }

  /** An unsigned number of the Exp-Golomb code. */
  unsigned(): number {
    let zeros = 0;
    while (zeros < 32 && !this.exhausted && !this.flag()) zeros++;
    return 2 ** zeros - 1 + this.bits(zeros);
  }

  /** A signed number of the Exp-Golomb code. */
  signed(): number {
    const code = this.unsigned();
    return code % 2 === 0 ? -code / 2 : (code + 1) / 2;
  }
}
