import { EVENT_KINDS, type GeofenceId, type GroupId, type VehicleId } from '@outrider/domain';
import { PERIODS } from '@outrider/reports';
import { z } from 'zod';
import { id, idOut, line } from '../../fields/fields.ts';
import { geometryOut, shape } from '../../fields/geozone-fields.ts';
import {
  driverIds,
  ecoWeights,
  groupBy,
  MAX_POINTS,
  MAX_VEHICLES,
  REPORT_FIELDS,
  requireTemplate,
  sensors,
  workHours,
} from '../../fields/report-fields.ts';
import { etagOf } from '../../http/input.ts';
import { callsOf, type Reply, type Route } from '../../route.ts';
import { visitedShapeIn } from './reports.ts';

const { get, put } = callsOf('Reports');

const MAX_TEMPLATES = 100;
const MAX_COLUMNS = 100;
/** Time ranges relative to the current date. */
const RANGES = [
  'today',
  'yesterday',
  'last-7-days',
  'last-30-days',
  'this-week',
  'last-week',
  'this-month',
  'last-month',
] as const;

const columnName = z.string().regex(/^\w{1,64}$/);
const FIELDS = {
  range: z
    .enum(RANGES)
    .nullable()
    .default(null)
    .meta({
      description: 'Time range, relative to the current day. Null: it is chosen each time.',
      examples: ['last-week'],
    }),
  period: z.enum(PERIODS).nullable().default(null),
  eventKinds: z.array(z.enum(EVENT_KINDS)).min(1).max(50).nullable().default(null),
  maxPoints: z.int().min(MAX_POINTS.min).max(MAX_POINTS.max).nullable().default(null),
  workHours: workHours.nullable().default(null),
  ecoWeights: ecoWeights.nullable().default(null),
  sensors: sensors.nullable().default(null),
  driverIds: driverIds.nullable().default(null),
  format: REPORT_FIELDS.format
    .nullable()
    .default(null)
    .meta({ description: 'Format of the file. Null: it is chosen each time.' }),
  groupBy: groupBy.nullable().default(null),
  columns: z
    .array(columnName)
    .min(1)
    .max(MAX_COLUMNS)
    .nullable()
    .default(null)
    .meta({ description: 'Columns to show, in this order. Null: all columns.', examples: [['distanceM']] }),
  sort: z
    .string()
    .regex(/^-?\w{1,64}$/, 'It must be the name of a column, with `-` before it for descending order.')
    .nullable()
    .default(null)
    .meta({ examples: ['-distanceM'] }),
};
const TemplateIn = z.strictObject({
  name: line(100),
  kind: REPORT_FIELDS.kind,
  vehicleIds: z.array(id<VehicleId>()).max(MAX_VEHICLES).default([]).meta({
    description: 'Vehicles of the report. Empty, and without `groupId`: all vehicles that the caller may see.',
  }),
  groupId: id<GroupId>().nullable().default(null),
  geozoneId: id<GeofenceId>().nullable().default(null),
  ...FIELDS,
  shape: visitedShapeIn.nullable().default(null),
});
type Template = z.output<typeof TemplateIn>;

const EXAMPLE = {
  name: 'Mileage of the week',
  kind: 'mileage',
  vehicleIds: [],
  groupId: null,
  geozoneId: null,
  range: 'last-week',
  period: 'day',
  eventKinds: null,
  maxPoints: null,
  workHours: null,
  ecoWeights: null,
  sensors: null,
  driverIds: null,
  format: 'pdf',
  groupBy: 'vehicle',
  columns: ['vehicleName', 'period', 'distanceM'],
  sort: '-distanceM',
  shape: null,
} as const;

const VisitedShapeOut = z
  .strictObject({
    type: z.literal('Feature'),
    geometry: geometryOut,
    properties: z.strictObject({
      shape,
      radiusM: z.number().optional(),
      widthM: z.number().optional(),
      minDwellSeconds: z.int(),
    }),
  })
  .meta({ id: 'SavedShape' });
const SHOWN = {
  range: FIELDS.range.unwrap(),
  period: FIELDS.period.unwrap(),
  eventKinds: FIELDS.eventKinds.unwrap(),
  maxPoints: FIELDS.maxPoints.unwrap(),
  workHours: z.string().nullable(),
  ecoWeights: z.string().nullable(),
  sensors: z.array(z.string()).nullable(),
  driverIds: z.array(idOut).nullable(),
  format: z.string().nullable(),
  groupBy: FIELDS.groupBy.unwrap(),
  columns: FIELDS.columns.unwrap(),
  sort: FIELDS.sort.unwrap(),
};
const TemplateOut = z
  .strictObject({
    ...TemplateIn.shape,
    kind: z.string(),
    vehicleIds: z.array(idOut).meta({ description: 'Vehicles of the report. May contain deleted vehicles.' }),
    groupId: idOut.nullable(),
    geozoneId: idOut.nullable(),
    ...SHOWN,
    shape: VisitedShapeOut.nullable(),
  })
  .meta({ id: 'ReportTemplate', examples: [EXAMPLE as never] });
const TemplatesOut = z
  .strictObject({ items: z.array(TemplateOut) })
  .meta({ id: 'ReportTemplates', examples: [{ items: [EXAMPLE] } as never] });
const TemplatesIn = z
  .strictObject({
    items: z
      .array(TemplateIn)
      .max(MAX_TEMPLATES)
      .superRefine((items, context) => {
        const seen = new Set<string>();
        for (const [nth, { name }] of items.entries()) {
          if (seen.has(name))
            context.addIssue({ code: 'custom', path: [nth, 'name'], message: 'Another saved report has this name.' });
          seen.add(name);
          for (const [field, message] of requireTemplate(items[nth] as Template))
            context.addIssue({ code: 'custom', path: [nth, field], message });
        }
      }),
  })
  .meta({ id: 'NewReportTemplates', examples: [{ items: [EXAMPLE] } as never] });

const HEADERS = { ETag: 'Version of the list.' };

function reply({ version, templates }: { version: number; templates: readonly object[] }): Reply {
  return { status: 200, body: { items: templates.map(templateOf) }, headers: { etag: etagOf(version) } };
}

/** Stored template, with the fields of this version. */
function templateOf(stored: object): unknown {
  const known = Object.entries(stored).filter(([name]) => name in EXAMPLE);
  return { ...EMPTY, ...Object.fromEntries(known) };
}
const EMPTY: Omit<Template, 'name' | 'kind'> = {
  vehicleIds: [],
  groupId: null,
  geozoneId: null,
  range: null,
  period: null,
  eventKinds: null,
  maxPoints: null,
  workHours: null,
  ecoWeights: null,
  sensors: null,
  driverIds: null,
  format: null,
  groupBy: null,
  columns: null,
  sort: null,
  shape: null,
};

export const reportTemplateRoutes: Route[] = [
  get('/api/v1/me/report-templates', {
    operationId: 'getMyReportTemplates',
    summary: 'List the caller’s saved reports.',
    answers: {
      200: {
        description: 'All saved reports, in the order in which they were stored.',
        body: TemplatesOut,
        headers: HEADERS,
      },
    },
    async handle(_, { access }) {
      return reply(await access.reportTemplates());
    },
  }),
  put('/api/v1/me/report-templates', {
    operationId: 'setMyReportTemplates',
    summary: 'Replace the saved reports of the caller.',
    description: `At most ${MAX_TEMPLATES} reports. Send \`If-Match\` with the \`ETag\` of the list, so that changes made in the meantime are not overwritten.`,
    conditional: true,
    body: TemplatesIn,
    answers: { 200: { description: 'All saved reports after the change.', body: TemplatesOut, headers: HEADERS } },
    problems: ['stale'],
    async handle({ body }, { access, ifMatch }) {
      return reply(await access.setReportTemplates(ifMatch, body.items));
    },
  }),
];
