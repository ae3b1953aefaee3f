import {
  DRIVER_ASSIGNMENT_CHANNEL,
  type Driver,
  type DriverAssignment,
  type DriverAssignmentId,
  type DriverId,
  driverCodeOf,
  maySeeVehicle,
  type UserId,
  type VehicleId,
} from '@outrider/domain';
import type { DriverFields, Page, Paging } from '@outrider/registry';
import { eventsOf, type ReportArchive } from '@outrider/reports';
import { AccessPart } from '../checks.ts';
import { badField, notFound } from '../problem.ts';
import { ofBoth, rightToDriver, rightToVehicle } from '../rights.ts';
import { type Search, type SearchPage, searched } from '../search.ts';
import { type CustomPatch, customMerged } from './custom-fields.ts';
import { type DrivenMoment, driversAt, type NamedDriver } from './who-drove.ts';

/** A code that no driver has, with the vehicle and the times at which it was read. */
export interface UnknownCode {
  code: string;
  vehicleId: VehicleId;
  vehicleName: string;
  /** Unix milliseconds. */
  firstSeenMs: number;
  lastSeenMs: number;
  shifts: number;
}

/** Whether a driver's name, phone, licence number, external id or code contains the text. */
function isNamed({ name, phone, licenceNumber, externalId, codes }: Driver, text: string): boolean {
  const wanted = text.toLowerCase();
  if ([name, phone, licenceNumber, externalId].some((known) => known?.toLowerCase().includes(wanted))) return true;
  const code = driverCodeOf(text);
  return code !== '' && codes.some((held) => held.untilMs === null && held.code.includes(code));
}

/** Most shifts that are searched for codes without a driver. */
const MAX_SHIFTS = 20_000;

/** Drivers that one caller may see, with their assignments to vehicles. */
export class DriverAccess extends AccessPart {
  async get(id: DriverId): Promise<Driver> {
    return this.checks.shown(await this.checks.driver(id, 'read'));
  }

  /** @throws {Problem} when the caller does not manage the driver */
  kept(id: DriverId): Promise<Driver> {
    return this.checks.driver(id, 'write');
  }

  /** Drivers that the caller may see, searched and sorted, or in the order of their creation. */
  find(search: Search<'name' | 'externalId'>, matches: (driver: Driver) => boolean = () => true): SearchPage<Driver> {
    const visible = [...this.sources.directory.drivers.values()].filter(
      (driver) => rightToDriver(this.caller, driver) !== 'none' && matches(driver) && isNamed(driver, search.text),
    );
    return this.checks.found(searched(visible, ['name', 'externalId'], { ...search, text: '' }));
  }

  async page(paging: Paging): Promise<Page<Driver>> {
    const filter = ofBoth(
      this.caller,
      ({ role, id, groupIds }) => ({ operator: {}, dealer: { dealerId: id }, user: { anyOfGroups: groupIds } })[role],
    );
    const page = await this.sources.registry.drivers.list(filter, paging);
    return this.checks.page(page, (driver) => rightToDriver(this.caller, driver));
  }

  async add(fields: Omit<DriverFields, 'dealerId'> & { dealerId?: UserId | null | undefined }): Promise<Driver> {
    this.checks.requireManager();
    await this.checks.requireGroups(fields.groupIds, '/groupIds');
    const codes = [...new Set(fields.codes.map(driverCodeOf))];
    const dealerId = this.checks.dealerFor(fields.dealerId);
    return this.checks.shown(await this.sources.registry.drivers.create({ ...fields, codes, dealerId }));
  }

  /** Changes a driver. Groups that the caller does not see are kept. */
  async change(
    id: DriverId,
    ifMatch: number | null,
    asked: CustomPatch<Partial<Omit<DriverFields, 'dealerId'>>>,
  ): Promise<Driver> {
    const driver = await this.kept(id);
    const { patch, version } = customMerged<Partial<Omit<DriverFields, 'dealerId'>>>(driver, ifMatch, asked);
    const groupIds = await this.checks.groupsFrom(driver.groupIds, patch.groupIds, '/groupIds');
    return this.checks.shown(await this.sources.registry.drivers.update(id, version, { ...patch, ...groupIds }));
  }

  async remove(id: DriverId, ifMatch: number | null): Promise<void> {
    await this.sources.registry.drivers.delete((await this.kept(id)).id, ifMatch);
  }

  /** Assignments of drivers to vehicles in a time range, the newest first. */
  async assignments(question: {
    vehicleId?: VehicleId | undefined;
    driverId?: DriverId | undefined;
    fromMs: number;
    toMs: number;
  }): Promise<DriverAssignment[]> {
    const { vehicleId, driverId, fromMs, toMs } = question;
    if (vehicleId !== undefined) await this.checks.vehicle({ id: vehicleId }, 'read');
    if (driverId !== undefined) await this.checks.driver(driverId, 'read');
    const found = await this.sources.registry.driverAssignments.list({
      fromMs,
      toMs,
      limit: 5000,
      vehicleIds: vehicleId === undefined ? this.checks.visibleVehicles().map(({ id }) => id) : [vehicleId],
      ...(driverId !== undefined && { driverIds: [driverId] }),
    });
    return found.filter((each) => this.#sees(each));
  }

  async assign(fields: Omit<DriverAssignment, 'id'>): Promise<DriverAssignment> {
    const { vehicleId: id, driverId } = fields;
    await this.checks.named('/vehicleId', 'vehicle', () => this.checks.vehicle({ id }, 'write'));
    await this.checks.named('/driverId', 'driver', () => this.checks.driver(driverId, 'read'));
    return this.#announced(await this.sources.registry.driverAssignments.create(fields));
  }

  async endAssignment(id: DriverAssignmentId, toMs: number | null): Promise<DriverAssignment> {
    const assignment = await this.#assignment(id);
    if (toMs !== null && toMs <= assignment.fromMs) throw badField('/to', 'It must be later than `from`.');
    return this.#announced(await this.sources.registry.driverAssignments.setEnd(id, toMs));
  }

  async removeAssignment(id: DriverAssignmentId): Promise<void> {
    const assignment = await this.#assignment(id);
    await this.sources.registry.driverAssignments.delete(id);
    await this.#announced(assignment);
  }

  /** Notifies the live API, which shows the new driver at once. */
  async #announced(assignment: DriverAssignment): Promise<DriverAssignment> {
    const { vehicleId } = assignment;
    await this.sources.hub.publish(DRIVER_ASSIGNMENT_CHANNEL, JSON.stringify({ vehicleId })).catch(() => {});
    return assignment;
  }

  driversAt(moments: readonly DrivenMoment[]): Promise<(NamedDriver | null)[]> {
    return driversAt(this.caller, this.sources, moments);
  }

  /**
   * Codes that terminals of the caller's vehicles sent in a time range, and that no driver has or had; the newest
   * first.
   */
  async unknownCodes(
    archive: Pick<ReportArchive, 'overlappingEvents'>,
    fromMs: number,
    toMs: number,
    signal: AbortSignal,
  ): Promise<UnknownCode[]> {
    this.checks.requireManager();
    const { directory } = this.sources;
    const unknown = new Map<string, UnknownCode>();
    const ids = [...directory.vehicles.values()]
      .filter((vehicle) => maySeeVehicle(this.caller, vehicle))
      .map(({ id }) => id);
    let shifts = 0;
    for await (const some of eventsOf(archive, ids, { kinds: ['driver-shift'], fromMs, toMs, signal })) {
      for (const { driverCode: code, vehicleId, startedAtMs } of some) {
        const vehicle = directory.vehicles.get(vehicleId);
        if (vehicle === undefined || directory.driversOfCode(vehicle.dealerId, code).length > 0) continue;
        const key = `${vehicle.dealerId} ${code}`;
        const known = unknown.get(key);
        const last = known === undefined || known.lastSeenMs <= startedAtMs;
        unknown.set(key, {
          code,
          vehicleId: last ? vehicleId : known.vehicleId,
          vehicleName: last ? vehicle.name : known.vehicleName,
          firstSeenMs: Math.min(startedAtMs, known?.firstSeenMs ?? startedAtMs),
          lastSeenMs: Math.max(startedAtMs, known?.lastSeenMs ?? startedAtMs),
          shifts: (known?.shifts ?? 0) + 1,
        });
      }
      shifts += some.length;
      if (shifts >= MAX_SHIFTS) break;
    }
    return [...unknown.values()].sort((a, b) => b.lastSeenMs - a.lastSeenMs);
  }

  #sees({ vehicleId, driverId }: DriverAssignment): boolean {
    const { directory } = this.sources;
    return (
      rightToVehicle(this.caller, directory.vehicles.get(vehicleId)) !== 'none' &&
      rightToDriver(this.caller, directory.drivers.get(driverId)) !== 'none'
    );
  }

  async #assignment(id: DriverAssignmentId): Promise<DriverAssignment> {
    const assignment = await this.sources.registry.driverAssignments.get(id);
    if (assignment === null || !this.#sees(assignment)) throw notFound();
    await this.checks.vehicle({ id: assignment.vehicleId }, 'write');
    return assignment;
  }
}
