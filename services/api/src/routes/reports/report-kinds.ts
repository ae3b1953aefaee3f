import { EVENT_KINDS } from '@outrider/domain';
import {
  COLUMN_TOTALS,
  COLUMN_UNITS,
  chartsOf,
  DEFAULT_ECO_WEIGHTS,
  DEFAULT_WORK_HOURS,
  formatsOf,
  GROUPINGS,
  groupingsOf,
  isUsual,
  PERIODS,
  REPORT_KINDS,
  type ReportKind,
  unitOf,
} from '@outrider/reports';
import { z } from 'zod';
import { MAX_POINTS } from '../../fields/report-fields.ts';
import { type Route, route } from '../../route.ts';

const ColumnOut = z.strictObject({
  name: z.string(),
  type: z.enum(['id', 'text', 'day', 'time', 'number', 'whole', 'flag', 'json']),
  unit: z
    .enum(COLUMN_UNITS)
    .nullable()
    .meta({ description: 'Unit of the values. `deg`: degrees; `ratio`: 0 to 1. Null: no unit.' }),
  always: z.boolean().meta({ description: 'True: every row has a value. False: the value may be null.' }),
  total: z
    .enum(COLUMN_TOTALS)
    .nullable()
    .meta({ description: 'How the total of many rows is computed. Null: the column has no total.' }),
  weight: z
    .string()
    .nullable()
    .meta({ description: 'For a `mean`: name of the column by which each value is weighted. Null: not weighted.' }),
  isUsual: z
    .boolean()
    .meta({ description: 'True: the column is shown by default. False: it is shown only if it is chosen.' }),
  description: z.string().nullable(),
});
const ChartOut = z.strictObject({
  shape: z.enum(['bars', 'lines']),
  measure: z.string().nullable().meta({ description: 'Name of the column that is drawn. Null: the number of rows.' }),
  by: z.enum([...GROUPINGS, 'hour', 'time']).meta({
    description: 'What each bar stands for. `time` for lines, of which there is one for each vehicle or sensor.',
  }),
});

const EXAMPLE = {
  kind: 'mileage',
  summary: 'Distance driven by vehicles, by day, week or month.',
  description: null,
  hasTimeRange: true,
  isTrack: false,
  parameters: {
    period: { values: [...PERIODS], default: 'day' as const },
    eventKinds: null,
    geozoneId: false,
    shape: false,
    maxPoints: null,
    workHours: null,
    ecoWeights: null,
    sensors: false,
    driverIds: false,
  },
  columns: [
    {
      name: 'vehicleName',
      type: 'text' as const,
      unit: null,
      always: true,
      total: null,
      weight: null,
      isUsual: true,
      description: null,
    },
    {
      name: 'distanceM',
      type: 'number' as const,
      unit: 'm' as const,
      always: true,
      total: 'sum' as const,
      weight: null,
      isUsual: true,
      description: null,
    },
  ],
  groupings: ['vehicle' as const, 'day' as const],
  charts: [{ shape: 'bars' as const, measure: 'distanceM', by: 'day' as const }],
  formats: ['ndjson', 'csv', 'xlsx'],
};

const ReportKindOut = z
  .strictObject({
    kind: z.string().meta({ description: 'Name of the kind, as in the path of its `GET` and in report jobs.' }),
    summary: z.string(),
    description: z.string().nullable(),
    hasTimeRange: z.boolean().meta({ description: 'False: the report shows the current state.' }),
    isTrack: z.boolean().meta({ description: 'Whether its rows are positions.' }),
    parameters: z.strictObject({
      period: z
        .strictObject({ values: z.array(z.enum(PERIODS)), default: z.enum(PERIODS) })
        .nullable()
        .meta({ description: 'Null, as for the other parameters: the kind does not have this parameter.' }),
      eventKinds: z.strictObject({ values: z.array(z.enum(EVENT_KINDS)) }).nullable(),
      geozoneId: z.boolean(),
      shape: z
        .boolean()
        .meta({ description: 'Whether the report is also available for a shape that is not saved, by `POST`.' }),
      maxPoints: z.strictObject({ min: z.int(), max: z.int() }).nullable(),
      workHours: z.string().nullable().meta({ description: 'Default value of the parameter.' }),
      ecoWeights: z.string().nullable().meta({ description: 'Default value of the parameter.' }),
      sensors: z.boolean(),
      driverIds: z.boolean(),
    }),
    columns: z.array(ColumnOut),
    groupings: z.array(z.enum(GROUPINGS)).meta({ description: 'Possible values of `groupBy`.' }),
    charts: z.array(ChartOut).meta({ description: 'Charts that suit the report.' }),
    formats: z.array(z.string()).meta({ description: 'Formats of files.' }),
  })
  .meta({
    id: 'ReportKind',
    examples: [EXAMPLE],
  });

/** Kinds of report that accept a shape that is not saved as a geofence. */
const WITH_SHAPE: ReadonlySet<string> = new Set(['geozone-visits']);

function described(kind: ReportKind): z.output<typeof ReportKindOut> {
  const { name, summary, description, isNow, isTrack, parameters = {}, columns } = kind;
  return {
    kind: name,
    summary,
    description: description ?? null,
    hasTimeRange: isNow !== true,
    isTrack: isTrack === true,
    parameters: {
      period: parameters.period === undefined ? null : { values: [...PERIODS], default: parameters.period },
      eventKinds: parameters.eventKinds === undefined ? null : { values: [...EVENT_KINDS] },
      geozoneId: parameters.geozoneId === true,
      shape: WITH_SHAPE.has(name),
      maxPoints: parameters.maxPoints === undefined ? null : MAX_POINTS,
      workHours: parameters.workHours === undefined ? null : DEFAULT_WORK_HOURS,
      ecoWeights: parameters.ecoWeights === undefined ? null : DEFAULT_ECO_WEIGHTS,
      sensors: parameters.sensors === true,
      driverIds: parameters.driverIds === true,
    },
    columns: columns.map((column) => ({
      name: column.name,
      type: column.type,
      unit: unitOf(column),
      always: column.always === true,
      total: column.total ?? null,
      weight: column.weight ?? null,
      isUsual: isUsual(column),
      description: column.about ?? null,
    })),
    groupings: groupingsOf(kind),
    charts: chartsOf(kind).map((chart) => ({ ...chart })),
    formats: formatsOf(kind).map((format) => format.name),
  };
}

const items = REPORT_KINDS.map(described);

export const reportKindRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/reports',
    group: 'Reports',
    operationId: 'listReportKinds',
    summary: 'List the kinds of reports, with their columns, parameters and formats.',
    description: 'Clients can use the list to offer every report, including kinds that later versions add.',
    answers: {
      200: {
        description: 'All kinds of reports.',
        body: z
          .strictObject({ items: z.array(ReportKindOut) })
          .meta({ id: 'ReportKinds', examples: [{ items: [EXAMPLE] }] }),
      },
    },
    handle: async () => ({ status: 200, body: { items } }),
  }),
];
