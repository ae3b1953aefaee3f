import { badField } from '@outrider/access';
import type { JobId } from '@outrider/domain';
import type { ReportRequest } from '@outrider/reports';
import { FORMATS, MAX_INTERVALS, reportKind } from '@outrider/reports';
import { z } from 'zod';
import { id, instantOf, type RangeEnd, rangeEndSuchAs } from '../../fields/fields.ts';
import { kindsThat, REPORT_FIELDS, type ReportFields, reportFrom } from '../../fields/report-fields.ts';
import { shapeOf } from '../../geozones/geojson.ts';
import { FILE_REQUEST_HEADERS, storedFileReply } from '../../http/file-reply.ts';
import { callsOf, type Route } from '../../route.ts';
import { accepted, ReportJobOut } from '../jobs.ts';
import { MAX_DAYS, visitedShapeIn } from './reports.ts';

const { get, post } = callsOf('Reports');

const DAY_MS = 86_400_000;

const NewReportJob = z
  .strictObject({
    ...REPORT_FIELDS,
    from: rangeEndSuchAs('2025-12-31T23:00:00.000Z')
      .optional()
      .meta({
        description: `Start of the time range, inclusive. Required for every kind except ${kindsThat(({ isNow }) => isNow)}. A day such as \`2026-01-15\` stands for its start in \`timeZone\`.`,
      }),
    to: rangeEndSuchAs('2026-01-14T23:00:00.000Z')
      .optional()
      .meta({
        description: `End of the time range, exclusive; at most ${MAX_DAYS} days after \`from\`. Required for the same kinds.`,
      }),
    shape: visitedShapeIn.optional().meta({
      description:
        'For `geozone-visits`: report visits of this shape, which is not saved, instead of visits of geozones.',
    }),
  })
  .meta({
    id: 'NewReportJob',
    examples: [
      {
        kind: 'mileage',
        from: '2025-12-31T23:00:00.000Z',
        to: '2026-01-14T23:00:00.000Z',
        timeZone: 'Europe/Berlin',
        period: 'day',
        format: 'xlsx',
      } as never,
    ],
  });

/** Time range of the job; both ends are null for a report about the current state. */
function timeRangeOf({
  kind,
  timeZone,
  period,
  ...range
}: ReportFields & { from?: RangeEnd | undefined; to?: RangeEnd | undefined }) {
  if (reportKind(kind)?.isNow) {
    for (const name of ['from', 'to'] as const)
      if (range[name] !== undefined)
        throw badField(`/${name}`, 'This report shows the current state and has no time range.');
    return { fromMs: null, toMs: null };
  }
  if (range.from === undefined) throw badField('/from', 'It is missing.');
  if (range.to === undefined) throw badField('/to', 'It is missing.');
  const [from, to] = [instantOf(range.from, timeZone), instantOf(range.to, timeZone)];
  if (to <= from) throw badField('/to', 'It must be later than from.');
  if (to - from > MAX_DAYS * DAY_MS) throw badField('/to', `It must be at most ${MAX_DAYS} days after from.`);
  if (period === 'day' && (to - from) / DAY_MS > MAX_INTERVALS)
    throw badField('/period', 'The time range has too many days.');
  return { fromMs: from, toMs: to };
}

const FILE_HEADERS = {
  'Content-Disposition': 'Suggested file name.',
  ETag: 'Changes only if the file changes.',
  'Last-Modified': 'When the file was made.',
  'Accept-Ranges': '`bytes`.',
};
const aFile = z.string().meta({ format: 'binary', examples: ['vehicleId,vehicleName\r\n'] });
const aJsonFile = z.looseObject({}).meta({ examples: [{ type: 'FeatureCollection', features: [] }] });
const [first, ...others] = FORMATS.map(({ mediaType }) => mediaType);
const fileTypes = {
  body: aFile,
  mediaType: first ?? '',
  otherTypes: Object.fromEntries(
    others.map((mediaType) => [mediaType, /[/+]json$/.test(mediaType) ? aJsonFile : aFile]),
  ),
};

export const reportJobRoutes: Route[] = [
  post('/api/v1/report-jobs', {
    operationId: 'addReportJob',
    summary: 'Start a job that writes a report to a file.',
    description:
      'The report contains what the caller may see when the job runs. The job shows its progress; its end is sent on `/live` as `report-job`.',
    body: NewReportJob,
    answers: {
      202: {
        description: 'The job was created. Its progress is at `Location`.',
        body: ReportJobOut,
        headers: { Location: 'URL of the job.' },
      },
    },
    problems: ['conflict', 'quota-exceeded'],
    async handle({ body }, { access }) {
      const request: ReportRequest = { ...reportFrom(body), ...timeRangeOf(body), shape: null };
      if (body.shape !== undefined) {
        if (body.kind !== 'geozone-visits') throw badField('/shape', 'It is only for reports of geozone-visits.');
        if (body.geozoneId !== undefined) throw badField('/shape', 'Name a geozone or a shape, not both.');
        const { minDwellSeconds, ...properties } = body.shape.properties;
        const { geometry } = body.shape;
        request.shape = { shape: shapeOf({ type: 'Feature', geometry, properties }), minDwellSeconds };
      }
      return accepted(await access.jobs.addReport(request), access.jobs);
    },
  }),
  get('/api/v1/report-jobs/{id}/file', {
    operationId: 'getReportFile',
    summary: 'Download the file of a finished report.',
    description:
      'Only for callers who may still see everything in the file. With `Range`, a part of the file. `HEAD` is supported as well.',
    headers: FILE_REQUEST_HEADERS,
    params: z.object({ id: id<JobId>() }),
    answers: {
      200: { description: 'The file.', ...fileTypes, headers: FILE_HEADERS },
      206: {
        description: 'The requested part of the file.',
        ...fileTypes,
        headers: { ...FILE_HEADERS, 'Content-Range': 'Range of bytes in the response, and length of the file.' },
      },
      304: { description: 'The client has the current file already.', headers: FILE_HEADERS },
    },
    problems: ['not-found', 'not-done', 'gone', 'range-not-satisfiable'],
    async handle({ params }, { access, method, header }) {
      return storedFileReply(await access.jobs.reportFile(params.id), access.jobs, { method, header });
    },
  }),
];
