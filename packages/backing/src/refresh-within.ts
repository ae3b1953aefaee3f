import type { Logger } from '@outrider/runtime';

/**
 * A refresh that does not block callers while the registry does not answer: the first caller waits for `withinMs`,
 * those that follow not at all until it answers again.
 *
 * @returns never rejects
 */
export function refreshWithin(withinMs: number, refresh: () => Promise<void>, logger: Logger): () => Promise<void> {
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
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(() => {
        failed(new Error(`the registry did not answer within ${withinMs} ms`));
        resolve();
      }, withinMs);
    });
    await Promise.race([done, late]);
    clearTimeout(timer);
  };
}
