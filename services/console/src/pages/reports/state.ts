import type { ReportKind, ReportTemplate } from '@outrider/client';
import { type Preset, presetRange, queryOfRange, type TimeRange, timeRangeOf } from '../../time-range.ts';

type Shape = NonNullable<ReportTemplate['shape']>;
type Period = NonNullable<ReportTemplate['period']>;

export const PANES = ['none', 'chart', 'groups', 'heat', 'map'] as const;
/** Display above the table. */
export type Pane = (typeof PANES)[number];

/** Parameters of a report. */
export interface Question {
  kind: string;
  range: TimeRange;
  /** Empty without a group: all vehicles. */
  vehicleIds: readonly string[];
  groupId: string | null;
  /** Null: the kind's default. */
  period: Period | null;
  eventKinds: readonly string[];
  geozoneId: string | null;
  shape: Shape | null;
  maxPoints: number | null;
  /** Working hours; null: the kind's default. */
  workHours: string | null;
  ecoWeights: string | null;
  /** By name or by id; empty: all. */
  sensors: readonly string[];
  /** Empty: all drivers, and rows without a known driver. */
  driverIds: readonly string[];
}

/** How the report is displayed. */
export interface Look {
  /** Null: all columns, in the order of the API. */
  columns: readonly string[] | null;
  /** Name of a column; `-` before it: descending. */
  sort: string | null;
  pane: Pane | null;
  /** Column that the chart totals; null: the default measure, or the number of rows. */
  measure: string | null;
  /** Dimension of the chart's bars. */
  by: string | null;
  /** Grouping of the rows in a file. */
  groupBy: string | null;
}

export const DEFAULT_PRESET: Preset = 'last7days';
const PERIODS: readonly string[] = ['whole', 'day', 'week', 'month'];

/** Null: no report is chosen. */
export function questionOf(query: URLSearchParams, timeZone: string | null, nowMs = Date.now()): Question | null {
  const kind = query.get('kind');
  if (kind === null) return null;
  const period = query.get('period');
  const points = Number(query.get('points') ?? Number.NaN);
  return {
    kind,
    range: timeRangeOf(query, DEFAULT_PRESET, timeZone, nowMs),
    vehicleIds: query.getAll('vehicle'),
    groupId: query.get('group'),
    period: period !== null && PERIODS.includes(period) ? (period as Period) : null,
    eventKinds: listIn(query.get('events')),
    geozoneId: query.get('geofence'),
    shape: shapeOf(query.get('shape')),
    maxPoints: Number.isInteger(points) ? points : null,
    workHours: query.get('hours'),
    ecoWeights: query.get('eco'),
    sensors: query.getAll('sensor'),
    driverIds: query.getAll('driver'),
  };
}

export function lookOf(query: URLSearchParams): Look {
  const columns = listIn(query.get('columns'));
  const pane = PANES.find((one) => one === query.get('show')) ?? null;
  return {
    columns: columns.length === 0 ? null : columns,
    sort: query.get('sort'),
    pane,
    measure: query.get('of'),
    by: query.get('by'),
    groupBy: query.get('groups'),
  };
}

function listIn(text: string | null): string[] {
  return (text ?? '').split(',').filter((part) => part !== '');
}

/** Link to a report. */
export function reportLink(question: Question, look: Partial<Look> = {}): string {
  const query = new URLSearchParams({ kind: question.kind });
  for (const id of question.vehicleIds) query.append('vehicle', id);
  for (const name of question.sensors) query.append('sensor', name);
  for (const id of question.driverIds) query.append('driver', id);
  const { range, from, to } = queryOfRange(question.range);
  const single: Record<string, string | null | undefined> = {
    range,
    from,
    to,
    group: question.groupId,
    period: question.period,
    events: question.eventKinds.join(','),
    geofence: question.geozoneId,
    shape: question.shape && shapeText(question.shape),
    points: question.maxPoints === null ? null : String(question.maxPoints),
    hours: question.workHours,
    eco: question.ecoWeights,
    columns: look.columns?.join(','),
    sort: look.sort,
    show: look.pane,
    of: look.measure,
    by: look.by,
    groups: look.groupBy,
  };
  for (const [name, value] of Object.entries(single)) if (value) query.set(name, value);
  return `/reports?${query.toString().replaceAll('%3A', ':').replaceAll('%2C', ',').replaceAll('%3B', ';')}`;
}

/** The question without parameters that its kind does not support. */
export function fitting(question: Question, { parameters, hasTimeRange }: ReportKind): Question {
  const { period, eventKinds, geozoneId, shape, maxPoints, workHours, ecoWeights, sensors, driverIds } = parameters;
  return {
    ...question,
    range: hasTimeRange ? question.range : presetRange(DEFAULT_PRESET, null, 0),
    period: period === null ? null : question.period,
    eventKinds: eventKinds === null ? [] : question.eventKinds,
    geozoneId: geozoneId && question.shape === null ? question.geozoneId : null,
    shape: shape ? question.shape : null,
    maxPoints: maxPoints === null ? null : question.maxPoints,
    workHours: workHours === null ? null : question.workHours,
    ecoWeights: ecoWeights === null ? null : question.ecoWeights,
    sensors: sensors ? question.sensors : [],
    driverIds: driverIds ? question.driverIds : [],
  };
}

/** Time zone that defines the days of a report. */
export function zoneOf(timeZone: string | null): string {
  return timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Query of the REST call for a report, without format and pagination. */
export function queryOf(question: Question, { hasTimeRange }: ReportKind, timeZone: string) {
  const { range, vehicleIds, groupId, period, eventKinds, geozoneId, maxPoints, workHours, ecoWeights, sensors } =
    question;
  const { driverIds } = question;
  return {
    ...(hasTimeRange ? { from: new Date(range.fromMs).toISOString(), to: new Date(range.toMs).toISOString() } : {}),
    ...(vehicleIds.length === 0 ? {} : { vehicleId: vehicleIds }),
    ...(groupId === null ? {} : { groupId }),
    ...(period === null ? {} : { period }),
    ...(eventKinds.length === 0 ? {} : { kind: eventKinds.join(',') }),
    ...(geozoneId === null ? {} : { geozoneId }),
    ...(maxPoints === null ? {} : { maxPoints }),
    ...(workHours === null ? {} : { workHours }),
    ...(ecoWeights === null ? {} : { ecoWeights }),
    ...(sensors.length === 0 ? {} : { sensor: sensors }),
    ...(driverIds.length === 0 ? {} : { driverId: driverIds }),
    timeZone,
  };
}

/** Parameters of a report for the body of a job or of a schedule. */
export function bodyOf(question: Question) {
  const { kind, vehicleIds, groupId, period, eventKinds, geozoneId, maxPoints, workHours, ecoWeights, sensors } =
    question;
  const { driverIds } = question;
  return {
    kind,
    ...(vehicleIds.length === 0 ? {} : { vehicleIds: [...vehicleIds] }),
    ...(groupId === null ? {} : { groupId }),
    ...(period === null ? {} : { period }),
    ...(eventKinds.length === 0 ? {} : { eventKinds: [...eventKinds] }),
    ...(geozoneId === null ? {} : { geozoneId }),
    ...(maxPoints === null ? {} : { maxPoints }),
    ...(workHours === null ? {} : { workHours }),
    ...(ecoWeights === null ? {} : { ecoWeights }),
    ...(sensors.length === 0 ? {} : { sensors: [...sensors] }),
    ...(driverIds.length === 0 ? {} : { driverIds: [...driverIds] }),
  };
}

/** Display settings that apply to a file: columns in PDF, groups in PDF and XLSX. */
export function fileLook({ columns, groupBy }: Look, { groupings }: ReportKind, format: string) {
  const isGrouped = groupings.some((one) => one === groupBy) && ['pdf', 'xlsx'].includes(format);
  return {
    ...(columns !== null && format === 'pdf' ? { columns: [...columns] } : {}),
    ...(isGrouped && groupBy !== null ? { groupBy } : {}),
  };
}

/** Encodes a shape: `circle:30.31413,59.93863,300` or `polygon:30.1,59.9;30.2,59.9;30.2,59.8`. */
export function shapeText({ geometry, properties }: Shape): string {
  if (geometry.type === 'Point') return `circle:${pointText(geometry.coordinates)},${properties.radiusM ?? 0}`;
  // Shapes of reports have only one ring.
  const [ring = []] = geometry.type === 'MultiPolygon' ? (geometry.coordinates[0] ?? []) : geometry.coordinates;
  const line = geometry.type === 'LineString' ? geometry.coordinates : (ring as readonly number[][]).slice(0, -1);
  const text = line.map(pointText).join(';');
  return geometry.type === 'LineString' ? `line:${text},${properties.widthM ?? 0}` : `polygon:${text}`;
}

function pointText([longitude, latitude]: readonly number[]): string {
  return `${Number(longitude?.toFixed(6))},${Number(latitude?.toFixed(6))}`;
}

export function shapeOf(text: string | null): Shape | null {
  const [name, rest = ''] = (text ?? '').split(':', 2);
  const numbers = rest.split(';').map((part) => part.split(',').map(Number));
  if (numbers.flat().some((value) => !Number.isFinite(value))) return null;
  const feature = { type: 'Feature' as const };
  const [first = [], ...others] = numbers;
  if (name === 'circle' && first.length === 3 && others.length === 0) {
    const [longitude = 0, latitude = 0, radiusM = 0] = first;
    return {
      ...feature,
      geometry: { type: 'Point', coordinates: [longitude, latitude] },
      properties: { shape: 'circle', radiusM, minDwellSeconds: 0 },
    };
  }
  if (name === 'polygon' && numbers.length >= 3 && numbers.every(({ length }) => length === 2)) {
    const ring = [...numbers, first] as [number, number][];
    return {
      ...feature,
      geometry: { type: 'Polygon', coordinates: [ring] },
      properties: { shape: 'polygon', minDwellSeconds: 0 },
    };
  }
  return null;
}

// Templates

const RANGES = {
  today: 'today',
  yesterday: 'yesterday',
  last7days: 'last-7-days',
  thisWeek: 'this-week',
  lastWeek: 'last-week',
  thisMonth: 'this-month',
  lastMonth: 'last-month',
  last30days: 'last-30-days',
} as const satisfies Record<Preset, NonNullable<ReportTemplate['range']>>;

export function templateOf(name: string, question: Question, { columns, sort, groupBy }: Look): ReportTemplate {
  const { kind, range, vehicleIds, groupId, period, eventKinds, geozoneId, shape, maxPoints, workHours, ecoWeights } =
    question;
  const { sensors, driverIds } = question;
  return {
    name,
    kind,
    vehicleIds: [...vehicleIds],
    groupId,
    geozoneId,
    range: range.preset && RANGES[range.preset],
    period,
    eventKinds: eventKinds.length === 0 ? null : ([...eventKinds] as NonNullable<ReportTemplate['eventKinds']>),
    maxPoints,
    workHours,
    ecoWeights,
    sensors: sensors.length === 0 ? null : [...sensors],
    driverIds: driverIds.length === 0 ? null : [...driverIds],
    format: null,
    groupBy: groupBy as ReportTemplate['groupBy'],
    columns: columns && [...columns],
    sort,
    shape,
  };
}

/** @param present interval to use if the template has none */
export function linkOfTemplate(template: ReportTemplate, present: TimeRange, timeZone: string | null): string {
  const preset = (Object.keys(RANGES) as Preset[]).find((one) => RANGES[one] === template.range);
  const { columns, sort, eventKinds, groupBy } = template;
  const range = preset === undefined ? present : presetRange(preset, timeZone, Date.now());
  const pane = groupBy === null ? null : 'groups';
  const { sensors, driverIds } = template;
  return reportLink(
    { ...template, range, eventKinds: eventKinds ?? [], sensors: sensors ?? [], driverIds: driverIds ?? [] },
    { columns, sort, groupBy, pane },
  );
}

/** The intervals that a template may have, with their names in the console. */
export const TEMPLATE_RANGES = Object.entries(RANGES) as [Preset, NonNullable<ReportTemplate['range']>][];

/** Link to the form of a new schedule for the template's report. */
export function scheduleLink(template: ReportTemplate, present: TimeRange, timeZone: string | null): string {
  const extra = new URLSearchParams({ list: 'schedules', schedule: 'new', name: template.name });
  if (template.format !== null) extra.set('format', template.format);
  return `${linkOfTemplate(template, present, timeZone)}&${extra}`;
}
