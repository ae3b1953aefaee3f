import { badField } from '@outrider/access';
import { EVENT_KINDS, type GeofenceId, type GroupId, type VehicleId } from '@outrider/domain';
import type { ReportRequest } from '@outrider/reports';
import { FORMATS, isTimeZone, PERIODS, type Period, REPORT_KINDS } from '@outrider/reports';
import { z } from 'zod';
import { id } from './fields.ts';

const KINDS = REPORT_KINDS.map(({ name }) => name) as [string, ...string[]];
const FORMAT_NAMES = FORMATS.map(({ name }) => name) as [string, ...string[]];

/** What of a report is said in a body: the parameters of its `GET`. */
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
    .meta({ description: 'Of `mileage` (where it is `day` by default) and `summary` (`whole`).' }),
  eventKinds: z.array(z.enum(EVENT_KINDS)).min(1).max(50).optional().meta({ description: 'Of `events`.' }),
  geozoneId: id<GeofenceId>().optional().meta({ description: 'Of `geozone-visits`: only those of this one.' }),
  maxPoints: z.int().min(7).max(20_000).optional().meta({ description: 'Of `track`.' }),
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

/** What there is for some kinds alone. */
const ONLY_OF: readonly (readonly [keyof ReportFields, readonly string[]])[] = [
  ['period', ['mileage', 'summary']],
  ['eventKinds', ['events']],
  ['geozoneId', ['geozone-visits']],
  ['maxPoints', ['track']],
];
const USUAL_PERIODS: Readonly<Record<string, Period>> = { mileage: 'day' };

/**
 * A report's job from what was said of it, but for its time.
 *
 * @throws {Problem} when fields do not go together
 */
export function reportFrom(fields: ReportFields): Omit<ReportRequest, 'fromMs' | 'toMs' | 'shape'> {
  const { kind, format, vehicleId, groupId, timeZone, period, eventKinds, geozoneId, maxPoints } = fields;
  for (const [name, kinds] of ONLY_OF)
    if (fields[name] !== undefined && !kinds.includes(kind))
      throw badField(`/${name}`, `It is for reports of ${kinds.join(', ')}.`);
  if (kind !== 'track' && FORMATS.find(({ name }) => name === format)?.ofTracks)
    throw badField('/format', 'It is for tracks.');
  if (vehicleId !== undefined && groupId !== undefined)
    throw badField('/groupId', 'Name a vehicle or a group, not both.');
  return {
    report: kind,
    format,
    vehicleId: vehicleId ?? null,
    groupId: groupId ?? null,
    timeZone,
    period: period ?? USUAL_PERIODS[kind] ?? 'whole',
    eventKinds: eventKinds ?? null,
    geofenceId: geozoneId ?? null,
    maxPoints: maxPoints ?? null,
  };
}
