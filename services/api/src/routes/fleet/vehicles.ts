import type { NamedDriver, VehicleKey } from '@outrider/access';
import {
  ACCESS_REFUSALS,
  ALARMS,
  accessAfter,
  type GroupId,
  isoTime,
  isUuid,
  LEARNING_ACCESS,
  positionJson,
  readUuid,
  SENSOR_KINDS,
  type TerminalId,
  type UserId,
  VEHICLE_FIELDS,
  VEHICLE_STATES,
  type Vehicle,
  type VehicleCounters,
  type VehicleId,
  type VehicleStatus,
  vehicleStateJson,
} from '@outrider/domain';
import { MAX_EVENTS_PER_MINUTE, MAX_GEOFENCES_AT_ONCE } from '@outrider/engine';
import type { TerminalConnection, UnknownTerminal } from '@outrider/hub';
import { z } from 'zod';
import {
  CUSTOM_EXAMPLE,
  CUSTOM_FIELDS_OUT,
  CUSTOM_FIELDS_PATCH,
  customAsked,
  customQuery,
  NEW_CUSTOM_FIELDS,
} from '../../fields/custom-fields.ts';
import { VEHICLE } from '../../fields/field-schemas.ts';
import {
  id,
  idOut,
  line,
  pageAsked,
  paging,
  searchAsked,
  searching,
  timeOut,
  UUID_PATTERN,
} from '../../fields/fields.ts';
import { SensorOut, sensorsIn } from '../../fields/sensor-fields.ts';
import { WHOLE_LIST } from '../../http/whole-list.ts';
import { ResourceRoutes } from '../../resource-routes.ts';
import { callsOf, type Route } from '../../route.ts';
import { accessOf, BOUND_PROTOCOLS, TERMINAL_ACCESS_FIELDS } from '../../terminal-access.ts';

const { get, post } = callsOf('Vehicles');

const TERMINAL_ID = VEHICLE_FIELDS.terminalId;

const BY_TERMINAL = 'terminal:';
/** Identifies a vehicle in a path. */
export const vehicleKey = z
  .string()
  .overwrite((text) => readUuid(text) ?? text)
  .refine(
    (text) =>
      isUuid(text) || (text.startsWith(BY_TERMINAL) && TERMINAL_ID.pattern.test(text.slice(BY_TERMINAL.length))),
    'It must be a UUID, or terminal: and the id of a terminal.',
  )
  .meta({
    pattern: `^(?:${UUID_PATTERN}|${BY_TERMINAL}${TERMINAL_ID.pattern.source.replace(/^\^|\$$/g, '')})$`,
    description: 'UUID of the vehicle, or `terminal:` and the id of the terminal fitted to it.',
    examples: ['01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57', 'terminal:356307042441013'],
  })
  .transform(
    (text): VehicleKey =>
      text.startsWith(BY_TERMINAL)
        ? { terminalId: text.slice(BY_TERMINAL.length) as TerminalId }
        : { id: text as VehicleId },
  );
const byKey = z.object({ id: vehicleKey });

const SuspensionOut = z
  .strictObject({
    reason: z.string().meta({ description: 'Reason that is shown to people.' }),
    by: z.enum(['operator', 'dealer']).meta({
      description: 'Who suspended the vehicle. Only operators can resume a vehicle that an operator suspended.',
    }),
    since: timeOut,
  })
  .meta({
    id: 'Suspension',
    examples: [{ reason: 'Invoice 1204 is unpaid.', by: 'dealer', since: '2026-01-15T12:00:00.000Z' }],
  });

export const VehicleOut = z
  .strictObject({
    id: idOut,
    ...VEHICLE.shown,
    terminalAccess: z
      .strictObject({
        protocol: z.enum(BOUND_PROTOCOLS),
        hasSecret: z.boolean(),
        certificateSha256: z.string().nullable(),
        networks: z.array(z.string()),
      })
      .meta({ description: 'What the terminal must present for its data to be accepted.' }),
    dealerId: idOut.nullable().meta({ description: 'Dealer to whom the vehicle belongs. Null: the operator.' }),
    groupIds: z.array(idOut),
    customAttributes: CUSTOM_FIELDS_OUT.customAttributes,
    sensors: z.array(SensorOut),
    suspension: SuspensionOut.nullable().meta({ description: 'Null if the vehicle is not suspended.' }),
    historyFrom: timeOut.nullable().meta({
      description:
        'Time at which the vehicle was moved from another dealer without its history. Its history begins then. Null if it was not moved in this way.',
    }),
  })
  .meta({
    id: 'Vehicle',
    examples: [
      {
        id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
        ...VEHICLE.example,
        terminalAccess: { protocol: 'teltonika', hasSecret: false, certificateSha256: null, networks: [] },
        dealerId: null,
        groupIds: ['01961f3c-8b21-7d4f-8c2e-3a7b1d5f9e68'],
        customAttributes: CUSTOM_EXAMPLE.customAttributes,
        sensors: [],
        suspension: null,
        historyFrom: null,
      },
    ],
  });

const terminalAccess = z.strictObject(TERMINAL_ACCESS_FIELDS).partial().meta({
  description: 'Fields that are left out are not changed. The default of `protocol` for a new vehicle is `learn`.',
});
export const vehicleDealerId = id<UserId>().nullable().meta({
  description:
    'Dealer to whom the vehicle belongs. Null: the operator. Only operators choose it; vehicles that a dealer adds belong to this dealer.',
});
export const vehicleGroupIds = z.array(id<GroupId>()).max(1000);
const POSITION_EXAMPLE = {
  vehicleId: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
  fixTime: '2026-01-15T11:59:55.000Z',
  latitude: 59.9386,
  longitude: 30.3141,
  valid: true,
  speedKmh: 42.5,
  courseDeg: 270,
  altitudeM: 12,
  satellites: 11,
  ignition: true,
  odometerM: 123_456_700,
};

export const AlarmOut = z
  .enum(ALARMS)
  .meta({ id: 'Alarm', description: '`sos` is the panic button; `tamper` is an opened case.', examples: ['sos'] });
const attributesOut = z.record(z.string(), z.union([z.number(), z.string(), z.boolean()]));

/** A position, also used by the live API. Values that the terminal did not send are left out. */
export const PositionOut = z
  .strictObject({
    vehicleId: idOut,
    fixTime: timeOut,
    latitude: z.number(),
    longitude: z.number(),
    valid: z.boolean(),
    speedKmh: z.number().optional(),
    courseDeg: z.number().optional(),
    altitudeM: z.number().optional(),
    satellites: z.number().optional(),
    ignition: z.boolean().optional(),
    odometerM: z.number().optional(),
    supplyV: z.number().optional(),
    fuelL: z.number().optional(),
    alarms: z.array(AlarmOut).optional(),
    attributes: attributesOut.optional(),
  })
  .meta({ id: 'Position', examples: [POSITION_EXAMPLE] });

const REJECTIONS_OF_MS = 24 * 3_600_000;
const RejectedPositionsOut = z
  .strictObject({
    vehicleId: idOut,
    from: timeOut,
    to: timeOut,
    complete: z
      .boolean()
      .meta({ description: 'False if there were too many positions to check all of them for jumps.' }),
    rejections: z.array(
      z.strictObject({
        reason: z.enum(['out-of-range', 'null-island', 'time-in-future', 'time-too-old', 'jump']).meta({
          description:
            '`out-of-range`: latitude or longitude out of range; `null-island`: exactly 0/0, which a receiver reports before its first fix; `time-in-future`: more than 10 minutes ahead of the clock of the server; `time-too-old`: before 2005; `jump`: over 500 km/h would be needed to get there from the last position.',
        }),
        count: z.int(),
        lastFixTime: timeOut.meta({ description: 'Time that the terminal gave to the position that arrived last.' }),
        lastReceivedAt: timeOut,
        latitude: z.number(),
        longitude: z.number(),
      }),
    ),
  })
  .meta({
    id: 'RejectedPositions',
    examples: [
      {
        vehicleId: POSITION_EXAMPLE.vehicleId,
        from: '2026-01-14T12:00:00.000Z',
        to: '2026-01-15T12:00:00.000Z',
        complete: true,
        rejections: [
          {
            reason: 'time-in-future',
            count: 42,
            lastFixTime: '2026-01-15T12:20:00.000Z',
            lastReceivedAt: '2026-01-15T12:00:00.000Z',
            latitude: 59.9386,
            longitude: 30.3141,
          },
        ],
      },
    ],
  });

const VehicleStateOut = z
  .strictObject({
    vehicleId: idOut,
    state: z.enum(VEHICLE_STATES).meta({
      description:
        'A trip continues over a short pause, but the state changes. `offline`: no data arrived for the `offlineAfterMinutes` of the vehicle.',
    }),
    stateSince: timeOut.nullable(),
    online: z.boolean().nullable().meta({ description: 'False while the state is `offline`.' }),
    lastContactAt: timeOut
      .nullable()
      .meta({ description: 'Time at which the newest packet arrived, whatever it contained.' }),
    protocol: z.string().nullable(),
    connected: z.boolean().meta({ description: 'Whether the terminal is connected to the service.' }),
    connectedSince: timeOut.nullable(),
    remoteAddress: z.string().nullable().meta({ description: 'Address of the terminal while it is connected.' }),
    lastRefusal: z
      .strictObject({
        at: timeOut,
        protocol: z.string().meta({ description: 'Protocol of the port that it connected to.' }),
        address: z.string(),
        reason: z.enum(ACCESS_REFUSALS),
        detail: z.string().meta({ description: 'The reason in words.' }),
      })
      .nullable()
      .meta({
        description:
          'The last data with the id of the terminal that was refused because it did not meet `terminalAccess`. Null if there is none, or it is no longer stored.',
      }),
    recordTime: timeOut.nullable().meta({ description: 'Time of the last record, with or without a usable fix.' }),
    clockAheadSeconds: z.int().nullable().meta({
      description:
        'Seconds by which the time of the last record is ahead of its arrival, which means that the clock of the terminal is wrong. Null if it is a minute or less.',
    }),
    ignition: z.boolean().nullable(),
    supplyV: z.number().nullable().meta({ description: 'Supply voltage in the last record, in volts.' }),
    fuelL: z.number().nullable().meta({ description: 'Fuel level in the last record, in litres.' }),
    alarms: z.array(AlarmOut).meta({ description: 'Alarms that are active.' }),
    driver: z.strictObject({ id: idOut, name: z.string() }).nullable().meta({
      description:
        'Current driver: the one assigned by a person, else the one whose code the terminal sent. Null if the driver is unknown or not visible to the caller.',
    }),
    driverCode: z
      .string()
      .nullable()
      .meta({ description: 'Driver code that the terminal sent, even if no driver has it.' }),
    attributes: attributesOut.nullable().meta({ description: 'Attributes of the last record.' }),
    sensors: z
      .array(
        z.strictObject({
          id: idOut,
          name: z.string(),
          kind: z.enum(SENSOR_KINDS),
          unit: z.string(),
          value: z.number(),
          at: timeOut.meta({ description: 'Time of the record that gave the value.' }),
          exceeded: z
            .array(idOut)
            .meta({ description: 'Ids of the thresholds that are exceeded, according to the published events.' }),
        }),
      )
      .meta({ description: 'The newest value of each sensor that has one.' }),
    tank: z
      .strictObject({
        levelL: z.number(),
        percent: z.number().meta({ description: 'Level in percent of `tankCapacityL`.' }),
        at: timeOut.meta({ description: 'Time of the last record that contributed to the level.' }),
        change: z.enum(['refuelling', 'fuel-drain']).nullable().meta({
          description: 'Refuelling or drain in progress, according to the published events. Null if there is none.',
        }),
      })
      .nullable()
      .meta({
        description:
          'Fuel level from which refuellings and drains are detected: the effects of slosh, tilt and wrong values are removed. Null without `tankCapacityL`, or if the level is not known.',
      }),
    counters: z
      .strictObject({
        odometerM: z.number(),
        engineHours: z.number(),
        at: timeOut.nullable().meta({ description: 'Time of the newest record that was counted.' }),
      })
      .nullable()
      .meta({
        description:
          'Counters of the vehicle. They are counted from the archive, and so lag some seconds behind. Null if nothing was counted.',
      }),
    position: PositionOut.nullable().meta({
      description: 'The last fix that was accepted as the position of the vehicle.',
    }),
    receivedAt: timeOut.nullable().meta({ description: 'Time at which the position arrived.' }),
    surplus: z
      .array(
        z.strictObject({
          ownerId: idOut
            .nullable()
            .meta({ description: 'Owner of the geozones. Null for events of the vehicle itself.' }),
          at: timeOut.meta({ description: 'Time of the last fix at which something was left out.' }),
          geozones: z
            .int()
            .meta({ description: 'Number of geozones around the vehicle at that fix that did not count.' }),
          events: z.int().meta({ description: 'Number of events that were left out in the minute of that fix.' }),
        }),
      )
      .meta({
        description:
          'Geozones and events above a limit, which are left out. At one position, only the oldest ' +
          `${MAX_GEOFENCES_AT_ONCE} geozones of an owner count. In a minute, at most ${MAX_EVENTS_PER_MINUTE} events of a ` +
          'vehicle begin because of one owner.',
      }),
  })
  .meta({
    id: 'VehicleState',
    examples: [
      {
        vehicleId: POSITION_EXAMPLE.vehicleId,
        state: 'moving',
        stateSince: '2026-01-15T11:40:10.000Z',
        online: true,
        lastContactAt: '2026-01-15T12:00:00.000Z',
        protocol: 'teltonika',
        connected: true,
        connectedSince: '2026-01-15T11:38:00.000Z',
        remoteAddress: '203.0.113.5',
        lastRefusal: null,
        recordTime: POSITION_EXAMPLE.fixTime,
        clockAheadSeconds: null,
        ignition: true,
        supplyV: 13.9,
        fuelL: null,
        alarms: [],
        driver: { id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d99', name: 'Anna Berg' },
        driverCode: '0100000F28F8E5',
        attributes: { io21: 4 },
        sensors: [],
        tank: { levelL: 182.5, percent: 45.6, at: POSITION_EXAMPLE.fixTime, change: null },
        counters: { odometerM: 120_351_200, engineHours: 3410.25, at: '2026-01-15T12:00:00.000Z' },
        position: POSITION_EXAMPLE,
        receivedAt: '2026-01-15T12:00:00.000Z',
        surplus: [],
      },
    ],
  });

function vehicleStateBody(
  vehicleId: VehicleId,
  status: VehicleStatus | null,
  connection: TerminalConnection | null,
  refusal: UnknownTerminal | null,
  driver: NamedDriver | null,
  counters: VehicleCounters | null,
): z.output<typeof VehicleStateOut> {
  const known = status === null ? NOTHING_KNOWN : vehicleStateJson(status);
  const position = status?.position ?? null;
  return {
    ...known,
    driver: driver && { id: driver.id, name: driver.name },
    driverCode: status?.activity?.driverCode ?? null,
    vehicleId,
    protocol: known.protocol ?? connection?.protocol ?? null,
    connected: connection !== null,
    connectedSince: connection && isoTime(connection.sinceMs),
    remoteAddress: connection?.address ?? null,
    lastRefusal: refusal?.contact
      ? {
          at: isoTime(refusal.lastSeenMs),
          protocol: refusal.protocol,
          address: refusal.address,
          reason: refusal.contact.reason as (typeof ACCESS_REFUSALS)[number],
          detail: refusal.contact.detail,
        }
      : null,
    counters: counters && {
      odometerM: Math.round(counters.odometerM),
      engineHours: Math.round((counters.engineMs / 3_600_000) * 1000) / 1000,
      at: counters.atMs === 0 ? null : isoTime(counters.atMs),
    },
    position: position && (positionJson(vehicleId, position) as z.output<typeof PositionOut>),
    receivedAt: status === null || status.receivedAtMs === null ? null : isoTime(status.receivedAtMs),
    surplus: (status?.surplus ?? []).map(({ ownerId, atMs, geofences, events }) => ({
      ownerId,
      at: isoTime(atMs),
      geozones: geofences,
      events,
    })),
  };
}

/** State of a vehicle that never sent a packet. */
const NOTHING_KNOWN = {
  state: 'unknown' as const,
  stateSince: null,
  online: null,
  lastContactAt: null,
  protocol: null,
  recordTime: null,
  clockAheadSeconds: null,
  ignition: null,
  supplyV: null,
  fuelL: null,
  alarms: [],
  attributes: null,
  sensors: [],
  tank: null,
};

export function vehicleBody({ kind: _, version: __, predecessor, ...vehicle }: Vehicle): z.output<typeof VehicleOut> {
  const { protocol, secretHash, certificateSha256, networks } = vehicle.terminalAccess;
  const terminalAccess = { protocol, hasSecret: secretHash !== null, certificateSha256, networks: [...networks] };
  const sensors = vehicle.sensors.map(({ calibration, thresholds, ...sensor }) => ({
    ...sensor,
    calibration: [...calibration],
    thresholds: [...thresholds],
  }));
  const customAttributes = { ...vehicle.customAttributes };
  const suspension = vehicle.suspension && {
    reason: vehicle.suspension.reason,
    by: vehicle.suspension.by,
    since: isoTime(vehicle.suspension.sinceMs),
  };
  const historyFrom = predecessor && isoTime(predecessor.untilMs);
  const groupIds = [...vehicle.groupIds];
  return { ...vehicle, terminalAccess, groupIds, customAttributes, sensors, suspension, historyFrom };
}

const vehicles = new ResourceRoutes({
  group: 'Vehicles',
  path: '/api/v1/vehicles',
  operations: ['Vehicle', 'Vehicles'],
  noun: 'vehicle',
  params: byKey,
  body: VehicleOut,
  show: vehicleBody,
  entityOf: (vehicle: Vehicle) => vehicle,
});

export const vehicleRoutes: Route[] = [
  vehicles.list({
    summary: 'List vehicles that the caller may see.',
    description: `In the order in which they were added. Users see the vehicles of the groups to which they have access. ${WHOLE_LIST}`,
    atOnce: 250,
    query: z.object({
      ...paging,
      ...searching('name', 'plate', 'terminalId', 'externalId'),
      ...customQuery,
      terminalId: z
        .string()
        .regex(TERMINAL_ID.pattern, TERMINAL_ID.refusal)
        .meta({ examples: [TERMINAL_ID.example] })
        .transform((text) => text as TerminalId)
        .optional()
        .meta({ description: 'Return only the vehicle to which this terminal is fitted.' }),
      groupId: id<GroupId>().optional().meta({ description: 'Return only vehicles of this group.' }),
      suspended: z.enum(['true', 'false']).optional().meta({
        description: '`true`: return only suspended vehicles; `false`: only vehicles that are not suspended.',
      }),
      state: z
        .enum(VEHICLE_STATES)
        .optional()
        .meta({ description: 'Return only vehicles that are in this state now.' }),
      protocol: z
        .enum(BOUND_PROTOCOLS)
        .optional()
        .meta({ description: 'Return only vehicles whose `terminalAccess.protocol` has this value.' }),
      dealerId: z
        .string()
        .overwrite((text) => readUuid(text) ?? text)
        .refine((text) => text === 'none' || isUuid(text), 'It must be a UUID, or `none`.')
        .meta({ examples: ['none'] })
        .transform((text) => (text === 'none' ? null : (text as UserId)))
        .optional()
        .meta({ description: 'Return only vehicles of this dealer; `none`: those of the operator.' }),
    }),
    problems: ['not-found'],
    async page(query, { access }) {
      const { state, protocol, dealerId, suspended } = query;
      const search = searchAsked(
        query,
        [state, protocol, dealerId, suspended, query.externalId, query.attribute].some((each) => each !== undefined),
      );
      if (search === null) return access.vehicles.page(query, pageAsked(query));
      const custom = customAsked(query);
      return access.vehicles.find({ ...query, suspended: suspended && suspended === 'true', custom }, search);
    },
  }),
  vehicles.add({
    summary: 'Add a vehicle profile. From then on, data of its terminal is accepted.',
    description:
      'Fields that are left out get their defaults, which the answer shows. A terminal is fitted to only one vehicle at a time.',
    body: z
      .strictObject({
        ...VEHICLE.add,
        terminalAccess: terminalAccess.default({}),
        dealerId: vehicleDealerId.optional(),
        groupIds: vehicleGroupIds.default([]),
        customAttributes: NEW_CUSTOM_FIELDS.customAttributes,
        sensors: sensorsIn.optional(),
      })
      .meta({ id: 'NewVehicle', examples: [{ name: 'Van 12', terminalId: '356307042441013', speedLimitKmh: 90 }] }),
    problems: ['forbidden', 'conflict', 'quota-exceeded'],
    add(body, { access }) {
      const terminalAccess = accessAfter(LEARNING_ACCESS, accessOf(body.terminalAccess), false);
      return access.vehicles.add({ ...body, terminalAccess });
    },
  }),
  vehicles.get({ get: ({ id }, { access }) => access.vehicles.get(id) }),
  vehicles.change({
    summary: 'Change a vehicle (JSON merge patch).',
    description:
      'Moving a terminal to another vehicle takes effect at once; the history stays with the vehicle for which it was recorded. To move a vehicle to another dealer, call `POST /api/v1/vehicles/move`.',
    body: z
      .strictObject({
        ...VEHICLE.set,
        terminalAccess,
        dealerId: vehicleDealerId,
        groupIds: vehicleGroupIds,
        customAttributes: CUSTOM_FIELDS_PATCH.customAttributes,
        sensors: sensorsIn,
      })
      .partial()
      .meta({ id: 'VehiclePatch', examples: [{ speedLimitKmh: 80 }] }),
    problems: ['vehicle-suspended', 'forbidden', 'conflict', 'quota-exceeded'],
    change({ id }, body, { access, ifMatch }) {
      const { terminalAccess: wanted, ...fields } = body;
      const patch = { ...fields, ...(wanted === undefined ? {} : { terminalAccess: accessOf(wanted) }) };
      return access.vehicles.change(id, ifMatch, patch);
    },
  }),
  vehicles.remove({
    summary: 'Delete a vehicle profile. From then on, data of its terminal is refused.',
    problems: ['vehicle-suspended', 'forbidden'],
    remove: ({ id }, { access, ifMatch }) => access.vehicles.remove(id, ifMatch),
  }),
  post('/api/v1/vehicles/{id}/suspend', {
    operationId: 'suspendVehicle',
    summary: 'Suspend a vehicle: hide its data from everybody except operators.',
    description:
      'For operators and the dealer of the vehicle. Data of its terminal is still accepted, stored and evaluated, and is visible once the vehicle is resumed. Until then, only its profile is shown, with the reason, and the vehicle is left out of notifications, commands, reports, feeds and share links.',
    params: byKey,
    body: z
      .strictObject({
        reason: line(200).meta({
          description: 'Reason that is shown to people.',
          examples: ['Invoice 1204 is unpaid.'],
        }),
      })
      .meta({ id: 'NewSuspension', examples: [{ reason: 'Invoice 1204 is unpaid.' }] }),
    answers: { 200: vehicles.one },
    problems: ['not-found', 'forbidden', 'vehicle-suspended'],
    async handle({ params, body }, context) {
      const { access } = context;
      return vehicles.reply(200, await access.vehicles.suspend(params.id, body.reason), context);
    },
  }),
  post('/api/v1/vehicles/{id}/resume', {
    operationId: 'resumeVehicle',
    summary: 'Resume a suspended vehicle: show its data again, including what arrived meanwhile.',
    description: 'Only operators can resume a vehicle that an operator suspended.',
    params: byKey,
    answers: { 200: vehicles.one },
    problems: ['not-found', 'forbidden', 'vehicle-suspended'],
    async handle({ params }, context) {
      const { access } = context;
      return vehicles.reply(200, await access.vehicles.suspend(params.id, null), context);
    },
  }),
  get('/api/v1/vehicles/{id}/state', {
    operationId: 'getVehicleState',
    summary: 'Get the current state of a vehicle, with its last record and its last position.',
    description:
      'If the last record has no usable fix, the last position is older than the record. Both have their own time. `state`, `ignition` and ' +
      '`alarms` agree with the events that were published. Values of a position that the terminal did not send are left out.',
    params: byKey,
    answers: {
      200: {
        description: 'The state. Unknown values are null.',
        body: VehicleStateOut,
      },
    },
    problems: ['not-found', 'vehicle-suspended'],
    async handle({ params }, { access, nowMs }) {
      const { vehicleId, status, connection, refusal } = await access.vehicles.status(params.id);
      const code = status?.activity?.driverCode ?? null;
      const [driver = null] = await access.drivers.driversAt([{ vehicleId, atMs: nowMs, code }]);
      const counters = await access.counters.shown(vehicleId);
      return { status: 200, body: vehicleStateBody(vehicleId, status, connection, refusal, driver, counters) };
    },
  }),
  get('/api/v1/vehicles/{id}/rejected-positions', {
    operationId: 'getRejectedPositions',
    summary: 'Get the positions of a vehicle that were rejected in the last 24 hours, by reason.',
    description:
      'Helps to find out why a vehicle does not move. Rejected positions are stored with the reason, but do not move the vehicle on a map, and cause no trips or geozone visits. If the list is empty and the vehicle still does not move, nothing arrived, or the terminal marks its fixes as invalid.',
    params: byKey,
    answers: {
      200: {
        description:
          'The reasons, that of the position that was rejected last first. Empty if no position was rejected.',
        body: RejectedPositionsOut,
      },
    },
    problems: ['not-found', 'vehicle-suspended'],
    async handle({ params }, { access, nowMs }) {
      const fromMs = nowMs - REJECTIONS_OF_MS;
      const { vehicleId, rejections, isComplete } = await access.vehicles.rejectedPositions(params.id, fromMs, nowMs);
      return {
        status: 200,
        body: {
          vehicleId,
          from: isoTime(fromMs),
          to: isoTime(nowMs),
          complete: isComplete,
          rejections: rejections.map(({ lastFixTimeMs, lastReceivedAtMs, ...rest }) => ({
            ...rest,
            lastFixTime: isoTime(lastFixTimeMs),
            lastReceivedAt: isoTime(lastReceivedAtMs),
          })),
        },
      };
    },
  }),
];
