import { crc32, createDeflateRaw } from 'node:zlib';

/** A file of an archive, written as it comes. */
export interface ZipEntry {
  name: string;
  content: AsyncIterable<string>;
}

// Signatures and fields: PKWARE, APPNOTE.TXT 6.3.10, sections 4.3.7 to 4.3.16.
const VERSION = 20;
/** Bit 3: sizes come after the content; bit 11: names in UTF-8. */
const FLAGS = (1 << 3) | (1 << 11);
const DEFLATED = 8;
/** 1 January 1980: a report was never a file on a disk. */
const DATE = (1 << 5) | 1;
/** The largest value of a 32-bit field. */
const MOST_BYTES = 0xffff_ffff;

/**
 * A zip archive as a stream. Each file is deflated while it is written, so only the list of files is held in memory.
 *
 * @throws {RangeError} when it grows over 4 GB, which needs another zip format
 */
export async function* zip(entries: AsyncIterable<ZipEntry>): AsyncGenerator<Uint8Array> {
  const directory: Buffer[] = [];
  let at = 0;
  for await (const { name, content } of entries) {
    const start = at;
    const header = localHeader(name);
    yield header;
    at += header.length;
    const sums = { crc: 0, size: 0, deflated: 0 };
    for await (const chunk of deflated(content, sums)) {
      yield chunk;
      at += chunk.length;
      if (at > MOST_BYTES || sums.size > MOST_BYTES) throw new RangeError('A zip archive may have at most 4 GB');
    }
    const after = dataDescriptor(sums);
    yield after;
    at += after.length;
    directory.push(centralHeader(name, sums, start));
  }
  const size = directory.reduce((sum, { length }) => sum + length, 0);
  yield* directory;
  yield endOfDirectory(directory.length, size, at);
}

interface Sums {
  crc: number;
  size: number;
  deflated: number;
}

/** Deflates text as it comes, adding up the sizes and the checksum that a zip contains. */
async function* deflated(content: AsyncIterable<string>, sums: Sums): AsyncGenerator<Buffer> {
  const deflate = createDeflateRaw({ level: 6 });
  const feed = async () => {
    for await (const text of content) {
      const bytes = Buffer.from(text);
      sums.crc = crc32(bytes, sums.crc);
      sums.size += bytes.length;
      if (!deflate.write(bytes)) await drained(deflate);
    }
    deflate.end();
  };
  const fed = feed().catch((error: Error) => deflate.destroy(error));
  try {
    for await (const chunk of deflate as AsyncIterable<Buffer>) {
      sums.deflated += chunk.length;
      yield chunk;
    }
    await fed;
  } finally {
    deflate.destroy();
  }
}

/** Resolves when the stream accepts more data; rejects when it is closed. */
function drained(stream: NodeJS.EventEmitter & { destroyed: boolean }): Promise<void> {
  return new Promise((resolve, reject) => {
    const closed = () => reject(new Error('nobody reads on'));
    if (stream.destroyed) return closed();
    stream.once('close', closed);
    stream.once('drain', () => {
      stream.off('close', closed);
      resolve();
    });
  });
}

function localHeader(name: string): Buffer {
  const bytes = Buffer.from(name);
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(FLAGS, 6);
  header.writeUInt16LE(DEFLATED, 8);
  header.writeUInt16LE(DATE, 12);
  header.writeUInt16LE(bytes.length, 26);
  return Buffer.concat([header, bytes]);
}

function dataDescriptor({ crc, size, deflated: packed }: Sums): Buffer {
  const descriptor = Buffer.alloc(16);
  descriptor.writeUInt32LE(0x08074b50, 0);
  descriptor.writeUInt32LE(crc, 4);
  descriptor.writeUInt32LE(packed, 8);
  descriptor.writeUInt32LE(size, 12);
  return descriptor;
}

function centralHeader(name: string, { crc, size, deflated: packed }: Sums, start: number): Buffer {
  const bytes = Buffer.from(name);
  const header = Buffer.alloc(46);
  header.writeUInt32LE(0x02014b50, 0);
  header.writeUInt16LE(VERSION, 4);
  header.writeUInt16LE(VERSION, 6);
  header.writeUInt16LE(FLAGS, 8);
  header.writeUInt16LE(DEFLATED, 10);
  header.writeUInt16LE(DATE, 14);
  header.writeUInt32LE(crc, 16);
  header.writeUInt32LE(packed, 20);
  header.writeUInt32LE(size, 24);
  header.writeUInt16LE(bytes.length, 28);
  header.writeUInt32LE(start, 42);
  return Buffer.concat([header, bytes]);
}

function endOfDirectory(entries: number, size: number, start: number): Buffer {
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries, 8);
  end.writeUInt16LE(entries, 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(start, 16);
  return end;
}
