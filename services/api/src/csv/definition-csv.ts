import type { Faults, GroupNames } from '@outrider/access';
import {
  type CustomAttributes,
  type FieldTable,
  fieldsIn,
  type GroupId,
  readUuid,
  type UserId,
} from '@outrider/domain';
import { type Delimiter, defused, writeCsvLine } from '@outrider/reports';
import type { z } from 'zod';
import { attributesCell, readAttributesCell } from '../fields/custom-fields.ts';
import { numberCell, numberOf, readCsvRows } from './csv-rows.ts';

export const MAX_ROWS = 10_000;

/** Fields common to the rows of all kinds of definition. A field without a column is left out. */
interface Line {
  /** Row number as in a spreadsheet: 1 is the header. */
  row: number;
  id: string | null;
  groups: string | undefined;
  dealerId: UserId | null | undefined;
  /** Whether the row has a fault that is already reported. */
  isWrong: boolean;
  fields: object;
}

interface Written {
  id: string;
  dealerId: UserId | null;
  groupIds: readonly GroupId[];
  customAttributes: CustomAttributes;
}

interface CsvOptions<T extends Written, L extends Line> {
  /** In the order in which they are written. */
  columns: readonly string[];
  fields: FieldTable;
  schemas: Readonly<Record<string, z.ZodType>>;
  /** Text columns that hold digits only, such as serial numbers. */
  digits?: readonly string[];
  /** Writes the cells of columns that are not plain fields. */
  write(definition: T): Readonly<Record<string, string>>;
  /** Reads the cells of those columns: further `fields`, and other properties of the line. */
  read(cells: Cells, wrong: Wrong): Omit<L, keyof Line> & { fields?: object };
}
type Cells = Readonly<Partial<Record<string, string>>>;
type Wrong = (column: string, detail: string) => void;

/** Exponent notation, into which spreadsheets convert a long number. */
export const ROUNDED = /^\d([.,]\d+)?E\+?\d+$/i;
export const ROUNDED_DETAIL = 'A spreadsheet has rounded this number: format the column as text.';

/** Writer of definitions as CSV. */
export interface CsvRows<T> {
  header(delimiter: Delimiter): string;
  row(definition: T, groups: GroupNames, delimiter: Delimiter): string;
}

/** Converts definitions of one kind to and from rows of a CSV. */
export class DefinitionCsv<T extends Written, L extends Line> implements CsvRows<T> {
  readonly columns: readonly string[];
  readonly #options: CsvOptions<T, L>;

  constructor(options: CsvOptions<T, L>) {
    this.columns = options.columns;
    this.#options = options;
  }

  header(delimiter: Delimiter): string {
    return writeCsvLine(this.columns, delimiter);
  }

  /** A definition as a row. Text that a spreadsheet would run as a formula is escaped. */
  row(definition: T, groups: GroupNames, delimiter: Delimiter): string {
    const cells: Record<string, unknown> = {
      ...(definition as object),
      groups: groups.write(definition.groupIds),
      customAttributes: attributesCell(definition.customAttributes),
      ...this.#options.write(definition),
    };
    const line = this.columns.map((column) => {
      const value = cells[column] ?? '';
      return typeof value === 'number' ? numberCell(value, delimiter) : defused(String(value));
    });
    return writeCsvLine(line, delimiter);
  }

  /**
   * Reads the rows of a CSV whose header names the columns, in any order. Errors in them are added to `faults`.
   *
   * @param text without a byte order mark
   */
  read(text: string, faults: Faults): L[] {
    return readCsvRows(text, this.columns, MAX_ROWS, faults, (row, cells, delimiter) =>
      this.#line(row, cells, delimiter, faults),
    );
  }

  #line(row: number, cells: Cells, delimiter: Delimiter, faults: Faults): L {
    let isWrong = false;
    const wrong: Wrong = (column, detail) => {
      isWrong = true;
      faults.add({ row, column, detail });
    };
    const uuid = (column: string): string | null => {
      const cell = cells[column];
      if (cell === undefined || cell === '') return null;
      const id = readUuid(cell);
      if (id === null) wrong(column, 'It must be a UUID.');
      return id;
    };
    const fields = this.#fields(cells, delimiter, wrong);
    const attributes = cells.customAttributes;
    if (attributes !== undefined)
      fields.customAttributes = readAttributesCell(attributes, (detail) => wrong('customAttributes', detail));
    const { fields: own, ...rest } = this.#options.read(cells, wrong);
    const id = uuid('id');
    const dealerId = cells.dealerId === undefined ? undefined : (uuid('dealerId') as UserId | null);
    const line: Line = { row, id, groups: cells.groups, dealerId, isWrong, fields: { ...fields, ...own } };
    return { ...line, ...rest } as unknown as L;
  }

  /** Reads the cells of the plain fields. */
  #fields(cells: Cells, delimiter: Delimiter, wrong: Wrong): Record<string, unknown> {
    const { digits = [], schemas } = this.#options;
    const fields: Record<string, unknown> = {};
    for (const [name, { type, default: initial }] of fieldsIn(this.#options.fields)) {
      const cell = cells[name];
      if (cell === undefined) continue;
      if (cell === '' && initial !== undefined) {
        fields[name] = initial;
      } else if (digits.includes(name) && ROUNDED.test(cell)) {
        wrong(name, ROUNDED_DETAIL);
      } else {
        const result = schemas[name]?.safeParse(type === 'number' ? (numberOf(cell, delimiter) ?? cell) : cell);
        if (result?.success) fields[name] = result.data;
        else for (const { message } of result?.error.issues ?? []) wrong(name, message);
      }
    }
    return fields;
  }
}
