import { badParameter, Problem } from '@outrider/access';
import {
  type DriverId,
  type GeofenceId,
  type GroupId,
  isoTime,
  type Position,
  positionJson,
  sensorNameKey,
  type VehicleId,
} from '@outrider/domain';
import {
  acceptedFormat,
  allRows,
  begun,
  type Column,
  formatsOf,
  fullPage,
  type Grouping,
  GroupTotals,
  isTimeZone,
  jsonRow,
  jumpState,
  MAX_INTERVALS,
  type Period,
  type Question,
  REPORT_KINDS,
  type ReportKind,
  shapeVisitsReport,
  shownAs,
  simplifiedTrack,
  type TimeSpan,
  type Totalled,
  trackReport,
  tripsReport,
} from '@outrider/reports';
import type { Language } from '@outrider/words';
import { z } from 'zod';
import {
  exampleOf,
  id,
  instantOf,
  listOf,
  paging,
  type RangeEnd,
  rangeEndSuchAs,
  readCursor,
  severalOf,
  timeOut,
  writeCursor,
} from '../../fields/fields.ts';
import { geometryIn, shape } from '../../fields/geozone-fields.ts';
import { ownParameters, TIME_ZONE_ABOUT } from '../../fields/report-fields.ts';
import { shapeOf } from '../../geozones/geojson.ts';
import { type AuthorizedContext, callsOf, type Reply, type Route } from '../../route.ts';
import { PositionOut, vehicleKey } from '../fleet/vehicles.ts';
import { HISTORY_FROM, incompleteOut, spanJson } from '../jobs.ts';

const { get, post } = callsOf('Reports');

/** Most rows of a report. Nobody reads more; a larger report is made as a job. */
const MAX_ROWS = 5_000_000;
export const MAX_DAYS = 1100;
const DAY_MS = 86_400_000;
/** Header of file responses: not every format can state this itself. */
const INCOMPLETE_HEADER = 'Outrider-Incomplete';
const MAX_NAMED_VEHICLES = 100;
/** Most trips on a page with lines; below, most points of each line. */
const MAX_LINES = 100;
const LINE_POINTS = 200;

/**
 * Position where a page of a report ended. Only the report interprets it. Whatever it contains, the report queries only
 * the caller's vehicles.
 */
const trackCursor = z.strictObject({
  fixTimeMs: z.int(),
  rejection: z.enum(['out-of-range', 'null-island', 'time-in-future', 'time-too-old', 'jump']).nullable(),
  judged: jumpState,
});
export const reportedVehicles = {
  vehicleId: severalOf(vehicleKey, MAX_NAMED_VEHICLES)
    .optional()
    .meta({
      description: `UUID of a vehicle, or \`terminal:\` followed by the id of the terminal fitted to it. Up to ${MAX_NAMED_VEHICLES} vehicles, separated by commas or as repeated parameters.`,
    }),
  groupId: id<GroupId>().optional().meta({
    description:
      'Report on the vehicles of this group that the caller may see. Without `vehicleId` and `groupId`: all vehicles that the caller may see.',
  }),
};
const when = {
  from: rangeEndSuchAs('2026-01-15T12:00:00.000Z').meta({
    description: 'Start of the time range, inclusive. A day such as `2026-01-15` stands for its start in `timeZone`.',
  }),
  to: rangeEndSuchAs('2026-01-16T12:00:00.000Z').meta({
    description: `End of the time range, exclusive; at most ${MAX_DAYS} days after \`from\`. A day stands for its start here as well.`,
  }),
};
const timeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'It must be the name of a time zone, such as Europe/Berlin.')
  .default('UTC')
  .meta({ description: TIME_ZONE_ABOUT, examples: ['Europe/Berlin'] });
const FORMAT_ABOUT =
  'Format of the response, in place of the header `Accept`. `json` is returned in pages; every other format is the whole report as a file.';

interface Asked {
  vehicleId?: readonly z.output<typeof vehicleKey>[] | undefined;
  groupId?: GroupId | undefined;
  from?: number | undefined;
  to?: number | undefined;
  timeZone?: string | undefined;
  period?: Period | undefined;
  kind?: readonly string[] | undefined;
  geozoneId?: GeofenceId | undefined;
  maxPoints?: number | undefined;
  workHours?: string | undefined;
  ecoWeights?: string | undefined;
  sensor?: readonly string[] | undefined;
  columns?: readonly string[] | undefined;
  driverId?: readonly DriverId[] | undefined;
  groupBy?: Grouping | undefined;
  language?: Language | undefined;
  geometry?: 'true' | 'false' | undefined;
  format?: string | undefined;
  limit: number;
  cursor?: string | undefined;
}

/** Parses the query of a report, with the ends of its time range in its time zone. */
function askedIn(query: unknown): Asked {
  const { from, to, ...rest } = query as Omit<Asked, 'from' | 'to'> & { from?: RangeEnd; to?: RangeEnd };
  const at = (end: RangeEnd | undefined) => end && instantOf(end, rest.timeZone ?? 'UTC');
  return { ...rest, from: at(from), to: at(to) };
}

/** Converts the query to a report request, with the vehicles that the caller may see. */
async function questionOf(asked: Asked, { access, nowMs, signal }: AuthorizedContext): Promise<Question> {
  const { from = 0, to = nowMs } = asked;
  if (asked.from !== undefined && to <= from) throw badParameter('to', 'It must be later than from.');
  if (asked.from !== undefined && to - from > MAX_DAYS * DAY_MS)
    throw badParameter('to', `It must be at most ${MAX_DAYS} days after from.`);
  if (asked.vehicleId !== undefined && asked.groupId !== undefined)
    throw badParameter('groupId', 'Name a vehicle or a group, not both.');
  if (asked.geozoneId !== undefined) await access.geofences.get(asked.geozoneId);
  for (const driver of asked.driverId ?? []) await access.drivers.get(driver);
  const vehicles = await access.vehicles.ofReport(asked.vehicleId, asked.groupId);
  requireSensors(asked.sensor ?? [], vehicles);
  return {
    vehicles,
    fromMs: from,
    toMs: to,
    timeZone: asked.timeZone ?? 'UTC',
    period: asked.period ?? 'whole',
    eventKinds: asked.kind ?? null,
    geofenceId: asked.geozoneId ?? null,
    maxPoints: asked.maxPoints ?? null,
    workHours: asked.workHours ?? null,
    ecoWeights: asked.ecoWeights ?? null,
    sensors: asked.sensor ?? null,
    driverIds: asked.driverId ?? null,
    nowMs,
    signal,
  };
}

function requireSensors(named: readonly string[], vehicles: Question['vehicles']): void {
  if (named.length === 0) return;
  const known = new Set(
    vehicles.flatMap(({ sensors }) => sensors.flatMap(({ id, name }) => [id, sensorNameKey(name)])),
  );
  if (!named.every((each) => known.has(sensorNameKey(each))))
    throw badParameter('sensor', 'None of the vehicles has a sensor of this name or id.');
}

/** The report in the requested form: a page of it, or all of it as a file. */
async function reply(kind: ReportKind, asked: Asked, context: AuthorizedContext): Promise<Reply> {
  const question = await questionOf(asked, context);
  const { sources } = context.access.reports;
  const formats = formatsOf(kind);
  const named = formats.find(({ name }) => name === asked.format);
  const format = asked.format === undefined ? acceptedFormat(context.header('accept'), formats) : (named ?? null);
  if (format === undefined)
    throw new Problem(
      'not-acceptable',
      `The report is available as json, ${formats.map(({ name }) => name).join(', ')}.`,
    );
  if (format === null) {
    const after = readCursor(kind.cursor, asked.cursor);
    const limit = asked.geometry === 'true' ? Math.min(MAX_LINES, asked.limit) : asked.limit;
    const { rows, next } = await fullPage(kind, sources, question, after, limit);
    const items: Record<string, unknown>[] = rows.map((row) => jsonRow(kind.columns, row));
    if (asked.geometry === 'true') await addLines(items as unknown as TripItem[], question, context);
    const isFirst = asked.cursor === undefined && asked.groupBy !== undefined;
    const totals = isFirst ? { totals: await totalsOf(kind, question, asked.groupBy ?? null, context) } : {};
    const missing = kind.isNow || asked.cursor !== undefined ? {} : await missingFrom(question, context);
    return {
      status: 200,
      body: { items, nextCursor: next === null ? null : writeCursor(next), ...totals, ...missing },
    };
  }
  if (asked.geometry === 'true') throw badParameter('geometry', 'It is only for JSON.');
  const { signal } = context;
  if (asked.groupBy !== undefined && !format.ofGroups)
    throw badParameter('groupBy', 'It is only for json, xlsx and pdf.');
  if (asked.columns !== undefined && format.ofTracks) throw badParameter('columns', 'It is only for table formats.');
  const { groupBy = null, columns = null } = asked;
  const shown = shownAs(kind, format, columns);
  const pages = await begun(allRows(shown, sources, question, format.maxRows ?? MAX_ROWS));
  const madeAtMs = question.nowMs;
  const range = kind.isNow ? { fromMs: null, toMs: null } : { fromMs: question.fromMs, toMs: question.toMs };
  const incomplete = kind.isNow ? [] : await context.access.reports.incomplete(question.fromMs, question.toMs);
  const about = { title: null, ...range, madeAtMs, incomplete };
  const reading = await context.access.reports.reading(asked.language ?? null, about);
  const day = (timeMs: number) => isoTime(timeMs).slice(0, 10);
  const name = `${kind.name}-${day(question.fromMs)}-${day(question.toMs - 1)}.${format.extension}`;
  return {
    status: 200,
    // A format that holds the whole report in memory may refuse it, which must happen before anything is sent.
    stream: await begun(
      format.write({
        ...{ kind: shown, pages, timeZone: question.timeZone, columns, groupBy, reading, signal },
        archive: sources.archive,
      }),
    ),
    headers: {
      'content-type': format.mediaType.startsWith('text/') ? `${format.mediaType}; charset=utf-8` : format.mediaType,
      'content-disposition': `attachment; filename="${name}"`,
      ...(incomplete.length > 0 && { [INCOMPLETE_HEADER]: incomplete.map(spanText).join(', ') }),
    },
  };
}

/** A time span in ISO 8601 interval notation. */
const spanText = ({ fromMs, toMs }: TimeSpan) => `${isoTime(fromMs)}/${isoTime(toMs)}`;

/**
 * States the time from which the history of all vehicles is complete, if the report begins earlier, and the time ranges
 * in which the archive has lost rows.
 */
async function missingFrom(
  { vehicles, fromMs, toMs }: { vehicles: readonly { id: VehicleId }[]; fromMs: number; toMs: number },
  { access }: AuthorizedContext,
): Promise<{ historyFrom?: string; incomplete?: { from: string; to: string }[] }> {
  const historyFromMs = await access.reports.historyFrom(
    vehicles.map(({ id }) => id),
    fromMs,
  );
  const incomplete = await access.reports.incomplete(fromMs, toMs);
  return {
    ...(historyFromMs !== null && { historyFrom: isoTime(historyFromMs) }),
    ...(incomplete.length > 0 && { incomplete: incomplete.map(spanJson) }),
  };
}

/** Most rows for computing totals: they are read in addition to those of the page. */
const MAX_TOTALLED_ROWS = 200_000;

async function totalsOf(kind: ReportKind, question: Question, by: Grouping | null, { access }: AuthorizedContext) {
  const totals = new GroupTotals(kind, by, question.timeZone);
  for await (const rows of allRows(kind, access.reports.sources, question, MAX_TOTALLED_ROWS))
    for (const row of rows) totals.add(row);
  const shown = ({ rows, row }: Totalled) => ({
    rows,
    values: Object.fromEntries(
      kind.columns.flatMap(({ name, total }, nth) => (total ? [[name, row[nth] ?? null]] : [])),
    ),
  });
  return { ...shown(totals.all), groups: totals.sorted.map(([key, group]) => ({ key, ...shown(group) })) };
}

interface TripItem {
  vehicleId: VehicleId;
  startedAt: string;
  endedAt: string | null;
  geometry?: unknown;
}

/** Gives each trip its simplified line. */
async function addLines(trips: TripItem[], { nowMs, signal }: Question, { access }: AuthorizedContext): Promise<void> {
  for (const trip of trips) {
    const { vehicleId, startedAt, endedAt } = trip;
    const toMs = (endedAt === null ? nowMs : Date.parse(endedAt)) + 1;
    const interval = { vehicleId, fromMs: Date.parse(startedAt), toMs, signal };
    const points = await simplifiedTrack(access.reports.sources.archive, interval, LINE_POINTS);
    const coordinates = points.map(({ longitude, latitude }) => [longitude, latitude]);
    // A line needs at least two points.
    trip.geometry = coordinates.length < 2 ? null : { type: 'LineString', coordinates };
  }
}

// Documentation

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
  phase: 'end',
  alarm: null,
  endReason: 'moved',
  alarms: null,
  latitude: 59.9386,
  longitude: 30.3141,
  startLatitude: 59.9386,
  startLongitude: 30.3141,
  endLatitude: 59.9311,
  endLongitude: 30.2711,
  inferred: false,
};

/** Schema of a JSON row, built from the report's columns. */
function rowOut(name: string, columns: readonly Column[]): z.ZodType {
  const fields = columns.map((column) => {
    const type = column.values === undefined ? OUT[column.type]() : z.enum(column.values as [string, ...string[]]);
    const field = column.always || column.type === 'json' ? type : type.nullable();
    return [column.name, column.about === undefined ? field : field.meta({ description: column.about })] as const;
  });
  // A column of the same name may hold a count in one report and a list in another.
  const example = columns.map(({ name: field, type, values }) => [
    field,
    field in NAMED_EXAMPLES && type !== 'whole' ? NAMED_EXAMPLES[field] : (values?.[0] ?? EXAMPLES[type]),
  ]);
  return z
    .strictObject(Object.fromEntries(fields))
    .meta({ id: `${pascal(name)}Row`, examples: [Object.fromEntries(example)] as never });
}

/** A position of a track, with the reason if it was rejected, such as a jump. */
const TrackPositionOut = PositionOut.extend({
  rejection: z
    .enum(['jump'])
    .optional()
    .meta({ description: trackReport.columns.find(({ name }) => name === 'rejection')?.about }),
}).meta({ id: 'TrackPosition', examples: [exampleOf(PositionOut)] as never });

const TOTALLED = {
  rows: z.int(),
  values: z
    .record(z.string(), z.number().nullable())
    .meta({ description: 'Totals, by the names of the columns that have one. Null: no row has a value.' }),
};
const ReportTotals = z
  .strictObject({
    ...TOTALLED,
    groups: z.array(
      z.strictObject({
        key: z.string().nullable().meta({
          description:
            'Value by which the rows are grouped: a name, or a day such as `2026-01-31`. Null: the rows without such a value.',
        }),
        ...TOTALLED,
      }),
    ),
  })
  .meta({
    id: 'ReportTotals',
    examples: [
      {
        rows: 2,
        values: { distanceM: 4200 },
        groups: [{ key: 'Van 12', rows: 2, values: { distanceM: 4200 } }],
      },
    ],
  });

/** Schema of a page: the first has totals if groups were requested, and states missing data. */
function withTotals<T extends z.ZodObject>(list: T): z.ZodType {
  const example = exampleOf(list);
  return list
    .extend({
      totals: ReportTotals.optional().meta({
        description: 'Totals of all rows and of each group. Only with `groupBy`, on the first page.',
      }),
      historyFrom: timeOut.optional().meta({ description: HISTORY_FROM }),
      incomplete: incompleteOut,
    })
    .meta(example === undefined ? {} : { examples: [example as never] });
}

/** Responses of a report: JSON as `body`, and files. */
const asGeoJson = z
  .looseObject({
    type: z.literal('FeatureCollection'),
    features: z.array(z.looseObject({ type: z.literal('Feature') })),
  })
  .meta({
    description: 'The whole report as GeoJSON (RFC 7946).',
    examples: [{ type: 'FeatureCollection', features: [] }] as never,
  });

function answersOf(kind: ReportKind, body: z.ZodType): Route['answers'] {
  const file = z.string().meta({
    description: 'The whole report. Its columns are the fields of the JSON.',
    examples: [`${kind.columns.map(({ name }) => name).join(',')}\r\n`],
  });
  const others = formatsOf(kind).map(
    ({ mediaType }) => [mediaType, mediaType === 'application/geo+json' ? asGeoJson : file] as const,
  );
  return {
    200: {
      description: 'A page as JSON, or the whole report in another format.',
      body,
      otherTypes: Object.fromEntries(others),
      headers: {
        'Content-Disposition': 'Suggested file name; only for files.',
        [INCOMPLETE_HEADER]:
          'Time ranges for which the archive has lost rows, as `from/to`, separated by commas. Only for files; JSON has `incomplete` instead.',
      },
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

const withGeometry = z
  .enum(['true', 'false'])
  .optional()
  .meta({
    description: `Whether each trip has its route as \`geometry\`: a line simplified to at most ${LINE_POINTS} points. A page then has at most ${MAX_LINES} trips. Only for JSON.`,
  });
const TripOut = rowOut(tripsReport.name, tripsReport.columns) as z.ZodObject;
const TripWithLine = TripOut.extend({
  geometry: z
    .strictObject({ type: z.literal('LineString'), coordinates: z.array(z.tuple([z.number(), z.number()])) })
    .nullable()
    .optional()
    .meta({
      description:
        'Simplified route of the trip; only with `geometry=true`. Null if fewer than two positions are known.',
    }),
}).meta({ id: 'TripsRow', examples: [exampleOf(TripOut)] as never });

const reports = REPORT_KINDS.map((kind): Route => {
  const { summary, description, isNow, isTrack } = kind;
  const item = isTrack ? TrackPositionOut : kind === tripsReport ? TripWithLine : rowOut(kind.name, kind.columns);
  return get(`/api/v1/reports/${kind.name}`, {
    operationId: `report${pascal(kind.name)}`,
    summary,
    ...(description && { description }),
    query: z.object({
      ...paging,
      ...reportedVehicles,
      ...(isNow ? {} : when),
      timeZone,
      ...ownParameters(kind),
      ...(kind === tripsReport ? { geometry: withGeometry } : {}),
      format: formatField(kind),
    }),
    answers: answersOf(kind, withTotals(listOf(item))),
    problems: ['not-found', 'vehicle-suspended', 'not-acceptable', 'too-much', 'unavailable'],
    async handle({ query }, context) {
      const asked = askedIn(query);
      const intervals = ((asked.to ?? 0) - (asked.from ?? 0)) / DAY_MS;
      if (asked.period === 'day' && intervals > MAX_INTERVALS)
        throw badParameter('period', 'The time range has too many days.');
      if (isTrack && isPlain(asked, context.header('accept'))) return trackPage(asked, context);
      const answer = await reply(kind, asked, context);
      return isTrack && answer.body !== undefined ? { ...answer, body: positionsOf(answer.body) } : answer;
    },
  });
});

/** Whether the request is for pages of one vehicle's track. That is read at once, and not queued with reports. */
function isPlain({ vehicleId, groupId, format, maxPoints }: Asked, accept: string | undefined): boolean {
  if (vehicleId?.length !== 1 || groupId !== undefined || maxPoints !== undefined) return false;
  return format === undefined ? acceptedFormat(accept, formatsOf(trackReport)) === null : format === 'json';
}

async function trackPage(asked: Asked, context: AuthorizedContext): Promise<Reply> {
  const { access } = context;
  const { from = 0, to = 0, limit, cursor } = asked;
  const [key] = asked.vehicleId ?? [];
  if (key === undefined) throw new Error('a track of no vehicle');
  if (to <= from) throw badParameter('to', 'It must be later than from.');
  const { vehicleId, positions, next } = await access.vehicles.track(key, {
    fromMs: from,
    toMs: to,
    limit,
    after: readCursor(trackCursor, cursor),
  });
  const items = positions.map(({ position, rejection }) => ({
    ...positionJson(vehicleId, positionAlone(position)),
    ...(rejection && { rejection }),
  }));
  const vehicles = [{ id: vehicleId }];
  const missing = cursor === undefined ? await missingFrom({ vehicles, fromMs: from, toMs: to }, context) : {};
  return { status: 200, body: { items, nextCursor: next && writeCursor(next), ...missing } };
}

/** Only the fields of a position: an archived one also has terminal, protocol and time of arrival. */
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

/** A page of a track in the usual form of positions, without unknown values. */
function positionsOf(body: unknown): unknown {
  const { items, ...page } = body as { items: Record<string, unknown>[] };
  return {
    ...page,
    items: items.map(({ vehicleId, vehicleName: _, fixTime, rejection, ...rest }) => {
      const position = { ...rest, fixTimeMs: Date.parse(String(fixTime)) } as unknown as Position;
      return { ...positionJson(vehicleId as never, position), ...(rejection !== null && { rejection }) };
    }),
  };
}

const shapeKind = shapeVisitsReport({ type: 'circle', center: [0, 0], radiusM: 1 }, 0);
const MAX_DWELL_SECONDS = 86_400;

/** A shape that is not saved as a geofence. */
export const visitedShapeIn = z
  .strictObject({
    type: z.literal('Feature'),
    geometry: geometryIn,
    properties: z.strictObject({
      shape,
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

const byShape = post('/api/v1/reports/geozone-visits', {
  operationId: 'reportShapeVisits',
  scope: 'read',
  summary: shapeKind.summary,
  ...(shapeKind.description && { description: shapeKind.description }),
  query: z.object({
    ...paging,
    ...reportedVehicles,
    ...when,
    timeZone,
    ...ownParameters(shapeKind),
    format: formatField(shapeKind),
  }),
  body: visitedShapeIn,
  answers: answersOf(shapeKind, withTotals(listOf(rowOut('shape-visits', shapeKind.columns)))),
  problems: ['not-found', 'vehicle-suspended', 'not-acceptable', 'too-much', 'unavailable'],
  async handle({ query, body }, context) {
    const { minDwellSeconds, ...properties } = body.properties;
    const visited = shapeOf({ type: 'Feature', geometry: body.geometry, properties });
    return reply(shapeVisitsReport(visited, minDwellSeconds), askedIn(query), context);
  },
});

export const reportRoutes: Route[] = [...reports, byShape];
