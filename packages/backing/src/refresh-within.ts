import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import type { Logger } from '@outrider/runtime';

/**
 * A refresh that does not block callers while the registry does not answer: the first caller waits for `withinMs`,
 * those that follow not at all until it answers again.
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
