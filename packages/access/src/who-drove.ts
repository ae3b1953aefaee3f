import type { Directory, Driver, FleetEvent, VehicleId } from '@outrider/domain';
import type { Registry } from '@outrider/registry';

export interface DriveSources {
  directory: Pick<Directory, 'drivers' | 'driverAt'>;
  registry: Pick<Registry, 'driverAssignments'>;
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
