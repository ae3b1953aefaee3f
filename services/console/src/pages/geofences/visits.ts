import type { ShapeVisitsRow } from '@outrider/client';

export interface VehicleVisits {
  vehicleId: string;
  vehicleName: string;
  seconds: number;
  visits: { fromMs: number; toMs: number | null; seconds: number }[];
}

/** Visits by vehicle, longest total stay first. */
export function byVehicle(rows: readonly ShapeVisitsRow[]): VehicleVisits[] {
  const found = new Map<string, VehicleVisits>();
  for (const { vehicleId, vehicleName, part, startedAt, endedAt, durationSeconds } of rows) {
    if (part !== 'inside') continue;
    const vehicle = found.get(vehicleId) ?? { vehicleId, vehicleName, seconds: 0, visits: [] };
    found.set(vehicleId, vehicle);
    vehicle.seconds += durationSeconds;
    const toMs = endedAt === null ? null : Date.parse(endedAt);
    vehicle.visits.push({ fromMs: Date.parse(startedAt), toMs, seconds: durationSeconds });
  }
  return [...found.values()].sort((a, b) => b.seconds - a.seconds);
}
