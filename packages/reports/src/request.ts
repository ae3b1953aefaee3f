import type { Directory, GeofenceId, GroupId, ReportSchedule, Shape, User, VehicleId } from '@outrider/domain';
import type { Job } from '@outrider/registry';
import type { ReportReach } from '../report-reach.ts';
import type { Period } from '../reports/calendar.ts';
import type { Format } from '../reports/formats/format.ts';
import { formatsOf } from '../reports/formats/formats.ts';
import { REPORT_KINDS } from '../reports/kinds.ts';
import type { Question, ReportKind } from '../reports/report.ts';
import { shapeVisitsReport } from '../reports/shape-visits.ts';
import { rightToGeofence, rightToGroup, rightToVehicle } from '../rights.ts';

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
  /** Unix milliseconds, the end exclusive; null: now, for a report that is of no stretch of time. */
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

export function requestOf(job: Pick<Job, 'parameters'>): ReportRequest {
  return job.parameters as unknown as ReportRequest;
}

/** What of a request a schedule holds: its time comes with each run. */
export type ScheduledReport = Omit<ReportRequest, 'fromMs' | 'toMs' | 'timeZone' | 'shape'>;

export function scheduledReport({ report }: Pick<ReportSchedule, 'report'>): ScheduledReport {
  return report as unknown as ScheduledReport;
}

/** @throws {Error} when there is no such kind any more */
export function kindOf({ report, shape }: Pick<ReportRequest, 'report' | 'shape'>): ReportKind {
  if (shape !== null) return shapeVisitsReport(shape.shape, shape.minDwellSeconds);
  const kind = REPORT_KINDS.find(({ name }) => name === report);
  if (kind === undefined) throw new Error(`there is no report ${report}`);
  return kind;
}

/** @throws {Error} when there is no such format any more, or not for this kind */
export function formatOf({ report, format }: Pick<ReportRequest, 'report' | 'format'>): Format {
  const found = formatsOf(report === 'track').find(({ name }) => name === format);
  if (found === undefined) throw new Error(`there is no ${report} as ${format}`);
  return found;
}

/**
 * Does the caller see what is named? What they do not see looks as if it did not exist.
 *
 * @returns the first field that names something else; null where all is well
 */
export function unseenIn(
  { vehicleId, groupId, geofenceId }: Pick<ReportRequest, 'vehicleId' | 'groupId' | 'geofenceId'>,
  caller: User,
  directory: Directory,
): 'vehicleId' | 'groupId' | 'geozoneId' | null {
  if (vehicleId !== null) {
    const vehicle = directory.vehicles.get(vehicleId);
    if (vehicle === undefined || rightToVehicle(caller, vehicle) === 'none') return 'vehicleId';
  }
  if (groupId !== null) {
    const group = directory.groups.get(groupId);
    if (group === undefined || rightToGroup(caller, group) === 'none') return 'groupId';
  }
  if (geofenceId !== null) {
    const geofence = directory.geofences.get(geofenceId);
    const owner = geofence && directory.users.get(geofence.ownerId);
    if (geofence === undefined || rightToGeofence(caller, geofence, owner) === 'none') return 'geozoneId';
  }
  return null;
}

/** The question as the reports take it, about the vehicles that the caller may see now. */
export function questionFor(
  request: ReportRequest,
  reach: ReportReach,
  nowMs: number,
  signal: AbortSignal,
): Question & { vehicles: readonly { id: VehicleId; name: string }[] } {
  const { vehicleId, groupId, fromMs, toMs, timeZone, period, eventKinds, geofenceId, maxPoints } = request;
  const vehicles = reach.vehicles(groupId).filter(({ id }) => vehicleId === null || id === vehicleId);
  return {
    vehicles,
    fromMs: fromMs ?? 0,
    toMs: toMs ?? nowMs,
    timeZone,
    period,
    eventKinds,
    geofenceId,
    maxPoints,
    nowMs,
    signal,
  };
}

/**
 * May the caller still see all that a file tells of? What is gone altogether is nobody's secret.
 *
 * @param tells ids of the vehicles and geofences that it may tell of
 */
export function maySeeStill(
  tells: { vehicleIds: readonly VehicleId[]; geofenceIds: readonly GeofenceId[] },
  caller: User,
  directory: Directory,
): boolean {
  return (
    tells.vehicleIds.every((id) => {
      const vehicle = directory.vehicles.get(id);
      return vehicle === undefined || rightToVehicle(caller, vehicle) !== 'none';
    }) &&
    tells.geofenceIds.every((id) => {
      const geofence = directory.geofences.get(id);
      const owner = geofence && directory.users.get(geofence.ownerId);
      return geofence === undefined || rightToGeofence(caller, geofence, owner) !== 'none';
    })
  );
}
