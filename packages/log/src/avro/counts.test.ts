import { NO_CUSTOM_FIELDS } from '@outrider/domain';
import avsc from 'avsc';
import { expect, test } from 'vitest';
import { definitionsTopic } from '../topics.ts';
import { checkCounts } from './counts.ts';
import { decodeDeadLetter, encodeDeadLetter } from './dead-letter.ts';
import { decodeDefinitionChange } from './definition.ts';
import { HEADER_BYTES } from './schema-file.ts';

const list = avsc.Type.forSchema({ type: 'array', items: 'long' });

test('what the library wrote passes, in blocks with and without their length', () => {
  for (const items of [[], [1], [1, -2, 2 ** 40], Array.from({ length: 300 }, (_, i) => i)])
    checkCounts(list, list.toBuffer(items), 0);
  // Two items in three bytes, then the end.
  checkCounts(list, Buffer.of(3, 6, 2, 0x80, 0x01, 0), 0);
});

test('a count beyond what follows is refused before anything is made of it', () => {
  for (const count of [2 ** 31 - 1, 2 ** 40, 2 ** 52, -(2 ** 31), 3]) {
    const bytes = Buffer.concat([avsc.Type.forSchema('long').toBuffer(count), Buffer.of(2, 0)]);
    expect(() => checkCounts(list, bytes, 0)).toThrow('not a record');
  }
  expect(() => checkCounts(list, Buffer.alloc(40, 0xff), 0)).toThrow('not a record');
});

test('a definition with a damaged count is told, and keeps nobody busy', () => {
  const group = {
    kind: 'group' as const,
    id: 'g',
    version: 1,
    name: 'North',
    dealerId: null,
    retentionDays: null,
    ...NO_CUSTOM_FIELDS,
  };
  const user = {
    kind: 'user' as const,
    ...NO_CUSTOM_FIELDS,
    id: 'u',
    version: 1,
    login: 'anna',
    name: 'Anna',
    role: 'user' as const,
    dealerId: null,
    blocked: false,
    apiAccess: true,
    services: [],
    rights: [],
    groupIds: ['g'],
  };
  for (const definition of [group, user]) {
    const change = { kind: definition.kind, id: definition.id, version: 1, changedAtMs: 5, definition } as never;
    const bytes = Buffer.from(definitionsTopic.encode(change));
    expect(decodeDefinitionChange(bytes)).toEqual(change);
    for (let at = HEADER_BYTES; at < bytes.length; at++) {
      // 2^34 of something.
      const damaged = Buffer.concat([
        bytes.subarray(0, at),
        Buffer.of(0x80, 0x80, 0x80, 0x80, 0x80, 0x01),
        bytes.subarray(at),
      ]);
      expect(() => decodeDefinitionChange(damaged)).toThrow();
    }
  }
});

test('an int of more than 32 bits is none, as it could not be written again', () => {
  const int = avsc.Type.forSchema('int');
  for (const value of [0, 1, -1, 2 ** 31 - 1, -(2 ** 31)])
    checkCounts(int, avsc.Type.forSchema('long').toBuffer(value), 0);
  for (const value of [2 ** 31, -(2 ** 31) - 1, 2_952_790_016])
    expect(() => checkCounts(int, avsc.Type.forSchema('long').toBuffer(value), 0)).toThrow('not a record');

  const letter = {
    topic: 'telemetry',
    partition: 2 ** 31 - 1,
    offset: 7,
    reader: 'rules',
    reason: 'a reason',
    diedAtMs: 5,
    record: Buffer.from('a record'),
    replayedAtMs: null,
  };
  const bytes = encodeDeadLetter(letter);
  expect(decodeDeadLetter(bytes)).toEqual(letter);
  // The last byte of the partition's number.
  const at = bytes.indexOf(Buffer.of(0xfe, 0xff, 0xff, 0xff, 0x0f)) + 4;
  bytes[at] = 0x1f;
  expect(() => decodeDeadLetter(bytes)).toThrow('not a record');
});
