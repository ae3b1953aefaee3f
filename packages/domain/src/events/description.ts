import type { EventBase } from './base.ts';
import type { EventSentences } from './said.ts';

/*
 * What a kind of event has of its own is described once, in its file of this folder. From the description follow its
 * type, its record in the log with `schemas/event.avsc`, its columns in the archive, its fields in the documents of the
 * APIs, and every list of kinds and of reasons to end.
 */

/**
 * What values a field has. `id`: a UUID. `text`: any text. `word`: text of few different values, such as a unit.
 * `choice`: one of a closed list. `durationMs`: a length of time in milliseconds, which the APIs show in seconds.
 * `degrees`: a coordinate of where it began, which the archive has of all kinds.
 */
type FieldType = 'id' | 'text' | 'word' | 'choice' | 'number' | 'durationMs' | 'degrees' | 'flag';

interface FieldFacts {
  /** What it says, where its name does not. */
  about?: string;
  /** Column of the archive; by default its own name, as `level_before_l`. Kinds may share one for what is alike. */
  column?: string;
  /** Version of `schemas/event.avsc` that added it to a record that was there; it is optional then. */
  since?: number;
  /**
   * Of a choice, in the order of its enum in the schema, which is only ever added to at its end. Of a word, those that
   * there are by now.
   */
  values?: readonly string[];
}

/** A field that events of some kinds have. `Value` and `IsOptional` are for the type checker. */
export interface EventField<Value = unknown, IsOptional extends boolean = boolean> extends FieldFacts {
  type: FieldType;
  /** Of a choice: name of that enum, where it is not that of the record and the field. */
  enumName?: string;
  isNullable: boolean;
  /** Missing where it is not known. */
  isOptional: IsOptional;
  readonly value?: Value;
}

type Plain<Value> = EventField<Value, false>;

const plain =
  (type: FieldType) =>
  <Value>(facts: FieldFacts = {}): Plain<Value> => ({ type, isNullable: false, isOptional: false, ...facts });

/** @template Value the id's own type */
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

/** What people read of a kind in one language. */
export interface KindWords extends EventSentences {
  /** What it is called. */
  name: string;
  /** When it happens, in a few words, for those who choose kinds. */
  hint: string;
}

/** What one kind has of its own. */
export interface KindDescription {
  /** What makes such an event, for the documentation: a sentence or two. */
  meaning: string;
  /** Nobody wants it to happen: it is a violation. */
  isUnwanted?: true;
  words: Readonly<Record<'en' | 'ru' | 'de' | 'es' | 'he', KindWords>>;
}

/** Events of one shape: of one kind, or of a few that differ in nothing else. */
export interface EventDescription {
  /** Name of their record in `schemas/event.avsc`, … */
  record: string;
  /** … and what the names of its enums begin with. */
  prefix: string;
  /** Of the record, for its readers. */
  about: string;
  /** Version of the schema that added the record. */
  since: number;
  /** By name: what differs, in the order of the schema's enum where there are several. */
  kinds: Readonly<Record<string, KindDescription>>;
  fields: Readonly<Record<string, EventField>>;
  /** Fields of all events that these always have. */
  requires?: readonly (keyof EventBase)[];
  /** Fields that say what it is about where several of a kind may last at once, beside its geofence. */
  subject?: readonly string[];
  /** In the order of the schema's enum, which is only ever added to at its end. */
  endReasons: readonly string[];
  /** At its end it reports what was gone through since its begin. */
  isSummed?: true;
  /** Not the engine's rules make it, but a worker. */
  isOfWorker?: true;
}

/** A description with its names as types, see {@link EventOf}. */
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

/** The events that a description describes. */
export type EventOf<Description extends EventDescription> = Flat<
  EventBase &
    Values<Description['fields']> &
    Required<Description> & {
      kind: keyof Description['kinds'];
      /** Why it ended; null while it lasts. */
      endReason: Description['endReasons'][number] | null;
    }
>;
