import type { Logger } from './logger.ts';

/**
 * Where Kafka's client has nothing to wait for, it asks for a timer in the past: it runs at once, which is what is
 * meant. Node warns of each first one.
 */
const NO_NEWS = 'TimeoutNegativeWarning';

/** What Node and libraries warn of becomes lines of the logger, in place of text in between them. */
export function tellWarnings(logger: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== NO_NEWS) logger.warn({ err: warning }, 'warned');
  });
}
