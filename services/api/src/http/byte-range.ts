/** Bytes from `start` up to and without `end`. */
export interface Part {
  start: number;
  end: number;
}

/**
 * The part of a file that `Range` asks for (RFC 9110, 14.2).
 *
 * @param bytes length of the file
 * @returns null: all of it, also where the header can't be read or asks for several parts, which the RFC leaves to the
 *   server; `unsatisfiable`: the file has no such bytes
 */
export function partAsked(header: string | undefined, bytes: number): Part | 'unsatisfiable' | null {
  const [, first, last] = /^bytes\s*=\s*(\d*)\s*-\s*(\d*)$/i.exec(header?.trim() ?? '') ?? [];
  if (first === undefined || last === undefined || (first === '' && last === '')) return null;
  if (first === '') {
    const length = Math.min(Number(last), bytes);
    return length === 0 ? 'unsatisfiable' : { start: bytes - length, end: bytes };
  }
  const start = Number(first);
  const end = last === '' ? bytes : Math.min(Number(last) + 1, bytes);
  if (last !== '' && Number(last) < start) return null;
  return start >= bytes ? 'unsatisfiable' : { start, end };
}

/** Does `If-None-Match` say that the client has it already? (RFC 9110, 13.1.2: compared weakly) */
export function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** Does `If-Range` let the part be sent? (RFC 9110, 13.1.5: compared strongly; a date only where it is the very one) */
export function mayBeSentInPart(header: string | undefined, etag: string, lastModified: string): boolean {
  return header === undefined || header.trim() === etag || header.trim() === lastModified;
}
