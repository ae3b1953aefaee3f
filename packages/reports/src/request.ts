import type { GeofenceId, GroupId, ReportSchedule, Shape, VehicleId } from '@outrider/domain';
import type { Period } from './calendar.ts';
import type { Format } from './formats/format.ts';
import { formatsOf } from './formats/formats.ts';
import { reportKind } from './kinds.ts';
import type { ReportKind } from './report.ts';
import { shapeVisitsReport } from './shape-visits.ts';

/** Kind of the jobs that make reports. */
export const REPORT_JOB = 'report';

/** What a report's job is to make: what it holds is decided when it runs, by the rights of then. */
export interface ReportRequest {
  /** Name of its kind. */
  report: string;
  format: string;
  /** One of the two, or neither: all that its user may see. */
  vehicleId: VehicleId | null;
  groupId: GroupId | null;
  /** Unix milliseconds, the end exclusive; null: now, for a report without a time range. */
  fromMs: number | null;
  toMs: number | null;
  timeZone: string;
  period: Period;
  eventKinds: readonly string[] | null;
  geofenceId: GeofenceId | null;
  maxPoints: number | null;
  /** Visits of a shape that was never saved, in place of those of geofences. */
  shape: { shape: Shape; minDwellSeconds: number } | null;
}

export function requestOf(job: { parameters: unknown }): ReportRequest {
  return job.parameters as ReportRequest;
}

/** What of a request a schedule holds: its time comes with each run. */
export type ScheduledReport = Omit<ReportRequest, 'fromMs' | 'toMs' | 'timeZone' | 'shape'>;

export function scheduledReport({ report }: Pick<ReportSchedule, 'report'>): ScheduledReport {
  return report as unknown as ScheduledReport;
}

/** @throws {Error} when there is no such kind any more */
export function kindOf({ report, shape }: Pick<ReportRequest, 'report' | 'shape'>): ReportKind {
  if (shape !== null) return shapeVisitsReport(shape.shape, shape.minDwellSeconds);
  const kind = reportKind(report);
  if (kind === undefined) throw new Error(`there is no report ${report}`);
  return kind;
}

/** @throws {Error} when there is no such format any more, or not for this kind */
export function formatOf({ report, format }: Pick<ReportRequest, 'report' | 'format'>): Format {
  const found = formatsOf(reportKind(report) ?? {}).find(({ name }) => name === format);
  if (found === undefined) throw new Error(`there is no ${report} as ${format}`);
  return found;
}
