import { Faults } from '@outrider/access';
import type { GroupId, SensorFields } from '@outrider/domain';
import { z } from 'zod';
import { columnsSentence, csvAnswer, csvReply, excel } from '../../csv/csv-export.ts';
import { dryRun, importReply, importReport } from '../../csv/import-report.ts';
import {
  MAX_SENSOR_ROWS,
  readSensorLines,
  SENSOR_COLUMNS,
  sensorCsvHeader,
  sensorCsvRow,
} from '../../csv/sensor-csv.ts';
import { id } from '../../fields/fields.ts';
import { MAX_COPIED_CHARACTERS, sensorDefaults, sensorsIn } from '../../fields/sensor-fields.ts';
import { callsOf, type Route } from '../../route.ts';

const { get, post } = callsOf('Vehicles');

const MAX_CSV_BYTES = 8 * 1024 * 1024;
const COLUMNS = columnsSentence(SENSOR_COLUMNS);
const CELLS =
  '`calibration` contains pairs of a raw value and a value, such as `0=0 2048=182.5`. `thresholds` contains thresholds ' +
  'separated by `|`, such as `above -15 hysteresis 1 for 300 | inside 2 8`.';
const EXAMPLE =
  'vehicleName,name,kind,unit,source,thresholds\r\nVan 12,Cargo,temperature,°C,temperature1C,above -15 for 300\r\n';

export const sensorCsvRoutes: Route[] = [
  get('/api/v1/vehicles/sensors/export', {
    operationId: 'exportSensors',
    summary: 'Export the sensors of all vehicles that the caller may see as CSV (RFC 4180).',
    description: `${COLUMNS} ${CELLS}`,
    query: z.object({
      groupId: id<GroupId>().optional().meta({ description: 'Return only sensors of vehicles of this group.' }),
      excel,
    }),
    answers: {
      200: csvAnswer('each sensor', EXAMPLE),
    },
    problems: ['not-found'],
    async handle({ query }, { access }) {
      return csvReply(
        'sensors',
        query.excel === 'true',
        sensorCsvHeader,
        access.vehicleImport.all(query.groupId),
        (vehicle, delimiter) => vehicle.sensors.map((sensor) => sensorCsvRow(vehicle, sensor, delimiter)).join(''),
      );
    },
  }),
  post('/api/v1/vehicles/sensors/import', {
    operationId: 'importSensors',
    summary: 'Add and change sensors of many vehicles from a CSV: all of them or none.',
    description:
      `${COLUMNS} The header names the columns of the file, in any order; not all are needed. The vehicle of a row is ` +
      'found by the first of `vehicleId`, `terminalId`, `plate` and `vehicleName` that has a value. If the vehicle has ' +
      'a sensor with the `name`, its fields that have a column are changed. Otherwise a sensor is added, which needs a ' +
      '`kind` and a `source`. An empty cell sets the default. Sensors that no row names are not changed. ' +
      `${CELLS} Cells are separated by comma, semicolon or tab, whichever comes first in the header. The text must be ` +
      `UTF-8, or UTF-16 with a byte order mark. At most ${MAX_SENSOR_ROWS} rows.`,
    query: z.object({ dryRun }),
    body: z.string().meta({ examples: [EXAMPLE] }),
    bodyType: 'text/csv',
    maxBodyBytes: MAX_CSV_BYTES,
    answers: {
      200: {
        description: 'The changes that were made; in a dry run, those that would be made.',
        body: importReport(
          'SensorImport',
          {
            row: z.int().meta({ description: 'Row number as in a spreadsheet: 1 is the header.' }),
            vehicleId: z.string(),
            name: z.string(),
          },
          { row: 2, vehicleId: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57', name: 'Cargo' },
        ),
      },
    },
    problems: ['forbidden', 'conflict', 'quota-exceeded'],
    async handle({ query, body }, { access }) {
      const isDryRun = query.dryRun === 'true';
      const faults = new Faults();
      const done = await access.vehicleImport.importSensors(
        () => readSensorLines(body, faults),
        TERMS,
        faults,
        isDryRun,
      );
      return importReply(isDryRun, done, ({ row, vehicleId, name }) => ({ row, vehicleId, name }));
    },
  }),
];

const TERMS = {
  defaults: sensorDefaults,
  check: (sensors: readonly SensorFields[]) => sensorsIn.safeParse(sensors).error?.issues ?? [],
  maxCharacters: MAX_COPIED_CHARACTERS,
};
