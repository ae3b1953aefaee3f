import type { Engine } from './engines/engine.ts';
import { daysKept } from './inventory/parts.ts';
import type { ArchiveTable } from './tables.ts';

/**
 * The time that a row's age is counted from: the fix time, or the time of receipt if the fix was refused, because its
 * time may be anything.
 */
const TABLES: Readonly<Record<ArchiveTable, string>> = {
  positions: "toDateTime(if(rejection = '', fix_time, received_at))",
  events: 'toDateTime(began_at)',
  measured_trips: 'toDateTime(started_at)',
  late_days: 'toDateTime(day * 86400)',
};

/**
 * Sets the retention of rows in days: ClickHouse drops older rows during merges, not to the hour. The retention applies
 * to existing rows, too. Does nothing if it is set already.
 *
 * @param days 0: for ever
 * @throws {RangeError} when it is not a whole number of days
 */
export async function keepFor(engine: Engine, days: number): Promise<void> {
  if (!(Number.isInteger(days) && days >= 0)) throw new RangeError(`${days} is no number of days`);
  const kept = await daysKept(engine);
  for (const [table, time] of Object.entries(TABLES)) {
    if (kept.get(table as ArchiveTable) === days) continue;
    // Only the metadata of the parts' age is recalculated: their rows need not be rewritten for that.
    await engine.execute(`ALTER TABLE ${table} MODIFY SETTING materialize_ttl_recalculate_only = 1`);
    await engine.execute(
      days === 0
        ? `ALTER TABLE ${table} REMOVE TTL`
        : `ALTER TABLE ${table} MODIFY TTL ${time} + toIntervalDay(${days})`,
    );
  }
}
