import { Faults } from '@outrider/access';
import { z } from 'zod';
import { columnsSentence, csvAnswer, csvExample, csvReply, excel } from '../csv-export.ts';
import { DRIVER_COLUMNS, driverCsvHeader, driverCsvRow, MAX_DRIVER_ROWS, readDriverLines } from '../driver-csv.ts';
import { DRIVER_EXAMPLE } from '../driver-fields.ts';
import { dryRun, importReply, importReport } from '../import-report.ts';
import { callsOf, type Route } from '../route.ts';

const { get, post } = callsOf('Vehicles');

/** 10,000 rows with everything in them. */
const MAX_CSV_BYTES = 8 * 1024 * 1024;
const COLUMNS = columnsSentence(DRIVER_COLUMNS);
const EXAMPLE_CELLS: Partial<Record<string, unknown>> = {
  ...DRIVER_EXAMPLE,
  groups: 'Refrigerated',
  customAttributes: '"{""costCentre"":""4711""}"',
};
const EXAMPLE = csvExample(DRIVER_COLUMNS, EXAMPLE_CELLS);

export const driverCsvRoutes: Route[] = [
  get('/api/v1/drivers/export', {
    operationId: 'exportDrivers',
    summary: 'All drivers that the caller may see, as CSV (RFC 4180).',
    description:
      `${COLUMNS} \`codes\` holds those that the driver has now, \`groups\` names; both parted by \`|\`. Text that a ` +
      'spreadsheet would take for a formula has an apostrophe before it, which the import takes off again.',
    query: z.object({
      excel,
    }),
    answers: {
      200: csvAnswer('each driver', EXAMPLE),
    },
    async handle({ query }, { access }) {
      const groups = access.bulk.groupNames();
      const isExcel = query.excel === 'true';
      return csvReply('drivers', isExcel, driverCsvHeader, access.bulk.drivers(), (driver, delimiter) =>
        driverCsvRow(driver, groups, delimiter),
      );
    },
  }),
  post('/api/v1/drivers/import', {
    operationId: 'importDrivers',
    summary: 'Add and change many drivers by a CSV: all of them, or none.',
    description:
      `${COLUMNS} The header names those that are there, in any order. A row with an \`id\` changes that driver; else ` +
      'one with the `externalId`, or else a code that a driver has now, changes that one; else it adds one, which ' +
      'needs a `name`. `customAttributes` holds a JSON object; they become exactly those. Columns that ' +
      'are not there are left as they are; an empty cell means none. `codes` and `groups` (names or ids) are parted by ' +
      '`|`; the codes become exactly those. Cells are parted by comma, semicolon or tab, whichever comes first in the ' +
      `header. In UTF-8, or UTF-16 with a byte order mark; at most ${MAX_DRIVER_ROWS} rows.`,
    query: z.object({ dryRun }),
    body: z
      .string()
      .meta({ examples: ['name,codes,phone,licenceExpiresOn\r\nBen Cole,0100000F28F9A1,,2027-05-31\r\n'] }),
    bodyType: 'text/csv',
    maxBodyBytes: MAX_CSV_BYTES,
    answers: {
      200: {
        description: 'All of it was done; in a dry run: would have been.',
        body: importReport(
          'DriverImport',
          { row: z.int().meta({ description: 'As a spreadsheet counts: 1 is the header.' }) },
          { row: 2 },
        ),
      },
    },
    problems: ['forbidden', 'conflict', 'quota-exceeded'],
    async handle({ query, body }, { access }) {
      const faults = new Faults();
      const done = await access.bulk.importDrivers(
        () => readDriverLines(body, faults),
        faults,
        query.dryRun === 'true',
      );
      return importReply(query.dryRun === 'true', done, ({ row }) => ({ row }));
    },
  }),
];
