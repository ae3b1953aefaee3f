import { useEffect } from 'preact/hooks';
import { useFresh } from '../../parts/loading/fresh.ts';
import { api } from '../../session.ts';
import { type Track, trackOf } from '../../track/track.ts';

const MOST_POINTS = 1000;

/** Track of a vehicle in an interval; null while loading, empty if it could not be loaded. */
export function useTrack(vehicleId: string | null, fromMs: number, toMs: number) {
  const track = useFresh<Track | null>(null, [vehicleId, fromMs, toMs]);
  useEffect(() => {
    if (vehicleId === null) return;
    const ending = new AbortController();
    const query = {
      ...{ vehicleId, from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() },
      ...{ maxPoints: MOST_POINTS, limit: MOST_POINTS },
    };
    api.get('/api/v1/reports/track', { query, signal: ending.signal }).then(
      ({ items }) => {
        track.value = trackOf(items);
      },
      () => {
        if (!ending.signal.aborted) track.value = trackOf([]);
      },
    );
    return () => ending.abort();
  }, [vehicleId, fromMs, toMs, track]);
  return track;
}
