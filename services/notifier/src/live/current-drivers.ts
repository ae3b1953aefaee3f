import type {
  DefinitionChange,
  Directory,
  DriverAssignment,
  DriverId,
  VehicleId,
  VehicleStatus,
} from '@outrider/domain';
import type { DriverAssignments } from '@outrider/registry';

/** Assignments are read again after this time, also where nobody said that one changed. */
const REREAD_MS = 60_000;
/** Where somebody said so, not sooner than this after the last time. */
const REREAD_PAUSE_MS = 500;
/** Those that begin within this time are known when they do, even where one read fails. */
const AHEAD_MS = 3 * REREAD_MS;

export interface CurrentDriversContext {
  directory: Directory;
  assignments: DriverAssignments['list'];
  now(): number;
}

/** What is known of a vehicle that somebody drives, or whose terminal sent a code. */
interface Driving {
  code: string | null;
  driverId: DriverId | null;
}

/** Who drives each vehicle now, by codes and by hand; finds those whose driver is another one than before. */
export class CurrentDrivers {
  readonly #context: CurrentDriversContext;
  readonly #driving = new Map<VehicleId, Driving>();
  #assignments = new Map<VehicleId, DriverAssignment[]>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #isOutdated = true;
  /** When an assignment begins or ends next. */
  #nextChangeMs = Number.POSITIVE_INFINITY;
  readonly #changedVehicles = new Set<VehicleId>();
  readonly #changedDrivers = new Set<DriverId>();

  constructor(context: CurrentDriversContext) {
    this.#context = context;
  }

  /**
   * Takes in a status that all are about to be sent.
   *
   * @returns who drives, and whether that is news: another driver, or another code
   */
  note({ vehicleId, activity }: VehicleStatus): { driverId: DriverId | null; isNew: boolean } {
    const code = activity?.driverCode ?? null;
    const before = this.#driving.get(vehicleId);
    const driverId = this.#driverOf(vehicleId, code);
    this.#set(vehicleId, { code, driverId });
    return { driverId, isNew: driverId !== (before?.driverId ?? null) || code !== (before?.code ?? null) };
  }

  /**
   * Who drives by a status that one client is sent.
   *
   * @param isFirst none of the vehicle was taken in yet: what this one says is what others were sent
   */
  driverIn({ vehicleId, activity }: VehicleStatus, isFirst: boolean): DriverId | null {
    const code = activity?.driverCode ?? null;
    const driverId = this.#driverOf(vehicleId, code);
    if (isFirst && !this.#driving.has(vehicleId)) this.#set(vehicleId, { code, driverId });
    return driverId;
  }

  forget(vehicleId: VehicleId): void {
    this.#driving.delete(vehicleId);
  }

  /** Vehicles that somebody drives, or may drive. */
  vehicleIds(): VehicleId[] {
    return [...this.#driving.keys()];
  }

  /** A definition changed that may make somebody else the driver, or name the driver differently. */
  definitionChanged({ kind, id }: DefinitionChange): void {
    if (kind === 'driver') this.#changedDrivers.add(id as DriverId);
    else if (kind === 'vehicle' && this.#driving.has(id as VehicleId)) this.#changedVehicles.add(id as VehicleId);
  }

  /** Somebody was assigned, or is no longer. */
  assignmentChanged(): void {
    this.#isOutdated = true;
  }

  /** Vehicles whose driver changed since they were sent. */
  async changed(): Promise<VehicleId[]> {
    const nowMs = this.#context.now();
    const ageMs = Math.abs(nowMs - this.#readAtMs);
    const isDue = ageMs >= (this.#isOutdated ? REREAD_PAUSE_MS : REREAD_MS);
    if (isDue) await this.#read(nowMs);
    if (!isDue && nowMs < this.#nextChangeMs && this.#changedDrivers.size + this.#changedVehicles.size === 0) return [];
    const changed = new Set<VehicleId>(this.#changedVehicles);
    for (const [vehicleId, driving] of this.#driving) {
      const driverId = this.#driverOf(vehicleId, driving.code);
      const isRenamed = driverId !== null && this.#changedDrivers.has(driverId);
      if (driverId !== driving.driverId || isRenamed) changed.add(vehicleId);
      driving.driverId = driverId;
      if (driverId === null && driving.code === null && !this.#assignments.has(vehicleId))
        this.#driving.delete(vehicleId);
    }
    this.#changedDrivers.clear();
    this.#changedVehicles.clear();
    this.#setNextChange(nowMs);
    return [...changed];
  }

  #set(vehicleId: VehicleId, { code, driverId }: Driving): void {
    if (code === null && driverId === null && !this.#assignments.has(vehicleId)) this.#driving.delete(vehicleId);
    else this.#driving.set(vehicleId, { code, driverId });
  }

  async #read(nowMs: number): Promise<void> {
    this.#isOutdated = false;
    try {
      const found = await this.#context.assignments({ fromMs: nowMs, toMs: nowMs + AHEAD_MS });
      this.#assignments = Map.groupBy(found, ({ vehicleId }) => vehicleId);
      this.#readAtMs = nowMs;
    } catch (error) {
      this.#isOutdated = true;
      throw error;
    }
    for (const vehicleId of this.#assignments.keys())
      if (!this.#driving.has(vehicleId)) this.#driving.set(vehicleId, { code: null, driverId: null });
  }

  #setNextChange(nowMs: number): void {
    this.#nextChangeMs = Number.POSITIVE_INFINITY;
    for (const some of this.#assignments.values())
      for (const { fromMs, toMs } of some)
        for (const timeMs of [fromMs, toMs])
          if (timeMs !== null && timeMs > nowMs) this.#nextChangeMs = Math.min(this.#nextChangeMs, timeMs);
  }

  #driverOf(vehicleId: VehicleId, code: string | null): DriverId | null {
    const { directory, now } = this.#context;
    const moment = { atMs: now(), code };
    return directory.driverAt(vehicleId, moment, this.#assignments.get(vehicleId) ?? [])?.id ?? null;
  }
}
