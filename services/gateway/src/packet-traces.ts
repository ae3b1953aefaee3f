import { PacketTrace } from '@outrider/domain';

/**
 * Odd, so that different counts stay different; and spread over all bits, so that a share of the ids is a share of any
 * packets.
 */
const SPREAD = 0x9e3779b1;
const COUNTS = 2 ** 32;

/**
 * Gives each packet a unique id over all gateways and runs: 96 random bits, drawn when a gateway starts, and a count. A
 * packet costs neither random numbers nor strings.
 */
export class PacketTraces {
  readonly #drawWord: () => number;
  #a = 0;
  #b = 0;
  #c = 0;
  #count = COUNTS;

  /** @param drawWord 32 random bits, as whatever integer */
  constructor(drawWord: () => number) {
    this.#drawWord = drawWord;
  }

  next(): PacketTrace {
    if (this.#count === COUNTS) {
      this.#a = this.#drawWord() | 0;
      this.#b = this.#drawWord() | 0;
      // An id must not be all zero.
      this.#c = this.#drawWord() | 1;
      this.#count = 0;
    }
    return new PacketTrace(this.#a, this.#b, this.#c, Math.imul(this.#count++, SPREAD));
  }
}
