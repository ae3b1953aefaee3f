import type {
  BoundProtocol,
  GroupId,
  Sensor,
  TerminalId,
  UserId,
  Vehicle,
  VehicleId,
  VehicleState,
  VehicleStatus,
} from '@outrider/domain';
import { ACCESS_REFUSALS, maySeeVehicle, sensorNameKey } from '@outrider/domain';
import type { Sightings, TerminalConnection, UnknownDevice, UnknownTerminal } from '@outrider/hub';
import type { Job, Paging, VehicleFields, VehiclePatch } from '@outrider/registry';
import { OperatorOnlyError } from '@outrider/registry';
import { judgedTrack, type ReportArchive, rejectedPositions, type TrackReport } from '@outrider/reports';
import { MOVED_BY } from '../bulk/vehicle-import.ts';
import { AccessPart } from '../checks.ts';
import { CommandAccess } from '../command-access.ts';
import { HistoryAccess } from '../history-access.ts';
import type { TimeRange } from '../job-access.ts';
import { JobAccess } from '../job-access.ts';
import { ownedArchive } from '../owned-archive.ts';
import { badField } from '../problem.ts';
import { ReportAccess } from '../report-access.ts';
import {
  bothHold,
  isOperator,
  requireData,
  requireNotHeld,
  rightToUser,
  rightToVehicle,
  visibleVehicles,
} from '../rights.ts';
import { type Search, type SearchPage, searched } from '../search.ts';
import { type CustomFilter, type CustomPatch, customMatcher, customMerged } from './custom-fields.ts';

/** Time after its first packet within which a newly installed terminal gets its vehicle. */
const INSTALLED_MS = 86_400_000;

/** Statuses that are read from the hub by one query. */
const STATES_AT_ONCE = 1000;

/** A sensor name, with the number of vehicles that have a sensor of this name. */
export interface ListedSensor extends Pick<Sensor, 'name' | 'kind' | 'unit'> {
  vehicles: number;
}

/** Filter of the vehicles that a caller may see. */
export interface VehicleFilter {
  terminalId?: TerminalId | undefined;
  groupId?: GroupId | undefined;
  state?: VehicleState | undefined;
  protocol?: BoundProtocol | undefined;
  /** Null: vehicles without a dealer. */
  dealerId?: UserId | null | undefined;
  suspended?: boolean | undefined;
  custom?: CustomFilter | undefined;
}

/** A vehicle's own id, or that of the terminal fitted to it. */
export type VehicleKey = { id: VehicleId } | { terminalId: TerminalId };

/** Vehicles that one caller may see: their profiles, current state and history. */
export class VehicleAccess extends AccessPart {
  /**
   * Vehicles of a report: the named ones, or those of a group that the caller may see; without either, all that the
   * caller may see. Each occurs once, ordered by id.
   */
  async ofReport(keys: readonly VehicleKey[] | undefined, groupId: GroupId | undefined): Promise<Vehicle[]> {
    if (keys !== undefined) {
      const found = new Map<VehicleId, Vehicle>();
      for (const key of keys) {
        const vehicle = await this.data(key);
        found.set(vehicle.id, vehicle);
      }
      return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    }
    if (groupId !== undefined) await this.checks.group(groupId, 'read');
    return new ReportAccess(this.caller, this.sources).vehicles(groupId ?? null);
  }

  /** Terminal of a vehicle that the caller may see; null otherwise. */
  terminalOf(id: VehicleId): TerminalId | null {
    const vehicle = this.sources.directory.vehicles.get(id);
    return vehicle && rightToVehicle(this.caller, vehicle) !== 'none' ? vehicle.terminalId : null;
  }

  /** Sensors of the vehicles that the caller may see. Each name occurs once, with the kind and unit of the first. */
  sensors(): ListedSensor[] {
    const byName = new Map<string, ListedSensor>();
    for (const { sensors } of this.all())
      for (const { name, kind, unit } of sensors) {
        const known = byName.get(sensorNameKey(name));
        if (known === undefined) byName.set(sensorNameKey(name), { name, kind, unit, vehicles: 1 });
        else known.vehicles++;
      }
    return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, listed]) => listed);
  }

  async get(key: VehicleKey): Promise<Vehicle> {
    return this.checks.shown(await this.checks.vehicle(key, 'read'));
  }

  /** @throws {Problem} `vehicle-suspended` while the caller may see only its profile */
  async data(key: VehicleKey): Promise<Vehicle> {
    const vehicle = await this.checks.vehicle(key, 'read');
    requireData(this.caller, vehicle);
    return vehicle;
  }

  /** All vehicles that the caller may see, by id, including suspended ones, whose data is hidden. */
  all(): Vehicle[] {
    return this.checks.visibleVehicles().sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async page(filter: { terminalId?: TerminalId | undefined; groupId?: GroupId | undefined }, paging: Paging) {
    const { terminalId, groupId } = filter;
    const visible = visibleVehicles(this.caller);
    if (groupId !== undefined) await this.checks.group(groupId, 'read');
    const page = await this.sources.registry.vehicles.list(
      {
        ...visible,
        ...(terminalId === undefined ? {} : { terminalId }),
        ...(groupId === undefined ? {} : { anyOfGroups: bothHold(visible.anyOfGroups, groupId) }),
      },
      paging,
    );
    return this.checks.page(page, (vehicle) => rightToVehicle(this.caller, vehicle));
  }

  /** Vehicles that the caller may see, searched and sorted. */
  async find(
    { terminalId, groupId, state, protocol, dealerId, suspended, custom = {} }: VehicleFilter,
    search: Search<'name' | 'plate' | 'terminalId' | 'vin' | 'externalId'>,
  ): Promise<SearchPage<Vehicle>> {
    if (groupId !== undefined) await this.checks.group(groupId, 'read');
    const isWanted = customMatcher(custom);
    const matching = this.all().filter(
      (vehicle) =>
        (groupId === undefined || vehicle.groupIds.includes(groupId)) &&
        (terminalId === undefined || vehicle.terminalId === terminalId) &&
        (protocol === undefined || vehicle.terminalAccess.protocol === protocol) &&
        (dealerId === undefined || vehicle.dealerId === dealerId) &&
        (suspended === undefined || (vehicle.suspension !== null) === suspended) &&
        isWanted?.(vehicle) !== false,
    );
    const found = state === undefined ? matching : await this.#inState(matching, state);
    return this.checks.found(searched(found, ['name', 'plate', 'terminalId', 'vin', 'externalId'], search));
  }

  async #inState(vehicles: readonly Vehicle[], state: VehicleState): Promise<Vehicle[]> {
    const inState: Vehicle[] = [];
    for (let from = 0; from < vehicles.length; from += STATES_AT_ONCE) {
      const some = vehicles.slice(from, from + STATES_AT_ONCE);
      const statuses = await this.sources.hub.latest(some.map(({ id }) => id));
      const states = new Map(statuses.map(({ vehicleId, activity }) => [vehicleId, activity?.state]));
      const stateOf = (vehicle: Vehicle) =>
        (maySeeVehicle(this.caller, vehicle) ? states.get(vehicle.id) : undefined) ?? 'unknown';
      inState.push(...some.filter((vehicle) => stateOf(vehicle) === state));
    }
    return inState;
  }

  async add(fields: Omit<VehicleFields, 'dealerId'> & { dealerId?: UserId | null | undefined }): Promise<Vehicle> {
    this.checks.requireManager();
    await this.checks.requireGroups(fields.groupIds, '/groupIds');
    const dealerId = this.checks.dealerFor(fields.dealerId);
    for (const refusal of await this.unclaimable([fields.terminalId])) throw refusal;
    return this.checks.shown(await this.sources.registry.vehicles.create({ ...fields, dealerId }));
  }

  async change(key: VehicleKey, ifMatch: number | null, asked: CustomPatch<VehiclePatch>): Promise<Vehicle> {
    const vehicle = await this.checks.vehicle(key, 'write');
    const { patch, version } = customMerged<VehiclePatch>(vehicle, ifMatch, asked);
    this.checks.requireSameDealer(vehicle.dealerId, patch.dealerId);
    if (patch.dealerId !== undefined && patch.dealerId !== vehicle.dealerId) throw badField('/dealerId', MOVED_BY);
    if (patch.terminalId !== undefined && patch.terminalId !== vehicle.terminalId)
      requireNotHeld(this.caller, vehicle, 'fit another terminal');
    if (patch.groupIds !== undefined && !isSameSet(patch.groupIds, this.checks.shown(vehicle).groupIds))
      this.checks.requireManager();
    if (patch.terminalId !== vehicle.terminalId)
      for (const refusal of await this.unclaimable([patch.terminalId])) throw refusal;
    const groupIds = await this.checks.groupsFrom(vehicle.groupIds, patch.groupIds, '/groupIds');
    return this.checks.shown(
      await this.sources.registry.vehicles.update(vehicle.id, version, { ...patch, ...groupIds }),
    );
  }

  /**
   * Terminals without a vehicle that have sent data for longer than an installation takes. They may belong to someone
   * who is waiting for the operator, so only operators may fit them.
   *
   * @returns a refusal for each of them; none for operators
   */
  async unclaimable(
    terminalIds: readonly (TerminalId | null | undefined)[],
  ): Promise<(OperatorOnlyError & { terminalId: TerminalId })[]> {
    if (isOperator(this.caller) || terminalIds.every((terminalId) => !terminalId)) return [];
    // Terminals that the hub lost, or cannot list now, count as never connected.
    const unknown = await this.sources.hub.unknownTerminals().catch(() => []);
    const wanted = new Set<string>(terminalIds.filter((terminalId) => terminalId != null));
    return unknown
      .filter(
        (seen) =>
          wanted.has(seen.terminalId) && seen.lastSeenMs - seen.firstSeenMs > INSTALLED_MS && !isAccessRefused(seen),
      )
      .map(({ terminalId }) =>
        Object.assign(new OperatorOnlyError('terminalId'), { terminalId: terminalId as TerminalId }),
      );
  }

  async remove(key: VehicleKey, ifMatch: number | null): Promise<void> {
    const vehicle = await this.checks.vehicle(key, 'write');
    this.checks.requireManager();
    requireNotHeld(this.caller, vehicle, 'delete it');
    const { registry, config } = this.sources;
    await registry.vehicles.delete(vehicle.id, ifMatch, config.erasure.graceMs);
  }

  /**
   * Hides the data of a vehicle from everyone but operators, or shows it again, including what arrived meanwhile. What
   * an operator suspended, only operators can resume.
   *
   * @param reason shown to people; null: the vehicle is resumed
   */
  async suspend(key: VehicleKey, reason: string | null): Promise<Vehicle> {
    const vehicle = await this.checks.vehicle(key, 'write');
    this.checks.requireManager();
    requireNotHeld(this.caller, vehicle, reason === null ? 'resume it' : 'give another reason');
    const by = isOperator(this.caller) ? 'operator' : 'dealer';
    const suspension = reason === null ? null : ({ reason, by } as const);
    return this.checks.shown(await this.sources.registry.vehicles.suspend(vehicle.id, suspension));
  }

  /**
   * Current state of the vehicle. The status is null if nothing is known; the connection is null if its terminal is not
   * connected.
   */
  async status(key: VehicleKey): Promise<{
    vehicleId: VehicleId;
    status: VehicleStatus | null;
    connection: TerminalConnection | null;
    /** The last data with its terminal's id that was refused by the vehicle's access settings. */
    refusal: UnknownTerminal | null;
  }> {
    const { id, terminalId } = await this.data(key);
    const { hub } = this.sources;
    const [[status], connections, refused] = await Promise.all([
      hub.latest([id]),
      hub.connections(terminalId === null ? [] : [terminalId]),
      terminalId === null ? null : hub.refusedTerminal(terminalId),
    ]);
    const connection = terminalId === null ? undefined : connections.get(terminalId);
    return {
      vehicleId: id,
      status: status ? this.#statusShown(status) : null,
      connection: connection ?? null,
      refusal: refused !== null && isAccessRefused(refused) ? refused : null,
    };
  }

  /** Hides surplus events of geofences whose owners' accounts the caller may not see. */
  #statusShown(status: VehicleStatus): VehicleStatus {
    const { surplus = [], ...rest } = status;
    const { users } = this.sources.directory;
    const shown = surplus.filter(
      ({ ownerId }) => ownerId === null || rightToUser(this.caller, users.get(ownerId)) !== 'none',
    );
    return shown.length === 0 ? rest : { ...rest, surplus: shown };
  }

  async track(key: VehicleKey, question: Omit<Parameters<typeof judgedTrack>[1], 'vehicleId'>) {
    const vehicle = await this.data(key);
    const archive = ownedArchive(this.sources.trackReport, this.caller);
    const page = await judgedTrack(archive, { ...question, vehicleId: vehicle.id });
    return { vehicleId: vehicle.id, ...page };
  }

  /** Rejected positions of the vehicle in a time range, with the reasons. */
  async rejectedPositions(key: VehicleKey, fromMs: number, toMs: number) {
    const vehicle = await this.data(key);
    const trackReport = ownedArchive(this.sources.trackReport, this.caller);
    const reportArchive = ownedArchive(this.sources.reportArchive, this.caller);
    const archive = {
      track: (question: Parameters<TrackReport['track']>[0]) => trackReport.track(question),
      fixesBefore: (question: Parameters<TrackReport['fixesBefore']>[0]) => trackReport.fixesBefore(question),
      rejections: (question: Parameters<ReportArchive['rejections']>[0]) => reportArchive.rejections(question),
    };
    return { vehicleId: vehicle.id, ...(await rejectedPositions(archive, vehicle.id, fromMs, toMs)) };
  }

  /**
   * Terminals that sent data and have no vehicle, or that were refused by their vehicle's access settings; the most
   * recently seen first.
   */
  async unknownTerminals(): Promise<UnknownTerminal[]> {
    this.checks.requireOperator('Only operators may see terminals without a vehicle profile.');
    const terminals = await this.sources.hub.unknownTerminals();
    const { directory } = this.sources;
    return terminals.filter(
      (seen) => isAccessRefused(seen) || !directory.vehicleOfTerminal(seen.terminalId as TerminalId),
    );
  }

  /** Devices that were refused before they identified themselves, the most recently seen first. */
  async unknownDevices(): Promise<(UnknownDevice & Sightings)[]> {
    this.checks.requireOperator('Only operators may see terminals without a vehicle profile.');
    return this.sources.hub.unknownDevices();
  }

  async recalculate(key: VehicleKey, range: TimeRange): Promise<Job> {
    return new JobAccess(this.caller, this.sources).recalculateVehicle(await this.checks.vehicle(key, 'write'), range);
  }

  /** Commands to the terminal of a vehicle that the caller may see. */
  async commands(key: VehicleKey): Promise<CommandAccess> {
    return new CommandAccess(this.caller, this.sources, await this.data(key));
  }

  /** The history of a vehicle that the caller manages. */
  async history(key: VehicleKey): Promise<HistoryAccess> {
    const vehicle = await this.checks.vehicle(key, 'write');
    this.checks.requireManager();
    return new HistoryAccess(this.caller, this.sources, vehicle);
  }
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return new Set(one).symmetricDifference(new Set(other)).size === 0;
}

/** Whether the vehicle's access settings refused the terminal. */
function isAccessRefused({ contact }: UnknownTerminal): boolean {
  return ACCESS_REFUSALS.some((reason) => reason === contact?.reason);
}
