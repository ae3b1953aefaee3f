import type { LateInterval, VehicleId } from '@outrider/domain';
import { toLong } from './numbers.ts';
import { checkHeader, HEADER_BYTES, readSchema } from './schema-file.ts';

const schema = readSchema('late');

interface AvroLate {
  vehicleId: string;
  from: number;
  to: number;
  receivedAt: number;
}

/** An interval as bytes: a header and the record of `schemas/late.avsc`. Times are kept to the millisecond. */
export function encodeLate({ vehicleId, fromMs, toMs, receivedAtMs }: LateInterval): Buffer {
  const avro: AvroLate = { vehicleId, from: toLong(fromMs), to: toLong(toMs), receivedAt: toLong(receivedAtMs) };
  return Buffer.concat([schema.header, schema.type.toBuffer(avro)]);
}

/** @throws {Error} when the bytes are not what {@link encodeLate} wrote */
export function decodeLate(bytes: Buffer): LateInterval {
  checkHeader(schema, bytes);
  const avro = schema.type.fromBuffer(bytes.subarray(HEADER_BYTES)) as AvroLate;
  return { vehicleId: avro.vehicleId as VehicleId, fromMs: avro.from, toMs: avro.to, receivedAtMs: avro.receivedAt };
}
