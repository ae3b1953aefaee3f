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
      'A CEL expression over the last record. It refers to fields (`speedKmh`, `ignition`, `supplyV`, `fuelL`, …) and attributes by their names; use `attributes["…"]` if a name is not an identifier. Numbers are doubles. Besides the operators, `min`, `max`, `abs`, `floor`, `ceil`, `round`, `bit`, `has`, `double`, `int`, `string` and `size` are available.',
    examples: [TEXT_EXAMPLE],
  });

export const sensorCalibration = z
  .array(z.strictObject({ raw: REAL, value: REAL }))
  .max(MAX_CALIBRATION_POINTS)
  .superRefine((points, context) => {
    for (const [nth, { raw }] of points.entries())
      if (nth > 0 && raw <= (points[nth - 1]?.raw ?? raw))
        context.addIssue({ code: 'custom', path: [nth, 'raw'], message: 'Raw values must increase.' });
  })
  .meta({
    description:
      'Raw values and the values that they stand for, with linear interpolation between them. If empty, the raw value is used.',
  });

const threshold = z
  .strictObject({
    id: id<string>()
      .nullable()
      .optional()
      .meta({ description: 'Default: the id of the existing threshold with the same terms, otherwise a new id.' }),
    condition: z.enum(THRESHOLD_CONDITIONS),
    min: REAL.nullable()
      .default(null)
      .meta({ description: 'Limit for `below`; lower end of the range for `inside` and `outside`.' }),
    max: REAL.nullable()
      .default(null)
      .meta({ description: 'Limit for `above`; upper end of the range for `inside` and `outside`.' }),
    hysteresis: z.number().min(0).max(1e12).default(0).meta({
      description:
        'How far the value must return behind the threshold before the event ends. For a range, at most half of its width.',
    }),
    forSeconds: z.number().min(0).max(86_400).default(0).meta({
      description: 'The event begins once the condition has held for this many seconds.',
    }),
  })
  .superRefine(({ condition, min, max, hysteresis }, context) => {
    const refuse = (name: 'min' | 'max' | 'hysteresis', message: string) =>
      context.addIssue({ code: 'custom', path: [name], message });
    if (condition !== 'above' && min === null) refuse('min', `The condition \`${condition}\` requires it.`);
    if (condition !== 'below' && max === null) refuse('max', `The condition \`${condition}\` requires it.`);
    if (condition === 'above' && min !== null) refuse('min', 'The condition `above` does not use it.');
    if (condition === 'below' && max !== null) refuse('max', 'The condition `below` does not use it.');
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
    description:
      'Raw values beyond the calibration: `extrapolate` continues the nearest segment, `clamp` uses the nearest value.',
  }),
  validMin: REAL.nullable().default(null).meta({ description: 'Lower values are ignored. Null for no limit.' }),
  validMax: REAL.nullable().default(null).meta({ description: 'Higher values are ignored. Null for no limit.' }),
  onlyWithIgnition: z.boolean().default(false).meta({
    description: 'If true, only records with the ignition on give values.',
  }),
  smoothing: z.int().min(1).max(MAX_SMOOTHING).default(1).meta({
    description: 'The value is the median of the values of this many records. 1: no smoothing.',
  }),
};

const sensor = z.strictObject({
  id: id<SensorId>()
    .nullable()
    .optional()
    .meta({ description: 'Default: the id of the existing sensor with this name, otherwise a new id.' }),
  name: line(64).meta({ examples: ['Cargo'], description: 'Unique within the vehicle.' }),
  unit: z
    .string()
    .trim()
    .max(16)
    .regex(/^\P{Cc}*$/u, 'It must not contain control characters.')
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
      refuse([], `All sensors of a vehicle together may have at most ${MAX_SENSORS_CHARACTERS} characters as JSON.`);
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
