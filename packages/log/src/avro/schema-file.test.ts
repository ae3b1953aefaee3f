import { readFileSync } from 'node:fs';
import avsc from 'avsc';
import { describe, expect, test } from 'vitest';
import { checkHeader, nameOf, readSchema, schemaFingerprint, symbolOf } from './schema-file.ts';

describe('a schema file', () => {
  test('has the fingerprint that the Avro specification gives', () => {
    // The fingerprint of nothing is the algorithm's start value; that of "int" was computed by Avro's own
    // implementation.
    expect(schemaFingerprint('').toString(16)).toBe('c15d213aa4d7a795');
    expect(schemaFingerprint('"int"').toString(16)).toBe('7275d51a3f395c8f');
  });

  test('names what a record begins with when it is not its own', () => {
    const [telemetry, event] = [readSchema('telemetry'), readSchema('event')];
    expect(() => checkHeader(telemetry, telemetry.header)).not.toThrow();
    expect(() => checkHeader(telemetry, event.header)).toThrow(event.header.toString('hex').slice(4));
    expect(() => checkHeader(telemetry, Buffer.from('ab'))).toThrow('6162 begins no Avro record');
  });

  test('takes records of an earlier version that it only added to, and of no other', () => {
    const text = readFileSync(new URL('../../../../schemas/history/telemetry.v1.avsc', import.meta.url), 'utf8');
    const earlier = JSON.parse(text.replace(', "JT808"', '').replace(/,\s*"TERMINAL_CONFLICT"/, ''));
    earlier.fields = earlier.fields.filter(({ name }: { name: string }) => name !== 'traceId');
    const before = avsc.Type.forSchema(earlier);
    const header = Buffer.alloc(8);
    header.writeBigUInt64LE(schemaFingerprint(JSON.stringify(before.schema())));
    expect(header.toString('hex')).toBe('a8e67377e93ee0c7');
    const telemetry = readSchema('telemetry', [header.toString('hex')]);
    expect(checkHeader(telemetry, telemetry.header)).toBe(true);
    expect(checkHeader(telemetry, Buffer.concat([Buffer.from('c301', 'hex'), header]))).toBe(false);
    expect(() => checkHeader(readSchema('telemetry'), Buffer.concat([Buffer.from('c301', 'hex'), header]))).toThrow();
    const later = avsc.Type.forSchema(JSON.parse(text));
    const record: unknown = before.random();
    // As the Avro specification has it: what a record lacks is the default.
    const resolver = later.createResolver(before);
    expect(later.fromBuffer(before.toBuffer(record), resolver)).toEqual({
      ...before.fromBuffer(before.toBuffer(record)),
      traceId: null,
    });
  });

  test('that is not there cannot be read', () => {
    expect(() => readSchema('nothing')).toThrow('nothing.avsc');
  });

  test('symbols stand for the domain’s names, both ways', () => {
    expect(symbolOf('no-longer-watched')).toBe('NO_LONGER_WATCHED');
    expect(nameOf('WIALON_IPS')).toBe('wialon-ips');
  });
});
