import type { Sensor } from '@outrider/domain';

/** A calibration table as arrays of numbers, for a lookup at each record. */
export class Calibration {
  readonly #raws: number[];
  readonly #values: number[];
  readonly #clamps: boolean;

  constructor({ calibration, outside }: Pick<Sensor, 'calibration' | 'outside'>) {
    this.#raws = calibration.map(({ raw }) => raw);
    this.#values = calibration.map(({ value }) => value);
    this.#clamps = outside === 'clamp';
  }

  /** Value for a raw value, interpolated linearly between the points of the table. */
  valueOf(raw: number): number {
    const raws = this.#raws;
    const values = this.#values;
    const last = raws.length - 1;
    if (last < 0) return raw;
    if (last === 0) return values[0] as number;
    if (this.#clamps) {
      if (raw <= (raws[0] as number)) return values[0] as number;
      if (raw >= (raws[last] as number)) return values[last] as number;
    }
    let low = 0;
    let high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((raws[middle] as number) <= raw) low = middle;
      else high = middle;
    }
    const fromRaw = raws[low] as number;
    const from = values[low] as number;
    return from + (((values[high] as number) - from) * (raw - fromRaw)) / ((raws[high] as number) - fromRaw);
  }
}
