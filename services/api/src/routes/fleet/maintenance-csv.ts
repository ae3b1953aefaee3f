import { Faults } from '@outrider/access';
import { z } from 'zod';
import { columnsSentence } from '../../csv/csv-export.ts';
import { dryRun } from '../../csv/import-report.ts';
import {
  MAX_MAINTENANCE_ROWS,
  PLAN_COLUMNS,
  READING_COLUMNS,
  readPlanLines,
  readReadingLines,
} from '../../csv/maintenance-csv.ts';
import { idOut } from '../../fields/fields.ts';
import { callsOf, type Route } from '../../route.ts';

const { post } = callsOf('Maintenance');

const VEHICLE =
  'The vehicle of a row is found by the first of `vehicleId`, `terminalId`, `plate` and `vehicleName` that has a value.';
const HOW = `Cells are separated by comma, semicolon or tab, whichever comes first in the header. The text must be UTF-8, or UTF-16 with a byte order mark. At most ${MAX_MAINTENANCE_ROWS} rows. For operators, dealers, and users who were granted the service \`maintenance\`.`;
const row = z.int().meta({ description: 'Row number as in a spreadsheet: 1 is the header.' });
const made = idOut.nullable().meta({ description: 'Id of the new object. Null in a dry run.' });
const ID = '01961f3d-9b20-7c3e-9b1d-2f6a0c4e8d59';

const PlanImport = z
  .strictObject({ dryRun: z.boolean(), created: z.int(), items: z.array(z.strictObject({ row, id: made })) })
  .meta({ id: 'MaintenancePlanImport', examples: [{ dryRun: false, created: 1, items: [{ row: 2, id: ID }] }] });
const ReadingImport = z
  .strictObject({
    dryRun: z.boolean(),
    created: z.int(),
    items: z.array(z.strictObject({ row, vehicleId: idOut, id: made })),
  })
  .meta({
    id: 'CounterReadingImport',
    examples: [{ dryRun: true, created: 1, items: [{ row: 2, vehicleId: ID, id: null }] }],
  });

export const maintenanceCsvRoutes: Route[] = [
  post('/api/v1/maintenance-plans/import', {
    operationId: 'importMaintenancePlans',
    summary: 'Add many maintenance plans from a CSV: all of them or none.',
    description: `${columnsSentence(PLAN_COLUMNS)} ${VEHICLE} Instead of a vehicle, a row may name a \`group\`, by its name or id. ${HOW}`,
    query: z.object({ dryRun }),
    body: z.string().meta({ examples: ['plate,name,everyKm,warningKm\r\nA123BC,Oil and filter,15000,1000\r\n'] }),
    bodyType: 'text/csv',
    answers: {
      200: { description: 'The plans that were added; in a dry run, those that would be added.', body: PlanImport },
    },
    problems: ['forbidden', 'conflict'],
    async handle({ query, body }, { access }) {
      const isDryRun = query.dryRun === 'true';
      const faults = new Faults();
      const read = () => readPlanLines(body, faults);
      const items = await access.maintenanceImport.importPlans(read, faults, isDryRun);
      return { status: 200, body: { dryRun: isDryRun, created: items.length, items } };
    },
  }),
  post('/api/v1/counter-corrections/import', {
    operationId: 'importCounterReadings',
    summary: 'Set counters of many vehicles from a CSV: all of them or none.',
    description: `${columnsSentence(READING_COLUMNS)} ${VEHICLE} \`counter\` is \`odometer\` (the default), \`engine-hours\` or the name of a custom counter. \`value\` is in kilometres for \`odometer\`, in hours for \`engine-hours\`, and otherwise in the unit of the custom counter. \`at\` is the time at which the counter had the value; the default is now. ${HOW}`,
    query: z.object({ dryRun }),
    body: z.string().meta({ examples: ['plate,value,at\r\nA123BC,120350,2026-01-15T12:00:00Z\r\n'] }),
    bodyType: 'text/csv',
    answers: {
      200: { description: 'The counters that were set; in a dry run, those that would be set.', body: ReadingImport },
    },
    problems: ['forbidden'],
    async handle({ query, body }, { access, nowMs }) {
      const isDryRun = query.dryRun === 'true';
      const faults = new Faults();
      const read = () => readReadingLines(body, faults);
      const items = await access.maintenanceImport.importReadings(read, faults, isDryRun, nowMs);
      return { status: 200, body: { dryRun: isDryRun, created: items.length, items } };
    },
  }),
];
