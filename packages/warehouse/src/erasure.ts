import { type GeofenceId, isUuid, type VehicleId } from '@outrider/domain';
import { DEFAULT_LIMITS, type Engine, type QueryLimits } from './engines/engine.ts';

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
  /** Rows that are still there, of both tables. */
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
  let rows = 0;
  for (const [table, conditions] of [
    ['positions', [ofVehicles]],
    ['events', [ofVehicles, atGeofences]],
  ] as const) {
    const where = conditions.filter((each) => each !== null).join(' OR ');
    if (where === '') continue;
    const [row] = await engine.select({
      sql: `SELECT count() FROM ${table} WHERE ${where}`,
      parameters: {},
      limits: LIMITS,
      queue: 'report',
    });
    const left = Number(row?.[0]);
    rows += left;
    if (left > 0 && !(await isDeleting(engine, table)))
      await engine.execute(`ALTER TABLE ${table} DELETE WHERE ${where} SETTINGS mutations_sync = 0`);
  }
  return { done: rows === 0, rows };
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
