import { type FileHandle, open } from 'node:fs/promises';

const HEADER_BYTES = 8;
const LARGE_HEADER_BYTES = 16;
/** Maximum size of the tables: those of an hour of video take a few megabytes. */
const MAX_MOVIE_BYTES = 64 * 1024 * 1024;
const COPY_BYTES = 256 * 1024;
/** Container boxes on the path to the tables of offsets. */
const CONTAINERS = ['moov', 'trak', 'mdia', 'minf', 'stbl'];

interface Box {
  type: string;
  at: number;
  bytes: number;
}

/**
 * Copies an MP4 file so that its tables (`moov`) come before its pictures: a player can begin with the first bytes that
 * it gets. Nothing else changes. Only the tables are held in memory.
 *
 * @throws {Error} when the file is no MP4 with one `moov` box, or an offset would exceed its 32 bits
 */
export async function copyMovieFirst(from: string, to: string): Promise<void> {
  const source = await open(from, 'r');
  try {
    const boxes = await topBoxes(source);
    const moov = boxes.find(({ type }) => type === 'moov');
    const firstData = boxes.find(({ type }) => type === 'mdat');
    if (!moov || !firstData) throw new Error(`${from} is no whole MP4 file`);
    if (moov.bytes > MAX_MOVIE_BYTES) throw new Error(`the tables of ${from} take ${moov.bytes} bytes`);
    const movie = Buffer.alloc(moov.bytes);
    await source.read(movie, 0, moov.bytes, moov.at);
    if (moov.at > firstData.at) shiftOffsets(movie, 0, movie.length, moov.bytes);

    const target = await open(to, 'wx');
    try {
      for (const box of boxes) {
        if (box === moov) continue;
        if (box === firstData) await target.write(movie);
        await copy(source, target, box);
      }
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function topBoxes(file: FileHandle): Promise<Box[]> {
  const { size } = await file.stat();
  const header = Buffer.alloc(LARGE_HEADER_BYTES);
  const boxes: Box[] = [];
  let at = 0;
  while (at < size) {
    const { bytesRead } = await file.read(header, 0, LARGE_HEADER_BYTES, at);
    if (bytesRead < HEADER_BYTES) throw new Error(`a box is cut off at ${at}`);
    let bytes = header.readUInt32BE(0);
    if (bytes === 1) bytes = Number(header.readBigUInt64BE(HEADER_BYTES));
    else if (bytes === 0) bytes = size - at;
    if (bytes < HEADER_BYTES || at + bytes > size) throw new Error(`a box of ${bytes} bytes at ${at}`);
    boxes.push({ type: header.toString('latin1', 4, 8), at, bytes });
    at += bytes;
  }
  return boxes;
}

/** Shifts every chunk offset in the tables by `shift` bytes. */
function shiftOffsets(movie: Buffer, from: number, to: number, shift: number): void {
  let at = from;
  while (at + HEADER_BYTES <= to) {
    const bytes = movie.readUInt32BE(at);
    const type = movie.toString('latin1', at + 4, at + 8);
    if (bytes < HEADER_BYTES || at + bytes > to) throw new Error(`a box ${type} of ${bytes} bytes among the tables`);
    if (CONTAINERS.includes(type)) shiftOffsets(movie, at + HEADER_BYTES, at + bytes, shift);
    else if (type === 'stco' || type === 'co64') {
      const count = movie.readUInt32BE(at + 12);
      for (let i = 0; i < count; i++) {
        if (type === 'stco') {
          const place = at + 16 + 4 * i;
          movie.writeUInt32BE(movie.readUInt32BE(place) + shift, place);
        } else {
          const place = at + 16 + 8 * i;
          movie.writeBigUInt64BE(movie.readBigUInt64BE(place) + BigInt(shift), place);
        }
      }
    }
    at += bytes;
  }
}

async function copy(source: FileHandle, target: FileHandle, { at, bytes }: Box): Promise<void> {
  const chunk = Buffer.allocUnsafe(Math.min(COPY_BYTES, bytes));
  for (let done = 0; done < bytes; ) {
    const { bytesRead } = await source.read(chunk, 0, Math.min(chunk.length, bytes - done), at + done);
    if (bytesRead === 0) throw new Error('the file became shorter while it was read');
    await target.write(chunk, 0, bytesRead);
    done += bytesRead;
  }
}
