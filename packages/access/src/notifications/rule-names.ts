import {
  type Directory,
  type DriverId,
  type GeofenceId,
  type GroupId,
  type NotificationRule,
  RULE_LISTS,
  type RuleList,
  sensorNameKey,
  type User,
  type VehicleId,
} from '@outrider/domain';
import { badField } from '../problem.ts';
import { type Right, rightToDriver, rightToGeofence, rightToGroup, rightToVehicle } from '../rights.ts';

/** Kind of object that each list of a rule references, for error messages. */
const NAMED: Record<RuleList, string> = {
  vehicleIds: 'vehicle',
  groupIds: 'group',
  geofenceIds: 'geozone',
  insideGeofenceIds: 'geozone',
  outsideGeofenceIds: 'geozone',
  driverIds: 'driver',
  driverGroupIds: 'group',
};

/** Objects that a rule references, filtered by what the caller may see. */
export class RuleNames {
  readonly #caller: User;
  readonly #directory: Directory;

  constructor(caller: User, directory: Directory) {
    this.#caller = caller;
    this.#directory = directory;
  }

  right(list: RuleList, id: string): Right {
    const directory = this.#directory;
    switch (list) {
      case 'vehicleIds':
        return rightToVehicle(this.#caller, directory.vehicles.get(id as VehicleId));
      case 'groupIds':
      case 'driverGroupIds':
        return rightToGroup(this.#caller, directory.groups.get(id as GroupId));
      case 'geofenceIds':
      case 'insideGeofenceIds':
      case 'outsideGeofenceIds': {
        const geofence = directory.geofences.get(id as GeofenceId);
        return rightToGeofence(this.#caller, geofence, directory.ownerOf(geofence));
      }
      case 'driverIds':
        return rightToDriver(this.#caller, directory.drivers.get(id as DriverId));
    }
  }

  /** @throws {Problem} where the caller does not see all of them */
  requireVisible(list: RuleList, ids: readonly string[] | null): void {
    for (const [nth, id] of (ids ?? []).entries())
      if (this.right(list, id) === 'none') throw badField(`/${list}/${nth}`, `There is no such ${NAMED[list]}.`);
  }

  /** References of the rule that the caller does not see, and so cannot intend to remove. */
  unseen(list: RuleList, rule: NotificationRule): readonly string[] {
    return (rule[list] ?? []).filter((id) => this.right(list, id) === 'none');
  }

  /** The rule without references that the caller does not see. */
  shown(rule: NotificationRule): NotificationRule {
    const shown = { ...rule };
    for (const list of RULE_LISTS)
      if (rule[list]?.some((id) => this.right(list, id) === 'none'))
        Object.assign(shown, { [list]: rule[list].filter((id) => this.right(list, id) !== 'none') });
    return shown;
  }

  /** @param known sensors that the rule named before; they may stay, even if since removed or renamed */
  requireSensors(sensors: readonly string[] | null, known: readonly string[] | null): void {
    const unknown = (sensors ?? []).filter((each) => !known?.includes(each));
    if (unknown.length === 0) return;
    const keys = new Set<string>();
    for (const vehicle of this.#directory.vehicles.values())
      if (vehicle.sensors.length > 0 && rightToVehicle(this.#caller, vehicle) !== 'none')
        for (const { id, name } of vehicle.sensors) keys.add(id).add(sensorNameKey(name));
    const nth = sensors?.findIndex((each) => unknown.includes(each) && !keys.has(sensorNameKey(each))) ?? -1;
    if (nth >= 0) throw badField(`/sensors/${nth}`, 'No vehicle that you may see has a sensor of this name or id.');
  }
}
