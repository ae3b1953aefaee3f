import { badParameter, Problem } from '@outrider/access';
import { EVENT_KINDS, type GeofenceId, type GroupId, isoTime, type Position, positionJson } from '@outrider/domain';
import {
  acceptedFormat,
  allRows,
  begun,
  type Column,
  formatsOf,
  fullPage,
  isTimeZone,
  jsonRow,
  jumpState,
  MAX_INTERVALS,
  type Period,
  type Question,
  REPORT_KINDS,
  type ReportKind,
  shapeVisitsReport,
  trackReport,
} from '@outrider/reports';
import { z } from 'zod';
import { exampleOf, id, listOf, paging, readCursor, timeIn, timeSuchAs, writeCursor } from '../fields.ts';
import { shapeOf } from '../geojson.ts';
import { geometryIn } from '../geozone-fields.ts';
import { ownParameters } from '../report-fields.ts';
import { type AuthorizedContext, type Reply, type Route, route } from '../route.ts';
import { PositionOut, vehicleKey } from './vehicles.ts';

/** What a report may have: more is for nobody to read, and for a job to make. */
const MAX_ROWS = 5_000_000;
export const MAX_DAYS = 1100;
const DAY_MS = 86_400_000;

const trackCursor = z.strictObject({
  fixTimeMs: z.int(),
  rejection: z.enum(['out-of-range', 'null-island', 'time-in-future', 'time-too-old', 'jump']).nullable(),
  judged: jumpState,
});
/**
 * Where a page of a report ended: the report knows what it means, and asks about the caller's vehicles alone whatever
 * it says.
 */

export const reportedVehicles = {
  vehicleId: vehicleKey.optional(),
  groupId: id<GroupId>().optional().meta({
    description:
      'The vehicles of this group that the caller may see. Without `vehicleId` and `groupId`: all that the caller may see.',
  }),
};
const when = {
  from: timeIn.meta({ description: 'Inclusive.' }),
  to: timeSuchAs('2026-01-16T12:00:00.000Z').meta({ description: `Exclusive; ${MAX_DAYS} days after from at most.` }),
};
const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'It must be the name of a time zone, such as Europe/Berlin.')
  .default('UTC')
  .meta({ description: 'Whose days, weeks, months and hours they are: an IANA name.', examples: ['Europe/Berlin'] });
const FORMAT_ABOUT =
  'In place of `Accept`. `json` comes by the page; every other format is the whole report as a file.';

interface Asked {
  vehicleId?: z.output<typeof vehicleKey> | undefined;
  groupId?: GroupId | undefined;
  from?: number | undefined;
  to?: number | undefined;
  timeZone?: string | undefined;
  period?: Period | undefined;
  kind?: string | undefined;
  geozoneId?: GeofenceId | undefined;
  maxPoints?: number | undefined;
  format?: string | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** The question as the reports take it, with its vehicles found by the caller's rights. */
async function questionOf(asked: Asked, { access, nowMs, signal }: AuthorizedContext): Promise<Question> {
  const { from = 0, to = nowMs } = asked;
  if (asked.from !== undefined && to <= from) throw badParameter('to', 'It must be later than from.');
  if (asked.from !== undefined && to - from > MAX_DAYS * DAY_MS)
    throw badParameter('to', `It may be ${MAX_DAYS} days after from at most.`);
  if (asked.vehicleId !== undefined && asked.groupId !== undefined)
    throw badParameter('groupId', 'Name a vehicle or a group, not both.');
  if (asked.geozoneId !== undefined) await access.geofence(asked.geozoneId);
  return {
    vehicles: await access.reportVehicles(asked.vehicleId, asked.groupId),
    fromMs: from,
    toMs: to,
    timeZone: asked.timeZone ?? 'UTC',
    period: asked.period ?? 'whole',
    eventKinds: eventKindsOf(asked.kind),
    geofenceId: asked.geozoneId ?? null,
    maxPoints: asked.maxPoints ?? null,
    nowMs,
    signal,
  };
}

function eventKindsOf(kinds: string | undefined): readonly string[] | null {
  if (kinds === undefined) return null;
  const named = kinds.split(',').map((kind) => kind.trim());
  const unknown = named.find((kind) => !EVENT_KINDS.some((known) => known === kind));
  if (unknown !== undefined) throw badParameter('kind', `There are ${EVENT_KINDS.join(', ')}.`);
  return named;
}

/** A report as the caller wants it: a page of it, or all of it as a file. */
async function reply(kind: ReportKind, asked: Asked, context: AuthorizedContext): Promise<Reply> {
  const question = await questionOf(asked, context);
  const { sources } = context.access.reports;
  const formats = formatsOf(kind);
  const named = formats.find(({ name }) => name === asked.format);
  const format = asked.format === undefined ? acceptedFormat(context.header('accept'), formats) : (named ?? null);
  if (format === undefined)
    throw new Problem('not-acceptable', `It comes as json, ${formats.map(({ name }) => name).join(', ')}.`);
  if (format === null) {
    const after = readCursor(kind.cursor, asked.cursor);
    const { rows, next } = await fullPage(kind, sources, question, after, asked.limit);
    const items = rows.map((row) => jsonRow(kind.columns, row));
    return { status: 200, body: { items, nextCursor: next === null ? null : writeCursor(next) } };
  }
  const { signal } = context;
  const pages = await begun(allRows(kind, sources, question, MAX_ROWS));
  const day = (timeMs: number) => isoTime(timeMs).slice(0, 10);
  const name = `${kind.name}-${day(question.fromMs)}-${day(question.toMs - 1)}.${format.extension}`;
  return {
    status: 200,
    stream: format.write({ kind, pages, timeZone: question.timeZone, archive: sources.archive, signal }),
    headers: {
      'content-type': format.mediaType.startsWith('text/') ? `${format.mediaType}; charset=utf-8` : format.mediaType,
      'content-disposition': `attachment; filename="${name}"`,
    },
  };
}

// How it is described

function pascal(name: string): string {
  return name.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const OUT: Record<Column['type'], () => z.ZodType> = {
  id: () => z.string().meta({ format: 'uuid' }),
  text: () => z.string(),
  day: () => z.iso.date(),
  time: () => z.iso.datetime({ precision: 3 }),
  number: () => z.number(),
  whole: () => z.int(),
  flag: () => z.boolean(),
  json: () => z.unknown(),
};
const EXAMPLES: Record<Column['type'], unknown> = {
  id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
  text: 'text',
  day: '2026-01-15',
  time: '2026-01-15T12:00:00.000Z',
  number: 12.5,
  whole: 3,
  flag: true,
  json: null,
};
const NAMED_EXAMPLES: Readonly<Record<string, unknown>> = {
  vehicleName: 'Van 12',
  geozoneName: 'Depot',
  geozones: 'Depot|City',
  nextGeozoneId: null,
  nextGeozoneName: null,
  limitSource: 'vehicle',
  alarm: null,
  alarms: null,
  state: 'moving',
  part: 'inside',
  phase: 'end',
  origin: 'live',
  kind: 'parking',
  endReason: 'moved',
  latitude: 59.9386,
  longitude: 30.3141,
  startLatitude: 59.9386,
  startLongitude: 30.3141,
  endLatitude: 59.9311,
  endLongitude: 30.2711,
  inferred: false,
};

/** A row as JSON has it, from its columns. */
function rowOut(name: string, columns: readonly Column[]): z.ZodType {
  const fields = columns.map((column) => {
    const type = OUT[column.type]();
    const field = column.always || column.type === 'json' ? type : type.nullable();
    return [column.name, column.about === undefined ? field : field.meta({ description: column.about })] as const;
  });
  // A name that counts in one report lists in another.
  const example = columns.map(({ name: field, type }) => [
    field,
    field in NAMED_EXAMPLES && type !== 'whole' ? NAMED_EXAMPLES[field] : EXAMPLES[type],
  ]);
  return z
    .strictObject(Object.fromEntries(fields))
    .meta({ id: `${pascal(name)}Row`, examples: [Object.fromEntries(example)] as never });
}

/** A position of a track: as positions are shown everywhere, and whether it is a jump. */
const TrackPositionOut = PositionOut.extend({
  rejection: z
    .enum(['jump'])
    .optional()
    .meta({ description: trackReport.columns.find(({ name }) => name === 'rejection')?.about }),
}).meta({ id: 'TrackPosition', examples: [exampleOf(PositionOut)] as never });

/** What a report answers with: JSON as `body`, and files. */
function answersOf(kind: ReportKind, body: z.ZodType): Route['answers'] {
  const file = z.string().meta({
    description: 'The whole report: the columns are the fields of the JSON.',
    examples: [`${kind.columns.map(({ name }) => name).join(',')}\r\n`],
  });
  const others = formatsOf(kind).map(({ mediaType }) => [mediaType, file] as const);
  return {
    200: {
      description: 'A page as JSON, or the whole report in another format.',
      body,
      otherTypes: Object.fromEntries(others),
      headers: { 'Content-Disposition': 'Of a file: a name for it.' },
    },
  };
}

function formatField(kind: ReportKind) {
  const names = ['json', ...formatsOf(kind).map(({ name }) => name)];
  return z
    .enum(names as [string, ...string[]])
    .optional()
    .meta({ description: FORMAT_ABOUT, examples: ['csv'] });
}

const reports = REPORT_KINDS.map((kind): Route => {
  const { summary, description, isNow, isTrack } = kind;
  const item = isTrack ? TrackPositionOut : rowOut(kind.name, kind.columns);
  return route({
    method: 'get',
    path: `/api/v1/reports/${kind.name}`,
    group: 'Reports',
    operationId: `report${pascal(kind.name)}`,
    summary,
    ...(description && { description }),
    query: z.object({
      ...paging,
      ...reportedVehicles,
      ...(isNow ? {} : when),
      timeZone,
      ...ownParameters(kind),
      format: formatField(kind),
    }),
    answers: answersOf(kind, listOf(item)),
    problems: ['not-found', 'not-acceptable', 'too-much', 'unavailable'],
    async handle({ query }, context) {
      const asked = query as Asked;
      const intervals = ((asked.to ?? 0) - (asked.from ?? 0)) / DAY_MS;
      if (asked.period === 'day' && intervals > MAX_INTERVALS) throw badParameter('period', 'There are too many days.');
      if (isTrack && isPlain(asked, context.header('accept'))) return trackPage(asked, context);
      const answer = await reply(kind, asked, context);
      return isTrack && answer.body !== undefined ? { ...answer, body: positionsOf(answer.body) } : answer;
    },
  });
});

/** Is it one vehicle's track by the page? That is looked up at once, and does not wait in line with reports. */
function isPlain({ vehicleId, groupId, format, maxPoints }: Asked, accept: string | undefined): boolean {
  if (vehicleId === undefined || groupId !== undefined || maxPoints !== undefined) return false;
  return format === undefined ? acceptedFormat(accept, formatsOf(trackReport)) === null : format === 'json';
}

async function trackPage(asked: Asked, { access }: AuthorizedContext): Promise<Reply> {
  const { vehicleId: key, from = 0, to = 0, limit, cursor } = asked;
  if (key === undefined) throw new Error('a track of no vehicle');
  if (to <= from) throw badParameter('to', 'It must be later than from.');
  const { vehicleId, positions, next } = await access.track(key, {
    fromMs: from,
    toMs: to,
    limit,
    after: readCursor(trackCursor, cursor),
  });
  const items = positions.map(({ position, rejection }) => ({
    ...positionJson(vehicleId, positionAlone(position)),
    ...(rejection && { rejection }),
  }));
  return { status: 200, body: { items, nextCursor: next && writeCursor(next) } };
}

/** The archive knows more of a position than a position is: terminal, protocol, time of arrival. */
function positionAlone(archived: Position): Position {
  return {
    fixTimeMs: archived.fixTimeMs,
    latitude: archived.latitude,
    longitude: archived.longitude,
    valid: archived.valid,
    speedKmh: archived.speedKmh,
    courseDeg: archived.courseDeg,
    altitudeM: archived.altitudeM,
    satellites: archived.satellites,
    ignition: archived.ignition,
    odometerM: archived.odometerM,
    supplyV: archived.supplyV,
    fuelL: archived.fuelL,
    alarms: archived.alarms,
    attributes: archived.attributes,
  };
}

/** A page of a track, each position as positions are shown everywhere: with what is known of it. */
function positionsOf(body: unknown): unknown {
  const { items, nextCursor } = body as { items: Record<string, unknown>[]; nextCursor: string | null };
  return {
    items: items.map(({ vehicleId, vehicleName: _, fixTime, rejection, ...rest }) => {
      const position = { ...rest, fixTimeMs: Date.parse(String(fixTime)) } as unknown as Position;
      return { ...positionJson(vehicleId as never, position), ...(rejection !== null && { rejection }) };
    }),
    nextCursor,
  };
}

const shapeKind = shapeVisitsReport({ type: 'circle', center: [0, 0], radiusM: 1 }, 0);
const MAX_DWELL_SECONDS = 86_400;

/** A shape that was never saved. */
export const visitedShapeIn = z
  .strictObject({
    type: z.literal('Feature'),
    geometry: geometryIn,
    properties: z.strictObject({
      shape: z.enum(['polygon', 'circle', 'line']),
      radiusM: z.number().optional(),
      widthM: z.number().optional(),
      minDwellSeconds: z.int().min(0).max(MAX_DWELL_SECONDS).default(0),
    }),
  })
  .meta({
    id: 'VisitedShape',
    examples: [
      {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [30.3141, 59.9386] },
        properties: { shape: 'circle', radiusM: 300 },
      },
    ] as never,
  });

const byShape = route({
  method: 'post',
  path: '/api/v1/reports/geozone-visits',
  group: 'Reports',
  operationId: 'reportShapeVisits',
  summary: shapeKind.summary,
  ...(shapeKind.description && { description: shapeKind.description }),
  query: z.object({ ...paging, ...reportedVehicles, ...when, timeZone, format: formatField(shapeKind) }),
  body: visitedShapeIn,
  answers: answersOf(shapeKind, listOf(rowOut('shape-visits', shapeKind.columns))),
  problems: ['not-found', 'not-acceptable', 'too-much', 'unavailable'],
  async handle({ query, body }, context) {
    const { minDwellSeconds, ...properties } = body.properties;
    const shape = shapeOf({ type: 'Feature', geometry: body.geometry, properties });
    return reply(shapeVisitsReport(shape, minDwellSeconds), query as Asked, context);
  },
});

export const reportRoutes: Route[] = [...reports, byShape];
