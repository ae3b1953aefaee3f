import { Session } from 'node:inspector';

const MOST_OF_TIME = 0.3;

/** Which blocks of some modules ran, as V8 counts them in this thread. */
export class Coverage {
  readonly #session = new Session();
  readonly #covers: readonly string[];
  readonly #seen = new Set<string>();
  readonly #begun = performance.now();
  #spentMs = 0;

  /** @param covers pieces of the modules' paths */
  constructor(covers: readonly string[]) {
    this.#covers = covers;
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  /** How many blocks are known to have run. */
  get blocks(): number {
    return this.#seen.size;
  }

  /**
   * False while asking has taken too much of the time: counts are read of all modules, and that is dear where there are
   * many.
   */
  get isAffordable(): boolean {
    return this.#spentMs < MOST_OF_TIME * (performance.now() - this.#begun);
  }

  /** @returns the blocks that ran since the last call and were not {@link know}n */
  fresh(): string[] {
    const fresh: string[] = [];
    const asked = performance.now();
    this.#session.post('Profiler.takePreciseCoverage', (_, taken) => {
      for (const { url, functions } of taken?.result ?? []) {
        if (!this.#covers.some((piece) => url.includes(piece))) continue;
        for (const { ranges } of functions)
          for (const { startOffset, endOffset, count } of ranges) {
            const block = `${url}:${startOffset}-${endOffset}`;
            if (count > 0 && !this.#seen.has(block)) fresh.push(block);
          }
      }
    });
    this.#spentMs += performance.now() - asked;
    return fresh;
  }

  know(blocks: readonly string[]): void {
    for (const block of blocks) this.#seen.add(block);
  }

  close(): void {
    this.#session.post('Profiler.stopPreciseCoverage');
    this.#session.disconnect();
  }
}
