import type { LowCardinalityValues } from '../native/columns.ts';

/** Number of cached vehicles; a power of two. On a collision the later vehicle replaces the earlier. */
const PLACES = 16_384;
const words = new Uint32Array(PLACES * 4);
/** Terminal id of each vehicle in its latest packets: ASCII. */
const terminalIds: string[] = new Array(PLACES).fill('');
/** The column in which each was indexed last, and its index there. */
const columns = new Uint32Array(PLACES);
const indexes = new Uint32Array(PLACES);
let lastColumn = 0;

/**
 * Indexes of terminals in a column of their ids. Caches the terminal of each vehicle, so that its text is neither
 * decoded nor looked up again.
 */
export class TerminalIndexes {
  readonly #values: LowCardinalityValues;
  readonly #column: number;

  constructor(values: LowCardinalityValues) {
    this.#values = values;
    lastColumn = (lastColumn + 1) >>> 0;
    this.#column = lastColumn;
  }

  /**
   * @param vehicle the four words of its id
   * @param source has the terminal's id, as UTF-8 in `from` to `to`
   */
  index(vehicle: Uint32Array, source: Buffer, from: number, to: number): number {
    const [a, b, c, d] = [vehicle[0] ?? 0, vehicle[1] ?? 0, vehicle[2] ?? 0, vehicle[3] ?? 0];
    const hash = Math.imul(a ^ b ^ Math.imul(c, 31) ^ d, 0x9e3779b1);
    const place = hash >>> 18;
    const at = place * 4;
    const isSame = words[at] === a && words[at + 1] === b && words[at + 2] === c && words[at + 3] === d;
    if (!isSame || !isText(terminalIds[place] ?? '', source, from, to)) {
      const text = source.toString('utf8', from, to);
      // For text that is not ASCII the bytes differ from the characters.
      if (!isText(text, source, from, to)) return this.#values.index(text);
      words.set(vehicle, at);
      terminalIds[place] = text;
      columns[place] = 0;
    }
    if (columns[place] !== this.#column) {
      columns[place] = this.#column;
      indexes[place] = this.#values.index(terminalIds[place] ?? '');
    }
    return indexes[place] ?? 0;
  }
}

/** Whether bytes equal a text of ASCII. */
function isText(text: string, source: Buffer, from: number, to: number): boolean {
  const length = to - from;
  if (text.length !== length) return false;
  let i = 0;
  while (i < length && text.charCodeAt(i) === source[from + i]) i++;
  return i === length;
}
