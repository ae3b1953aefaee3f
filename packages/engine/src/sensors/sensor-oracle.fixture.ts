import {
  deriveEventId,
  type FleetEvent,
  type Position,
  type Sensor,
  type SensorThreshold,
  type Vehicle,
} from '@outrider/domain';

interface Place {
  atMs: number;
  latitude: number;
  longitude: number;
  speedKmh: number | null;
}
/** A value with all that was so when it came. */
interface Value {
  at: Place;
  raw: number;
  version: number;
  gapMs: number;
}
interface Series {
  sensor: Sensor;
  values: Value[];
  /** By the terms of a threshold: from which value on it is judged, and how many of its events were published. */
  judged: Map<string, { threshold: SensorThreshold; from: number; published: number }>;
}

/** What the sources of the scenarios mean. */
export const PLAIN_SOURCES: Readonly<Record<string, (record: Position) => unknown>> = {
  t: ({ attributes }) => attributes?.t,
  't * 2 - 1': ({ attributes }) => (typeof attributes?.t === 'number' ? attributes.t * 2 - 1 : null),
  'supplyV + 0': ({ supplyV }) => supplyV,
};

/** Thresholds of sensors again, slow and plain: with each value, all that came before it is gone through anew. */
export class SensorOracle {
  #series: Series[] = [];

  take(vehicle: Vehicle, record: Position, at: Place, events: FleetEvent[]): void {
    this.redefine(vehicle, []);
    for (const series of this.#series) {
      const { sensor, values } = series;
      const value = plainValue(sensor, record);
      const last = values.at(-1);
      if (value === null || (last && last.at.atMs >= record.fixTimeMs)) continue;
      const { latitude, longitude, speedKmh } = at;
      const place = { atMs: record.fixTimeMs, latitude, longitude, speedKmh };
      values.push({ at: place, raw: value, version: vehicle.version, gapMs: vehicle.tripGapMinutes * 60_000 });
      for (const judged of series.judged.values()) {
        const all = eventsOf(vehicle, series, judged.threshold, judged.from);
        events.push(...all.slice(judged.published));
        judged.published = all.length;
      }
    }
  }

  /** The vehicle is defined otherwise, or no more. */
  redefine(vehicle: Vehicle | null, events: FleetEvent[], before: Vehicle | null = vehicle): void {
    const known = this.#series;
    this.#series = (vehicle?.sensors ?? []).map((sensor) => {
      const same = known.find((series) => measureOf(series.sensor) === measureOf(sensor));
      const values = same?.values ?? [];
      const judged = new Map(
        sensor.thresholds.map((threshold) => {
          const key = JSON.stringify(threshold);
          return [key, same?.judged.get(key) ?? { threshold, from: values.length, published: 0 }];
        }),
      );
      return { sensor, values, judged };
    });
    for (const series of known)
      for (const [key, { threshold, from }] of series.judged) {
        const next = this.#series.find(({ values }) => values === series.values);
        if (next?.judged.has(key)) continue;
        const last = before && eventsOf(before, series, threshold, from).at(-1);
        const end = series.values.at(-1)?.at;
        if (last?.phase !== 'begin' || !end) continue;
        events.push({
          ...last,
          phase: 'end',
          ...{ endedAtMs: end.atMs, latitude: end.latitude, longitude: end.longitude, speedKmh: end.speedKmh },
          fixTimeMs: end.atMs,
          value: smoothedAt(series, series.values.length - 1),
          peakValue: peakOf(series, threshold, from, last.startedAtMs),
          endReason: vehicle === null ? 'no-longer-watched' : 'sensor-changed',
        });
      }
  }
}

type Exceeded = Extract<FleetEvent, { kind: 'sensor-threshold' }>;

function eventsOf(vehicle: Vehicle, series: Series, threshold: SensorThreshold, from: number): Exceeded[] {
  const { sensor, values } = series;
  const events: Exceeded[] = [];
  let open: { start: Value; peak: number; reported: boolean } | null = null;
  const push = (
    run: { start: Value; peak: number },
    phase: 'begin' | 'end',
    at: Value,
    value: number,
    fixTimeMs: number,
    endReason: Exceeded['endReason'],
  ) => {
    const { start, peak } = run;
    const place = phase === 'begin' ? start.at : at.at;
    events.push({
      kind: 'sensor-threshold',
      id: deriveEventId('sensor-threshold', vehicle.id, `${sensor.id} ${threshold.id}`, start.at.atMs),
      phase,
      vehicleId: vehicle.id,
      startedAtMs: start.at.atMs,
      endedAtMs: phase === 'begin' ? null : at.at.atMs,
      ...{ latitude: place.latitude, longitude: place.longitude, speedKmh: place.speedKmh },
      ...{ startLatitude: start.at.latitude, startLongitude: start.at.longitude },
      ...{ fromFixTimeMs: start.at.atMs, fixTimeMs, definitionVersion: start.version, origin: 'live', inferred: false },
      ...{ sensorId: sensor.id, sensorName: sensor.name, sensorKind: sensor.kind, unit: sensor.unit },
      ...{ thresholdId: threshold.id, condition: threshold.condition, min: threshold.min, max: threshold.max },
      ...{ value, peakValue: peak, endReason },
    });
  };
  for (let nth = from; nth < values.length; nth++) {
    const now = values[nth] as Value;
    const before = values[nth - 1];
    const value = smoothedAt(series, nth);
    if (before && open && isGap(before, now)) {
      if (open.reported) push(open, 'end', before, smoothedAt(series, nth - 1), now.at.atMs, 'gap');
      open = null;
    }
    const isBeyond = beyond(threshold, value) > 0;
    if (open?.reported && isBack(threshold, value)) {
      push(open, 'end', now, value, now.at.atMs, 'returned');
      open = null;
      continue;
    }
    if (open && !open.reported && !isBeyond) open = null;
    else if (!open && isBeyond) open = { start: now, peak: value, reported: false };
    else if (open && threshold.condition !== 'inside' && beyond(threshold, value) > beyond(threshold, open.peak))
      open.peak = value;
    if (open && !open.reported && now.at.atMs - open.start.at.atMs >= threshold.forSeconds * 1000) {
      open.reported = true;
      push(open, 'begin', now, value, now.at.atMs, null);
    }
  }
  return events;
}

function peakOf(series: Series, threshold: SensorThreshold, from: number, sinceMs: number): number {
  const peaks = series.values.flatMap(({ at }, nth) =>
    nth >= from && at.atMs >= sinceMs ? [smoothedAt(series, nth)] : [],
  );
  if (threshold.condition === 'inside') return peaks[0] as number;
  return peaks.reduce((peak, value) => (beyond(threshold, value) > beyond(threshold, peak) ? value : peak));
}

function isGap(before: Value, now: Value): boolean {
  return now.at.atMs - before.at.atMs > now.gapMs;
}

/** Of the values since the last gap, the median of the newest. */
function smoothedAt({ sensor, values }: Series, nth: number): number {
  let first = nth;
  while (first > 0 && nth - first + 1 < sensor.smoothing && !isGap(values[first - 1] as Value, values[first] as Value))
    first--;
  const sorted = values
    .slice(first, nth + 1)
    .map(({ raw }) => raw)
    .sort((a, b) => a - b);
  const half = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(half)] as number) + (sorted[Math.ceil(half)] as number)) / 2;
}

/** How far a value is beyond a threshold; inside: 1 or -1. */
function beyond({ condition, min, max }: SensorThreshold, value: number): number {
  if (condition === 'inside') return value >= (min ?? 0) && value <= (max ?? 0) ? 1 : -1;
  const over = max === null ? Number.NEGATIVE_INFINITY : value - max;
  const under = min === null ? Number.NEGATIVE_INFINITY : min - value;
  return Math.max(over, under);
}

function isBack({ condition, min, max, hysteresis }: SensorThreshold, value: number): boolean {
  if (condition === 'inside') return value < (min ?? 0) - hysteresis || value > (max ?? 0) + hysteresis;
  return (max === null || value <= max - hysteresis) && (min === null || value >= min + hysteresis);
}

function plainValue(sensor: Sensor, record: Position): number | null {
  if (sensor.onlyWithIgnition && record.ignition !== true) return null;
  const raw = PLAIN_SOURCES[sensor.source]?.(record);
  if (typeof raw !== 'number') return null;
  if (sensor.validMin !== null && raw < sensor.validMin) return null;
  return sensor.validMax !== null && raw > sensor.validMax ? null : raw;
}

function measureOf({ name: _, thresholds: __, ...terms }: Sensor): string {
  return JSON.stringify(terms);
}
