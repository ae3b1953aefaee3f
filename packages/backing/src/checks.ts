import type { Hub } from '@outrider/hub';
import { definitionsTopic, type Log } from '@outrider/log';
import type { PartReport, ReadyCheck } from '@outrider/runtime';
import { logWarnings } from './log-watch.ts';

/** Checks whether the log responds, and how far its readers in this process are behind. */
export function logCheck(
  log: Pick<Log, 'endOffsets' | 'behind' | 'discontinuities' | 'holdUp' | 'replication'>,
): ReadyCheck {
  return async () => {
    await log.endOffsets(definitionsTopic);
    return { warnings: logWarnings(log), behind: await log.behind() };
  };
}

/** Checks whether the hub responds. */
export function hubCheck(hub: Pick<Hub, 'blockedUntil'>, now: () => number): ReadyCheck {
  return async () => {
    await hub.blockedUntil('readiness', now());
  };
}

/** Merges checks by part. A part with several checks works if all of them do, and is as far behind as the farthest. */
export function mergedChecks(all: readonly Readonly<Record<string, ReadyCheck>>[]): Record<string, ReadyCheck> {
  const byPart = Map.groupBy(all.flatMap(Object.entries<ReadyCheck>), ([part]) => part);
  return Object.fromEntries([...byPart].map(([part, checks]) => [part, together(checks.map(([, check]) => check))]));
}

function together(checks: readonly ReadyCheck[]): ReadyCheck {
  const [only] = checks;
  if (checks.length === 1 && only !== undefined) return only;
  return async () => {
    const reports = await Promise.all(checks.map((check) => check()));
    const known = reports.filter((report): report is PartReport => typeof report === 'object');
    const behind: Record<string, number> = {};
    for (const report of known)
      for (const [topic, records] of Object.entries(report.behind ?? {}))
        behind[topic] = Math.max(behind[topic] ?? 0, records);
    const warnings = [...new Set(known.flatMap((report) => report.warnings ?? []))];
    return { warnings, ...(known.some((report) => report.behind !== undefined) && { behind }) };
  };
}
