import type { EventsRow, StopsRow, TripsRow } from '@outrider/client';
import { gaps, lengthM, type Track } from './track.ts';

/** A mark on a track: a trip, a stop, an event, or a gap in the data. */
export interface Mark {
  /** Identifies the mark in the address. */
  key: string;
  vehicleId: string;
  kind: 'trip' | 'stop' | 'event' | 'gap';
  fromMs: number;
  /** Null while ongoing. */
  toMs: number | null;
  durationSeconds: number;
  /** Position of its start. */
  longitude: number;
  latitude: number;
  /** Only for trips; otherwise null. */
  distanceM: number | null;
  /** The API's row of an event or a stop. */
  row: EventsRow | StopsRow | null;
}

/** Kinds of event that are shown as trips and stops. */
const SHOWN_OTHERWISE = new Set(['trip', 'parking', 'idling']);

/** All marks of a vehicle's track, by time. */
export function marksOf(
  vehicleId: string,
  track: Track,
  trips: readonly TripsRow[],
  stops: readonly StopsRow[],
  events: readonly EventsRow[],
): Mark[] {
  const common = (kind: Mark['kind'], id: string, startedAt: string, endedAt: string | null) => ({
    key: `${kind}:${id}`,
    vehicleId,
    kind,
    fromMs: Date.parse(startedAt),
    toMs: endedAt === null ? null : Date.parse(endedAt),
    distanceM: null,
    row: null,
  });
  const atStart = (index: number) => ({
    longitude: track.longitude[index] as number,
    latitude: track.latitude[index] as number,
  });
  const short = vehicleId.slice(-8);
  return [
    ...trips.map((trip): Mark => {
      const { startedAt, endedAt, durationSeconds, startLongitude, startLatitude } = trip;
      const mark = common('trip', `${short}-${Date.parse(startedAt) / 1000}`, startedAt, endedAt);
      // The service computes a trip's distance when it ends.
      const distanceM = trip.distanceM ?? lengthM(track, mark.fromMs);
      return { ...mark, durationSeconds, longitude: startLongitude, latitude: startLatitude, distanceM };
    }),
    ...stops.map((row): Mark => {
      const mark = common('stop', `${short}-${Date.parse(row.startedAt) / 1000}`, row.startedAt, row.endedAt);
      const { durationSeconds, longitude, latitude } = row;
      return { ...mark, durationSeconds, longitude, latitude, row };
    }),
    ...events
      .filter(({ kind }) => !SHOWN_OTHERWISE.has(kind))
      .map((row): Mark => {
        const mark = common('event', row.id, row.startedAt, row.endedAt);
        const { durationSeconds, startLongitude, startLatitude, longitude, latitude } = row;
        const place = { longitude: startLongitude ?? longitude, latitude: startLatitude ?? latitude };
        return { ...mark, durationSeconds, ...place, row };
      }),
    ...gaps(track).map(({ fromMs, toMs, index }): Mark => {
      const id = `${short}-${fromMs / 1000}`;
      const mark = common('gap', id, new Date(fromMs).toISOString(), new Date(toMs).toISOString());
      return { ...mark, durationSeconds: (toMs - fromMs) / 1000, ...atStart(index) };
    }),
  ].sort((a, b) => a.fromMs - b.fromMs);
}

/** The mark whose start is nearest to a time; null if none begins within `mostMs`. */
export function nearestMark(marks: readonly Mark[], timeMs: number, mostMs: number): Mark | null {
  let found: Mark | null = null;
  let least = mostMs;
  for (const mark of marks) {
    const distance = Math.abs(mark.fromMs - timeMs);
    if (distance > least) continue;
    least = distance;
    found = mark;
  }
  return found;
}

/** The mark that begins next after a time, or last before it. */
export function stepMark(marks: readonly Mark[], timeMs: number, direction: 1 | -1): Mark | null {
  // The clock stands at whole seconds, events begin between them.
  return direction === 1
    ? (marks.find(({ fromMs }) => fromMs > timeMs + 999) ?? null)
    : (marks.findLast(({ fromMs }) => fromMs < timeMs - 999) ?? null);
}
