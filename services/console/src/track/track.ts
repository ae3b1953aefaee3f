import type { TrackPosition } from '@outrider/client';

/** A track in typed arrays, by time. */
export interface Track {
  count: number;
  timeMs: Float64Array;
  longitude: Float64Array;
  latitude: Float64Array;
  /** NaN where unknown. */
  speedKmh: Float32Array;
  courseDeg: Float32Array;
}

/** Upper bounds of the classes by which a track is coloured, km/h; faster is the last class. */
export const SPEED_CLASSES = [20, 50, 80, 110] as const;
/** A longer silence is a gap: no line is drawn over it. */
const GAP_MS = 10 * 60_000;
const METRES_PER_DEGREE = 111_195;

/** The usable positions: trusted by the terminal, not rejected as a jump. */
export function trackOf(positions: readonly TrackPosition[]): Track {
  const usable = positions.filter(({ valid, rejection }) => valid && rejection === undefined);
  const column = (value: (position: TrackPosition) => number) => Float64Array.from(usable, value);
  return {
    count: usable.length,
    timeMs: column(({ fixTime }) => Date.parse(fixTime)),
    longitude: column(({ longitude }) => longitude),
    latitude: column(({ latitude }) => latitude),
    speedKmh: Float32Array.from(usable, ({ speedKmh }) => speedKmh ?? Number.NaN),
    courseDeg: Float32Array.from(usable, ({ courseDeg }) => courseDeg ?? Number.NaN),
  };
}

/** Metres along the track from a time on, without gaps. */
export function lengthM(track: Track, fromMs: number): number {
  let metres = 0;
  for (let index = Math.max(1, indexAt(track, fromMs) + 1); index < track.count; index += 1) {
    if ((track.timeMs[index] as number) - (track.timeMs[index - 1] as number) > GAP_MS) continue;
    const latitude = track.latitude[index] as number;
    const north = latitude - (track.latitude[index - 1] as number);
    const east = (track.longitude[index] as number) - (track.longitude[index - 1] as number);
    metres += Math.hypot(north, east * Math.cos((latitude * Math.PI) / 180)) * METRES_PER_DEGREE;
  }
  return metres;
}

/** NaN where no speed is known. */
export function highestKmh(track: Track): number {
  return track.speedKmh.reduce((most, kmh) => (kmh <= most || Number.isNaN(kmh) ? most : kmh), Number.NaN);
}

export function speedClass(kmh: number): number {
  const found = SPEED_CLASSES.findIndex((bound) => kmh < bound);
  return found < 0 ? SPEED_CLASSES.length : found;
}

/** Lines of one speed class each, without those over gaps. */
export function trackLines(track: Track): GeoJSON.FeatureCollection {
  const features: GeoJSON.Feature[] = [];
  let line: [number, number][] = [];
  let kind = -1;
  const end = () => {
    if (line.length > 1)
      features.push({ type: 'Feature', properties: { kind }, geometry: { type: 'LineString', coordinates: line } });
  };
  for (let index = 0; index < track.count; index += 1) {
    const at: [number, number] = [track.longitude[index] as number, track.latitude[index] as number];
    const isGap = index > 0 && (track.timeMs[index] as number) - (track.timeMs[index - 1] as number) > GAP_MS;
    const speed = track.speedKmh[index] as number;
    const next = speedClass(Number.isNaN(speed) ? 0 : speed);
    if (isGap) {
      end();
      line = [];
    } else if (next !== kind && line.length > 0) {
      // The new line begins where the old one ends.
      line.push(at);
      end();
      line = [];
    }
    line.push(at);
    kind = next;
  }
  end();
  return { type: 'FeatureCollection', features };
}

/** Index of the last position at or before a time; -1 before the first. */
export function indexAt(track: Track, timeMs: number): number {
  let low = 0;
  let high = track.count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((track.timeMs[middle] as number) <= timeMs) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Where the vehicle was at a time: between two positions, unless there is a gap between them. */
export function placeAt(track: Track, timeMs: number): { longitude: number; latitude: number; index: number } | null {
  if (track.count === 0) return null;
  const index = Math.max(0, indexAt(track, timeMs));
  const longitude = track.longitude[index] as number;
  const latitude = track.latitude[index] as number;
  const next = index + 1;
  if (next >= track.count) return { longitude, latitude, index };
  const from = track.timeMs[index] as number;
  const to = track.timeMs[next] as number;
  if (to - from > GAP_MS || to <= from) return { longitude, latitude, index };
  const part = Math.min(1, Math.max(0, (timeMs - from) / (to - from)));
  return {
    longitude: longitude + ((track.longitude[next] as number) - longitude) * part,
    latitude: latitude + ((track.latitude[next] as number) - latitude) * part,
    index,
  };
}

/** Index of the position nearest to a place; -1 for an empty track. */
export function nearest(track: Track, longitude: number, latitude: number): number {
  const scale = Math.cos((latitude * Math.PI) / 180);
  let found = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let index = 0; index < track.count; index += 1) {
    const dx = ((track.longitude[index] as number) - longitude) * scale;
    const dy = (track.latitude[index] as number) - latitude;
    const squared = dx * dx + dy * dy;
    if (squared >= least) continue;
    least = squared;
    found = index;
  }
  return found;
}
