import { type Clock, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { Logger } from './logger.ts';
import { type Poller, poller } from './poller.ts';

export interface WorkerOptions<T> {
  /** Name for log lines. */
  name: string;
  /** Maximum number of tasks in progress at a time. */
  atOnce: number;
  /** Leases at most `free` tasks; none if nothing is due. */
  lease(free: number): Promise<readonly T[]>;
  /**
   * Completes a task and settles it. If it rejects, the lease is left to expire.
   *
   * @param signal aborted when the worker stops: a task that heeds it is handed back; other tasks are awaited
   */
  run(task: T, signal: AbortSignal): Promise<unknown>;
  /** Extends the leases of all tasks in progress. Absent if tasks do that themselves. */
  renew?: { everyMs: number; leases(tasks: readonly T[]): Promise<unknown> };
  /** Fields of a task for log lines. */
  facts?(task: T): Readonly<Record<string, unknown>>;
  /** Polling interval for tasks that become due without a call that wakes the worker. */
  pollMs: number;
  /** See {@link poller}. */
  retryMs?: number;
  logger: Logger;
  clock?: Clock;
}

export interface Worker<T> extends Poller {
  /** Tasks in progress. */
  readonly running: ReadonlySet<T>;
}

/**
 * Processes a queue of leased tasks, a bounded number at a time. It leases due tasks and renews the leases while the
 * tasks run. It looks for more when a task ends, when it is woken, and at an interval. Stopping waits for running
 * tasks.
 */
export function worker<T>(options: WorkerOptions<T>): Worker<T> {
  const { name, atOnce, lease, run, renew, facts, pollMs, retryMs, logger, clock = SYSTEM_CLOCK } = options;
  const running = new Map<T, Promise<void>>();
  const stopping = new AbortController();
  let renewing: Timer | undefined;

  const polling = poller({
    name,
    everyMs: pollMs,
    ...(retryMs !== undefined && { retryMs }),
    logger,
    clock,
    async work(signal) {
      while (!signal.aborted && running.size < atOnce) {
        const leased = await lease(atOnce - running.size);
        if (leased.length === 0) return;
        for (const task of leased) begin(task);
      }
    },
  });

  function begin(task: T): void {
    const ended = Promise.try(run, task, stopping.signal)
      .catch((error) => {
        logger.error({ err: error, worker: name, ...facts?.(task) }, 'task failed');
      })
      .then(() => {
        running.delete(task);
        polling.wake();
      });
    running.set(task, ended);
  }

  function renewAll(): void {
    if (renew === undefined || running.size === 0) return;
    Promise.try(renew.leases, [...running.keys()]).catch((error) => {
      logger.warn({ err: error, worker: name, tasks: running.size }, 'leases not renewed; retrying');
    });
  }

  return {
    name,
    get healthy() {
      return polling.healthy;
    },
    get running() {
      return new Set(running.keys());
    },
    wake: polling.wake,
    async start() {
      await polling.start();
      if (renew !== undefined) renewing = clock.every(renew.everyMs, renewAll);
    },
    async stop() {
      stopping.abort();
      await polling.stop();
      await Promise.all(running.values());
      renewing?.cancel();
    },
  };
}
