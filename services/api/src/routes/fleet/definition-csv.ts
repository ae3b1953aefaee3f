import { Faults, type GroupNames } from '@outrider/access';
import type { GroupId } from '@outrider/domain';
import { z } from 'zod';
import { columnsSentence, csvAnswer, csvExample, csvReply, excel } from '../../csv/csv-export.ts';
import { type CsvRows, MAX_ROWS } from '../../csv/definition-csv.ts';
import { DRIVER_CSV } from '../../csv/driver-csv.ts';
import { dryRun, importReply, importReport } from '../../csv/import-report.ts';
import { VEHICLE_CSV } from '../../csv/vehicle-csv.ts';
import { VEHICLE } from '../../fields/field-schemas.ts';
import { id } from '../../fields/fields.ts';
import { callsOf, type Reply, type Route } from '../../route.ts';
import { DRIVER_EXAMPLE } from './drivers.ts';

const { get, post } = callsOf('Vehicles');

/** 10,000 rows with all columns filled in, plus space for long names. */
const MAX_CSV_BYTES = 8 * 1024 * 1024;

const EXAMPLE_CELLS = { groups: 'Refrigerated', customAttributes: '"{""costCentre"":""4711""}"' };

const DEFUSED = 'An apostrophe precedes text that a spreadsheet would read as a formula; the import removes it.';
const FORM =
  '`customAttributes` contains a JSON object, which replaces all custom attributes. Fields without a column are not ' +
  'changed. An empty cell clears the field or sets its default. `groups` contains names or ids, separated by `|`. ' +
  'Cells are separated by comma, semicolon or tab, whichever comes first in the header. The text must be UTF-8, or ' +
  `UTF-16 with a byte order mark. At most ${MAX_ROWS} rows.`;

const importOf = (name: string) => ({
  bodyType: 'text/csv' as const,
  maxBodyBytes: MAX_CSV_BYTES,
  answers: {
    200: {
      description: 'The changes that were made; in a dry run, those that would be made.',
      body: importReport(
        name,
        { row: z.int().meta({ description: 'Row number as in a spreadsheet: 1 is the header.' }) },
        { row: 2 },
      ),
    },
  },
  problems: ['forbidden', 'conflict', 'quota-exceeded'] as const,
});
function exported<T>(
  fileName: string,
  { excel }: { excel: string },
  csv: CsvRows<T>,
  pages: AsyncIterable<readonly T[]>,
  groups: GroupNames,
): Reply {
  return csvReply(
    fileName,
    excel === 'true',
    (delimiter) => csv.header(delimiter),
    pages,
    (one, delimiter) => csv.row(one, groups, delimiter),
  );
}
const rowOf = ({ row }: { row: number }) => ({ row });

/** Vehicles as CSV. */
export const vehicleCsvRoutes: Route[] = [
  get('/api/v1/vehicles/export', {
    operationId: 'exportVehicles',
    summary: 'Export all vehicles that the caller may see as CSV (RFC 4180).',
    description:
      `${columnsSentence(VEHICLE_CSV.columns)} \`groups\` contains the names of the groups, separated by \`|\`; an id ` +
      `replaces a name that does not identify one group. ${DEFUSED}`,
    query: z.object({
      groupId: id<GroupId>().optional().meta({ description: 'Return only vehicles of this group.' }),
      excel,
    }),
    answers: {
      200: csvAnswer(
        'each vehicle',
        csvExample(VEHICLE_CSV.columns, {
          ...VEHICLE.example,
          id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
          ...EXAMPLE_CELLS,
        }),
      ),
    },
    problems: ['not-found'],
    handle: async ({ query }, { access }) =>
      exported('vehicles', query, VEHICLE_CSV, access.vehicleImport.all(query.groupId), access.groupNames()),
  }),
  post('/api/v1/vehicles/import', {
    operationId: 'importVehicles',
    summary: 'Add and change many vehicles from a CSV: all of them or none.',
    description:
      `${columnsSentence(VEHICLE_CSV.columns)} The header names the columns of the file, in any order; not all are ` +
      'needed. A row with an `id` changes that vehicle. Without an `id`, it changes the vehicle with its `externalId`, ' +
      'or else the one with its `terminalId`. If there is none, the row adds a vehicle, which needs a `name`. Empty ' +
      `cells of \`terminalProtocol\`, \`terminalNetworks\` and \`terminalSecret\` change nothing. ${FORM}`,
    query: z.object({ dryRun }),
    body: z.string().meta({ examples: ['name,terminalId,groups,speedLimitKmh\r\nVan 12,356307042441013,,90\r\n'] }),
    ...importOf('VehicleImport'),
    async handle({ query, body }, { access }) {
      const faults = new Faults();
      const isDryRun = query.dryRun === 'true';
      const done = await access.vehicleImport.import(() => VEHICLE_CSV.read(body, faults), faults, isDryRun);
      return importReply(isDryRun, done, rowOf);
    },
  }),
];

/** Drivers as CSV. */
export const driverCsvRoutes: Route[] = [
  get('/api/v1/drivers/export', {
    operationId: 'exportDrivers',
    summary: 'Export all drivers that the caller may see as CSV (RFC 4180).',
    description:
      `${columnsSentence(DRIVER_CSV.columns)} \`codes\` contains the current codes of the driver, \`groups\` the names ` +
      `of the groups; both are separated by \`|\`. ${DEFUSED}`,
    query: z.object({ excel }),
    answers: {
      200: csvAnswer('each driver', csvExample(DRIVER_CSV.columns, { ...DRIVER_EXAMPLE, ...EXAMPLE_CELLS })),
    },
    handle: async ({ query }, { access }) =>
      exported('drivers', query, DRIVER_CSV, access.driverImport.all(), access.groupNames()),
  }),
  post('/api/v1/drivers/import', {
    operationId: 'importDrivers',
    summary: 'Add and change many drivers from a CSV: all of them or none.',
    description:
      `${columnsSentence(DRIVER_CSV.columns)} The header names the columns of the file, in any order; not all are ` +
      'needed. A row with an `id` changes that driver. Without an `id`, it changes the driver with its `externalId`, ' +
      'or else the one who has one of its codes now. If there is none, the row adds a driver, who needs a `name`. ' +
      `\`codes\` are separated by \`|\` and replace all codes of the driver. ${FORM}`,
    query: z.object({ dryRun }),
    body: z
      .string()
      .meta({ examples: ['name,codes,phone,licenceExpiresOn\r\nBen Cole,0100000F28F9A1,,2027-05-31\r\n'] }),
    ...importOf('DriverImport'),
    async handle({ query, body }, { access }) {
      const faults = new Faults();
      const isDryRun = query.dryRun === 'true';
      const done = await access.driverImport.import(() => DRIVER_CSV.read(body, faults), faults, isDryRun);
      return importReply(isDryRun, done, rowOf);
    },
  }),
];
