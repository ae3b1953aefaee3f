import { setTimeout as wait } from 'node:timers/promises';
import type { FleetEvent } from '@outrider/domain';
import { eventsTopic, type Log, LogFullError } from '@outrider/log';

/** So many in one call: a single call must fit into the log's bound. */
const MAX_IN_CALL = 1000;
const RETRY_MS = 50;

/**
 * Appends events in their order. Where the log is full it waits and tries again: the caller takes no packets meanwhile,
 * which is the backpressure; nothing is dropped.
 *
 * @param onFull called before each wait
 */
export async function appendEvents(log: Log, events: readonly FleetEvent[], onFull: () => void): Promise<void> {
  for (let i = 0; i < events.length; i += MAX_IN_CALL) {
    const part = events.slice(i, i + MAX_IN_CALL);
    for (;;) {
      try {
        await log.append(eventsTopic, part);
        break;
      } catch (error) {
        if (!(error instanceof LogFullError)) throw error;
        onFull();
        await wait(RETRY_MS);
      }
    }
  }
}
