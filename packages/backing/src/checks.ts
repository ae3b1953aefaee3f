import type { Hub } from '@outrider/hub';
import { definitionsTopic, type Log } from '@outrider/log';
import type { ReadyCheck } from '@outrider/runtime';

/** Does the log answer? */
export function logCheck(log: Pick<Log, 'endOffsets'>): ReadyCheck {
  return async () => {
    await log.endOffsets(definitionsTopic);
  };
}

/** Does the hub answer? */
export function hubCheck(hub: Pick<Hub, 'blockedUntil'>, now: () => number): ReadyCheck {
  return async () => {
    await hub.blockedUntil('readiness', now());
  };
}
