import type { Hub } from '@outrider/hub';
import { definitionsTopic, type Log } from '@outrider/log';
import type { ReadyCheck } from '@outrider/runtime';
import { logWarnings } from './log-watch.ts';

/** Does the log answer? */
export function logCheck(log: Pick<Log, 'endOffsets' | 'discontinuities' | 'holdUp' | 'replication'>): ReadyCheck {
  return async () => {
    await log.endOffsets(definitionsTopic);
    return logWarnings(log);
  };
}

/** Does the hub answer? */
export function hubCheck(hub: Pick<Hub, 'blockedUntil'>, now: () => number): ReadyCheck {
  return async () => {
    await hub.blockedUntil('readiness', now());
  };
}
