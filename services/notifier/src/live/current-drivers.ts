import type {
  DefinitionChange,
  Directory,
  DriverAssignment,
  DriverId,
  VehicleId,
  VehicleStatus,
} from '@outrider/domain';
import type { DriverAssignments } from '@outrider/registry';

/** Assignments are read again after this time, even without notice of a change. */
const REREAD_MS = 60_000;
/** After notice of a change, assignments are read again, but not sooner than this after the last read. */
const REREAD_PAUSE_MS = 500;
/** Assignments are read this far ahead, so they take effect in time even if one read fails. */
const AHEAD_MS = 3 * REREAD_MS;

export interface CurrentDriversContext {
  directory: Directory;
  assignments: DriverAssignments['list'];
  now(): number;
}

/** State of a vehicle that has a driver or whose terminal sent a driver code. */
interface Driving {
  code: string | null;
  driverId: DriverId | null;
}

/** The current driver of each vehicle, by codes and by manual assignments. Finds the vehicles whose driver changed. */
export class CurrentDrivers {
  readonly #context: CurrentDriversContext;
  readonly #driving = new Map<VehicleId, Driving>();
  #assignments = new Map<VehicleId, DriverAssignment[]>();
  #readAtMs = Number.NEGATIVE_INFINITY;
  #isOutdated = true;
  /** Time at which the next assignment begins or ends. */
  #nextChangeMs = Number.POSITIVE_INFINITY;
  readonly #changedVehicles = new Set<VehicleId>();
  readonly #changedDrivers = new Set<DriverId>();

  constructor(context: CurrentDriversContext) {
    this.#context = context;
  }

  /**
   * Records a status that is about to be sent to all clients.
   *
   * @returns the driver, and whether the driver or the code has changed
   */
  note({ vehicleId, activity }: VehicleStatus): { driverId: DriverId | null; isNew: boolean } {
    const code = activity?.driverCode ?? null;
    const before = this.#driving.get(vehicleId);
    const driverId = this.#driverOf(vehicleId, code);
    this.#set(vehicleId, { code, driverId });
    return { driverId, isNew: driverId !== (before?.driverId ?? null) || code !== (before?.code ?? null) };
  }

  /**
   * The driver by a status that is sent to one client.
   *
   * @param isFirst whether no status of the vehicle was recorded yet: then this one is recorded as sent
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

  /** Vehicles that have or may have a driver. */
  vehicleIds(): VehicleId[] {
    return [...this.#driving.keys()];
  }

  /** Records a changed definition, which may change the driver or the driver's name. */
  definitionChanged({ kind, id }: DefinitionChange): void {
    if (kind === 'driver') this.#changedDrivers.add(id as DriverId);
    else if (kind === 'vehicle' && this.#driving.has(id as VehicleId)) this.#changedVehicles.add(id as VehicleId);
  }

  /** Records that an assignment began or ended. */
  assignmentChanged(): void {
    this.#isOutdated = true;
  }

  /** Vehicles whose driver changed since it was last sent. */
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
