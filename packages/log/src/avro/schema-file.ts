import { readFileSync } from 'node:fs';
import avsc, { type Type } from 'avsc';

const FOLDER = new URL('../../../../schemas/', import.meta.url);

/**
 * Bytes before every record: a two-byte marker of Avro's single-object encoding and the eight-byte fingerprint of the
 * writer's schema.
 */
export const HEADER_BYTES = 10;

/**
 * A schema of `schemas/`, loaded for records in Avro's single-object encoding (Avro 1.11, "Single-object encoding").
 */
export interface SchemaFile {
  name: string;
  type: Type;
  /** Header of each record. */
  header: Buffer;
  /** Headers of records of earlier versions that can be read. */
  earlierHeaders: readonly Buffer[];
}

/**
 * Reads `schemas/<name>.avsc`.
 *
 * @param earlier fingerprints, as in a record's header, of earlier versions whose records can be read. The current
 *   version may only have added to the end of an enum or of a union, which reads the same, or to the end of the record,
 *   which the codec of the record has to handle.
 * @throws {Error} when the file does not exist or is not a valid Avro schema
 */
export function readSchema(name: string, earlier: readonly string[] = []): SchemaFile {
  const type = avsc.Type.forSchema(JSON.parse(readFileSync(new URL(`${name}.avsc`, FOLDER), 'utf8')));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(0xc301, 0);
  header.writeBigUInt64LE(schemaFingerprint(JSON.stringify(type.schema())), 2);
  return { name, type, header, earlierHeaders: earlier.map((hex) => Buffer.from(`c301${hex}`, 'hex')) };
}

/**
 * @returns true when the current version of the schema wrote the record, false when an earlier one did
 * @throws {Error} when the header is not of `schema`, or is of a version that can't be read
 */
export function checkHeader(schema: SchemaFile, bytes: Uint8Array): boolean {
  return versionsBefore(schema, bytes) === 0;
}

/**
 * @returns 0 when the current version of the schema wrote the record, 1 for the first of the earlier versions that it
 *   was read with, and so on
 * @throws {Error} as {@link checkHeader} does
 */
export function versionsBefore(schema: SchemaFile, bytes: Uint8Array): number {
  if (hasHeader(schema, bytes)) return 0;
  const { earlierHeaders } = schema;
  for (let i = 0; i < earlierHeaders.length; i++) if (beginsWith(bytes, earlierHeaders[i] as Buffer)) return i + 1;
  throw unknownHeader(schema, bytes);
}

/** Whether the current version of the schema wrote the record. */
export function hasHeader({ header }: SchemaFile, bytes: Uint8Array): boolean {
  return beginsWith(bytes, header);
}

function beginsWith(bytes: Uint8Array, header: Buffer): boolean {
  for (let i = 0; i < HEADER_BYTES; i++) if (bytes[i] !== header[i]) return false;
  return true;
}

/** The error for a record whose header is of no version that can be read. */
export function unknownHeader({ name, header }: SchemaFile, bytes: Uint8Array): Error {
  const found = Buffer.from(bytes.subarray(0, HEADER_BYTES)).toString('hex');
  if (!found.startsWith('c301') || found.length < 2 * HEADER_BYTES)
    return new Error(`${found || 'nothing'} begins no Avro record`);
  const [was, is] = [found.slice(4), header.toString('hex').slice(4)];
  return new Error(`the record was written with schema ${was}, and ${name}.avsc is ${is}`);
}

const EMPTY = 0xc15d213aa4d7a795n;

/** The Rabin fingerprint CRC-64-AVRO of a schema's canonical form (Avro 1.11, "Schema fingerprints"). */
export function schemaFingerprint(canonicalForm: string): bigint {
  let hash = EMPTY;
  for (const byte of Buffer.from(canonicalForm)) {
    let entry = (hash ^ BigInt(byte)) & 0xffn;
    for (let bit = 0; bit < 8; bit++) entry = (entry >> 1n) ^ (EMPTY & -(entry & 1n));
    hash = (hash >> 8n) ^ BigInt.asUintN(64, entry);
  }
  return hash;
}

/** Bound of the cache. The schemas have fewer symbols; it limits memory for other names. */
const MAX_REMEMBERED = 1000;

/** Converts a domain name to an Avro symbol: `power-cut` becomes `POWER_CUT`. */
export const symbolOf = remembering((name) => name.toUpperCase().replaceAll('-', '_'));

/** Converts a schema's symbol back to the domain's name, see {@link symbolOf}. */
export const nameOf = remembering((symbol) => symbol.toLowerCase().replaceAll('_', '-'));

function remembering(work: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    let result = known.get(text);
    if (result === undefined) {
      result = work(text);
      if (known.size < MAX_REMEMBERED) known.set(text, result);
    }
    return result;
  };
}
