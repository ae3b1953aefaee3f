import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  COUNTERS,
  COUNTERS_CHANNEL,
  type CounterCorrection,
  type CounterCorrectionId,
  type CounterKey,
  type CountersNews,
  type CustomCounter,
  type CustomCounterId,
  counterNameKey,
  type Directory,
  HOURS_UNIT,
  MAINTENANCE_CHANNEL,
  type MaintenancePlan,
  type MaintenancePlanId,
  type MaintenanceStage,
  type MaintenanceState,
  mayMaintain,
  maySeeVehicle,
  SERVICE_FILE_TYPES,
  type ServiceFile,
  type ServiceFileId,
  type ServiceRecord,
  type ServiceRecordId,
  type ShownCounter,
  serviceFileTypeOf,
  type User,
  type Vehicle,
  type VehicleCounters,
  type VehicleId,
} from '@outrider/domain';
import type { Files } from '@outrider/files';
import type { Hub } from '@outrider/hub';
import {
  byUrgency,
  type CustomCounterFields,
  type Maintenance,
  type NewCorrection,
  type NotedServiceFile,
  type Page,
  type Paging,
  type PlanFields,
  type Registry,
  type ServiceFields,
} from '@outrider/registry';
import type { MaintenanceOfVehicles } from '@outrider/reports';
import type { Faults } from './faults.ts';
import { type HistoryLimitSource, KnownLimits, requireHistory } from './history-limit.ts';
import { groupOfLine, type PlanLine, type ReadingLine, vehicleOfLine } from './maintenance-import.ts';
import { badField, notFound, rightNeeded } from './problem.ts';
import { bounded, current } from './registry-refusals.ts';
import { isOperator, type Right, rightToGroup, rightToVehicle } from './rights.ts';
import { NamedVehicles } from './sensor-import.ts';

export interface MaintenanceSources {
  registry: Pick<Registry, 'counters' | 'customCounters' | 'maintenance'> & HistoryLimitSource;
  directory: Directory;
  hub: Pick<Hub, 'publish'>;
  serviceFiles: Pick<Files, 'put' | 'info' | 'get' | 'delete'>;
  /** Called when counters are read. */
  countersRead?: () => void;
}

/** How a plan stands for a vehicle, with what it is about. */
export interface ShownMaintenance extends MaintenanceState {
  plan: MaintenancePlan;
}

export type PlanWish = Omit<PlanFields, 'dealerId'>;

/** A custom counter as a caller says it; without a unit it is that of its source. */
export type CounterWish = Omit<CustomCounterFields, 'unit' | 'startsAtMs'> & {
  unit: string | null;
  startsAtMs: number | null;
};

/** Of a time whose records are erased. */
const NOT_COUNTED = 'nothing can be counted from there';
const NOT_CHECKED = 'nobody can check what a counter showed then';
/** What may be said of the future: clocks differ. */
const AHEAD_MS = 60_000;
const ANNOUNCED_AT_ONCE = 500;
/** Of one vehicle. */
const SHOWN_CORRECTIONS = 200;

/** Counters, plans of maintenance and services of the vehicles that one caller may see. */
export class MaintenanceAccess {
  readonly #caller: User;
  readonly #sources: MaintenanceSources;

  constructor(caller: User, sources: MaintenanceSources) {
    this.#caller = caller;
    this.#sources = sources;
  }

  // Counters

  async counters(vehicle: Vehicle): Promise<{ counters: VehicleCounters; corrections: CounterCorrection[] }> {
    const { counters } = this.#sources.registry;
    const known = await this.shown(vehicle.id);
    return {
      counters: known ?? { vehicleId: vehicle.id, atMs: 0, odometerM: 0, engineMs: 0, custom: [], settled: true },
      corrections: (await counters.corrections(vehicle.id)).slice(0, SHOWN_CORRECTIONS),
    };
  }

  /** What a custom counter of the vehicle is, and what it shows. @throws {Problem} without it */
  async customCounter(vehicle: Vehicle, id: CustomCounterId): Promise<ShownCounter> {
    const { counters } = await this.counters(vehicle);
    const counter = counters.custom.find((each) => each.id === id);
    if (counter === undefined) throw notFound();
    return counter;
  }

  async addCounter(vehicle: Vehicle, wish: CounterWish, nowMs: number): Promise<ShownCounter> {
    this.#requireMaintainer();
    const { startsAtMs, unit, ...fields } = wish;
    if (startsAtMs !== null && startsAtMs > nowMs + AHEAD_MS)
      throw badField('/startsAt', 'It must not be in the future.');
    if (startsAtMs !== null) await this.#requireHistory(vehicle.id, '/startsAt', startsAtMs, NOT_COUNTED);
    requireSource(vehicle, { ...fields, unit });
    const { customCounters } = this.#sources.registry;
    const { id } = await bounded(
      customCounters.create(vehicle.id, {
        ...fields,
        unit: unit ?? (fields.source === 'sensor-hours' ? HOURS_UNIT : unitOf(vehicle, fields.sensorId)),
        ...(startsAtMs === null ? {} : { startsAtMs }),
      }),
    );
    await this.#changed([vehicle.id]);
    return this.customCounter(vehicle, id);
  }

  async changeCounter(
    vehicle: Vehicle,
    id: CustomCounterId,
    ifMatch: number | null,
    patch: Partial<Omit<CustomCounterFields, 'startsAtMs'>>,
  ): Promise<ShownCounter> {
    this.#requireMaintainer();
    const before = await this.customCounter(vehicle, id);
    // A sensor that is gone stays named until something else is.
    const isOther = patch.source !== undefined || patch.sensorId !== undefined || patch.unit !== undefined;
    if (isOther) requireSource(vehicle, { ...before, ...patch });
    await current(this.#sources.registry.customCounters.change(vehicle.id, id, ifMatch ?? before.version, patch));
    await this.#changed([vehicle.id]);
    return this.customCounter(vehicle, id);
  }

  async removeCounter(vehicle: Vehicle, id: CustomCounterId, ifMatch: number | null): Promise<void> {
    this.#requireMaintainer();
    await current(this.#sources.registry.customCounters.remove(vehicle.id, id, ifMatch));
    await this.#changed([vehicle.id]);
  }

  /** Counters of a vehicle that the caller was found to see; null: nothing was counted. */
  async shown(vehicleId: VehicleId): Promise<VehicleCounters | null> {
    this.#sources.countersRead?.();
    return (await this.#sources.registry.counters.of([vehicleId]))[0] ?? null;
  }

  async correct(
    vehicle: Vehicle,
    wish: { counter: CounterKey; value: number; atMs: number | null; note: string | null },
    nowMs: number,
  ): Promise<CounterCorrection> {
    this.#requireMaintainer();
    if (wish.atMs !== null && wish.atMs > nowMs + AHEAD_MS) throw badField('/at', 'It must not be in the future.');
    if (wish.atMs !== null) await this.#requireHistory(vehicle.id, '/at', wish.atMs, NOT_CHECKED);
    if (!isBuiltIn(wish.counter) && !(await this.#customOf(vehicle)).some(({ id }) => id === wish.counter))
      throw badField('/counter', 'The vehicle has no such counter.');
    const correction = await this.#sources.registry.counters.correct({
      ...wish,
      atMs: wish.atMs ?? nowMs,
      vehicleId: vehicle.id,
      createdBy: this.#caller.id,
    });
    await this.#changed([vehicle.id]);
    return correction;
  }

  async removeCorrection(vehicle: Vehicle, id: CounterCorrectionId): Promise<void> {
    this.#requireMaintainer();
    await this.#sources.registry.counters.removeCorrection(vehicle.id, id);
    await this.#changed([vehicle.id]);
  }

  // Plans

  /** By their ids. */
  async plans(paging: Paging): Promise<Page<MaintenancePlan>> {
    const visible = (await this.#visiblePlans()).filter(({ id }) => paging.after === null || id > paging.after);
    const items = visible.slice(0, paging.limit);
    return { items, next: visible.length > items.length ? (items.at(-1)?.id ?? null) : null };
  }

  async plan(id: MaintenancePlanId): Promise<MaintenancePlan> {
    return this.#plan(id, 'read');
  }

  async addPlan(wish: PlanWish): Promise<MaintenancePlan> {
    this.#requireMaintainer();
    const dealerId = this.#dealerOf(wish);
    requireSpans(wish);
    await this.#requireStart(wish);
    await this.#requireCounter(wish);
    const plan = await bounded(this.#sources.registry.maintenance.createPlan({ ...wish, dealerId }));
    await this.#changed();
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
      this.#sources.registry.maintenance.updatePlan(id, ifMatch ?? before.version, { ...patch, dealerId }),
    );
    await this.#changed();
    return plan;
  }

  async removePlan(id: MaintenancePlanId, ifMatch: number | null): Promise<void> {
    await this.#plan(id, 'write');
    await current(this.#sources.registry.maintenance.deletePlan(id, ifMatch));
    await this.#changed();
  }

  /** How plans stand, the most urgent first. */
  async due(
    filter: {
      vehicleId?: VehicleId | undefined;
      planId?: MaintenancePlanId | undefined;
      stage?: MaintenanceStage | undefined;
    },
    limit: number,
  ): Promise<ShownMaintenance[]> {
    const plans = new Map((await this.#visiblePlans()).map((plan) => [plan.id, plan]));
    const { maintenance } = this.#sources.registry;
    const vehicles = [...this.#sources.directory.vehicles.values()].filter(
      (vehicle) =>
        (filter.vehicleId === undefined || vehicle.id === filter.vehicleId) && maySeeVehicle(this.#caller, vehicle),
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

  // Many at once: all of them, or none

  /**
   * @param read gives the rows; not called where the caller may make no plans
   * @param faults what was wrong with the rows already
   * @returns the plans in the order of the rows, without ids in a dry run
   * @throws {Problem} with all that is wrong
   */
  async importPlans(
    read: () => readonly PlanLine[],
    faults: Faults,
    dryRun: boolean,
  ): Promise<{ row: number; id: MaintenancePlanId | null }[]> {
    this.#requireMaintainer();
    const lines = read();
    const named = this.#namedVehicles();
    const custom = await this.#customOfLines(lines, named);
    const groups = [...this.#sources.directory.groups.values()].filter(
      (group) => rightToGroup(this.#caller, group) !== 'none',
    );
    const all = lines.flatMap((line): PlanFields[] => {
      const { name, description, counterName, every, warning, startsAtMs } = line;
      const vehicle = line.vehicle && vehicleOfLine({ ...line, vehicle: line.vehicle }, named, faults);
      const group = line.vehicle === null ? groupOfLine(line, groups, faults) : null;
      const about = vehicle ?? group;
      if (about === null) return [];
      if (vehicle && counterName !== null && !counterCalled(counterName, custom.get(vehicle.id) ?? []))
        faults.add({ row: line.row, column: 'counter', detail: 'The vehicle has no such counter.' });
      const target = { vehicleId: vehicle?.id ?? null, groupId: group?.id ?? null, dealerId: about.dealerId };
      return [
        { name, description, counterName, every, warning, ...target, ...(startsAtMs !== null && { startsAtMs }) },
      ];
    });
    faults.throwIfAny();
    const limits = await this.#limitsOf(all.flatMap(({ vehicleId }) => (vehicleId === null ? [] : [{ vehicleId }])));
    all.forEach(({ vehicleId, startsAtMs }, nth) => {
      if (vehicleId === null || startsAtMs === undefined) return;
      const detail = limits.fault(vehicleId, startsAtMs, NOT_COUNTED);
      if (detail !== null) faults.add({ row: lines[nth]?.row ?? 0, column: 'startsAt', detail });
    });
    faults.throwIfAny();
    if (dryRun) return lines.map(({ row }) => ({ row, id: null }));
    const plans = await bounded(this.#sources.registry.maintenance.createPlans(all));
    await this.#changed();
    return lines.map(({ row }, nth) => ({ row, id: plans[nth]?.id ?? null }));
  }

  /** As {@link importPlans}: what counters showed. */
  async importReadings(
    read: () => readonly ReadingLine[],
    faults: Faults,
    dryRun: boolean,
    nowMs: number,
  ): Promise<{ row: number; vehicleId: VehicleId; id: CounterCorrectionId | null }[]> {
    this.#requireMaintainer();
    const lines = read();
    const named = this.#namedVehicles();
    const custom = await this.#customOfLines(lines, named);
    const all = lines.flatMap((line): NewCorrection[] => {
      const { row, value, note, atMs } = line;
      if (atMs !== null && atMs > nowMs + AHEAD_MS)
        faults.add({ row, column: 'at', detail: 'It must not be in the future.' });
      const vehicle = vehicleOfLine(line, named, faults);
      if (vehicle === null) return [];
      const own = isBuiltIn(line.counter) ? null : counterCalled(line.counter, custom.get(vehicle.id) ?? []);
      if (own === undefined) faults.add({ row, column: 'counter', detail: 'The vehicle has no such counter.' });
      const counter = own?.id ?? (line.counter as CounterKey);
      return [{ vehicleId: vehicle.id, counter, value, note, atMs: atMs ?? nowMs, createdBy: this.#caller.id }];
    });
    faults.throwIfAny();
    const limits = await this.#limitsOf(all);
    all.forEach(({ vehicleId, atMs }, nth) => {
      const detail = limits.fault(vehicleId, atMs, NOT_CHECKED);
      if (detail !== null) faults.add({ row: lines[nth]?.row ?? 0, column: 'at', detail });
    });
    faults.throwIfAny();
    const made = dryRun ? [] : await this.#sources.registry.counters.correctAll(all);
    if (!dryRun) await this.#changed([...new Set(all.map(({ vehicleId }) => vehicleId))]);
    return all.map(({ vehicleId }, nth) => ({ row: lines[nth]?.row ?? 0, vehicleId, id: made[nth]?.id ?? null }));
  }

  /** The custom counters of the vehicles that rows name. */
  #customOfLines(
    lines: readonly (Pick<PlanLine, 'vehicle'> & { counter?: string; counterName?: string | null })[],
    named: NamedVehicles,
  ): Promise<ReadonlyMap<VehicleId, readonly CustomCounter[]>> {
    const ids = lines.flatMap(({ vehicle, counter = 'odometer', counterName = null }) => {
      if (vehicle === null || (isBuiltIn(counter) && counterName === null)) return [];
      const found = named.find(vehicle);
      return 'detail' in found ? [] : [found.id];
    });
    return this.#sources.registry.customCounters.of([...new Set(ids)]);
  }

  #namedVehicles(): NamedVehicles {
    return new NamedVehicles(this.#sources.directory, (vehicle) => rightToVehicle(this.#caller, vehicle) !== 'none');
  }

  // Services

  records(vehicle: Vehicle, paging: Paging): Promise<Page<ServiceRecord>> {
    return this.#sources.registry.maintenance.records([vehicle.id], paging);
  }

  async addRecord(
    vehicle: Vehicle,
    wish: Omit<ServiceFields, 'vehicleId' | 'createdBy' | 'title'> & { title: string | null },
    nowMs: number,
  ): Promise<ServiceRecord> {
    this.#requireMaintainer();
    if (wish.atMs > nowMs + AHEAD_MS) throw badField('/at', 'It must not be in the future.');
    let { title } = wish;
    if (wish.planId !== null) {
      const plan = (await this.#visiblePlans()).find(({ id }) => id === wish.planId);
      if (plan === undefined) throw badField('/planId', 'There is no such maintenance plan.');
      if (!isFor(plan, vehicle)) throw badField('/planId', 'This plan is not for the vehicle.');
      // Without a plan it is an entry of a service book, of whichever time.
      await this.#requireHistory(vehicle.id, '/at', wish.atMs, NOT_COUNTED);
      title ??= plan.name;
    }
    if (title === null) throw badField('/title', 'It must say what was done, where no plan does.');
    const fields = { ...wish, title, vehicleId: vehicle.id, createdBy: this.#caller.id };
    const record = await bounded(this.#sources.registry.maintenance.record(fields));
    await this.#changed();
    return record;
  }

  async removeRecord(vehicle: Vehicle, id: ServiceRecordId): Promise<void> {
    this.#requireMaintainer();
    await this.#record(vehicle, id);
    const { registry, serviceFiles } = this.#sources;
    const files = await registry.maintenance.removeRecord(id);
    await this.#changed();
    for (const file of files) await serviceFiles.delete(file.id);
  }

  // Files of services

  /** Puts a file beside a record. Where the process dies in between, it belongs to nobody, and is removed later. */
  async addFile(vehicle: Vehicle, recordId: ServiceRecordId, name: string, content: Uint8Array): Promise<ServiceFile> {
    this.#requireMaintainer();
    await this.#record(vehicle, recordId);
    const mediaType = serviceFileTypeOf(content);
    if (mediaType === null) throw badField('/content', `It must be one of ${SERVICE_FILE_TYPES.join(', ')}.`);
    const { registry, serviceFiles } = this.#sources;
    const file = { id: randomUUID() as string as ServiceFileId, name, mediaType };
    const stored = await serviceFiles.put(file.id, Readable.from([content]));
    try {
      await bounded(registry.maintenance.addFile(recordId, { ...file, ...stored }, this.#caller.id));
    } catch (error) {
      await serviceFiles.delete(file.id);
      throw error;
    }
    return { ...file, bytes: stored.bytes };
  }

  async file(vehicle: Vehicle, recordId: ServiceRecordId, id: ServiceFileId): Promise<NotedServiceFile> {
    await this.#record(vehicle, recordId);
    const { registry, serviceFiles } = this.#sources;
    const file = await registry.maintenance.file(recordId, id);
    if (file === null || (await serviceFiles.info(id)) === null) throw notFound();
    return file;
  }

  /** The bytes of a file that {@link file} has shown, read as they are taken. */
  async *fileBytes({ id }: ServiceFile, start: number, end: number): AsyncIterable<Uint8Array> {
    const bytes = await this.#sources.serviceFiles.get(id, { start, end });
    if (bytes === null) throw new Error(`the file ${id} of a service was deleted meanwhile`);
    yield* bytes;
  }

  async removeFile(vehicle: Vehicle, recordId: ServiceRecordId, id: ServiceFileId): Promise<void> {
    this.#requireMaintainer();
    const { files } = await this.#record(vehicle, recordId);
    if (!files.some((file) => file.id === id)) throw notFound();
    await this.#sources.registry.maintenance.removeFile(recordId, id);
    await this.#sources.serviceFiles.delete(id);
  }

  async #record(vehicle: Vehicle, id: ServiceRecordId): Promise<ServiceRecord> {
    const record = await this.#sources.registry.maintenance.serviceRecord(id);
    if (record?.vehicleId !== vehicle.id) throw notFound();
    return record;
  }

  // The checks

  #requireHistory(vehicleId: VehicleId, field: string, ms: number, so: string): Promise<void> {
    return requireHistory(this.#sources.registry, vehicleId, { field, ms, so });
  }

  #limitsOf(all: readonly { vehicleId: VehicleId }[]): Promise<KnownLimits> {
    return KnownLimits.of(
      this.#sources.registry,
      all.map(({ vehicleId }) => vehicleId),
    );
  }

  /** A plan for one vehicle begins where its counters are known; of a group, vehicles come and go. */
  async #requireStart({ vehicleId, startsAtMs }: Pick<PlanWish, 'vehicleId' | 'startsAtMs'>): Promise<void> {
    if (vehicleId === null || startsAtMs === undefined) return;
    await this.#requireHistory(vehicleId, '/startsAt', startsAtMs, NOT_COUNTED);
  }

  async #customOf(vehicle: Pick<Vehicle, 'id'>): Promise<readonly CustomCounter[]> {
    return (await this.#sources.registry.customCounters.of([vehicle.id])).get(vehicle.id) ?? [];
  }

  /** A plan for one vehicle names a counter that it has; of a group, vehicles may get theirs later. */
  async #requireCounter({ vehicleId, counterName }: Pick<PlanWish, 'vehicleId' | 'counterName'>): Promise<void> {
    if (vehicleId === null || counterName === null) return;
    if (counterCalled(counterName, await this.#customOf({ id: vehicleId })) === undefined)
      throw badField('/counterName', 'The vehicle has no such counter.');
  }

  /** @param counted vehicles whose counters show something else now */
  async #changed(counted: readonly VehicleId[] = []): Promise<void> {
    const { hub } = this.#sources;
    await hub.publish(MAINTENANCE_CHANNEL, '');
    for (let at = 0; at < counted.length; at += ANNOUNCED_AT_ONCE) {
      const vehicleIds = counted.slice(at, at + ANNOUNCED_AT_ONCE);
      await hub.publish(COUNTERS_CHANNEL, JSON.stringify({ vehicleIds } satisfies CountersNews));
    }
  }

  #requireMaintainer(): void {
    if (!mayMaintain(this.#caller)) throw rightNeeded('maintenance');
  }

  async #visiblePlans(): Promise<MaintenancePlan[]> {
    const plans = await this.#sources.registry.maintenance.plans();
    return plans.filter((plan) => this.#rightTo(plan) !== 'none');
  }

  async #plan(id: MaintenancePlanId, needed: Right): Promise<MaintenancePlan> {
    const plan = await this.#sources.registry.maintenance.plan(id);
    const right = plan === null ? 'none' : this.#rightTo(plan);
    if (plan === null || right === 'none') throw notFound();
    if (needed === 'write' && right !== 'write') throw rightNeeded('maintenance');
    return plan;
  }

  #rightTo(plan: Pick<MaintenancePlan, 'vehicleId' | 'groupId'>): Right {
    return rightToPlan(this.#caller, this.#sources.directory, plan);
  }

  #dealerOf({ vehicleId, groupId }: Pick<PlanWish, 'vehicleId' | 'groupId'>): PlanFields['dealerId'] {
    const { directory } = this.#sources;
    if ((vehicleId === null) === (groupId === null))
      throw badField(vehicleId === null ? '/vehicleId' : '/groupId', 'It must name either a vehicle or a group.');
    if (this.#rightTo({ vehicleId, groupId }) === 'none')
      throw vehicleId === null
        ? badField('/groupId', 'There is no such group.')
        : badField('/vehicleId', 'There is no such vehicle.');
    const named = vehicleId === null ? directory.groups.get(groupId as never) : directory.vehicles.get(vehicleId);
    return named?.dealerId ?? null;
  }

  /** Operators see everything; the account of a correction or a record is shown to its own organisation alone. */
  showsAuthor(id: User['id'] | null): boolean {
    if (id === null) return false;
    if (isOperator(this.#caller) || id === this.#caller.id) return true;
    const author = this.#sources.directory.users.get(id);
    return this.#caller.role === 'dealer' && author?.dealerId === this.#caller.id;
  }
}

/** Maintenance for reports about vehicles that the caller may see. */
export function maintenanceFor(
  caller: User,
  directory: Directory,
  maintenance: Pick<Maintenance, 'plans' | 'states' | 'recordsBetween' | 'currencyOf'>,
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
    done: (vehicleIds, fromMs, toMs) => maintenance.recordsBetween(vehicleIds, fromMs, toMs),
    currency: (vehicleIds, fromMs, toMs) => maintenance.currencyOf(vehicleIds, fromMs, toMs),
  };
}

/** A plan is seen with the vehicle or the group that it is for. */
function rightToPlan(
  caller: User,
  directory: Directory,
  { vehicleId, groupId }: Pick<MaintenancePlan, 'vehicleId' | 'groupId'>,
): Right {
  const vehicle = vehicleId === null ? undefined : directory.vehicles.get(vehicleId);
  const group = groupId === null ? undefined : directory.groups.get(groupId);
  const right = vehicle ? rightToVehicle(caller, vehicle) : group ? rightToGroup(caller, group) : 'none';
  return right === 'none' ? 'none' : mayMaintain(caller) ? 'write' : 'read';
}

function isFor(plan: MaintenancePlan, vehicle: Vehicle): boolean {
  if (plan.vehicleId !== null) return plan.vehicleId === vehicle.id;
  return plan.groupId !== null && vehicle.groupIds.includes(plan.groupId) && plan.dealerId === vehicle.dealerId;
}

function isBuiltIn(counter: string): boolean {
  return (COUNTERS as readonly string[]).includes(counter);
}

/** The custom counter that is meant by a name. */
function counterCalled(name: string, counters: readonly CustomCounter[]): CustomCounter | undefined {
  return counters.find((each) => counterNameKey(each.name) === counterNameKey(name));
}

/** A counter goes by a sensor of its vehicle, and by a digital one where it counts the hours of it. */
function requireSource(
  { sensors }: Vehicle,
  { name, source, sensorId, unit }: Pick<CounterWish, 'name' | 'source' | 'sensorId' | 'unit'>,
): void {
  if (isBuiltIn(counterNameKey(name))) throw badField('/name', 'Every vehicle has a counter of this name.');
  if (source === 'manual') {
    if (sensorId !== null) throw badField('/sensorId', 'People alone move it: it must be null.');
    return;
  }
  const sensor = sensors.find(({ id }) => id === sensorId);
  if (sensor === undefined)
    throw badField('/sensorId', sensorId === null ? 'A sensor must be named.' : 'The vehicle has no such sensor.');
  if (source === 'sensor-total') return;
  if (sensor.kind !== 'digital') throw badField('/sensorId', 'Hours are those of a digital sensor.');
  if (unit !== null && unit !== HOURS_UNIT) throw badField('/unit', `Hours are counted: it must be ${HOURS_UNIT}.`);
}

function unitOf({ sensors }: Vehicle, sensorId: CounterWish['sensorId']): string {
  return sensors.find(({ id }) => id === sensorId)?.unit ?? '';
}

/** A plan that goes by a custom counter says how far; a warning comes before what it warns of. */
function requireSpans({ counterName, every, warning }: Pick<PlanWish, 'counterName' | 'every' | 'warning'>): void {
  if (counterName === null && every.counter !== null)
    throw badField('/counterName', 'It must name the counter that every.counter is of.');
  if (counterName !== null && every.counter === null)
    throw badField('/every/counter', 'It must say how far it is by the counter.');
  for (const [span, name] of [
    ['distanceM', 'distanceKm'],
    ['engineMs', 'engineHours'],
    ['days', 'days'],
    ['counter', 'counter'],
  ] as const) {
    const [whole, part] = [every[span], warning[span]];
    if (part !== null && (whole === null || part >= whole))
      throw badField(`/warning/${name}`, `It must be less than ${name} of every.`);
  }
}
