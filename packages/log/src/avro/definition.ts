import { DEFINITION_FORMAT, type DefinitionChange, upgradeDefinition } from '@outrider/domain';
import { checkCounts } from './counts.ts';
import { conversionOf } from './domain-shape.ts';
import { toLong } from './numbers.ts';
import { HEADER_BYTES, hasHeader, readSchema, unknownHeader } from './schema-file.ts';

const schemaNamed = (name: string) => {
  const file = readSchema(name);
  return { ...file, ...conversionOf(file.type) };
};
const schema = schemaNamed('definition');
/** Writer schema of each format; index 0 is format 1. */
const schemas = Array.from({ length: DEFINITION_FORMAT }, (_, before) =>
  before + 1 === DEFINITION_FORMAT ? schema : schemaNamed(`history/definition.v${before + 1}`),
);

/** Encodes a change: a header and the record of `schemas/definition.avsc`. Only `changedAtMs` is rounded. */
export function encodeDefinitionChange(change: DefinitionChange): Buffer {
  const { changedAtMs, ...fields } = change;
  const avro = schema.toAvro({ ...fields, changedAt: toLong(changedAtMs) });
  return Buffer.concat([schema.header, schema.type.toBuffer(avro)]);
}

/** A record of topic `definitions`, written by any version. */
export interface DefinitionRecord {
  /** Null when a newer version wrote the record, or it can't be decoded. */
  change: DefinitionChange | null;
  /** Whether it is stored in the format that this version writes. */
  isCurrent: boolean;
}

/**
 * @returns the change in the current format, whichever version wrote it
 * @throws {Error} when neither {@link encodeDefinitionChange} nor an earlier version of it wrote the bytes
 */
export function decodeDefinitionChange(bytes: Buffer): DefinitionChange {
  const before = schemas.findIndex((each) => hasHeader(each, bytes));
  const writer = schemas[before];
  if (writer === undefined) throw unknownHeader(schema, bytes);
  checkCounts(writer.type, bytes, HEADER_BYTES);
  const { changedAt, definition, ...fields } = writer.fromAvro(
    writer.type.fromBuffer(bytes.subarray(HEADER_BYTES)),
  ) as Omit<DefinitionChange, 'changedAtMs'> & { changedAt: number };
  // Fields that the writer's schema did not have are filled in by the upgrade.
  return { ...fields, changedAtMs: changedAt, definition: definition && upgradeDefinition(definition, before + 1) };
}

/** As {@link decodeDefinitionChange}, for readers that skip records they can't decode. */
export function decodeDefinitionRecord(bytes: Buffer): DefinitionRecord {
  try {
    return { change: decodeDefinitionChange(bytes), isCurrent: hasHeader(schema, bytes) };
  } catch {
    return { change: null, isCurrent: false };
  }
}
