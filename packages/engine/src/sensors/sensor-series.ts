import type { Position } from '@outrider/domain';
import { type CompiledSensor, medianOf } from './vehicle-sensors.ts';

/** State that the next value of a series depends on. Plain data. */
export interface SeriesState {
  /** Time of the newest record that gave a value, Unix milliseconds; null before the first. */
  atMs: number | null;
  /** The latest values, where a median filter is used. */
  window: number[];
}

export function freshSeries(): SeriesState {
  return { atMs: null, window: [] };
}

/** The values of one sensor over time, by the engine's rules: for code that reads past records in order. */
export class SensorSeries {
  readonly sensor: CompiledSensor;
  readonly #gapMs: number;
  readonly #state: SeriesState;

  /**
   * @param gapMs after this long without a value the median filter is reset
   * @param state to resume from; it is modified
   */
  constructor(sensor: CompiledSensor, gapMs: number, state: SeriesState = freshSeries()) {
    this.sensor = sensor;
    this.#gapMs = gapMs;
    this.#state = state;
  }

  /** Time of the newest record that gave a value, Unix milliseconds; -Infinity before the first. */
  get atMs(): number {
    return this.#state.atMs ?? Number.NEGATIVE_INFINITY;
  }

  /** The value that the record gives; NaN where it gives none, or is not newer than the last that gave one. */
  take(record: Position): number {
    const { fixTimeMs } = record;
    const state = this.#state;
    if (state.atMs !== null && fixTimeMs <= state.atMs) return Number.NaN;
    const value = this.sensor.valueOf(record);
    if (!Number.isFinite(value)) return Number.NaN;
    const { smoothing } = this.sensor.definition;
    const { window } = state;
    if (state.atMs !== null && fixTimeMs - state.atMs > this.#gapMs) window.length = 0;
    state.atMs = fixTimeMs;
    if (smoothing === 1) return value;
    if (window.length === smoothing) window.shift();
    window.push(value);
    return medianOf(window);
  }
}
