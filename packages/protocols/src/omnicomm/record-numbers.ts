/** A terminal that goes on without going back for so many records has not what is missing. */
const MAX_AHEAD = 64;

/** What to do with a record. */
export interface RecordFate {
  /** It was stored on this connection before. */
  isRepeated: boolean;
  /** All records before this number may be deleted by the terminal; null: none yet. */
  confirmed: number | null;
  /** The terminal is to send its archive from this record on; null: it goes on as it does. */
  askedFrom: number | null;
}

/** How far `to` is after `from`, counted as the 32 bits of a record's number do. */
function distance(from: number, to: number): number {
  return (to - from) >>> 0;
}

/** Beyond this it is no gap: the terminal counts anew. */
const HALF = 0x8000_0000;

/**
 * Watches the numbers of the records of one connection. A confirmation allows the terminal to delete all records before
 * it, so behind a gap none is confirmed: the terminal is asked for the missing records once. What it goes on to send is
 * stored and remembered. The gap ends when the terminal sends the missing records, or any of the remembered ones again
 * (then it went back and has nothing older), or {@link MAX_AHEAD} records without going back.
 */
export class RecordNumbers {
  /** The number after the last one without a gap; null before the first record. */
  #expected: number | null = null;
  /** Stored behind the gap, from this number up to before the other. */
  #ahead: { from: number; to: number } | null = null;
  /** What was stored behind the last gap: the terminal may be sending it again. */
  #stored: { from: number; to: number } | null = null;

  take(number: number): RecordFate {
    const next = (number + 1) >>> 0;
    const expected = this.#expected;
    if (expected === null || number === expected) return this.#confirm(next);
    if (isWithin(this.#stored, number)) return { isRepeated: true, confirmed: expected, askedFrom: null };
    // From before: sent again since its confirmation was lost, or counted anew.
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
    // One of the missing records: those before it are not there any more.
    if (distance(expected, number) < distance(expected, ahead.from)) return this.#confirm(next);
    // Further on: the terminal has not gone back yet, or will not.
    if (number === ahead.to && distance(ahead.from, next) < MAX_AHEAD) {
      ahead.to = next;
      return { isRepeated: false, confirmed: null, askedFrom: null };
    }
    this.#ahead = null;
    return this.#confirm(next);
  }

  /** @param number of the first record that is not there */
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
