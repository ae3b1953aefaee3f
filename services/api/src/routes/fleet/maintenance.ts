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
const valueText = 'Metres of `odometer`, hours of `engine-hours`, of a custom counter in its unit.';
const COUNTER_MAX = 1_000_000_000_000;
const counterText = '`odometer`, `engine-hours`, or the id of a custom counter of the vehicle.';
const CorrectionOut = z
  .strictObject({
    id: idOut,
    counter: z.union([z.enum(COUNTERS), idOut]).meta({ description: counterText }),
    at: timeOut.meta({ description: 'From then on the counter goes on from the value.' }),
    value: z.number().meta({ description: valueText }),
    note: z.string().nullable(),
    createdBy: idOut.nullable().meta({ description: 'Null: an account that is gone, or that the caller may not see.' }),
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
    sensorId: idOut.nullable().meta({ description: 'The vehicle may have it no more: then nothing is counted.' }),
    startsAt: timeOut,
    value: z.number().meta({ description: 'What it shows, in its unit.' }),
  })
  .meta({
    id: 'CustomCounter',
    examples: [{ id: COUNTER_ID, version: 1, ...COUNTER_EXAMPLE, startsAt: '2026-01-15T12:00:00.000Z', value: 812.5 }],
  });
const counterFields = {
  name: line(100).meta({ description: 'Unique within the vehicle, whatever the case.' }),
  unit: z
    .string()
    .trim()
    .max(20)
    .regex(/^\P{Cc}*$/u, 'It must not hold control characters.')
    .meta({ description: 'What it counts in. Default: `h` of `sensor-hours`, else the unit of the sensor.' }),
  source: z.enum(COUNTER_SOURCES).meta({
    description:
      '`manual`: corrections alone move it. `sensor-total`: it goes on with the total that a sensor shows; where that falls, it goes on from there. `sensor-hours`: the hours during which a digital sensor is not 0, between values at most an hour apart.',
  }),
  sensorId: id<SensorId>().nullable().meta({ description: 'A sensor of the vehicle; null of `manual`.' }),
};
const CountersOut = z
  .strictObject({
    vehicleId: idOut,
    at: timeOut.nullable().meta({ description: 'Time of the newest record that is counted; null: nothing came yet.' }),
    odometerM: z.number(),
    engineHours: z.number(),
    custom: z.array(CustomCounterOut).meta({ description: 'In the order of their creation.' }),
    settled: z.boolean().meta({
      description: 'False for some seconds while older records came late, or a value was set for an earlier time.',
    }),
    corrections: z.array(CorrectionOut).meta({ description: 'The newest 200, the newest first.' }),
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
    .meta({ description: 'By the custom counter that `counterName` names, in its unit.' }),
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
  vehicleId: id<VehicleId>().nullable().meta({ description: 'For this vehicle; or `groupId`.' }),
  groupId: id<GroupId>().nullable().meta({ description: 'For each vehicle of this group, now and later.' }),
  counterName: line(100).nullable().meta({
    description:
      'The custom counter that it goes by, by its name: of a group, that of each vehicle. A vehicle without it goes by the rest.',
  }),
  every: SpanIn.refine(
    (every) => Object.values(every).some((each) => each !== null),
    'It must name a distance, hours, days or a counter.',
  ),
  warning: SpanIn.meta({ description: 'So much before it is due, it is near. Null: no warning by that.' }),
  startsAt: timeIn.meta({ description: 'Counted from then on until a service is recorded. Default: now.' }),
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
    stage: z.enum(MAINTENANCE_STAGES).meta({ description: '`warning`: near. `due`: nothing is left of it.' }),
    cause: z.enum(['distance', 'engine-hours', 'days', 'counter']).meta({ description: 'What comes first.' }),
    left: SpanOut.meta({ description: 'Negative: so much over it. Null: the plan does not go by it.' }),
    counterUnit: z.string().nullable().meta({ description: 'What `left.counter` is in; null: it goes by none.' }),
    share: z.number().meta({ description: 'What is left of what comes first: 1 after a service, 0 when it is due.' }),
    since: timeOut.meta({ description: 'The last service, or the start of the plan.' }),
    dueAt: timeOut.nullable().meta({ description: 'By the calendar; null: the plan does not go by days.' }),
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
    odometerM: z.number().nullable().meta({ description: 'As it was read; null: as it was counted.' }),
    engineHours: z.number().nullable(),
    cost: z.strictObject({ amount: z.number(), currency: z.string() }).nullable(),
    note: z.string().nullable(),
    files: z.array(FileOut),
    createdBy: idOut.nullable().meta({ description: 'Null: an account that is gone, or that the caller may not see.' }),
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
  'Content-Disposition': 'A name for it.',
  ETag: 'The same as long as the file is.',
  'Last-Modified': 'When it was put.',
  'Accept-Ranges': '`bytes`.',
};

const byCounter = z.object({ id: vehicleKey, counterId: id<CustomCounterId>() });
const GRANTED = 'For operators, dealers, and users who were granted the service `maintenance`.';

/** Lower bound of a time, for descriptions. */
const KEPT_HISTORY = 'Not before what is erased of the history of the vehicle.';
const KEPT_OF_PLAN = 'not before what is erased of the history of the vehicle.';

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
    summary: 'Odometer, engine hours and custom counters of a vehicle, and how they were corrected.',
    description:
      'Counted from the first record on: by the counters of the terminal where it has any, else by the way of its fixes and the time with the ignition on. A reset or a swap of the terminal changes nothing.',
    params: byVehicle,
    answers: {
      200: { description: 'What the counters of the vehicle show, with their corrections.', body: CountersOut },
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
    summary: 'Make a custom counter of a vehicle.',
    description: `At most ${MAX_CUSTOM_COUNTERS} of each vehicle. ${GRANTED}`,
    params: byVehicle,
    body: z
      .strictObject({
        ...counterFields,
        unit: counterFields.unit.nullable().default(null),
        sensorId: counterFields.sensorId.default(null),
        startsAt: timeIn
          .nullable()
          .default(null)
          .meta({ description: `It counts records from then on. Default: now. ${KEPT_HISTORY}` }),
      })
      .meta({ id: 'NewCustomCounter', examples: [COUNTER_EXAMPLE as never] }),
    answers: {
      201: {
        description: 'The new counter.',
        body: CustomCounterOut,
        headers: { Location: 'URL of the counter.', ETag: 'Its version.' },
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
    summary: 'One custom counter of a vehicle.',
    params: byCounter,
    answers: {
      200: {
        description: 'The counter, with what it shows.',
        body: CustomCounterOut,
        headers: { ETag: 'Its version.' },
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
    summary: 'Change a custom counter: what was counted stays, and it goes on from there.',
    description: GRANTED,
    conditional: true,
    params: byCounter,
    body: z
      .strictObject(counterFields)
      .partial()
      .meta({ id: 'CustomCounterPatch', examples: [{ name: 'Cooling' } as never] }),
    answers: {
      200: { description: 'The counter after the change.', body: CustomCounterOut, headers: { ETag: 'Its version.' } },
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
    summary: 'Set what a counter of a vehicle showed at a time: it goes on from there.',
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
        description: 'The correction, from which the counter goes on.',
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
    summary: 'Take a correction back: the counter is what it was without it.',
    description: GRANTED,
    params: z.object({ id: vehicleKey, correctionId: id<CounterCorrectionId>() }),
    answers: { 204: { description: 'The correction is taken back.' } },
    problems: ['not-found', 'vehicle-suspended', 'forbidden'],
    async handle({ params }, { access }) {
      await access.counters.removeCorrection(await access.vehicles.data(params.id), params.correctionId);
      return { status: 204 };
    },
  }),
  get('/api/v1/maintenance', {
    operationId: 'listMaintenance',
    summary: 'How maintenance plans stand, vehicle by vehicle, the most urgent first.',
    query: z.object({
      vehicleId: id<VehicleId>().optional(),
      planId: id<MaintenancePlanId>().optional(),
      stage: z.enum(MAINTENANCE_STAGES).optional(),
      limit: paging.limit,
    }),
    answers: {
      200: {
        description: 'How the plans stand, the most urgent first.',
        body: DueListOut,
      },
    },
    async handle({ query: { limit, ...filter } }, { access }) {
      return { status: 200, body: { items: (await access.maintenancePlans.due(filter, limit)).map(dueBody) } };
    },
  }),
  plans.list({
    summary: 'Maintenance plans of the vehicles and groups that the caller may see.',
    query: z.object(paging),
    page: (query, { access }) => access.maintenancePlans.plans(pageAsked(query)),
  }),
  plans.add({
    summary: 'Plan maintenance of a vehicle, or of each vehicle of a group.',
    description: `It is due every so many kilometres, engine hours, days or units of a custom counter, whichever comes first. ${GRANTED}`,
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
    summary: 'Delete a maintenance plan; its service records stay.',
    description: GRANTED,
    problems: ['forbidden'],
    remove: ({ id }, { access, ifMatch }) => access.maintenancePlans.removePlan(id, ifMatch),
  }),
  get('/api/v1/vehicles/{id}/service-records', {
    operationId: 'listServiceRecords',
    summary: 'Services of a vehicle that were done, the newest entry first.',
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
    summary: 'Record a service: its plan is counted anew from there.',
    description: GRANTED,
    params: byVehicle,
    body: z
      .strictObject({
        planId: id<MaintenancePlanId>().nullable().default(null),
        title: line(100)
          .nullable()
          .default(null)
          .meta({ description: 'What was done. Default: the name of the plan.' }),
        at: timeIn.optional().meta({ description: `Default: now. Of a plan: ${KEPT_OF_PLAN}` }),
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
    summary: 'Delete a service record: its plan is counted as if it had not been.',
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
    summary: 'Put a file beside a service record: an invoice, a photo.',
    description: `PDF, JPEG, PNG or WebP, by its first bytes; ${MAX_FILE_BYTES / 1024 / 1024} MiB at most, and 10 of each record. It counts as stored bytes of the account and of the dealer. ${GRANTED}`,
    params: byRecord,
    body: z
      .strictObject({
        name: line(100).meta({ description: 'As it is saved when it is downloaded.' }),
        content: z
          .string()
          .max(MAX_FILE_CHARACTERS)
          .regex(/^[A-Za-z0-9+/]+={0,2}$/, 'It must be Base64.')
          .meta({ description: 'Its bytes in Base64.' }),
      })
      .meta({ id: 'NewServiceFile', examples: [{ name: 'invoice.pdf', content: 'JVBERi0xLjcK' }] }),
    maxBodyBytes: MAX_FILE_CHARACTERS + 10_000,
    answers: {
      201: {
        description: 'The file, which is stored with the record.',
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
    summary: 'A file of a service record.',
    description: 'With `Range`, a part of it. `HEAD` is answered as well.',
    headers: FILE_REQUEST_HEADERS,
    params: byFile,
    answers: {
      200: { description: 'The file.', ...fileTypes, headers: FILE_HEADERS },
      206: {
        description: 'The part that was asked for.',
        ...fileTypes,
        headers: { ...FILE_HEADERS, 'Content-Range': 'Which bytes, of how many.' },
      },
      304: { description: 'The client has it already.', headers: FILE_HEADERS },
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
