import type { EventBase } from './base.ts';
import type { EventSentences } from './said.ts';

/*
 * Each kind of event is described once, in its own file of this folder. The description defines its type, its record in
 * the log with `schemas/event.avsc`, its columns in the archive, its fields in the API documents, and every list of
 * kinds and of end reasons.
 */

/**
 * Type of a field's values. `id`: a UUID. `text`: any text. `word`: text with few distinct values, such as a unit.
 * `choice`: one of a closed list. `durationMs`: a duration in milliseconds, which the APIs show in seconds.
 * `degrees`: a coordinate of the place where the event began; the archive has these columns for all kinds.
 */
type FieldType = 'id' | 'text' | 'word' | 'choice' | 'number' | 'durationMs' | 'degrees' | 'flag';

interface FieldFacts {
  /** Meaning of the field, where its name does not say it. */
  about?: string;
  /** Column in the archive; by default the field's name, as `level_before_l`. Kinds may share it for similar fields. */
  column?: string;
  /** Version of `schemas/event.avsc` that added the field to an existing record; the field is optional then. */
  since?: number;
  /**
   * For a choice: its values in the order of the enum in the schema, to which values are only ever appended. For a
   * word: the values known up to now.
   */
  values?: readonly string[];
}

/** A field that only some kinds of event have. `Value` and `IsOptional` are for the type checker. */
export interface EventField<Value = unknown, IsOptional extends boolean = boolean> extends FieldFacts {
  type: FieldType;
  /** For a choice: name of its enum in the schema, where it is not derived from the record and the field. */
  enumName?: string;
  isNullable: boolean;
  /** True where the field is missing when its value is unknown. */
  isOptional: IsOptional;
  readonly value?: Value;
}

type Plain<Value> = EventField<Value, false>;

const plain =
  (type: FieldType) =>
  <Value>(facts: FieldFacts = {}): Plain<Value> => ({ type, isNullable: false, isOptional: false, ...facts });

/** @template Value the id's branded type */
export const id = plain('id');
export const text = plain('text')<string>;
export const word = plain('word');
export const number = plain('number')<number>;
export const durationMs = plain('durationMs')<number>;
export const degrees = plain('degrees')<number>;
export const flag = plain('flag')<boolean>;

export function choice<const Name extends string>(
  values: readonly Name[],
  facts: FieldFacts & { enumName?: string } = {},
): Plain<Name> {
  return { type: 'choice', values, isNullable: false, isOptional: false, ...facts };
}

export function nullable<Value>(field: Plain<Value>): Plain<Value | null> {
  return { ...field, isNullable: true } as Plain<Value | null>;
}

export function optional<Value>(field: Plain<Value>): EventField<Value, true> {
  return { ...field, isOptional: true };
}

/** Texts about a kind of event in one language. */
export interface KindWords extends EventSentences {
  /** Display name. */
  name: string;
  /** When it happens, in a few words, for people who choose kinds. */
  hint: string;
}

/** Description of one kind of event. */
export interface KindDescription {
  /** What causes such an event, for the documentation: a sentence or two. */
  meaning: string;
  /** Whether the event is a violation. */
  isUnwanted?: true;
  words: Readonly<Record<'en' | 'ru' | 'de' | 'es' | 'he', KindWords>>;
}

/** Events of one shape: one kind, or several that differ in nothing else. */
export interface EventDescription {
  /** Name of the record in `schemas/event.avsc`. */
  record: string;
  /** Prefix of the names of the record's enums. */
  prefix: string;
  /** Description of the record, for readers of the schema. */
  about: string;
  /** Version of the schema that added the record. */
  since: number;
  /** Kinds by name, in the order of the schema's enum where there are several. */
  kinds: Readonly<Record<string, KindDescription>>;
  fields: Readonly<Record<string, EventField>>;
  /** Optional fields of {@link EventBase} that these events always have. */
  requires?: readonly (keyof EventBase)[];
  /** Fields that, with the geofence, identify an event where several of a kind can last at once. */
  subject?: readonly string[];
  /** In the order of the schema's enum, to which values are only ever appended. */
  endReasons: readonly string[];
  /** Whether the end reports totals since the begin. */
  isSummed?: true;
  /** Whether a worker creates the event, not the engine's rules. */
  isOfWorker?: true;
}

/** Keeps the names of a description as literal types, see {@link EventOf}. */
export function describeEvents<const Description extends EventDescription>(description: Description): Description {
  return description;
}

type ValueOf<Field> = Field extends EventField<infer Value, boolean> ? Value : never;
type Values<Fields> = {
  -readonly [Name in keyof Fields as Fields[Name] extends { isOptional: true } ? never : Name]: ValueOf<Fields[Name]>;
} & {
  -readonly [Name in keyof Fields as Fields[Name] extends { isOptional: true } ? Name : never]?: ValueOf<Fields[Name]>;
};
type Required<Description> = Description extends { requires: readonly (infer Name)[] }
  ? { [Each in Name & keyof EventBase]-?: Exclude<EventBase[Each], undefined> }
  : unknown;
type Flat<T> = { [Name in keyof T]: T[Name] };

/** Type of the events of a description. */
export type EventOf<Description extends EventDescription> = Flat<
  EventBase &
    Values<Description['fields']> &
    Required<Description> & {
      kind: keyof Description['kinds'];
      /** Why it ended; null while it lasts. */
      endReason: Description['endReasons'][number] | null;
    }
>;
