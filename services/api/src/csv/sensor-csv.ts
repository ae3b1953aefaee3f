import type { Faults, SensorLine } from '@outrider/access';
import {
  readUuid,
  type Sensor,
  type SensorFields,
  type SensorThreshold,
  type TerminalId,
  THRESHOLD_CONDITIONS,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { type Delimiter, defused, writeCsvLine } from '@outrider/reports';
import { sensorDefaults } from '../fields/sensor-fields.ts';
import { numberCell, numberOf, readCsvRows } from './csv-rows.ts';

export const MAX_SENSOR_ROWS = 10_000;

/** Columns that identify the vehicle; the first of them that the row fills in is used. */
const VEHICLE_COLUMNS = ['vehicleId', 'terminalId', 'plate', 'vehicleName'] as const;
const FIELD_COLUMNS = [
  'kind',
  'unit',
  'source',
  'calibration',
  'outside',
  'validMin',
  'validMax',
  'onlyWithIgnition',
  'smoothing',
  'thresholds',
] as const satisfies readonly (keyof SensorFields)[];
type FieldColumn = (typeof FIELD_COLUMNS)[number];
export const SENSOR_COLUMNS = [...VEHICLE_COLUMNS, 'name', ...FIELD_COLUMNS] as const;
type Cells = Partial<Record<(typeof SENSOR_COLUMNS)[number], string>>;

export function sensorCsvHeader(delimiter: Delimiter): string {
  return writeCsvLine(SENSOR_COLUMNS, delimiter);
}

/** A sensor as a row. Text that a spreadsheet would run as a formula is escaped. */
export function sensorCsvRow(vehicle: Vehicle, sensor: Sensor, delimiter: Delimiter): string {
  const number = (value: number | null) => (value === null ? '' : numberCell(value, delimiter));
  return writeCsvLine(
    [
      vehicle.id,
      defused(vehicle.terminalId ?? ''),
      defused(vehicle.plate ?? ''),
      defused(vehicle.name),
      defused(sensor.name),
      sensor.kind,
      defused(sensor.unit),
      defused(sensor.source),
      defused(sensor.calibration.map(({ raw, value }) => `${raw}=${value}`).join(' ')),
      sensor.outside,
      number(sensor.validMin),
      number(sensor.validMax),
      String(sensor.onlyWithIgnition),
      number(sensor.smoothing),
      defused(sensor.thresholds.map(thresholdText).join(' | ')),
    ],
    delimiter,
  );
}

/** Formats a threshold, such as `above -15 hysteresis 1 for 300`. */
function thresholdText({ condition, min, max, hysteresis, forSeconds }: SensorThreshold): string {
  const bounds = [min, max].filter((bound) => bound !== null).join(' ');
  const more = `${hysteresis === 0 ? '' : ` hysteresis ${hysteresis}`}${forSeconds === 0 ? '' : ` for ${forSeconds}`}`;
  return `${condition} ${bounds}${more}`;
}

/**
 * Reads the rows of a CSV whose header names the columns, in any order. Errors in them are added to `faults`.
 *
 * @param text without a byte order mark
 */
export function readSensorLines(text: string, faults: Faults): SensorLine[] {
  return readCsvRows(text, SENSOR_COLUMNS, MAX_SENSOR_ROWS, faults, (row, cells, delimiter) =>
    readLine(row, cells, delimiter, faults),
  );
}

function readLine(row: number, cells: Cells, delimiter: Delimiter, faults: Faults): SensorLine {
  let isWrong = false;
  const wrong = (column: string, detail: string) => {
    isWrong = true;
    faults.add({ row, column, detail });
  };
  const { terminalId, plate, vehicleName, name } = cells;
  const vehicleId = cells.vehicleId && readUuid(cells.vehicleId);
  if (vehicleId === null) wrong('vehicleId', 'It must be a UUID.');
  if (!vehicleId && !terminalId && !plate && !vehicleName)
    wrong('vehicleId', `A row needs a vehicle, in one of the columns ${VEHICLE_COLUMNS.join(', ')}.`);
  if (!name) wrong('name', 'A sensor needs a name.');
  const fields: Record<string, unknown> = {};
  for (const column of FIELD_COLUMNS) {
    const cell = cells[column];
    if (cell === undefined) continue;
    const isNeeded = column === 'kind' || column === 'source';
    const value = cell !== '' ? cellValue(column, cell, delimiter) : isNeeded ? undefined : sensorDefaults[column];
    if (value instanceof WrongCell) wrong(column, value.detail);
    else if (value !== undefined) fields[column] = value;
  }
  return {
    row,
    vehicle: {
      id: (vehicleId || null) as VehicleId | null,
      terminalId: (terminalId || null) as TerminalId | null,
      plate: plate || null,
      name: vehicleName || null,
    },
    name: name ?? '',
    fields: fields as Partial<SensorFields>,
    isWrong,
  };
}

class WrongCell {
  readonly detail: string;
  constructor(detail: string) {
    this.detail = detail;
  }
}

function cellValue(column: FieldColumn, cell: string, delimiter: Delimiter): unknown {
  switch (column) {
    case 'validMin':
    case 'validMax':
    case 'smoothing':
      return numberOf(cell, delimiter) ?? new WrongCell('It must be a number.');
    case 'onlyWithIgnition':
      if (/^(true|false)$/i.test(cell)) return cell.toLowerCase() === 'true';
      return new WrongCell('It must be true or false.');
    case 'calibration':
      return calibrationOf(cell);
    case 'thresholds':
      return thresholdsOf(cell);
    default:
      return cell;
  }
}

/** Parses `0=0 2048=182.5`: raw values, each with the value that it stands for. */
function calibrationOf(cell: string): { raw: number; value: number }[] | WrongCell {
  const points: { raw: number; value: number }[] = [];
  for (const pair of cell.split(/\s+/)) {
    const [raw, value, ...more] = pair.split('=').map(realOf);
    if (raw == null || value == null || more.length > 0)
      return new WrongCell(`“${pair.slice(0, 40)}” must be a pair of a raw value and a value, such as 2048=182.5.`);
    points.push({ raw, value });
  }
  return points;
}

const THRESHOLD_EXAMPLE = 'above -15 hysteresis 1 for 300';

function thresholdsOf(cell: string): Omit<SensorThreshold, 'id'>[] | WrongCell {
  const thresholds: Omit<SensorThreshold, 'id'>[] = [];
  for (const part of cell.split('|')) {
    const threshold = thresholdOf(part.trim().split(/\s+/));
    if (threshold === null)
      return new WrongCell(`“${part.trim().slice(0, 60)}” must be a threshold, such as ${THRESHOLD_EXAMPLE}.`);
    thresholds.push(threshold);
  }
  return thresholds;
}

/** @returns null if the words are not a threshold */
function thresholdOf([condition = '', ...words]: readonly string[]): Omit<SensorThreshold, 'id'> | null {
  const known = THRESHOLD_CONDITIONS.find((each) => each === condition);
  if (known === undefined) return null;
  const bounds = words.splice(0, known === 'above' || known === 'below' ? 1 : 2).map(realOf);
  const more = { hysteresis: 0, for: 0 };
  while (words.length > 0) {
    const [name, text = ''] = words.splice(0, 2);
    const value = realOf(text);
    if ((name !== 'hysteresis' && name !== 'for') || value === null) return null;
    more[name] = value;
  }
  const [first, second] = bounds;
  if (first == null || second === null) return null;
  return {
    condition: known,
    min: known === 'above' ? null : first,
    max: known === 'above' ? first : (second ?? null),
    hysteresis: more.hysteresis,
    forSeconds: more.for,
  };
}

function realOf(text: string): number | null {
  const plain = text.replace(',', '.');
  return /^-?\d+(\.\d+)?(e[-+]?\d+)?$/i.test(plain) ? Number(plain) : null;
}
