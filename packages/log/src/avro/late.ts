import type { LateInterval, VehicleId } from '@outrider/domain';
import { toLong } from './numbers.ts';
import { checkHeader, HEADER_BYTES, readSchema } from './schema-file.ts';

/** Fingerprint of the version without `hasAlarm`. */
const EARLIER = ['a0c0a68781758799'];
const schema = readSchema('late', EARLIER);

interface AvroLate {
  vehicleId: string;
  from: number;
  to: number;
  receivedAt: number;
  hasAlarm: boolean;
}

/** Appended to records of the version without `hasAlarm`: the value false. */
const NO_ALARM = Buffer.from([0]);

/** Encodes an interval: a header and the record of `schemas/late.avsc`. Times are kept to the millisecond. */
export function encodeLate({ vehicleId, fromMs, toMs, receivedAtMs, hasAlarm = false }: LateInterval): Buffer {
  const [from, to, receivedAt] = [toLong(fromMs), toLong(toMs), toLong(receivedAtMs)];
  const avro: AvroLate = { vehicleId, from, to, receivedAt, hasAlarm };
  return Buffer.concat([schema.header, schema.type.toBuffer(avro)]);
}

/** @throws {Error} when the bytes are not what {@link encodeLate} wrote */
export function decodeLate(bytes: Buffer): LateInterval {
  const isCurrent = checkHeader(schema, bytes);
  const body = bytes.subarray(HEADER_BYTES);
  const avro = schema.type.fromBuffer(isCurrent ? body : Buffer.concat([body, NO_ALARM])) as AvroLate;
  const { vehicleId, from, to, receivedAt, hasAlarm } = avro;
  return { vehicleId: vehicleId as VehicleId, fromMs: from, toMs: to, receivedAtMs: receivedAt, hasAlarm };
}
