import type { GeofenceId, VehicleActivity } from '@outrider/domain';

/** Whether the client may see a geofence that a vehicle is in. */
export type SeesGeofence = (geofenceId: GeofenceId) => boolean;

/** Geofences that the vehicle is in and limits that it exceeds, restricted to geofences that the client may see. */
export function openEventsOf(activity: VehicleActivity | null, sees: SeesGeofence) {
  const { geofenceIds = [], speeding = [] } = activity ?? {};
  return { geofenceIds: geofenceIds.filter(sees), speedingIn: speeding.filter((id) => id === null || sees(id)) };
}
