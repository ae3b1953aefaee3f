import { readFileSync } from 'node:fs';
import {
  DEFINITION_FORMAT,
  type Definition,
  NewerFormatError,
  readStoredChange,
  upgradeDefinition,
} from '@outrider/domain';
import { expect, test } from 'vitest';
import { decodeDefinitionChange, decodeDefinitionRecord } from './definition.ts';
import { type GoldenRecord, goldenFile } from './golden.fixture.ts';
import { HEADER_BYTES, readSchema } from './schema-file.ts';

const golden = (format: number) => JSON.parse(readFileSync(goldenFile(format), 'utf8')) as GoldenRecord[];
const formats = Array.from({ length: DEFINITION_FORMAT }, (_, before) => before + 1);
/** Fields of a definition as the current version writes it, by kind. */
const currentFields = new Map(
  golden(DEFINITION_FORMAT).map(({ json }) => {
    const { kind, definition } = readStoredChange(json);
    return [kind, Object.keys(definition as Definition).toSorted()];
  }),
);

test.each(formats)(
  'definitions of format %i are read, from the topic and from checkpoints, with every field',
  (format) => {
    const records = golden(format);
    expect(records).toHaveLength(format < DEFINITION_FORMAT ? 6 : 7);
    for (const { avro, json } of records) {
      const bytes = Buffer.from(avro, 'base64');
      const change = decodeDefinitionChange(bytes);
      expect(readStoredChange(json)).toEqual(change);
      const { definition, kind } = change;
      expect(Object.keys(definition as Definition).toSorted()).toEqual(currentFields.get(kind));
      expect(Object.values(definition as Definition)).not.toContain(undefined);
      expect(decodeDefinitionRecord(bytes)).toEqual({ change, isCurrent: format === DEFINITION_FORMAT });
    }
  },
);

test('the schema does not change without a new format and its golden records: npm run golden', () => {
  const { header } = readSchema('definition');
  for (const { avro } of golden(DEFINITION_FORMAT))
    expect(Buffer.from(avro, 'base64').subarray(0, HEADER_BYTES)).toEqual(header);
});

test('definitions of a newer version are refused, never guessed at', () => {
  const [{ avro, json }] = golden(DEFINITION_FORMAT) as [GoldenRecord];
  const bytes = Buffer.from(avro, 'base64');
  bytes.writeUInt8(bytes.readUInt8(2) ^ 1, 2);
  expect(() => decodeDefinitionChange(bytes)).toThrow('definition.avsc');
  expect(decodeDefinitionRecord(bytes)).toEqual({ change: null, isCurrent: false });
  const newer = json.replace(`"format":${DEFINITION_FORMAT}`, `"format":${DEFINITION_FORMAT + 1}`);
  expect(() => readStoredChange(newer)).toThrow(NewerFormatError);
  expect(() => upgradeDefinition({}, DEFINITION_FORMAT + 1)).toThrow(NewerFormatError);
});

test('what was stored before formats had numbers is of format 1', () => {
  const [{ json }] = golden(1) as [GoldenRecord];
  const unnumbered = json.replace('"format":1,', '');
  expect(unnumbered).not.toBe(json);
  expect(readStoredChange(unnumbered)).toEqual(readStoredChange(json));
});
