import { type CounterTerms, type CustomCounter, type CustomSums, type Position, termsAt } from '@outrider/domain';
import { freshSeries, SensorSeries, type SeriesState } from '../sensors/sensor-series.ts';
import { vehicleSensors } from '../sensors/vehicle-sensors.ts';

/** What records up to one of them come to for a custom counter. Plain data, as the rest of a vehicle's state. */
export interface CustomCount {
  /** What was counted, in the counter's unit. */
  sum: number;
  /** The first total that a sensor showed, where nothing was counted before; null: none yet. */
  first: number | null;
  /** {@link CounterTerms.fromMs} of those that the rest is about. */
  termsFromMs: number;
  /** The newest value of the sensor; null before the first. */
  value: number | null;
  series: SeriesState;
}

/** The counts of a vehicle, by the ids of its counters. */
export type CustomCounts = Record<string, CustomCount>;

/** What custom counters go by. */
export type CountedBy = Pick<CustomCounter, 'id' | 'terms'>;

/** Over a longer gap nobody knows whether it was on. */
const MAX_GAP_MS = 3_600_000;
const HOUR_MS = 3_600_000;

/** Counts the custom counters of a vehicle on, in its state. */
export class CustomCounting {
  readonly #counts: CustomCounts;
  readonly #counters: readonly CountedBy[];
  /** Of each counter, the sensor that it goes by at the newest record; null: by none. */
  readonly #followed: ({ terms: CounterTerms; series: SensorSeries | null } | null)[];

  /** @param counts is changed: those of counters that are gone are dropped */
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
        // Of another sensor, or of one that measures otherwise: its values continue nothing.
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

/** Is a counter ever moved by what a record says beyond its fix? */
export function goesBySensors(counters: readonly CountedBy[]): boolean {
  return counters.some(({ terms }) => terms.some(({ sensor }) => sensor !== null));
}

export function customSumsOf(counts: CustomCounts): CustomSums {
  return Object.fromEntries(Object.entries(counts).map(([id, { sum }]) => [id, sum]));
}

export function customFirstsOf(counts: CustomCounts): CustomSums {
  return Object.fromEntries(Object.entries(counts).map(([id, { first }]) => [id, first ?? 0]));
}
