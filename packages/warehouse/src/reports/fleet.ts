import type { VehicleId } from '@outrider/domain';
import type { QueryLimits } from '../engines/engine.ts';

/** Vehicles that one question may name: more would be a query that no server reads at once. */
export const MAX_FLEET = 1000;

/**
 * Vehicles that a list is asked of at a time: a page reads all that its vehicles have from where the page before ended,
 * so few of them in one question make many pages cheap.
 */
export const LIST_FLEET = 50;

/** What a page of a report may take before it is broken off. */
export const PAGE_LIMITS: QueryLimits = {
  maxSeconds: 20,
  maxMemoryBytes: 512 * 1024 * 1024,
  maxRowsRead: 500_000_000,
};

/** To be used with {@link fleetParameters}. */
export const fleetCondition = 'vehicle_id IN {vehicleIds:Array(UUID)}';

/** @throws {RangeError} when there are too many */
export function fleetParameters(vehicleIds: readonly VehicleId[], most = MAX_FLEET): { vehicleIds: readonly string[] } {
  if (vehicleIds.length > most) throw new RangeError(`A question may name ${most} vehicles, not ${vehicleIds.length}`);
  return { vehicleIds };
}
