import { type GeofenceId, isUuid, type VehicleId } from '@outrider/domain';
import { DEFAULT_LIMITS, type Engine, type QueryLimits } from './engines/engine.ts';
import { ARCHIVE_TABLES, type ArchiveTable } from './tables.ts';

/** The rows to be erased. */
export interface ErasureQuestion {
  /** Vehicles of which all positions and events are erased. */
  vehicleIds: readonly VehicleId[];
  /** Geofences whose events are erased, of any vehicle. */
  geofenceIds: readonly GeofenceId[];
}

/** Progress of an erasure. */
export interface ErasureProgress {
  /** Whether no row is left. */
  done: boolean;
  /** Number of positions and events left. */
  rows: number;
}

/** Longer time limit: events are not sorted by geofence, so all of them are read to find those of one. */
const LIMITS: QueryLimits = { ...DEFAULT_LIMITS, maxSeconds: 120 };

/**
 * Removes rows from the archive permanently: ClickHouse rewrites the parts that have them, in the background. A call
 * counts the rows left, starts their deletion unless that is under way, and returns. It is called again until none are
 * left. Only one mutation of a table runs at a time, for any number of vehicles, so that the archive is not rewritten
 * for each of them. The files of the old parts are removed within minutes.
 *
 * @throws {TypeError} when an id is not a UUID
 */
export async function erase(engine: Engine, { vehicleIds, geofenceIds }: ErasureQuestion): Promise<ErasureProgress> {
  const ofVehicles = condition('vehicle_id', vehicleIds);
  const atGeofences = condition('geofence_id', geofenceIds);
  const left: Left = {};
  for (const [table, conditions] of [
    ['positions', [ofVehicles]],
    ['events', [ofVehicles, atGeofences]],
    ['measured_trips', [ofVehicles]],
    ['late_days', [ofVehicles]],
  ] as const) {
    const where = conditions.filter((each) => each !== null).join(' OR ');
    if (where !== '') left[table] = await eraseWhere(engine, table, where);
  }
  return progressOf(left);
}

/** Rows left to erase, by table. */
type Left = Partial<Record<ArchiveTable, number>>;

function progressOf(left: Left): ErasureProgress {
  return {
    done: Object.values(left).every((rows) => rows === 0),
    rows: (left.positions ?? 0) + (left.events ?? 0),
  };
}

/** A vehicle's rows that are older than a time are to be erased. */
export interface HistoryCut {
  vehicleId: VehicleId;
  /** Unix milliseconds. */
  beforeMs: number;
}

/** Maximum number of cuts in one call, bounded by the length of a statement. */
export const MAX_CUTS = 5000;

/** Number of rows before the cuts. */
export interface HistoryRows {
  positions: number;
  events: number;
}

/**
 * Removes rows of vehicles before a time from the archive, as {@link erase} does. Positions count by their fix time,
 * refused ones by their time of receipt, and events by their begin. ClickHouse rewrites only the parts that have such
 * rows: with a retention in days the parts of the oldest months.
 *
 * @param cuts {@link MAX_CUTS} at most
 */
export async function eraseBefore(engine: Engine, cuts: readonly HistoryCut[]): Promise<ErasureProgress> {
  const left: Left = {};
  for (const table of ARCHIVE_TABLES) left[table] = await eraseWhere(engine, table, isBefore(table, cuts));
  return progressOf(left);
}

/** Number of rows that {@link eraseBefore} would remove. */
export async function countBefore(engine: Engine, cuts: readonly HistoryCut[]): Promise<HistoryRows> {
  return {
    positions: await countWhere(engine, 'positions', isBefore('positions', cuts)),
    events: await countWhere(engine, 'events', isBefore('events', cuts)),
  };
}

/** @returns the number of rows left */
async function eraseWhere(engine: Engine, table: ArchiveTable, where: string): Promise<number> {
  const left = await countWhere(engine, table, where);
  if (left > 0 && !(await isDeleting(engine, table)))
    await engine.execute(`ALTER TABLE ${table} DELETE WHERE ${where} SETTINGS mutations_sync = 0`);
  return left;
}

async function countWhere(engine: Engine, table: string, where: string): Promise<number> {
  const sql = `SELECT count() FROM ${table} WHERE ${where}`;
  const [row] = await engine.select({ sql, parameters: {}, limits: LIMITS, queue: 'report' });
  return Number(row?.[0]);
}

/** Phrased so that ClickHouse can skip data by the order of the tables and by the times of their parts. */
function isBefore(table: ArchiveTable, cuts: readonly HistoryCut[]): string {
  if (cuts.length > MAX_CUTS) throw new RangeError(`${cuts.length} cuts are more than ${MAX_CUTS}`);
  const byTime = Map.groupBy(cuts, ({ beforeMs }) => beforeMs);
  const conditions = [...byTime].map(([beforeMs, ofTime]) => {
    if (!Number.isSafeInteger(beforeMs)) throw new TypeError(`${beforeMs} is no time`);
    const at = `fromUnixTimestamp64Milli(${beforeMs}, 'UTC')`;
    const ids = ofTime.map(({ vehicleId }) => vehicleId);
    const isOld: Record<ArchiveTable, string> = {
      positions: `(rejection = '' AND fix_time < ${at} OR rejection != '' AND received_at < ${at})`,
      events: `began_at < ${at}`,
      measured_trips: `started_at < ${at}`,
      late_days: `day < ${Math.floor(beforeMs / 86_400_000)}`,
    };
    return `(${condition('vehicle_id', ids)} AND ${isOld[table]})`;
  });
  return conditions.length === 0 ? '0' : conditions.join(' OR ');
}

async function isDeleting(engine: Engine, table: string): Promise<boolean> {
  const [row] = await engine.select({
    sql: `SELECT count() FROM system.mutations
      WHERE database = currentDatabase() AND table = {table:String} AND is_done = 0 AND NOT is_killed
        AND position(command, 'DELETE') > 0`,
    parameters: { table },
  });
  return Number(row?.[0]) > 0;
}

/** The ids are in the text: a mutation is stored and run without the parameters of its statement. */
function condition(column: string, ids: readonly string[]): string | null {
  for (const id of ids) if (!isUuid(id)) throw new TypeError(`${JSON.stringify(id.slice(0, 100))} is no UUID`);
  return ids.length === 0 ? null : `${column} IN (${ids.map((id) => `'${id}'`).join(', ')})`;
}
