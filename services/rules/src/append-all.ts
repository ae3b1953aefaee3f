import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import { isDiskOutage, type Log, LogFullError, type Topic } from '@outrider/log';

/** Maximum records per call: a call must not exceed the log's size limit. */
const MAX_IN_CALL = 1000;
const RETRY_MS = 50;

/**
 * Appends records in their order. While the log is full, or its disk is full or busy, waits and tries again: the caller
 * processes no packets meanwhile, which is the backpressure; nothing is dropped.
 *
 * @param onFull called before each wait
 */
export async function appendAll<T>(
  log: Pick<Log, 'append'>,
  topic: Topic<T>,
  records: readonly T[],
  onFull: () => void,
  clock: Clock = SYSTEM_CLOCK,
): Promise<void> {
  for (let i = 0; i < records.length; i += MAX_IN_CALL) {
    const part = records.slice(i, i + MAX_IN_CALL);
    for (;;) {
      try {
        await log.append(topic, part);
        break;
      } catch (error) {
        if (!(error instanceof LogFullError || isDiskOutage(error))) throw error;
        onFull();
        await clock.sleep(RETRY_MS);
      }
    }
  }
}
