import type { Brand, UserId, VehicleId } from './ids.ts';
import type { Sensor, SensorId } from './resources/sensor.ts';
import type { Vehicle } from './resources/vehicle.ts';

/** UUID of a correction of a counter. */
export type CounterCorrectionId = Brand<string, 'CounterCorrectionId'>;
/** UUID of a custom counter of a vehicle. */
export type CustomCounterId = Brand<string, 'CustomCounterId'>;

/** Counters that every vehicle has. */
export const COUNTERS = ['odometer', 'engine-hours'] as const;
export type CounterName = (typeof COUNTERS)[number];
/** Any counter of a vehicle. */
export type CounterKey = CounterName | CustomCounterId;

/**
 * Source of a custom counter's value: readings entered by people, a running total from a sensor, or the hours during
 * which a digital sensor is on.
 */
export const COUNTER_SOURCES = ['manual', 'sensor-total', 'sensor-hours'] as const;
export type CounterSource = (typeof COUNTER_SOURCES)[number];
/** Unit of hour counters. */
export const HOURS_UNIT = 'h';
/** Limit for one vehicle. */
export const MAX_CUSTOM_COUNTERS = 10;
/** Limit for one counter. Beyond it, the oldest terms are dropped: a recount applies the next ones to their time. */
export const MAX_COUNTER_TERMS = 12;

/** How a custom counter is computed from a time on, with all that a recount of the past needs. */
export interface CounterTerms {
  /** Unix milliseconds, compared with the times of records and of manual readings. */
  fromMs: number;
  source: CounterSource;
  /** The sensor as it was defined then; null: the source is no sensor, or the sensor was deleted. */
  sensor: Sensor | null;
  /** After this time without a value the sensor's median filter is reset; 0: the sensor has no median filter. */
  gapMs: number;
}

/** A counter that people defined for a vehicle. */
export interface CustomCounter {
  id: CustomCounterId;
  version: number;
  vehicleId: VehicleId;
  /** Unique within the vehicle, case-insensitively. */
  name: string;
  /** Unit of the counter: hours where it counts time. */
  unit: string;
  source: CounterSource;
  /** Null: only manual readings move the counter. The sensor may have been deleted. */
  sensorId: SensorId | null;
  /** Counting starts at this time. */
  startsAtMs: number;
  /** Ordered by time; the last terms are in force. */
  terms: readonly CounterTerms[];
  createdAtMs: number;
}

/** Sums of custom counters in their units, keyed by id; a missing sum is 0. */
export type CustomSums = Readonly<Record<string, number>>;

/** What was counted since the first record. Sums only grow: corrections do not change them. */
export interface CounterSums {
  odometerM: number;
  engineMs: number;
  custom: CustomSums;
}

/** A custom counter with its displayed value. */
export interface ShownCounter extends CustomCounter {
  value: number;
}

/** A vehicle's counters as people see them: the counted sums with the corrections applied. */
export interface VehicleCounters {
  vehicleId: VehicleId;
  /** Unix milliseconds of the newest record that is counted. */
  atMs: number;
  odometerM: number;
  engineMs: number;
  /** In order of creation. */
  custom: readonly ShownCounter[];
  /** False while a recount is pending: records from before `atMs` came late, or a value was set for an earlier time. */
  settled: boolean;
}

/** Value that a counter showed at a time. Counting continues from it. */
export interface CounterCorrection {
  id: CounterCorrectionId;
  vehicleId: VehicleId;
  counter: CounterKey;
  /** Unix milliseconds. */
  atMs: number;
  /** Metres or milliseconds; for a custom counter, in its unit. */
  value: number;
  /** The sum counted up to `atMs`; null until it is known. */
  sum: number | null;
  note: string | null;
  createdBy: UserId | null;
  createdAtMs: number;
}

/** The sum that belongs to a counter. */
export function sumOf(counter: CounterKey, sums: CounterSums): number {
  if (counter === 'odometer') return sums.odometerM;
  return counter === 'engine-hours' ? sums.engineMs : (sums.custom[counter] ?? 0);
}

/**
 * What a counter shows beyond its counted sum. It follows from the correction with the latest `atMs`, or without any
 * from the terminal's first reading.
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

/** Key for comparing names of custom counters case-insensitively. */
export function counterNameKey(name: string): string {
  return name.toLowerCase();
}

/** The terms of a counter by the current definition of its vehicle. */
export function counterTermsOf(
  { source, sensorId }: Pick<CustomCounter, 'source' | 'sensorId'>,
  { sensors, tripGapMinutes }: Pick<Vehicle, 'sensors' | 'tripGapMinutes'>,
): Omit<CounterTerms, 'fromMs'> {
  const sensor = source === 'manual' ? undefined : sensors.find(({ id }) => id === sensorId);
  if (sensor === undefined) return { source, sensor: null, gapMs: 0 };
  // Name, unit and thresholds of a sensor do not change its values.
  const measured: Sensor = { ...sensor, name: '', unit: '', thresholds: [] };
  return { source, sensor: measured, gapMs: sensor.smoothing > 1 ? tripGapMinutes * 60_000 : 0 };
}

/** Appends the terms that are in force from a time on. */
export function withTerms(
  terms: readonly CounterTerms[],
  next: Omit<CounterTerms, 'fromMs'>,
  fromMs: number,
): CounterTerms[] {
  const last = terms.at(-1);
  if (last !== undefined && JSON.stringify({ ...last, fromMs }) === JSON.stringify({ fromMs, ...next }))
    return [...terms];
  // Of several changes at one moment the last counts. A clock that was set back does not change the order.
  const atMs = Math.max(fromMs, last?.fromMs ?? fromMs);
  const all = [...terms.filter((each) => each.fromMs < atMs), { fromMs: atMs, ...next }];
  if (all.length <= MAX_COUNTER_TERMS) return all;
  const [oldest, second, ...rest] = all as [CounterTerms, CounterTerms, ...CounterTerms[]];
  return [{ ...second, fromMs: oldest.fromMs }, ...rest];
}

/** The terms in force at a time; undefined before the first. */
export function termsAt(terms: readonly CounterTerms[], atMs: number): CounterTerms | undefined {
  return terms.findLast(({ fromMs }) => fromMs <= atMs);
}

/** Sum of the manual readings up to one of them. */
export interface ReadStep {
  atMs: number;
  /** What manual readings added up to this one. */
  sum: number;
  /** What records added up to this time; null: not known yet. */
  counted: number | null;
}

/**
 * What manual readings add to a counter while its source is `manual`, ordered by time. The first reading is the start.
 * A reading lower than the one before adds nothing.
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

/** What manual readings added up to a time. */
export function readSum(steps: readonly ReadStep[], atMs: number): number {
  return steps.findLast((step) => step.atMs <= atMs)?.sum ?? 0;
}
