import type { ListedSchedule, ScheduleWish } from '@outrider/access';
import {
  isoTime,
  type ReportSchedule,
  type ReportScheduleId,
  SCHEDULE_COVERS,
  SCHEDULE_FREQUENCIES,
} from '@outrider/domain';
import type { ListedReportDelivery } from '@outrider/registry';
import { reportKind, scheduledReport } from '@outrider/reports';
import { z } from 'zod';
import {
  EmailStatesOut,
  id,
  idOut,
  line,
  pageAsked,
  pageReply,
  paging,
  recipients,
  timeOut,
} from '../../fields/fields.ts';
import { groupBy, language, REPORT_FIELDS, type ReportFields, reportFrom } from '../../fields/report-fields.ts';
import { pageOf } from '../../http/whole-list.ts';
import { ResourceRoutes } from '../../resource-routes.ts';
import { callsOf, type Route } from '../../route.ts';

const { get } = callsOf('Reports');

const frequency = z
  .enum(SCHEDULE_FREQUENCIES)
  .meta({ description: 'How often a report is made. `weekly`: on Mondays. `monthly`: on the first day of the month.' });
const hour = z.int().min(0).max(23).meta({
  description:
    'Hour of the day in `timeZone` at which the report is made. If a clock change skips the hour, the report is made later by the size of the change. If the hour occurs twice, the first one counts.',
});
const covers = z.enum(SCHEDULE_COVERS).meta({
  description: 'Time range of the report: the last completed day, week (from Monday) or month in `timeZone`.',
});
const emails = recipients(
  'E-mail addresses that receive the reports. Each gets a separate e-mail, with the file attached unless it is too large. An address gets e-mails only after its holder has confirmed it: see `emailStates`.',
);

const { timeZone, ...REPORT } = REPORT_FIELDS;
const FIELDS = {
  ...REPORT,
  timeZone: timeZone.removeDefault(),
  name: line(200),
  frequency,
  hour,
  covers,
  emails,
};
/** Fields that a report may omit. */
const OPTIONAL = [
  ...(['vehicleId', 'vehicleIds', 'groupId', 'period', 'eventKinds', 'geozoneId', 'maxPoints'] as const),
  ...(['workHours', 'ecoWeights', 'sensors', 'driverIds', 'columns', 'groupBy', 'language'] as const),
];

const EXAMPLE = {
  name: 'Mileage of the week',
  kind: 'mileage',
  format: 'xlsx',
  vehicleId: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
  period: 'day' as const,
  timeZone: 'Europe/Berlin',
  frequency: 'weekly' as const,
  hour: 6,
  covers: 'last-week' as const,
  emails: ['dispatch@example.com'],
};

const ScheduleOut = z
  .strictObject({
    id: idOut,
    ownerId: idOut,
    name: z.string(),
    active: z.boolean(),
    inactiveReason: z.enum(['switched-off', 'owner-blocked', 'nothing-to-tell']).nullable().meta({
      description:
        'Why the schedule is inactive; null while it is active. `switched-off`: a user switched it off. `owner-blocked`: its owner was blocked. `nothing-to-tell`: an object that it names was deleted or is no longer visible to its owner.',
    }),
    kind: z.string(),
    format: z.string(),
    vehicleId: idOut.nullable().meta({
      description:
        'Null if the report names no vehicle, or one that the caller may not see (any more). The same holds for `groupId` and `geozoneId`.',
    }),
    vehicleIds: z.array(idOut).nullable().meta({
      description: 'Only the vehicles that the caller may see. Null if the report names no list of vehicles.',
    }),
    groupId: idOut.nullable(),
    geozoneId: idOut.nullable(),
    period: z.string(),
    eventKinds: z.array(z.string()).nullable(),
    maxPoints: z.int().nullable(),
    workHours: z.string().nullable(),
    ecoWeights: z.string().nullable(),
    sensors: z.array(z.string()).nullable(),
    driverIds: z
      .array(idOut)
      .nullable()
      .meta({ description: 'Only the drivers that the caller may see. Null if the report names no drivers.' }),
    columns: z.array(z.string()).nullable(),
    groupBy: groupBy.nullable(),
    language: language.nullable(),
    timeZone: z.string(),
    frequency,
    hour: z.int(),
    covers,
    emails: z.array(z.string()),
    emailStates: EmailStatesOut,
    lastPeriod: z.iso
      .date()
      .nullable()
      .meta({ description: 'Scheduled day of the last report, in `timeZone`. Null: no report was made yet.' }),
    nextAt: timeOut
      .nullable()
      .meta({ description: 'When the next report is due. Null while the schedule is inactive.' }),
  })
  .meta({
    id: 'ReportSchedule',
    examples: [
      {
        id: '01961f3d-2c32-7e50-9d3f-4b8c2e6a0f83',
        ownerId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
        ...EXAMPLE,
        active: true,
        inactiveReason: null,
        vehicleIds: null,
        groupId: null,
        geozoneId: null,
        eventKinds: null,
        maxPoints: null,
        workHours: null,
        ecoWeights: null,
        sensors: null,
        driverIds: null,
        columns: null,
        groupBy: null,
        language: null,
        emailStates: [{ address: 'dispatch@example.com', state: 'confirmed', suppressedToday: 0 }],
        lastPeriod: '2026-01-12',
        nextAt: '2026-01-19T05:00:00.000Z',
      },
    ],
  });

function scheduleBody(schedule: ListedSchedule): unknown {
  const stored = scheduledReport(schedule);
  const { report, format, vehicleId, vehicleIds, groupId, geofenceId, period, eventKinds, maxPoints } = stored;
  return {
    id: schedule.id,
    ownerId: schedule.ownerId,
    name: schedule.name,
    active: schedule.active,
    inactiveReason: schedule.inactiveReason,
    kind: report,
    format,
    vehicleId,
    vehicleIds: vehicleIds ?? null,
    groupId,
    geozoneId: geofenceId,
    period,
    eventKinds,
    maxPoints,
    workHours: stored.workHours ?? null,
    ecoWeights: stored.ecoWeights ?? null,
    sensors: stored.sensors ?? null,
    driverIds: stored.driverIds ?? null,
    columns: stored.columns ?? null,
    groupBy: stored.groupBy ?? null,
    language: stored.language ?? null,
    timeZone: schedule.timeZone,
    frequency: schedule.frequency,
    hour: schedule.hour,
    covers: schedule.covers,
    emails: schedule.emails,
    emailStates: schedule.emailStates,
    lastPeriod: schedule.lastPeriod,
    nextAt: schedule.nextAtMs === null ? null : isoTime(schedule.nextAtMs),
  };
}

const DeliveryOut = z
  .strictObject({
    id: idOut,
    jobId: idOut.meta({ description: 'Job that made the report.' }),
    address: z.string(),
    state: z.enum(['pending', 'delivered', 'failed', 'cancelled']),
    attempts: z.int(),
    createdAt: timeOut,
    finishedAt: timeOut.nullable().meta({ description: 'When the delivery ended. Null: it is still pending.' }),
    error: z.string().nullable().meta({
      description: 'Why the last attempt failed, or why the delivery was cancelled. Null: no attempt failed.',
    }),
  })
  .meta({
    id: 'ReportDelivery',
    examples: [
      {
        id: '01961f3d-4e54-7a72-8f5b-6d0e4a8c2ba5',
        jobId: '01961f3d-1b21-7d4f-8c2e-3a7b1d5f9e72',
        address: 'dispatch@example.com',
        state: 'delivered' as const,
        attempts: 1,
        createdAt: '2026-01-19T05:00:04.000Z',
        finishedAt: '2026-01-19T05:00:05.000Z',
        error: null,
      },
    ],
  });

function deliveryBody({ id: deliveryId, jobId, target, state, attempts, ...rest }: ListedReportDelivery): unknown {
  const { createdAtMs, finishedAtMs, error } = rest;
  return {
    ...{ id: deliveryId, jobId, address: target, state, attempts, error },
    createdAt: isoTime(createdAtMs),
    finishedAt: finishedAtMs === null ? null : isoTime(finishedAtMs),
  };
}

type Said = ReportFields & Pick<ScheduleWish, 'name' | 'active' | 'frequency' | 'hour' | 'covers' | 'emails'>;

/** @throws {Problem} when the fields contradict each other */
function wishFrom(said: Said): ScheduleWish {
  const { name, active, frequency: often, hour: at, covers: of, emails: to } = said;
  const { timeZone: zone, ...report } = reportFrom(said);
  return { name, active, frequency: often, hour: at, covers: of, timeZone: zone, emails: to, report };
}

/** A schedule in the form of the request's fields. */
function saidOf(schedule: ReportSchedule): Said {
  const stored = scheduledReport(schedule);
  const { report, format, vehicleId, vehicleIds, groupId, geofenceId, period, eventKinds, maxPoints } = stored;
  const { name, active, timeZone: zone, frequency: often, hour: at, covers: of, emails: to } = schedule;
  return {
    ...{ kind: report, format, timeZone: zone, name, active, frequency: often, hour: at, covers: of, emails: to },
    vehicleId: vehicleId ?? undefined,
    vehicleIds: vehicleIds ?? undefined,
    groupId: groupId ?? undefined,
    geozoneId: geofenceId ?? undefined,
    period: reportKind(report)?.parameters?.period && period,
    eventKinds: eventKinds ?? undefined,
    maxPoints: maxPoints ?? undefined,
    workHours: stored.workHours ?? undefined,
    ecoWeights: stored.ecoWeights ?? undefined,
    sensors: stored.sensors ?? undefined,
    driverIds: stored.driverIds ?? undefined,
    columns: stored.columns ?? undefined,
    groupBy: stored.groupBy ?? undefined,
    language: stored.language ?? undefined,
  };
}

const byId = z.object({ id: id<ReportScheduleId>() });
const schedules = new ResourceRoutes({
  group: 'Reports',
  path: '/api/v1/report-schedules',
  operations: ['ReportSchedule', 'ReportSchedules'],
  noun: 'schedule',
  params: byId,
  body: ScheduleOut,
  show: scheduleBody,
  entityOf: (schedule: ListedSchedule) => schedule,
});

export const reportScheduleRoutes: Route[] = [
  schedules.list({
    summary: 'List the caller’s report schedules; for operators, those of all accounts.',
    query: z.object(paging),
    page: (query, { access }) => access.reportSchedules.schedules(pageAsked(query)),
  }),
  schedules.add({
    summary: 'Schedule a report to be made every day, week or month, and sent by e-mail.',
    description:
      'Each report is a separate job and contains what the owner of the schedule may see at that time. If the owner is blocked, or an object that the schedule names is deleted or no longer visible to the owner, the schedule becomes inactive until it is switched on again. Reports that were missed while the service was down are made afterwards, for up to one week.',
    body: z
      .strictObject({ ...FIELDS, active: z.boolean().default(true) })
      .meta({ id: 'NewReportSchedule', examples: [EXAMPLE as never] }),
    problems: ['conflict', 'quota-exceeded'],
    add: (body, { access }) => access.reportSchedules.add(wishFrom(body)),
  }),
  schedules.get({ get: ({ id }, { access }) => access.reportSchedules.schedule(id) }),
  get('/api/v1/report-schedules/{id}/deliveries', {
    operationId: 'listReportDeliveries',
    summary: 'List the e-mails with reports of a schedule, the newest first.',
    params: byId,
    query: z.object(paging),
    answers: { 200: pageOf(DeliveryOut) },
    problems: ['not-found'],
    async handle({ params, query }, { access }) {
      return pageReply(await access.reportSchedules.deliveries(params.id, pageAsked(query)), deliveryBody);
    },
  }),
  schedules.change({
    summary: 'Change a report schedule (JSON merge patch).',
    description: 'No second report is made for a scheduled day that already has one, whatever is changed.',
    body: z
      .strictObject({
        ...FIELDS,
        active: z.boolean(),
        vehicleId: FIELDS.vehicleId.nullable(),
        vehicleIds: FIELDS.vehicleIds.nullable(),
        groupId: FIELDS.groupId.nullable(),
        period: FIELDS.period.nullable(),
        eventKinds: FIELDS.eventKinds.nullable(),
        geozoneId: FIELDS.geozoneId.nullable(),
        maxPoints: FIELDS.maxPoints.nullable(),
        workHours: FIELDS.workHours.nullable(),
        ecoWeights: FIELDS.ecoWeights.nullable(),
        sensors: FIELDS.sensors.nullable(),
        driverIds: FIELDS.driverIds.nullable(),
        columns: FIELDS.columns.nullable(),
        groupBy: FIELDS.groupBy.nullable(),
        language: FIELDS.language.nullable(),
      })
      .partial()
      .meta({ id: 'ReportSchedulePatch', examples: [{ hour: 7 } as never] }),
    problems: ['conflict'],
    change: ({ id }, body, { access, ifMatch }) =>
      access.reportSchedules.change(id, ifMatch, (current) => {
        const patch: Record<string, unknown> = { ...body };
        for (const name of OPTIONAL) if (patch[name] === null) patch[name] = undefined;
        return wishFrom({ ...saidOf(current), ...patch } as Said);
      }),
  }),
  schedules.remove({
    summary: 'Delete a report schedule. Reports that it made are kept as usual.',
    remove: ({ id }, { access, ifMatch }) => access.reportSchedules.remove(id, ifMatch),
  }),
];
