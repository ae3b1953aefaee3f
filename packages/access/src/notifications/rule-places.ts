import type { Directory, FleetEvent, Geofence, RuleContext } from '@outrider/domain';
import { type PreparedShape, prepareShape } from '@outrider/geo';

/** Cache keyed by object: a changed geofence is another object. */
const prepared = new WeakMap<Geofence, PreparedShape>();

/**
 * Creates the check whether an event happened inside the geofences that a rule names as places: see
 * {@link RuleContext.placeOf}.
 */
export function rulePlaces(
  directory: Pick<Directory, 'geofences' | 'ownerOf'>,
  { longitude, latitude }: Pick<FleetEvent, 'longitude' | 'latitude'>,
): RuleContext['placeOf'] {
  return (id) => {
    const geofence = directory.geofences.get(id);
    if (geofence === undefined) return null;
    const shape = prepared.get(geofence) ?? prepareShape(geofence.shape);
    prepared.set(geofence, shape);
    const geofenceOwner = directory.ownerOf(geofence) ?? null;
    return { geofence, geofenceOwner, contains: shape.contains(longitude, latitude) };
  };
}
