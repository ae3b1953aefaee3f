import avsc, { type Type } from 'avsc';

/**
 * Validates the structure of a record without decoding it. The Avro library allocates a list of the encoded count
 * before it checks that the bytes hold that many items. A damaged count would keep the reader busy until its memory
 * ends. The library also accepts ints beyond 32 bits, which it would not write.
 *
 * @param at where the record begins in `bytes`
 * @throws {Error} when the record goes beyond the end of the bytes, the count of an array or a map beyond what may
 *   follow, or an int beyond 32 bits
 */
export function checkCounts(type: Type, bytes: Buffer, at: number): void {
  new Walk(bytes, at).over(type);
}

class Walk {
  readonly #bytes: Buffer;
  #at: number;

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes;
    this.#at = at;
  }

  over(type: Type): void {
    if (type instanceof avsc.types.RecordType) for (const field of type.fields) this.over(field.type);
    else if (type instanceof avsc.types.ArrayType) this.#overBlocks(() => this.over(type.itemsType));
    else if (type instanceof avsc.types.MapType)
      this.#overBlocks(() => {
        this.#skip(this.#long());
        this.over(type.valuesType);
      });
    else if (type instanceof avsc.types.WrappedUnionType || type instanceof avsc.types.UnwrappedUnionType)
      this.over(type.types[this.#long()] ?? this.#fail('a union has no such branch'));
    else
      switch (type.typeName) {
        case 'null':
          return;
        case 'boolean':
          return this.#skip(1);
        case 'double':
          return this.#skip(8);
        case 'int': {
          const int = this.#long();
          if (int !== (int | 0)) this.#fail(`the int ${int}`);
          return;
        }
        case 'long':
        case 'enum':
          this.#long();
          return;
        case 'string':
        case 'bytes':
          return this.#skip(this.#long());
        default:
          throw new Error(`nothing is known of Avro's ${type.typeName} here`);
      }
  }

  #overBlocks(item: () => void): void {
    for (let left = this.#count(); left > 0; left = this.#count()) for (; left > 0; left--) item();
  }

  /** Number of items in the next block. No item of this project's schemas takes less than a byte. */
  #count(): number {
    let count = this.#long();
    if (count < 0) {
      // A negative count is followed by the block's length in bytes.
      count = -count;
      this.#long();
    }
    if (count > this.#bytes.length - this.#at) this.#fail(`${count} items`);
    return count;
  }

  #skip(length: number): void {
    if (!(length >= 0 && length <= this.#bytes.length - this.#at)) this.#fail(`${length} bytes more`);
    this.#at += length;
  }

  /** Exact for what lengths, counts and branches can be. */
  #long(): number {
    let value = 0;
    for (let place = 1; place <= 2 ** 63; place *= 128) {
      const byte = this.#bytes[this.#at++] ?? this.#fail('another byte');
      value += (byte & 127) * place;
      if (byte < 128) return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
    }
    return this.#fail('a number of more than 64 bits');
  }

  #fail(what: string): never {
    throw new Error(`not a record: ${what} at byte ${this.#at} of ${this.#bytes.length}`);
  }
}
