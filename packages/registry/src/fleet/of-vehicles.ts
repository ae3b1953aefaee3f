import type { GroupId, UserId, VehicleId } from '@outrider/domain';
import { type Expression, expressionBuilder, type SqlBool } from 'kysely';
import type { Tables } from '../store/schema.ts';

/** Only vehicles, or what belongs to one, for which all that is set holds. */
export interface OfVehicles {
  vehicleId?: VehicleId;
  /** Of the vehicle. */
  dealerId?: UserId;
  /** The vehicle is in at least one of these; none at all for an empty list. */
  anyOfGroups?: readonly GroupId[];
  /** The vehicle is not suspended. */
  inUse?: true;
}

/** The filter as a condition of a query that has the table of vehicles in it. */
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
