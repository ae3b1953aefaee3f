/** Scheduled task, returned by {@link Clock.after} and {@link Clock.every}. */
export interface Timer {
  /** Stops the task from running (again). */
  cancel(): void;
  /** Lets the process exit while the timer is pending. */
  unref(): this;
}

/**
 * Time and timers. Product code takes both from here, never from Node, so that a test can move them: see `VirtualClock`
 * in `@outrider/testing`.
 */
export abstract class Clock {
  /** Unix milliseconds. A person or a time server can set it back. Needs no `this`. */
  abstract readonly now: () => number;
  /** Milliseconds since an arbitrary moment, for durations: never goes back. Needs no `this`. */
  abstract readonly steadyMs: () => number;
  /** Runs the task once after `ms`; as soon as possible where `ms` is zero or negative. */
  abstract after(ms: number, task: () => void): Timer;
  /** Runs the task repeatedly, the first time after `ms`. */
  abstract every(ms: number, task: () => void): Timer;

  /** @throws `signal.reason` as soon as the signal is aborted */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const onAbort = () => {
        timer.cancel();
        reject(signal?.reason);
      };
      const timer = this.after(ms, () => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      });
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Resolves after the time, or as soon as the signal is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return this.sleep(ms, signal).catch(() => {});
  }
}

class SystemClock extends Clock {
  override readonly now = (): number => Date.now();
  override readonly steadyMs = (): number => performance.now();

  override after(ms: number, task: () => void): Timer {
    return new SystemTimer(setTimeout(task, Math.max(0, ms)));
  }

  override every(ms: number, task: () => void): Timer {
    return new SystemTimer(setInterval(task, ms));
  }
}

class SystemTimer implements Timer {
  readonly #timer: NodeJS.Timeout;

  constructor(timer: NodeJS.Timeout) {
    this.#timer = timer;
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }

  unref(): this {
    this.#timer.unref();
    return this;
  }
}

/** The system clock. */
export const SYSTEM_CLOCK: Clock = new SystemClock();
