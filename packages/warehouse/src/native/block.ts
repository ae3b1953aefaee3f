/**
 * One column of a block: its name, its ClickHouse type, and its values in ClickHouse's Native format. The values are in
 * chunks that are written one after the other without being joined.
 */
export interface NativeColumn {
  name: string;
  type: string;
  chunks: readonly Uint8Array[];
}

/**
 * Rows to be inserted, column by column, in ClickHouse's Native format
 * (https://clickhouse.com/docs/interfaces/formats/Native).
 */
export interface NativeBlock {
  rows: number;
  columns: readonly NativeColumn[];
}

/** The bytes of several blocks of the same columns: the format is one block after the other. */
export function blocksChunks(blocks: readonly NativeBlock[]): Uint8Array[] {
  return blocks.flatMap(blockChunks);
}

/**
 * The block as chunks of bytes to be written one after the other: number of columns, number of rows, then per column
 * name, type and values. An empty block has no chunks.
 */
function blockChunks(block: NativeBlock): Uint8Array[] {
  if (block.rows === 0) return [];
  const chunks: Uint8Array[] = [Buffer.concat([varint(block.columns.length), varint(block.rows)])];
  for (const column of block.columns) {
    chunks.push(Buffer.concat([nativeString(column.name), nativeString(column.type)]));
    for (const chunk of column.chunks) if (chunk.byteLength > 0) chunks.push(chunk);
  }
  return chunks;
}

/** The block's columns as a table function's structure: `` `name` Type, … ``. */
export function blockStructure(block: NativeBlock): string {
  return block.columns.map((column) => `\`${column.name}\` ${column.type}`).join(', ');
}

function nativeString(text: string): Buffer {
  const bytes = Buffer.from(text);
  return Buffer.concat([varint(bytes.length), bytes]);
}

/** Encodes unsigned LEB128. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 0x7f) {
    bytes.push((rest & 0x7f) | 0x80);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Buffer.from(bytes);
}
