import { type FieldTable, type FieldValues, fieldsIn } from '@outrider/domain';
import type { Flag } from './schema.ts';

/** Columns of the plain fields of a table. */
export type FieldColumns<T extends FieldTable> = {
  [Name in keyof FieldValues<T>]: FieldValues<T>[Name] extends boolean ? Flag : FieldValues<T>[Name];
};

/** @param row lacks some columns where an earlier migration reads it: their fields get the defaults */
export function fieldsOfRow<T extends FieldTable>(table: T, row: Partial<FieldColumns<T>>): FieldValues<T> {
  return Object.fromEntries(
    fieldsIn(table).map(([name, field]) => {
      const column = row[name];
      if (column === undefined) return [name, field.default];
      return [name, field.type === 'flag' ? column === 1 : column];
    }),
  ) as FieldValues<T>;
}

export function columnsOfFields<T extends FieldTable>(table: T, fields: FieldValues<T>): FieldColumns<T> {
  return Object.fromEntries(
    fieldsIn(table).map(([name, { type }]) => [name, type === 'flag' ? Number(fields[name]) : fields[name]]),
  ) as FieldColumns<T>;
}
