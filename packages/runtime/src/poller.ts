import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import type { Part } from './lifecycle.ts';
import type { Logger } from './logger.ts';

export interface PollerOptions {
  /** Name for log lines. */
  name: string;
  /** One round. Resolves to true if more work may be due at once. */
  work(signal: AbortSignal): Promise<unknown>;
  /** Pause after a round. */
  everyMs: number;
  /**
   * Maximum pause after failed rounds: each pause is twice the one before. Default 5000, or `everyMs` if that is
   * longer.
   */
  retryMs?: number;
  logger: Logger;
  clock?: Clock;
}

export interface Poller extends Part {
  /** False while rounds fail. */
  readonly healthy: boolean;
  /** Begins a round at once, unless rounds fail. */
  wake(): void;
}

/** Runs rounds of work until it is stopped: when it is woken, and at an interval. */
export function poller(options: PollerOptions): Poller {
  const { name, work, everyMs, retryMs = 5000, logger, clock = SYSTEM_CLOCK } = options;
  const stopping = new AbortController();
  let running: Promise<void> = Promise.resolve();
  let failures = 0;
  let isAwake = false;
  let endPause: () => void = () => {};

  async function round(): Promise<void> {
    isAwake = false;
    try {
      if ((await work(stopping.signal)) === true) isAwake = true;
      if (failures > 0) logger.info({ worker: name, failures }, 'worker recovered');
      failures = 0;
    } catch (error) {
      if (stopping.signal.aborted) return;
      if (failures === 0) logger.error({ err: error, worker: name }, 'worker failed; retrying');
      failures += 1;
    }
  }

  function pause(): Promise<void> {
    const longestMs = Math.max(everyMs, retryMs);
    const ms = failures > 1 ? Math.min(everyMs * 2 ** (failures - 1), longestMs) : everyMs;
    return new Promise((resolve) => {
      const timer = clock.after(ms, resolve);
      endPause = () => {
        timer.cancel();
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await round();
      if (!stopping.signal.aborted && (failures > 0 || !isAwake)) await pause();
    }
  }

  return {
    name,
    get healthy() {
      return failures === 0;
    },
    wake() {
      isAwake = true;
      if (failures === 0) endPause();
    },
    async start() {
      running = run();
    },
    async stop() {
      stopping.abort();
      endPause();
      await running;
    },
  };
}

/** Combines a part with others that start after it and stop with it. It is healthy while the main part is. */
export function jointPart(main: Poller, ...others: readonly Part[]): Poller {
  const parts = [main, ...others];
  return {
    name: main.name,
    get healthy() {
      return main.healthy;
    },
    wake: main.wake,
    async start() {
      for (const part of parts) await part.start();
    },
    async stop() {
      await Promise.all(parts.map((part) => part.stop()));
    },
  };
}
