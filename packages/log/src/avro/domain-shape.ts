import avsc, { type Type } from 'avsc';
import { nameOf, symbolOf } from './schema-file.ts';

/*
 * Converts definitions between the domain's shape and the shape of their Avro schema. The conversions are derived from
 * the schema. Records have the same fields on both sides. Enum names are converted to symbols that Avro allows. Unions
 * of records use the discriminators below.
 */

/** Converts a value; called with null and undefined as well. */
type Convert = (value: unknown) => unknown;
export interface Conversion {
  toAvro: Convert;
  /** Returns plain objects with only the fields of the schema. */
  fromAvro: Convert;
}

/** Union of records: the discriminator field, its value for each record, and its value for Avro's null. */
interface Tagged {
  field: string;
  tags: Readonly<Record<string, string>>;
  whenNull?: string;
}
const UNIONS: readonly Tagged[] = [
  {
    field: 'kind',
    tags: {
      User: 'user',
      Vehicle: 'vehicle',
      VehicleGroup: 'group',
      Geofence: 'geofence',
      NotificationRule: 'notification-rule',
      VideoProfile: 'video-profile',
      Driver: 'driver',
    },
  },
  { field: 'type', tags: { Polygon: 'polygon', Circle: 'circle', Line: 'line', MultiPolygon: 'multipolygon' } },
  { field: 'on', tags: { Weekdays: 'weekdays', Dates: 'dates' }, whenNull: 'daily' },
];
/** Records that are pairs in the domain. */
const PAIRS: Readonly<Record<string, readonly [string, string]>> = { 'outrider.LngLat': ['longitude', 'latitude'] };

const SAME: Conversion = { toAvro: (value) => value, fromAvro: (value) => value };

export function conversionOf(type: Type): Conversion {
  if (type instanceof avsc.types.RecordType) return ofRecord(type);
  if (type instanceof avsc.types.ArrayType) {
    const { toAvro, fromAvro } = conversionOf(type.itemsType);
    return {
      toAvro: (items) => (items as unknown[]).map(toAvro),
      fromAvro: (items) => (items as unknown[]).map(fromAvro),
    };
  }
  // The library makes maps without a prototype.
  if (type instanceof avsc.types.MapType) return { toAvro: SAME.toAvro, fromAvro: (map) => ({ ...(map as Fields) }) };
  if (type instanceof avsc.types.EnumType)
    return { toAvro: (name) => symbolOf(name as string), fromAvro: (symbol) => nameOf(symbol as string) };
  if (type instanceof avsc.types.WrappedUnionType) return ofTaggedUnion(type.types);
  if (type instanceof avsc.types.UnwrappedUnionType) {
    const some = type.types.find(({ typeName }) => typeName !== 'null');
    const { toAvro, fromAvro } = some === undefined ? SAME : conversionOf(some);
    return {
      toAvro: (value) => (value === null ? null : toAvro(value)),
      fromAvro: (value) => (value === null ? null : fromAvro(value)),
    };
  }
  return SAME;
}

function ofRecord(type: avsc.types.RecordType): Conversion {
  const pair = PAIRS[type.name ?? ''];
  if (pair !== undefined) {
    const [first, second] = pair;
    return {
      toAvro: (value) => ({ [first]: (value as unknown[])[0], [second]: (value as unknown[])[1] }),
      fromAvro: (record) => [(record as Fields)[first], (record as Fields)[second]],
    };
  }
  const fields = type.fields.map(({ name, type }) => ({ name, ...conversionOf(type) }));
  const convert = (source: unknown, direction: keyof Conversion) => {
    const result: Fields = {};
    for (const field of fields) result[field.name] = field[direction]((source as Fields)[field.name]);
    return result;
  };
  return { toAvro: (value) => convert(value, 'toAvro'), fromAvro: (record) => convert(record, 'fromAvro') };
}

type Fields = Record<string, unknown>;

function ofTaggedUnion(types: readonly Type[]): Conversion {
  const branches = types.filter((branch) => branch instanceof avsc.types.RecordType);
  const nameOfBranch = ({ name = '' }: Type) => name.replace('outrider.', '');
  const union = UNIONS.find(({ tags }) => branches.every((branch) => nameOfBranch(branch) in tags));
  if (union === undefined)
    throw new Error(`no discriminator for the union of ${branches.map(nameOfBranch).join(', ')}`);
  const { field, tags, whenNull } = union;
  const byTag = new Map<unknown, { name: string; toAvro: Convert }>();
  const byName = new Map<string, { tag: string | undefined; fromAvro: Convert }>();
  for (const branch of branches) {
    const { toAvro, fromAvro } = conversionOf(branch);
    const [name, tag] = [branch.name ?? '', tags[nameOfBranch(branch)]];
    byTag.set(tag, { name, toAvro });
    byName.set(name, { tag, fromAvro });
  }
  return {
    toAvro(value) {
      const tag = value === null ? null : (value as Fields)[field];
      if (tag === null || tag === whenNull) return null;
      const branch = byTag.get(tag);
      if (branch === undefined) throw new Error(`${field} ${JSON.stringify(tag)} is not in the schema`);
      return { [branch.name]: branch.toAvro(value) };
    },
    fromAvro(wrapped) {
      if (wrapped === null) return whenNull === undefined ? null : { [field]: whenNull };
      const [[name, record]] = Object.entries(wrapped as Fields) as [[string, unknown]];
      const { tag, fromAvro } = byName.get(name) as { tag: string | undefined; fromAvro: Convert };
      return { [field]: tag, ...(fromAvro(record) as Fields) };
    },
  };
}
