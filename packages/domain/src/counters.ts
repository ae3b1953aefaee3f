import type { Brand, UserId, VehicleId } from './ids.ts';
import type { Sensor, SensorId } from './resources/sensor.ts';
import type { Vehicle } from './resources/vehicle.ts';

/** UUID of a correction of a counter. */
export type CounterCorrectionId = Brand<string, 'CounterCorrectionId'>;
/** UUID of a counter that people made for a vehicle. */
export type CustomCounterId = Brand<string, 'CustomCounterId'>;

/** Counters that every vehicle has. */
export const COUNTERS = ['odometer', 'engine-hours'] as const;
export type CounterName = (typeof COUNTERS)[number];
/** Any counter of a vehicle. */
export type CounterKey = CounterName | CustomCounterId;

/**
 * What moves a custom counter: what people read, a running total that a sensor shows, or the hours during which a
 * digital sensor is on.
 */
export const COUNTER_SOURCES = ['manual', 'sensor-total', 'sensor-hours'] as const;
export type CounterSource = (typeof COUNTER_SOURCES)[number];
/** What hours are counted in. */
export const HOURS_UNIT = 'h';
/** Of one vehicle. */
export const MAX_CUSTOM_COUNTERS = 10;
/** Of one counter: beyond it, the time of the oldest goes by the terms after them, where it is counted anew. */
export const MAX_COUNTER_TERMS = 12;

/** What a custom counter goes by from a time on: all that it needs, so that the past can be counted anew. */
export interface CounterTerms {
  /** Unix milliseconds: of records, and of what people read. */
  fromMs: number;
  source: CounterSource;
  /** As it was defined then; null: it goes by none, or the sensor was deleted. */
  sensor: Sensor | null;
  /** After this time without a value the median of the sensor begins anew; 0: its value is no median. */
  gapMs: number;
}

/** A counter that people made for a vehicle. */
export interface CustomCounter {
  id: CustomCounterId;
  version: number;
  vehicleId: VehicleId;
  /** Unique within the vehicle, whatever the case. */
  name: string;
  /** What it counts in: hours where it counts time. */
  unit: string;
  source: CounterSource;
  /** Null: people alone move it. The sensor may be gone. */
  sensorId: SensorId | null;
  /** It counts from then on. */
  startsAtMs: number;
  /** By their times; the last are those in force. */
  terms: readonly CounterTerms[];
  createdAtMs: number;
}

/** Sums of custom counters, in their units, by their ids; none: 0. */
export type CustomSums = Readonly<Record<string, number>>;

/** What was counted since the first record: it only grows, whatever was corrected. */
export interface CounterSums {
  odometerM: number;
  engineMs: number;
  custom: CustomSums;
}

/** A custom counter, and what it shows. */
export interface ShownCounter extends CustomCounter {
  value: number;
}

/** A vehicle's counters as people see them: what was counted, with the corrections. */
export interface VehicleCounters {
  vehicleId: VehicleId;
  /** Unix milliseconds of the newest record that is counted. */
  atMs: number;
  odometerM: number;
  engineMs: number;
  /** In the order of their creation. */
  custom: readonly ShownCounter[];
  /** False while records from before `atMs` came late, or a value was set for before, and it is counted anew. */
  settled: boolean;
}

/** What a counter showed at a time: it goes on from there. */
export interface CounterCorrection {
  id: CounterCorrectionId;
  vehicleId: VehicleId;
  counter: CounterKey;
  /** Unix milliseconds. */
  atMs: number;
  /** Metres, or milliseconds; of a custom counter in its unit. */
  value: number;
  /** What was counted up to `atMs`; null until that is known. */
  sum: number | null;
  note: string | null;
  createdBy: UserId | null;
  createdAtMs: number;
}

/** What of the sums a counter is. */
export function sumOf(counter: CounterKey, sums: CounterSums): number {
  if (counter === 'odometer') return sums.odometerM;
  return counter === 'engine-hours' ? sums.engineMs : (sums.custom[counter] ?? 0);
}

/**
 * What a counter shows beyond what was counted: by the newest correction, by the time that it is for, or else by the
 * first reading of the terminal.
 *
 * @param corrections of one vehicle
 */
export function offsetOf(
  counter: CounterKey,
  corrections: readonly Pick<CounterCorrection, 'id' | 'counter' | 'atMs' | 'value' | 'sum'>[],
  sums: CounterSums,
  first: CounterSums,
): number {
  let newest: (typeof corrections)[number] | null = null;
  for (const each of corrections) {
    if (each.counter !== counter) continue;
    if (newest === null || each.atMs > newest.atMs || (each.atMs === newest.atMs && each.id > newest.id)) newest = each;
  }
  return newest === null ? sumOf(counter, first) : newest.value - (newest.sum ?? sumOf(counter, sums));
}

/** Names of custom counters are compared without regard to case. */
export function counterNameKey(name: string): string {
  return name.toLowerCase();
}

/** What a source comes to for a vehicle as it is defined. */
export function counterTermsOf(
  { source, sensorId }: Pick<CustomCounter, 'source' | 'sensorId'>,
  { sensors, tripGapMinutes }: Pick<Vehicle, 'sensors' | 'tripGapMinutes'>,
): Omit<CounterTerms, 'fromMs'> {
  const sensor = source === 'manual' ? undefined : sensors.find(({ id }) => id === sensorId);
  if (sensor === undefined) return { source, sensor: null, gapMs: 0 };
  // What it is called, and when it is an event, changes none of its values.
  const measured: Sensor = { ...sensor, name: '', unit: '', thresholds: [] };
  return { source, sensor: measured, gapMs: sensor.smoothing > 1 ? tripGapMinutes * 60_000 : 0 };
}

/** The terms of a counter with those that are in force from a time on. */
export function withTerms(
  terms: readonly CounterTerms[],
  next: Omit<CounterTerms, 'fromMs'>,
  fromMs: number,
): CounterTerms[] {
  const last = terms.at(-1);
  if (last !== undefined && JSON.stringify({ ...last, fromMs }) === JSON.stringify({ fromMs, ...next }))
    return [...terms];
  // Of several changes of one moment the last is what counts; a clock that was set back changes no order.
  const atMs = Math.max(fromMs, last?.fromMs ?? fromMs);
  const all = [...terms.filter((each) => each.fromMs < atMs), { fromMs: atMs, ...next }];
  if (all.length <= MAX_COUNTER_TERMS) return all;
  const [oldest, second, ...rest] = all as [CounterTerms, CounterTerms, ...CounterTerms[]];
  return [{ ...second, fromMs: oldest.fromMs }, ...rest];
}

/** The terms that a counter goes by at a time; undefined before the first. */
export function termsAt(terms: readonly CounterTerms[], atMs: number): CounterTerms | undefined {
  return terms.findLast(({ fromMs }) => fromMs <= atMs);
}

/** What readings added to a counter, up to one of them. */
export interface ReadStep {
  atMs: number;
  /** What readings added up to this one. */
  sum: number;
  /** What records added up to its time; null: not known yet. */
  counted: number | null;
}

/**
 * What readings add to a counter while people alone move it, by their times. The first is where it begins, and after a
 * lower one it goes on from there.
 *
 * @param corrections of one vehicle
 */
export function readSteps(
  { id, terms }: Pick<CustomCounter, 'id' | 'terms'>,
  corrections: readonly Pick<CounterCorrection, 'id' | 'counter' | 'atMs' | 'value' | 'sum'>[],
): ReadStep[] {
  const readings = corrections
    .filter((each) => each.counter === id)
    .toSorted((a, b) => a.atMs - b.atMs || (a.id < b.id ? -1 : 1))
    .map((each) => ({ ...each, ofThen: termsAt(terms, each.atMs) }))
    .filter(({ ofThen }) => ofThen?.source === 'manual');
  let sum = 0;
  return readings.map(({ atMs, value, sum: counted, ofThen }, nth) => {
    const before = readings[nth - 1];
    if (before !== undefined && before.ofThen === ofThen) sum += Math.max(0, value - before.value);
    return { atMs, sum, counted };
  });
}

/** What readings added up to a time. */
export function readSum(steps: readonly ReadStep[], atMs: number): number {
  return steps.findLast((step) => step.atMs <= atMs)?.sum ?? 0;
}
