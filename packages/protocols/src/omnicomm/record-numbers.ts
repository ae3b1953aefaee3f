/** A terminal that sends this many further records without going back does not have the missing ones. */
const MAX_AHEAD = 64;

/** How a record is to be handled. */
export interface RecordFate {
  /** Whether the record was already stored on this connection. */
  isRepeated: boolean;
  /** The terminal may delete all records before this number; null where none is confirmed yet. */
  confirmed: number | null;
  /** Number from which the terminal is to send its archive; null where it continues as it does. */
  askedFrom: number | null;
}

/** Distance from `from` forward to `to`, in 32-bit record numbers. */
function distance(from: number, to: number): number {
  return (to - from) >>> 0;
}

/** Greater distances are not a gap: the terminal has restarted its numbers. */
const HALF = 0x8000_0000;

/**
 * Tracks the record numbers of one connection. A confirmation allows the terminal to delete all records before it, so
 * no record after a gap is confirmed. Instead, the terminal is asked for the missing records once, and the records that
 * it continues to send are stored and remembered.
 *
 * The gap ends when the terminal sends the missing records, or {@link MAX_AHEAD} records without going back. It also
 * ends when the terminal repeats a remembered record: then it went back and has nothing older.
 */
export class RecordNumbers {
  /** The number after the last one without a gap; null before the first record. */
  #expected: number | null = null;
  /** Records stored after the gap, from `from` up to but excluding `to`. */
  #ahead: { from: number; to: number } | null = null;
  /** Records stored after the last gap, which the terminal may be sending again. */
  #stored: { from: number; to: number } | null = null;

  take(number: number): RecordFate {
    const next = (number + 1) >>> 0;
    const expected = this.#expected;
    if (expected === null || number === expected) return this.#confirm(next);
    if (isWithin(this.#stored, number)) return { isRepeated: true, confirmed: expected, askedFrom: null };
    // An earlier number: repeated because its confirmation was lost, or the numbers were restarted.
    if (distance(expected, number) >= HALF) {
      this.#ahead = null;
      return this.#confirm(next);
    }
    const ahead = this.#ahead;
    if (ahead === null) {
      this.#ahead = { from: number, to: next };
      return { isRepeated: false, confirmed: null, askedFrom: expected };
    }
    if (isWithin(ahead, number)) {
      this.#confirm(ahead.from);
      return { isRepeated: true, confirmed: this.#expected, askedFrom: null };
    }
    // One of the missing records: those before it no longer exist.
    if (distance(expected, number) < distance(expected, ahead.from)) return this.#confirm(next);
    // A later record: the terminal has not gone back yet, or will not.
    if (number === ahead.to && distance(ahead.from, next) < MAX_AHEAD) {
      ahead.to = next;
      return { isRepeated: false, confirmed: null, askedFrom: null };
    }
    this.#ahead = null;
    return this.#confirm(next);
  }

  /** @param number of the first record that is missing */
  #confirm(number: number): RecordFate {
    this.#expected = number;
    this.#stored = null;
    if (this.#ahead?.from === number) {
      this.#stored = this.#ahead;
      this.#expected = this.#ahead.to;
      this.#ahead = null;
    }
    return { isRepeated: false, confirmed: this.#expected, askedFrom: null };
  }
}

function isWithin(range: { from: number; to: number } | null, number: number): boolean {
  return range !== null && distance(range.from, number) < distance(range.from, range.to);
}
