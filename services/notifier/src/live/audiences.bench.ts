import {
  Directory,
  type GroupId,
  maySeeVehicle,
  type User,
  type UserId,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import { sampleUser, sampleVehicle } from '@outrider/domain/samples';
import { Audiences, type Listener } from './audiences.ts';
import { wantsVehicle } from './messages.ts';

export interface AudiencesCase {
  clients: number;
  vehicles: number;
}

export interface AudiencesRow {
  change: string;
  /** Time until the change is in force. */
  changeUs: number;
  /** Time until the audiences that the change concerns are recomputed. */
  withAudiencesUs: number;
  /** Time of the plain computation without an index: all clients for each vehicle. */
  plainMs: number;
}

interface BenchListener extends Listener {
  userId: UserId;
  subscription: { vehicles: null; groups: null };
}

const USERS_PER_GROUP = 20;
const ROUNDS = 20;
const ALL = { vehicles: null, groups: null };

/**
 * Measures the cost of a change among many clients. Each belongs to a user with one group; some are operators, who see
 * all vehicles.
 */
export function benchAudiences({ clients, vehicles }: AudiencesCase): AudiencesRow[] {
  const directory = new Directory();
  const audiences = new Audiences<BenchListener>(directory);
  const groups = Array.from({ length: Math.ceil(clients / USERS_PER_GROUP) }, (_, nth) => `group-${nth}` as GroupId);
  const apply = (kind: 'user' | 'vehicle', definition: User | Vehicle) =>
    directory.apply({ kind, id: definition.id, version: definition.version, changedAtMs: 0, definition });
  const listeners: BenchListener[] = [];
  const users: User[] = [];
  for (let nth = 0; nth < clients; nth++) {
    const id = `user-${nth}` as UserId;
    const role = nth % 100 === 0 ? 'operator' : 'user';
    const groupIds = [groups[nth % groups.length] as GroupId];
    const user = sampleUser({ id, role, groupIds, version: 1 });
    users.push(user);
    apply('user', user);
    listeners.push({ userId: id, subscription: ALL });
  }
  const fleet = Array.from({ length: vehicles }, (_, nth) => {
    const groupIds = [groups[nth % groups.length] as GroupId];
    const vehicle = sampleVehicle({ id: `vehicle-${nth}` as VehicleId, groupIds, version: 1 });
    apply('vehicle', vehicle);
    return vehicle;
  });
  for (const listener of listeners) audiences.update(listener);
  const inGroup = Map.groupBy(fleet, ({ groupIds }) => groupIds[0] as GroupId);
  const all = () => fleet.map(({ id }) => audiences.of(id).length);
  all();

  const plainMs = millisecondsOf(() => {
    for (const vehicle of fleet)
      listeners.filter(({ userId, subscription }) => {
        const user = directory.users.get(userId);
        return user !== undefined && wantsVehicle(subscription, vehicle) && maySeeVehicle(user, vehicle);
      });
  });
  const row = (change: string, act: (nth: number) => readonly Vehicle[]): AudiencesRow => {
    const changeUs: number[] = [];
    const withAudiencesUs: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      all();
      const beganMs = performance.now();
      // No user changed here is an operator: such a change concerns all vehicles.
      const concerned = act(1 + round);
      changeUs.push(1000 * (performance.now() - beganMs));
      for (const { id } of concerned) audiences.of(id);
      withAudiencesUs.push(1000 * (performance.now() - beganMs));
    }
    return { change, changeUs: median(changeUs), withAudiencesUs: median(withAudiencesUs), plainMs };
  };
  const ofListener = (nth: number) => inGroup.get(users[nth]?.groupIds[0] as GroupId) ?? [];
  const at = (nth: number) => listeners[nth] as BenchListener;
  return [
    row('close', (nth) => {
      audiences.remove(at(nth));
      return ofListener(nth);
    }),
    row('connect and subscribe', (nth) => {
      audiences.update(at(nth));
      return ofListener(nth);
    }),
    row('an operator subscribes', () => {
      audiences.update(at(0));
      return fleet;
    }),
    row('a user is given another group', (nth) => {
      const user = users[nth] as User;
      const changed = { ...user, version: directoryVersion(directory, user.id) + 1, groupIds: [groups[0] as GroupId] };
      apply('user', changed);
      audiences.update(at(nth));
      return [...ofListener(nth), ...(inGroup.get(groups[0] as GroupId) ?? [])];
    }),
    row('a vehicle is put into another group', (nth) => {
      const vehicle = fleet[nth] as Vehicle;
      apply('vehicle', { ...vehicle, version: 2 + nth, groupIds: [groups[0] as GroupId] });
      audiences.vehicleChanged(vehicle.id);
      return [vehicle];
    }),
  ];
}

function directoryVersion(directory: Directory, id: UserId): number {
  return directory.users.get(id)?.version ?? 0;
}

function millisecondsOf(work: () => void): number {
  const beganMs = performance.now();
  work();
  return performance.now() - beganMs;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
}
