import {
  type Directory,
  type MaintenancePlan,
  type MaintenancePlanId,
  type MaintenanceStage,
  type MaintenanceState,
  maySeeVehicle,
  type User,
  type VehicleId,
} from '@outrider/domain';
import { byUrgency, type Page, type Paging, type PlanFields, type Registry } from '@outrider/registry';
import type { MaintenanceOfVehicles } from '@outrider/reports';
import { badField, notFound, rightNeeded } from '../problem.ts';
import { bounded, current } from '../registry-refusals.ts';
import type { Right } from '../rights.ts';
import { counterCalled, type MaintenanceScope, NOT_COUNTED, rightToPlan } from './maintenance-scope.ts';

/** State of a plan for a vehicle, with the plan. */
export interface ShownMaintenance extends MaintenanceState {
  plan: MaintenancePlan;
}

export type PlanWish = Omit<PlanFields, 'dealerId'>;

/** Plans of maintenance for the vehicles that one caller may see. */
export class PlanAccess {
  readonly #scope: MaintenanceScope;

  constructor(scope: MaintenanceScope) {
    this.#scope = scope;
  }

  /** Lists plans, ordered by id. */
  async plans(paging: Paging): Promise<Page<MaintenancePlan>> {
    const visible = (await this.#scope.visiblePlans()).filter(({ id }) => paging.after === null || id > paging.after);
    const items = visible.slice(0, paging.limit);
    return { items, next: visible.length > items.length ? (items.at(-1)?.id ?? null) : null };
  }

  async plan(id: MaintenancePlanId): Promise<MaintenancePlan> {
    return this.#plan(id, 'read');
  }

  async addPlan(wish: PlanWish): Promise<MaintenancePlan> {
    this.#scope.requireMaintainer();
    const dealerId = this.#dealerOf(wish);
    requireSpans(wish);
    await this.#requireStart(wish);
    await this.#requireCounter(wish);
    const plan = await bounded(this.#scope.sources.registry.maintenance.createPlan({ ...wish, dealerId }));
    await this.#scope.changed();
    return plan;
  }

  async changePlan(
    id: MaintenancePlanId,
    ifMatch: number | null,
    change: (plan: MaintenancePlan) => Partial<PlanWish>,
  ): Promise<MaintenancePlan> {
    const before = await this.#plan(id, 'write');
    const patch = change(before);
    const dealerId = this.#dealerOf({ ...before, ...patch });
    requireSpans({ ...before, ...patch });
    if (patch.startsAtMs !== undefined || patch.vehicleId !== undefined)
      await this.#requireStart({ ...before, ...patch });
    if (patch.counterName !== undefined || patch.vehicleId !== undefined)
      await this.#requireCounter({ ...before, ...patch });
    const plan = await current(
      this.#scope.sources.registry.maintenance.updatePlan(id, ifMatch ?? before.version, { ...patch, dealerId }),
    );
    await this.#scope.changed();
    return plan;
  }

  async removePlan(id: MaintenancePlanId, ifMatch: number | null): Promise<void> {
    await this.#plan(id, 'write');
    await current(this.#scope.sources.registry.maintenance.deletePlan(id, ifMatch));
    await this.#scope.changed();
  }

  /** States of plans, the most urgent first. */
  async due(
    filter: {
      vehicleId?: VehicleId | undefined;
      planId?: MaintenancePlanId | undefined;
      stage?: MaintenanceStage | undefined;
    },
    limit: number,
  ): Promise<ShownMaintenance[]> {
    const plans = new Map((await this.#scope.visiblePlans()).map((plan) => [plan.id, plan]));
    const { maintenance } = this.#scope.sources.registry;
    const vehicles = [...this.#scope.sources.directory.vehicles.values()].filter(
      (vehicle) =>
        (filter.vehicleId === undefined || vehicle.id === filter.vehicleId) &&
        maySeeVehicle(this.#scope.caller, vehicle),
    );
    const visible = new Set(vehicles.map(({ id }) => id));
    const states =
      filter.planId === undefined
        ? await maintenance.states({ vehicleIds: [...visible] })
        : await maintenance.states({ planId: filter.planId });
    return states
      .filter(
        (state) =>
          visible.has(state.vehicleId) &&
          plans.has(state.planId) &&
          (filter.planId === undefined || state.planId === filter.planId) &&
          (filter.stage === undefined || state.stage === filter.stage),
      )
      .toSorted(byUrgency)
      .slice(0, limit)
      .map((state) => ({ ...state, plan: plans.get(state.planId) as MaintenancePlan }));
  }

  /**
   * A plan for one vehicle must start when its counters are known. For a group this is not checked, because its
   * vehicles change.
   */
  async #requireStart({ vehicleId, startsAtMs }: Pick<PlanWish, 'vehicleId' | 'startsAtMs'>): Promise<void> {
    if (vehicleId === null || startsAtMs === undefined) return;
    await this.#scope.requireHistory(vehicleId, '/startsAt', startsAtMs, NOT_COUNTED);
  }

  /**
   * A plan for one vehicle must name one of its counters. For a group this is not checked, because vehicles may get
   * theirs later.
   */
  async #requireCounter({ vehicleId, counterName }: Pick<PlanWish, 'vehicleId' | 'counterName'>): Promise<void> {
    if (vehicleId === null || counterName === null) return;
    if (counterCalled(counterName, await this.#scope.customOf({ id: vehicleId })) === undefined)
      throw badField('/counterName', 'The vehicle has no such counter.');
  }

  async #plan(id: MaintenancePlanId, needed: Right): Promise<MaintenancePlan> {
    const plan = await this.#scope.sources.registry.maintenance.plan(id);
    const right = plan === null ? 'none' : this.#scope.rightTo(plan);
    if (plan === null || right === 'none') throw notFound();
    if (needed === 'write' && right !== 'write') throw rightNeeded('maintenance');
    return plan;
  }

  #dealerOf({ vehicleId, groupId }: Pick<PlanWish, 'vehicleId' | 'groupId'>): PlanFields['dealerId'] {
    const { directory } = this.#scope.sources;
    if ((vehicleId === null) === (groupId === null))
      throw badField(vehicleId === null ? '/vehicleId' : '/groupId', 'It must name either a vehicle or a group.');
    if (this.#scope.rightTo({ vehicleId, groupId }) === 'none')
      throw vehicleId === null
        ? badField('/groupId', 'There is no such group.')
        : badField('/vehicleId', 'There is no such vehicle.');
    const named = vehicleId === null ? directory.groups.get(groupId as never) : directory.vehicles.get(vehicleId);
    return named?.dealerId ?? null;
  }
}

/** Source of maintenance data for reports on vehicles that the caller may see. */
export function maintenanceFor(
  caller: User,
  directory: Directory,
  { maintenance, serviceRecords }: Pick<Registry, 'maintenance' | 'serviceRecords'>,
): MaintenanceOfVehicles {
  return {
    async planned(vehicleIds) {
      const plans = new Map((await maintenance.plans()).map((plan) => [plan.id, plan]));
      const states = await maintenance.states({ vehicleIds });
      return states.toSorted(byUrgency).flatMap((state) => {
        const plan = plans.get(state.planId);
        const isSeen = plan !== undefined && rightToPlan(caller, directory, plan) !== 'none';
        return isSeen ? [{ ...state, planName: plan.name }] : [];
      });
    },
    done: (vehicleIds, fromMs, toMs) => serviceRecords.between(vehicleIds, fromMs, toMs),
    currency: (vehicleIds, fromMs, toMs) => serviceRecords.currencyOf(vehicleIds, fromMs, toMs),
  };
}

/** A plan based on a custom counter must state its interval, and a warning must be smaller than the interval. */
function requireSpans({ counterName, every, warning }: Pick<PlanWish, 'counterName' | 'every' | 'warning'>): void {
  if (counterName === null && every.counter !== null)
    throw badField('/counterName', 'It must name the counter to which every.counter refers.');
  if (counterName !== null && every.counter === null)
    throw badField('/every/counter', 'It must set the interval for the counter that counterName names.');
  for (const [span, name] of [
    ['distanceM', 'distanceKm'],
    ['engineMs', 'engineHours'],
    ['days', 'days'],
    ['counter', 'counter'],
  ] as const) {
    const [whole, part] = [every[span], warning[span]];
    if (part !== null && (whole === null || part >= whole))
      throw badField(`/warning/${name}`, `It must be less than every.${name}.`);
  }
}
