import {
  COUNTERS,
  COUNTERS_CHANNEL,
  type CountersNews,
  type CustomCounter,
  counterNameKey,
  type Directory,
  MAINTENANCE_CHANNEL,
  type MaintenancePlan,
  mayMaintain,
  type User,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Hub } from '@outrider/hub';
import type { Registry } from '@outrider/registry';
import { type HistoryLimitSource, KnownLimits, requireHistory } from '../history-limit.ts';
import { rightNeeded } from '../problem.ts';
import { type Right, rightToGroup, rightToVehicle } from '../rights.ts';

export interface MaintenanceSources {
  registry: Pick<Registry, 'counters' | 'customCounters' | 'maintenance' | 'serviceRecords'> & HistoryLimitSource;
  directory: Directory;
  hub: Pick<Hub, 'publish'>;
  serviceFiles: Pick<Files, 'put' | 'info' | 'get' | 'delete'>;
  /** Called when counters are read. */
  countersRead?: () => void;
}

/** Consequence stated for a time whose records are erased. */
export const NOT_COUNTED = 'nothing can be counted from this time on';
export const NOT_CHECKED = 'the value of a counter at this time cannot be checked';
/** How far in the future a time may be, because clocks differ. */
export const AHEAD_MS = 60_000;
const ANNOUNCED_AT_ONCE = 500;

/** What one caller may see and do about maintenance. */
export class MaintenanceScope {
  readonly caller: User;
  readonly sources: MaintenanceSources;

  constructor(caller: User, sources: MaintenanceSources) {
    this.caller = caller;
    this.sources = sources;
  }

  requireMaintainer(): void {
    if (!mayMaintain(this.caller)) throw rightNeeded('maintenance');
  }

  requireHistory(vehicleId: VehicleId, field: string, ms: number, so: string): Promise<void> {
    return requireHistory(this.sources.registry, vehicleId, { field, ms, so });
  }

  limitsOf(all: readonly { vehicleId: VehicleId }[]): Promise<KnownLimits> {
    return KnownLimits.of(
      this.sources.registry,
      all.map(({ vehicleId }) => vehicleId),
    );
  }

  async customOf(vehicle: Pick<Vehicle, 'id'>): Promise<readonly CustomCounter[]> {
    return (await this.sources.registry.customCounters.of([vehicle.id])).get(vehicle.id) ?? [];
  }

  /**
   * Notifies the subscribers of a change.
   *
   * @param counted vehicles whose counters have changed
   */
  async changed(counted: readonly VehicleId[] = []): Promise<void> {
    const { hub } = this.sources;
    await hub.publish(MAINTENANCE_CHANNEL, '');
    for (let at = 0; at < counted.length; at += ANNOUNCED_AT_ONCE) {
      const vehicleIds = counted.slice(at, at + ANNOUNCED_AT_ONCE);
      await hub.publish(COUNTERS_CHANNEL, JSON.stringify({ vehicleIds } satisfies CountersNews));
    }
  }

  async visiblePlans(): Promise<MaintenancePlan[]> {
    const plans = await this.sources.registry.maintenance.plans();
    return plans.filter((plan) => this.rightTo(plan) !== 'none');
  }

  rightTo(plan: Pick<MaintenancePlan, 'vehicleId' | 'groupId'>): Right {
    return rightToPlan(this.caller, this.sources.directory, plan);
  }
}

/** Right to a plan, derived from the right to its vehicle or group. */
export function rightToPlan(
  caller: User,
  directory: Directory,
  { vehicleId, groupId }: Pick<MaintenancePlan, 'vehicleId' | 'groupId'>,
): Right {
  const vehicle = vehicleId === null ? undefined : directory.vehicles.get(vehicleId);
  const group = groupId === null ? undefined : directory.groups.get(groupId);
  const right = vehicleId === null ? rightToGroup(caller, group) : rightToVehicle(caller, vehicle);
  return right === 'none' ? 'none' : mayMaintain(caller) ? 'write' : 'read';
}

export function isBuiltIn(counter: string): boolean {
  return (COUNTERS as readonly string[]).includes(counter);
}

/** The custom counter with the given name. */
export function counterCalled(name: string, counters: readonly CustomCounter[]): CustomCounter | undefined {
  return counters.find((each) => counterNameKey(each.name) === counterNameKey(name));
}
