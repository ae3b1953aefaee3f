import type { EventCorrection } from '@outrider/domain';
import { checkCounts } from './counts.ts';
import { decodeEvent, encodeEvent } from './event.ts';
import { checkHeader, HEADER_BYTES, readSchema } from './schema-file.ts';

const schema = readSchema('correction');

/**
 * Encodes a correction: a header and the record of `schemas/correction.avsc`.
 *
 * @throws {Error} when its event can't be encoded
 */
export function encodeCorrection({ event, removed }: EventCorrection): Buffer {
  const avro = { vehicleId: event.vehicleId, removed, event: encodeEvent(event) };
  return Buffer.concat([schema.header, schema.type.toBuffer(avro)]);
}

/** @throws {Error} when the bytes are not what {@link encodeCorrection} wrote */
export function decodeCorrection(bytes: Buffer): EventCorrection {
  checkHeader(schema, bytes);
  checkCounts(schema.type, bytes, HEADER_BYTES);
  const { vehicleId, removed, event: inner } = schema.type.fromBuffer(bytes.subarray(HEADER_BYTES));
  const event = decodeEvent(Buffer.from(inner));
  if (event.vehicleId !== vehicleId) throw new Error('a correction of one vehicle holds an event of another');
  return { event, removed };
}
