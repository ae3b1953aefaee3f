import { type Clock, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import type { KeyRing } from './keys.ts';

const LOOK_EVERY_MS = 1000;

/** Callbacks of a watch. */
export interface KeyWatch {
  /** Another key signs from now on. */
  onRotated(kid: string): void;
  /** The file can't be used: the keys stay unchanged. Reported once, until the file can be used again. */
  onError(error: unknown): void;
}

/**
 * Polls the key file every second: an additional `stat` costs nothing, and works on every file system.
 *
 * @returns stops the watch
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
