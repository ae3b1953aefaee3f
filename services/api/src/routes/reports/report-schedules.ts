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
  .meta({ description: '`weekly`: on Mondays. `monthly`: on the first of the month.' });
const hour = z.int().min(0).max(23).meta({
  description:
    'By the clock of the `timeZone`. Once a day, whatever the clocks do: an hour that is left out is taken as much later, of one that comes twice it is the first.',
});
const covers = z
  .enum(SCHEDULE_COVERS)
  .meta({ description: 'The day, the week (from Monday) or the month that ended last, in the `timeZone`.' });
const emails = recipients(
  'Each gets an e-mail of its own, with the file where it is not too large for that, once its holder has confirmed it: see `emailStates`.',
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
    inactiveReason: z
      .enum(['switched-off', 'owner-blocked', 'nothing-to-tell'])
      .nullable()
      .meta({ description: '`nothing-to-tell`: what it names is gone, or its owner may not see it any more.' }),
    kind: z.string(),
    format: z.string(),
    vehicleId: idOut
      .nullable()
      .meta({ description: 'Null, as in the next three: none, or one that is not to be seen (any more).' }),
    vehicleIds: z.array(idOut).nullable().meta({ description: 'Those of them that are to be seen.' }),
    groupId: idOut.nullable(),
    geozoneId: idOut.nullable(),
    period: z.string(),
    eventKinds: z.array(z.string()).nullable(),
    maxPoints: z.int().nullable(),
    workHours: z.string().nullable(),
    ecoWeights: z.string().nullable(),
    sensors: z.array(z.string()).nullable(),
    driverIds: z.array(idOut).nullable().meta({ description: 'Those of them that are to be seen.' }),
    columns: z.array(z.string()).nullable(),
    groupBy: groupBy.nullable(),
    language: language.nullable(),
    timeZone: z.string(),
    frequency,
    hour: z.int(),
    covers,
    emails: z.array(z.string()),
    emailStates: EmailStatesOut,
    lastPeriod: z.iso.date().nullable().meta({ description: 'The last day that a report was made for.' }),
    nextAt: timeOut.nullable().meta({ description: 'When the next is due; null while it is not active.' }),
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
    jobId: idOut.meta({ description: 'The job that made the report.' }),
    address: z.string(),
    state: z.enum(['pending', 'delivered', 'failed', 'cancelled']),
    attempts: z.int(),
    createdAt: timeOut,
    finishedAt: timeOut.nullable().meta({ description: 'Null: it is tried again.' }),
    error: z.string().nullable().meta({ description: 'Why the last attempt failed.' }),
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
    summary: 'The caller’s schedules of reports; for an operator everybody’s.',
    query: z.object(paging),
    page: (query, { access }) => access.reportSchedules.schedules(pageAsked(query)),
  }),
  schedules.add({
    summary: 'Have a report made every day, week or month, and sent by e-mail.',
    description:
      'Each is a job of its own, which holds what its owner may see at that time. A schedule whose owner was blocked, or that names what is gone, rests until it is switched on again. What was missed while the service was down is made up for, up to a week.',
    body: z
      .strictObject({ ...FIELDS, active: z.boolean().default(true) })
      .meta({ id: 'NewReportSchedule', examples: [EXAMPLE as never] }),
    problems: ['conflict', 'quota-exceeded'],
    add: (body, { access }) => access.reportSchedules.add(wishFrom(body)),
  }),
  schedules.get({ get: ({ id }, { access }) => access.reportSchedules.schedule(id) }),
  get('/api/v1/report-schedules/{id}/deliveries', {
    operationId: 'listReportDeliveries',
    summary: 'E-mails of a schedule’s reports, the newest first.',
    params: byId,
    query: z.object(paging),
    answers: { 200: pageOf(DeliveryOut) },
    problems: ['not-found'],
    async handle({ params, query }, { access }) {
      return pageReply(await access.reportSchedules.deliveries(params.id, pageAsked(query)), deliveryBody);
    },
  }),
  schedules.change({
    summary: 'Change fields of a schedule.',
    description: 'A period that a report was made for has no second one, whatever is changed.',
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
    summary: 'Delete a schedule; reports that it made stay for their time.',
    remove: ({ id }, { access, ifMatch }) => access.reportSchedules.remove(id, ifMatch),
  }),
];
