import { unseenIn } from '@outrider/access';
import { type Clock, coveredRange, type Directory, type ReportSchedule, SYSTEM_CLOCK } from '@outrider/domain';
import type { Registry, ScheduledJob } from '@outrider/registry';
import { REPORT_JOB, type ReportRequest, reportKind, scheduledReport, subjectOf } from '@outrider/reports';
import { type Logger, type Part, poller } from '@outrider/runtime';

export interface ReportSchedulerParts {
  config?: {
    /** Interval of the check for due schedules. Default 1000. */
    pollMs?: number;
  };
  registry: Pick<Registry, 'reportSchedules'>;
  directory: Directory;
  logger: Logger;
  clock?: Clock;
}

/** Schedules due at the same moment become jobs in batches of this size: a short transaction blocks nobody. */
const AT_ONCE = 50;

/**
 * Creates report jobs when their schedules are due. The job of a period and the next time of its schedule are one
 * write: several schedulers may run, and each may crash at any time.
 */
export function createReportScheduler({
  config,
  registry,
  directory,
  logger,
  clock = SYSTEM_CLOCK,
}: ReportSchedulerParts): Part {
  function jobOf(schedule: ReportSchedule, period: string): ScheduledJob {
    const report = scheduledReport(schedule);
    const owner = directory.ownerOf(schedule);
    if (owner === undefined || owner.blocked || unseenIn(report, owner, directory) !== null) return null;
    const { fromMs, toMs } = coveredRange(schedule, period);
    const timeRange = reportKind(report.report)?.isNow ? { fromMs: null, toMs: null } : { fromMs, toMs };
    const request: ReportRequest = {
      ...report,
      ...timeRange,
      timeZone: schedule.timeZone,
      shape: null,
      title: schedule.name,
    };
    return { kind: REPORT_JOB, subjectId: subjectOf(report), parameters: { ...request } };
  }

  return poller({
    name: 'report schedules',
    work: async () => (await registry.reportSchedules.runDue(jobOf, AT_ONCE)) === AT_ONCE,
    everyMs: config?.pollMs ?? 1000,
    logger,
    clock,
  });
}
