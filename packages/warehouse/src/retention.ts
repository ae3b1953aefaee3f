import type { Engine } from './engines/engine.ts';
import { daysKept } from './inventory/parts.ts';
import type { ArchiveTable } from './tables.ts';

/**
 * The time that a row's age is counted from: that of the fix, but where the fix was refused, whose time may be any,
 * that at which it came.
 */
const TABLES: Readonly<Record<ArchiveTable, string>> = {
  positions: "toDateTime(if(rejection = '', fix_time, received_at))",
  events: 'toDateTime(began_at)',
  measured_trips: 'toDateTime(started_at)',
  late_days: 'toDateTime(day * 86400)',
};

/**
 * Has rows go when they are so many days old: ClickHouse drops them while it merges, not to the hour. Whatever was kept
 * for another time before is kept for this one from now on. Nothing is done where it is as it should be.
 *
 * @param days 0: for ever
 * @throws {RangeError} when it is no whole number of days
 */
export async function keepFor(engine: Engine, days: number): Promise<void> {
  if (!(Number.isInteger(days) && days >= 0)) throw new RangeError(`${days} is no number of days`);
  const kept = await daysKept(engine);
  for (const [table, time] of Object.entries(TABLES)) {
    if (kept.get(table as ArchiveTable) === days) continue;
    // Only what is known of the age of parts is worked out anew: their rows need not be written again for that.
    await engine.execute(`ALTER TABLE ${table} MODIFY SETTING materialize_ttl_recalculate_only = 1`);
    await engine.execute(
      days === 0
        ? `ALTER TABLE ${table} REMOVE TTL`
        : `ALTER TABLE ${table} MODIFY TTL ${time} + toIntervalDay(${days})`,
    );
  }
}
