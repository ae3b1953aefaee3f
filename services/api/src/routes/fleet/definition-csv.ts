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

const DEFUSED =
  'Text that a spreadsheet would take for a formula has an apostrophe before it, which the import takes off again.';
const FORM =
  '`customAttributes` holds a JSON object; they become exactly those. Columns that are not there are left as they ' +
  'are; an empty cell means none, or the default. `groups` takes names or ids, parted by `|`. Cells are parted by ' +
  'comma, semicolon or tab, whichever comes first in the header. In UTF-8, or UTF-16 with a byte order mark; at most ' +
  `${MAX_ROWS} rows.`;

const importOf = (name: string) => ({
  bodyType: 'text/csv' as const,
  maxBodyBytes: MAX_CSV_BYTES,
  answers: {
    200: {
      description: 'All of it was done; in a dry run: would have been.',
      body: importReport(
        name,
        { row: z.int().meta({ description: 'As a spreadsheet counts: 1 is the header.' }) },
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
    summary: 'All vehicles that the caller may see, as CSV (RFC 4180).',
    description:
      `${columnsSentence(VEHICLE_CSV.columns)} \`groups\` holds their names, parted by \`|\`; an id stands in place of ` +
      `a name that would not tell which group it is. ${DEFUSED}`,
    query: z.object({
      groupId: id<GroupId>().optional().meta({ description: 'Only vehicles of this group.' }),
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
    summary: 'Add and change many vehicles by a CSV: all of them, or none.',
    description:
      `${columnsSentence(VEHICLE_CSV.columns)} The header names those that are there, in any order. A row with an ` +
      '`id` changes that vehicle; else one with the `externalId` or else the `terminalId` of a vehicle changes that ' +
      `one; else it adds one, which needs a \`name\`. ${FORM}`,
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
    summary: 'All drivers that the caller may see, as CSV (RFC 4180).',
    description:
      `${columnsSentence(DRIVER_CSV.columns)} \`codes\` holds those that the driver has now, \`groups\` names; both ` +
      `parted by \`|\`. ${DEFUSED}`,
    query: z.object({ excel }),
    answers: {
      200: csvAnswer('each driver', csvExample(DRIVER_CSV.columns, { ...DRIVER_EXAMPLE, ...EXAMPLE_CELLS })),
    },
    handle: async ({ query }, { access }) =>
      exported('drivers', query, DRIVER_CSV, access.driverImport.all(), access.groupNames()),
  }),
  post('/api/v1/drivers/import', {
    operationId: 'importDrivers',
    summary: 'Add and change many drivers by a CSV: all of them, or none.',
    description:
      `${columnsSentence(DRIVER_CSV.columns)} The header names those that are there, in any order. A row with an ` +
      '`id` changes that driver; else one with the `externalId`, or else a code that a driver has now, changes that ' +
      'one; else it adds one, which needs a `name`. `codes` are parted by `|`, and become exactly those. ' +
      FORM,
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
