import type { TrackPosition } from '@outrider/client';

/** A track in typed arrays, in order of time. */
export interface Track {
  count: number;
  /** A longer pause is a gap, at which the line is broken. */
  gapMs: number;
  positions: readonly TrackPosition[];
  timeMs: Float64Array;
  longitude: Float64Array;
  latitude: Float64Array;
  /** NaN if unknown. */
  speedKmh: Float32Array;
  courseDeg: Float32Array;
}

/** Upper bounds in km/h of the speed classes that colour a track. Higher speeds are in one further class. */
export const SPEED_CLASSES = [20, 50, 80, 110] as const;
const GAP_MS = 10 * 60_000;
/**
 * In a track that the API thinned, a pause is a gap in the data only if it is longer than this many `maxPoints`-th
 * parts of the interval.
 */
const GAP_SHARES = 8;
/** Across a gap shorter than this, the vehicle stood still while its terminal slept. */
const STOOD_M = 200;
const METRES_PER_DEGREE = 111_195;

/** Pause from which on a gap is assumed, in a track of an interval that the API may have thinned to `maxPoints`. */
export function gapOf(intervalMs: number, count: number, maxPoints: number): number {
  return count < maxPoints ? GAP_MS : Math.max(GAP_MS, (GAP_SHARES * intervalMs) / maxPoints);
}

/** The usable positions: valid according to the terminal, and not rejected as a jump. */
export function trackOf(positions: readonly TrackPosition[], gapMs = GAP_MS): Track {
  const usable = positions.filter(({ valid, rejection }) => valid && rejection === undefined);
  const column = (value: (position: TrackPosition) => number) => Float64Array.from(usable, value);
  return {
    count: usable.length,
    gapMs,
    positions: usable,
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
    if (!isGap(track, index)) metres += stepM(track, index);
  }
  return metres;
}

/** Distance in metres from the previous position. */
function stepM(track: Track, index: number): number {
  const latitude = track.latitude[index] as number;
  const north = latitude - (track.latitude[index - 1] as number);
  const east = (track.longitude[index] as number) - (track.longitude[index - 1] as number);
  return Math.hypot(north, east * Math.cos((latitude * Math.PI) / 180)) * METRES_PER_DEGREE;
}

/** Whether there is a gap before this position. */
function isGap(track: Track, index: number): boolean {
  return index > 0 && (track.timeMs[index] as number) - (track.timeMs[index - 1] as number) > track.gapMs;
}

/** Intervals without data between two positions, where the vehicle moved meanwhile. */
export function gaps(track: Track): { fromMs: number; toMs: number; index: number }[] {
  const found: { fromMs: number; toMs: number; index: number }[] = [];
  for (let index = 1; index < track.count; index += 1)
    if (isGap(track, index) && stepM(track, index) > STOOD_M)
      found.push({ fromMs: track.timeMs[index - 1] as number, toMs: track.timeMs[index] as number, index: index - 1 });
  return found;
}

/** Measures in the positions of a track: speed, fuel and every numeric attribute. */
export function measuresOf({ positions }: Track): string[] {
  const own = MEASURES.filter((name) => positions.some((position) => position[name] !== undefined));
  const attributes = new Set<string>();
  for (const { attributes: values = {} } of positions)
    for (const [name, value] of Object.entries(values)) if (typeof value === 'number') attributes.add(name);
  return [...own, ...[...attributes].sort()];
}

/** Measures that have the same name in every protocol. */
export const MEASURES = ['speedKmh', 'fuelL', 'supplyV', 'altitudeM', 'odometerM', 'satellites'] as const;
export type Measure = (typeof MEASURES)[number];

export function isMeasure(name: string): name is Measure {
  return MEASURES.some((known) => known === name);
}

/** Value of a measure at a position; null if it has none. */
export function measureAt({ positions }: Track, index: number, name: string): number | null {
  const position = positions[index];
  const value = isMeasure(name) ? position?.[name] : position?.attributes?.[name];
  return typeof value === 'number' ? value : null;
}

/** A measure over time, in seconds, in the format of charts: a null breaks the line at a gap. */
export function measureOverTime(track: Track, name: string): [seconds: number[], values: (number | null)[]] {
  const seconds: number[] = [];
  const values: (number | null)[] = [];
  for (let index = 0; index < track.count; index += 1) {
    if (isGap(track, index)) {
      seconds.push((track.timeMs[index - 1] as number) / 1000 + 0.001);
      values.push(null);
    }
    const value = measureAt(track, index, name);
    // Terminals send some measures only occasionally: the line continues to the next value.
    if (value === null) continue;
    seconds.push((track.timeMs[index] as number) / 1000);
    values.push(value);
  }
  return [seconds, values];
}

/** NaN where no speed is known. */
export function highestKmh(track: Track): number {
  return track.speedKmh.reduce((most, kmh) => (kmh <= most || Number.isNaN(kmh) ? most : kmh), Number.NaN);
}

export function speedClass(kmh: number): number {
  const found = SPEED_CLASSES.findIndex((bound) => kmh < bound);
  return found < 0 ? SPEED_CLASSES.length : found;
}

/** Kind in {@link trackLines} of a straight line over a gap. */
export const GAP_KIND = -1;

/**
 * Lines that each have one speed class or the given kind, and straight lines over gaps.
 *
 * @param kindOf kind of all lines; null: by speed
 */
export function trackLines(track: Track, kindOf: number | null = null): GeoJSON.Feature[] {
  const features: GeoJSON.Feature[] = [];
  let line: [number, number][] = [];
  let kind = -1;
  const add = (of: number, coordinates: [number, number][]) =>
    features.push({ type: 'Feature', properties: { kind: of }, geometry: { type: 'LineString', coordinates } });
  const end = () => line.length > 1 && add(kind, line);
  const at = (index: number): [number, number] => [track.longitude[index] as number, track.latitude[index] as number];
  for (let index = 0; index < track.count; index += 1) {
    const speed = track.speedKmh[index] as number;
    const next = kindOf ?? speedClass(Number.isNaN(speed) ? 0 : speed);
    if (isGap(track, index)) {
      end();
      line = [];
      if (stepM(track, index) > STOOD_M) add(GAP_KIND, [at(index - 1), at(index)]);
    } else if (next !== kind && line.length > 0) {
      // Continues the old line to the start of the new one.
      line.push(at(index));
      end();
      line = [];
    }
    line.push(at(index));
    kind = next;
  }
  end();
  return features;
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

/** Position of the vehicle at a time, interpolated between two positions unless there is a gap between them. */
export function placeAt(track: Track, timeMs: number): { longitude: number; latitude: number; index: number } | null {
  if (track.count === 0) return null;
  const index = Math.max(0, indexAt(track, timeMs));
  const longitude = track.longitude[index] as number;
  const latitude = track.latitude[index] as number;
  const next = index + 1;
  if (next >= track.count) return { longitude, latitude, index };
  const from = track.timeMs[index] as number;
  const to = track.timeMs[next] as number;
  if (to - from > track.gapMs || to <= from) return { longitude, latitude, index };
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
