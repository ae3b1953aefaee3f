import type { Alarm, AttributeValue, Position } from '@outrider/domain';

/**
 * Why a position is not good, as it is now: empty where it is. A fix that was ahead of its reception is archived as
 * being in the future, but whether it is depends on the clock that it is read by: the one that it was received by may
 * have been slow.
 */
export const REJECTION = "if(rejection = 'time-in-future' AND fix_time <= now64(3), '', rejection)";

/** The condition for good positions, see {@link REJECTION}. */
export const IS_GOOD = "(rejection = '' OR (rejection = 'time-in-future' AND fix_time <= now64(3)))";

/**
 * Records of one vehicle and fix time that are read; the archive has more of them only where a terminal is out of
 * order.
 */
export const MAX_RECORDS = 32;

/** Orders records of one vehicle and fix time as they came. Behind these two in an `ORDER BY`. */
export const AS_THEY_CAME = 'received_at, precedence DESC';

/**
 * Cuts rows into records of the same time, for a page of at most `limit` of those.
 *
 * @param rows in order, at most {@link MAX_RECORDS} of one time, as many as {@link rowsFor} asks for
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
  // The last may go on behind what was read.
  if (isCut) moments.pop();
  return { moments: moments.slice(0, limit), hasMore: isCut || moments.length > limit };
}

/** How many rows are to be read for a page of so many times. */
export function rowsFor(limit: number): number {
  return limit + 1 + MAX_RECORDS;
}

/**
 * One position of all records of one vehicle and fix time, in the order in which they came: the place of the first that
 * is valid, the alarms of all, and of everything else what was said last.
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
