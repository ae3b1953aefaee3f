import type { Access } from '@outrider/access';
import { Faults } from '@outrider/access';
import type { GroupId } from '@outrider/domain';
import { CsvError, type Delimiter } from '@outrider/reports';
import { z } from 'zod';
import { id, VEHICLE_EXAMPLE } from '../fields.ts';
import { dryRun, importReply, importReport } from '../import-report.ts';
import { type Route, route } from '../route.ts';
import { MAX_ROWS, readVehicleLines, VEHICLE_COLUMNS, vehicleCsvHeader, vehicleCsvRow } from '../vehicle-csv.ts';

/** 10,000 rows with everything in them, and space for long names. */
const MAX_CSV_BYTES = 8 * 1024 * 1024;
const BYTE_ORDER_MARK = '\uFEFF';

const EXAMPLE_CELLS: Partial<Record<string, string | number | null>> = {
  ...VEHICLE_EXAMPLE,
  id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
  groups: 'Refrigerated',
};
const EXAMPLE = [VEHICLE_COLUMNS, VEHICLE_COLUMNS.map((column) => EXAMPLE_CELLS[column] ?? '')]
  .map((cells) => `${cells.join(',')}\r\n`)
  .join('');
const COLUMNS = `The columns are ${VEHICLE_COLUMNS.map((name) => `\`${name}\``).join(', ')}.`;

export const vehicleCsvRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/vehicles/export',
    group: 'Vehicles',
    operationId: 'exportVehicles',
    summary: 'All vehicles that the caller may see, as CSV (RFC 4180).',
    description:
      `${COLUMNS} \`groups\` holds their names, parted by \`|\`; an id stands in place of a name that would not tell ` +
      'which group it is. Text that a spreadsheet would take for a formula has an apostrophe before it, which the ' +
      'import takes off again.',
    query: z.object({
      groupId: id<GroupId>().optional().meta({ description: 'Only vehicles of this group.' }),
      excel: z
        .enum(['true', 'false'])
        .default('false')
        .meta({
          description:
            '`true`: cells parted by semicolons, numbers with a decimal comma, and a byte order mark, as Excel opens ' +
            'it in much of Europe.',
        }),
    }),
    answers: {
      200: {
        description: 'A header, and a row for each vehicle.',
        mediaType: 'text/csv',
        body: z.string().meta({ examples: [EXAMPLE] }),
        headers: { 'Content-Disposition': 'A name for the file.' },
      },
    },
    problems: ['not-found'],
    async handle({ query }, { access }) {
      const isExcel = query.excel === 'true';
      return {
        status: 200,
        stream: rows(access, query.groupId, isExcel ? ';' : ',', isExcel ? BYTE_ORDER_MARK : ''),
        headers: {
          'content-type': 'text/csv; charset=utf-8',
          'content-disposition': 'attachment; filename="vehicles.csv"',
        },
      };
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/vehicles/import',
    group: 'Vehicles',
    operationId: 'importVehicles',
    summary: 'Add and change many vehicles by a CSV: all of them, or none.',
    description:
      `${COLUMNS} The header names those that are there, in any order. A row with an \`id\` changes that vehicle; else ` +
      'one with the `terminalId` of a vehicle changes that one; else it adds one, which needs a `name`. Columns that ' +
      'are not there are left as they are; an empty cell means none, or the default. `groups` takes names or ids, ' +
      'parted by `|`. Cells are parted by comma, semicolon or tab, whichever comes first in the header. In UTF-8, at ' +
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
      const done = await access.bulk.importVehicles(() => readLines(body, faults), faults, query.dryRun === 'true');
      return importReply(query.dryRun === 'true', done, ({ row }) => ({ row }));
    },
  }),
];

async function* rows(access: Access, groupId: GroupId | undefined, delimiter: Delimiter, mark: string) {
  const groups = access.bulk.groupNames();
  let text = mark + vehicleCsvHeader(delimiter);
  for await (const vehicles of access.bulk.vehicles(groupId)) {
    for (const vehicle of vehicles) text += vehicleCsvRow(vehicle, groups, delimiter);
    yield text;
    text = '';
  }
  if (text !== '') yield text;
}

function readLines(text: string, faults: Faults) {
  try {
    return readVehicleLines(text, faults);
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    faults.add({ row: error.row, detail: error.message });
    return [];
  }
}
