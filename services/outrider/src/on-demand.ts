import type { Clock } from '@outrider/domain';
import { type Logger, type MetricsSnapshot, NotReadyError, poller, summedCounts } from '@outrider/runtime';
import type { ThreadOfService } from './threads.ts';

export interface OnDemandParts {
  name: string;
  /** Names of its checks, which pass while it does not run. */
  checks: readonly string[];
  /** When there is work for it, Unix milliseconds; null: none is known of. */
  nextWorkMs(): Promise<number | null>;
  /** Makes the thread, for one run of it. */
  createThread(): ThreadOfService;
  logger: Logger;
  clock: Clock;
}

const LOOK_EVERY_MS = 1000;
/** A thread that is started for each report would take more than one that waits for the next. */
const KEPT_MS = 15 * 60_000;

/**
 * A service whose thread runs while there is work for it, and for a quarter of an hour after: what it has loaded takes
 * some 45 MB. Where the thread can't be started, its checks say so, and it is tried again.
 */
export function threadOnDemand(parts: OnDemandParts): ThreadOfService {
  const { name, checks, nextWorkMs, createThread, logger, clock } = parts;
  let thread: ThreadOfService | null = null;
  let neededUntilMs = 0;
  let cannotStart = false;
  /** Of the threads that have ended. */
  let counted: MetricsSnapshot = [];
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  async function begin(): Promise<void> {
    const begun = createThread();
    cannotStart = true;
    await begun.start();
    cannotStart = false;
    begun.failed?.catch(fail);
    thread = begun;
    logger.debug({ thread: name }, 'started: there is work for it');
  }

  async function end(): Promise<void> {
    const ending = thread;
    if (ending === null) return;
    // It does nothing now: what it has counted is all that it will.
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
      // What it does now is due again when its lease lapses.
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
