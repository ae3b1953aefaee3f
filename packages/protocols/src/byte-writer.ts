/** Buffer that grows as bytes are appended; used by the encoders. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(1024);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Discards the content and keeps the memory. */
  clear(): this {
    this.#length = 0;
    return this;
  }

  u8(value: number): this {
    const at = this.#reserve(1);
    this.#bytes[at] = value;
    return this;
  }

  u16be(value: number): this {
    const at = this.#reserve(2);
    this.#bytes.writeUInt16BE(value, at);
    return this;
  }

  i16be(value: number): this {
    const at = this.#reserve(2);
    this.#bytes.writeInt16BE(value, at);
    return this;
  }

  u32be(value: number): this {
    const at = this.#reserve(4);
    this.#bytes.writeUInt32BE(value, at);
    return this;
  }

  i32be(value: number): this {
    const at = this.#reserve(4);
    this.#bytes.writeInt32BE(value, at);
    return this;
  }

  /** An unsigned 64-bit value; a number must be a safe integer. */
  u64be(value: number | bigint): this {
    const at = this.#reserve(8);
    this.#bytes.writeBigUInt64BE(BigInt(value), at);
    return this;
  }

  u16le(value: number): this {
    const at = this.#reserve(2);
    this.#bytes.writeUInt16LE(value, at);
    return this;
  }

  u32le(value: number): this {
    const at = this.#reserve(4);
    this.#bytes.writeUInt32LE(value, at);
    return this;
  }

  /** A protobuf varint of an unsigned 32-bit value. */
  varint(value: number): this {
    const at = this.#reserve(5);
    let length = 0;
    let rest = value >>> 0;
    while (rest > 0x7f) {
      this.#bytes[at + length++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[at + length++] = rest;
    this.#length = at + length;
    return this;
  }

  append(bytes: Uint8Array): this {
    const at = this.#reserve(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  /** Overwrites two bytes already written with a value that was not known at the time. */
  patchU16le(value: number, at: number): this {
    this.#bytes.writeUInt16LE(value, at);
    return this;
  }

  /** The bytes already written: a view that the next write may change. */
  view(): Buffer {
    return this.#bytes.subarray(0, this.#length);
  }

  /** A copy of the bytes already written. */
  toBuffer(): Buffer {
    return Buffer.from(this.view());
  }

  #reserve(bytes: number): number {
    const at = this.#length;
    this.#length += bytes;
    if (this.#length > this.#bytes.length) {
      const grown = Buffer.allocUnsafe(Math.max(this.#length, this.#bytes.length * 2));
      this.#bytes.copy(grown, 0, 0, at);
      this.#bytes = grown;
    }
    return at;
  }
}
