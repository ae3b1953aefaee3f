import { PERSON_EXPORT } from '@outrider/access';
import type { Registry } from '@outrider/registry';
import { REPORT_JOB } from '@outrider/reports';

export interface UpcomingParts {
  registry: {
    jobs: Pick<Registry['jobs'], 'nextDueMs'>;
    reportSchedules: Pick<Registry['reportSchedules'], 'nextDueMs'>;
    reportDeliveries: Pick<Registry['reportDeliveries'], 'nextDueMs'>;
    reportFiles: Pick<Registry['reportFiles'], 'outdated'>;
  };
  /** How long a file is kept. */
  retentionDays: number;
  now: () => number;
}

const DAY_MS = 86_400_000;
const FILES_EVERY_MS = 60_000;

/**
 * Creates a function that returns when the reporter next has work: a report or a personal-data export to make, a due
 * schedule, a report to send, or a file to delete, which is checked once a minute. Unix milliseconds; null: none.
 */
export function upcomingWork({ registry, retentionDays, now }: UpcomingParts): () => Promise<number | null> {
  let filesAtMs = Number.NEGATIVE_INFINITY;
  return async () => {
    const nowMs = now();
    const due = [
      await registry.jobs.nextDueMs([REPORT_JOB, PERSON_EXPORT]),
      await registry.reportSchedules.nextDueMs(),
      await registry.reportDeliveries.nextDueMs(),
    ];
    if (nowMs >= filesAtMs) {
      filesAtMs = nowMs + FILES_EVERY_MS;
      const outdated = await registry.reportFiles.outdated(nowMs - retentionDays * DAY_MS, 1);
      due.push(outdated.length > 0 ? nowMs : null);
    }
    const known = due.filter((atMs) => atMs !== null);
    return known.length === 0 ? null : Math.min(...known);
  };
}
