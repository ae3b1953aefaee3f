import { EVENT_DESCRIPTIONS, type EventDescription, type EventField } from '@outrider/domain';
import { symbolOf } from './schema-file.ts';

export const EVENT_SCHEMA = new URL('../../../../schemas/event.avsc', import.meta.url);

const UUID = { type: 'string', logicalType: 'uuid' };
const TIME = { type: 'long', logicalType: 'timestamp-millis' };

/** The text of `schemas/event.avsc`, by the descriptions of events: a field a line. */
export function eventSchema(): string {
  const names = new Set<string>();
  /** A named type is spelled out where it is met first. */
  const named = (name: string, type: object) => {
    if (names.has(name)) return name;
    names.add(name);
    return { name, ...type };
  };
  const enumOf = (name: string, values: readonly string[]) =>
    named(name, { type: 'enum', symbols: values.map(symbolOf) });
  const records = EVENT_DESCRIPTIONS.map((description) => record(description, named, enumOf));
  const texts = records.map(({ fields, ...facts }) => {
    const lines = fields.map((field) => `    ${JSON.stringify(field)}`).join(',\n');
    return `{\n  ${JSON.stringify(facts).slice(1, -1)},\n  "fields": [\n${lines}\n  ]\n}`;
  });
  return `[${texts.join(', ')}]\n`;
}

type Enum = (name: string, values: readonly string[]) => unknown;

function record(
  description: EventDescription,
  named: (name: string, type: object) => unknown,
  enumOf: Enum,
): { fields: object[]; [fact: string]: unknown } {
  const { record: name, prefix, about, kinds, fields, endReasons } = description;
  const typeOf = (field: string, { type, values = [], enumName }: EventField) => {
    if (type === 'choice') return enumOf(enumName ?? `${prefix}${field[0]?.toUpperCase()}${field.slice(1)}`, values);
    return { id: UUID, text: 'string', word: 'string', flag: 'boolean', ...NUMBERS }[type];
  };
  const own = Object.entries(fields).map(([field, facts]) => ({
    since: facts.since ?? 0,
    name: field,
    type: facts.isNullable || facts.isOptional ? ['null', typeOf(field, facts)] : typeOf(field, facts),
    ...(facts.isOptional && { default: null }),
    ...(facts.about !== undefined && { doc: facts.about }),
  }));
  const written = (isAdded: boolean) =>
    own.filter(({ since }) => since > 0 === isAdded).map(({ since: _, ...field }) => field);
  const kindNames = Object.keys(kinds);
  return {
    type: 'record',
    name,
    namespace: 'outrider',
    doc: about,
    fields: [
      { name: 'id', type: UUID, doc: 'The same facts always give the same id; `begin` and `end` share it.' },
      { name: 'phase', type: enumOf('Phase', ['begin', 'end']) },
      { name: 'vehicleId', type: UUID },
      { name: 'startedAt', type: TIME },
      { name: 'endedAt', type: ['null', TIME] },
      { name: 'latitude', type: 'double', doc: 'Latitude of this phase in degrees, positive north.' },
      { name: 'longitude', type: 'double', doc: 'Longitude of this phase in degrees, positive east.' },
      { name: 'speedKmh', type: ['null', 'double'] },
      { name: 'fromFixTime', type: TIME, doc: 'Time of the first fix that the event is derived from.' },
      { name: 'fixTime', type: TIME, doc: 'Time of the last fix that the event is derived from.' },
      {
        name: 'definitionVersion',
        type: 'long',
        doc: 'Version of the geofence if the event is about one, otherwise of the vehicle.',
      },
      { name: 'origin', type: enumOf('Origin', ['live', 'recalculated']) },
      {
        name: 'inferred',
        type: 'boolean',
        doc: 'True if no single fix shows the event and it was inferred from the path between two fixes.',
      },
      ...(kindNames.length > 1 ? [{ name: 'kind', type: enumOf(`${prefix}Kind`, kindNames) }] : []),
      ...written(false),
      {
        name: 'endReason',
        type: ['null', enumOf(`${prefix}EndReason`, endReasons)],
        doc: 'Null while the event is in progress.',
      },
      {
        name: 'receivedAt',
        type: ['null', TIME],
        default: null,
        doc: 'When the gateway received the packet that caused this phase, or `fixTime` if no packet did. Null if recalculated.',
      },
      {
        name: 'traceId',
        type: ['null', named('TraceId', { type: 'fixed', size: 16 })],
        default: null,
        doc: 'Trace id of that packet. Null without one.',
      },
      ...('startLatitude' in fields ? [] : START),
      {
        name: 'driverCode',
        type: ['null', 'string'],
        default: null,
        doc: 'Driver code from the records of the terminal. Null if no driver is identified.',
      },
      ...written(true),
    ],
  };
}

const NUMBERS = { number: 'double', durationMs: 'double', degrees: 'double' };

const START = [
  {
    name: 'startLatitude',
    type: ['null', 'double'],
    default: null,
    doc: 'Latitude of the start in degrees, positive north, in both phases. Null in records written before this field existed.',
  },
  { name: 'startLongitude', type: ['null', 'double'], default: null },
];
