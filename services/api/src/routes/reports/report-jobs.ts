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
        description: `Inclusive. Of every kind but ${kindsThat(({ isNow }) => isNow)}. A day such as \`2026-01-15\` begins by the clock of \`timeZone\`.`,
      }),
    to: rangeEndSuchAs('2026-01-14T23:00:00.000Z')
      .optional()
      .meta({ description: `Exclusive; ${MAX_DAYS} days after from at most.` }),
    shape: visitedShapeIn
      .optional()
      .meta({ description: 'Of `geozone-visits`: a shape that was never saved, in place of the geozones.' }),
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
      if (range[name] !== undefined) throw badField(`/${name}`, 'This report is about now.');
    return { fromMs: null, toMs: null };
  }
  if (range.from === undefined) throw badField('/from', 'It is missing.');
  if (range.to === undefined) throw badField('/to', 'It is missing.');
  const [from, to] = [instantOf(range.from, timeZone), instantOf(range.to, timeZone)];
  if (to <= from) throw badField('/to', 'It must be later than from.');
  if (to - from > MAX_DAYS * DAY_MS) throw badField('/to', `It may be ${MAX_DAYS} days after from at most.`);
  if (period === 'day' && (to - from) / DAY_MS > MAX_INTERVALS) throw badField('/period', 'There are too many days.');
  return { fromMs: from, toMs: to };
}

const FILE_HEADERS = {
  'Content-Disposition': 'A name for it.',
  ETag: 'The same as long as the file is.',
  'Last-Modified': 'When it was made.',
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
    summary: 'Have a large report made as a file.',
    description:
      'What it holds is decided by what the caller may see when it is made. The job shows its progress; its end is sent on `/live` as `report-job`.',
    body: NewReportJob,
    answers: {
      202: {
        description: 'It is a job now: see how far it is there.',
        body: ReportJobOut,
        headers: { Location: 'URL of the job.' },
      },
    },
    problems: ['conflict', 'quota-exceeded'],
    async handle({ body }, { access }) {
      const request: ReportRequest = { ...reportFrom(body), ...timeRangeOf(body), shape: null };
      if (body.shape !== undefined) {
        if (body.kind !== 'geozone-visits') throw badField('/shape', 'It is for reports of geozone-visits.');
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
    summary: 'The file of a report that is done.',
    description:
      'For who may still see everything that is in it. With `Range`, a part of it. `HEAD` is answered as well.',
    headers: FILE_REQUEST_HEADERS,
    params: z.object({ id: id<JobId>() }),
    answers: {
      200: { description: 'The file.', ...fileTypes, headers: FILE_HEADERS },
      206: {
        description: 'The part that was asked for.',
        ...fileTypes,
        headers: { ...FILE_HEADERS, 'Content-Range': 'Which bytes, of how many.' },
      },
      304: { description: 'The client has it already.', headers: FILE_HEADERS },
    },
    problems: ['not-found', 'not-done', 'gone', 'range-not-satisfiable'],
    async handle({ params }, { access, method, header }) {
      return storedFileReply(await access.jobs.reportFile(params.id), access.jobs, { method, header });
    },
  }),
];
