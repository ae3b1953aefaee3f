import { Problem } from '@outrider/access';
import type { TelemetryPacket } from '@outrider/domain';
import { isDiskOutage, isLogAway, type Log, LogAtBoundError, LogFullError, telemetryTopic } from '@outrider/log';

const RETRY = { headers: { 'retry-after': '5' } };

/**
 * Appends packets to the log. Rejects with a `Problem` while the log cannot accept them.
 *
 * @param log undefined: every append is rejected
 */
export function telemetryAppender(log: Pick<Log, 'append'> | undefined) {
  return async (packets: readonly TelemetryPacket[]): Promise<void> => {
    try {
      if (log === undefined) throw new Problem('unavailable', 'This process has no log.');
      await log.append(telemetryTopic, packets);
    } catch (error) {
      const isPassing =
        isLogAway(error) || isDiskOutage(error) || error instanceof LogFullError || error instanceof LogAtBoundError;
      throw isPassing ? new Problem('unavailable', 'The log takes nothing at the moment; try again.', RETRY) : error;
    }
  };
}
