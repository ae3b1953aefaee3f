import type { EventsRow, StopsRow, TripsRow } from '@outrider/client';
import { gaps, lengthM, type Track } from './track.ts';

/** What happened on a track: a trip, a stop, an event, or a gap in the data. */
export interface Mark {
  /** It stands in the address. */
  key: string;
  vehicleId: string;
  kind: 'trip' | 'stop' | 'event' | 'gap';
  fromMs: number;
  /** Null while it lasts. */
  toMs: number | null;
  durationSeconds: number;
  /** Where it began. */
  longitude: number;
  latitude: number;
  /** Of a trip; null elsewhere. */
  distanceM: number | null;
  /** Of an event or a stop, as the API has it. */
  row: EventsRow | StopsRow | null;
}

/** Trips and stops have rows of their own. */
const SHOWN_OTHERWISE = new Set(['trip', 'parking', 'idling']);

/** Everything that happened on a vehicle's track, by time. */
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
      // The service counts a trip's distance when it ends.
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

/** Of the marks drawn near a time, the nearest; null where none begins within `mostMs`. */
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
