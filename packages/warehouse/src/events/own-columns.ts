import { EVENT_DESCRIPTIONS, type EventDescription, type EventField } from '@outrider/domain';

/** Types of columns, without `Nullable` and `LowCardinality`. */
export type OwnColumnType = 'UUID' | 'Float64' | 'Bool' | 'String' | 'LowCardinality(String)';

/** A column of table `events` for a field that not all kinds of event have. */
export interface OwnColumn {
  name: string;
  type: OwnColumnType;
  /** Version of `schemas/event.avsc` that added the first field of the column. */
  since: number;
  /** By kind: the field stored in this column. */
  fields: ReadonlyMap<string, OwnField>;
}

export interface OwnField extends Pick<EventField, 'isNullable' | 'isOptional'> {
  name: string;
}

/** The columns for fields of only some kinds, derived from the descriptions of events. */
export function ownColumns(descriptions: readonly EventDescription[]): OwnColumn[] {
  const columns = new Map<string, OwnColumn & { fields: Map<string, OwnField> }>();
  for (const { kinds, fields, since: described } of descriptions)
    for (const [name, field] of Object.entries(fields)) {
      const { type, column = snakeCase(name), since = described, isNullable, isOptional } = field;
      // Start positions are in the columns of all events' positions.
      if (type === 'degrees') continue;
      const own = columns.get(column) ?? { name: column, type: TYPES[type], since, fields: new Map() };
      if (own.type !== TYPES[type]) throw new Error(`Column ${column} of events has two types`);
      own.since = Math.min(own.since, since);
      for (const kind of Object.keys(kinds)) own.fields.set(kind, { name, isNullable, isOptional });
      columns.set(column, own);
    }
  return [...columns.values()];
}

const TYPES = {
  id: 'UUID',
  text: 'String',
  word: 'LowCardinality(String)',
  choice: 'LowCardinality(String)',
  number: 'Float64',
  durationMs: 'Float64',
  flag: 'Bool',
} as const satisfies Partial<Record<EventField['type'], OwnColumnType>>;

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const OWN_COLUMNS: readonly OwnColumn[] = ownColumns(EVENT_DESCRIPTIONS);

/** Up to this version of `schemas/event.avsc`, hand-written steps of the schema added the columns. */
const BY_HAND_UP_TO = 5;

/** Schema steps for later versions: the version of events, and the statement that adds its columns. */
export function columnSteps(columns: readonly OwnColumn[]): { since: number; statement: string }[] {
  const added = columns.filter(({ since }) => since > BY_HAND_UP_TO);
  return [...Map.groupBy(added, ({ since }) => since)].map(([since, news]) => ({
    since,
    statement: `ALTER TABLE events ${news.map(({ name, type }) => `ADD COLUMN IF NOT EXISTS ${name} ${storedAs(type)} CODEC(ZSTD(1))`).join(', ')}`,
  }));
}

function storedAs(type: OwnColumnType): string {
  return type === 'UUID' || type === 'Float64' ? `Nullable(${type})` : type;
}
