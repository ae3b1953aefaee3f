import type { EventsRow, TripsRow } from '@outrider/client';
import { readScores } from '../../drivers/scores.ts';
import { fleet } from '../../fleet/store.ts';
import { allPages } from '../../parts/lists/pages.ts';
import { api } from '../../session.ts';
import type { DayData } from './day.ts';

const PAGE = 1000;
/** Maximum number of vehicles in one query. */
const VEHICLES_AT_ONCE = 50;
type EventKind = 'driver-shift' | 'speeding' | 'harsh-driving' | 'alarm';
const VIOLATIONS: readonly EventKind[] = ['speeding', 'harsh-driving', 'alarm'];

/** Loads everything that a driver did in a day, limited to vehicles that the caller may see. */
export async function loadDay(
  driverId: string,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  signal: AbortSignal,
): Promise<DayData> {
  const range = { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
  const events = async (kinds: readonly EventKind[], vehicleId?: readonly string[]) => {
    const query = {
      ...range,
      driverId: [driverId],
      kind: [...kinds],
      limit: PAGE,
      ...(vehicleId && { vehicleId: [...vehicleId] }),
    };
    return allPages((cursor) => api.get('/api/v1/reports/events', { query: { ...query, ...cursor }, signal }));
  };
  const [assigned, shifts] = await Promise.all([
    api.get('/api/v1/driver-assignments', { query: { driverId, ...range }, signal }),
    events(['driver-shift']),
  ]);
  const vehicleIds = [...new Set([...assigned.items, ...shifts].map(({ vehicleId }) => vehicleId))];
  const trips: TripsRow[] = [];
  const violations: EventsRow[] = [];
  const scores = new Map<string, number>();
  for (let from = 0; from < vehicleIds.length; from += VEHICLES_AT_ONCE) {
    const some = vehicleIds.slice(from, from + VEHICLES_AT_ONCE);
    const query = { ...range, driverId: [driverId], vehicleId: some, limit: PAGE };
    trips.push(
      ...(await allPages((cursor) => api.get('/api/v1/reports/trips', { query: { ...query, ...cursor }, signal }))),
    );
    for (const [key, score] of await readScores(query, signal)) scores.set(key, score);
    violations.push(...(await events(VIOLATIONS, some)));
  }
  const byTime = (a: { startedAt: string }, b: { startedAt: string }) => (a.startedAt < b.startedAt ? -1 : 1);
  return {
    assignments: assigned.items,
    shifts,
    trips: trips.sort(byTime),
    violations: violations.sort(byTime),
    scores,
    nameOf: (id) => fleet.vehicles[fleet.indexOf(id)]?.name ?? '–',
  };
}
