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
  userId: idOut
    .nullable()
    .meta({ description: 'Account that requested the job. Null if the service itself created it.' }),
  state: z.enum(JOB_STATES).meta({
    description: '`queued`: waiting for a worker. Long jobs run in several turns and are `queued` between them.',
  }),
  percent: z.number().meta({ description: 'Progress in percent, 0 to 100.' }),
  error: z.string().nullable().meta({ description: 'Reason why the job failed. Null unless it failed.' }),
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
        '`late-data`: started by the service because positions arrived late. `old-data`: the same for positions that arrived more than 31 days late.',
    }),
    subjectId: idOut
      .nullable()
      .meta({ description: 'The geozone or the vehicle. Null if it was deleted or is not visible to the caller.' }),
    from: timeOut.meta({
      description: 'Start of the recalculated time range, inclusive. Its end, `to`, is exclusive.',
    }),
    to: timeOut,
    positions: z.int().meta({ description: 'Number of positions processed up to now.' }),
    result: z
      .strictObject({
        vehicles: z.int(),
        added: z.int().meta({ description: 'Number of events that were missing before.' }),
        changed: z.int(),
        removed: z.int().meta({ description: 'Number of events that were removed because they did not happen.' }),
      })
      .nullable()
      .meta({ description: 'Result of the job. Null unless it is done.' }),
  })
  .meta({ id: 'RecalculationJob', examples: [RECALCULATION_EXAMPLE] });

/** Description of `historyFrom`: the time from which the history of all the vehicles is complete. */
export const HISTORY_FROM =
  'Time from which the history of all vehicles of the report is complete. Earlier data of at least one of them was erased, on request or by the retention of a group or of the fleet. Absent if the report begins at this time or later.';

export const incompleteOut = z
  .array(z.strictObject({ from: timeOut, to: timeOut }))
  .meta({
    id: 'IncompleteTimes',
    description:
      'Time ranges within the report for which the archive has lost rows that are not restored. The rows may belong to any vehicle. Absent if nothing was lost.',
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
        'The vehicle or the group. Null if the report covers several vehicles or all that the account may see, and if the vehicle or group was deleted or is not visible to the caller.',
    }),
    scheduleId: idOut
      .nullable()
      .meta({ description: 'The schedule that created the job. Null if a call requested it.' }),
    from: timeOut.nullable().meta({
      description: 'Start of the time range. `from` and `to` are both null for a report about the current state.',
    }),
    to: timeOut.nullable(),
    timeZone: z.string(),
    rows: z.int().meta({ description: 'Number of rows written up to now.' }),
    result: z
      .strictObject({
        rows: z.int(),
        bytes: z.int(),
        name: z.string().meta({ description: 'Suggested name for the saved file.' }),
        mediaType: z.string(),
        summary: z.array(z.string()).meta({
          description:
            'Totals of the report as lines of text, in the language and units of the reader. E-mails with the report contain the same lines.',
          examples: [['Distance: 120 km']],
        }),
        historyFrom: timeOut.optional().meta({ description: HISTORY_FROM }),
        incomplete: incompleteOut,
        url: z.string().meta({ description: 'Path of the file.' }),
        expiresAt: timeOut.meta({ description: 'Time at which the file is deleted at the latest.' }),
      })
      .nullable()
      .meta({ description: 'The file that the job created. Null unless the job is done.' }),
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
    requestedBy: idOut.nullable().meta({ description: 'Account that deleted it.' }),
    dueAt: timeOut.meta({ description: 'Until this time nothing is erased, and the job can be cancelled.' }),
    result: z
      .strictObject({
        archiveRows: z.int().meta({ description: 'Number of erased rows of positions and events.' }),
        videos: z.int(),
        reports: z.int().meta({ description: 'Number of erased report files.' }),
        serviceFiles: z.int().meta({ description: 'Number of erased files of service records.' }),
        notifications: z.int(),
        auditLines: z
          .int()
          .meta({ description: 'Number of audit trail entries from which personal data was removed.' }),
      })
      .nullable()
      .meta({
        description:
          'What was erased. The counts cover all vehicles and accounts that were erased in the same run. Null unless the job is done.',
      }),
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
    archiveRows: z.int().meta({ description: 'Number of erased rows of positions and events.' }),
    videos: z.int(),
    reports: z.int().meta({ description: 'Number of erased report files.' }),
    notifications: z.int(),
  })
  .nullable()
  .meta({ description: 'What was erased. Null unless the job is done.' });
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
    subjectId: idOut
      .nullable()
      .meta({ description: 'The vehicle. Null if it was deleted or is not visible to the caller.' }),
    before: timeOut.meta({ description: 'Data of the vehicle from before this time is erased.' }),
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
  description: 'Daily erasure of history that is older than the retention of groups and fleets.',
  examples: [{ ...HISTORY_ERASURE_EXAMPLE, kind: RETENTION, subjectId: null, userId: null }],
});

export const PersonExportOut = z
  .strictObject({
    ...job,
    kind: z.literal(PERSON_EXPORT),
    subject: z.enum(['user', 'driver']),
    subjectId: idOut.nullable().meta({
      description: 'The account or the driver. Null if it was deleted or the caller may no longer export its data.',
    }),
    result: z
      .strictObject({
        bytes: z.int(),
        name: z.string().meta({ description: 'Suggested name for the saved file.' }),
        mediaType: z.string(),
        url: z
          .string()
          .meta({ description: 'Path of the file. Only the account that requested the export can download it.' }),
        expiresAt: timeOut.meta({ description: 'Time at which the file is deleted at the latest.' }),
      })
      .nullable()
      .meta({ description: 'The file that the job created. Null unless the job is done.' }),
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
  from: utcRangeEndSuchAs('2026-01-08T00:00:00.000Z').meta({
    description: 'Start of the time range, inclusive, by the time of the fixes.',
  }),
  to: utcRangeEndSuchAs('2026-01-15T00:00:00.000Z').meta({
    description: `End of the time range, exclusive. At most ${MAX_RECALCULATED_DAYS} days after \`from\`.`,
  }),
});
const ACCEPTED = {
  202: {
    description: 'The job that was created. Its progress is at the URL in `Location`.',
    body: RecalculationOut,
    headers: { Location: 'URL of the job.' },
  },
};
const HOW = `The rules are applied to the stored positions, in the order of their fix times, with the current definitions. The resulting events replace those of the time range. Events that begin before the time range or continue after it are recalculated as a whole. Recalculated events have the \`origin\` \`recalculated\`, and nobody is notified of them.`;

export const jobRoutes: Route[] = [
  route({
    method: 'post',
    path: '/api/v1/geozones/{id}/recalculate',
    group: 'Geozones',
    operationId: 'recalculateGeozone',
    summary: 'Recalculate past events of a geozone.',
    description: `Recalculates the events of this geozone only, for all vehicles that it watches now. ${HOW}`,
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
    summary: 'Recalculate past events of a vehicle.',
    description: `Recalculates all events of the vehicle except \`offline\` and \`maintenance-due\`, which positions do not determine, and except those of geozones that were deleted or no longer watch the vehicle. ${HOW}

The service does this by itself when positions arrive late. Use this call after definitions have changed.`,
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
    summary: 'List jobs, newest first.',
    description:
      'Returns the jobs that the caller requested. Operators get the jobs of all accounts, and those that the service started itself, such as erasures of deleted vehicles and accounts (`kind=erasure`) and of history that is older than the retention of groups and fleets (`kind=retention`). A job is kept for 30 days after its end.',
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
    summary: 'Get a job, with its progress.',
    params: z.object({ id: id<JobId>() }),
    answers: { 200: { description: 'The job, with its progress and its result.', body: JobOut } },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return { status: 200, body: jobBody(await access.jobs.job(params.id), access.jobs.retentionMs) };
    },
  }),
  post('/api/v1/jobs/{id}/cancel', {
    operationId: 'cancelJob',
    summary: 'Cancel a job.',
    description:
      'A running job stops shortly afterwards. Work that it has completed is not undone. A finished job is not changed. The erasure of a deleted vehicle or account can be cancelled only before it begins. Erasures of history (`erase-history`, `retention`) cannot be cancelled.',
    params: z.object({ id: id<JobId>() }),
    answers: {
      200: { description: 'The job as it is now. A running job is `cancelled` once it has stopped.', body: JobOut },
    },
    problems: ['not-found', 'conflict'],
    async handle({ params }, { access }) {
      return { status: 200, body: jobBody(await access.jobs.cancel(params.id), access.jobs.retentionMs) };
    },
  }),
];
