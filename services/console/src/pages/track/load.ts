import type { EventsRow, StopsRow, TripsRow } from '@outrider/client';
import { allPages } from '../../parts/lists/pages.ts';
import type { Missing } from '../../protection/missing.tsx';
import { api } from '../../session.ts';
import type { TimeRange } from '../../time-range.ts';
import { type Mark, marksOf } from '../../track/marks.ts';
import { gapOf, type Track, trackOf } from '../../track/track.ts';

/** Number of points that suffices for a screen. The API thins the track to it, keeping its shape and gaps. */
const MOST_POINTS = 20_000;
const PAGE = 1000;

/** A vehicle's part of a replay. */
export interface Part {
  vehicleId: string;
  track: Track;
  marks: readonly Mark[];
  trips: readonly TripsRow[];
  stops: readonly StopsRow[];
  events: readonly EventsRow[];
  missing: Missing;
}

/** @throws {ApiError} for a vehicle that the caller may not see; {ConnectionError} */
export async function readPart(vehicleId: string, { fromMs, toMs }: TimeRange, signal: AbortSignal): Promise<Part> {
  const [from, to] = [new Date(fromMs).toISOString(), new Date(toMs).toISOString()];
  const query = { vehicleId, from, to, limit: PAGE };
  let missing: Missing = {};
  const [positions, trips, stops, events] = await Promise.all([
    allPages(async (cursor) => {
      const about = { query: { ...query, maxPoints: MOST_POINTS, ...cursor }, signal };
      const page = await api.get('/api/v1/reports/track', about);
      if (page.historyFrom !== undefined || page.incomplete !== undefined) missing = page;
      return page;
    }),
    allPages((cursor) => api.get('/api/v1/reports/trips', { query: { ...query, ...cursor }, signal })),
    allPages((cursor) => api.get('/api/v1/reports/stops', { query: { ...query, ...cursor }, signal })),
    allPages((cursor) => api.get('/api/v1/reports/events', { query: { ...query, ...cursor }, signal })),
  ]);
  const track = trackOf(positions, gapOf(toMs - fromMs, positions.length, MOST_POINTS));
  return { vehicleId, track, marks: marksOf(vehicleId, track, trips, stops, events), trips, stops, events, missing };
}
