import { type GeofenceId, isUuid, type VehicleId } from '@outrider/domain';
import { DEFAULT_LIMITS, type Engine, type QueryLimits } from './engines/engine.ts';
import { ARCHIVE_TABLES, type ArchiveTable } from './tables.ts';

/** Whose rows are to go. */
export interface ErasureQuestion {
  /** All of these vehicles: positions and events. */
  vehicleIds: readonly VehicleId[];
  /** Events at these geofences, of whichever vehicle. */
  geofenceIds: readonly GeofenceId[];
}

/** How far an erasure is. */
export interface ErasureProgress {
  /** No row is left. */
  done: boolean;
  /** Positions and events that are still there. */
  rows: number;
}

/** Events are not in the order of geofences: all of them are read for those of one. */
const LIMITS: QueryLimits = { ...DEFAULT_LIMITS, maxSeconds: 120 };

/**
 * Takes rows out of the archive, for good: ClickHouse writes the parts that have them anew, in the background. A call
 * looks how many are left, has them deleted unless that is under way already, and returns; it is called again until
 * none are left. One mutation of a table at a time, for any number of vehicles, so that the archive is not written anew
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

/** Rows that an erasure still found, by table. */
type Left = Partial<Record<ArchiveTable, number>>;

function progressOf(left: Left): ErasureProgress {
  return {
    done: Object.values(left).every((rows) => rows === 0),
    rows: (left.positions ?? 0) + (left.events ?? 0),
  };
}

/** Rows of a vehicle that are older than a time are to go. */
export interface HistoryCut {
  vehicleId: VehicleId;
  /** Unix milliseconds. */
  beforeMs: number;
}

/** Cuts of one call, at most: what a statement may be long bounds them. */
export const MAX_CUTS = 5000;

/** Rows before the cuts. */
export interface HistoryRows {
  positions: number;
  events: number;
}

/**
 * Takes what vehicles did before a time out of the archive, as {@link erase} does. Positions count by their fix, where
 * it was refused by when they came; events by when they began. ClickHouse writes only those parts anew that have such
 * rows: of a retention in days the parts of the oldest months.
 *
 * @param cuts {@link MAX_CUTS} at most
 */
export async function eraseBefore(engine: Engine, cuts: readonly HistoryCut[]): Promise<ErasureProgress> {
  const left: Left = {};
  for (const table of ARCHIVE_TABLES) left[table] = await eraseWhere(engine, table, isBefore(table, cuts));
  return progressOf(left);
}

/** How many rows {@link eraseBefore} would take out. */
export async function countBefore(engine: Engine, cuts: readonly HistoryCut[]): Promise<HistoryRows> {
  return {
    positions: await countWhere(engine, 'positions', isBefore('positions', cuts)),
    events: await countWhere(engine, 'events', isBefore('events', cuts)),
  };
}

/** @returns how many rows are left */
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

/** Written so that the order of the tables, and the times that their parts hold, leave out what is not read. */
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

/** The ids are in the text: a mutation is kept, and run, without the parameters of its statement. */
function condition(column: string, ids: readonly string[]): string | null {
  for (const id of ids) if (!isUuid(id)) throw new TypeError(`${JSON.stringify(id.slice(0, 100))} is no UUID`);
  return ids.length === 0 ? null : `${column} IN (${ids.map((id) => `'${id}'`).join(', ')})`;
}
