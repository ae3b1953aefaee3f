import type { Server } from 'node:net';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { isExhausted } from './health/descriptor-watch.ts';
import type { Logger } from './logger.ts';

/** Limits log lines: the system offers a connection that could not be accepted again and again. */
const LOG_EVERY_MS = 60_000;

/**
 * Keeps a listening server alive when connections cannot be accepted. The usual reason is that the process has no free
 * file descriptor: existing connections continue, and new ones are accepted once others were closed.
 *
 * @param onError called for each error, so that it is counted
 */
export function surviveAcceptErrors(server: Server, logger: Logger | undefined, onError: () => void = () => {}): void {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  server.on('error', (error) => {
    // The caller of `listen` handles errors before that.
    if (!server.listening) return;
    onError();
    unlogged++;
    if (SYSTEM_CLOCK.steadyMs() < loggedAtMs + LOG_EVERY_MS) return;
    const message = isExhausted(error) ? 'no file descriptor is free for a connection' : 'cannot accept a connection';
    logger?.error({ err: error, failed: unlogged }, message);
    unlogged = 0;
    loggedAtMs = SYSTEM_CLOCK.steadyMs();
  });
}
