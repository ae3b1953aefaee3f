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

/** What a report job has to make. What the report contains is decided when it runs, by the rights at that time. */
export interface ReportRequest {
  /** Name of the kind of report. */
  report: string;
  format: string;
  /** At most one of `vehicleId`, `vehicleIds` and `groupId` is set. None: everything that the user may see. */
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
  /** Undefined in these, as above. Null: the default, or all. */
  columns?: readonly string[] | null | undefined;
  groupBy?: Grouping | null | undefined;
  /** Null: the user's language. */
  language?: Language | null | undefined;
  workHours?: string | null | undefined;
  ecoWeights?: string | null | undefined;
  sensors?: readonly string[] | null | undefined;
  driverIds?: readonly DriverId[] | null | undefined;
  /** Groups to which the requesting API key was limited: the report contains no more. Null: no such limit. */
  limitedTo?: readonly GroupId[] | null | undefined;
  /** Title of the schedule to which the report belongs. */
  title?: string | null | undefined;
  /** Reports visits of an unsaved shape instead of those of geofences. */
  shape: { shape: Shape; minDwellSeconds: number } | null;
}

/** The vehicle or group that a report job is about, if it is just one. */
export function subjectOf({ vehicleId, vehicleIds, groupId }: ScheduledReport): string | null {
  return vehicleId ?? groupId ?? (vehicleIds?.length === 1 ? (vehicleIds[0] ?? null) : null);
}

export function requestOf(job: { parameters: unknown }): ReportRequest {
  return job.parameters as ReportRequest;
}

/** The part of a request that a schedule stores: the time range comes with each run. */
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
