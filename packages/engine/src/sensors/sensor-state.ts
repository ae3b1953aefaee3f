import {
  deriveEventId,
  type EventId,
  type FleetEvent,
  type Position,
  type Sensor,
  type SensorThreshold,
  type SensorThresholdExceeded,
} from '@outrider/domain';
import { lastingFacts } from '../lasting.ts';
import type { Moment, VehicleState } from '../vehicle-state.ts';
import type { CompiledSensor, SensorPlace, VehicleSensors } from './vehicle-sensors.ts';
import {
  addToWindow,
  clearWindow,
  fillWindow,
  medianIn,
  noteUnsafe,
  type WindowEntry,
  windowEntries,
} from './window.ts';

/** A time range in which a threshold is exceeded, from the first record that shows it. */
export interface ThresholdRun {
  threshold: SensorThreshold;
  start: Moment;
  /** False while it is shorter than the threshold's `forSeconds` and not yet published. */
  reported: boolean;
  /** Value farthest beyond the threshold up to now. */
  peakValue: number;
  definitionVersion: number;
  /** Event id, set on first use; not part of the checkpointed state. */
  id: EventId | null;
}

/** A value of a sensor with the time of its record. */
export interface SensorValue {
  atMs: number;
  value: number;
}

/** State of a sensor that exceeded a threshold at least once, without its values. */
export interface SensorState {
  place: SensorPlace;
  /** Place of the vehicle at the newest value beyond a threshold; only set once such a value exists. */
  where: Moment | null;
  runs: ThresholdRun[];
}

/** The states of a vehicle's sensors. */
export interface SensorStates {
  sensors: VehicleSensors;
  /** States of sensors that exceeded a threshold, in the order of the sensors. Most vehicles have none. */
  beyond: readonly SensorState[];
  /**
   * For each sensor the time of the newest record with a value, and that smoothed value; both NaN before the first. The
   * windows of medians follow. One list holds all sensors: while no value is beyond a threshold, a record accesses only
   * this part of the vehicle's memory, and memory access dominates the cost.
   *
   * A median is computed on request ({@link newestOf}), unless a threshold needs it; until then its value is NaN.
   */
  numbers: number[];
  /** Number of runs over all sensors. */
  runCount: number;
  /**
   * Records from which the values of the shown sensors are not computed yet, in order of time; null before the first.
   * Not checkpointed.
   */
  waiting: Position[] | null;
  /**
   * Records that exceeded no threshold of the patient sensors and from which their values are not computed yet, in
   * order of time; null before the first. Not checkpointed.
   */
  safe: Position[] | null;
  /** Gap without a value after which windows are reset, by the definition in force for the records in `safe`. */
  gapMs: number;
}

/** Most records of a vehicle that are kept to compute their values later. */
const MAX_WAITING = 32;

const NONE_BEYOND: readonly SensorState[] = [];

export function freshSensors(sensors: VehicleSensors): SensorStates | null {
  if (sensors.all.length === 0) return null;
  return {
    sensors,
    beyond: NONE_BEYOND,
    numbers: sensors.blankNumbers(),
    runCount: 0,
    waiting: null,
    safe: null,
    gapMs: 0,
  };
}

/** Null where the sensor never exceeded a threshold. */
export function beyondOf({ beyond }: SensorStates, place: SensorPlace): SensorState | null {
  for (let i = 0; i < beyond.length; i++)
    if ((beyond[i] as SensorState).place === place) return beyond[i] as SensorState;
  return null;
}

function madeBeyond(states: SensorStates, place: SensorPlace): SensorState {
  const state: SensorState = { place, where: null, runs: [] };
  states.beyond = [...states.beyond, state].sort((a, b) => a.place.nth - b.place.nth);
  return state;
}

/** The newest value of a sensor, smoothed, and the time of its record; null before the first. */
export function newestOf({ numbers }: SensorStates, { at, windowAt, sensor }: SensorPlace): SensorValue | null {
  const atMs = numbers[at] as number;
  if (Number.isNaN(atMs)) return null;
  if (Number.isNaN(numbers[at + 1])) numbers[at + 1] = medianIn(numbers, windowAt, sensor.definition.smoothing);
  return { atMs, value: numbers[at + 1] as number };
}

/** A sensor's window, oldest value first; empty where it has no median filter. */
export function windowOf({ numbers }: SensorStates, { windowAt, sensor }: SensorPlace): WindowEntry[] {
  return windowAt < 0 ? [] : windowEntries(numbers, windowAt, sensor.definition.smoothing);
}

/**
 * False where a threshold depends on a median that includes a value from `atMs` or earlier: late data from before then
 * may have changed it.
 */
export function hasMediansAfter(states: SensorStates, atMs: number): boolean {
  return states.sensors.followed.every((place) => {
    const [oldest] = place.sensor.definition.thresholds.length === 0 ? [] : windowOf(states, place);
    return oldest === undefined || oldest[0] > atMs;
  });
}

/** Restores the state of a sensor. */
export function restore(
  states: SensorStates,
  place: SensorPlace,
  newest: SensorValue | null,
  window: readonly WindowEntry[],
  where: Moment | null,
  runs: ThresholdRun[],
): void {
  const { numbers } = states;
  const { at, windowAt, sensor } = place;
  if (newest !== null) {
    numbers[at] = newest.atMs;
    numbers[at + 1] = newest.value;
  }
  if (windowAt >= 0) fillWindow(numbers, windowAt, sensor.definition.smoothing, window);
  if (where === null && runs.length === 0) return;
  const state = madeBeyond(states, place);
  state.where = where;
  state.runs = runs;
  states.runCount += runs.length;
}

/**
 * Evaluates a record for the sensors that need every record. Records older than the newest are ignored; of several
 * records of one time the first with a value counts.
 *
 * @param place the good fix assumed as the vehicle's place at the time of the record
 * @param speedKmh at that fix
 * @param gapMs after this long without a value, conditions in progress end
 */
export function followSensors(
  vehicle: VehicleState,
  states: SensorStates,
  version: number,
  record: Position,
  place: Position,
  speedKmh: number | null,
  gapMs: number,
  events: FleetEvent[],
): void {
  const { fixTimeMs } = record;
  if (fixTimeMs < vehicle.recordAtMs) return;
  const { numbers, sensors } = states;
  let { followed } = sensors;
  if (states.runCount === 0 && sensors.areSafe(record)) {
    if (sensors.patient.length > 0) keepSafe(states, record, gapMs);
    followed = sensors.impatient;
  } else makeSafeValues(states);
  for (let i = 0; i < followed.length; i++) {
    const each = followed[i] as SensorPlace;
    const { sensor, at, windowAt } = each;
    const newestMs = numbers[at] as number;
    if (newestMs >= fixTimeMs) continue;
    let value = sensor.valueOf(record);
    if (!Number.isFinite(value)) continue;
    if (fixTimeMs - newestMs > gapMs) endByGap(vehicle, states, each, fixTimeMs, events);
    numbers[at] = fixTimeMs;
    let isSafe = value >= sensor.safeMin && value <= sensor.safeMax;
    if (windowAt >= 0) {
      const { smoothing } = sensor.definition;
      addToWindow(numbers, windowAt, smoothing, fixTimeMs, value);
      numbers[at + 1] = Number.NaN;
      if (!noteUnsafe(numbers, windowAt, smoothing, !isSafe) && states.runCount === 0) continue;
      value = medianIn(numbers, windowAt, smoothing);
      isSafe = value >= sensor.safeMin && value <= sensor.safeMax;
    }
    numbers[at + 1] = value;
    if (isSafe && states.runCount === 0) continue;
    let state = beyondOf(states, each);
    if (isSafe && (state === null || state.runs.length === 0)) continue;
    state ??= madeBeyond(states, each);
    const runsBefore = state.runs.length;
    const { thresholds } = sensor.definition;
    const where = placeAt(state, fixTimeMs, place, speedKmh);
    for (let n = 0; n < thresholds.length; n++)
      judge(vehicle, state, thresholds[n] as SensorThreshold, value, where, version, events);
    states.runCount += state.runs.length - runsBefore;
  }
}

/** Keeps a record to compute its values later: nearly all records are superseded before their values are needed. */
function keepSafe(states: SensorStates, record: Position, gapMs: number): void {
  if (gapMs !== states.gapMs) {
    makeSafeValues(states);
    states.gapMs = gapMs;
  }
  states.safe ??= [];
  if (states.safe.push(record) > MAX_WAITING) makeSafeValues(states);
}

/** Computes the values of the patient sensors from the records that exceeded no threshold. */
function makeSafeValues(states: SensorStates): void {
  const { sensors, numbers, safe } = states;
  if (safe === null || safe.length === 0) return;
  for (const { sensor, at, windowAt } of sensors.patient) {
    const values = newestValues(sensor, safe, numbers[at] as number, states.gapMs);
    const newest = values[0];
    if (newest === undefined) continue;
    if (windowAt >= 0) {
      const { smoothing } = sensor.definition;
      if ((values.at(-1) as SensorValue).atMs - (numbers[at] as number) > states.gapMs) clearWindow(numbers, windowAt);
      for (const { atMs, value } of values.reverse()) {
        addToWindow(numbers, windowAt, smoothing, atMs, value);
        noteUnsafe(numbers, windowAt, smoothing, false);
      }
    }
    numbers[at] = newest.atMs;
    numbers[at + 1] = windowAt < 0 ? newest.value : Number.NaN;
  }
  safe.length = 0;
}

/**
 * The newest values from records newer than `afterMs`, newest first: as many as the sensor's median needs, and without
 * a gap. Of several records of one time the first with a value counts.
 */
function newestValues(sensor: CompiledSensor, records: readonly Position[], afterMs: number, gapMs: number) {
  const values: SensorValue[] = [];
  for (let nth = records.length - 1; nth >= 0; nth--) {
    const record = records[nth] as Position;
    const atMs = record.fixTimeMs;
    const last = values.at(-1);
    // NaN compares as false: before the first value, all records are newer.
    if (atMs <= afterMs) break;
    if (last !== undefined && last.atMs > atMs)
      if (values.length === Math.max(1, sensor.definition.smoothing) || last.atMs - atMs > gapMs) break;
    const value = sensor.valueOf(record);
    if (!Number.isFinite(value)) continue;
    if (last?.atMs === atMs) last.value = value;
    else values.push({ atMs, value });
  }
  return values;
}

/** Stores the vehicle's place. One object is reused: records come all the time, events rarely. */
function placeAt(state: SensorState, atMs: number, { latitude, longitude }: Position, speedKmh: number | null): Moment {
  const { where } = state;
  if (where === null) {
    state.where = { atMs, latitude, longitude, speedKmh };
    return state.where;
  }
  where.atMs = atMs;
  where.latitude = latitude;
  where.longitude = longitude;
  where.speedKmh = speedKmh;
  return where;
}

/**
 * Keeps records for the sensors that no rule follows. {@link makeValues} computes their values on request: nearly all
 * records are superseded before that.
 *
 * @param records in order of time
 */
export function noteRecords(states: SensorStates, records: readonly Position[], untilMs: number): void {
  if (states.sensors.shown.length === 0) return;
  states.waiting ??= [];
  const { waiting } = states;
  for (let i = 0; i < records.length; i++) {
    const record = records[i] as Position;
    const { fixTimeMs } = record;
    if (fixTimeMs > untilMs) break;
    let at = waiting.length;
    while (at > 0 && (waiting[at - 1] as Position).fixTimeMs > fixTimeMs) at--;
    if (at === waiting.length) waiting.push(record);
    else waiting.splice(at, 0, record);
  }
  if (waiting.length > MAX_WAITING) makeValues(states);
}

/** Computes the pending newest values of all sensors: for each, from the newest record with a value. */
export function makeValues(states: SensorStates): void {
  makeSafeValues(states);
  const { sensors, numbers, waiting } = states;
  const { shown } = sensors;
  if (waiting === null || waiting.length === 0) return;
  for (let i = 0; i < shown.length; i++) {
    const { sensor, at } = shown[i] as SensorPlace;
    for (let nth = waiting.length - 1; nth >= 0; nth--) {
      const record = waiting[nth] as Position;
      if (record.fixTimeMs < (numbers[at] as number)) break;
      const value = sensor.valueOf(record);
      if (!Number.isFinite(value)) continue;
      numbers[at] = record.fixTimeMs;
      numbers[at + 1] = value;
      break;
    }
  }
  waiting.length = 0;
}

/**
 * The states under a new definition. Runs continue where neither sensor nor threshold changed; the others end at their
 * sensor's newest value.
 */
export function redefineSensors(
  vehicle: VehicleState,
  before: SensorStates | null,
  sensors: VehicleSensors,
  events: FleetEvent[],
): SensorStates | null {
  const after = freshSensors(sensors);
  if (before === null) return after;
  makeValues(before);
  for (const place of before.sensors.places) {
    const { definition } = place.sensor;
    const state = beyondOf(before, place);
    const next = sensors.places.find(({ sensor }) => sensor.definition.id === definition.id);
    const isSame = next !== undefined && measuresAlike(definition, next.sensor.definition);
    const runs: ThresholdRun[] = [];
    for (const run of state?.runs ?? []) {
      const threshold = next?.sensor.definition.thresholds.find(({ id }) => id === run.threshold.id);
      if (isSame && threshold !== undefined && termsOf(threshold) === termsOf(run.threshold)) runs.push(run);
      else if (run.reported) events.push(endOf(vehicle, before, place, run, 'sensor-changed'));
    }
    if (isSame && after !== null)
      restore(after, next, newestOf(before, place), windowOf(before, place), state?.where ?? null, runs);
  }
  return after;
}

/** Ends all runs because the vehicle is no longer defined. */
export function endSensorsByDefinition(vehicle: VehicleState, states: SensorStates, events: FleetEvent[]): void {
  for (const { place, runs } of states.beyond)
    for (const run of runs) if (run.reported) events.push(endOf(vehicle, states, place, run, 'no-longer-watched'));
}

export function runId(vehicle: VehicleState, run: ThresholdRun, { sensor }: SensorPlace): EventId {
  const subject = `${sensor.definition.id} ${run.threshold.id}`;
  run.id ??= deriveEventId('sensor-threshold', vehicle.id, subject, run.start.atMs);
  return run.id;
}

function judge(
  vehicle: VehicleState,
  state: SensorState,
  threshold: SensorThreshold,
  value: number,
  at: Moment,
  version: number,
  events: FleetEvent[],
): void {
  const { runs } = state;
  let run: ThresholdRun | undefined;
  for (let i = 0; i < runs.length; i++) if (runs[i]?.threshold.id === threshold.id) run = runs[i];
  const isBeyond = exceeds(threshold, value);
  if (run === undefined) {
    if (!isBeyond) return;
    run = { threshold, start: { ...at }, reported: false, peakValue: value, definitionVersion: version, id: null };
    runs.push(run);
  } else if (run.reported ? hasReturned(threshold, value) : !isBeyond) {
    runs.splice(runs.indexOf(run), 1);
    if (run.reported) events.push(thresholdEvent(vehicle, state.place, run, at, value, 'returned', at.atMs));
    return;
  } else if (isFarther(threshold, value, run.peakValue)) run.peakValue = value;
  if (run.reported || at.atMs - run.start.atMs < threshold.forSeconds * 1000) return;
  run.reported = true;
  events.push(thresholdEvent(vehicle, state.place, run, null, value, null, at.atMs));
}

function endByGap(
  vehicle: VehicleState,
  states: SensorStates,
  place: SensorPlace,
  fixTimeMs: number,
  events: FleetEvent[],
): void {
  const state = beyondOf(states, place);
  if (state !== null) {
    for (const run of state.runs) if (run.reported) events.push(endOf(vehicle, states, place, run, 'gap', fixTimeMs));
    states.runCount -= state.runs.length;
    state.runs.length = 0;
  }
  if (place.windowAt >= 0) clearWindow(states.numbers, place.windowAt);
}

/** Ends a run at its sensor's newest value. */
function endOf(
  vehicle: VehicleState,
  states: SensorStates,
  place: SensorPlace,
  run: ThresholdRun,
  endReason: 'gap' | 'sensor-changed' | 'no-longer-watched',
  fixTimeMs: number | null = null,
): FleetEvent {
  const end = beyondOf(states, place)?.where ?? run.start;
  const value = newestOf(states, place)?.value ?? run.peakValue;
  return thresholdEvent(vehicle, place, run, end, value, endReason, fixTimeMs ?? end.atMs);
}

function exceeds({ condition, min, max }: SensorThreshold, value: number): boolean {
  const low = min ?? -Number.MAX_VALUE;
  const high = max ?? Number.MAX_VALUE;
  switch (condition) {
    case 'above':
      return value > high;
    case 'below':
      return value < low;
    case 'inside':
      return value >= low && value <= high;
    case 'outside':
      return value < low || value > high;
  }
}

function hasReturned({ condition, min, max, hysteresis }: SensorThreshold, value: number): boolean {
  const low = min ?? -Number.MAX_VALUE;
  const high = max ?? Number.MAX_VALUE;
  switch (condition) {
    case 'above':
      return value <= high - hysteresis;
    case 'below':
      return value >= low + hysteresis;
    case 'inside':
      return value < low - hysteresis || value > high + hysteresis;
    case 'outside':
      return value >= low + hysteresis && value <= high - hysteresis;
  }
}

/** Whether a value is farther beyond the threshold than another. */
function isFarther({ condition, min, max }: SensorThreshold, value: number, than: number): boolean {
  if (condition === 'inside') return false;
  const beyond = (each: number) => Math.max(each - (max ?? Number.MAX_VALUE), (min ?? -Number.MAX_VALUE) - each);
  return beyond(value) > beyond(than);
}

/** Whether two sensors give the same values. */
function measuresAlike(a: Sensor, b: Sensor): boolean {
  return JSON.stringify(measureOf(a)) === JSON.stringify(measureOf(b));
}

function measureOf({ id: _, name: __, thresholds: ___, ...terms }: Sensor): object {
  return terms;
}

function termsOf({ condition, min, max, hysteresis, forSeconds }: SensorThreshold): string {
  return JSON.stringify([condition, min, max, hysteresis, forSeconds]);
}

function thresholdEvent(
  vehicle: VehicleState,
  place: SensorPlace,
  run: ThresholdRun,
  end: Moment | null,
  value: number,
  endReason: SensorThresholdExceeded['endReason'],
  fixTimeMs: number,
): SensorThresholdExceeded {
  const { start, threshold, peakValue, definitionVersion } = run;
  const { definition } = place.sensor;
  return {
    kind: 'sensor-threshold',
    ...lastingFacts(vehicle, { id: runId(vehicle, run, place), start, end, fixTimeMs, definitionVersion }),
    sensorId: definition.id,
    sensorName: definition.name,
    sensorKind: definition.kind,
    unit: definition.unit,
    thresholdId: threshold.id,
    condition: threshold.condition,
    min: threshold.min,
    max: threshold.max,
    value,
    peakValue,
    endReason,
  };
}
