import type { Directory, Driver, DriverId, FleetEvent, User, VehicleId } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { rightToDriver } from '../rights.ts';

export interface DriveSources {
  directory: Pick<Directory, 'drivers' | 'driverAt'>;
  registry: Pick<Registry, 'driverAssignments'>;
}

/** A driver as shown to a caller. */
export interface NamedDriver {
  id: DriverId;
  name: string;
}

/** A moment at which the driver of a vehicle is looked up. */
export interface DrivenMoment {
  vehicleId: VehicleId;
  /** Unix milliseconds. */
  atMs: number;
  /** Driver code sent by the terminal; null: none. */
  code: string | null;
}

/** Moment that determines the driver of an event: its beginning, with the event's driver code. */
export function momentOf({ vehicleId, startedAtMs, driverCode }: FleetEvent): DrivenMoment {
  return { vehicleId, atMs: startedAtMs, code: driverCode ?? null };
}

/**
 * Driver at each moment: the one assigned by hand, else the holder of the code that the terminal sent; null if unknown.
 * Does not check whether a caller may see the driver.
 */
export async function whoDrove(
  { directory, registry }: DriveSources,
  moments: readonly DrivenMoment[],
): Promise<(Driver | null)[]> {
  if (directory.drivers.size === 0 || moments.length === 0) return moments.map(() => null);
  const times = moments.map(({ atMs }) => atMs);
  const assignments = Map.groupBy(
    await registry.driverAssignments.list({
      vehicleIds: [...new Set(moments.map(({ vehicleId }) => vehicleId))],
      fromMs: times.reduce((a, b) => Math.min(a, b)),
      toMs: times.reduce((a, b) => Math.max(a, b)) + 1,
    }),
    ({ vehicleId }) => vehicleId,
  );
  return moments.map(
    ({ vehicleId, ...moment }) => directory.driverAt(vehicleId, moment, assignments.get(vehicleId) ?? []) ?? null,
  );
}

/**
 * Driver at each moment: the one assigned by hand, else the holder of the code that the terminal sent. Null if the
 * driver is unknown, or the caller may not see them.
 */
export async function driversAt(
  caller: User,
  sources: DriveSources,
  moments: readonly DrivenMoment[],
): Promise<(NamedDriver | null)[]> {
  return (await whoDrove(sources, moments)).map((driver) =>
    driver !== null && rightToDriver(caller, driver) !== 'none' ? { id: driver.id, name: driver.name } : null,
  );
}
