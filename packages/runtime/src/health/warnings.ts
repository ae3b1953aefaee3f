import type { Logger } from '../logger.ts';

/**
 * Kafka's client sets timers in the past when it need not wait. They run at once, as intended, but Node warns about the
 * first.
 */
const HARMLESS = 'TimeoutNegativeWarning';

/** Logs the warnings of Node and libraries, which otherwise go to standard error as plain text. */
export function logWarnings(logger: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', (warning) => {
    if (warning.name !== HARMLESS) logger.warn({ err: warning }, 'warning of Node.js or a library');
  });
}
