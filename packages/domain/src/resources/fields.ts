interface Described {
  description?: string;
  /** Format of stored definitions that added the field; definitions of earlier formats get its default. */
  since?: number;
}

/** A line of text without control characters. */
export interface TextField extends Described {
  type: 'text';
  maxCharacters: number;
  /** The text may have several lines and be empty. */
  hasLines?: true;
  /** Replaces the default check of lines; `refusal` explains it to callers. */
  pattern?: RegExp;
  refusal?: string;
  /** All allowed values, where the list is closed. */
  values?: readonly string[];
  /** Null: optional. Absent: required. */
  default?: null;
  example?: string;
}

/** A calendar day, as `2027-05-31`; null: unknown. */
export interface DateField extends Described {
  type: 'date';
  default: null;
  example: string;
}

export interface NumberField extends Described {
  type: 'number';
  min: number;
  max: number;
  isWhole?: true;
  /** Null: optional, and null by default. */
  default: number | null;
  example?: number;
}

export interface FlagField extends Described {
  type: 'flag';
  default: boolean;
  example?: boolean;
}

export type PlainField = TextField | DateField | NumberField | FlagField;

/**
 * The plain fields of a kind of definition: those that are one text, date, number or flag, each described once. From
 * this table follow the type of the definition, its columns in the registry, the upgrade of stored definitions, the API
 * with its documentation, the cells of CSV files and the limits of the console's forms.
 */
export type FieldTable = Readonly<Record<string, PlainField>>;

/** Colour on a map. */
export const COLOR = {
  type: 'text',
  maxCharacters: 7,
  pattern: /^#[0-9a-f]{6}$/,
  refusal: 'It must be a colour such as #1f5fc4: # and six hexadecimal digits in lower case.',
  default: null,
  example: '#1f5fc4',
  since: 4,
} as const satisfies TextField;

interface Values {
  text: string;
  date: string;
  number: number;
  flag: boolean;
}

/** Type of the values of a table's fields. */
export type FieldValues<T extends FieldTable> = {
  -readonly [Name in keyof T]: Values[T[Name]['type']] | (T[Name] extends { default: null } ? null : never);
};

type Defaulted<T extends FieldTable> = {
  [Name in keyof T]: T[Name] extends { default: unknown } ? Name : never;
}[keyof T];

/** The fields of a table with their names, in the table's order. */
export function fieldsIn<T extends FieldTable>(table: T): [name: keyof T & string, field: PlainField][] {
  return Object.entries(table);
}

/** Default values of the fields. Required fields are left out. */
export function defaultsOf<T extends FieldTable>(table: T): Pick<FieldValues<T>, Defaulted<T>> {
  const defaults = fieldsIn(table).flatMap(([name, field]) =>
    field.default === undefined ? [] : [[name, field.default]],
  );
  return Object.fromEntries(defaults);
}
