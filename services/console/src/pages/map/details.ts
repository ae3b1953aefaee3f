import type { EventsRow, FeedEvent, TripsRow, VehicleState } from '@outrider/client';
import type { Signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { startOfDay } from '../../days.ts';
import { describeError } from '../../errors.ts';
import { fleet } from '../../fleet/store.ts';
import { live } from '../../live/live.ts';
import { allPages } from '../../parts/lists/pages.ts';
import { useFresh } from '../../parts/loading/fresh.ts';
import { preferences } from '../../preferences.ts';
import { api } from '../../session.ts';

/** Data that the panel loads about a vehicle. Null: not loaded yet, or unknown. */
export interface Details {
  state: VehicleState | null;
  /** Description of its position. */
  place: string | null;
  /** Trips that overlap today, newest first. */
  trips: readonly TripsRow[] | null;
  events: readonly EventsRow[] | null;
  /** Why something could not be read. What was read before stays. */
  error: string | null;
}

const NOTHING: Details = { state: null, place: null, trips: null, events: null, error: null };
const PAGE = 1000;
/** Sensors and totals are loaded by REST at this interval, and after each event. */
const REFRESH_MS = 30_000;
/**
 * Events arrive a moment before the archive has them, and corrections arrive in bulk: one load after this time covers
 * all.
 */
const ARCHIVED_MS = 3000;

/** The details of a vehicle, loaded at an interval and after each of its events. */
export function useDetails(id: string, isHidden: boolean): Signal<Details> {
  const details = useFresh(NOTHING, [id, isHidden]);
  useEffect(() => {
    if (isHidden) return;
    const ending = new AbortController();
    const { signal } = ending;
    let isReading = false;
    let isOutdated = false;
    const read = async () => {
      isOutdated = true;
      if (isReading || document.hidden) return;
      isReading = true;
      while (isOutdated && !signal.aborted) {
        isOutdated = false;
        const known = await readDetails(id, signal);
        if (!signal.aborted) details.value = { ...details.peek(), error: null, ...known };
      }
      isReading = false;
    };
    void read();
    const pace = setInterval(read, REFRESH_MS);
    document.addEventListener('visibilitychange', read);
    let archived: ReturnType<typeof setTimeout> | null = null;
    const seen = live.event.peek();
    const unfollow = live.event.subscribe((event) => {
      if (event === seen || event?.vehicleId !== id) return;
      if (event.phase === 'removed') details.value = without(details.peek(), event);
      if (event.origin !== 'recalculated') void read();
      archived ??= setTimeout(() => {
        archived = null;
        void read();
      }, ARCHIVED_MS);
    });
    return () => {
      ending.abort();
      unfollow();
      clearInterval(pace);
      document.removeEventListener('visibilitychange', read);
      clearTimeout(archived ?? undefined);
    };
  }, [id, isHidden, details]);
  return details;
}

/** Removes an event that turned out not to have happened from the lists at once. */
function without(details: Details, { id: eventId, kind, startedAt }: FeedEvent): Details {
  const { events, trips } = details;
  return {
    ...details,
    events: events?.filter(({ id }) => id !== eventId) ?? null,
    trips: trips?.filter((trip) => kind !== 'trip' || trip.startedAt !== startedAt) ?? null,
  };
}

/** The details that could be loaded, with an error if some could not. */
async function readDetails(id: string, signal: AbortSignal): Promise<Partial<Details>> {
  const nowMs = Date.now();
  const from = startOfDay(nowMs, preferences.peek().timeZone).toISOString();
  const query = { vehicleId: id, from, to: new Date(nowMs + 1000).toISOString(), limit: PAGE };
  const known: Partial<Details> = {};
  const outcomes = await Promise.allSettled([
    api.get('/api/v1/vehicles/{id}/state', { path: { id }, signal }).then((state) => {
      known.state = state;
    }),
    placeOf(id, signal).then((place) => {
      known.place = place;
    }),
    allPages((cursor) => api.get('/api/v1/reports/trips', { query: { ...query, ...cursor }, signal })).then((trips) => {
      known.trips = newestFirst(trips);
    }),
    allPages((cursor) => api.get('/api/v1/reports/events', { query: { ...query, ...cursor }, signal })).then(
      (events) => {
        known.events = newestFirst(events);
      },
    ),
  ]);
  const failed = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult | undefined;
  if (failed !== undefined) known.error = describeError(failed.reason);
  return known;
}

/** The archive sorts events by the fix that began them, which may be later than their start. */
function newestFirst<T extends { startedAt: string }>(rows: readonly T[]): readonly T[] {
  return rows.toSorted((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt));
}

async function placeOf(id: string, signal: AbortSignal): Promise<string | null> {
  const index = fleet.indexOf(id);
  if (!fleet.hasPosition(index)) return null;
  const query = {
    latitude: (fleet.latitude[index] ?? 0).toFixed(6),
    longitude: (fleet.longitude[index] ?? 0).toFixed(6),
  };
  return (await api.get('/api/v1/place', { query, signal })).place?.text ?? null;
}
