/** A record with its offset in the log. */
export interface Recorded<T> {
  /** Grows along the log. The same record has the same offset however often it is read. */
  offset: number;
  value: T;
}

/** A record that can never be archived, however often it is tried: a bug of its writer. */
export class UnfitRecordError extends Error {
  override name = 'UnfitRecordError';
}
