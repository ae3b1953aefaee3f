/**
 * A seeded pseudo-random generator: the same seed gives the same numbers, so that a simulated day can be reproduced.
 */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform in [from, to). */
  between(from: number, to: number): number;
  /** Normal, mean 0, standard deviation 1. */
  gauss(): number;
  /** A random element of the list. @throws {RangeError} when the list is empty */
  pick<T>(list: readonly T[]): T;
  /** The seed of a generator that continues from this one's current state. */
  readonly state: number;
}

/**
 * Mulberry32: 32 bits of state are plenty for a demo, and it is one line.
 *
 * @param seed any whole number
 */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  return {
    next,
    get state() {
      return state;
    },
    between: (from, to) => from + (to - from) * next(),
    gauss: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
    pick(list) {
      const picked = list[Math.floor(next() * list.length)];
      if (picked === undefined) throw new RangeError('nothing to pick from');
      return picked;
    },
  };
}
