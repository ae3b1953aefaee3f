import { setTimeout as wait } from 'node:timers/promises';
import type { ServiceName, Spawned } from './distributed.fixture.ts';

/** An orchestrator waits for so long before it starts one again that ended. */
const STARTS_AGAIN_AFTER_MS = 500;

/**
 * A service that is started again, as an orchestrator does, whenever its process ends, however it ends and even where
 * it never came up; until it rests.
 */
export class RestartedService {
  readonly service: ServiceName;
  /** From the begin of the fastest start so far to its end. */
  fastestStartMs = Number.POSITIVE_INFINITY;
  readonly #spawn: () => Spawned;
  #current: Spawned;
  #isReady = false;
  #restarts = 0;
  #isResting = false;
  /** What those said that did not come up. */
  readonly #failedStarts: string[] = [];

  /** @param spawn begins to start its process, which has the same ports each time */
  constructor(service: ServiceName, spawn: () => Spawned) {
    this.service = service;
    this.#spawn = spawn;
    this.#current = this.#live();
  }

  /** Whether its present process works. */
  get isReady(): boolean {
    return this.#isReady;
  }

  /** How often it was started again. */
  restarts(): number {
    return this.#restarts;
  }

  /** What its present process said, behind what those said that did not come up. */
  said(): string[] {
    return [...this.#failedStarts, ...this.#current.said().map((line) => JSON.stringify(line))];
  }

  /** Resolves when its present process works. @throws {Error} with all that this said when it ends before */
  async ready(): Promise<Spawned> {
    const spawned = this.#current;
    if ((await spawned.ready) === null) throw new Error(notStarted(spawned));
    return spawned;
  }

  /** Starts it again now, where its process has ended and it would be started again in a moment. */
  liveAgain(): void {
    this.#restarts++;
    this.#current = this.#live();
  }

  /** `kill -9` of its present process, in its start as well. */
  async kill(): Promise<void> {
    await this.#current.kill();
  }

  /** Ends its present process in order. @returns the exit code */
  terminate(): Promise<number | null> {
    return this.#current.terminate();
  }

  /** It is not started again any more. */
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
