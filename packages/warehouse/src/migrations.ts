import { SYSTEM_CLOCK } from '@outrider/domain';
import { ANALYST_VIEWS } from './analysts.ts';
import type { Engine } from './engines/engine.ts';
import { columnSteps, OWN_COLUMNS } from './events/own-columns.ts';
import { CREATE_LEDGER } from './inventory/ledger.ts';

/** A step of the schema. Applied steps are never edited: a change is a new step. */
interface Migration {
  version: number;
  name: string;
  /** Each must be repeatable: a crash between a statement and the record of the step repeats the step. */
  statements: readonly string[];
}

/**
 * An insert is confirmed only when it is on the disk, because the archiver then advances its offset in the log. A
 * merged part replaces synced parts, so it is synced too.
 */
const DURABLE = 'fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1';

/**
 * The order of the key makes a vehicle's track one interval of the table. `rejection` is part of the key, so that a
 * flagged position never replaces a good one with the same time.
 *
 * A month is a partition. Rejected positions go to partition 0, because they may have any time (a wrong clock, a fix at
 * 0/0 before the first satellite), and each month would be a partition of its own.
 *
 * The codecs are the smallest of those measured (none, Delta, DoubleDelta, T64 and both, each with ZSTD) on a recorded
 * drive and on a generated fleet; ZSTD(3) gained a hundredth over ZSTD(1).
 *
 * Attributes are JSON text, not a Map: with the dozen that a terminal sends it took 5.0 bytes against 6.6 to 9.1, and a
 * third of the time to insert; a Map is smaller (1.2 against 2.3) only with two attributes.
 *
 * The index has a mark for each 1,024 rows, not 8,192: a report over a fleet reads single drives of some hundred rows
 * each, plus at most a mark before and after. It takes 0.05 bytes a position more. A table that was created with more
 * rows per mark keeps them.
 *
 * The version makes the first of several different positions of one vehicle and time win: the one with the lowest
 * offset, and within a packet the first. The rules engine used the same one. Offsets repeat in a replay, so replays in
 * any batches end with the same rows.
 */
const CREATE_POSITIONS = `
CREATE TABLE IF NOT EXISTS positions (
  vehicle_id UUID CODEC(ZSTD(1)),
  fix_time DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  rejection LowCardinality(String) CODEC(ZSTD(1)),
  latitude_e7 Int32 CODEC(DoubleDelta, ZSTD(1)),
  longitude_e7 Int32 CODEC(DoubleDelta, ZSTD(1)),
  valid Bool CODEC(ZSTD(1)),
  speed_kmh_x10 Nullable(UInt16) CODEC(Delta, ZSTD(1)),
  course_deg Nullable(UInt16) CODEC(Delta, ZSTD(1)),
  altitude_m Nullable(Int16) CODEC(Delta, ZSTD(1)),
  satellites Nullable(UInt8) CODEC(ZSTD(1)),
  ignition Nullable(Bool) CODEC(ZSTD(1)),
  odometer_m Nullable(UInt32) CODEC(DoubleDelta, ZSTD(1)),
  supply_v_x1000 Nullable(UInt32) CODEC(T64, ZSTD(1)),
  fuel_l_x10 Nullable(UInt32) CODEC(Delta, ZSTD(1)),
  alarms Array(LowCardinality(String)) CODEC(ZSTD(1)),
  attributes String CODEC(ZSTD(1)),
  terminal_id LowCardinality(String) CODEC(ZSTD(1)),
  protocol LowCardinality(String) CODEC(ZSTD(1)),
  received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  precedence UInt64 CODEC(Delta, ZSTD(1)),
  latitude Float64 ALIAS latitude_e7 / 1e7,
  longitude Float64 ALIAS longitude_e7 / 1e7,
  speed_kmh Nullable(Float64) ALIAS speed_kmh_x10 / 10,
  supply_v Nullable(Float64) ALIAS supply_v_x1000 / 1000,
  fuel_l Nullable(Float64) ALIAS fuel_l_x10 / 10
)
ENGINE = ReplacingMergeTree(precedence)
PARTITION BY if(rejection = '', toYYYYMM(fix_time), 0)
ORDER BY (vehicle_id, fix_time, rejection)
SETTINGS ${DURABLE}, index_granularity = 1024`;

/**
 * `began_at` is the time in the event's id. Unlike any other field it is the same in both phases of an event, even
 * after corrections, so both have the same key and partition.
 */
const CREATE_EVENTS = `
CREATE TABLE IF NOT EXISTS events (
  vehicle_id UUID CODEC(ZSTD(1)),
  began_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  id UUID CODEC(ZSTD(1)),
  kind LowCardinality(String) CODEC(ZSTD(1)),
  phase LowCardinality(String) CODEC(ZSTD(1)),
  started_at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  ended_at Nullable(DateTime64(3, 'UTC')) CODEC(DoubleDelta, ZSTD(1)),
  latitude_e7 Int32 CODEC(Delta, ZSTD(1)),
  longitude_e7 Int32 CODEC(Delta, ZSTD(1)),
  speed_kmh_x10 Nullable(UInt16) CODEC(ZSTD(1)),
  fix_time DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
  geofence_id Nullable(UUID) CODEC(ZSTD(1)),
  definition_version UInt32 CODEC(ZSTD(1)),
  end_reason LowCardinality(String) CODEC(ZSTD(1)),
  limit_source LowCardinality(String) CODEC(ZSTD(1)),
  limit_kmh Nullable(Float64) CODEC(ZSTD(1)),
  peak_kmh Nullable(Float64) CODEC(ZSTD(1)),
  mean_kmh Nullable(Float64) CODEC(ZSTD(1)),
  distance_m Nullable(Float64) CODEC(ZSTD(1)),
  precedence UInt64 CODEC(ZSTD(1)),
  latitude Float64 ALIAS latitude_e7 / 1e7,
  longitude Float64 ALIAS longitude_e7 / 1e7,
  speed_kmh Nullable(Float64) ALIAS speed_kmh_x10 / 10
)
ENGINE = ReplacingMergeTree(precedence)
PARTITION BY toYYYYMM(began_at)
ORDER BY (vehicle_id, began_at, id)
SETTINGS ${DURABLE}`;

/** A trip's highest speed is in `peak_kmh`. */
const ADD_EVENT_COLUMNS = `
ALTER TABLE events
  ADD COLUMN IF NOT EXISTS from_fix_time DateTime64(3, 'UTC') DEFAULT fix_time CODEC(DoubleDelta, ZSTD(1)) AFTER fix_time,
  ADD COLUMN IF NOT EXISTS origin LowCardinality(String) DEFAULT 'live' CODEC(ZSTD(1)) AFTER definition_version,
  ADD COLUMN IF NOT EXISTS inferred Bool CODEC(ZSTD(1)) AFTER origin,
  ADD COLUMN IF NOT EXISTS alarm LowCardinality(String) CODEC(ZSTD(1)) AFTER end_reason,
  ADD COLUMN IF NOT EXISTS start_latitude_e7 Nullable(Int32) CODEC(ZSTD(1)) AFTER distance_m,
  ADD COLUMN IF NOT EXISTS start_longitude_e7 Nullable(Int32) CODEC(ZSTD(1)) AFTER start_latitude_e7,
  ADD COLUMN IF NOT EXISTS moving_ms Nullable(Float64) CODEC(ZSTD(1)) AFTER start_longitude_e7,
  ADD COLUMN IF NOT EXISTS idling_ms Nullable(Float64) CODEC(ZSTD(1)) AFTER moving_ms`;

/**
 * Index of the granules with events that had not ended by a time. A report looks for events that lasted into its time
 * range however long ago they began, and need not read a year for that. Existing rows are indexed in the background.
 */
const INDEX_ENDS = [
  'ALTER TABLE events ADD INDEX IF NOT EXISTS ends ended_at TYPE minmax GRANULARITY 1',
  'ALTER TABLE events MATERIALIZE INDEX ends',
];

/**
 * Two different records of one fix time are two rows, such as an SOS beside a periodic record. `record` distinguishes
 * the second (see `recordMark`); it is 0 in older rows. A terminal that repeats an archived record then makes a second
 * row, which readers merge.
 */
const WIDEN_POSITIONS = `
ALTER TABLE positions
  ADD COLUMN IF NOT EXISTS record UInt32 CODEC(ZSTD(1)),
  MODIFY ORDER BY (vehicle_id, fix_time, rejection, record)`;

const ADD_MAINTENANCE = `
ALTER TABLE events
  ADD COLUMN IF NOT EXISTS plan_id Nullable(UUID) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS plan_name String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS stage LowCardinality(String) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS cause LowCardinality(String) CODEC(ZSTD(1))`;
/** Events have only the driver's code; drivers are in the registry. */
const ADD_DRIVER_CODE = `
ALTER TABLE events
  ADD COLUMN IF NOT EXISTS driver_code LowCardinality(String) CODEC(ZSTD(1)) AFTER alarm`;

const ADD_FUEL = `
ALTER TABLE events
  ADD COLUMN IF NOT EXISTS volume_l Nullable(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS level_before_l Nullable(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS level_after_l Nullable(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS fuel_used_l Nullable(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS while_moving Bool CODEC(ZSTD(1))`;
const ADD_SENSORS = `
ALTER TABLE events
  ADD COLUMN IF NOT EXISTS sensor_id Nullable(UUID) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS sensor_name String CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS sensor_kind LowCardinality(String) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS unit LowCardinality(String) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS threshold_id Nullable(UUID) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS condition LowCardinality(String) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS threshold_min Nullable(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS threshold_max Nullable(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS sensor_value Nullable(Float64) CODEC(ZSTD(1)),
  ADD COLUMN IF NOT EXISTS sensor_peak Nullable(Float64) CODEC(ZSTD(1))`;

/**
 * Positions older than this are late, whenever their vehicle sent them: cached measures of their days are no longer
 * valid. Less than the age at which measures of trips are cached (`kept-measures.ts`).
 */
const LATE_AFTER_HOURS = 12;

/**
 * Measures of trips from their positions, by quarters of an hour (`kept-measures.ts`), and the days of a vehicle with
 * late positions. Every insert marks its days, not only those of the archiver. A day is its number since 1970 (UTC).
 */
const KEEP_MEASURES = [
  `CREATE TABLE IF NOT EXISTS measured_trips (
  vehicle_id UUID CODEC(ZSTD(1)),
  started_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  ended_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  measured_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  quarters Array(UInt32) CODEC(Delta, ZSTD(1)),
  metres Array(Float64) CODEC(ZSTD(1)),
  moving_ms Array(Float64) CODEC(ZSTD(1)),
  stationary_ms Array(Float64) CODEC(ZSTD(1)),
  peaks_kmh Array(Float64) CODEC(ZSTD(1))
)
ENGINE = ReplacingMergeTree(measured_at)
ORDER BY (vehicle_id, started_at, ended_at)
SETTINGS ${DURABLE}`,
  `CREATE TABLE IF NOT EXISTS late_days (
  vehicle_id UUID CODEC(ZSTD(1)),
  day Int32 CODEC(Delta, ZSTD(1)),
  marked_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = ReplacingMergeTree(marked_at)
ORDER BY (vehicle_id, day)
SETTINGS ${DURABLE}`,
  `CREATE MATERIALIZED VIEW IF NOT EXISTS late_days_of_positions TO late_days AS
SELECT DISTINCT vehicle_id, toInt32(intDiv(toUnixTimestamp64Milli(fix_time), 86400000)) AS day, now64(3, 'UTC') AS marked_at
FROM positions
WHERE fix_time < now64(3) - toIntervalHour(${LATE_AFTER_HOURS}) AND rejection IN ('', 'time-in-future')`,
];

/** Base number of the steps whose columns are derived from the descriptions of events. */
const COLUMNS_OF_EVENTS = 1000;

const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'positions and events', statements: [CREATE_POSITIONS, CREATE_EVENTS] },
  { version: 2, name: 'trips, stops, alarms; why an event was told', statements: [ADD_EVENT_COLUMNS] },
  { version: 3, name: 'ends of events', statements: INDEX_ENDS },
  // Step 4 originally created the views of its time. Views can be recreated, so each step that changes them creates
  // all.
  { version: 4, name: 'views for analysts', statements: ANALYST_VIEWS },
  { version: 5, name: 'views for analysts: where events began', statements: ANALYST_VIEWS },
  { version: 6, name: 'records of one fix time side by side', statements: [WIDEN_POSITIONS, ...ANALYST_VIEWS] },
  { version: 35, name: 'codes of drivers', statements: [ADD_DRIVER_CODE] },
  { version: 34, name: 'thresholds of sensors', statements: [ADD_SENSORS] },
  { version: 36, name: 'maintenance that is due', statements: [ADD_MAINTENANCE] },
  { version: 40, name: 'refuellings and fuel drains', statements: [ADD_FUEL] },
  { version: 41, name: 'what was measured of trips', statements: KEEP_MEASURES },
  { version: 42, name: 'what the archive has', statements: [CREATE_LEDGER] },
  ...columnSteps(OWN_COLUMNS).map(({ since, statement }) => ({
    version: COLUMNS_OF_EVENTS + since,
    name: `events, version ${since}`,
    statements: [statement],
  })),
];

/** Numbers of all steps that this release knows. */
export const SCHEMA_VERSIONS: readonly number[] = MIGRATIONS.map(({ version }) => version);

const CREATE_MIGRATIONS = `
CREATE TABLE IF NOT EXISTS schema_migrations (version UInt32, name String, applied_at DateTime64(3, 'UTC'))
ENGINE = ReplacingMergeTree ORDER BY version SETTINGS ${DURABLE}`;

/**
 * Name of the table used as a lock: creating it succeeds only once. ClickHouse has no other lock that clients of a
 * server could share.
 */
const LOCK = 'schema_migrations_lock';
const RETRY_MS = 200;
/** Far longer than all migrations take. An older lock belongs to a process that died. */
const LOCK_EXPIRES_S = 600;

/**
 * Migrates the schema to the version of this release. If several instances start at once, one migrates and the others
 * wait for it.
 *
 * @param isAlone no other process has the archive: an existing lock is a leftover of a killed process
 * @returns the versions that were applied now
 * @throws {Error} when the schema is newer than this release knows
 */
export async function migrate(engine: Engine, isAlone = false): Promise<number[]> {
  await engine.execute(CREATE_MIGRATIONS);
  if ((await pending(engine)).length === 0) return [];
  if (isAlone) await engine.execute(`DROP TABLE IF EXISTS ${LOCK}`);
  await lock(engine);
  try {
    return await migrateLocked(engine);
  } finally {
    await engine.execute(`DROP TABLE IF EXISTS ${LOCK}`);
  }
}

async function lock(engine: Engine): Promise<void> {
  for (;;) {
    try {
      await engine.execute(`CREATE TABLE ${LOCK} (held UInt8) ENGINE = TinyLog`);
      return;
    } catch (error) {
      const [held] = await engine.select({
        sql: `SELECT dateDiff('second', metadata_modification_time, now()) FROM system.tables
              WHERE database = currentDatabase() AND name = '${LOCK}'`,
        parameters: {},
      });
      if (held === undefined && !/already exists/i.test((error as Error).message)) throw error;
      if (Number(held?.[0] ?? 0) > LOCK_EXPIRES_S) await engine.execute(`DROP TABLE IF EXISTS ${LOCK}`);
      else await SYSTEM_CLOCK.sleep(RETRY_MS);
    }
  }
}

/** @throws {Error} when the schema is newer than this release knows */
async function pending(engine: Engine): Promise<Migration[]> {
  const rows = await engine.select({ sql: 'SELECT version FROM schema_migrations FINAL', parameters: {} });
  const known = new Set(MIGRATIONS.map(({ version }) => version));
  const applied = new Set(rows.map(([version]) => Number(version)));
  for (const version of applied)
    if (!known.has(version))
      throw new Error(`The warehouse has schema version ${version}, which this release does not know`);

  return MIGRATIONS.filter(({ version }) => !applied.has(version));
}

async function migrateLocked(engine: Engine): Promise<number[]> {
  const now: number[] = [];
  for (const { version, name, statements } of await pending(engine)) {
    for (const statement of statements) await engine.execute(statement);
    await engine.execute(`INSERT INTO schema_migrations SELECT ${version}, '${name}', now64(3)`);
    now.push(version);
  }
  return now;
}
