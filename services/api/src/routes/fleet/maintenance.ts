import type { Access, CounterWish, ShownMaintenance } from '@outrider/access';
import {
  COUNTER_SOURCES,
  COUNTERS,
  type CounterCorrection,
  type CounterCorrectionId,
  type CustomCounterId,
  shownCounterJson as counterBody,
  type GroupId,
  isoTime,
  MAINTENANCE_STAGES,
  MAX_CUSTOM_COUNTERS,
  type MaintenancePlan,
  type MaintenancePlanId,
  type MaintenanceSpan,
  SERVICE_FILE_TYPES,
  type SensorId,
  type ServiceFileId,
  type ServiceRecord,
  type ServiceRecordId,
  type VehicleId,
  vehicleCountersJson,
} from '@outrider/domain';
import { z } from 'zod';
import { id, idOut, line, pageAsked, pageReply, paging, text, timeIn, timeOut } from '../../fields/fields.ts';
import { FILE_REQUEST_HEADERS, fileReply } from '../../http/file-reply.ts';
import { pageOf } from '../../http/whole-list.ts';
import { ResourceRoutes } from '../../resource-routes.ts';
import { callsOf, type Route } from '../../route.ts';
import { vehicleKey } from './vehicles.ts';

const { get, post, patch, remove } = callsOf('Maintenance');

const HOUR_MS = 3_600_000;
const VEHICLE_ID = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57';
const byVehicle = z.object({ id: vehicleKey });

// Counters

const ODOMETER_MAX_M = 10_000_000_000;
const HOURS_MAX = 1_000_000;
const CORRECTION_EXAMPLE = {
  id: '01961f3d-8a10-7c3e-9b1d-2f6a0c4e8d58',
  counter: 'odometer' as const,
  at: '2026-01-15T12:00:00.000Z',
  value: 120_350_000,
  note: 'Read from the dashboard',
  createdBy: null,
  createdAt: '2026-01-15T12:00:00.000Z',
};
const valueText = 'In metres for `odometer`, in hours for `engine-hours`, in its own unit for a custom counter.';
const COUNTER_MAX = 1_000_000_000_000;
const counterText = '`odometer`, `engine-hours`, or the id of a custom counter of the vehicle.';
const CorrectionOut = z
  .strictObject({
    id: idOut,
    counter: z.union([z.enum(COUNTERS), idOut]).meta({ description: counterText }),
    at: timeOut.meta({ description: 'Time at which the counter had the value. It continues from there.' }),
    value: z.number().meta({ description: valueText }),
    note: z.string().nullable(),
    createdBy: idOut
      .nullable()
      .meta({ description: 'Null if the account was deleted or is not visible to the caller.' }),
    createdAt: timeOut,
  })
  .meta({ id: 'CounterCorrection', examples: [CORRECTION_EXAMPLE] });
const COUNTER_ID = '01961f3d-7c10-7c3e-9b1d-2f6a0c4e8d5c';
const COUNTER_EXAMPLE = {
  name: 'Refrigeration unit',
  unit: 'h',
  source: 'sensor-hours' as const,
  sensorId: '01961f3c-9a10-7c3e-9b1d-2f6a0c4e8d5d',
};
const CustomCounterOut = z
  .strictObject({
    id: idOut,
    version: z.int(),
    name: z.string(),
    unit: z.string(),
    source: z.enum(COUNTER_SOURCES),
    sensorId: idOut.nullable().meta({
      description:
        'Sensor that is counted. Null for `manual`. If the vehicle no longer has the sensor, nothing is counted.',
    }),
    startsAt: timeOut,
    value: z.number().meta({ description: 'Current value, in the unit of the counter.' }),
  })
  .meta({
    id: 'CustomCounter',
    examples: [{ id: COUNTER_ID, version: 1, ...COUNTER_EXAMPLE, startsAt: '2026-01-15T12:00:00.000Z', value: 812.5 }],
  });
const counterFields = {
  name: line(100).meta({ description: 'Unique within the vehicle, ignoring case.' }),
  unit: z
    .string()
    .trim()
    .max(20)
    .regex(/^\P{Cc}*$/u, 'It must not contain control characters.')
    .meta({ description: 'Unit of the counter. Default: `h` for `sensor-hours`, else the unit of the sensor.' }),
  source: z.enum(COUNTER_SOURCES).meta({
    description:
      '`manual`: only corrections change the counter. `sensor-total`: the counter grows with the total that a sensor shows; when the total falls, counting continues from the lower value. `sensor-hours`: counts the hours during which a digital sensor is not 0, between values at most an hour apart.',
  }),
  sensorId: id<SensorId>().nullable().meta({ description: 'A sensor of the vehicle. Null for `manual`.' }),
};
const CountersOut = z
  .strictObject({
    vehicleId: idOut,
    at: timeOut
      .nullable()
      .meta({ description: 'Time of the newest record that is counted. Null if there is none yet.' }),
    odometerM: z.number(),
    engineHours: z.number(),
    custom: z.array(CustomCounterOut).meta({ description: 'Custom counters, in the order of their creation.' }),
    settled: z.boolean().meta({
      description:
        'False for some seconds while the counters are recounted, because older records arrived late or a value was set for an earlier time.',
    }),
    corrections: z.array(CorrectionOut).meta({ description: 'The newest 200 corrections, the newest first.' }),
  })
  .meta({
    id: 'VehicleCounters',
    examples: [
      {
        vehicleId: VEHICLE_ID,
        at: '2026-01-15T12:00:00.000Z',
        odometerM: 120_351_200,
        engineHours: 3410.25,
        custom: [
          { id: COUNTER_ID, version: 1, ...COUNTER_EXAMPLE, startsAt: '2026-01-15T12:00:00.000Z', value: 812.5 },
        ],
        settled: true,
        corrections: [CORRECTION_EXAMPLE],
      },
    ],
  });

function correctionBody(correction: CounterCorrection, access: Pick<Access, 'showsAuthor'>) {
  const { id: correctionId, counter, atMs, value, note, createdBy, createdAtMs } = correction;
  return {
    id: correctionId,
    counter,
    at: isoTime(atMs),
    value: counter === 'engine-hours' ? value / HOUR_MS : value,
    note,
    createdBy: access.showsAuthor(createdBy) ? createdBy : null,
    createdAt: isoTime(createdAtMs),
  };
}

// Plans

const span = {
  distanceKm: z.number().positive().max(1_000_000).nullable(),
  engineHours: z.number().positive().max(100_000).nullable(),
  days: z.number().positive().max(3660).nullable(),
  counter: z
    .number()
    .positive()
    .max(1_000_000_000)
    .nullable()
    .meta({ description: 'For the custom counter that `counterName` names, in its unit.' }),
};
const SpanIn = z
  .strictObject({
    distanceKm: span.distanceKm.default(null),
    engineHours: span.engineHours.default(null),
    days: span.days.default(null),
    counter: span.counter.default(null),
  })
  .meta({ id: 'MaintenanceSpanWanted' });
const SpanOut = z.strictObject({
  distanceKm: z.number().nullable(),
  engineHours: z.number().nullable(),
  days: z.number().nullable(),
  counter: z.number().nullable(),
});
const PLAN_EXAMPLE = {
  name: 'Oil and filter',
  description: null,
  vehicleId: VEHICLE_ID,
  groupId: null,
  counterName: null,
  every: { distanceKm: 15_000, engineHours: 500, days: 365, counter: null },
  warning: { distanceKm: 1000, engineHours: 30, days: 14, counter: null },
};
const PlanOut = z
  .strictObject({
    id: idOut,
    version: z.int(),
    name: z.string(),
    description: z.string().nullable(),
    vehicleId: idOut.nullable(),
    groupId: idOut.nullable(),
    counterName: z.string().nullable(),
    every: SpanOut,
    warning: SpanOut,
    startsAt: timeOut,
    createdAt: timeOut,
  })
  .meta({
    id: 'MaintenancePlan',
    examples: [
      {
        id: '01961f3d-9b20-7c3e-9b1d-2f6a0c4e8d59',
        version: 1,
        ...PLAN_EXAMPLE,
        startsAt: '2026-01-15T12:00:00.000Z',
        createdAt: '2026-01-15T12:00:00.000Z',
      },
    ],
  });
const planFields = {
  name: line(100),
  description: text(1000).nullable(),
  vehicleId: id<VehicleId>()
    .nullable()
    .meta({ description: 'Vehicle of the plan. Either this or `groupId` must be set.' }),
  groupId: id<GroupId>()
    .nullable()
    .meta({ description: 'Group of the plan, which applies to each vehicle that is in the group, now or later.' }),
  counterName: line(100).nullable().meta({
    description:
      'Name of the custom counter that the plan uses. For a group, it is the counter of this name of each vehicle; for vehicles without one, the plan uses only its other intervals.',
  }),
  every: SpanIn.refine(
    (every) => Object.values(every).some((each) => each !== null),
    'It must set a distance, hours, days or a counter.',
  ),
  warning: SpanIn.meta({
    description: 'How long before maintenance is due the warning begins. Null: no warning by this measure.',
  }),
  startsAt: timeIn.meta({
    description: 'The plan is counted from this time on until a service is recorded. Default: now.',
  }),
};

function spanIn({ distanceKm, engineHours, days, counter }: z.output<typeof SpanIn>): MaintenanceSpan {
  return {
    distanceM: distanceKm === null ? null : distanceKm * 1000,
    engineMs: engineHours === null ? null : engineHours * HOUR_MS,
    days,
    counter,
  };
}
const rounded = (value: number | null, factor: number) => (value === null ? null : Math.round(value * factor) / factor);
function spanBody({ distanceM, engineMs, days, counter }: MaintenanceSpan) {
  return {
    distanceKm: rounded(distanceM === null ? null : distanceM / 1000, 1000),
    engineHours: rounded(engineMs === null ? null : engineMs / HOUR_MS, 1000),
    days: rounded(days, 1000),
    counter: rounded(counter, 1000),
  };
}
function planBody({ every, warning, startsAtMs, createdAtMs, dealerId, changedAtMs, ...plan }: MaintenancePlan) {
  return {
    ...plan,
    every: spanBody(every),
    warning: spanBody(warning),
    startsAt: isoTime(startsAtMs),
    createdAt: isoTime(createdAtMs),
  };
}

const DUE_EXAMPLE = {
  planId: '01961f3d-9b20-7c3e-9b1d-2f6a0c4e8d59',
  planName: 'Oil and filter',
  vehicleId: VEHICLE_ID,
  stage: 'warning' as const,
  cause: 'distance' as const,
  left: { distanceKm: 640, engineHours: 122.5, days: 201, counter: null },
  counterUnit: null,
  share: 0.0427,
  since: '2025-08-04T08:00:00.000Z',
  dueAt: '2026-08-04T08:00:00.000Z',
};
const DueOut = z
  .strictObject({
    planId: idOut,
    planName: z.string(),
    vehicleId: idOut,
    stage: z
      .enum(MAINTENANCE_STAGES)
      .meta({ description: '`warning`: at most the `warning` of the plan is left. `due`: nothing is left.' }),
    cause: z
      .enum(['distance', 'engine-hours', 'days', 'counter'])
      .meta({ description: 'The measure by which maintenance is due first.' }),
    left: SpanOut.meta({
      description:
        'What is left until maintenance is due; negative if it is overdue. Null if the plan does not use the measure.',
    }),
    counterUnit: z
      .string()
      .nullable()
      .meta({ description: 'Unit of `left.counter`. Null if no custom counter is used.' }),
    share: z.number().meta({
      description:
        'Fraction of the interval that is left for the measure in `cause`: 1 after a service, 0 when maintenance is due, negative when it is overdue.',
    }),
    since: timeOut.meta({ description: 'Time of the last service, or the start of the plan.' }),
    dueAt: timeOut.nullable().meta({ description: 'Due time by the calendar. Null if the plan does not use days.' }),
  })
  .meta({
    id: 'MaintenanceDue',
    examples: [DUE_EXAMPLE],
  });
const DueListOut = z
  .strictObject({ items: z.array(DueOut) })
  .meta({ id: 'MaintenanceList', examples: [{ items: [DUE_EXAMPLE] }] });
function dueBody({
  plan,
  planId,
  vehicleId,
  stage,
  cause,
  left,
  counterUnit,
  share,
  sinceMs,
  dueAtMs,
}: ShownMaintenance) {
  return {
    planId,
    planName: plan.name,
    vehicleId,
    stage,
    cause,
    left: spanBody(left),
    counterUnit,
    share: Math.round(share * 10_000) / 10_000,
    since: isoTime(sinceMs),
    dueAt: dueAtMs === null ? null : isoTime(dueAtMs),
  };
}

// Services

const RECORD_EXAMPLE = {
  planId: '01961f3d-9b20-7c3e-9b1d-2f6a0c4e8d59',
  title: 'Oil and filter',
  at: '2026-01-15T12:00:00.000Z',
  odometerM: 120_351_200,
  engineHours: null,
  cost: { amount: 184.5, currency: 'EUR' },
  note: null,
};
const cost = z.strictObject({
  amount: z.number().min(0).max(1_000_000_000),
  currency: z.string().regex(/^[A-Z]{3}$/, 'It must be three capital letters (ISO 4217), such as EUR.'),
});
const FILE_EXAMPLE = {
  id: '01961f3d-bd40-7c3e-9b1d-2f6a0c4e8d5b',
  name: 'invoice.pdf',
  mediaType: 'application/pdf' as const,
  bytes: 48_213,
};
const FileOut = z
  .strictObject({ id: idOut, name: z.string(), mediaType: z.enum(SERVICE_FILE_TYPES), bytes: z.int() })
  .meta({ id: 'ServiceFile', examples: [FILE_EXAMPLE] });
const MAX_FILE_BYTES = 5 * 1024 * 1024;
const MAX_FILE_CHARACTERS = 4 * Math.ceil(MAX_FILE_BYTES / 3);
/** `Content-Disposition`, with the file's own name for browsers that support it (RFC 6266). */
const dispositionOf = (name: string) =>
  `attachment; filename="${name.replaceAll(/[^\w.-]+/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )}`;
const RecordOut = z
  .strictObject({
    id: idOut,
    vehicleId: idOut,
    planId: idOut.nullable(),
    title: z.string(),
    at: timeOut,
    odometerM: z.number().nullable().meta({
      description:
        'Odometer reading at the service, in metres. Null if none was entered; the counted value then applies.',
    }),
    engineHours: z.number().nullable(),
    cost: z.strictObject({ amount: z.number(), currency: z.string() }).nullable(),
    note: z.string().nullable(),
    files: z.array(FileOut),
    createdBy: idOut
      .nullable()
      .meta({ description: 'Null if the account was deleted or is not visible to the caller.' }),
    createdAt: timeOut,
  })
  .meta({
    id: 'ServiceRecord',
    examples: [
      {
        id: '01961f3d-ac30-7c3e-9b1d-2f6a0c4e8d5a',
        vehicleId: VEHICLE_ID,
        ...RECORD_EXAMPLE,
        files: [FILE_EXAMPLE],
        createdBy: null,
        createdAt: '2026-01-15T12:00:00.000Z',
      },
    ],
  });
function recordBody(record: ServiceRecord, access: Pick<Access, 'showsAuthor'>) {
  const {
    id: recordId,
    vehicleId,
    planId,
    title,
    atMs,
    odometerM,
    engineMs,
    note,
    files,
    createdBy,
    createdAtMs,
  } = record;
  return {
    id: recordId,
    vehicleId,
    planId,
    title,
    at: isoTime(atMs),
    odometerM,
    engineHours: engineMs === null ? null : engineMs / HOUR_MS,
    cost: record.cost && { amount: record.cost.amountMinor / 100, currency: record.cost.currency },
    note,
    files: [...files],
    createdBy: access.showsAuthor(createdBy) ? createdBy : null,
    createdAt: isoTime(createdAtMs),
  };
}

const byRecord = z.object({ id: vehicleKey, recordId: id<ServiceRecordId>() });
const byFile = byRecord.extend({ fileId: id<ServiceFileId>() });
const [firstType = 'application/pdf', ...otherTypes] = SERVICE_FILE_TYPES;
const aFile = z.string().meta({ format: 'binary', examples: ['%PDF-1.7 ...'] });
const fileTypes = {
  body: aFile,
  mediaType: firstType,
  otherTypes: Object.fromEntries(otherTypes.map((mediaType) => [mediaType, aFile])),
};
const FILE_HEADERS = {
  'Content-Disposition': 'Suggested file name.',
  ETag: 'Changes only if the file changes.',
  'Last-Modified': 'Time at which the file was stored.',
  'Accept-Ranges': '`bytes`.',
};

const byCounter = z.object({ id: vehicleKey, counterId: id<CustomCounterId>() });
const GRANTED = 'For operators, dealers, and users who were granted the service `maintenance`.';

/** Lower bound of a time, for descriptions. */
const KEPT_HISTORY = 'It must not be in the erased part of the history of the vehicle.';
const KEPT_OF_PLAN = 'it must not be in the erased part of the history of the vehicle.';

const plans = new ResourceRoutes({
  group: 'Maintenance',
  path: '/api/v1/maintenance-plans',
  operations: ['MaintenancePlan', 'MaintenancePlans'],
  noun: 'maintenance plan',
  params: z.object({ id: id<MaintenancePlanId>() }),
  body: PlanOut,
  show: planBody,
  entityOf: (plan: MaintenancePlan) => plan,
});

export const maintenanceRoutes: Route[] = [
  get('/api/v1/vehicles/{id}/counters', {
    operationId: 'getCounters',
    summary: 'Get the odometer, engine hours and custom counters of a vehicle, with their corrections.',
    description:
      'Counting begins with the first record. The counters of the terminal are used where it has any, else the distance between its fixes and the time with the ignition on. Resetting or replacing the terminal does not change the values.',
    params: byVehicle,
    answers: {
      200: { description: 'The values of the counters, with their corrections.', body: CountersOut },
    },
    problems: ['not-found', 'vehicle-suspended'],
    async handle({ params }, { access }) {
      const { counters, corrections } = await access.counters.counters(await access.vehicles.data(params.id));
      return {
        status: 200,
        body: {
          ...vehicleCountersJson(counters),
          corrections: corrections.map((each) => correctionBody(each, access)),
        },
      };
    },
  }),
  post('/api/v1/vehicles/{id}/counters', {
    operationId: 'addCounter',
    summary: 'Add a custom counter to a vehicle.',
    description: `A vehicle has at most ${MAX_CUSTOM_COUNTERS} custom counters. ${GRANTED}`,
    params: byVehicle,
    body: z
      .strictObject({
        ...counterFields,
        unit: counterFields.unit.nullable().default(null),
        sensorId: counterFields.sensorId.default(null),
        startsAt: timeIn
          .nullable()
          .default(null)
          .meta({ description: `Records are counted from this time on. Default: now. ${KEPT_HISTORY}` }),
      })
      .meta({ id: 'NewCustomCounter', examples: [COUNTER_EXAMPLE as never] }),
    answers: {
      201: {
        description: 'The new counter.',
        body: CustomCounterOut,
        headers: { Location: 'URL of the counter.', ETag: 'Version of the counter, for `If-Match`.' },
      },
    },
    problems: ['not-found', 'vehicle-suspended', 'forbidden', 'conflict'],
    async handle({ params, body: { startsAt, ...fields } }, { access, nowMs }) {
      const vehicle = await access.vehicles.data(params.id);
      const wish: CounterWish = { ...fields, startsAtMs: startsAt };
      const counter = await access.counters.addCounter(vehicle, wish, nowMs);
      return {
        status: 201,
        body: counterBody(counter),
        headers: { location: `/api/v1/vehicles/${vehicle.id}/counters/${counter.id}`, etag: `"${counter.version}"` },
      };
    },
  }),
  get('/api/v1/vehicles/{id}/counters/{counterId}', {
    operationId: 'getCounter',
    summary: 'Get a custom counter of a vehicle.',
    params: byCounter,
    answers: {
      200: {
        description: 'The counter, with its current value.',
        body: CustomCounterOut,
        headers: { ETag: 'Version of the counter, for `If-Match`.' },
      },
    },
    problems: ['not-found', 'vehicle-suspended'],
    async handle({ params }, { access }) {
      const counter = await access.counters.customCounter(await access.vehicles.data(params.id), params.counterId);
      return { status: 200, body: counterBody(counter), headers: { etag: `"${counter.version}"` } };
    },
  }),
  patch('/api/v1/vehicles/{id}/counters/{counterId}', {
    operationId: 'changeCounter',
    summary: 'Change a custom counter. What was counted before the change is kept.',
    description: GRANTED,
    conditional: true,
    params: byCounter,
    body: z
      .strictObject(counterFields)
      .partial()
      .meta({ id: 'CustomCounterPatch', examples: [{ name: 'Cooling' } as never] }),
    answers: {
      200: {
        description: 'The counter after the change.',
        body: CustomCounterOut,
        headers: { ETag: 'Version of the counter, for `If-Match`.' },
      },
    },
    problems: ['not-found', 'vehicle-suspended', 'forbidden', 'conflict', 'stale'],
    async handle({ params, body }, { access, ifMatch }) {
      const patch = Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined));
      const vehicle = await access.vehicles.data(params.id);
      const counter = await access.counters.changeCounter(vehicle, params.counterId, ifMatch, patch);
      return { status: 200, body: counterBody(counter), headers: { etag: `"${counter.version}"` } };
    },
  }),
  remove('/api/v1/vehicles/{id}/counters/{counterId}', {
    operationId: 'deleteCounter',
    summary: 'Delete a custom counter, with its corrections.',
    description: GRANTED,
    conditional: true,
    params: byCounter,
    answers: { 204: { description: 'The counter is deleted.' } },
    problems: ['not-found', 'vehicle-suspended', 'forbidden', 'stale'],
    async handle({ params }, { access, ifMatch }) {
      await access.counters.removeCounter(await access.vehicles.data(params.id), params.counterId, ifMatch);
      return { status: 204 };
    },
  }),
  post('/api/v1/vehicles/{id}/counter-corrections', {
    operationId: 'correctCounter',
    summary: 'Set the value of a counter of a vehicle at a time. The counter continues from there.',
    description: GRANTED,
    params: byVehicle,
    body: z
      .strictObject({
        counter: z.union([z.enum(COUNTERS), id<CustomCounterId>()]).meta({ description: counterText }),
        value: z.number().min(0).max(COUNTER_MAX).meta({ description: valueText }),
        at: timeIn.optional().meta({ description: `Default: now. ${KEPT_HISTORY}` }),
        note: line(200).nullable().default(null),
      })
      .refine(({ counter, value }) => counter !== 'odometer' || value <= ODOMETER_MAX_M, {
        path: ['value'],
        message: `It must be ${ODOMETER_MAX_M} metres at most.`,
      })
      .refine(({ counter, value }) => counter !== 'engine-hours' || value <= HOURS_MAX, {
        path: ['value'],
        message: `It must be ${HOURS_MAX} hours at most.`,
      })
      .meta({
        id: 'NewCounterCorrection',
        examples: [{ counter: 'odometer', value: 120_350_000, note: 'Read from the dashboard' }],
      }),
    answers: {
      201: {
        description: 'The new correction.',
        body: CorrectionOut,
        headers: { Location: 'URL of the correction.' },
      },
    },
    problems: ['not-found', 'vehicle-suspended', 'forbidden'],
    async handle({ params, body }, { access, nowMs }) {
      const vehicle = await access.vehicles.data(params.id);
      const value = body.counter === 'engine-hours' ? body.value * HOUR_MS : body.value;
      const wish = { counter: body.counter, value, atMs: body.at ?? null, note: body.note };
      const correction = await access.counters.correct(vehicle, wish, nowMs);
      return {
        status: 201,
        body: correctionBody(correction, access),
        headers: { location: `/api/v1/vehicles/${vehicle.id}/counter-corrections/${correction.id}` },
      };
    },
  }),
  remove('/api/v1/vehicles/{id}/counter-corrections/{correctionId}', {
    operationId: 'deleteCounterCorrection',
    summary: 'Delete a correction. The counter then has the value that it would have without it.',
    description: GRANTED,
    params: z.object({ id: vehicleKey, correctionId: id<CounterCorrectionId>() }),
    answers: { 204: { description: 'The correction is deleted.' } },
    problems: ['not-found', 'vehicle-suspended', 'forbidden'],
    async handle({ params }, { access }) {
      await access.counters.removeCorrection(await access.vehicles.data(params.id), params.correctionId);
      return { status: 204 };
    },
  }),
  get('/api/v1/maintenance', {
    operationId: 'listMaintenance',
    summary: 'List the state of maintenance plans, vehicle by vehicle, the most urgent first.',
    query: z.object({
      vehicleId: id<VehicleId>().optional(),
      planId: id<MaintenancePlanId>().optional(),
      stage: z.enum(MAINTENANCE_STAGES).optional(),
      limit: paging.limit,
    }),
    answers: {
      200: {
        description: 'The states of the plans, the most urgent first.',
        body: DueListOut,
      },
    },
    async handle({ query: { limit, ...filter } }, { access }) {
      return { status: 200, body: { items: (await access.maintenancePlans.due(filter, limit)).map(dueBody) } };
    },
  }),
  plans.list({
    summary: 'List maintenance plans of the vehicles and groups that the caller may see.',
    query: z.object(paging),
    page: (query, { access }) => access.maintenancePlans.plans(pageAsked(query)),
  }),
  plans.add({
    summary: 'Add a maintenance plan for a vehicle, or for each vehicle of a group.',
    description: `Maintenance is due after a number of kilometres, engine hours, days or units of a custom counter, whichever comes first. ${GRANTED}`,
    body: z
      .strictObject({
        ...planFields,
        description: planFields.description.default(null),
        vehicleId: planFields.vehicleId.default(null),
        groupId: planFields.groupId.default(null),
        counterName: planFields.counterName.default(null),
        warning: planFields.warning.default({ distanceKm: null, engineHours: null, days: null, counter: null }),
        startsAt: planFields.startsAt.optional(),
      })
      .meta({ id: 'NewMaintenancePlan', examples: [PLAN_EXAMPLE as never] }),
    problems: ['forbidden', 'conflict'],
    add: ({ startsAt, every, warning, ...fields }, { access }) =>
      access.maintenancePlans.addPlan({
        ...fields,
        every: spanIn(every),
        warning: spanIn(warning),
        ...(startsAt === undefined ? {} : { startsAtMs: startsAt }),
      }),
  }),
  plans.get({ get: ({ id }, { access }) => access.maintenancePlans.plan(id) }),
  plans.change({
    summary: 'Change a maintenance plan.',
    description: GRANTED,
    body: z
      .strictObject(planFields)
      .partial()
      .meta({ id: 'MaintenancePlanPatch', examples: [{ name: 'Oil' } as never] }),
    problems: ['forbidden'],
    change: ({ id }, { startsAt, every, warning, ...fields }, { access, ifMatch }) =>
      access.maintenancePlans.changePlan(id, ifMatch, () => ({
        ...(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as object),
        ...(every === undefined ? {} : { every: spanIn(every) }),
        ...(warning === undefined ? {} : { warning: spanIn(warning) }),
        ...(startsAt === undefined ? {} : { startsAtMs: startsAt }),
      })),
  }),
  plans.remove({
    summary: 'Delete a maintenance plan. Its service records are kept.',
    description: GRANTED,
    problems: ['forbidden'],
    remove: ({ id }, { access, ifMatch }) => access.maintenancePlans.removePlan(id, ifMatch),
  }),
  get('/api/v1/vehicles/{id}/service-records', {
    operationId: 'listServiceRecords',
    summary: 'List the service records of a vehicle, the most recently added first.',
    params: byVehicle,
    query: z.object(paging),
    answers: { 200: pageOf(RecordOut) },
    problems: ['not-found', 'vehicle-suspended'],
    async handle({ params, query }, { access }) {
      const asked = pageAsked(query);
      const page = await access.serviceRecords.records(await access.vehicles.data(params.id), asked);
      return pageReply(page, (record) => recordBody(record, access));
    },
  }),
  post('/api/v1/vehicles/{id}/service-records', {
    operationId: 'addServiceRecord',
    summary: 'Record a service of a vehicle. Its plan is then counted from this service on.',
    description: GRANTED,
    params: byVehicle,
    body: z
      .strictObject({
        planId: id<MaintenancePlanId>().nullable().default(null),
        title: line(100)
          .nullable()
          .default(null)
          .meta({ description: 'What was done. Default: the name of the plan.' }),
        at: timeIn
          .optional()
          .meta({ description: `Time of the service. Default: now. With a \`planId\`, ${KEPT_OF_PLAN}` }),
        odometerM: z.number().min(0).max(ODOMETER_MAX_M).nullable().default(null),
        engineHours: z.number().min(0).max(HOURS_MAX).nullable().default(null),
        cost: cost.nullable().default(null),
        note: text(2000).nullable().default(null),
      })
      .meta({ id: 'NewServiceRecord', examples: [RECORD_EXAMPLE as never] }),
    answers: {
      201: { description: 'The new service record.', body: RecordOut, headers: { Location: 'URL of the record.' } },
    },
    problems: ['not-found', 'vehicle-suspended', 'forbidden', 'conflict'],
    async handle({ params, body }, { access, nowMs }) {
      const { at, engineHours, cost: paid, ...fields } = body;
      const record = await access.serviceRecords.addRecord(
        await access.vehicles.data(params.id),
        {
          ...fields,
          atMs: at ?? nowMs,
          engineMs: engineHours === null ? null : engineHours * HOUR_MS,
          cost: paid && { amountMinor: Math.round(paid.amount * 100), currency: paid.currency },
        },
        nowMs,
      );
      return {
        status: 201,
        body: recordBody(record, access),
        headers: { location: `/api/v1/vehicles/${record.vehicleId}/service-records/${record.id}` },
      };
    },
  }),
  remove('/api/v1/vehicles/{id}/service-records/{recordId}', {
    operationId: 'deleteServiceRecord',
    summary: 'Delete a service record. Its plan is then counted as if the service had not been done.',
    description: GRANTED,
    params: byRecord,
    answers: { 204: { description: 'The service record is deleted.' } },
    problems: ['not-found', 'vehicle-suspended', 'forbidden'],
    async handle({ params }, { access }) {
      await access.serviceRecords.removeRecord(await access.vehicles.data(params.id), params.recordId);
      return { status: 204 };
    },
  }),
  post('/api/v1/vehicles/{id}/service-records/{recordId}/files', {
    operationId: 'addServiceFile',
    summary: 'Attach a file to a service record, such as an invoice or a photo.',
    description: `The file must be PDF, JPEG, PNG or WebP, which is detected by its first bytes, and have at most ${MAX_FILE_BYTES / 1024 / 1024} MiB. A record has at most 10 files. The file counts towards the stored bytes of the account and of the dealer. ${GRANTED}`,
    params: byRecord,
    body: z
      .strictObject({
        name: line(100).meta({ description: 'File name that is suggested when the file is downloaded.' }),
        content: z
          .string()
          .max(MAX_FILE_CHARACTERS)
          .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'It must be Base64.')
          .meta({ description: 'Content of the file in Base64.' }),
      })
      .meta({ id: 'NewServiceFile', examples: [{ name: 'invoice.pdf', content: 'JVBERi0xLjcK' }] }),
    maxBodyBytes: MAX_FILE_CHARACTERS + 10_000,
    answers: {
      201: {
        description: 'The file that was stored with the record.',
        body: FileOut,
        headers: { Location: 'URL of the file.' },
      },
    },
    problems: ['not-found', 'vehicle-suspended', 'forbidden', 'conflict', 'quota-exceeded'],
    async handle({ params, body }, { access }) {
      const vehicle = await access.vehicles.data(params.id);
      const content = Buffer.from(body.content, 'base64');
      const file = await access.serviceRecords.addFile(vehicle, params.recordId, body.name, content);
      const location = `/api/v1/vehicles/${vehicle.id}/service-records/${params.recordId}/files/${file.id}`;
      return { status: 201, body: file, headers: { location } };
    },
  }),
  get('/api/v1/vehicles/{id}/service-records/{recordId}/files/{fileId}', {
    operationId: 'getServiceFile',
    summary: 'Get a file of a service record.',
    description: 'With `Range`, only a part of the file is sent. `HEAD` is supported as well.',
    headers: FILE_REQUEST_HEADERS,
    params: byFile,
    answers: {
      200: { description: 'The file.', ...fileTypes, headers: FILE_HEADERS },
      206: {
        description: 'The requested part of the file.',
        ...fileTypes,
        headers: { ...FILE_HEADERS, 'Content-Range': 'Range of the bytes sent, and size of the file.' },
      },
      304: { description: 'The client already has the current version of the file.', headers: FILE_HEADERS },
    },
    problems: ['not-found', 'vehicle-suspended', 'range-not-satisfiable'],
    async handle({ params }, { access, method, header }) {
      const file = await access.serviceRecords.file(
        await access.vehicles.data(params.id),
        params.recordId,
        params.fileId,
      );
      const sent = {
        mediaType: file.mediaType,
        disposition: dispositionOf(file.name),
        bytes: file.bytes,
        sha256: file.sha256,
        modifiedMs: file.createdAtMs,
        read: (start: number, end: number) => access.serviceRecords.fileBytes(file, start, end),
      };
      return fileReply(sent, { method, header });
    },
  }),
  remove('/api/v1/vehicles/{id}/service-records/{recordId}/files/{fileId}', {
    operationId: 'deleteServiceFile',
    summary: 'Delete a file of a service record.',
    description: GRANTED,
    params: byFile,
    answers: { 204: { description: 'The file is deleted.' } },
    problems: ['not-found', 'vehicle-suspended', 'forbidden'],
    async handle({ params }, { access }) {
      await access.serviceRecords.removeFile(await access.vehicles.data(params.id), params.recordId, params.fileId);
      return { status: 204 };
    },
  }),
];
