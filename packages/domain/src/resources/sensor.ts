import type { Brand } from '../ids.ts';

/** UUID of a sensor within its vehicle: vehicles that it was copied to have it under the same. */
export type SensorId = Brand<string, 'SensorId'>;

/** What a sensor measures. Definitions name kinds; a new one goes to the end. */
export const SENSOR_KINDS = [
  'fuel-level',
  'fuel-used',
  'temperature',
  'humidity',
  'digital',
  'engine-hours',
  'odometer',
  'rpm',
  'voltage',
  'weight',
  'tyre-pressure',
  'custom',
] as const;
export type SensorKind = (typeof SENSOR_KINDS)[number];

/** What values of each kind are in, where a sensor says nothing else. */
export const SENSOR_UNITS: Readonly<Record<SensorKind, string>> = {
  'fuel-level': 'l',
  'fuel-used': 'l',
  temperature: '°C',
  humidity: '%',
  digital: '',
  'engine-hours': 'h',
  odometer: 'km',
  rpm: 'rpm',
  voltage: 'V',
  weight: 'kg',
  'tyre-pressure': 'kPa',
  custom: '',
};

/** A raw value, and what it stands for. */
export interface CalibrationPoint {
  raw: number;
  value: number;
}

/** Raw values beyond the table: the nearest segment goes on, or the nearest value holds. */
export const CALIBRATION_OUTSIDE = ['extrapolate', 'clamp'] as const;
export type CalibrationOutside = (typeof CALIBRATION_OUTSIDE)[number];

/** When a threshold is exceeded: over or under a value, or within or beyond a range. */
export const THRESHOLD_CONDITIONS = ['above', 'below', 'inside', 'outside'] as const;
export type ThresholdCondition = (typeof THRESHOLD_CONDITIONS)[number];

/** Values of a sensor that are an event. */
export interface SensorThreshold {
  /** UUID within the sensor. */
  id: string;
  condition: ThresholdCondition;
  /** `below` this, or the lower end of the range; null for `above`. */
  min: number | null;
  /** `above` this, or the upper end of the range; null for `below`. */
  max: number | null;
  /** How far behind the threshold a value must be for the event to end. */
  hysteresis: number;
  /** The event begins after the value was so for this long. */
  forSeconds: number;
}

/** A quantity that is made of a vehicle's records. */
export interface Sensor {
  id: SensorId;
  /** Unique within the vehicle, whatever the case. */
  name: string;
  kind: SensorKind;
  /** As it is shown, such as `°C`; may be empty. */
  unit: string;
  /** A CEL expression over the fields and attributes of a record. */
  source: string;
  /** Raw values and what they stand for, the raw ones growing; linear between. Empty: the raw value is the value. */
  calibration: readonly CalibrationPoint[];
  outside: CalibrationOutside;
  /** Values below or above do not count; null: no bound. */
  validMin: number | null;
  validMax: number | null;
  /** Only records whose ignition is on give values. */
  onlyWithIgnition: boolean;
  /** The value is the median of those of so many records; 1: of the record alone. */
  smoothing: number;
  thresholds: readonly SensorThreshold[];
}

/** A sensor as a change of its vehicle names it: without ids, those of the same name and of equal thresholds stay. */
export type SensorFields = Omit<Sensor, 'id' | 'thresholds'> & {
  id?: SensorId | null | undefined;
  thresholds: readonly (Omit<SensorThreshold, 'id'> & { id?: string | null | undefined })[];
};

/** At most so many sensors of a vehicle, … */
export const MAX_SENSORS = 40;
/** … points of a table, thresholds of a sensor, and records of a median. */
export const MAX_CALIBRATION_POINTS = 200;
export const MAX_SENSOR_THRESHOLDS = 4;
export const MAX_SMOOTHING = 15;
/** All sensors of a vehicle as JSON: each change of the vehicle is stored and sent with them. */
export const MAX_SENSORS_CHARACTERS = 32_768;
export const MAX_SOURCE_CHARACTERS = 500;

/** Names of sensors are compared without regard to case. */
export function sensorNameKey(name: string): string {
  return name.toLowerCase();
}

/**
 * Gives ids to the sensors that have none.
 *
 * @param current those that the vehicle has, whose ids stay
 */
export function identifiedSensors(
  sensors: readonly SensorFields[],
  current: readonly Sensor[],
  newId: () => string,
): Sensor[] {
  return sensors.map((fields) => {
    const known =
      current.find(({ id }) => id === fields.id) ??
      (fields.id ? undefined : current.find(({ name }) => sensorNameKey(name) === sensorNameKey(fields.name)));
    return {
      id: fields.id ?? known?.id ?? (newId() as SensorId),
      name: fields.name,
      kind: fields.kind,
      unit: fields.unit,
      source: fields.source,
      calibration: fields.calibration.map(({ raw, value }) => ({ raw, value })),
      outside: fields.outside,
      validMin: fields.validMin,
      validMax: fields.validMax,
      onlyWithIgnition: fields.onlyWithIgnition,
      smoothing: fields.smoothing,
      thresholds: fields.thresholds.map(({ id, condition, min, max, hysteresis, forSeconds }) => {
        const terms = { condition, min, max, hysteresis, forSeconds };
        const same = known?.thresholds.find((each) => sameTerms(each, terms));
        return { id: id ?? same?.id ?? newId(), ...terms };
      }),
    };
  });
}

function sameTerms(a: SensorThreshold, b: Omit<SensorThreshold, 'id'>): boolean {
  return (
    a.condition === b.condition &&
    a.min === b.min &&
    a.max === b.max &&
    a.hysteresis === b.hysteresis &&
    a.forSeconds === b.forSeconds
  );
}
