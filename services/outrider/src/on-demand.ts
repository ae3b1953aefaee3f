import type { Clock } from '@outrider/domain';
import { type Logger, type MetricsSnapshot, NotReadyError, poller, summedCounts } from '@outrider/runtime';
import type { ThreadOfService } from './threads.ts';

export interface OnDemandParts {
  name: string;
  /** Names of the service's checks, which pass while it does not run. */
  checks: readonly string[];
  /** Time of the next work in Unix milliseconds; null if no work is known. */
  nextWorkMs(): Promise<number | null>;
  /** Creates the thread for one run of the service. */
  createThread(): ThreadOfService;
  logger: Logger;
  clock: Clock;
}

const LOOK_EVERY_MS = 1000;
/** Idle time before the thread is stopped. Starting a thread for each report would cost more. */
const KEPT_MS = 15 * 60_000;

/**
 * A service whose thread runs while there is work for it, and for a quarter of an hour after. The loaded modules take
 * some 45 MB. If the thread can't be started, its checks fail and the start is retried.
 */
export function threadOnDemand(parts: OnDemandParts): ThreadOfService {
  const { name, checks, nextWorkMs, createThread, logger, clock } = parts;
  let thread: ThreadOfService | null = null;
  let neededUntilMs = 0;
  let cannotStart = false;
  /** Counters of stopped threads. */
  let counted: MetricsSnapshot = [];
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  async function begin(): Promise<void> {
    const begun = createThread();
    try {
      await begun.start();
    } catch (error) {
      cannotStart = true;
      throw error;
    }
    cannotStart = false;
    begun.failed?.catch(fail);
    thread = begun;
    logger.debug({ thread: name }, 'started: there is work for it');
  }

  async function end(): Promise<void> {
    const ending = thread;
    if (ending === null) return;
    // The thread is idle, so its counters are final.
    counted = await summedCounts([counted, await ending.metrics()]);
    thread = null;
    await ending.stop();
    logger.debug({ thread: name }, 'ended: there was no work for it');
  }

  const looking = poller({
    name: `${name} on demand`,
    everyMs: LOOK_EVERY_MS,
    logger,
    clock,
    async work() {
      const atMs = await nextWorkMs();
      const nowMs = clock.now();
      // A running task becomes due again when its lease lapses.
      if (atMs !== null && atMs <= nowMs + (thread === null ? 0 : KEPT_MS)) neededUntilMs = nowMs + KEPT_MS;
      if (thread === null && nowMs < neededUntilMs) await begin();
      else if (thread !== null && nowMs >= neededUntilMs) await end();
    },
  });

  return {
    name,
    failed,
    start: looking.start,
    async stop() {
      await looking.stop();
      await thread?.stop();
    },
    started: () => ({ checks }),
    metrics: async () => [...counted, ...((await thread?.metrics()) ?? [])],
    async check(check) {
      if (cannotStart) throw new NotReadyError('its thread can not be started', []);
      return thread?.check(check);
    },
  };
}
