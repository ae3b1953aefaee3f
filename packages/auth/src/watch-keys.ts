import { type Clock, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { KeyRing } from './keys.ts';

const LOOK_EVERY_MS = 1000;

/** What a watch reports. */
export interface KeyWatch {
  /** Another key signs now. */
  onRotated(kid: string): void;
  /** The file can't be used: the keys stay as they are. Reported once, until it can be used again. */
  onError(error: unknown): void;
}

/**
 * Looks at the file of the keys every second: one more `stat` is nothing, and works on every file system.
 *
 * @returns call it to look no more
 */
export function watchKeys(
  keys: Pick<KeyRing, 'reload' | 'current'>,
  watch: KeyWatch,
  clock: Clock = SYSTEM_CLOCK,
): () => Promise<void> {
  let failed = false;
  let stopped = false;
  let looking: Promise<void> = Promise.resolve();
  let timer: Timer;

  async function look(): Promise<void> {
    try {
      if (await keys.reload()) watch.onRotated(keys.current.kid);
      failed = false;
    } catch (error) {
      if (!failed) watch.onError(error);
      failed = true;
    }
    lookSoon();
  }

  function lookSoon(): void {
    if (stopped) return;
    timer = clock.after(LOOK_EVERY_MS, () => {
      looking = look();
    });
    timer.unref();
  }

  lookSoon();
  return async () => {
    stopped = true;
    timer.cancel();
    await looking;
  };
}
