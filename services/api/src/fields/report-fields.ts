import { badField } from '@outrider/access';
import { type DriverId, EVENT_KINDS, type GeofenceId, type GroupId, type VehicleId } from '@outrider/domain';
import type { ReportRequest } from '@outrider/reports';
import {
  DEFAULT_ECO_WEIGHTS,
  DEFAULT_WORK_HOURS,
  FORMATS,
  GROUPINGS,
  type Grouping,
  groupingsOf,
  isTimeZone,
  MAX_ECO_WEIGHTS_LENGTH,
  MAX_WORK_HOURS_LENGTH,
  PERIODS,
  type Period,
  REPORT_KINDS,
  type ReportKind,
  type ReportParameters,
  readEcoWeights,
  readWorkHours,
  reportKind,
} from '@outrider/reports';
import { LANGUAGES, type Language } from '@outrider/words';
import { z } from 'zod';
import { id, line, severalOf, wholeParameter } from './fields.ts';

const KINDS = REPORT_KINDS.map(({ name }) => name) as [string, ...string[]];
const FORMAT_NAMES = FORMATS.map(({ name }) => name) as [string, ...string[]];

const list = new Intl.ListFormat('en');
const namesOf = (which: (kind: ReportKind) => unknown) => REPORT_KINDS.filter(which).map(({ name }) => name);

/** Names of the matching kinds, for a description. */
export function kindsThat(which: (kind: ReportKind) => unknown): string {
  return list.format(namesOf(which).map((name) => `\`${name}\``));
}

export const MAX_POINTS = { min: 7, max: 20_000 };
const MAX_COLUMNS = 100;
const MAX_EVENT_KINDS = 50;

export const TIME_ZONE_ABOUT =
  'IANA name of the time zone in which days, weeks, months and hours are counted. Times in CSV, XLSX and PDF are in this time zone (in CSV with the offset, as `2026-11-27T01:30:00.000+05:30`). JSON and the other formats have times in UTC.';

/** Text that the given parser accepts; its error becomes the message. */
const readable = (maxLength: number, read: (text: string) => unknown) =>
  z
    .string()
    .max(maxLength)
    .superRefine((text, context) => {
      try {
        read(text);
      } catch (error) {
        context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : String(error) });
      }
    });

/** Working hours of a week. */
export const workHours = readable(MAX_WORK_HOURS_LENGTH, readWorkHours).meta({
  description: `Working days and hours, in the time zone of the report. A span that ends before it begins ends on the next day. Default: \`${DEFAULT_WORK_HOURS}\`.`,
  examples: ['Mo-Fr 08:00-12:00,13:00-17:00; Sa 22:00-06:00'],
});
/** Weights of violations. */
export const ecoWeights = readable(MAX_ECO_WEIGHTS_LENGTH, readEcoWeights).meta({
  description: `Penalty points of eco-driving: for each harsh acceleration, braking and cornering, and for each minute of speeding, idling and over-revving; 0 to 100 each. Weights that are left out keep their default. Default: \`${DEFAULT_ECO_WEIGHTS}\`.`,
  examples: ['speeding=2, braking=5, idling=0'],
});
export const groupBy = z.enum(GROUPINGS);
export const language = z.enum(LANGUAGES as [Language, ...Language[]]).meta({
  description: 'Language of a PDF. Default: that of the account’s preferences, otherwise English.',
  examples: ['en'],
});

/** Names of columns. */
function columnsField({ columns }: ReportKind): z.ZodType {
  const known = columns.map(({ name }) => name);
  const column = z
    .string()
    .refine((name) => known.includes(name), { error: `It must be one of ${known.join(', ')}.` })
    .meta({ examples: known.slice(0, 2) });
  return severalOf(column, MAX_COLUMNS).optional().meta({
    description:
      'Columns of a file, as a repeated parameter or separated by commas. Default: all columns; for a PDF, those meant for reading.',
  });
}

export const sensors = z
  .array(line(200))
  .min(1)
  .max(50)
  .meta({
    description: 'Only these sensors, each by its id or by its name, case-insensitive.',
    examples: [['Cargo']],
  });

export const driverIds = z.array(id<DriverId>()).min(1).max(50).meta({
  description:
    'Only data of these drivers. The driver is the one assigned manually, otherwise the one identified by the code that the terminal sent.',
});

/** The parameters of the kind's `GET` that not every kind has. */
export function ownParameters(kind: ReportKind): z.ZodRawShape {
  const {
    period,
    eventKinds,
    geozoneId,
    maxPoints,
    workHours: hasWorkHours,
    ecoWeights: hasWeights,
    sensors: hasSensors,
    driverIds: hasDrivers,
  } = kind.parameters ?? {};
  const groupings = groupingsOf(kind);
  return {
    columns: columnsField(kind),
    language: language.optional(),
    ...(groupings.length > 0 && {
      groupBy: z
        .enum(groupings as [Grouping, ...Grouping[]])
        .optional()
        .meta({
          description:
            'For JSON, XLSX and PDF: adds the totals of each group. JSON has them on the first page, XLSX on a separate sheet. In a PDF, the rows are grouped.',
          examples: [groupings[0]],
        }),
    }),
    ...(hasWorkHours && { workHours: workHours.optional() }),
    ...(hasWeights && { ecoWeights: ecoWeights.optional() }),
    ...(hasSensors && { sensor: sensors.optional() }),
    ...(hasDrivers && { driverId: driverIds.optional() }),
    ...(period && {
      period: z
        .enum(PERIODS)
        .default(period)
        .meta({ description: 'Weeks begin on Monday.', examples: [period] }),
    }),
    ...(eventKinds && {
      kind: severalOf(z.enum(EVENT_KINDS).meta({ examples: ['speeding', 'alarm'] }), MAX_EVENT_KINDS)
        .optional()
        .meta({
          description: 'Return only events of these kinds, as a repeated parameter or separated by commas.',
        }),
    }),
    ...(geozoneId && {
      geozoneId: id<GeofenceId>().optional().meta({ description: 'Return only visits of this geozone.' }),
    }),
    ...(maxPoints && {
      maxPoints: wholeParameter(MAX_POINTS.min, MAX_POINTS.max, 500).optional().meta({
        description:
          'Maximum number of positions per vehicle. Those that best show the path are returned, with the extremes (first, last, outermost, fastest), but without jumps and without positions that the terminal marks as unreliable. With 100 or more, the time between two of them exceeds both ten minutes and 8/`maxPoints` of the interval only where data is missing. Such a track has one page per vehicle.',
      }),
    }),
  };
}

const OWN_PARAMETERS = [
  'period',
  'eventKinds',
  'geozoneId',
  'maxPoints',
  'workHours',
  'ecoWeights',
  'sensors',
  'driverIds',
] as const satisfies (keyof ReportParameters)[];
const kindsWith = (name: keyof ReportParameters) => kindsThat(({ parameters }) => parameters?.[name]);

function kindsWithPeriod(): string {
  const kinds = REPORT_KINDS.filter(({ parameters }) => parameters?.period);
  return list.format(
    kinds.map(({ name, parameters }, nth) => {
      const usual = `\`${parameters?.period}\``;
      return `\`${name}\` (${nth === 0 ? `default ${usual}` : usual})`;
    }),
  );
}

/** Most vehicles in a job or a schedule. For more, use a group. */
export const MAX_VEHICLES = 200;

/** The fields of a report in a body: the parameters of its `GET`. */
export const REPORT_FIELDS = {
  kind: z.enum(KINDS).meta({ description: 'Kind of the report, as in the path of its `GET`.' }),
  format: z.enum(FORMAT_NAMES).meta({ description: '`geojson`, `gpx` and `kml` are only for tracks.' }),
  vehicleId: id<VehicleId>().optional(),
  vehicleIds: z
    .array(id<VehicleId>())
    .min(1)
    .max(MAX_VEHICLES)
    .optional()
    .meta({ description: 'Several vehicles, instead of `vehicleId`.' }),
  groupId: id<GroupId>().optional().meta({
    description:
      'The vehicles of this group that the caller may see. Without `vehicleId`, `vehicleIds` and `groupId`: all vehicles that the caller may see.',
  }),
  timeZone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'It must be the name of a time zone, such as Europe/Berlin.')
    .default('UTC')
    .meta({ description: TIME_ZONE_ABOUT, examples: ['Europe/Berlin'] }),
  period: z
    .enum(PERIODS)
    .optional()
    .meta({ description: `Only for ${kindsWithPeriod()}.` }),
  eventKinds: z
    .array(z.enum(EVENT_KINDS))
    .min(1)
    .max(MAX_EVENT_KINDS)
    .optional()
    .meta({ description: `Only events of these kinds. Only for ${kindsWith('eventKinds')}.` }),
  geozoneId: id<GeofenceId>()
    .optional()
    .meta({ description: `Only visits of this geozone. Only for ${kindsWith('geozoneId')}.` }),
  maxPoints: z
    .int()
    .min(MAX_POINTS.min)
    .max(MAX_POINTS.max)
    .optional()
    .meta({ description: `Maximum number of positions per vehicle. Only for ${kindsWith('maxPoints')}.` }),
  workHours: workHours.optional(),
  ecoWeights: ecoWeights.optional(),
  sensors: sensors.optional(),
  driverIds: driverIds.optional(),
  columns: z
    .array(z.string().regex(/^\w{1,64}$/))
    .min(1)
    .max(MAX_COLUMNS)
    .optional()
    .meta({
      description:
        'Columns of the file. Default: all columns; for a PDF, those meant for reading. Not for formats of tracks.',
      examples: [['vehicleName']],
    }),
  groupBy: groupBy.optional().meta({
    description:
      'Adds the totals of each group: on a separate sheet in XLSX; in a PDF, the rows are grouped. `groupings` of the kind lists the possible values.',
  }),
  language: language.optional(),
};

/** Parsed {@link REPORT_FIELDS}. A field that was left out may be present as undefined. */
export interface ReportFields {
  kind: string;
  format: string;
  vehicleId?: VehicleId | undefined;
  vehicleIds?: readonly VehicleId[] | undefined;
  groupId?: GroupId | undefined;
  timeZone: string;
  period?: Period | undefined;
  eventKinds?: readonly string[] | undefined;
  geozoneId?: GeofenceId | undefined;
  maxPoints?: number | undefined;
  workHours?: string | undefined;
  ecoWeights?: string | undefined;
  sensors?: readonly string[] | undefined;
  driverIds?: readonly DriverId[] | undefined;
  columns?: readonly string[] | undefined;
  groupBy?: Grouping | undefined;
  language?: Language | undefined;
}

/**
 * The report request that these fields describe, without its time range.
 *
 * @throws {Problem} when the fields contradict each other
 */
export function reportFrom(fields: ReportFields): Omit<ReportRequest, 'fromMs' | 'toMs' | 'shape'> {
  const { kind, format, vehicleId, vehicleIds, groupId, timeZone, period, eventKinds, geozoneId, maxPoints } = fields;
  const known = reportKind(kind);
  const { parameters = {}, isTrack } = known ?? {};
  for (const name of OWN_PARAMETERS)
    if (fields[name] !== undefined && parameters[name] === undefined)
      throw badField(
        `/${name}`,
        `It is only for reports of kind ${namesOf((each) => each.parameters?.[name]).join(', ')}.`,
      );
  if (!isTrack && FORMATS.find(({ name }) => name === format)?.ofTracks)
    throw badField('/format', 'It is only for tracks.');
  if (known !== undefined) requireShape(known, fields);
  if (vehicleId !== undefined && groupId !== undefined)
    throw badField('/groupId', 'Name a vehicle or a group, not both.');
  if (vehicleIds !== undefined && (vehicleId !== undefined || groupId !== undefined))
    throw badField('/vehicleIds', 'Give either one vehicle, several vehicles, or a group.');
  return {
    report: kind,
    format,
    vehicleId: vehicleId ?? null,
    vehicleIds: vehicleIds ?? null,
    groupId: groupId ?? null,
    timeZone,
    period: period ?? parameters.period ?? 'whole',
    eventKinds: eventKinds ?? null,
    geofenceId: geozoneId ?? null,
    maxPoints: maxPoints ?? null,
    workHours: fields.workHours ?? null,
    ecoWeights: fields.ecoWeights ?? null,
    sensors: fields.sensors ?? null,
    driverIds: fields.driverIds ?? null,
    columns: fields.columns ?? null,
    groupBy: fields.groupBy ?? null,
    language: fields.language ?? null,
  };
}

/** Yields the settings of a saved report that its kind does not support, by field name. */
export function* requireTemplate(fields: {
  kind: string;
  format: string | null;
  groupBy: Grouping | null;
}): Generator<[field: string, message: string]> {
  const kind = reportKind(fields.kind);
  if (kind === undefined) return;
  if (!kind.isTrack && FORMATS.find(({ name }) => name === fields.format)?.ofTracks)
    yield ['format', 'It is only for tracks.'];
  if (fields.groupBy !== null && !groupingsOf(kind).includes(fields.groupBy))
    yield ['groupBy', 'The report cannot be grouped in this way.'];
}

/** @throws {Problem} when the kind has no such columns or groups, or the format does not show them */
function requireShape(kind: ReportKind, { columns, groupBy: by, format: name }: Omit<ReportFields, 'kind'>): void {
  const format = FORMATS.find((each) => each.name === name);
  const names = kind.columns.map((column) => column.name);
  if (columns !== undefined && format?.ofTracks) throw badField('/columns', 'It is only for tables.');
  if (columns !== undefined && !columns.every((column) => names.includes(column)))
    throw badField('/columns', `They must be among ${names.join(', ')}.`);
  if (by === undefined) return;
  const groupings = groupingsOf(kind);
  if (!groupings.includes(by))
    throw badField(
      '/groupBy',
      groupings.length === 0 ? 'The report cannot be grouped.' : `It may be ${list.format(groupings)}.`,
    );
  if (!format?.ofGroups) throw badField('/groupBy', 'It is only for xlsx and pdf.');
}
