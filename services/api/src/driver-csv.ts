import type { DriverLine, Faults, GroupNames } from '@outrider/access';
import { type Driver, type DriverId, driverCodeOf, readUuid, type UserId } from '@outrider/domain';
import { presentCodes } from '@outrider/registry';
import { type Delimiter, defused, writeCsvLine } from '@outrider/reports';
import { readCsvRows } from './csv-rows.ts';
import { attributesCell, externalId, readAttributesCell } from './custom-fields.ts';
import { DRIVER_FIELDS } from './driver-fields.ts';

export const MAX_DRIVER_ROWS = 10_000;

/** The columns, in the order in which they are written. */
export const DRIVER_COLUMNS = [
  'id',
  'name',
  'codes',
  'phone',
  'licenceNumber',
  'licenceExpiresOn',
  'dealerId',
  'groups',
  'externalId',
  'customAttributes',
] as const;
type Column = (typeof DRIVER_COLUMNS)[number];
const TEXTS = ['name', 'phone', 'licenceNumber', 'licenceExpiresOn', 'externalId'] as const;
const TEXT_FIELDS = { ...DRIVER_FIELDS, externalId };
/** Between the codes of a cell, as between its groups. */
const SEPARATOR = '|';

export function driverCsvHeader(delimiter: Delimiter): string {
  return writeCsvLine(DRIVER_COLUMNS, delimiter);
}

/** A driver as a row; text that a spreadsheet would take for a formula is defused. */
export function driverCsvRow(driver: Driver, groups: GroupNames, delimiter: Delimiter): string {
  const cells: Record<Column, string | null> = {
    ...driver,
    codes: presentCodes(driver).join(SEPARATOR),
    groups: groups.write(driver.groupIds),
    customAttributes: attributesCell(driver.customAttributes),
  };
  return writeCsvLine(
    DRIVER_COLUMNS.map((column) => defused(cells[column] ?? '')),
    delimiter,
  );
}

/** Reads the rows of a CSV; what is wrong with them goes to `faults`. */
export function readDriverLines(text: string, faults: Faults): DriverLine[] {
  return readCsvRows(text, DRIVER_COLUMNS, MAX_DRIVER_ROWS, faults, (row, cells) => readLine(row, cells, faults));
}

function readLine(row: number, cells: Partial<Record<Column, string>>, faults: Faults): DriverLine {
  let isWrong = false;
  const wrong = (column: Column, detail: string) => {
    isWrong = true;
    faults.add({ row, column, detail });
  };
  const uuid = (column: 'id' | 'dealerId'): string | null => {
    const cell = cells[column];
    if (cell === undefined || cell === '') return null;
    const id = readUuid(cell);
    if (id === null) wrong(column, 'It must be a UUID.');
    return id;
  };
  const fields: Record<string, unknown> = {};
  for (const column of TEXTS) {
    const cell = cells[column];
    if (cell === undefined) continue;
    const result = TEXT_FIELDS[column].safeParse(cell === '' && column !== 'name' ? null : cell);
    if (result.success) fields[column] = result.data;
    else for (const { message } of result.error.issues) wrong(column, message);
  }
  if (cells.codes !== undefined) {
    const codes = cells.codes
      .split(SEPARATOR)
      .map((code) => code.trim())
      .filter((code) => code !== '');
    const result = DRIVER_FIELDS.codes.safeParse(codes);
    if (codes.some((code) => /^\d([.,]\d+)?E\+\d+$/i.test(code)))
      wrong('codes', 'A spreadsheet has rounded this number: format the column as text.');
    else if (result.success) fields.codes = [...new Set(result.data.map(driverCodeOf))];
    else for (const { message } of result.error.issues) wrong('codes', message);
  }
  const { customAttributes: attributes } = cells;
  if (attributes !== undefined)
    fields.customAttributes = readAttributesCell(attributes, (detail) => wrong('customAttributes', detail));
  const id = uuid('id') as DriverId | null;
  const dealerId = cells.dealerId === undefined ? undefined : (uuid('dealerId') as UserId | null);
  return { row, id, groups: cells.groups, dealerId, isWrong, fields };
}
