import type { UserId } from '@outrider/domain';
import {
  sampleGeofenceFields,
  sampleRuleFields,
  sampleUserFields,
  sampleVehicleFields,
} from '@outrider/domain/samples';
import type { GeofenceFields, NotificationRuleFields, UserFields, VehicleFields } from '../index.ts';

/** An id that nothing has. */
export const ABSENT = '00000000-0000-7000-8000-000000000000';
/** The whole of a list that is not long. */
export const ALL = { limit: 1000, after: null };
export const PASSWORD = 'a long password';

export function userFields(login: string, more: Partial<UserFields> = {}): UserFields {
  return sampleUserFields({ login, name: `Name of ${login}`, role: 'user', ...more });
}

export function vehicleFields(name: string, more: Partial<VehicleFields> = {}): VehicleFields {
  return { ...sampleVehicleFields({ name }), ...more };
}

export function geofenceFields(name: string, ownerId: UserId, more: Partial<GeofenceFields> = {}): GeofenceFields {
  return sampleGeofenceFields({
    name,
    ownerId,
    shape: { type: 'circle', center: [30.25, 59.93], radiusM: 150.5 },
    ...more,
  });
}

/** A rule of visits of everything there is. */
export function ruleFields(
  name: string,
  ownerId: UserId,
  more: Partial<NotificationRuleFields> = {},
): NotificationRuleFields {
  return sampleRuleFields({ name, ownerId, ...more });
}
