import { badField } from '@outrider/access';
import type { GroupId, UserId, VehicleId } from '@outrider/domain';
import { MOVED_HISTORIES } from '@outrider/registry';
import { z } from 'zod';
import { dryRun } from '../../csv/import-report.ts';
import { customAttributesPatch } from '../../fields/custom-fields.ts';
import { VEHICLE } from '../../fields/field-schemas.ts';
import { id, idOut } from '../../fields/fields.ts';
import { MAX_COPIED_CHARACTERS, sensorsIn } from '../../fields/sensor-fields.ts';
import { callsOf, type Route } from '../../route.ts';
import { vehicleGroupIds } from './vehicles.ts';

const { patch, post } = callsOf('Vehicles');

/** Replaces many single calls. A body with this many ids stays below the usual size limit. */
const MAX_IDS = 5000;

/** Lower, because each vehicle is written and published separately. */
const MAX_MOVED = 1000;

const VEHICLE_ID = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57';
const MOVED_ID = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d58';
const USER_ID = '01961f3c-6b05-7b2d-8a0c-1e5f9b3d7c46';

const distinct = <Id extends string>() =>
  z
    .array(id<Id>())
    .max(MAX_IDS)
    .transform((ids) => [...new Set(ids)]);

const membersChanged = z
  .strictObject({
    dryRun: z.boolean(),
    added: z.int().meta({ description: 'Those that were not in the group.' }),
    removed: z.int().meta({ description: 'Those that were in it.' }),
  })
  .meta({ id: 'MembersChanged', examples: [{ dryRun: false, added: 1, removed: 0 }] });

/** @throws {Problem} when an id is both added and removed */
function memberChange<Id extends string>(change: { add: Id[]; remove: Id[] }): { add: Id[]; remove: Id[] } {
  const added = new Set(change.add);
  const nth = change.remove.findIndex((each) => added.has(each));
  if (nth >= 0) throw badField(`/remove/${nth}`, 'It is in `add` as well.');
  return change;
}

/** Excluded fields that are unique to a vehicle: name, plate, VIN, terminal and external id. */
const { name: _, plate: __, vin: ___, terminalId: ____, externalId: _____, ...SHARED_FIELDS } = VEHICLE.set;

/** Calls that make the same change to many things: to all of them, or to none. */
export const bulkRoutes: Route[] = [
  patch('/api/v1/vehicles', {
    operationId: 'changeVehicles',
    summary: 'Make the same change to many vehicles (JSON merge patch): to all of them, or to none.',
    description: `At most ${MAX_IDS} vehicles. What only one vehicle can have, such as its terminal, is changed one by one.`,
    query: z.object({ dryRun }),
    body: z
      .strictObject({
        ids: distinct<VehicleId>(),
        patch: z
          .strictObject({
            ...SHARED_FIELDS,
            groupIds: vehicleGroupIds,
            customAttributes: customAttributesPatch,
            sensors: sensorsIn,
          })
          .partial(),
      })
      .superRefine(({ ids, patch }, context) => {
        if (patch.sensors === undefined) return;
        const most = Math.floor(MAX_COPIED_CHARACTERS / JSON.stringify(patch.sensors).length);
        if (ids.length > most)
          context.addIssue({
            code: 'custom',
            path: ['ids'],
            message: `These sensors fit into ${most} vehicles at once.`,
          });
      })
      .meta({ id: 'VehiclesPatch', examples: [{ ids: [VEHICLE_ID], patch: { speedLimitKmh: 80 } }] }),
    answers: {
      200: {
        description: 'All of it was done; in a dry run: would have been.',
        body: z
          .strictObject({
            dryRun: z.boolean(),
            updated: z.int(),
            unchanged: z.int(),
            items: z.array(z.strictObject({ id: idOut, outcome: z.enum(['updated', 'unchanged']) })),
          })
          .meta({
            id: 'VehiclesChanged',
            examples: [
              { dryRun: false, updated: 1, unchanged: 0, items: [{ id: VEHICLE_ID, outcome: 'updated' as const }] },
            ],
          }),
      },
    },
    problems: ['forbidden', 'conflict', 'quota-exceeded'],
    async handle({ query, body: { ids, patch } }, { access }) {
      const isDry = query.dryRun === 'true';
      return { status: 200, body: { dryRun: isDry, ...(await access.bulkChanges.changeVehicles(ids, patch, isDry)) } };
    },
  }),
  post('/api/v1/vehicles/move', {
    operationId: 'moveVehicles',
    summary: 'Move vehicles to another dealer: all of them, or none.',
    description:
      'For operators. With `history` `apart` a vehicle stays where it is, without its terminal and with all that it did, and the other dealer gets a new vehicle with its profile, terminal, video profile and counters, whose history begins now: positions, events, reports, video, feeds and exports of before are seen by those alone who saw them then. What the terminal recorded before and sends later belongs to the old vehicle. Groups, attributes, plans of maintenance and rules are not taken along. With `along` the vehicle changes hands as it is.',
    body: z
      .strictObject({
        ids: distinct<VehicleId>().refine(({ length }) => length <= MAX_MOVED, `At most ${MAX_MOVED} at once.`),
        dealerId: id<UserId>().nullable().meta({ description: 'The dealer that gets them; null: the operator.' }),
        history: z.enum(MOVED_HISTORIES).default('apart'),
      })
      .meta({ id: 'VehiclesMove', examples: [{ ids: [VEHICLE_ID], dealerId: USER_ID, history: 'apart' as const }] }),
    answers: {
      200: {
        description: 'All vehicles were moved.',
        body: z
          .strictObject({
            items: z.array(
              z.strictObject({
                id: idOut,
                vehicleId: idOut.meta({
                  description:
                    'The vehicle that the dealer has now: the same where nothing was moved, or its history too.',
                }),
              }),
            ),
          })
          .meta({ id: 'VehiclesMoved', examples: [{ items: [{ id: VEHICLE_ID, vehicleId: MOVED_ID }] }] }),
      },
    },
    problems: ['forbidden', 'conflict', 'quota-exceeded'],
    async handle({ body }, { access }) {
      const moved = await access.bulkChanges.moveVehicles(body);
      return { status: 200, body: { items: [...moved].map(([id, vehicle]) => ({ id, vehicleId: vehicle.id })) } };
    },
  }),
  patch('/api/v1/vehicle-groups/{id}/vehicles', {
    operationId: 'changeVehiclesOfGroup',
    summary: 'Put vehicles into the group and take others out: all of them, or none.',
    description: `At most ${MAX_IDS} in each list.`,
    params: z.object({ id: id<GroupId>() }),
    query: z.object({ dryRun }),
    body: z
      .strictObject({ add: distinct<VehicleId>().default([]), remove: distinct<VehicleId>().default([]) })
      .meta({ id: 'VehiclesOfGroupPatch', examples: [{ add: [VEHICLE_ID], remove: [] }] }),
    answers: { 200: { description: 'The members are changed; in a dry run: would be.', body: membersChanged } },
    problems: ['not-found', 'forbidden'],
    async handle({ params, query, body }, { access }) {
      const isDry = query.dryRun === 'true';
      const changed = await access.bulkChanges.changeVehiclesOfGroup(params.id, memberChange(body), isDry);
      return { status: 200, body: { dryRun: isDry, ...changed } };
    },
  }),
  patch('/api/v1/vehicle-groups/{id}/users', {
    operationId: 'changeUsersOfGroup',
    summary: 'Give accounts access to the group and take it from others: all of them, or none.',
    description: `At most ${MAX_IDS} in each list.`,
    params: z.object({ id: id<GroupId>() }),
    query: z.object({ dryRun }),
    body: z
      .strictObject({ add: distinct<UserId>().default([]), remove: distinct<UserId>().default([]) })
      .meta({ id: 'UsersOfGroupPatch', examples: [{ add: [USER_ID], remove: [] }] }),
    answers: { 200: { description: 'The members are changed; in a dry run: would be.', body: membersChanged } },
    problems: ['not-found', 'forbidden'],
    async handle({ params, query, body }, { access }) {
      const isDry = query.dryRun === 'true';
      const changed = await access.bulkChanges.changeUsersOfGroup(params.id, memberChange(body), isDry);
      return { status: 200, body: { dryRun: isDry, ...changed } };
    },
  }),
];
