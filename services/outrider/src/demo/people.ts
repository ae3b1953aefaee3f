import { type GroupId, SYSTEM_CLOCK, type UserId, type VehicleId } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { DEMO_PEOPLE } from '@outrider/simulator';

const DAY_MS = 86_400_000;

/** Creates the drivers of the demo with their keys and licences. Only once, because a user may have deleted some. */
export async function ensurePeople(
  registry: Registry,
  dealerId: UserId,
  groupIds: readonly GroupId[],
  vehicleIdOf: (name: string) => VehicleId | undefined,
): Promise<void> {
  if ((await registry.drivers.list({ dealerId }, { limit: 1, after: null })).items.length > 0) return;
  const nowMs = SYSTEM_CLOCK.now();
  for (const { name, code, phone, licenceNumber, licenceDays, assignedTo } of DEMO_PEOPLE) {
    const { id: driverId } = await registry.drivers.create({
      ...{ name, phone, licenceNumber, dealerId, groupIds },
      codes: code === null ? [] : [code],
      licenceExpiresOn: new Date(nowMs + licenceDays * DAY_MS).toISOString().slice(0, 10),
    });
    const vehicleId = assignedTo === null ? undefined : vehicleIdOf(assignedTo);
    if (vehicleId !== undefined)
      await registry.driverAssignments.create({ vehicleId, driverId, fromMs: nowMs - DAY_MS, toMs: null });
  }
}
