import type { VehicleId } from '@outrider/domain';
import type { QueryLimits } from '../engines/engine.ts';

/** Maximum number of vehicles in one query: a larger query would exceed what a server accepts. */
export const MAX_FLEET = 1000;

/**
 * Number of vehicles queried at a time for a list. A page reads all rows of its vehicles from the end of the previous
 * page on, so with few vehicles per query many pages stay cheap.
 */
export const LIST_FLEET = 50;

/** Limits of a page of a report. */
export const PAGE_LIMITS: QueryLimits = {
  maxSeconds: 20,
  maxMemoryBytes: 512 * 1024 * 1024,
  maxRowsRead: 500_000_000,
};

/** Condition to be used with {@link fleetParameters}. */
export const fleetCondition = 'vehicle_id IN {vehicleIds:Array(UUID)}';

/** @throws {RangeError} when there are too many */
export function fleetParameters(vehicleIds: readonly VehicleId[], most = MAX_FLEET): { vehicleIds: readonly string[] } {
  if (vehicleIds.length > most) throw new RangeError(`A question may name ${most} vehicles, not ${vehicleIds.length}`);
  return { vehicleIds };
}
