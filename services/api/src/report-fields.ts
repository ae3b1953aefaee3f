import { badField } from '@outrider/access';
import { EVENT_KINDS, type GeofenceId, type GroupId, type VehicleId } from '@outrider/domain';
import type { ReportRequest } from '@outrider/reports';
import {
  FORMATS,
  isTimeZone,
  PERIODS,
  type Period,
  REPORT_KINDS,
  type ReportKind,
  type ReportParameters,
  reportKind,
} from '@outrider/reports';
import { z } from 'zod';
import { id } from './fields.ts';

const KINDS = REPORT_KINDS.map(({ name }) => name) as [string, ...string[]];
const FORMAT_NAMES = FORMATS.map(({ name }) => name) as [string, ...string[]];

const list = new Intl.ListFormat('en');
const namesOf = (which: (kind: ReportKind) => unknown) => REPORT_KINDS.filter(which).map(({ name }) => name);

/** Names of kinds, for a description. */
export function kindsThat(which: (kind: ReportKind) => unknown): string {
  return list.format(namesOf(which).map((name) => `\`${name}\``));
}

const MAX_POINTS = { min: 7, max: 20_000 };

/** The parameters of the kind's `GET` that not every kind has. */
export function ownParameters({ parameters = {} }: ReportKind): z.ZodRawShape {
  const { period, eventKinds, geozoneId, maxPoints } = parameters;
  return {
    ...(period && {
      period: z
        .enum(PERIODS)
        .default(period)
        .meta({ description: 'Weeks begin on Monday.', examples: [period] }),
    }),
    ...(eventKinds && {
      kind: z
        .string()
        .max(500)
        .optional()
        .meta({ description: `Parted by commas: ${EVENT_KINDS.join(', ')}.`, examples: ['speeding,alarm'] }),
    }),
    ...(geozoneId && {
      geozoneId: id<GeofenceId>().optional().meta({ description: 'Only visits of this one.' }),
    }),
    ...(maxPoints && {
      maxPoints: z.coerce
        .number({ error: 'It must be a whole number.' })
        .int()
        .min(MAX_POINTS.min)
        .max(MAX_POINTS.max)
        .optional()
        .meta({
          description:
            'At most so many positions of each vehicle: those that show the most of its way, and its extremes (first, last, outermost, fastest), without jumps and what the terminal does not trust. Such a track comes in one page for each vehicle.',
          examples: [500],
        }),
    }),
  };
}

const OWN_PARAMETERS = ['period', 'eventKinds', 'geozoneId', 'maxPoints'] as const satisfies (keyof ReportParameters)[];
const kindsWith = (name: keyof ReportParameters) => kindsThat(({ parameters }) => parameters?.[name]);

function kindsWithPeriod(): string {
  const kinds = REPORT_KINDS.filter(({ parameters }) => parameters?.period);
  return list.format(
    kinds.map(({ name, parameters }, nth) => {
      const usual = `\`${parameters?.period}\``;
      return `\`${name}\` (${nth === 0 ? `where it is ${usual} by default` : usual})`;
    }),
  );
}

/** The fields of a report in a body: the parameters of its `GET`. */
export const REPORT_FIELDS = {
  kind: z.enum(KINDS).meta({ description: 'Kind of the report, as in the path of its `GET`.' }),
  format: z.enum(FORMAT_NAMES).meta({ description: '`geojson`, `gpx` and `kml` are for tracks.' }),
  vehicleId: id<VehicleId>().optional(),
  groupId: id<GroupId>().optional().meta({
    description: 'The vehicles of this group that the caller may see; without both: all that the caller may see.',
  }),
  timeZone: z
    .string()
    .max(64)
    .refine(isTimeZone, 'It must be the name of a time zone, such as Europe/Berlin.')
    .default('UTC')
    .meta({ description: 'Whose days, weeks, months and hours they are: an IANA name.', examples: ['Europe/Berlin'] }),
  period: z
    .enum(PERIODS)
    .optional()
    .meta({ description: `Of ${kindsWithPeriod()}.` }),
  eventKinds: z
    .array(z.enum(EVENT_KINDS))
    .min(1)
    .max(50)
    .optional()
    .meta({ description: `Of ${kindsWith('eventKinds')}.` }),
  geozoneId: id<GeofenceId>()
    .optional()
    .meta({ description: `Of ${kindsWith('geozoneId')}: only those of this one.` }),
  maxPoints: z
    .int()
    .min(MAX_POINTS.min)
    .max(MAX_POINTS.max)
    .optional()
    .meta({ description: `Of ${kindsWith('maxPoints')}.` }),
};

/** {@link REPORT_FIELDS} as they come out; a field that was left out may stand there as undefined. */
export interface ReportFields {
  kind: string;
  format: string;
  vehicleId?: VehicleId | undefined;
  groupId?: GroupId | undefined;
  timeZone: string;
  period?: Period | undefined;
  eventKinds?: readonly string[] | undefined;
  geozoneId?: GeofenceId | undefined;
  maxPoints?: number | undefined;
}

/**
 * The report request that these fields describe, without its time range.
 *
 * @throws {Problem} when fields do not go together
 */
export function reportFrom(fields: ReportFields): Omit<ReportRequest, 'fromMs' | 'toMs' | 'shape'> {
  const { kind, format, vehicleId, groupId, timeZone, period, eventKinds, geozoneId, maxPoints } = fields;
  const { parameters = {}, isTrack } = reportKind(kind) ?? {};
  for (const name of OWN_PARAMETERS)
    if (fields[name] !== undefined && parameters[name] === undefined)
      throw badField(`/${name}`, `It is for reports of ${namesOf((each) => each.parameters?.[name]).join(', ')}.`);
  if (!isTrack && FORMATS.find(({ name }) => name === format)?.ofTracks) throw badField('/format', 'It is for tracks.');
  if (vehicleId !== undefined && groupId !== undefined)
    throw badField('/groupId', 'Name a vehicle or a group, not both.');
  return {
    report: kind,
    format,
    vehicleId: vehicleId ?? null,
    groupId: groupId ?? null,
    timeZone,
    period: period ?? parameters.period ?? 'whole',
    eventKinds: eventKinds ?? null,
    geofenceId: geozoneId ?? null,
    maxPoints: maxPoints ?? null,
  };
}
