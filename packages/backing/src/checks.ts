import type { Hub } from '@outrider/hub';
import { definitionsTopic, type Log } from '@outrider/log';
import type { ReadyCheck } from '@outrider/runtime';
import { logWarnings } from './log-watch.ts';

/** Does the log answer, and how far behind are those who read it here? */
export function logCheck(
  log: Pick<Log, 'endOffsets' | 'behind' | 'discontinuities' | 'holdUp' | 'replication'>,
): ReadyCheck {
  return async () => {
    await log.endOffsets(definitionsTopic);
    return { warnings: logWarnings(log), behind: await log.behind() };
  };
}

/** Does the hub answer? */
export function hubCheck(hub: Pick<Hub, 'blockedUntil'>, now: () => number): ReadyCheck {
  return async () => {
    await hub.blockedUntil('readiness', now());
  };
}
