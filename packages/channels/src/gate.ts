/** Lets a bounded number in at once; a bounded number more may wait, in the order of their coming. */
export interface Gate {
  /** True once the caller is in, and must `leave`; false at once where too many wait already. */
  enter(): Promise<boolean>;
  leave(): void;
  /** Resolves when nobody is in or waiting. */
  empty(): Promise<void>;
}

/**
 * @param atOnce how many may be in at the same time, at least 1
 * @param maxWaiting how many more may wait
 */
export function createGate(atOnce: number, maxWaiting: number): Gate {
  const waiting: (() => void)[] = [];
  const watchers: (() => void)[] = [];
  let inside = 0;

  return {
    async enter() {
      if (inside < atOnce) {
        inside++;
        return true;
      }
      if (waiting.length >= maxWaiting) return false;
      await new Promise<void>((resolve) => waiting.push(resolve));
      return true;
    },
    leave() {
      const next = waiting.shift();
      // The place passes on without becoming free in between.
      if (next) return next();
      inside--;
      if (inside === 0) for (const resolve of watchers.splice(0)) resolve();
    },
    async empty() {
      if (inside > 0) await new Promise<void>((resolve) => watchers.push(resolve));
    },
  };
}
