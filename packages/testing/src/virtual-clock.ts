import { setImmediate as nextTurn } from 'node:timers/promises';
import { Clock, SYSTEM_CLOCK, type Timer } from '@outrider/domain';

interface Waiting {
  dueMs: number;
  /** Interval of a repeated task; null for a single one. */
  everyMs: number | null;
  task: () => void;
}

/** A clock that advances only when a test advances it. Wall clock and steady clock start at the same time. */
export class VirtualClock extends Clock {
  #steadyMs: number;
  /** How far the wall clock was set forward. */
  #aheadMs = 0;
  /** In the order in which the timers were set. */
  readonly #waiting = new Set<Waiting>();

  /** @param startMs Unix milliseconds */
  constructor(startMs = Date.UTC(2026, 0, 1)) {
    super();
    this.#steadyMs = startMs;
  }

  override readonly now = (): number => this.#steadyMs + this.#aheadMs;
  override readonly steadyMs = (): number => this.#steadyMs;

  override after(ms: number, task: () => void): Timer {
    return this.#set({ dueMs: this.#steadyMs + Math.max(0, ms), everyMs: null, task });
  }

  override every(ms: number, task: () => void): Timer {
    return this.#set({ dueMs: this.#steadyMs + Math.max(1, ms), everyMs: Math.max(1, ms), task });
  }

  #set(waiting: Waiting): Timer {
    this.#waiting.add(waiting);
    const timer: Timer = { cancel: () => void this.#waiting.delete(waiting), unref: () => timer };
    return timer;
  }

  /** Number of pending timers. */
  get timers(): number {
    return this.#waiting.size;
  }

  /** Sets the wall clock forward, or back where `byMs` is negative. Timers are not affected. */
  setForward(byMs: number): void {
    this.#aheadMs += byMs;
  }

  /**
   * Advances time and runs due tasks, each at its own time. After each task, its consequences get a turn of the event
   * loop. Work that waits for more than promises and `setImmediate` (a file, a socket) may finish later.
   */
  async advance(ms: number): Promise<void> {
    const untilMs = this.#steadyMs + ms;
    await settled();
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#steadyMs = Math.max(this.#steadyMs, next.dueMs);
      if (next.everyMs === null) this.#waiting.delete(next);
      else next.dueMs += next.everyMs;
      next.task();
      await settled();
    }
    this.#steadyMs = untilMs;
  }

  /** The earliest due timer; of several, the one that was set first. */
  #next(untilMs: number): Waiting | undefined {
    let next: Waiting | undefined;
    for (const waiting of this.#waiting)
      if (waiting.dueMs <= untilMs && (next === undefined || waiting.dueMs < next.dueMs)) next = waiting;
    return next;
  }
}

/** Waits for promises, and for callbacks that they schedule for the next turn of the event loop. */
async function settled(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** The system's timers with a wall clock of the test, for code that waits for real files and sockets. */
export function clockAt(now: () => number): Clock {
  return Object.assign(Object.create(SYSTEM_CLOCK) as Clock, { now });
}
