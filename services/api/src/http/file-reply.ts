import { type JobAccess, Problem } from '@outrider/access';
import type { ReportFile } from '@outrider/registry';
import type { AuthorizedContext, Reply } from '../route.ts';
import { isKnown, mayBeSentInPart, partAsked } from './byte-range.ts';

/** Documentation of the headers of a request for a file. */
export const FILE_REQUEST_HEADERS = {
  Range: {
    description: 'A range of bytes. If several ranges are requested, the whole file is sent.',
    example: 'bytes=0-1048575',
  },
  'If-None-Match': {
    description: 'ETag of the version that the client has.',
    example: '"5f2c8a3e9d414b6c8e071a2b3c4d5e6f"',
  },
  'If-Range': {
    description: 'ETag of the version of which the client has a part.',
    example: '"5f2c8a3e9d414b6c8e071a2b3c4d5e6f"',
  },
};

/** A file that is to be sent. */
export interface SentFile {
  mediaType: string;
  /** Value of `Content-Disposition`. */
  disposition: string;
  bytes: number;
  /** In hexadecimal. */
  sha256: string;
  /** Unix milliseconds. */
  modifiedMs: number;
  /** Bytes from `start` up to but excluding `end`, read lazily. */
  read(start: number, end: number): AsyncIterable<Uint8Array>;
}

/**
 * Sends the file, the requested part of it, or "not modified" (RFC 9110, 13 and 14).
 *
 * @throws {Problem} when it has no such bytes
 * @throws {DamagedFileError} when the requested part begins with damaged bytes
 */
export async function fileReply(
  file: SentFile,
  { method, header }: Pick<AuthorizedContext, 'method' | 'header'>,
): Promise<Reply> {
  const { bytes } = file;
  const etag = `"${file.sha256.slice(0, 32)}"`;
  const lastModified = new Date(file.modifiedMs).toUTCString();
  const headers = {
    'content-disposition': file.disposition,
    etag,
    'last-modified': lastModified,
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-cache',
  };
  if (isKnown(header('if-none-match'), etag)) return { status: 304, headers };
  const isInParts = method === 'GET' && mayBeSentInPart(header('if-range'), etag, lastModified);
  const part = isInParts ? partAsked(header('range'), bytes) : null;
  if (part === 'unsatisfiable')
    throw new Problem('range-not-satisfiable', `The file has ${bytes} bytes.`, {
      headers: { 'content-range': `bytes */${bytes}` },
    });
  const { start, end } = part ?? { start: 0, end: bytes };
  // Damage is checked before the response begins: later it could only break the response off.
  if (method === 'GET') for await (const _ of file.read(start, Math.min(start + 1, end))) break;
  return {
    status: part === null ? 200 : 206,
    bytes: file.read(start, end),
    headers: {
      ...headers,
      'content-type': file.mediaType,
      'content-length': String(end - start),
      ...(part === null ? {} : { 'content-range': `bytes ${start}-${end - 1}/${bytes}` }),
    },
  };
}

/** The file of a job, as {@link fileReply} sends it. */
export function storedFileReply(
  file: ReportFile,
  jobs: Pick<JobAccess, 'reportBytes'>,
  context: Pick<AuthorizedContext, 'method' | 'header'>,
): Promise<Reply> {
  const isText = file.mediaType.startsWith('text/');
  const sent = {
    mediaType: isText ? `${file.mediaType}; charset=utf-8` : file.mediaType,
    disposition: `attachment; filename="${file.name}"`,
    bytes: file.bytes,
    sha256: file.sha256,
    modifiedMs: file.storedAtMs,
    read: (start: number, end: number) => jobs.reportBytes(file, start, end),
  };
  return fileReply(sent, context);
}
