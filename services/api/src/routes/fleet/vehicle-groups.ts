import { customMatcher } from '@outrider/access';
import type { GroupId, UserId, VehicleGroup } from '@outrider/domain';
import { z } from 'zod';
import {
  CUSTOM_EXAMPLE,
  CUSTOM_FIELDS_OUT,
  CUSTOM_FIELDS_PATCH,
  customAsked,
  customQuery,
  NEW_CUSTOM_FIELDS,
} from '../../fields/custom-fields.ts';
import { GROUP } from '../../fields/field-schemas.ts';
import { id, idOut, pageAsked, pageReply, paging, searchAsked, searching } from '../../fields/fields.ts';
import { pageOf } from '../../http/whole-list.ts';
import { ResourceRoutes } from '../../resource-routes.ts';
import { callsOf, type Route, route } from '../../route.ts';
import { UserOut, userBody } from '../accounts/users.ts';
import { VehicleOut, vehicleBody, vehicleKey } from './vehicles.ts';

const { get } = callsOf('Vehicles');

const GroupOut = z
  .strictObject({
    id: idOut,
    ...GROUP.shown,
    dealerId: idOut.nullable().meta({ description: 'Dealer to whom the group belongs. Null: the operator.' }),
    ...CUSTOM_FIELDS_OUT,
  })
  .meta({
    id: 'VehicleGroup',
    examples: [
      {
        id: '01961f3c-8b21-7d4f-8c2e-3a7b1d5f9e68',
        ...GROUP.example,
        dealerId: null,
        ...CUSTOM_EXAMPLE,
      },
    ],
  });

const dealerId = id<UserId>().nullable().meta({
  description:
    'Dealer to whom the group belongs. Null: the operator. Only operators choose it; groups that a dealer adds belong to this dealer.',
});
const byId = z.object({ id: id<GroupId>() });

function groupBody({ kind: _, version: __, ...group }: VehicleGroup): z.output<typeof GroupOut> {
  return { ...group, customAttributes: { ...group.customAttributes } };
}

const groups = new ResourceRoutes({
  group: 'Vehicles',
  path: '/api/v1/vehicle-groups',
  operations: ['VehicleGroup', 'VehicleGroups'],
  noun: 'group',
  params: byId,
  body: GroupOut,
  show: groupBody,
  entityOf: (group: VehicleGroup) => group,
});

export const vehicleGroupRoutes: Route[] = [
  groups.list({
    summary: 'List groups that the caller may see.',
    query: z.object({ ...paging, ...searching('name', 'externalId'), ...customQuery }),
    async page(query, { access }) {
      const custom = customAsked(query);
      const search = searchAsked(query, customMatcher(custom) !== null);
      return search ? access.groups.find(search, custom) : access.groups.page(pageAsked(query));
    },
  }),
  groups.add({
    summary: 'Add a group.',
    description: 'The name must be unique among the groups of the dealer, or of the operator.',
    body: z
      .strictObject({
        ...GROUP.add,
        dealerId: dealerId.optional(),
        ...NEW_CUSTOM_FIELDS,
      })
      .meta({ id: 'NewVehicleGroup', examples: [{ name: 'Refrigerated' }] }),
    problems: ['forbidden', 'conflict'],
    add: (body, { access }) => access.groups.add(body),
  }),
  groups.get({ get: ({ id }, { access }) => access.groups.get(id) }),
  groups.change({
    summary: 'Change a group (JSON merge patch).',
    body: z
      .strictObject({ ...GROUP.set, dealerId, ...CUSTOM_FIELDS_PATCH })
      .partial()
      .meta({ id: 'VehicleGroupPatch', examples: [{ name: 'Tankers' }] }),
    problems: ['forbidden', 'conflict'],
    change: ({ id }, body, { access, ifMatch }) => access.groups.change(id, ifMatch, body),
  }),
  groups.remove({
    summary: 'Delete a group, and remove it from all vehicles, accounts and geozones that name it.',
    description: 'A geozone that was limited to this group then watches no vehicle.',
    problems: ['forbidden'],
    remove: ({ id }, { access, ifMatch }) => access.groups.remove(id, ifMatch),
  }),
  get('/api/v1/vehicle-groups/{id}/vehicles', {
    operationId: 'listVehiclesOfGroup',
    summary: 'List the vehicles in the group.',
    params: byId,
    query: z.object(paging),
    answers: { 200: pageOf(VehicleOut) },
    problems: ['not-found'],
    async handle({ params, query }, { access }) {
      return pageReply(await access.vehicles.page({ groupId: params.id }, pageAsked(query)), vehicleBody);
    },
  }),
  get('/api/v1/vehicle-groups/{id}/users', {
    operationId: 'listUsersOfGroup',
    summary: 'List the accounts with access to the group that the caller may see.',
    params: byId,
    query: z.object(paging),
    answers: { 200: pageOf(UserOut) },
    problems: ['not-found'],
    async handle({ params, query }, { access }) {
      return pageReply(await access.groups.users(params.id, pageAsked(query)), userBody);
    },
  }),
  ...(
    [
      ['put', 'putVehicleInGroup', 'Add a vehicle to the group.', true],
      ['delete', 'takeVehicleFromGroup', 'Remove a vehicle from the group.', false],
    ] as const
  ).map(([method, operationId, summary, isMember]) =>
    route({
      method,
      path: '/api/v1/vehicle-groups/{id}/vehicles/{vehicleId}',
      group: 'Vehicles',
      operationId,
      summary,
      params: z.object({ id: id<GroupId>(), vehicleId: vehicleKey }),
      answers: { 204: { description: `The vehicle is ${isMember ? '' : 'not '}in the group.` } },
      problems: ['not-found', 'forbidden'],
      async handle({ params }, { access }) {
        await access.groups.setVehicle(params.id, params.vehicleId, isMember);
        return { status: 204 };
      },
    }),
  ),
  ...(
    [
      ['put', 'grantGroupAccess', 'Grant an account access to the group.', true],
      ['delete', 'withdrawGroupAccess', 'Revoke an account’s access to the group.', false],
    ] as const
  ).map(([method, operationId, summary, hasAccess]) =>
    route({
      method,
      path: '/api/v1/vehicle-groups/{id}/users/{userId}',
      group: 'Vehicles',
      operationId,
      summary,
      params: z.object({ id: id<GroupId>(), userId: id<UserId>() }),
      answers: { 204: { description: `The account has ${hasAccess ? '' : 'no '}access to the group.` } },
      problems: ['not-found', 'forbidden'],
      async handle({ params }, { access }) {
        await access.groups.setUser(params.id, params.userId, hasAccess);
        return { status: 204 };
      },
    }),
  ),
];
