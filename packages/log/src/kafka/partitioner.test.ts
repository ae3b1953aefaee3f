import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { type PartitionerArgs, Partitioners } from 'kafkajs';
import { expect, test } from 'vitest';
import { partitionByKey } from './partitioner.ts';

const byLibrary = Partitioners.DefaultPartitioner();
const argumentsOf = (key: string | Buffer, partitions: number): PartitionerArgs => ({
  topic: 'any',
  partitionMetadata: Array.from({ length: partitions }, (_, partitionId) => ({
    partitionErrorCode: 0,
    partitionId,
    leader: 1,
    replicas: [],
    isr: [],
  })),
  message: { key, value: null },
});

test('a key goes to the partition where the library puts it', () => {
  const text = fc.oneof(
    fc.uuid(),
    fc.string({ maxLength: 70 }),
    fc.string({ unit: 'grapheme', maxLength: 70 }),
    fc.string({ unit: 'binary', maxLength: 8 }),
  );
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 100 }), (key, partitions) => {
      const expected = byLibrary(argumentsOf(key, partitions));
      expect(partitionByKey(argumentsOf(key, partitions))).toBe(expected);
      expect(partitionByKey(argumentsOf(Buffer.from(key), partitions))).toBe(expected);
    }),
    { numRuns: runs(1000) },
  );
});
