import type { ReportSchedule, User } from '@outrider/client';
import type { Look, Question } from './state.ts';

/** Form state of a schedule. */
export interface Fields {
  name: string;
  kind: string;
  format: string;
  vehicleIds: readonly string[];
  groupId: string | null;
  geozoneId: string | null;
  period: Question['period'];
  eventKinds: readonly string[];
  maxPoints: number | null;
  workHours: string | null;
  ecoWeights: string | null;
  sensors: readonly string[];
  driverIds: readonly string[];
  columns: readonly string[] | null;
  groupBy: string | null;
  language: string | null;
  frequency: ReportSchedule['frequency'];
  /** As the value of a select element. */
  hour: string;
  covers: ReportSchedule['covers'];
  timeZone: string;
  emails: readonly string[];
  active: boolean;
}

export function fieldsOf(schedule: ReportSchedule): Fields {
  const { vehicleId, vehicleIds, eventKinds, period, hour, maxPoints, ...rest } = schedule;
  const { workHours, ecoWeights, sensors, driverIds, columns, groupBy, language } = schedule;
  const { name, kind, format, groupId, geozoneId, frequency, covers, timeZone, emails, active } = rest;
  return {
    ...{ name, kind, format, groupId, geozoneId, frequency, covers, timeZone, emails, active, maxPoints },
    ...{ workHours, ecoWeights, columns, groupBy, language },
    vehicleIds: vehicleIds ?? (vehicleId === null ? [] : [vehicleId]),
    eventKinds: eventKinds ?? [],
    sensors: sensors ?? [],
    driverIds: driverIds ?? [],
    period: period as Question['period'],
    hour: String(hour),
  };
}

/** @param question the report that is shown; null: none */
export function newFields(
  question: Question | null,
  { columns, groupBy }: Pick<Look, 'columns' | 'groupBy'>,
  { name, format, language }: { name: string; format: string | null; language: string },
  timeZone: string,
  user: Pick<User, 'id'> | null | undefined,
): Fields {
  const email = (user as { email?: string | null } | null | undefined)?.email;
  return {
    name,
    kind: question?.kind ?? 'fleet-digest',
    format: format ?? 'pdf',
    vehicleIds: question?.vehicleIds ?? [],
    groupId: question?.groupId ?? null,
    geozoneId: question?.geozoneId ?? null,
    period: question?.period ?? null,
    eventKinds: question?.eventKinds ?? [],
    maxPoints: question?.maxPoints ?? null,
    workHours: question?.workHours ?? null,
    ecoWeights: question?.ecoWeights ?? null,
    sensors: question?.sensors ?? [],
    driverIds: question?.driverIds ?? [],
    columns,
    groupBy,
    language,
    ...FREQUENCY[question === null ? 'daily' : 'weekly'],
    hour: '6',
    timeZone,
    emails: email ? [email] : [],
    active: true,
  };
}

const FREQUENCY = {
  daily: { frequency: 'daily', covers: 'yesterday' },
  weekly: { frequency: 'weekly', covers: 'last-week' },
} as const;
const PARAMETERS = [
  'period',
  'eventKinds',
  'geozoneId',
  'maxPoints',
  'workHours',
  'ecoWeights',
  'sensors',
  'driverIds',
  'columns',
  'groupBy',
] as const;

/** Body for the API. A change has the changed fields; a new schedule has the fields that are not null. */
export function bodyOfSchedule(fields: Partial<Fields>, isNew: boolean): Record<string, unknown> {
  const { hour, vehicleIds, eventKinds, sensors, driverIds, ...rest } = fields;
  const body: Record<string, unknown> = { ...rest };
  if (hour !== undefined) body.hour = Number(hour);
  if (eventKinds !== undefined) body.eventKinds = eventKinds.length === 0 ? null : eventKinds;
  if (sensors !== undefined) body.sensors = sensors.length === 0 ? null : sensors;
  if (driverIds !== undefined) body.driverIds = driverIds.length === 0 ? null : driverIds;
  if (vehicleIds !== undefined) {
    body.vehicleIds = vehicleIds.length === 0 ? null : vehicleIds;
    // Another client may have set the single `vehicleId`.
    if (!isNew) body.vehicleId = null;
  }
  // Only PDF and XLSX have groups; track formats have no columns.
  if (fields.format !== undefined && !['pdf', 'xlsx'].includes(fields.format)) body.groupBy = null;
  if (fields.format !== undefined && ['geojson', 'gpx', 'kml'].includes(fields.format)) body.columns = null;
  // A new kind does not accept the parameters of the previous one.
  if (!isNew && fields.kind !== undefined) for (const name of PARAMETERS) body[name] ??= null;
  if (isNew) for (const [name, value] of Object.entries(body)) if (value === null) delete body[name];
  return body;
}

export function addressesIn(text: string): string[] {
  return text.split(/[\s,;]+/).filter((address) => address !== '');
}
