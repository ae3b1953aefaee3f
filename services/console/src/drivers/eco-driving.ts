import type { EcoDrivingRow } from '@outrider/client';
import { allPages } from '../parts/lists/pages.ts';
import { api } from '../session.ts';

const PAGE = 1000;

/** Kinds of penalty points, in display order. */
export const ECO_POINTS = [
  'speedingPoints',
  'accelerationPoints',
  'brakingPoints',
  'corneringPoints',
  'idlingPoints',
  'overRevvingPoints',
] as const;
export type EcoPoints = Readonly<Record<(typeof ECO_POINTS)[number], number>>;

/** One trip with its score and its points; null where it is not known. */
export async function readTripScore(
  vehicleId: string,
  startedAtMs: number,
  signal: AbortSignal,
): Promise<EcoDrivingRow | null> {
  const query = {
    vehicleId: [vehicleId],
    from: new Date(startedAtMs).toISOString(),
    to: new Date(startedAtMs + 1).toISOString(),
    limit: 1,
  };
  return (await api.get('/api/v1/reports/eco-driving', { query, signal })).items[0] ?? null;
}

/** Totals of the trips of a driver or a vehicle in a time range. */
export interface TripsScore {
  trips: number;
  distanceM: number;
  /** Null if no distance was driven. */
  score: number | null;
  points: EcoPoints;
}

/** Maximum number of vehicles in one query. */
const MOST_VEHICLES = 100;

/** The score of a driver in a time range; trips of vehicles that the caller may not see are left out. */
export async function readDriverScore(
  driverId: string,
  { from, to }: { from: string; to: string },
  signal: AbortSignal,
): Promise<TripsScore> {
  const driver = { driverId: [driverId], from, to };
  const assigned = await api.get('/api/v1/driver-assignments', { query: { driverId, from, to }, signal });
  // Shifts are few, and show which vehicles to query.
  const shifts = await allPages((cursor) =>
    api.get('/api/v1/reports/events', {
      query: { ...driver, kind: ['driver-shift' as const], limit: PAGE, ...cursor },
      signal,
    }),
  );
  const vehicles = new Set([...assigned.items, ...shifts].map(({ vehicleId }) => vehicleId));
  if (vehicles.size === 0) return scoreOf(undefined);
  const named = vehicles.size > MOST_VEHICLES ? {} : { vehicleId: [...vehicles] };
  const query = { ...driver, ...named, groupBy: 'driver' as const, limit: 1 };
  return scoreOf((await api.get('/api/v1/reports/eco-driving', { query, signal })).totals);
}

/** The score of a vehicle in a time range, by all who drove it. */
export async function readVehicleScore(
  vehicleId: string,
  { from, to }: { from: string; to: string },
  signal: AbortSignal,
): Promise<TripsScore> {
  const query = { vehicleId: [vehicleId], from, to, groupBy: 'vehicle' as const, limit: 1 };
  return scoreOf((await api.get('/api/v1/reports/eco-driving', { query, signal })).totals);
}

/** @param totals totals of report `eco-driving`; undefined: no trips */
export function scoreOf(totals: { rows: number; values: Readonly<Record<string, number | null>> } | undefined) {
  const value = (name: string) => totals?.values[name] ?? 0;
  return {
    trips: totals?.rows ?? 0,
    distanceM: value('distanceM'),
    score: totals?.values.ecoScore ?? null,
    points: Object.fromEntries(ECO_POINTS.map((name) => [name, value(name)])) as EcoPoints,
  };
}
