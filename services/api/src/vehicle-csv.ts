import type { Faults, GroupNames, VehicleLine } from '@outrider/access';
import {
  readUuid,
  type UserId,
  VEHICLE_DEFAULTS,
  VEHICLE_FIELD_LIST,
  type Vehicle,
  type VehicleField,
  type VehicleFieldName,
  type VehicleId,
} from '@outrider/domain';
import { type Delimiter, defused, writeCsvLine } from '@outrider/reports';
import { numberCell, numberOf, readCsvRows } from './csv-rows.ts';
import { attributesCell, readAttributesCell } from './custom-fields.ts';
import { VEHICLE_IN } from './fields.ts';
import { accessOf, canShowSecret, TERMINAL_ACCESS_FIELDS, type TerminalAccessIn } from './terminal-access.ts';

export const MAX_ROWS = 10_000;

const namesOf = (type: VehicleField['type']) =>
  VEHICLE_FIELD_LIST.filter(([, field]) => field.type === type).map(([name]) => name);
const TEXTS = namesOf('text');
const NUMBERS = namesOf('number');

/** Columns of a terminal's access, by the field that each of them is. Secrets are read and never written. */
const ACCESS = {
  terminalProtocol: 'protocol',
  terminalNetworks: 'networks',
  terminalSecret: 'secret',
} as const;

/** The columns, in the order in which they are written. */
export const VEHICLE_COLUMNS = [
  'id',
  ...TEXTS,
  'dealerId',
  'groups',
  'customAttributes',
  ...NUMBERS,
  ...(Object.keys(ACCESS) as AccessColumn[]),
] as const;
type AccessColumn = keyof typeof ACCESS;
type Column = (typeof VEHICLE_COLUMNS)[number];

/** The header. */
export function vehicleCsvHeader(delimiter: Delimiter): string {
  return writeCsvLine(VEHICLE_COLUMNS, delimiter);
}

/** A vehicle as a row; text that a spreadsheet would take for a formula is defused. */
export function vehicleCsvRow(vehicle: Vehicle, groups: GroupNames, delimiter: Delimiter): string {
  const { terminalAccess, ...fields } = vehicle;
  const cells: Record<Column, string | number | null> = {
    ...fields,
    groups: groups.write(vehicle.groupIds),
    customAttributes: attributesCell(vehicle.customAttributes),
    terminalProtocol: terminalAccess.protocol,
    terminalNetworks: terminalAccess.networks.join(' '),
    terminalSecret: null,
  };
  return writeCsvLine(
    VEHICLE_COLUMNS.map((column) => {
      const value = cells[column];
      if (value === null) return '';
      if (typeof value === 'number') return numberCell(value, delimiter);
      return defused(value);
    }),
    delimiter,
  );
}

/**
 * Reads the rows of a CSV with a header of column names, in any order; what is wrong with them goes to `faults`.
 *
 * @param text without a byte order mark
 */
export function readVehicleLines(text: string, faults: Faults): VehicleLine[] {
  return readCsvRows(text, VEHICLE_COLUMNS, MAX_ROWS, faults, (row, cells, delimiter) =>
    readLine(row, cells, delimiter, faults),
  );
}

function readLine(
  row: number,
  cells: Partial<Record<Column, string>>,
  delimiter: Delimiter,
  faults: Faults,
): VehicleLine {
  const fields: Record<string, unknown> = {};
  let isWrong = false;
  const wrong = (column: Column, detail: string) => {
    isWrong = true;
    faults.add({ row, column, detail });
  };
  const take = (column: VehicleFieldName, value: unknown) => {
    const result = VEHICLE_IN[column].safeParse(value);
    if (result.success) fields[column] = result.data;
    else for (const { message } of result.error.issues) wrong(column, message);
  };
  const uuid = (column: 'id' | 'dealerId'): string | null => {
    const cell = cells[column];
    if (cell === undefined || cell === '') return null;
    const id = readUuid(cell);
    if (id === null) wrong(column, 'It must be a UUID.');
    return id;
  };
  for (const column of TEXTS) {
    const cell = cells[column];
    if (cell === undefined) continue;
    if (column === 'terminalId' && /^\d([.,]\d+)?E\+?\d+$/i.test(cell))
      wrong(column, 'A spreadsheet has rounded this number: format the column as text.');
    else take(column, cell === '' && column !== 'name' ? null : cell);
  }
  for (const column of NUMBERS) {
    const cell = cells[column];
    if (cell === undefined) continue;
    if (cell === '') fields[column] = VEHICLE_DEFAULTS[column as keyof typeof VEHICLE_DEFAULTS];
    else take(column, numberOf(cell, delimiter) ?? cell);
  }
  const { customAttributes: attributes } = cells;
  if (attributes !== undefined)
    fields.customAttributes = readAttributesCell(attributes, (detail) => wrong('customAttributes', detail));
  const said: TerminalAccessIn = {};
  for (const [column, field] of Object.entries(ACCESS) as [AccessColumn, (typeof ACCESS)[AccessColumn]][]) {
    const cell = cells[column];
    if (cell === undefined || cell === '') continue;
    const result = TERMINAL_ACCESS_FIELDS[field].safeParse(field === 'networks' ? cell.split(/\s+/) : cell);
    if (result.success) Object.assign(said, { [field]: result.data });
    else for (const { message } of result.error.issues) wrong(column, message);
  }
  if (said.secret && !canShowSecret(said.protocol)) {
    wrong('terminalSecret', `Terminals of ${said.protocol} can show no secret.`);
    delete said.secret;
  }
  const id = uuid('id') as VehicleId | null;
  const dealerId = cells.dealerId === undefined ? undefined : (uuid('dealerId') as UserId | null);
  return { row, id, groups: cells.groups, dealerId, isWrong, fields, access: accessOf(said) };
}
