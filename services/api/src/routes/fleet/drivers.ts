import { customMatcher } from '@outrider/access';
import {
  type Driver,
  type DriverAssignment,
  type DriverAssignmentId,
  type DriverId,
  type GroupId,
  isoTime,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import { presentCodes } from '@outrider/registry';
import { z } from 'zod';
import { driverCodes } from '../../csv/driver-codes.ts';
import {
  CUSTOM_EXAMPLE,
  CUSTOM_FIELDS_OUT,
  CUSTOM_FIELDS_PATCH,
  customAsked,
  customQuery,
  NEW_CUSTOM_FIELDS,
} from '../../fields/custom-fields.ts';
import { DRIVER } from '../../fields/field-schemas.ts';
import {
  id,
  idOut,
  pageAsked,
  paging,
  searchAsked,
  searching,
  timeIn,
  timeOut,
  utcRangeEndSuchAs,
} from '../../fields/fields.ts';
import { ResourceRoutes } from '../../resource-routes.ts';
import { callsOf, type Route } from '../../route.ts';

const { get, post, patch, remove } = callsOf('Vehicles');

const DAY_MS = 86_400_000;
/** Number of past days that are searched for codes without a driver. */
const UNKNOWN_CODES_DAYS = 31;
/** Days before the end of a licence at which warnings begin. */
const LICENCE_WARNING_DAYS = 30;

/** Example of a driver, also used by the CSV export. */
export const DRIVER_EXAMPLE = {
  id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d99',
  ...DRIVER.example,
  codes: ['0100000F28F8E5'],
  dealerId: null,
  groupIds: [],
  ...CUSTOM_EXAMPLE,
};
const groupIds = z.array(id<GroupId>()).max(1000).meta({ description: 'Users of these groups may see the driver.' });

const LICENCES = ['valid', 'expires-soon', 'expired', 'unknown'] as const;
const DriverOut = z
  .strictObject({
    id: idOut,
    ...DRIVER.shown,
    codes: z.array(z.string()).meta({ description: 'Codes that the driver has now.' }),
    licence: z.enum(LICENCES).meta({
      description: `State of the licence by \`licenceExpiresOn\` (UTC). \`expires-soon\`: it expires within ${LICENCE_WARNING_DAYS} days.`,
    }),
    dealerId: idOut.nullable().meta({ description: 'Dealer to whom the driver belongs. Null: the operator.' }),
    groupIds: z.array(idOut).meta({ description: 'Users of these groups may see the driver.' }),
    ...CUSTOM_FIELDS_OUT,
  })
  .meta({ id: 'Driver', examples: [{ ...DRIVER_EXAMPLE, licence: 'valid' as const }] });

function licenceOf(expiresOn: string | null, nowMs: number): (typeof LICENCES)[number] {
  if (expiresOn === null) return 'unknown';
  const endsMs = Date.parse(expiresOn) + DAY_MS;
  if (nowMs >= endsMs) return 'expired';
  return nowMs >= endsMs - LICENCE_WARNING_DAYS * DAY_MS ? 'expires-soon' : 'valid';
}

function driverBody(driver: Driver, nowMs: number): z.output<typeof DriverOut> {
  const { kind: _, version: __, ...fields } = driver;
  return {
    ...fields,
    codes: presentCodes(driver),
    licence: licenceOf(driver.licenceExpiresOn, nowMs),
    groupIds: [...driver.groupIds],
    customAttributes: { ...driver.customAttributes },
  };
}

const ASSIGNMENT_EXAMPLE = {
  id: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8da1',
  vehicleId: '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57',
  driverId: DRIVER_EXAMPLE.id,
  from: '2026-01-15T06:00:00.000Z',
  to: '2026-01-15T14:00:00.000Z',
};
const AssignmentOut = z
  .strictObject({
    id: idOut,
    vehicleId: idOut,
    driverId: idOut,
    from: timeOut,
    to: timeOut.nullable().meta({ description: 'End of the assignment, exclusive. Null: no end is set.' }),
  })
  .meta({ id: 'DriverAssignment', examples: [ASSIGNMENT_EXAMPLE] });

function assignmentBody({ id, vehicleId, driverId, fromMs, toMs }: DriverAssignment): z.output<typeof AssignmentOut> {
  return { id, vehicleId, driverId, from: isoTime(fromMs), to: toMs === null ? null : isoTime(toMs) };
}

const byAssignment = z.object({ id: id<DriverAssignmentId>() });

const drivers = new ResourceRoutes({
  group: 'Vehicles',
  path: '/api/v1/drivers',
  operations: ['Driver', 'Drivers'],
  noun: 'driver',
  params: z.object({ id: id<DriverId>() }),
  body: DriverOut,
  show: (driver: Driver, { nowMs }) => driverBody(driver, nowMs),
  entityOf: (driver) => driver,
});

const driverRoutesOf: Route[] = [
  drivers.list({
    summary: 'List drivers that the caller may see.',
    description:
      'Users see the drivers of the groups to which they have access. `q` is searched for in names, phone numbers, licence numbers, external ids and codes.',
    query: z.object({
      ...paging,
      ...searching('name', 'externalId'),
      ...customQuery,
      groupId: id<GroupId>().optional().meta({ description: 'Return only drivers of this group.' }),
      licence: z.enum(LICENCES).optional().meta({ description: 'Return only drivers whose licence is in this state.' }),
    }),
    async page(query, { access, nowMs }) {
      const { groupId, licence } = query;
      const isWanted = customMatcher(customAsked(query));
      const search = searchAsked(query, groupId !== undefined || licence !== undefined || isWanted !== null);
      if (search === null) return access.drivers.page(pageAsked(query));
      return access.drivers.find(
        search,
        (driver) =>
          (groupId === undefined || driver.groupIds.includes(groupId)) &&
          (licence === undefined || licenceOf(driver.licenceExpiresOn, nowMs) === licence) &&
          isWanted?.(driver) !== false,
      );
    },
  }),
  drivers.add({
    summary: 'Add a driver.',
    description: 'If no driver had a code before, past shifts with this code are attributed to the new driver as well.',
    body: z
      .strictObject({
        ...DRIVER.add,
        codes: driverCodes.default([]),
        groupIds: groupIds.default([]),
        ...NEW_CUSTOM_FIELDS,
        dealerId: id<UserId>().nullable().optional().meta({
          description:
            'Dealer to whom the driver belongs. Null: the operator. Only operators choose it; drivers that a dealer adds belong to this dealer.',
        }),
      })
      .meta({ id: 'NewDriver', examples: [{ name: 'Anna Berg', codes: ['0100000F28F8E5'] }] }),
    problems: ['forbidden', 'conflict', 'quota-exceeded'],
    add: (body, { access }) => access.drivers.add(body),
  }),
  drivers.get({ get: ({ id }, { access }) => access.drivers.get(id) }),
  drivers.change({
    summary: 'Change a driver (JSON merge patch).',
    description: 'Past shifts with a code that is removed remain attributed to the driver.',
    body: z
      .strictObject({ ...DRIVER.set, codes: driverCodes, groupIds, ...CUSTOM_FIELDS_PATCH })
      .partial()
      .meta({ id: 'DriverPatch', examples: [{ phone: '+49 151 0000000' }] }),
    problems: ['forbidden', 'conflict'],
    change: ({ id }, body, { access, ifMatch }) => access.drivers.change(id, ifMatch, body),
  }),
  drivers.remove({
    summary: 'Delete a driver with all personal data.',
    description:
      'Events keep the codes, which then belong to no driver. The assignments of the driver are deleted, and the fields of the driver are removed from the audit trail.',
    problems: ['forbidden'],
    remove: ({ id }, { access, ifMatch }) => access.drivers.remove(id, ifMatch),
  }),
];

const UnknownCodesOut = z
  .strictObject({
    items: z.array(
      z.strictObject({
        code: z.string(),
        vehicleId: idOut.meta({ description: 'Vehicle in which the code was last read.' }),
        vehicleName: z.string(),
        firstSeenAt: timeOut,
        lastSeenAt: timeOut,
        shifts: z.int().meta({ description: 'Number of driver shifts with this code.' }),
      }),
    ),
  })
  .meta({
    id: 'UnknownDriverCodes',
    examples: [
      {
        items: [
          {
            code: '0100000F28F8E5',
            vehicleId: ASSIGNMENT_EXAMPLE.vehicleId,
            vehicleName: 'Van 7',
            firstSeenAt: '2026-01-14T06:10:00.000Z',
            lastSeenAt: '2026-01-15T06:02:00.000Z',
            shifts: 2,
          },
        ],
      },
    ],
  });

const assignmentRoutes: Route[] = [
  get('/api/v1/unknown-driver-codes', {
    operationId: 'listUnknownDriverCodes',
    summary: `List driver codes of the last ${UNKNOWN_CODES_DAYS} days that no driver has or had.`,
    answers: { 200: { description: 'The codes, the most recently seen first.', body: UnknownCodesOut } },
    problems: ['forbidden'],
    async handle(_, { access, nowMs, signal }) {
      const codes = await access.unknownDriverCodes(nowMs - UNKNOWN_CODES_DAYS * DAY_MS, nowMs, signal);
      return {
        status: 200,
        body: {
          items: codes.map(({ firstSeenMs, lastSeenMs, ...same }) => ({
            ...same,
            firstSeenAt: isoTime(firstSeenMs),
            lastSeenAt: isoTime(lastSeenMs),
          })),
        },
      };
    },
  }),
  get('/api/v1/driver-assignments', {
    operationId: 'listDriverAssignments',
    summary: 'List assignments of drivers to vehicles, the newest first.',
    query: z.object({
      vehicleId: id<VehicleId>().optional(),
      driverId: id<DriverId>().optional(),
      from: utcRangeEndSuchAs('2026-01-15T12:00:00.000Z')
        .optional()
        .meta({ description: 'Return only assignments that end after this time or have no end.' }),
      to: utcRangeEndSuchAs('2026-01-16T12:00:00.000Z').optional(),
    }),
    answers: {
      200: {
        description: 'The assignments, at most 5,000.',
        body: z
          .strictObject({ items: z.array(AssignmentOut) })
          .meta({ id: 'DriverAssignments', examples: [{ items: [ASSIGNMENT_EXAMPLE] }] }),
      },
    },
    problems: ['not-found'],
    async handle({ query }, { access }) {
      const { vehicleId, driverId, from = 0, to = Number.MAX_SAFE_INTEGER } = query;
      const found = await access.drivers.assignments({ vehicleId, driverId, fromMs: from, toMs: to });
      return { status: 200, body: { items: found.map(assignmentBody) } };
    },
  }),
  post('/api/v1/driver-assignments', {
    operationId: 'addDriverAssignment',
    summary: 'Assign a driver to a vehicle for a past or future interval.',
    description:
      'The assignment takes precedence over codes that the terminal sends. A vehicle has at most one assignment at a time.',
    body: z
      .strictObject({
        vehicleId: id<VehicleId>(),
        driverId: id<DriverId>(),
        from: timeIn,
        to: timeIn
          .nullable()
          .default(null)
          .meta({ description: 'End of the assignment, exclusive. Null: no end is set.' }),
      })
      .refine(({ from, to }) => to === null || from < to, { path: ['to'], message: 'It must be later than `from`.' })
      .meta({
        id: 'NewDriverAssignment',
        examples: [
          {
            vehicleId: ASSIGNMENT_EXAMPLE.vehicleId,
            driverId: ASSIGNMENT_EXAMPLE.driverId,
            from: ASSIGNMENT_EXAMPLE.from as never,
            to: null as never,
          },
        ],
      }),
    answers: { 201: { description: 'The new assignment.', body: AssignmentOut } },
    problems: ['forbidden', 'conflict'],
    async handle({ body }, { access }) {
      const { vehicleId, driverId, from, to } = body;
      const assignment = await access.drivers.assign({ vehicleId, driverId, fromMs: from, toMs: to });
      return {
        status: 201,
        body: assignmentBody(assignment),
        headers: { location: `/api/v1/driver-assignments/${assignment.id}` },
      };
    },
  }),
  patch('/api/v1/driver-assignments/{id}', {
    operationId: 'changeDriverAssignment',
    summary: 'Change the end of an assignment.',
    params: byAssignment,
    body: z
      .strictObject({ to: timeIn.nullable() })
      .meta({ id: 'DriverAssignmentPatch', examples: [{ to: ASSIGNMENT_EXAMPLE.to as never }] }),
    answers: { 200: { description: 'The assignment after the change.', body: AssignmentOut } },
    problems: ['not-found', 'forbidden', 'conflict'],
    async handle({ params, body }, { access }) {
      return { status: 200, body: assignmentBody(await access.drivers.endAssignment(params.id, body.to)) };
    },
  }),
  remove('/api/v1/driver-assignments/{id}', {
    operationId: 'deleteDriverAssignment',
    summary: 'Delete an assignment, as if it had never been made.',
    params: byAssignment,
    answers: { 204: { description: 'The assignment is deleted.' } },
    problems: ['not-found', 'forbidden'],
    async handle({ params }, { access }) {
      await access.drivers.removeAssignment(params.id);
      return { status: 204 };
    },
  }),
];

export const driverRoutes: Route[] = [...driverRoutesOf, ...assignmentRoutes];
