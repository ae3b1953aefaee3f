import type { GroupId, UserId, VehicleId } from '@outrider/domain';
import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { Tables } from '../store/schema.ts';

/** Matches vehicles, or things of a vehicle, for which every given field holds. */
export interface OfVehicles {
  vehicleId?: VehicleId;
  /** Dealer of the vehicle. */
  dealerId?: UserId;
  /** The vehicle is in at least one of these; an empty list matches none. */
  anyOfGroups?: readonly GroupId[];
  /** The vehicle is not suspended. */
  inUse?: true;
}

/** The filter as a condition for queries that include the table of vehicles. */
export function isOfVehicles({ vehicleId, dealerId, anyOfGroups, inUse }: OfVehicles): Expression<SqlBool> {
  const e = expressionBuilder<Tables, 'vehicles'>();
  const conditions: Expression<SqlBool>[] = [];
  if (vehicleId !== undefined) conditions.push(e('vehicles.id', '=', vehicleId));
  if (dealerId !== undefined) conditions.push(e('vehicles.dealerId', '=', dealerId));
  if (anyOfGroups !== undefined) {
    const members = e.selectFrom('vehicleGroupMembers').select('memberId').where('groupId', 'in', anyOfGroups);
    conditions.push(e('vehicles.id', 'in', members));
  }
  if (inUse) conditions.push(e('vehicles.suspension', 'is', null));
  return e.and(conditions);
}
