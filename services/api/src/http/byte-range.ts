/** Bytes from `start` up to but excluding `end`. */
export interface Part {
  start: number;
  end: number;
}

/**
 * The part of a file that `Range` requests (RFC 9110, 14.2).
 *
 * @param bytes length of the file
 * @returns null: the whole file, also if the header is invalid or requests several parts, which the RFC leaves to the
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

/** Whether the client has the current version, by `If-None-Match` (RFC 9110, 13.1.2: weak comparison). */
export function isKnown(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false;
  if (header.trim() === '*') return true;
  return header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}

/** Whether `If-Range` allows a partial response (RFC 9110, 13.1.5: strong comparison; a date must match exactly). */
export function mayBeSentInPart(header: string | undefined, etag: string, lastModified: string): boolean {
  return header === undefined || header.trim() === etag || header.trim() === lastModified;
}
