import { type JobAccess, MAX_RECALCULATED_DAYS, PERSON_EXPORT } from '@outrider/access';
import { type GeofenceId, isoTime, type JobId } from '@outrider/domain';
import { ERASE_HISTORY, ERASURE, type ErasureFacts, JOB_STATES, type Job, RETENTION } from '@outrider/registry';
import { REPORT_JOB, requestOf, type TimeSpan } from '@outrider/reports';
import { z } from 'zod';
import { id, idOut, pageAsked, pageReply, paging, timeOut, utcRangeEndSuchAs } from '../fields/fields.ts';
import { pageOf } from '../http/whole-list.ts';
import { callsOf, type Reply, type Route, route } from '../route.ts';
import { vehicleKey } from './fleet/vehicles.ts';

const { get, post } = callsOf('Reports');

/** Kinds of jobs in requests and responses. */
const RECALCULATIONS = ['recalculate-geozone', 'recalculate-vehicle', 'late-data', 'old-data'] as const;
const KINDS = [...RECALCULATIONS, REPORT_JOB, ERASURE, ERASE_HISTORY, RETENTION, PERSON_EXPORT] as const;

/** Fields of every job. */
const job = {
  id: idOut,
  userId: idOut.nullable().meta({ description: 'Who asked for it; null: the service itself.' }),
  state: z.enum(JOB_STATES).meta({ description: '`queued`: waits for its turn; long ones do so time and again.' }),
  percent: z.number().meta({ description: 'How far it is.' }),
  error: z.string().nullable().meta({ description: 'Why it failed.' }),
  createdAt: timeOut,
  startedAt: timeOut.nullable(),
  finishedAt: timeOut.nullable(),
};

const RECALCULATION_EXAMPLE = {
  id: '01961f3d-0a10-7c3e-9b1d-2f6a0c4e8d61',
  kind: 'recalculate-geozone' as const,
  subjectId: '01961f3c-be54-7a7c-9f5b-6d0e4a8c2b9b',
  userId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
  from: '2026-01-08T00:00:00.000Z',
  to: '2026-01-15T00:00:00.000Z',
  state: 'done' as const,
  percent: 100,
  positions: 412_087,
  result: { vehicles: 12, added: 85, changed: 0, removed: 0 },
  error: null,
  createdAt: '2026-01-15T12:00:00.000Z',
  startedAt: '2026-01-15T12:00:00.250Z',
  finishedAt: '2026-01-15T12:00:07.125Z',
};
const RecalculationOut = z
  .strictObject({
    ...job,
    kind: z.enum(RECALCULATIONS).meta({
      description:
        '`late-data`: begun by the service, because positions came late; `old-data`: more than 31 days late.',
    }),
    subjectId: idOut
      .nullable()
      .meta({ description: 'The geozone or the vehicle; null where it is not to be seen (any more).' }),
    from: timeOut.meta({ description: 'The time range that is recalculated; its end is not part of it.' }),
    to: timeOut,
    positions: z.int().meta({ description: 'Positions gone through so far.' }),
    result: z
      .strictObject({
        vehicles: z.int(),
        added: z.int().meta({ description: 'Events that were not known.' }),
        changed: z.int(),
        removed: z.int().meta({ description: 'Events that never happened.' }),
      })
      .nullable()
      .meta({ description: 'What came out of it; null before it is done.' }),
  })
  .meta({ id: 'RecalculationJob', examples: [RECALCULATION_EXAMPLE] });

/** Description of `historyFrom`: the time from which the history of all the vehicles is complete. */
export const HISTORY_FROM =
  'What was before is erased of at least one of the vehicles, by request or by the retention of a group or of the fleet. Absent where the report begins later.';

export const incompleteOut = z
  .array(z.strictObject({ from: timeOut, to: timeOut }))
  .meta({
    id: 'IncompleteTimes',
    description:
      'The archive has lost rows of these times, of whichever vehicles, and could not bring them back. Absent where it has all.',
    examples: [[{ from: '2026-01-15T12:00:00.000Z', to: '2026-01-15T13:00:00.000Z' }]] as never,
  })
  .optional();

export const spanJson = ({ fromMs, toMs }: TimeSpan) => ({ from: isoTime(fromMs), to: isoTime(toMs) });

export const ReportJobOut = z
  .strictObject({
    ...job,
    kind: z.literal(REPORT_JOB),
    report: z.string().meta({ description: 'Kind of the report.' }),
    format: z.string(),
    subjectId: idOut.nullable().meta({
      description:
        'The vehicle or the group; null: all that its user may see, or one that is not to be seen (any more).',
    }),
    scheduleId: idOut.nullable().meta({ description: 'The schedule that made it; null: asked for by a call.' }),
    from: timeOut.nullable().meta({ description: 'Null in both: a report about now.' }),
    to: timeOut.nullable(),
    timeZone: z.string(),
    rows: z.int().meta({ description: 'Rows written so far.' }),
    result: z
      .strictObject({
        rows: z.int(),
        bytes: z.int(),
        name: z.string().meta({ description: 'Suggested name for the saved file.' }),
        mediaType: z.string(),
        summary: z.array(z.string()).meta({
          description: 'Its totals as its reader reads them; what its e-mails say.',
          examples: [['Distance: 120 km']],
        }),
        historyFrom: timeOut.optional().meta({ description: HISTORY_FROM }),
        incomplete: incompleteOut,
        url: z.string().meta({ description: 'Where the file is.' }),
        expiresAt: timeOut.meta({ description: 'It is kept until then at most.' }),
      })
      .nullable()
      .meta({ description: 'Its file; null before it is done.' }),
  })
  .meta({
    id: 'ReportJob',
    examples: [
      {
        id: '01961f3d-1b21-7d4f-8c2e-3a7b1d5f9e72',
        kind: 'report',
        report: 'mileage',
        format: 'xlsx',
        subjectId: null,
        scheduleId: null,
        userId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
        from: '2025-12-31T23:00:00.000Z',
        to: '2026-01-14T23:00:00.000Z',
        timeZone: 'Europe/Berlin',
        state: 'done',
        percent: 100,
        rows: 12_480,
        result: {
          rows: 12_480,
          bytes: 412_087,
          name: 'mileage-2025-12-31-2026-01-14.xlsx',
          mediaType: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
          summary: ['Distance: 120 km', 'Trips: 9'],
          url: '/api/v1/report-jobs/01961f3d-1b21-7d4f-8c2e-3a7b1d5f9e72/file',
          expiresAt: '2026-01-22T12:00:07.125Z',
        },
        error: null,
        createdAt: '2026-01-15T12:00:00.000Z',
        startedAt: '2026-01-15T12:00:00.250Z',
        finishedAt: '2026-01-15T12:00:07.125Z',
      },
    ],
  });

const ErasureJobOut = z
  .strictObject({
    ...job,
    kind: z.literal(ERASURE),
    subject: z.enum(['vehicle', 'user']),
    subjectId: idOut.nullable().meta({ description: 'The vehicle or the account that was deleted.' }),
    requestedBy: idOut.nullable().meta({ description: 'Who deleted it.' }),
    dueAt: timeOut.meta({ description: 'Until then nothing is erased, and the job can be cancelled.' }),
    result: z
      .strictObject({
        archiveRows: z.int().meta({ description: 'Rows of positions and events.' }),
        videos: z.int(),
        reports: z.int().meta({ description: 'Files of reports.' }),
        serviceFiles: z.int().meta({ description: 'Files of service records.' }),
        notifications: z.int(),
        auditLines: z.int().meta({ description: 'Lines of the audit trail from which personal data was removed.' }),
      })
      .nullable()
      .meta({ description: 'What was erased, of all that went together with it; null before it is done.' }),
  })
  .meta({
    id: 'ErasureJob',
    examples: [
      {
        id: '01961f3d-2c32-7e5a-8d3f-4b8c2e6a0f83',
        kind: ERASURE,
        subject: 'vehicle',
        subjectId: '01961f3c-adf3-7c4b-8e6a-9c1d3f5b7e80',
        requestedBy: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
        dueAt: '2026-01-22T12:00:00.000Z',
        userId: null,
        state: 'queued',
        percent: 0,
        result: null,
        error: null,
        createdAt: '2026-01-15T12:00:00.000Z',
        startedAt: null,
        finishedAt: null,
      },
    ],
  });

const erased = z
  .strictObject({
    vehicles: z.int(),
    archiveRows: z.int().meta({ description: 'Rows of positions and events.' }),
    videos: z.int(),
    reports: z.int().meta({ description: 'Files of reports.' }),
    notifications: z.int(),
  })
  .nullable()
  .meta({ description: 'What was erased; null before it is done.' });
const HISTORY_ERASURE_EXAMPLE = {
  id: '01961f3d-3d43-7f6b-9e4a-5c9d3f7b1e94',
  userId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
  state: 'done' as const,
  percent: 100,
  result: { vehicles: 1, archiveRows: 413_295, videos: 3, reports: 1, notifications: 85 },
  error: null,
  createdAt: '2026-01-15T12:00:00.000Z',
  startedAt: '2026-01-15T12:00:02.500Z',
  finishedAt: '2026-01-15T12:00:19.000Z',
};
export const HistoryErasureOut = z
  .strictObject({
    ...job,
    kind: z.literal(ERASE_HISTORY),
    subjectId: idOut.nullable().meta({ description: 'The vehicle; null where it is not to be seen any more.' }),
    before: timeOut.meta({ description: 'What the vehicle did before it is erased.' }),
    result: erased,
  })
  .meta({
    id: 'HistoryErasureJob',
    examples: [
      {
        ...HISTORY_ERASURE_EXAMPLE,
        kind: ERASE_HISTORY,
        subjectId: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
        before: '2025-01-01T00:00:00.000Z',
      },
    ],
  });
const RetentionOut = z.strictObject({ ...job, kind: z.literal(RETENTION), subjectId: z.null(), result: erased }).meta({
  id: 'RetentionJob',
  description: 'The daily erasure of what groups keep no longer.',
  examples: [{ ...HISTORY_ERASURE_EXAMPLE, kind: RETENTION, subjectId: null, userId: null }],
});

export const PersonExportOut = z
  .strictObject({
    ...job,
    kind: z.literal(PERSON_EXPORT),
    subject: z.enum(['user', 'driver']),
    subjectId: idOut
      .nullable()
      .meta({ description: 'The account or the driver; null where it is not to be seen any more.' }),
    result: z
      .strictObject({
        bytes: z.int(),
        name: z.string().meta({ description: 'Suggested name for the saved file.' }),
        mediaType: z.string(),
        url: z.string().meta({ description: 'Where the file is, for who asked for it.' }),
        expiresAt: timeOut.meta({ description: 'It is kept until then at most.' }),
      })
      .nullable()
      .meta({ description: 'Its file; null before it is done.' }),
  })
  .meta({
    id: 'PersonExportJob',
    examples: [
      {
        id: '01961f3d-4e54-7a7c-8f5b-6d0e4a8c2ba5',
        kind: PERSON_EXPORT,
        subject: 'user',
        subjectId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
        userId: '01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79',
        state: 'done',
        percent: 100,
        result: {
          bytes: 48_213,
          name: 'user-01961f3c-9c32-7e5a-9d3f-4b8c2e6a0f79-2026-01-15.json',
          mediaType: 'application/json',
          url: '/api/v1/person-exports/01961f3d-4e54-7a7c-8f5b-6d0e4a8c2ba5/file',
          expiresAt: '2026-01-22T12:00:07.125Z',
        },
        error: null,
        createdAt: '2026-01-15T12:00:00.000Z',
        startedAt: '2026-01-15T12:00:00.250Z',
        finishedAt: '2026-01-15T12:00:07.125Z',
      },
    ],
  });

const JobOut = z
  .discriminatedUnion('kind', [
    RecalculationOut,
    ReportJobOut,
    ErasureJobOut,
    HistoryErasureOut,
    RetentionOut,
    PersonExportOut,
  ])
  .meta({ id: 'Job', examples: [RECALCULATION_EXAMPLE] });

const at = (timeMs: number | null) => (timeMs === null ? null : isoTime(timeMs));

function jobBody(job: Job, retentionMs: number): unknown {
  const common = {
    id: job.id,
    kind: job.kind,
    subjectId: job.subjectId,
    userId: job.userId,
    state: job.state,
    percent: Math.round(job.progress.percent * 10) / 10,
    error: job.error,
    createdAt: at(job.createdAtMs),
    startedAt: at(job.startedAtMs),
    finishedAt: at(job.finishedAtMs),
  };
  if (job.kind === REPORT_JOB) return { ...common, ...reportFacts(job, retentionMs) };
  if (job.kind === PERSON_EXPORT) return { ...common, ...exportFacts(job, retentionMs) };
  if (job.kind === RETENTION) return { ...common, result: job.result };
  if (job.kind === ERASE_HISTORY) {
    const { beforeMs } = job.parameters as { beforeMs: number };
    return { ...common, before: isoTime(beforeMs), result: job.result };
  }
  return { ...common, ...(job.kind === ERASURE ? erasureFacts(job) : recalculationFacts(job)) };
}

function recalculationFacts(job: Job) {
  const { fromMs, toMs } = job.parameters as { fromMs: number; toMs: number };
  const { vehicles, added, changed, removed } = job.result ?? {};
  return {
    from: isoTime(fromMs),
    to: isoTime(toMs + 1),
    positions: job.progress.positions,
    result: job.result && { vehicles, added, changed, removed },
  };
}

function erasureFacts(job: Job) {
  const { subject, requestedBy, dueAtMs } = job.parameters as ErasureFacts;
  return { subject, requestedBy, dueAt: isoTime(dueAtMs), result: job.result };
}

function exportFacts(job: Job, retentionMs: number) {
  const { bytes, name, mediaType } = job.result ?? {};
  const url = `/api/v1/person-exports/${job.id}/file`;
  const expiresAt = isoTime((job.finishedAtMs ?? 0) + retentionMs);
  return { subject: job.parameters.subject, result: job.result && { bytes, name, mediaType, url, expiresAt } };
}

function reportFacts(job: Job, retentionMs: number) {
  const { report, format, fromMs, toMs, timeZone } = requestOf(job);
  const url = `/api/v1/report-jobs/${job.id}/file`;
  const { historyFromMs: _, incomplete: __, ...result } = job.result ?? {};
  return {
    report,
    format,
    scheduleId: job.scheduleId,
    from: at(fromMs),
    to: at(toMs),
    timeZone,
    rows: job.progress.positions,
    // For a failed job, the result is the reason shown to people.
    result:
      job.state === 'done'
        ? { summary: [], ...result, ...missingOf(job), url, expiresAt: isoTime((job.finishedAtMs ?? 0) + retentionMs) }
        : null,
  };
}

function missingOf({ result }: Job) {
  const { historyFromMs, incomplete } = (result ?? {}) as { historyFromMs?: number; incomplete?: TimeSpan[] };
  return {
    ...(historyFromMs !== undefined && { historyFrom: isoTime(historyFromMs) }),
    ...(incomplete !== undefined && { incomplete: incomplete.map(spanJson) }),
  };
}

/** Response for a job that was just started, with the location of its progress. */
export function accepted(job: Job, { retentionMs }: JobAccess): Reply {
  return { status: 202, body: jobBody(job, retentionMs), headers: { location: `/api/v1/jobs/${job.id}` } };
}

const timeRange = z.object({
  from: utcRangeEndSuchAs('2026-01-08T00:00:00.000Z').meta({ description: 'Time of the fix, inclusive.' }),
  to: utcRangeEndSuchAs('2026-01-15T00:00:00.000Z').meta({
    description: `Time of the fix, exclusive; ${MAX_RECALCULATED_DAYS} days after from at most.`,
  }),
});
const ACCEPTED = {
  202: {
    description: 'It is a job now: see how far it is there.',
    body: RecalculationOut,
    headers: { Location: 'URL of the job.' },
  },
};
const HOW = `The rules are run over the stored positions, in the order in which they were taken, under the definitions as they are now, and what they say takes the place of the events of that time. Events that began before and went on, or that go on after it, are made whole. Nobody is notified of what was recalculated: such events have the \`origin\` \`recalculated\`.`;

export const jobRoutes: Route[] = [
  route({
    method: 'post',
    path: '/api/v1/geozones/{id}/recalculate',
    group: 'Geozones',
    operationId: 'recalculateGeozone',
    summary: 'Ask a geozone about the past.',
    description: `Makes the events of the geozone, and of no other, anew for all vehicles that it watches now. ${HOW}`,
    params: z.object({ id: id<GeofenceId>() }),
    query: timeRange,
    answers: ACCEPTED,
    problems: ['not-found', 'forbidden', 'conflict'],
    async handle({ params, query }, { access }) {
      return accepted(
        await access.geofences.recalculate(params.id, { fromMs: query.from, toMs: query.to }),
        access.jobs,
      );
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/vehicles/{id}/recalculate',
    group: 'Vehicles',
    operationId: 'recalculateVehicle',
    summary: 'Make the events of a vehicle anew.',
    description: `All but those of being offline, which positions say nothing of, and those of geozones that are no more. ${HOW}

Where positions come late, the service does this by itself: this call is for definitions that have changed.`,
    params: z.object({ id: vehicleKey }),
    query: timeRange,
    answers: ACCEPTED,
    problems: ['not-found', 'forbidden', 'conflict'],
    async handle({ params, query }, { access }) {
      return accepted(
        await access.vehicles.recalculate(params.id, { fromMs: query.from, toMs: query.to }),
        access.jobs,
      );
    },
  }),
  get('/api/v1/jobs', {
    operationId: 'listJobs',
    summary: 'Jobs, the newest first.',
    description:
      'What the caller asked for; for an operator everybody’s, and those that the service began by itself, such as the erasures of deleted vehicles and accounts (`kind=erasure`) and of what groups and fleets keep no longer (`kind=retention`). A job is kept for 30 days after its end.',
    query: z.object({
      ...paging,
      kind: z.enum(KINDS).optional(),
      state: z.enum(JOB_STATES).optional(),
    }),
    answers: { 200: pageOf(JobOut) },
    async handle({ query }, { access }) {
      const { kind, state } = query;
      const filter = { ...(kind === undefined ? {} : { kind }), ...(state === undefined ? {} : { state }) };
      return pageReply(await access.jobs.jobs(filter, pageAsked(query)), (each) =>
        jobBody(each, access.jobs.retentionMs),
      );
    },
  }),
  get('/api/v1/jobs/{id}', {
    operationId: 'getJob',
    summary: 'How far a job is.',
    params: z.object({ id: id<JobId>() }),
    answers: { 200: { description: 'The job, with its progress and its result.', body: JobOut } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 200, body: jobBody(await access.jobs.job(params.id), access.jobs.retentionMs) };
    },
  }),
  post('/api/v1/jobs/{id}/cancel', {
    operationId: 'cancelJob',
    summary: 'Call a job off.',
    description:
      'One that runs ends a moment later. What it has done so far stays done; a job that is over stays as it is. An erasure can only be called off before it begins, one of a vehicle’s history not at all.',
    params: z.object({ id: id<JobId>() }),
    answers: { 200: { description: 'The job, which is cancelled.', body: JobOut } },
    problems: ['not-found', 'conflict'],
    async handle({ params }, { access }) {
      return { status: 200, body: jobBody(await access.jobs.cancel(params.id), access.jobs.retentionMs) };
    },
  }),
];
