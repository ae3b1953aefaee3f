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
    added: z.int().meta({ description: 'Number of members added: those that were not in the group before.' }),
    removed: z.int().meta({ description: 'Number of members removed: those that were in the group before.' }),
  })
  .meta({ id: 'MembersChanged', examples: [{ dryRun: false, added: 1, removed: 0 }] });

/** @throws {Problem} when an id is both added and removed */
function memberChange<Id extends string>(change: { add: Id[]; remove: Id[] }): { add: Id[]; remove: Id[] } {
  const added = new Set(change.add);
  const nth = change.remove.findIndex((each) => added.has(each));
  if (nth >= 0) throw badField(`/remove/${nth}`, 'It is also in `add`.');
  return change;
}

/** Excluded fields that are unique to a vehicle: name, plate, VIN, terminal and external id. */
const { name: _, plate: __, vin: ___, terminalId: ____, externalId: _____, ...SHARED_FIELDS } = VEHICLE.set;

/** Calls that make the same change to many things: to all of them, or to none. */
export const bulkRoutes: Route[] = [
  patch('/api/v1/vehicles', {
    operationId: 'changeVehicles',
    summary: 'Make the same change to many vehicles (JSON merge patch): to all of them or to none.',
    description: `At most ${MAX_IDS} vehicles. Fields whose value is unique to a vehicle, such as its terminal, can only be changed for one vehicle at a time.`,
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
            message: `These sensors can be set for at most ${most} vehicles at once.`,
          });
      })
      .meta({ id: 'VehiclesPatch', examples: [{ ids: [VEHICLE_ID], patch: { speedLimitKmh: 80 } }] }),
    answers: {
      200: {
        description: 'The changes that were made; in a dry run, those that would be made.',
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
    summary: 'Move vehicles to another dealer: all of them or none.',
    description:
      'For operators. With `history` set to `apart`, the old vehicle stays with its dealer and keeps its history, but loses its terminal. The other dealer gets a new vehicle with the same profile, terminal and video profile, which continues the odometer and the engine hours. Its history begins at the time of the move: earlier positions, events, reports, videos, feeds and exports remain visible only to accounts that may see the old vehicle. Data that the terminal recorded before the move and sends later belongs to the old vehicle. Groups, the external id, custom attributes, custom counters, maintenance plans and rules are not transferred. With `along`, the vehicle itself is transferred, with its history.',
    body: z
      .strictObject({
        ids: distinct<VehicleId>().refine(
          ({ length }) => length <= MAX_MOVED,
          `At most ${MAX_MOVED} vehicles can be moved at once.`,
        ),
        dealerId: id<UserId>()
          .nullable()
          .meta({ description: 'Dealer that receives the vehicles. Null: the operator.' }),
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
                    'Vehicle that the dealer has now. The same as `id` if the vehicle already belonged to the dealer, or was moved with its history.',
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
    summary: 'Add vehicles to the group and remove others: all of them or none.',
    description: `At most ${MAX_IDS} ids in each list.`,
    params: z.object({ id: id<GroupId>() }),
    query: z.object({ dryRun }),
    body: z
      .strictObject({ add: distinct<VehicleId>().default([]), remove: distinct<VehicleId>().default([]) })
      .meta({ id: 'VehiclesOfGroupPatch', examples: [{ add: [VEHICLE_ID], remove: [] }] }),
    answers: {
      200: {
        description: 'How many members were added and removed; in a dry run, how many would be.',
        body: membersChanged,
      },
    },
    problems: ['not-found', 'forbidden'],
    async handle({ params, query, body }, { access }) {
      const isDry = query.dryRun === 'true';
      const changed = await access.bulkChanges.changeVehiclesOfGroup(params.id, memberChange(body), isDry);
      return { status: 200, body: { dryRun: isDry, ...changed } };
    },
  }),
  patch('/api/v1/vehicle-groups/{id}/users', {
    operationId: 'changeUsersOfGroup',
    summary: 'Grant accounts access to the group and revoke it from others: all of them or none.',
    description: `At most ${MAX_IDS} ids in each list.`,
    params: z.object({ id: id<GroupId>() }),
    query: z.object({ dryRun }),
    body: z
      .strictObject({ add: distinct<UserId>().default([]), remove: distinct<UserId>().default([]) })
      .meta({ id: 'UsersOfGroupPatch', examples: [{ add: [USER_ID], remove: [] }] }),
    answers: {
      200: {
        description: 'How many members were added and removed; in a dry run, how many would be.',
        body: membersChanged,
      },
    },
    problems: ['not-found', 'forbidden'],
    async handle({ params, query, body }, { access }) {
      const isDry = query.dryRun === 'true';
      const changed = await access.bulkChanges.changeUsersOfGroup(params.id, memberChange(body), isDry);
      return { status: 200, body: { dryRun: isDry, ...changed } };
    },
  }),
];
