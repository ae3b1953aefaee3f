import type { Server } from 'node:net';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { isExhausted } from './health/descriptor-watch.ts';
import type { Logger } from './logger.ts';

/** They come by the thousand: the system offers a connection that could not be accepted again and again. */
const LOG_EVERY_MS = 60_000;

/**
 * Keeps a server that listens when connections can't be accepted. Mostly the process has no file descriptor free: the
 * connections that it has go on, and new ones are accepted once others were closed.
 *
 * @param onError called for each, so that it is counted
 */
export function surviveAcceptErrors(server: Server, logger: Logger | undefined, onError: () => void = () => {}): void {
  let loggedAtMs = Number.NEGATIVE_INFINITY;
  let unlogged = 0;
  server.on('error', (error) => {
    // The caller of `listen` has these.
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
