import type { DeadLetter } from '../dead-letters.ts';
import { checkCounts } from './counts.ts';
import { toLong } from './numbers.ts';
import { checkHeader, HEADER_BYTES, readSchema } from './schema-file.ts';

const schema = readSchema('dead-letter');

/** Encodes a dead letter: a header and the record of `schemas/dead-letter.avsc`. */
export function encodeDeadLetter({ diedAtMs, replayedAtMs, ...letter }: DeadLetter): Buffer {
  const avro = {
    ...letter,
    diedAt: toLong(diedAtMs),
    replayedAt: replayedAtMs === null ? null : toLong(replayedAtMs),
  };
  return Buffer.concat([schema.header, schema.type.toBuffer(avro)]);
}

/** @throws {Error} when the bytes are not what {@link encodeDeadLetter} wrote */
export function decodeDeadLetter(bytes: Buffer): DeadLetter {
  checkHeader(schema, bytes);
  checkCounts(schema.type, bytes, HEADER_BYTES);
  const { diedAt, replayedAt, ...letter } = schema.type.fromBuffer(bytes.subarray(HEADER_BYTES));
  return { ...letter, diedAtMs: diedAt, replayedAtMs: replayedAt };
}
