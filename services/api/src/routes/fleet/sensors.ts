import { isoTime, type Position, readableNumber, type Sensor, type SensorId } from '@outrider/domain';
import { CompiledSensor, SensorSeries } from '@outrider/engine';
import { SENSOR_PRESETS } from '@outrider/protocols';
import { z } from 'zod';
import { timeOut } from '../../fields/fields.ts';
import { SENSOR_TERMS } from '../../fields/sensor-fields.ts';
import { callsOf, type Route } from '../../route.ts';
import { vehicleKey } from './vehicles.ts';

const { get, post } = callsOf('Vehicles');

const MINUTE_MS = 60_000;
/** Search windows before the vehicle's last record; the first window with enough records is used. */
const WINDOWS_MS = [15 * MINUTE_MS, 6 * 60 * MINUTE_MS, 7 * 24 * 60 * MINUTE_MS];
const ENOUGH = 20;
const MAX_TRIED = 100;
const PAGE = 1000;
const MAX_LISTED = 1000;

const presetOut = z.strictObject({
  name: z.string(),
  kind: SENSOR_TERMS.kind,
  unit: z.string(),
  source: z.string(),
});
const SensorPresetsOut = z
  .strictObject({
    items: z.array(
      z.strictObject({
        family: z.string().meta({ description: 'Family of the sensors, such as a protocol or a bus of the vehicle.' }),
        title: z.string(),
        sensors: z.array(presetOut),
      }),
    ),
  })
  .meta({
    id: 'SensorPresets',
    examples: [
      {
        items: [
          {
            family: 'omnicomm',
            title: 'Omnicomm',
            sensors: [{ name: 'Level 1', kind: 'fuel-level', unit: 'l', source: 'fuelLevel1' }],
          },
        ],
      },
    ],
  });

const SensorsOut = z
  .strictObject({
    items: z.array(
      z.strictObject({
        name: z.string(),
        kind: SENSOR_TERMS.kind,
        unit: z.string(),
        vehicles: z.int().meta({ description: 'Number of the vehicles that have a sensor of this name.' }),
      }),
    ),
  })
  .meta({
    id: 'SensorList',
    examples: [{ items: [{ name: 'Cargo', kind: 'temperature', unit: '°C', vehicles: 12 }] }],
  });

const SensorTrialOut = z
  .strictObject({
    records: z.array(
      z.strictObject({
        time: timeOut,
        raw: z
          .number()
          .nullable()
          .meta({ description: 'Result of the expression in `source`. Null if it has no numeric value.' }),
        value: z
          .number()
          .nullable()
          .meta({ description: 'Value after calibration and smoothing. Null if there is no valid value.' }),
      }),
    ),
    attributes: z
      .array(z.string())
      .meta({ description: 'Names of the attributes of these records, for use in expressions.' }),
  })
  .meta({
    id: 'SensorTrial',
    examples: [
      {
        records: [{ time: '2026-01-15T12:00:00.000Z', raw: 2048, value: 182.5 }],
        attributes: ['fuelLevel1'],
      },
    ],
  });

export const sensorRoutes: Route[] = [
  get('/api/v1/sensor-presets', {
    operationId: 'listSensorPresets',
    summary: 'List presets for the sensors that terminals usually have, by family.',
    description: 'A preset can be added to the `sensors` of a vehicle unchanged or with a calibration.',
    answers: { 200: { description: 'All presets.', body: SensorPresetsOut } },
    async handle() {
      return {
        status: 200,
        body: {
          items: SENSOR_PRESETS.map(({ sensors, ...family }) => ({
            ...family,
            sensors: sensors.map((sensor) => ({ ...sensor })),
          })),
        },
      };
    },
  }),
  get('/api/v1/sensors', {
    operationId: 'listSensors',
    summary: 'List the names of the sensors of the vehicles that the caller may see.',
    description: `For notification rules and reports, which refer to sensors by name. The first ${MAX_LISTED}, in the order of names.`,
    answers: { 200: { description: 'The names. Names that differ only in case are listed once.', body: SensorsOut } },
    async handle(_, { access }) {
      return { status: 200, body: { items: access.vehicles.sensors().slice(0, MAX_LISTED) } };
    },
  }),
  post('/api/v1/vehicles/{id}/sensor-trial', {
    operationId: 'trySensor',
    scope: 'read',
    summary: 'Compute the values that a sensor would have had for the last records of the vehicle.',
    description: `Nothing is stored. At most ${MAX_TRIED} records, the oldest first.`,
    params: z.object({ id: vehicleKey }),
    body: z
      .strictObject(SENSOR_TERMS)
      .meta({ id: 'SensorTrialTerms', examples: [{ kind: 'fuel-level', source: 'fuelLevel1' }] }),
    answers: {
      200: { description: 'The records with their values. Empty if no record is archived.', body: SensorTrialOut },
    },
    problems: ['not-found', 'vehicle-suspended'],
    async handle({ params, body }, { access }) {
      const { status } = await access.vehicles.status(params.id);
      const records: Position[] = [];
      for (const windowMs of status === null ? [] : WINDOWS_MS) {
        const toMs = (status?.record.fixTimeMs ?? 0) + 1;
        const question = { fromMs: toMs - windowMs, toMs, limit: PAGE, after: null };
        const page = await access.vehicles.track(params.id, question);
        records.splice(0, records.length, ...page.positions.slice(-MAX_TRIED).map(({ position }) => position));
        if (records.length >= ENOUGH || page.next !== null) break;
      }
      return { status: 200, body: trialOf({ ...body, ...UNNAMED }, records) };
    },
  }),
];

const UNNAMED = { id: '' as SensorId, name: '', unit: '', thresholds: [] };

function trialOf(sensor: Sensor, records: readonly Position[]): z.output<typeof SensorTrialOut> {
  const raw = new CompiledSensor({ ...sensor, calibration: [], validMin: null, validMax: null });
  const series = new SensorSeries(new CompiledSensor(sensor), Number.POSITIVE_INFINITY);
  const shown = (value: number) => (Number.isFinite(value) ? readableNumber(value) : null);
  const names = new Set<string>();
  const tried = records.map((record) => {
    for (const name of Object.keys(record.attributes ?? {})) names.add(name);
    return { time: isoTime(record.fixTimeMs), raw: shown(raw.valueOf(record)), value: shown(series.take(record)) };
  });
  return { records: tried, attributes: [...names].sort() };
}
