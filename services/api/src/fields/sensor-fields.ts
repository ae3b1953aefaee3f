import {
  CALIBRATION_OUTSIDE,
  MAX_CALIBRATION_POINTS,
  MAX_SENSOR_THRESHOLDS,
  MAX_SENSORS,
  MAX_SENSORS_CHARACTERS,
  MAX_SMOOTHING,
  MAX_SOURCE_CHARACTERS,
  SENSOR_KINDS,
  type SensorFields,
  type SensorId,
  sensorNameKey,
  THRESHOLD_CONDITIONS,
} from '@outrider/domain';
import { compileExpression, ExpressionError } from '@outrider/engine';
import { z } from 'zod';
import { id, idOut, line } from './fields.ts';

const REAL = z.number().min(-1e12).max(1e12);
const TEXT_EXAMPLE = 'temperature1C';

/** Source of a sensor. A refusal states the position and the reason of the fault. */
export const sensorSource = z
  .string()
  .min(1)
  .max(MAX_SOURCE_CHARACTERS)
  .superRefine((source, context) => {
    try {
      compileExpression(source);
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      context.addIssue({ code: 'custom', message: `At character ${error.at + 1}: ${error.message}` });
    }
  })
  .meta({
    description:
      'A CEL expression over the last record: its fields (`speedKmh`, `ignition`, `supplyV`, `fuelL`, …) and attributes by their names, `attributes["…"]` where a name is no identifier. Numbers are doubles. Beside the operators there are `min`, `max`, `abs`, `floor`, `ceil`, `round`, `bit`, `has`, `double`, `int`, `string` and `size`.',
    examples: [TEXT_EXAMPLE],
  });

export const sensorCalibration = z
  .array(z.strictObject({ raw: REAL, value: REAL }))
  .max(MAX_CALIBRATION_POINTS)
  .superRefine((points, context) => {
    for (const [nth, { raw }] of points.entries())
      if (nth > 0 && raw <= (points[nth - 1]?.raw ?? raw))
        context.addIssue({ code: 'custom', path: [nth, 'raw'], message: 'Raw values must grow.' });
  })
  .meta({ description: 'Raw values and what they stand for, linear between. Empty: the raw value is the value.' });

const threshold = z
  .strictObject({
    id: id<string>().nullable().optional().meta({ description: 'Left out, it is that of the same threshold, or new.' }),
    condition: z.enum(THRESHOLD_CONDITIONS),
    min: REAL.nullable().default(null).meta({ description: '`below` this, or the lower end of the range.' }),
    max: REAL.nullable().default(null).meta({ description: '`above` this, or the upper end of the range.' }),
    hysteresis: z.number().min(0).max(1e12).default(0).meta({
      description:
        'The event ends once the value is so far behind the threshold; of a range at most half of its width.',
    }),
    forSeconds: z.number().min(0).max(86_400).default(0).meta({
      description: 'The event begins after the value was so for this long.',
    }),
  })
  .superRefine(({ condition, min, max, hysteresis }, context) => {
    const refuse = (name: 'min' | 'max' | 'hysteresis', message: string) =>
      context.addIssue({ code: 'custom', path: [name], message });
    if (condition !== 'above' && min === null) refuse('min', `A threshold \`${condition}\` needs it.`);
    if (condition !== 'below' && max === null) refuse('max', `A threshold \`${condition}\` needs it.`);
    if (condition === 'above' && min !== null) refuse('min', 'A threshold `above` has none.');
    if (condition === 'below' && max !== null) refuse('max', 'A threshold `below` has none.');
    if (condition === 'above' || condition === 'below' || min === null || max === null) return;
    if (min > max) refuse('max', 'It must not be less than `min`.');
    else if (max - min < 2 * hysteresis)
      refuse('hysteresis', 'It must be at most half of the range from `min` to `max`.');
  });

/** Fields that determine the value of a sensor. */
export const SENSOR_TERMS = {
  kind: z.enum(SENSOR_KINDS),
  source: sensorSource,
  calibration: sensorCalibration.default([]),
  outside: z.enum(CALIBRATION_OUTSIDE).default('extrapolate').meta({
    description: 'For raw values beyond the calibration: the nearest line goes on, or the nearest value holds.',
  }),
  validMin: REAL.nullable().default(null).meta({ description: 'Values below do not count. Null: no bound.' }),
  validMax: REAL.nullable().default(null).meta({ description: 'Values above do not count. Null: no bound.' }),
  onlyWithIgnition: z.boolean().default(false).meta({
    description: 'Only records whose ignition is on give values.',
  }),
  smoothing: z.int().min(1).max(MAX_SMOOTHING).default(1).meta({
    description: 'The value is the median of those of so many records.',
  }),
};

const sensor = z.strictObject({
  id: id<SensorId>()
    .nullable()
    .optional()
    .meta({ description: 'Left out, it is that of the sensor of this name, or new.' }),
  name: line(64).meta({ examples: ['Cargo'], description: 'Unique within the vehicle.' }),
  unit: z
    .string()
    .trim()
    .max(16)
    .regex(/^\P{Cc}*$/u, 'It must not hold control characters.')
    .default(''),
  ...SENSOR_TERMS,
  thresholds: z.array(threshold).max(MAX_SENSOR_THRESHOLDS).default([]),
});

/**
 * Total characters of the sensors of all vehicles that one call changes: each vehicle's copy is stored and sent
 * separately.
 */
export const MAX_COPIED_CHARACTERS = 8_000_000;

/** Defaults for fields that a new sensor leaves out. */
export const sensorDefaults = {
  ...{ unit: '', calibration: [], outside: 'extrapolate' as const, validMin: null, validMax: null },
  ...{ onlyWithIgnition: false, smoothing: 1, thresholds: [] },
};

/** Sensors of a vehicle as requests set them: the complete list, in order. */
export const sensorsIn = z
  .array(sensor)
  .max(MAX_SENSORS)
  .superRefine((sensors, context) => {
    const refuse = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (JSON.stringify(sensors).length > MAX_SENSORS_CHARACTERS)
      refuse([], `All sensors of a vehicle may have ${MAX_SENSORS_CHARACTERS} characters as JSON.`);
    const names = sensors.map(({ name }) => sensorNameKey(name));
    const ids = sensors.map((each) => each.id ?? null);
    for (const [nth, { validMin, validMax }] of sensors.entries()) {
      if (names.indexOf(names[nth] as string) < nth) refuse([nth, 'name'], 'Another sensor has this name.');
      if (ids[nth] != null && ids.indexOf(ids[nth]) < nth) refuse([nth, 'id'], 'Another sensor has this id.');
      if (validMin !== null && validMax !== null && validMin > validMax)
        refuse([nth, 'validMax'], 'It must not be less than `validMin`.');
    }
  })
  .transform((sensors): SensorFields[] => sensors)
  .meta({ description: 'All sensors of the vehicle, in the order in which they are shown.' });

const points = z.array(z.strictObject({ raw: z.number(), value: z.number() }));
const SENSOR_EXAMPLE = {
  id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8e01',
  name: 'Cargo',
  kind: 'temperature' as const,
  unit: '°C',
  source: TEXT_EXAMPLE,
  calibration: [],
  outside: 'extrapolate' as const,
  validMin: -60,
  validMax: 80,
  onlyWithIgnition: false,
  smoothing: 3,
  thresholds: [
    {
      ...{ id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8e02', condition: 'above' as const },
      ...{ min: null, max: -15, hysteresis: 1, forSeconds: 300 },
    },
  ],
};

export const SensorOut = z
  .strictObject({
    id: idOut,
    name: z.string(),
    kind: z.enum(SENSOR_KINDS),
    unit: z.string(),
    source: z.string(),
    calibration: points,
    outside: z.enum(CALIBRATION_OUTSIDE),
    validMin: z.number().nullable(),
    validMax: z.number().nullable(),
    onlyWithIgnition: z.boolean(),
    smoothing: z.int(),
    thresholds: z.array(
      z.strictObject({
        id: idOut,
        condition: z.enum(THRESHOLD_CONDITIONS),
        min: z.number().nullable(),
        max: z.number().nullable(),
        hysteresis: z.number(),
        forSeconds: z.number(),
      }),
    ),
  })
  .meta({ id: 'Sensor', examples: [SENSOR_EXAMPLE] });
