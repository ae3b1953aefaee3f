/** Protobuf's wire types, including the groups of proto2. */
export const WIRE = { varint: 0, fixed64: 1, bytes: 2, startGroup: 3, endGroup: 4, fixed32: 5 } as const;

const MAX_VARINT_BYTES = 10;
/** Terminals nest groups one deep; deeper nesting than this cannot come from a terminal. */
const MAX_GROUP_DEPTH = 8;

/**
 * Reads protobuf's wire format without a schema, one field after the other. It never throws and never reads beyond its
 * end: after an error `failed` is set, `offset` is at the end, and every read returns 0.
 */
export class WireReader {
  bytes: Buffer = Buffer.alloc(0);
  offset = 0;
  end = 0;
  failed = false;

  /** Starts reading `bytes` from `start` up to `end`, which must be within them. */
  open(bytes: Buffer, start: number, end: number): void {
    this.bytes = bytes;
    this.offset = start;
    this.end = end;
    this.failed = false;
  }

  fail(): 0 {
    this.failed = true;
    this.offset = this.end;
    return 0;
  }

  /** Reads the lowest 32 bits of a varint, unsigned: enough for a uint32 and for the tag before each field. */
  uint32(): number {
    const { bytes, end } = this;
    let p = this.offset;
    let value = 0;
    for (let shift = 0; shift < 7 * MAX_VARINT_BYTES; shift += 7) {
      if (p >= end) return this.fail();
      const byte = bytes[p++] as number;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.offset = p;
        return value >>> 0;
      }
    }
    return this.fail();
  }

  /** Four bytes, little-endian, unsigned. */
  fixed32(): number {
    if (this.end - this.offset < 4) return this.fail();
    const value = this.bytes.readUInt32LE(this.offset);
    this.offset += 4;
    return value;
  }

  /** Reads the length before bytes, text or packed values; fails where they would extend beyond the end. */
  length(): number {
    const length = this.uint32();
    return length > this.end - this.offset ? this.fail() : length;
  }

  /** Skips the value of a field; `field` identifies the end of a group. */
  skip(wire: number, field: number): void {
    switch (wire) {
      case WIRE.varint:
        this.uint32();
        return;
      case WIRE.fixed64:
        this.#pass(8);
        return;
      case WIRE.bytes:
        this.#pass(this.length());
        return;
      case WIRE.startGroup:
        this.#skipGroup(field);
        return;
      case WIRE.fixed32:
        this.#pass(4);
        return;
      default:
        this.fail();
    }
  }

  #skipGroup(field: number): void {
    const open = [field];
    while (open.length > 0) {
      const tag = this.uint32();
      if (this.failed) return;
      const inner = tag >>> 3;
      const wire = tag & 7;
      if (wire === WIRE.endGroup) {
        if (open.pop() !== inner) this.fail();
      } else if (wire === WIRE.startGroup) {
        if (open.length === MAX_GROUP_DEPTH) this.fail();
        else open.push(inner);
      } else this.skip(wire, inner);
      // A group ends with its own tag; the end of the bytes does not end it.
      if (this.failed) return;
    }
  }

  #pass(bytes: number): void {
    if (bytes > this.end - this.offset) this.fail();
    else this.offset += bytes;
  }
}

/** Decodes a sint32 to its signed value; small values of either sign are short on the wire. */
export function zigzagDecode(value: number): number {
  return (value >>> 1) ^ -(value & 1);
}

/** Encodes a signed 32-bit value as a sint32. */
export function zigzagEncode(value: number): number {
  return ((value << 1) ^ (value >> 31)) >>> 0;
}
