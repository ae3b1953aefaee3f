import { isTimely, type Position, type Sensor, type SensorThreshold } from '@outrider/domain';
import { CompiledSensor, SensorSeries } from '@outrider/engine';
import { placeOf } from '../calendar.ts';

/** Statistics of a sensor's values in an interval. */
export interface Measured {
  samples: number;
  /** Of the values in the interval. Without any, min and max are infinite. */
  min: number;
  max: number;
  sum: number;
  /** Time for which values are known: each holds until the next one, unless that is a gap. */
  knownMs: number;
  /** Parts of that time: value above, below or inside the limits of a threshold, and value other than 0. */
  aboveMs: number;
  belowMs: number;
  insideMs: number;
  onMs: number;
  /** How often the value changed from 0 to another. */
  timesOn: number;
}

function nothing(): Measured {
  return {
    ...{ samples: 0, min: Number.POSITIVE_INFINITY, max: Number.NEGATIVE_INFINITY, sum: 0 },
    ...{ knownMs: 0, aboveMs: 0, belowMs: 0, insideMs: 0, onMs: 0, timesOn: 0 },
  };
}

/** Limits of a sensor's thresholds, whatever their durations and their hysteresis. */
export interface Limits {
  aboveOf: number | null;
  belowOf: number | null;
  inside: readonly { min: number; max: number }[];
}

export function limitsOf(thresholds: readonly SensorThreshold[]): Limits {
  const numbers = (values: (number | null)[]) => values.filter((value) => value !== null);
  const uppers = numbers(thresholds.map(({ condition, max }) => (isOver(condition) ? max : null)));
  const lowers = numbers(thresholds.map(({ condition, min }) => (isUnder(condition) ? min : null)));
  return {
    aboveOf: uppers.length === 0 ? null : Math.min(...uppers),
    belowOf: lowers.length === 0 ? null : Math.max(...lowers),
    inside: thresholds.flatMap(({ condition, min, max }) =>
      condition === 'inside' && min !== null && max !== null ? [{ min, max }] : [],
    ),
  };
}

const isOver = (condition: SensorThreshold['condition']) => condition === 'above' || condition === 'outside';
const isUnder = (condition: SensorThreshold['condition']) => condition === 'below' || condition === 'outside';

/**
 * Statistics of one vehicle's sensors by interval, computed while its records are read. Memory grows with the
 * intervals, not with the records.
 */
export class SensorStatistics {
  readonly #cuts: readonly number[];
  readonly #gapMs: number;
  readonly #sensors: Followed[];

  /**
   * @param cuts Unix milliseconds: where the intervals begin, and where the last one ends
   * @param gapMs after a longer time without a value, nothing is known of the time between
   */
  constructor(sensors: readonly Sensor[], cuts: readonly number[], gapMs: number) {
    this.#cuts = cuts;
    this.#gapMs = gapMs;
    this.#sensors = sensors.map((definition) => ({
      series: new SensorSeries(new CompiledSensor(definition), gapMs),
      limits: limitsOf(definition.thresholds),
      value: Number.NaN,
      intervals: cuts.slice(1).map(() => null),
    }));
  }

  /**
   * Takes the next record. Records up to one gap before the first interval, and one gap after the last, are needed too.
   */
  take(record: Position & { receivedAtMs: number; rejection: string | null }): void {
    if (record.rejection !== null && !isTimely(record, record.receivedAtMs)) return;
    for (const followed of this.#sensors) this.#take(followed, record);
  }

  /** Statistics of a sensor in an interval, by their indexes; null without any. */
  at(sensor: number, interval: number): Measured | null {
    return this.#sensors[sensor]?.intervals[interval] ?? null;
  }

  #take(followed: Followed, record: Position): void {
    const { series, value: before } = followed;
    const beforeMs = series.atMs;
    const value = series.take(record);
    if (Number.isNaN(value)) return;
    const atMs = record.fixTimeMs;
    const isKnown = atMs - beforeMs <= this.#gapMs;
    if (isKnown) this.#last(followed, beforeMs, atMs, before);
    followed.value = value;
    if (atMs < (this.#cuts[0] ?? 0) || atMs >= (this.#cuts.at(-1) ?? 0)) return;
    const measured = this.#interval(followed, placeOf(this.#cuts, atMs));
    measured.samples += 1;
    measured.sum += value;
    measured.min = Math.min(measured.min, value);
    measured.max = Math.max(measured.max, value);
    if (isKnown && before === 0 && value !== 0) measured.timesOn += 1;
  }

  /** Adds the time for which a value held. */
  #last(followed: Followed, fromMs: number, toMs: number, value: number): void {
    const { aboveOf, belowOf, inside } = followed.limits;
    const isAbove = aboveOf !== null && value > aboveOf;
    const isBelow = belowOf !== null && value < belowOf;
    const isInside = inside.some(({ min, max }) => value >= min && value <= max);
    const cuts = this.#cuts;
    for (let place = placeOf(cuts, fromMs); place < cuts.length - 1; place++) {
      const begunMs = Math.max(fromMs, cuts[place] as number);
      if (begunMs >= toMs) return;
      const lastedMs = Math.min(toMs, cuts[place + 1] as number) - begunMs;
      if (lastedMs <= 0) continue;
      const measured = this.#interval(followed, place);
      measured.knownMs += lastedMs;
      if (isAbove) measured.aboveMs += lastedMs;
      if (isBelow) measured.belowMs += lastedMs;
      if (isInside) measured.insideMs += lastedMs;
      if (value !== 0) measured.onMs += lastedMs;
    }
  }

  #interval({ intervals }: Followed, place: number): Measured {
    const measured = intervals[place] ?? nothing();
    intervals[place] = measured;
    return measured;
  }
}

interface Followed {
  series: SensorSeries;
  limits: Limits;
  /** The newest; NaN before the first. */
  value: number;
  intervals: (Measured | null)[];
}
