import type { ListedSchedule, ScheduleWish } from '@outrider/access';
import {
  isoTime,
  type ReportSchedule,
  type ReportScheduleId,
  SCHEDULE_COVERS,
  SCHEDULE_FREQUENCIES,
} from '@outrider/domain';
import { scheduledReport } from '@outrider/reports';
import { z } from 'zod';
import {
  EmailStatesOut,
  id,
  idOut,
  line,
  listOf,
  pageAsked,
  pageReply,
  paging,
  recipients,
  timeOut,
} from '../fields.ts';
import { etagOf } from '../input.ts';
import { REPORT_FIELDS, type ReportFields, reportFrom } from '../report-fields.ts';
import { type Reply, type Route, route } from '../route.ts';

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
/** What a report may be without. */
const OPTIONAL = ['vehicleId', 'groupId', 'period', 'eventKinds', 'geozoneId', 'maxPoints'] as const;

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
      .meta({ description: 'Null, as in the next two: none, or one that is not to be seen (any more).' }),
    groupId: idOut.nullable(),
    geozoneId: idOut.nullable(),
    period: z.string(),
    eventKinds: z.array(z.string()).nullable(),
    maxPoints: z.int().nullable(),
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
        groupId: null,
        geozoneId: null,
        eventKinds: null,
        maxPoints: null,
        emailStates: [{ address: 'dispatch@example.com', state: 'confirmed', suppressedToday: 0 }],
        lastPeriod: '2026-01-12',
        nextAt: '2026-01-19T05:00:00.000Z',
      },
    ],
  });

function scheduleBody(schedule: ListedSchedule): unknown {
  const { report, format, vehicleId, groupId, geofenceId, period, eventKinds, maxPoints } = scheduledReport(schedule);
  return {
    id: schedule.id,
    ownerId: schedule.ownerId,
    name: schedule.name,
    active: schedule.active,
    inactiveReason: schedule.inactiveReason,
    kind: report,
    format,
    vehicleId,
    groupId,
    geozoneId: geofenceId,
    period,
    eventKinds,
    maxPoints,
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

function scheduleReply(status: 200 | 201, schedule: ListedSchedule): Reply {
  const headers: Record<string, string> = { etag: etagOf(schedule.version) };
  if (status === 201) headers.location = `/api/v1/report-schedules/${schedule.id}`;
  return { status, body: scheduleBody(schedule), headers };
}

type Said = ReportFields & Pick<ScheduleWish, 'name' | 'active' | 'frequency' | 'hour' | 'covers' | 'emails'>;

/** @throws {Problem} when fields do not go together */
function wishFrom(said: Said): ScheduleWish {
  const { name, active, frequency: often, hour: at, covers: of, emails: to } = said;
  const { timeZone: zone, ...report } = reportFrom(said);
  return { name, active, frequency: often, hour: at, covers: of, timeZone: zone, emails: to, report };
}

/** A schedule in the words of its fields. */
function saidOf(schedule: ReportSchedule): Said {
  const { report, format, vehicleId, groupId, geofenceId, period, eventKinds, maxPoints } = scheduledReport(schedule);
  const { name, active, timeZone: zone, frequency: often, hour: at, covers: of, emails: to } = schedule;
  return {
    ...{ kind: report, format, timeZone: zone, name, active, frequency: often, hour: at, covers: of, emails: to },
    vehicleId: vehicleId ?? undefined,
    groupId: groupId ?? undefined,
    geozoneId: geofenceId ?? undefined,
    period: ['mileage', 'summary'].includes(report) ? period : undefined,
    eventKinds: eventKinds ?? undefined,
    maxPoints: maxPoints ?? undefined,
  };
}

const byId = z.object({ id: id<ReportScheduleId>() });
const ETAG = { ETag: 'Version of the schedule.' };
const oneSchedule = { description: 'The schedule.', body: ScheduleOut, headers: ETAG };

export const reportScheduleRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/report-schedules',
    group: 'Reports',
    operationId: 'listReportSchedules',
    summary: 'The caller’s schedules of reports; for an operator everybody’s.',
    query: z.object(paging),
    answers: { 200: { description: 'A page.', body: listOf(ScheduleOut) } },
    async handle({ query }, { access }) {
      return pageReply(await access.reportSchedules.schedules(pageAsked(query)), scheduleBody);
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/report-schedules',
    group: 'Reports',
    operationId: 'addReportSchedule',
    summary: 'Have a report made every day, week or month, and sent by e-mail.',
    description:
      'Each is a job of its own, which holds what its owner may see at that time. A schedule whose owner was blocked, or that names what is gone, rests until it is switched on again. What was missed while the service was down is made up for, up to a week.',
    body: z
      .strictObject({ ...FIELDS, active: z.boolean().default(true) })
      .meta({ id: 'NewReportSchedule', examples: [EXAMPLE as never] }),
    answers: {
      201: {
        ...oneSchedule,
        description: 'Added.',
        headers: { ...ETAG, Location: 'URL of the schedule.' },
      },
    },
    problems: ['conflict', 'quota-exceeded'],
    async handle({ body }, { access }) {
      return scheduleReply(201, await access.reportSchedules.add(wishFrom(body)));
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/report-schedules/{id}',
    group: 'Reports',
    operationId: 'getReportSchedule',
    summary: 'One schedule.',
    params: byId,
    answers: { 200: oneSchedule },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return scheduleReply(200, await access.reportSchedules.schedule(params.id));
    },
  }),
  route({
    method: 'patch',
    path: '/api/v1/report-schedules/{id}',
    group: 'Reports',
    operationId: 'changeReportSchedule',
    summary: 'Change fields of a schedule.',
    description: 'A period that a report was made for has no second one, whatever is changed.',
    conditional: true,
    params: byId,
    body: z
      .strictObject({
        ...FIELDS,
        active: z.boolean(),
        vehicleId: FIELDS.vehicleId.nullable(),
        groupId: FIELDS.groupId.nullable(),
        period: FIELDS.period.nullable(),
        eventKinds: FIELDS.eventKinds.nullable(),
        geozoneId: FIELDS.geozoneId.nullable(),
        maxPoints: FIELDS.maxPoints.nullable(),
      })
      .partial()
      .meta({ id: 'ReportSchedulePatch', examples: [{ hour: 7 } as never] }),
    answers: { 200: oneSchedule },
    problems: ['not-found', 'conflict', 'stale'],
    async handle({ params, body }, { access, ifMatch }) {
      const changed = await access.reportSchedules.change(params.id, ifMatch, (current) => {
        const patch: Record<string, unknown> = { ...body };
        for (const name of OPTIONAL) if (patch[name] === null) patch[name] = undefined;
        return wishFrom({ ...saidOf(current), ...patch } as Said);
      });
      return scheduleReply(200, changed);
    },
  }),
  route({
    method: 'delete',
    path: '/api/v1/report-schedules/{id}',
    group: 'Reports',
    operationId: 'deleteReportSchedule',
    summary: 'Delete a schedule; reports that it made stay for their time.',
    conditional: true,
    params: byId,
    answers: { 204: { description: 'Deleted.' } },
    problems: ['not-found', 'stale'],
    async handle({ params }, { access, ifMatch }) {
      await access.reportSchedules.remove(params.id, ifMatch);
      return { status: 204 };
    },
  }),
];
