import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import type { Logger } from './logger.ts';

/** A running component: a service, an adapter, a server. */
export interface Part {
  name: string;
  start(): Promise<void>;
  /** Finishes the current work and saves it. Called once, and only after `start` resolved. */
  stop(): Promise<void>;
  /** Rejects when the part can't go on; never resolves. */
  failed?: Promise<never>;
}

/** A part that warns the operator. */
export interface Watch extends Part {
  /** For `/health/ready`. */
  warnings(): readonly string[];
}

/** Time after which a slow start of a part is logged, and interval of further log lines. */
const SLOW_START_MS = 5000;

/**
 * Starts parts in the given order and stops them in reverse: sources start last and stop first. When a start fails, the
 * parts that had started are stopped again.
 */
export class Lifecycle {
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #started: Part[] = [];
  #stopping: Promise<void> | null = null;
  #fail: (error: unknown) => void = () => {};
  /** Rejects when a part fails; never resolves. */
  readonly failed: Promise<never>;

  constructor(log: Logger, clock: Clock = SYSTEM_CLOCK) {
    this.#log = log;
    this.#clock = clock;
    this.failed = new Promise((_, reject) => {
      this.#fail = reject;
    });
    // The caller awaits it later. Without this handler, an earlier failure would end the process as unhandled.
    this.failed.catch(() => {});
  }

  async start(part: Part): Promise<void> {
    try {
      await this.#waitFor(part.name, () => part.start());
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#started.push(part);
    part.failed?.catch((error) => {
      this.#log.fatal({ part: part.name, err: error }, 'failed');
      this.#fail(error);
    });
  }

  /** Opens a resource, and closes it in the order of the parts. */
  async open<T extends { close(): Promise<void> | void }>(name: string, open: () => Promise<T>): Promise<T> {
    const opened = await this.#waitFor(name, open);
    this.own(name, () => opened.close());
    return opened;
  }

  /** Adds an open resource, to be closed in the order of the parts. */
  own(name: string, close: () => Promise<void> | void): void {
    this.#started.push({ name, start: async () => {}, stop: async () => close() });
  }

  /** Stops everything once. A part that fails to stop is logged; the others are stopped all the same. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #waitFor<T>(part: string, work: () => Promise<T>): Promise<T> {
    const beganMs = this.#clock.steadyMs();
    const timer = this.#clock.every(SLOW_START_MS, () => {
      const seconds = Math.round((this.#clock.steadyMs() - beganMs) / 1000);
      this.#log.warn({ part, seconds }, 'waiting for a part to start');
    });
    try {
      return await work();
    } finally {
      timer.cancel();
    }
  }

  async #stopAll(): Promise<void> {
    const problems: unknown[] = [];
    for (const part of this.#started.toReversed()) {
      try {
        await part.stop();
        this.#log.debug({ part: part.name }, 'stopped');
      } catch (error) {
        this.#log.error({ part: part.name, err: error }, 'did not stop cleanly');
        problems.push(error);
      }
    }
    if (problems.length > 0) throw new AggregateError(problems, 'some parts did not stop cleanly');
  }
}
