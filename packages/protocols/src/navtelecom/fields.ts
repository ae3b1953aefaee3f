import type { AttributeValue } from '@outrider/domain';

/** Encoding of a field: a little-endian number, or a length in bytes for a field that holds more than one number. */
type Kind = 'u8' | 'i8' | 'u16' | 'i16' | 'u32' | 'i32' | 'f32' | number;

/** Repeats a kind for consecutive fields. */
const times = (count: number, kind: Kind): Kind[] => Array.from({ length: count }, () => kind);

/**
 * The fields of a record by their numbers in the maker's table, from 1. FLEX 1.0 has the first 69, FLEX 2.0 all of
 * them.
 */
const KINDS: readonly Kind[] = [
  ...(['u32', 'u16', 'u32', ...times(5, 'u8'), 'u32', 'i32', 'i32', 'i32', 'f32', 'u16'] as Kind[]), // 1 to 14
  ...(['f32', 'f32', ...times(12, 'u16')] as Kind[]), // 15 to 28
  ...([...times(4, 'u8'), 'u32', 'u32', 'u16', 'u16', 'u32'] as Kind[]), // 29 to 37
  ...([...times(7, 'u16'), ...times(8, 'i8')] as Kind[]), // 38 to 52
  ...(['u16', 'f32', 'u16', 'i8', 'f32', ...times(5, 'u16'), ...times(3, 'u8')] as Kind[]), // 53 to 65
  ...(['u16', 'u32', 'i16', 'u8'] as Kind[]), // 66 to 69
  ...([8, 2, 'u8', 16, 'i32', 'u16', 'f32', 37] as Kind[]), // 70 to 77
  ...([...times(6, 'i8'), ...times(10, 3), 6, 12, 24, 48] as Kind[]), // 78 to 97
  ...([...times(4, 'u8'), 'u32', 'u32', 'u8', 'u32', 'u16', 6, 'u16', 6] as Kind[]), // 98 to 109
  ...([...times(8, 'u16'), 'u8', ...times(3, 'u16'), 'u8'] as Kind[]), // 110 to 122
];

const BYTES = { u8: 1, i8: 1, u16: 2, i16: 2, u32: 4, i32: 4, f32: 4 } as const;
const bytesOf = (kind: Kind): number => (typeof kind === 'number' ? kind : BYTES[kind]);

/** Highest field numbers. */
export const FIELDS_OF_FLEX_1 = 69;
export const FIELDS_OF_FLEX_2 = KINDS.length;

/** A field of a record, with its offset. */
export interface Field {
  number: number;
  kind: Kind;
  offset: number;
}

/** The fields that a terminal's records hold. */
export interface Layout {
  fields: readonly Field[];
  recordBytes: number;
}

/**
 * The layout of a field mask: its highest bit is field 1.
 *
 * @returns null where the mask has unknown fields
 */
export function layoutOf(mask: Uint8Array): Layout | null {
  const fields: Field[] = [];
  let offset = 0;
  for (let number = 1; number <= mask.length * 8; number += 1) {
    if (((mask[(number - 1) >> 3] as number) & (0x80 >> ((number - 1) & 7))) === 0) continue;
    const kind = KINDS[number - 1];
    if (kind === undefined) return null;
    fields.push({ number, kind, offset });
    offset += bytesOf(kind);
  }
  return { fields, recordBytes: offset };
}

/** @returns null for NaN and infinities; fields of several values are hexadecimal digits */
export function readField({ kind, offset }: Field, bytes: Buffer, from: number): AttributeValue | null {
  const at = from + offset;
  switch (kind) {
    case 'u8':
      return bytes.readUInt8(at);
    case 'i8':
      return bytes.readInt8(at);
    case 'u16':
      return bytes.readUInt16LE(at);
    case 'i16':
      return bytes.readInt16LE(at);
    case 'u32':
      return bytes.readUInt32LE(at);
    case 'i32':
      return bytes.readInt32LE(at);
    case 'f32': {
      const value = bytes.readFloatLE(at);
      // Rounds to the significant digits of a 32-bit float; further digits are artefacts of its binary form.
      return Number.isFinite(value) ? Number(value.toPrecision(7)) + 0 : null;
    }
    default:
      return bytes.toString('hex', at, at + kind);
  }
}

/** Writes a number into its field. */
export function writeField({ kind, offset }: Field, record: Buffer, value: number): void {
  switch (kind) {
    case 'u8':
      record.writeUInt8(value, offset);
      break;
    case 'i8':
      record.writeInt8(value, offset);
      break;
    case 'u16':
      record.writeUInt16LE(value, offset);
      break;
    case 'i16':
      record.writeInt16LE(value, offset);
      break;
    case 'u32':
      record.writeUInt32LE(value, offset);
      break;
    case 'i32':
      record.writeInt32LE(value, offset);
      break;
    case 'f32':
      record.writeFloatLE(value, offset);
      break;
    default:
      throw new TypeError(`a field of ${kind} bytes is no number`);
  }
}
