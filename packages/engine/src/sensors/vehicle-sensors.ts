import type { Position, Sensor, SensorId } from '@outrider/domain';
import { Calibration } from './calibration.ts';
import { compileExpression, type Expression, ExpressionError, type Line } from './expression.ts';
import { type Range, safeRange } from './safe-range.ts';
import { blankWindow } from './window.ts';

/** A sensor with its compiled expression. */
export class CompiledSensor {
  readonly definition: Sensor;
  /** Values between these exceed no threshold; NaN where a threshold has the condition `inside`. */
  readonly safeMin: number;
  readonly safeMax: number;
  /** Whether every record must be evaluated, for a median or a threshold. */
  readonly isFollowed: boolean;
  /**
   * Range of the source's attribute or field within which no value exceeds a threshold; null where only the value can
   * show that.
   */
  readonly guard: Guard | null;
  readonly #rawOf: Expression['evaluate'];
  readonly #onlyWithIgnition: boolean;
  readonly #calibration: Calibration | null;
  readonly #validMin: number;
  readonly #validMax: number;

  constructor(definition: Sensor) {
    this.definition = definition;
    const { thresholds, smoothing, validMin, validMax, onlyWithIgnition, calibration } = definition;
    const hasInside = thresholds.some(({ condition }) => condition === 'inside');
    this.safeMin = hasInside ? Number.NaN : Math.max(...thresholds.map(({ min }) => min ?? Number.NEGATIVE_INFINITY));
    this.safeMax = hasInside ? Number.NaN : Math.min(...thresholds.map(({ max }) => max ?? Number.POSITIVE_INFINITY));
    this.isFollowed = smoothing > 1 || thresholds.length > 0;
    const { evaluate, line } = expressionOf(definition);
    this.#rawOf = evaluate;
    this.#onlyWithIgnition = onlyWithIgnition;
    this.#calibration = calibration.length === 0 ? null : new Calibration(definition);
    this.#validMin = validMin ?? -Number.MAX_VALUE;
    this.#validMax = validMax ?? Number.MAX_VALUE;
    this.guard = smoothing > 1 || hasInside || line === null ? null : this.#guardOf(line);
  }

  #guardOf(line: Line): Guard | null {
    const values = { min: Math.max(this.safeMin, this.#validMin), max: Math.min(this.safeMax, this.#validMax) };
    const range = safeRange(line, this.definition.calibration, this.definition.outside === 'clamp', values);
    return range && { ...line, ...range };
  }

  /**
   * Calibrated value from a record, not smoothed. NaN where none exists: the record lacks data that the expression
   * needs, the value is invalid, or the ignition is not on where it must be.
   */
  valueOf(record: Position): number {
    if (this.#onlyWithIgnition && record.ignition !== true) return Number.NaN;
    let value = this.#rawOf(record);
    if (this.#calibration !== null) {
      if (!Number.isFinite(value)) return Number.NaN;
      value = this.#calibration.valueOf(value);
    }
    // Adding 0 turns -0 into 0: -0 would be displayed as such, and would not compare as equal in medians.
    return value >= this.#validMin && value <= this.#validMax ? value + 0 : Number.NaN;
  }
}

/** A sensor's linear source with the range of its attribute or field that exceeds no threshold. */
export type Guard = Pick<Line, 'attribute' | 'field' | 'takesStates'> & Range;

/** Whether a record has no number for the guard, or one that exceeds no threshold. */
function isSafe({ attribute, field, takesStates, min, max }: Guard, record: Position): boolean {
  const read = attribute === null ? field?.(record) : record.attributes?.[attribute];
  const value = typeof read === 'boolean' && takesStates ? Number(read) : read;
  return typeof value !== 'number' || (value >= min && value <= max);
}

/** A sensor of a vehicle, with the indices of its numbers in the vehicle's list; see `SensorStates`. */
export interface SensorPlace {
  sensor: CompiledSensor;
  nth: number;
  /** Index of the time of its newest value; the value follows. */
  at: number;
  /** Index of its window; -1 without a median filter. */
  windowAt: number;
}

/** The sensors of a vehicle, compiled once and shared between vehicles with the same sensors. */
export class VehicleSensors {
  readonly all: readonly CompiledSensor[];
  readonly places: readonly SensorPlace[];
  /** Sensors that need every record, for a median or a threshold. */
  readonly followed: readonly SensorPlace[];
  /** Those of them whose values can be computed later, while {@link areSafe} holds. */
  readonly patient: readonly SensorPlace[];
  readonly impatient: readonly SensorPlace[];
  /** The other sensors: their values are computed on request. */
  readonly shown: readonly SensorPlace[];
  readonly #guards: readonly Guard[];
  readonly #levels: readonly CompiledSensor[];
  readonly #blank: readonly number[];

  constructor(all: readonly CompiledSensor[]) {
    this.all = all;
    const blank = all.flatMap(() => [Number.NaN, Number.NaN]);
    this.places = all.map((sensor, nth): SensorPlace => {
      const { smoothing } = sensor.definition;
      const windowAt = smoothing > 1 ? blank.length : -1;
      if (smoothing > 1) blank.push(...blankWindow(smoothing));
      return { sensor, nth, at: 2 * nth, windowAt };
    });
    this.#blank = blank;
    this.followed = this.places.filter(({ sensor }) => sensor.isFollowed);
    const isPatient = ({ sensor }: SensorPlace) => sensor.guard !== null || sensor.definition.thresholds.length === 0;
    this.patient = this.followed.filter(isPatient);
    this.impatient = this.followed.filter((place) => !isPatient(place));
    this.#guards = this.patient.flatMap(({ sensor }) => (sensor.guard === null ? [] : [sensor.guard]));
    this.shown = this.places.filter(({ sensor }) => !sensor.isFollowed);
    this.#levels = this.all.filter(({ definition }) => definition.kind === 'fuel-level');
  }

  /** Initial numbers of a vehicle whose sensors have no values yet. */
  blankNumbers(): number[] {
    return this.#blank.slice();
  }

  /** Whether a record gives the patient sensors no value that exceeds a threshold. */
  areSafe(record: Position): boolean {
    const guards = this.#guards;
    for (let i = 0; i < guards.length; i++) if (!isSafe(guards[i] as Guard, record)) return false;
    return true;
  }

  /** Whether the tank level comes from sensors, not from the terminal's own `fuelL`. */
  get measuresLevel(): boolean {
    return this.#levels.length > 0;
  }

  get(id: SensorId): CompiledSensor | undefined {
    return this.all.find(({ definition }) => definition.id === id);
  }

  /**
   * Litres in the tanks: the sum of all fuel-level sensors, not smoothed; without any, the terminal's value. Null where
   * one of them gives no value.
   */
  levelL(record: Position): number | null {
    const levels = this.#levels;
    if (levels.length === 0) return record.fuelL;
    let sum = 0;
    for (let i = 0; i < levels.length; i++) sum += (levels[i] as CompiledSensor).valueOf(record);
    return Number.isFinite(sum) ? sum : null;
  }
}

const NONE = new VehicleSensors([]);
const compiled = new WeakMap<readonly Sensor[], VehicleSensors>();

/** The compiled sensors of a vehicle's definition. Each list is compiled once. */
export function vehicleSensors(sensors: readonly Sensor[]): VehicleSensors {
  if (sensors.length === 0) return NONE;
  let known = compiled.get(sensors);
  if (known === undefined) {
    known = sharedSensors(sensors);
    compiled.set(sensors, known);
  }
  return known;
}

/** The median of values; of an even number of them, the mean of the middle two. NaN without any. */
export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Sensors copied to many vehicles share one compiled sensor, and so the processor's cache. */
const shared = new Map<string, { sensor: CompiledSensor; serial: number }>();
/** Keyed by the serial numbers of the sensors, which are never reused. */
const sharedLists = new Map<string, VehicleSensors>();
let serials = 0;

function sharedSensors(definitions: readonly Sensor[]): VehicleSensors {
  const all = definitions.map(sharedSensor);
  const key = all.map(({ serial }) => serial).join();
  let sensors = sharedLists.get(key);
  if (sensors === undefined) {
    sensors = new VehicleSensors(all.map(({ sensor }) => sensor));
    if (sharedLists.size === MAX_KNOWN) sharedLists.clear();
    sharedLists.set(key, sensors);
  }
  return sensors;
}

function sharedSensor(definition: Sensor): { sensor: CompiledSensor; serial: number } {
  const key = JSON.stringify(definition);
  let known = shared.get(key);
  if (known === undefined) {
    known = { sensor: new CompiledSensor(definition), serial: serials++ };
    if (shared.size === MAX_KNOWN) shared.clear();
    shared.set(key, known);
  }
  return known;
}

/** Limit of the cache. Most vehicles of a fleet have the same sensors. */
const MAX_KNOWN = 2000;
const known = new Map<string, Expression>();

/** Another version may have stored an expression that this one rejects: such a sensor has no values. */
function expressionOf({ source }: Sensor): Expression {
  const same = known.get(source);
  if (same !== undefined) return same;
  let expression: Expression = { evaluate: () => Number.NaN, line: null };
  try {
    expression = compileExpression(source);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
  }
  if (known.size === MAX_KNOWN) known.clear();
  known.set(source, expression);
  return expression;
}
