import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import type { Logger } from '@outrider/runtime';

/**
 * Limits the waiting for a refresh while the registry does not respond: the first caller waits for `withinMs`, and
 * later ones not at all until it has recovered.
 *
 * @returns never rejects
 */
export function refreshWithin(
  withinMs: number,
  refresh: () => Promise<void>,
  logger: Logger,
  clock: Clock = SYSTEM_CLOCK,
): () => Promise<void> {
  let failing = false;
  const failed = (error: unknown) => {
    if (!failing) logger.warn({ err: error }, 'cannot refresh definitions; changes of other instances come later');
    failing = true;
  };
  const recovered = () => {
    if (failing) logger.info('definitions are refreshed again');
    failing = false;
  };
  return async () => {
    const done = refresh().then(recovered, failed);
    if (failing) return;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = clock.after(withinMs, () => {
      failed(new Error(`the registry did not answer within ${withinMs} ms`));
      resolve();
    });
    await Promise.race([done, late]);
    timer.cancel();
  };
}
