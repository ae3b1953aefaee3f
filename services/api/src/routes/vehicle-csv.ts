import { Faults } from '@outrider/access';
import type { GroupId } from '@outrider/domain';
import { z } from 'zod';
import { columnsSentence, csvAnswer, csvExample, csvReply, excel } from '../csv-export.ts';
import { id, VEHICLE_EXAMPLE } from '../fields.ts';
import { dryRun, importReply, importReport } from '../import-report.ts';
import { callsOf, type Route } from '../route.ts';
import { MAX_ROWS, readVehicleLines, VEHICLE_COLUMNS, vehicleCsvHeader, vehicleCsvRow } from '../vehicle-csv.ts';

const { get, post } = callsOf('Vehicles');

/** 10,000 rows with everything in them, and space for long names. */
const MAX_CSV_BYTES = 8 * 1024 * 1024;

const EXAMPLE_CELLS: Partial<Record<string, string | number | null>> = {
  ...VEHICLE_EXAMPLE,
  id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
  groups: 'Refrigerated',
  customAttributes: '"{""costCentre"":""4711""}"',
};
const EXAMPLE = csvExample(VEHICLE_COLUMNS, EXAMPLE_CELLS);
const COLUMNS = columnsSentence(VEHICLE_COLUMNS);

export const vehicleCsvRoutes: Route[] = [
  get('/api/v1/vehicles/export', {
    operationId: 'exportVehicles',
    summary: 'All vehicles that the caller may see, as CSV (RFC 4180).',
    description:
      `${COLUMNS} \`groups\` holds their names, parted by \`|\`; an id stands in place of a name that would not tell ` +
      'which group it is. Text that a spreadsheet would take for a formula has an apostrophe before it, which the ' +
      'import takes off again.',
    query: z.object({
      groupId: id<GroupId>().optional().meta({ description: 'Only vehicles of this group.' }),
      excel,
    }),
    answers: {
      200: csvAnswer('each vehicle', EXAMPLE),
    },
    problems: ['not-found'],
    async handle({ query }, { access }) {
      const groups = access.bulk.groupNames();
      const isExcel = query.excel === 'true';
      const vehicles = access.bulk.vehicles(query.groupId);
      return csvReply('vehicles', isExcel, vehicleCsvHeader, vehicles, (vehicle, delimiter) =>
        vehicleCsvRow(vehicle, groups, delimiter),
      );
    },
  }),
  post('/api/v1/vehicles/import', {
    operationId: 'importVehicles',
    summary: 'Add and change many vehicles by a CSV: all of them, or none.',
    description:
      `${COLUMNS} The header names those that are there, in any order. A row with an \`id\` changes that vehicle; else ` +
      'one with the `externalId` or else the `terminalId` of a vehicle changes that one; else it adds one, which needs ' +
      'a `name`. `customAttributes` holds a JSON object; they become exactly those. Columns that ' +
      'are not there are left as they are; an empty cell means none, or the default. `groups` takes names or ids, ' +
      'parted by `|`. Cells are parted by comma, semicolon or tab, whichever comes first in the header. In UTF-8, or UTF-16 with a byte order mark; at ' +
      `most ${MAX_ROWS} rows.`,
    query: z.object({ dryRun }),
    body: z.string().meta({ examples: ['name,terminalId,groups,speedLimitKmh\r\nVan 12,356307042441013,,90\r\n'] }),
    bodyType: 'text/csv',
    maxBodyBytes: MAX_CSV_BYTES,
    answers: {
      200: {
        description: 'All of it was done; in a dry run: would have been.',
        body: importReport(
          'VehicleImport',
          {
            row: z.int().meta({ description: 'As a spreadsheet counts: 1 is the header.' }),
          },
          { row: 2 },
        ),
      },
    },
    problems: ['forbidden', 'conflict', 'quota-exceeded'],
    async handle({ query, body }, { access }) {
      const faults = new Faults();
      const done = await access.bulk.importVehicles(
        () => readVehicleLines(body, faults),
        faults,
        query.dryRun === 'true',
      );
      return importReply(query.dryRun === 'true', done, ({ row }) => ({ row }));
    },
  }),
];
