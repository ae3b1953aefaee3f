import type { Brand } from '../ids.ts';

/** UUID of a sensor within its vehicle. Copies of the sensor in other vehicles have the same id. */
export type SensorId = Brand<string, 'SensorId'>;

/** Quantities that a sensor measures. Definitions refer to kinds by name; append new ones. */
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

/** Default unit of each kind. */
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

/** A raw value and the value that it is converted to. */
export interface CalibrationPoint {
  raw: number;
  value: number;
}

/** Raw values outside the table: extrapolate the nearest segment, or use the nearest value. */
export const CALIBRATION_OUTSIDE = ['extrapolate', 'clamp'] as const;
export type CalibrationOutside = (typeof CALIBRATION_OUTSIDE)[number];

/** When a threshold is exceeded: above or below a value, or inside or outside a range. */
export const THRESHOLD_CONDITIONS = ['above', 'below', 'inside', 'outside'] as const;
export type ThresholdCondition = (typeof THRESHOLD_CONDITIONS)[number];

/** Values of a sensor that cause an event. */
export interface SensorThreshold {
  /** UUID within the sensor. */
  id: string;
  condition: ThresholdCondition;
  /** `below` this, or the lower end of the range; null for `above`. */
  min: number | null;
  /** `above` this, or the upper end of the range; null for `below`. */
  max: number | null;
  /** How far a value must be back beyond the threshold for the event to end. */
  hysteresis: number;
  /** How long the value must exceed the threshold before the event begins. */
  forSeconds: number;
}

/** A quantity computed from a vehicle's records. */
export interface Sensor {
  id: SensorId;
  /** Unique within the vehicle, case-insensitively. */
  name: string;
  kind: SensorKind;
  /** Displayed unit, such as `°C`; may be empty. */
  unit: string;
  /** A CEL expression over the fields and attributes of a record. */
  source: string;
  /** Conversion table sorted by raw value, with linear interpolation. Empty: the raw value is the value. */
  calibration: readonly CalibrationPoint[];
  outside: CalibrationOutside;
  /** Values below or above are discarded; null: no bound. */
  validMin: number | null;
  validMax: number | null;
  /** Only records with the ignition on give values. */
  onlyWithIgnition: boolean;
  /** Number of records whose median is the value; 1: no smoothing. */
  smoothing: number;
  thresholds: readonly SensorThreshold[];
}

/** A sensor in a change of its vehicle. Without ids, sensors of the same name and equal thresholds keep their ids. */
export type SensorFields = Omit<Sensor, 'id' | 'thresholds'> & {
  id?: SensorId | null | undefined;
  thresholds: readonly (Omit<SensorThreshold, 'id'> & { id?: string | null | undefined })[];
};

/** Most sensors of a vehicle. */
export const MAX_SENSORS = 40;
/** Most points of a calibration table, thresholds of a sensor, and records of a median. */
export const MAX_CALIBRATION_POINTS = 200;
export const MAX_SENSOR_THRESHOLDS = 4;
export const MAX_SMOOTHING = 15;
/** Limit for all sensors of a vehicle as JSON, since each change of the vehicle is stored and sent with them. */
export const MAX_SENSORS_CHARACTERS = 32_768;
export const MAX_SOURCE_CHARACTERS = 500;

/** Key for comparing names of sensors case-insensitively. */
export function sensorNameKey(name: string): string {
  return name.toLowerCase();
}

/**
 * Gives ids to the sensors that have none.
 *
 * @param current the vehicle's current sensors, whose ids are kept
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
