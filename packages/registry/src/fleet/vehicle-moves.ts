import { accessAfter, NO_CUSTOM_FIELDS, type UserId, type Vehicle, type VehicleId } from '@outrider/domain';
import { requireDealer } from '../accounts/dealers.ts';
import { ConflictError, NotFoundError } from '../store/errors.ts';
import { revised } from '../store/resource.ts';
import type { Secrets } from '../store/secrets.ts';
import type { Store, Writer } from '../store/store.ts';
import { moveVideoProfile } from '../video/video-profiles.ts';
import { BulkError } from './bulk.ts';
import { addCorrection, countersOf } from './counters.ts';
import { noteHolders } from './terminal-holders.ts';
import { checkAddresses, VEHICLES, type Vehicles } from './vehicles.ts';

/**
 * What happens to the history of a vehicle that moves to another dealer: `apart`: it stays with the present dealer;
 * `along`: the new dealer gets all of it.
 */
export const MOVED_HISTORIES = ['apart', 'along'] as const;
export type MovedHistory = (typeof MOVED_HISTORIES)[number];

/** Move of vehicles to another dealer. */
export interface VehicleMove {
  ids: readonly VehicleId[];
  /** Null: the operator. */
  dealerId: UserId | null;
  history: MovedHistory;
}

/** @see Registry.moveVehicles */
export async function moveVehicles(
  store: Store,
  vehicles: Vehicles,
  { ids, dealerId, history }: VehicleMove,
): Promise<Map<VehicleId, Vehicle>> {
  if (history === 'along') {
    const writes = ids.map((id) => ({ id, expectedVersion: null, patch: { dealerId } }));
    const outcomes = await vehicles.writeAll(writes, false);
    return new Map(outcomes.map(({ definition }) => [definition.id, definition]));
  }
  return store.write(async (writer) => {
    await requireDealer(writer.tx, dealerId);
    const known = new Map((await VEHICLES.load(writer.tx, ids)).map((vehicle) => [vehicle.id, vehicle]));
    const moved = new Map<VehicleId, Vehicle>();
    for (const [index, id] of ids.entries()) {
      const current = known.get(id);
      if (current === undefined) throw new BulkError([{ index, error: new NotFoundError('vehicle', id) }]);
      if (current.dealerId === dealerId) moved.set(id, current);
      else
        try {
          moved.set(id, await moveApart(writer, store.secrets, current, dealerId));
        } catch (error) {
          throw error instanceof ConflictError ? new BulkError([{ index, error }]) : error;
        }
    }
    return moved;
  });
}

/**
 * Creates a vehicle for the new dealer with the profile, the terminal, the video profile and the counters of the
 * present one. Its history begins now. The present vehicle stays with its dealer, with its whole history.
 */
async function moveApart(
  writer: Writer,
  secrets: Secrets,
  current: Vehicle,
  dealerId: UserId | null,
): Promise<Vehicle> {
  const { nowMs, newId, actor } = writer;
  const terminalAccess = accessAfter(current.terminalAccess, {}, true);
  const left = revised(current, { terminalId: null, terminalAccess });
  const next: Vehicle = {
    ...current,
    // Groups, external ids, attributes and suspensions belong to an organisation.
    ...NO_CUSTOM_FIELDS,
    groupIds: [],
    suspension: null,
    id: newId() as VehicleId,
    version: 1,
    dealerId,
    predecessor: { id: current.id, untilMs: nowMs },
  };
  await VEHICLES.updateRow(writer, left);
  await VEHICLES.insertRows(writer, [next]);
  const refitted = [
    { current, next: left },
    { current: null, next },
  ];
  await noteHolders(writer, refitted);
  if (left !== current) writer.changed(left, current);
  writer.changed(next, null);
  await moveVideoProfile(writer, secrets, current, next);
  await checkAddresses(writer, next, null);
  const [counters] = await countersOf(writer.tx, [current.id]);
  if (counters !== undefined) {
    const common = { vehicleId: next.id, atMs: nowMs, note: null, createdBy: actor.user?.id ?? null };
    await addCorrection(writer, { ...common, counter: 'odometer', value: counters.odometerM });
    await addCorrection(writer, { ...common, counter: 'engine-hours', value: counters.engineMs });
  }
  writer.note({
    action: 'moved',
    subject: { kind: 'vehicle', id: current.id, name: current.name },
    before: { dealerId: current.dealerId },
    after: { dealerId, history: 'apart' satisfies MovedHistory, vehicleIds: [next.id] },
    dealerIds: [current.dealerId, dealerId].filter((id) => id !== null),
  });
  return next;
}
