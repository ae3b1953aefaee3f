import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceName, Spawned } from './distributed.fixture.ts';

/** Delay before a restart, as of an orchestrator. */
const STARTS_AGAIN_AFTER_MS = 500;

/**
 * A service whose process is started again whenever it ends, even if it was never ready, as by an orchestrator; until
 * `rest()`.
 */
export class RestartedService {
  readonly service: ServiceName;
  /** Duration of the fastest start. */
  fastestStartMs = Number.POSITIVE_INFINITY;
  readonly #spawn: () => Spawned;
  #current: Spawned;
  #isReady = false;
  #restarts = 0;
  #isResting = false;
  /** Output of processes that were never ready. */
  readonly #failedStarts: string[] = [];

  /** @param spawn starts its process, which has the same ports each time */
  constructor(service: ServiceName, spawn: () => Spawned) {
    this.service = service;
    this.#spawn = spawn;
    this.#current = this.#live();
  }

  /** Whether its present process is ready. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** The number of restarts. */
  restarts(): number {
    return this.#restarts;
  }

  /** Log lines of processes that were never ready, then those of the present one. */
  said(): string[] {
    return [...this.#failedStarts, ...this.#current.said().map((line) => JSON.stringify(line))];
  }

  /** Resolves when its present process is ready. @throws {Error} with its output when it ends before */
  async ready(): Promise<Spawned> {
    const spawned = this.#current;
    if ((await spawned.ready) === null) throw new Error(notStarted(spawned));
    return spawned;
  }

  /** Starts it again at once, without the delay, after its process has ended. */
  liveAgain(): void {
    this.#restarts++;
    this.#current = this.#live();
  }

  /** `kill -9` of its present process, in its start as well. */
  async kill(): Promise<void> {
    await this.#current.kill();
  }

  /** Stops its present process in order. @returns the exit code */
  terminate(): Promise<number | null> {
    return this.#current.terminate();
  }

  /** Stops the restarts. */
  rest(): void {
    this.#isResting = true;
  }

  #live(): Spawned {
    const begunMs = performance.now();
    const spawned = this.#spawn();
    this.#isReady = false;
    void spawned.ready.then((ports) => {
      if (ports === null) this.#failedStarts.push(notStarted(spawned));
      else if (this.#current === spawned) {
        this.#isReady = true;
        this.fastestStartMs = Math.min(this.fastestStartMs, performance.now() - begunMs);
      }
    });
    void spawned.ended.then(async () => {
      if (this.#current === spawned) this.#isReady = false;
      await wait(STARTS_AGAIN_AFTER_MS);
      if (this.#current === spawned && !this.#isResting) this.liveAgain();
    });
    return spawned;
  }
}

function notStarted({ service, stderrText }: Spawned): string {
  return `${service} did not start:\n${stderrText()}`;
}
