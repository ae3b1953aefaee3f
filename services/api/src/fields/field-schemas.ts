import {
  DRIVER_FIELDS,
  type FieldTable,
  type FieldValues,
  fieldsIn,
  GEOFENCE_FIELDS,
  GROUP_FIELDS,
  type PlainField,
  VEHICLE_FIELDS,
  type VehicleFieldValues,
} from '@outrider/domain';
import { z } from 'zod';
import { line } from './plain-fields.ts';

type Schemas<Values> = { [Name in keyof Values]: z.ZodType<Values[Name]> };

/** Schemas of the plain fields of a kind of definition. */
export interface FieldSchemas<Values> {
  /** Fields as requests set them. */
  set: Schemas<Values>;
  /** As `set`, with the defaults of a new definition. */
  add: Schemas<Values>;
  /** Fields in responses. */
  shown: Schemas<Values>;
  example: Values;
}

function schemasOf<T extends FieldTable, Values = FieldValues<T>>(table: T): FieldSchemas<Values> {
  const fields = fieldsIn(table);
  const each = (partOf: (field: PlainField) => unknown) =>
    Object.fromEntries(fields.map(([name, field]) => [name, partOf(field)]));
  return {
    set: each((field) => described(taken(field), field)) as Schemas<Values>,
    add: each((field) => {
      const schema = described(taken(field), field);
      return field.default === undefined ? schema : schema.default(field.default);
    }) as Schemas<Values>,
    shown: each((field) => described(shown(field), field)) as Schemas<Values>,
    example: each((field) => field.example ?? field.default) as Values,
  };
}

function taken(field: PlainField): z.ZodType {
  if (field.type === 'flag') return z.boolean();
  if (field.type === 'date') return z.iso.date({ error: `It must be a date such as ${field.example}.` });
  if (field.type === 'number') return (field.isWhole ? z.int() : z.number()).min(field.min).max(field.max);
  const { pattern, refusal, maxCharacters, values, hasLines } = field;
  if (values !== undefined) return z.enum(values, refusal ?? `It must be one of ${values.join(', ')}.`);
  if (pattern !== undefined) return z.string().regex(pattern, refusal);
  return hasLines ? z.string().trim().max(maxCharacters) : line(maxCharacters);
}

function shown(field: PlainField): z.ZodType {
  if (field.type === 'flag') return z.boolean();
  if (field.type === 'date') return z.iso.date();
  if (field.type === 'number') return field.isWhole ? z.int() : z.number();
  return field.values === undefined ? z.string() : z.enum(field.values);
}

function described(schema: z.ZodType, { default: initial, description, example }: PlainField): z.ZodType {
  return (initial === null ? schema.nullable() : schema).meta({
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { examples: [example] }),
  });
}

export const VEHICLE = schemasOf<typeof VEHICLE_FIELDS, VehicleFieldValues>(VEHICLE_FIELDS);
export const GROUP = schemasOf(GROUP_FIELDS);
export const GEOFENCE = schemasOf(GEOFENCE_FIELDS);
export const DRIVER = schemasOf(DRIVER_FIELDS);
