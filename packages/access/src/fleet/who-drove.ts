import type { Directory, Driver, DriverId, FleetEvent, User, VehicleId } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { rightToDriver } from '../rights.ts';

export interface DriveSources {
  directory: Pick<Directory, 'drivers' | 'driverAt'>;
  registry: Pick<Registry, 'driverAssignments'>;
}

/** Somebody who drove, as a caller may know it. */
export interface NamedDriver {
  id: DriverId;
  name: string;
}

/** When somebody drove a vehicle. */
export interface DrivenMoment {
  vehicleId: VehicleId;
  /** Unix milliseconds. */
  atMs: number;
  /** As the terminal sent it; null: it sent none. */
  code: string | null;
}

/** By what it is known who drove during an event: who was assigned when it began, else the code that it has. */
export function momentOf({ vehicleId, startedAtMs, driverCode }: FleetEvent): DrivenMoment {
  return { vehicleId, atMs: startedAtMs, code: driverCode ?? null };
}

/**
 * Who drove at each moment: who was assigned by hand then, else who had the code that the terminal sent; null where
 * nobody is known. Whether a caller may know that is not looked at.
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
 * Who drove at each moment: who was assigned by hand then, else who had the code that the terminal sent. Null where
 * nobody is known, or nobody that the caller may see.
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
