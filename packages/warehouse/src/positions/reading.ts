import type { Alarm, AttributeValue, Position } from '@outrider/domain';

/**
 * The present rejection of a position; empty if it is good. A fix that was ahead of its reception is archived as being
 * in the future. Whether it still is depends on the present time: the clock of the reception may have been slow.
 */
export const REJECTION = "if(rejection = 'time-in-future' AND fix_time <= now64(3), '', rejection)";

/** The condition for good positions, see {@link REJECTION}. */
export const IS_GOOD = "(rejection = '' OR (rejection = 'time-in-future' AND fix_time <= now64(3)))";

/** Maximum number of records read for one vehicle and fix time; the archive has more only for a faulty terminal. */
export const MAX_RECORDS = 32;

/** Orders records of one vehicle and fix time by arrival. Follows these two in an `ORDER BY`. */
export const AS_THEY_CAME = 'received_at, precedence DESC';

/**
 * Groups rows into records of the same time, for a page of at most `limit` times.
 *
 * @param rows in order, at most {@link MAX_RECORDS} of one time, as many as {@link rowsFor} returns
 * @returns the groups of the page, and whether there are more
 */
export function momentsOf<Row>(
  rows: readonly Row[],
  limit: number,
  isSameTime: (a: Row, b: Row) => boolean,
): { moments: Row[][]; hasMore: boolean } {
  const moments: Row[][] = [];
  for (const row of rows) {
    const last = moments.at(-1);
    if (last?.[0] !== undefined && isSameTime(last[0], row)) last.push(row);
    else moments.push([row]);
  }
  const isCut = rows.length >= rowsFor(limit);
  // The last group may continue after the rows that were read.
  if (isCut) moments.pop();
  return { moments: moments.slice(0, limit), hasMore: isCut || moments.length > limit };
}

/** Number of rows to read for a page of `limit` times. */
export function rowsFor(limit: number): number {
  return limit + 1 + MAX_RECORDS;
}

/**
 * Merges all records of one vehicle and fix time, in order of arrival, into one position: the coordinates of the first
 * valid one, the alarms of all, and for everything else the last known value.
 */
export function mergedRecord<Record extends Position>(records: readonly Record[]): Record {
  const [first, ...others] = records;
  if (first === undefined) throw new RangeError('no records');
  if (others.length === 0) return first;
  const merged = { ...(records.find(({ valid }) => valid) ?? first) };
  const alarms = new Set<Alarm>();
  const attributes: globalThis.Record<string, AttributeValue> = {};
  for (const record of records) {
    merged.ignition = record.ignition ?? merged.ignition;
    merged.odometerM = record.odometerM ?? merged.odometerM;
    merged.supplyV = record.supplyV ?? merged.supplyV;
    merged.fuelL = record.fuelL ?? merged.fuelL;
    for (const alarm of record.alarms) alarms.add(alarm);
    Object.assign(attributes, record.attributes);
  }
  merged.alarms = [...alarms];
  merged.attributes = Object.keys(attributes).length === 0 ? null : attributes;
  return merged;
}
