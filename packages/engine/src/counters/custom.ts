import { type CounterTerms, type CustomCounter, type CustomSums, type Position, termsAt } from '@outrider/domain';
import { freshSeries, SensorSeries, type SeriesState } from '../sensors/sensor-series.ts';
import { vehicleSensors } from '../sensors/vehicle-sensors.ts';

/** Total of a custom counter up to one of the records. Plain data, as the rest of a vehicle's state. */
export interface CustomCount {
  /** Counted sum, in the counter's unit. */
  sum: number;
  /** The sensor's first total, if nothing was counted before; null: none yet. */
  first: number | null;
  /** {@link CounterTerms.fromMs} of the terms that the other fields belong to. */
  termsFromMs: number;
  /** The sensor's latest value; null before the first. */
  value: number | null;
  series: SeriesState;
}

/** The counts of a vehicle by counter id. */
export type CustomCounts = Record<string, CustomCount>;

/** The fields of a custom counter that counting needs. */
export type CountedBy = Pick<CustomCounter, 'id' | 'terms'>;

/** Over a longer gap it is unknown whether the sensor was on. */
const MAX_GAP_MS = 3_600_000;
const HOUR_MS = 3_600_000;

/** Continues the custom counters of a vehicle, updating its state. */
export class CustomCounting {
  readonly #counts: CustomCounts;
  readonly #counters: readonly CountedBy[];
  /** For each counter the sensor in force at the newest record; null: none. */
  readonly #followed: ({ terms: CounterTerms; series: SensorSeries | null } | null)[];

  /** @param counts is modified: counts of deleted counters are removed */
  constructor(counts: CustomCounts, counters: readonly CountedBy[]) {
    this.#counts = counts;
    this.#counters = counters;
    this.#followed = counters.map(() => null);
    for (const id of Object.keys(counts)) if (!counters.some((each) => each.id === id)) delete counts[id];
  }

  take(record: Position): void {
    for (let nth = 0; nth < this.#counters.length; nth++) this.#take(nth, record);
  }

  #take(nth: number, record: Position): void {
    const { id, terms } = this.#counters[nth] as CountedBy;
    const ofNow = termsAt(terms, record.fixTimeMs);
    if (ofNow === undefined) return;
    const count = this.#counts[id] ?? freshCount(ofNow);
    this.#counts[id] = count;
    if (this.#followed[nth]?.terms !== ofNow) {
      if (count.termsFromMs !== ofNow.fromMs)
        // Another sensor, or one that measures differently: its values do not continue the earlier ones.
        Object.assign(count, { termsFromMs: ofNow.fromMs, value: null, series: freshSeries() });
      this.#followed[nth] = { terms: ofNow, series: seriesOf(ofNow, count) };
    }
    const series = this.#followed[nth]?.series ?? null;
    if (series === null) return;
    const beforeMs = series.atMs;
    const value = series.take(record);
    if (Number.isNaN(value)) return;
    const before = count.value;
    count.value = value;
    if (ofNow.source === 'sensor-hours') {
      const elapsedMs = record.fixTimeMs - beforeMs;
      if (before !== null && before !== 0 && elapsedMs <= MAX_GAP_MS) count.sum += elapsedMs / HOUR_MS;
    } else if (before === null) {
      if (count.sum === 0) count.first ??= value;
    } else if (value > before) count.sum += value - before;
  }
}

function freshCount({ fromMs }: CounterTerms): CustomCount {
  return { sum: 0, first: null, termsFromMs: fromMs, value: null, series: freshSeries() };
}

function seriesOf({ sensor, gapMs }: CounterTerms, { series }: CustomCount): SensorSeries | null {
  if (sensor === null) return null;
  const [compiled] = vehicleSensors([sensor]).all;
  return compiled === undefined ? null : new SensorSeries(compiled, gapMs, series);
}

/** Whether any counter uses a sensor, and so needs more of a record than its fix. */
export function goesBySensors(counters: readonly CountedBy[]): boolean {
  return counters.some(({ terms }) => terms.some(({ sensor }) => sensor !== null));
}

export function customSumsOf(counts: CustomCounts): CustomSums {
  return Object.fromEntries(Object.entries(counts).map(([id, { sum }]) => [id, sum]));
}

export function customFirstsOf(counts: CustomCounts): CustomSums {
  return Object.fromEntries(Object.entries(counts).map(([id, { first }]) => [id, first ?? 0]));
}
