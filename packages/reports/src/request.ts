import type { DriverId, GeofenceId, GroupId, ReportSchedule, Shape, VehicleId } from '@outrider/domain';
import type { Language } from '@outrider/words';
import type { Period } from './calendar.ts';
import type { Format } from './formats/format.ts';
import { formatsOf } from './formats/formats.ts';
import type { Grouping } from './kinds/groups.ts';
import { shapeVisitsReport } from './kinds/shape-visits.ts';
import { reportKind } from './kinds.ts';
import type { ReportKind } from './report.ts';

/** Kind of the jobs that make reports. */
export const REPORT_JOB = 'report';

/** What a report's job is to make: what it holds is decided when it runs, by the rights of then. */
export interface ReportRequest {
  /** Name of its kind. */
  report: string;
  format: string;
  /** One of the three, or none: all that its user may see. */
  vehicleId: VehicleId | null;
  /** Undefined: an earlier version stored the request. */
  vehicleIds?: readonly VehicleId[] | null | undefined;
  groupId: GroupId | null;
  /** Unix milliseconds, the end exclusive; null: now, for a report without a time range. */
  fromMs: number | null;
  toMs: number | null;
  timeZone: string;
  period: Period;
  eventKinds: readonly string[] | null;
  geofenceId: GeofenceId | null;
  maxPoints: number | null;
  /** Undefined in these, as above. Null: the usual ones, or all. */
  columns?: readonly string[] | null | undefined;
  groupBy?: Grouping | null | undefined;
  /** Null: that of its user. */
  language?: Language | null | undefined;
  workHours?: string | null | undefined;
  ecoWeights?: string | null | undefined;
  sensors?: readonly string[] | null | undefined;
  driverIds?: readonly DriverId[] | null | undefined;
  /** The groups that the API key was limited to which asked for it: the report holds no more. Null: no such limit. */
  limitedTo?: readonly GroupId[] | null | undefined;
  /** Of the schedule that it is of. */
  title?: string | null | undefined;
  /** Visits of a shape that was never saved, in place of those of geofences. */
  shape: { shape: Shape; minDwellSeconds: number } | null;
}

/** What a report's job is about, where that is one thing. */
export function subjectOf({ vehicleId, vehicleIds, groupId }: ScheduledReport): string | null {
  return vehicleId ?? groupId ?? (vehicleIds?.length === 1 ? (vehicleIds[0] ?? null) : null);
}

export function requestOf(job: { parameters: unknown }): ReportRequest {
  return job.parameters as ReportRequest;
}

/** What of a request a schedule holds: its time comes with each run. */
export type ScheduledReport = Omit<ReportRequest, 'fromMs' | 'toMs' | 'timeZone' | 'shape' | 'title' | 'limitedTo'>;

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
