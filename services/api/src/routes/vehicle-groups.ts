import type { GroupId, UserId, VehicleGroup } from '@outrider/domain';
import { z } from 'zod';
import { id, idOut, line, listOf, pageAsked, pageReply, paging, searchAsked, searching } from '../fields.ts';
import { etagOf } from '../input.ts';
import { type Reply, type Route, route } from '../route.ts';
import { UserOut, userBody } from './users.ts';
import { VehicleOut, vehicleBody, vehicleKey } from './vehicles.ts';

const GroupOut = z
  .strictObject({
    id: idOut,
    name: z.string(),
    dealerId: idOut.nullable().meta({ description: 'The dealer that has it; null: the operator.' }),
  })
  .meta({
    id: 'VehicleGroup',
    examples: [{ id: '01961f3c-8b21-7d4f-8c2e-3a7b1d5f9e68', name: 'Refrigerated', dealerId: null }],
  });

const name = line(200);
const dealerId = id<UserId>().nullable().meta({ description: 'Said by operators; a dealer is it.' });
const byId = z.object({ id: id<GroupId>() });

function groupBody({ kind: _, version: __, ...group }: VehicleGroup): z.output<typeof GroupOut> {
  return group;
}

function reply(status: number, group: VehicleGroup): Reply {
  return {
    status,
    body: groupBody(group),
    headers: {
      etag: etagOf(group.version),
      ...(status === 201 ? { location: `/api/v1/vehicle-groups/${group.id}` } : {}),
    },
  };
}

const oneGroup = { description: 'The group.', body: GroupOut, headers: { ETag: 'Version, for `If-Match`.' } };

export const vehicleGroupRoutes: Route[] = [
  route({
    method: 'get',
    path: '/api/v1/vehicle-groups',
    group: 'Vehicles',
    operationId: 'listVehicleGroups',
    summary: 'Groups that the caller may see.',
    query: z.object({ ...paging, ...searching('name') }),
    answers: { 200: { description: 'A page.', body: listOf(GroupOut) } },
    async handle({ query }, { access }) {
      const search = searchAsked(query);
      const page = search ? access.findGroups(search) : await access.groups(pageAsked(query));
      return pageReply<VehicleGroup>(page, groupBody);
    },
  }),
  route({
    method: 'post',
    path: '/api/v1/vehicle-groups',
    group: 'Vehicles',
    operationId: 'addVehicleGroup',
    summary: 'Add a group.',
    description: 'Its name is one that its dealer (or the operator) has not given to another.',
    body: z
      .strictObject({ name, dealerId: dealerId.optional() })
      .meta({ id: 'NewVehicleGroup', examples: [{ name: 'Refrigerated' }] }),
    answers: { 201: { ...oneGroup, description: 'Added.' } },
    problems: ['forbidden', 'conflict'],
    async handle({ body }, { access }) {
      return reply(201, await access.addGroup(body));
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/vehicle-groups/{id}',
    group: 'Vehicles',
    operationId: 'getVehicleGroup',
    summary: 'One group.',
    params: byId,
    answers: { 200: oneGroup },
    problems: ['not-found'],
    async handle({ params }, { access }) {
      return reply(200, await access.group(params.id));
    },
  }),
  route({
    method: 'patch',
    path: '/api/v1/vehicle-groups/{id}',
    group: 'Vehicles',
    operationId: 'changeVehicleGroup',
    summary: 'Change a group (JSON merge patch).',
    params: byId,
    body: z
      .strictObject({ name, dealerId })
      .partial()
      .meta({ id: 'VehicleGroupPatch', examples: [{ name: 'Tankers' }] }),
    conditional: true,
    answers: { 200: oneGroup },
    problems: ['not-found', 'forbidden', 'conflict', 'stale'],
    async handle({ params, body }, { access, ifMatch }) {
      return reply(200, await access.changeGroup(params.id, ifMatch, body));
    },
  }),
  route({
    method: 'delete',
    path: '/api/v1/vehicle-groups/{id}',
    group: 'Vehicles',
    operationId: 'deleteVehicleGroup',
    summary: 'Delete a group, and take it out of every vehicle, account and geofence that names it.',
    description: 'A geofence that named no other group then watches nothing.',
    params: byId,
    conditional: true,
    answers: { 204: { description: 'Deleted.' } },
    problems: ['not-found', 'forbidden', 'stale'],
    async handle({ params }, { access, ifMatch }) {
      await access.removeGroup(params.id, ifMatch);
      return { status: 204 };
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/vehicle-groups/{id}/vehicles',
    group: 'Vehicles',
    operationId: 'listVehiclesOfGroup',
    summary: 'Vehicles in the group.',
    params: byId,
    query: z.object(paging),
    answers: { 200: { description: 'A page.', body: listOf(VehicleOut) } },
    problems: ['not-found'],
    async handle({ params, query }, { access }) {
      return pageReply(await access.vehicles({ groupId: params.id }, pageAsked(query)), vehicleBody);
    },
  }),
  route({
    method: 'get',
    path: '/api/v1/vehicle-groups/{id}/users',
    group: 'Vehicles',
    operationId: 'listUsersOfGroup',
    summary: 'Accounts with access to the group, of those that the caller may see.',
    params: byId,
    query: z.object(paging),
    answers: { 200: { description: 'A page.', body: listOf(UserOut) } },
    problems: ['not-found'],
    async handle({ params, query }, { access }) {
      return pageReply(await access.usersOfGroup(params.id, pageAsked(query)), userBody);
    },
  }),
  ...(
    [
      ['put', 'putVehicleInGroup', 'Put a vehicle into the group.', true],
      ['delete', 'takeVehicleFromGroup', 'Take a vehicle out of the group.', false],
    ] as const
  ).map(([method, operationId, summary, isMember]) =>
    route({
      method,
      path: '/api/v1/vehicle-groups/{id}/vehicles/{vehicleId}',
      group: 'Vehicles',
      operationId,
      summary,
      params: z.object({ id: id<GroupId>(), vehicleId: vehicleKey }),
      answers: { 204: { description: 'It is so now.' } },
      problems: ['not-found', 'forbidden'],
      async handle({ params }, { access }) {
        await access.setVehicleInGroup(params.id, params.vehicleId, isMember);
        return { status: 204 };
      },
    }),
  ),
  ...(
    [
      ['put', 'grantGroupAccess', 'Give an account access to the group.', true],
      ['delete', 'withdrawGroupAccess', 'Take an account’s access to the group.', false],
    ] as const
  ).map(([method, operationId, summary, hasAccess]) =>
    route({
      method,
      path: '/api/v1/vehicle-groups/{id}/users/{userId}',
      group: 'Vehicles',
      operationId,
      summary,
      params: z.object({ id: id<GroupId>(), userId: id<UserId>() }),
      answers: { 204: { description: 'It is so now.' } },
      problems: ['not-found', 'forbidden'],
      async handle({ params }, { access }) {
        await access.setUserAccess(params.id, params.userId, hasAccess);
        return { status: 204 };
      },
    }),
  ),
];
