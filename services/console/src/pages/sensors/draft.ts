import type { Sensor, SensorPresets, Vehicle } from '@outrider/client';

export type Kind = Sensor['kind'];
export type Threshold = Omit<Sensor['thresholds'][number], 'id'> & { id: string | null };
/** A sensor that is being edited. A new one has no id yet. */
export type SensorDraft = Omit<Sensor, 'id' | 'thresholds'> & { id: string | null; thresholds: Threshold[] };
export type Preset = SensorPresets['items'][number]['sensors'][number];

export const KINDS = [
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
] as const satisfies readonly Kind[];
export const CONDITIONS = ['above', 'below', 'inside', 'outside'] as const satisfies readonly Threshold['condition'][];
export const MOST_SENSORS = 40;
export const MOST_THRESHOLDS = 4;

const UNITS: Partial<Record<Kind, string>> = {
  'fuel-level': 'l',
  'fuel-used': 'l',
  temperature: '°C',
  humidity: '%',
  'engine-hours': 'h',
  odometer: 'km',
  rpm: 'rpm',
  voltage: 'V',
  weight: 'kg',
  'tyre-pressure': 'kPa',
};

/** Usual unit of a kind. */
export function unitOf(kind: Kind): string {
  return UNITS[kind] ?? '';
}

export function draftsOf({ sensors }: Pick<Vehicle, 'sensors'>): SensorDraft[] {
  return sensors.map((sensor) => ({ ...sensor, thresholds: [...sensor.thresholds] }));
}

export function newSensor(fields: Partial<SensorDraft> = {}): SensorDraft {
  return {
    id: null,
    name: '',
    kind: 'custom',
    unit: unitOf(fields.kind ?? 'custom'),
    source: '',
    calibration: [],
    outside: 'extrapolate',
    validMin: null,
    validMax: null,
    onlyWithIgnition: false,
    smoothing: 1,
    thresholds: [],
    ...fields,
  };
}

/** A name that no other sensor has: with a number where it is taken. */
export function freeName(wanted: string, sensors: readonly { name: string }[]): string {
  const taken = new Set(sensors.map(({ name }) => name.toLowerCase()));
  if (!taken.has(wanted.toLowerCase())) return wanted;
  for (let n = 2; ; n++) if (!taken.has(`${wanted} ${n}`.toLowerCase())) return `${wanted} ${n}`;
}

/** The sensors with those of presets appended. */
export function withPresets(sensors: readonly SensorDraft[], presets: readonly Preset[]): SensorDraft[] {
  const all = [...sensors];
  for (const preset of presets) all.push(newSensor({ ...preset, name: freeName(preset.name, all) }));
  return all;
}

/** The threshold with another condition. Bounds that this condition does not use are removed. */
export function withCondition(threshold: Threshold, condition: Threshold['condition']): Threshold {
  const { min, max } = threshold;
  return {
    ...threshold,
    condition,
    min: condition === 'above' ? null : (min ?? (condition === 'below' ? max : null)),
    max: condition === 'below' ? null : (max ?? (condition === 'above' ? min : null)),
  };
}

/** The list with one item moved to another place. */
export function moved<T>(items: readonly T[], from: number, to: number): T[] {
  const next = [...items];
  next.splice(to, 0, ...next.splice(from, 1));
  return next;
}

/** The fields of a sensor that a trial needs. */
export function termsOf({ id: _, name: __, unit: ___, thresholds: ____, ...terms }: SensorDraft) {
  return terms;
}

/** Position, from 0, in an expression that an error message names; null if it names none. */
export function errorPlace(detail: string): number | null {
  const [, at] = /^At character (\d+):/.exec(detail) ?? [];
  return at === undefined ? null : Number(at) - 1;
}

interface Family {
  family: string;
  title: string;
  sensors: readonly Preset[];
}

/**
 * Presets whose name, source or family contains the text. Those of the terminal's own protocol come first, then buses.
 *
 * @param protocol protocol of the vehicle's terminal; null if unknown
 */
export function foundPresets(families: readonly Family[], text: string, protocol: string | null): Family[] {
  const wanted = text.trim().toLowerCase();
  const has = (value: string) => value.toLowerCase().includes(wanted);
  return families
    .map((family) => ({
      ...family,
      sensors: has(family.title)
        ? family.sensors
        : family.sensors.filter(({ name, source }) => has(name) || has(source)),
    }))
    .filter(({ sensors }) => sensors.length > 0)
    .toSorted((a, b) => Number(b.family === protocol) - Number(a.family === protocol));
}
