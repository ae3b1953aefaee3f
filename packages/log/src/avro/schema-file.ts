import { readFileSync } from 'node:fs';
import avsc, { type Type } from 'avsc';

const FOLDER = new URL('../../../../schemas/', import.meta.url);

/**
 * Bytes before every record: two that mark it as a single Avro object, eight that name the schema it was written with.
 */
export const HEADER_BYTES = 10;

/**
 * A schema of `schemas/`, ready to write and to read records as Avro's single-object encoding (Avro 1.11,
 * "Single-object encoding").
 */
export interface SchemaFile {
  name: string;
  type: Type;
  /** What each record begins with. */
  header: Buffer;
  /** What records of earlier versions begin with that can be read. */
  earlierHeaders: readonly Buffer[];
}

/**
 * Reads `schemas/<name>.avsc`.
 *
 * @param earlier fingerprints, as they stand in a record, of versions whose records can be read: those that this one
 *   only added to at the end of an enum or of a union, which read the same, or at the end of the record, which its
 *   codec has to make up for
 * @throws {Error} when there is no such file, or what it holds is no Avro schema
 */
export function readSchema(name: string, earlier: readonly string[] = []): SchemaFile {
  const type = avsc.Type.forSchema(JSON.parse(readFileSync(new URL(`${name}.avsc`, FOLDER), 'utf8')));
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt16BE(0xc301, 0);
  header.writeBigUInt64LE(schemaFingerprint(JSON.stringify(type.schema())), 2);
  return { name, type, header, earlierHeaders: earlier.map((hex) => Buffer.from(`c301${hex}`, 'hex')) };
}

/**
 * @returns whether the record was written by this very version of the schema, and not by an earlier one
 * @throws {Error} when the record is not one that `schema` wrote: it begins otherwise, or was written by another
 *   version of the schema, which reads as a different record
 */
export function checkHeader(schema: SchemaFile, bytes: Uint8Array): boolean {
  return versionsBefore(schema, bytes) === 0;
}

/**
 * @returns 0 where this version of the schema wrote the record, 1 for the first of the earlier versions it was read
 *   with, and so on
 * @throws {Error} as {@link checkHeader} does
 */
export function versionsBefore(schema: SchemaFile, bytes: Uint8Array): number {
  if (hasHeader(schema, bytes)) return 0;
  const { earlierHeaders } = schema;
  for (let i = 0; i < earlierHeaders.length; i++) if (beginsWith(bytes, earlierHeaders[i] as Buffer)) return i + 1;
  throw unknownHeader(schema, bytes);
}

/** Whether the record was written by this very version of the schema. */
export function hasHeader({ header }: SchemaFile, bytes: Uint8Array): boolean {
  return beginsWith(bytes, header);
}

function beginsWith(bytes: Uint8Array, header: Buffer): boolean {
  for (let i = 0; i < HEADER_BYTES; i++) if (bytes[i] !== header[i]) return false;
  return true;
}

/** What is wrong with a record that begins otherwise than any version that can be read. */
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

/** There are as many symbols as the schemas have; what else is asked for is not remembered without end. */
const MAX_REMEMBERED = 1000;

/** Names of the domain as Avro allows them: `power-cut` is the symbol `POWER_CUT`. */
export const symbolOf = remembering((name) => name.toUpperCase().replaceAll('-', '_'));

/** The domain's name for a symbol of a schema, see {@link symbolOf}. */
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
