import type { Tokens } from '@outrider/auth';
import type {
  ApiKeyId,
  BoundProtocol,
  Directory,
  DriverId,
  Geofence,
  GeofenceId,
  GroupId,
  QuotaUse,
  Role,
  Sensor,
  SessionId,
  TerminalId,
  User,
  UserId,
  Vehicle,
  VehicleGroup,
  VehicleId,
  VehicleState,
  VehicleStatus,
} from '@outrider/domain';
import { ACCESS_REFUSALS, accountOf, maySeeVehicle, sensorNameKey } from '@outrider/domain';
import type { Geocoder, Point } from '@outrider/geocoder';
import type { Hub, Sightings, TerminalConnection, UnknownDevice, UnknownTerminal } from '@outrider/hub';
import type {
  AuditEntry,
  AuditedFields,
  AuditFilter,
  Claim,
  GeofenceFields,
  GroupFields,
  Job,
  Page,
  Paging,
  Registry,
  Session,
  TemplateList,
  UserFields,
  UserPatch,
  VehicleFields,
  VehiclePatch,
} from '@outrider/registry';
import { dealersOfUser, NotFoundError, OperatorOnlyError } from '@outrider/registry';
import {
  judgedTrack,
  type NamedPlace,
  type ReportArchive,
  rejectedPositions,
  type TrackReport,
} from '@outrider/reports';
import { AccountMailAccess } from './account-mail-access.ts';
import { ApiKeyAccess } from './api-key-access.ts';
import { BulkAccess, MOVED_BY } from './bulk-access.ts';
import { CommandAccess, type CommandSources } from './command-access.ts';
import { type CustomFilter, type CustomPatch, customMatcher, customMerged } from './custom-fields.ts';
import { DriverAccess, rightToDriver, type UnknownCode } from './driver-access.ts';
import { ExternalSignInAccess } from './external-sign-in.ts';
import { ForwardingAccess, type ForwardingSources } from './forwarding-access.ts';
import { HistoryAccess, type HistorySources } from './history-access.ts';
import { JobAccess, type JobSources, type TimeRange } from './job-access.ts';
import type { LoginBrake } from './login-brake.ts';
import { MaintenanceAccess, type MaintenanceSources } from './maintenance-access.ts';
import { MessageChannelAccess, type MessageChannelSources } from './message-channel-access.ts';
import { NotificationAccess, type NotificationSources } from './notification-access.ts';
import { requireOwnPassword } from './own-password.ts';
import { ownedArchive } from './owned-archive.ts';
import { PasskeyAccess, type PasskeySources } from './passkey-access.ts';
import { requireStrongPassword } from './password-strength.ts';
import { PlaceAccess } from './place-access.ts';
import { badField, notFound, Problem } from './problem.ts';
import { type QuotaPatch, setQuotas } from './quota-access.ts';
import { ADDRESSES_MS, ReportAccess } from './report-access.ts';
import { ReportScheduleAccess } from './report-schedule-access.ts';
import {
  bothHold,
  dealerOf,
  isOperator,
  mayManage,
  maySeeSessions,
  type Right,
  requireData,
  requireNotHeld,
  requirePerson,
  requireRight,
  rightToGeofence,
  rightToGroup,
  rightToUser,
  rightToVehicle,
  visibleAudit,
  visibleGeofences,
  visibleGroups,
  visibleUsers,
  visibleVehicles,
} from './rights.ts';
import { type Search, type SearchPage, searched } from './search.ts';
import { SecondFactorAccess } from './second-factor-access.ts';
import { ShareAccess, type ShareSources } from './share-access.ts';
import { VideoAccess, type VideoSources } from './video-access.ts';

/** What data there is. Nobody but {@link Access} touches it on a caller's behalf. */
export interface Sources
  extends MaintenanceSources,
    NotificationSources,
    VideoSources,
    JobSources,
    ShareSources,
    HistorySources,
    CommandSources {
  registry: Registry;
  /** Everything defined, as it is in force. */
  directory: Directory;
  config: NotificationSources['config'] &
    MessageChannelSources['config'] &
    ForwardingSources['config'] &
    VideoSources['config'] &
    JobSources['config'] &
    ShareSources['config'] &
    HistorySources['config'] &
    PasskeySources['config'] &
    CommandSources['config'];
  hub: Pick<
    Hub,
    'latest' | 'connections' | 'refusedTerminal' | 'unknownTerminals' | 'unknownDevices' | 'publish' | 'hit'
  >;
  trackReport: TrackReport;
  reportArchive: ReportArchive;
  geocoder: Geocoder;
  tokens: Tokens;
  /** Slows down guesses at a password. */
  brake: LoginBrake;
}

/** A line of the audit trail as it may be shown: of somebody outside a dealer's organisation, the role alone. */
export type AuditShown = Omit<AuditEntry, 'user'> & {
  user: { id: UserId | null; login: string | null; role: Role } | null;
};

/** A terminal that is being installed has its vehicle within this time of its first packet. */
const INSTALLED_MS = 86_400_000;

/** Statuses that are read from the hub by one query. */
const STATES_AT_ONCE = 1000;

/** A name of sensors, and how many vehicles have one of this name. */
export interface ListedSensor extends Pick<Sensor, 'name' | 'kind' | 'unit'> {
  vehicles: number;
}

/** Which of the vehicles that a caller may see are asked for. */
export interface VehicleFilter {
  terminalId?: TerminalId | undefined;
  groupId?: GroupId | undefined;
  state?: VehicleState | undefined;
  protocol?: BoundProtocol | undefined;
  /** Null: the operator's own. */
  dealerId?: UserId | null | undefined;
  suspended?: boolean | undefined;
  custom?: CustomFilter | undefined;
}

/** A vehicle's own id, or that of the terminal fitted to it. */
export type VehicleKey = { id: VehicleId } | { terminalId: TerminalId };

/**
 * Everything that one caller can reach, and nothing else: every read and every write of a handler goes through here,
 * and here through `rights.ts`. What the caller may not see is reported as what does not exist; what may be seen and
 * not changed, as forbidden.
 */
export class Access {
  readonly #caller: User;
  readonly #sources: Sources;

  /**
   * @param by how the caller came: what the audit trail says of their changes
   * @param claim of the key of a request that makes something once
   */
  constructor(
    caller: User,
    sources: Sources,
    by: { sessionId: SessionId | null; apiKeyId?: ApiKeyId | null; address: string },
    claim: Claim | null = null,
  ) {
    this.#caller = caller;
    this.#sources = { ...sources, registry: sources.registry.as({ user: accountOf(caller), ...by }, claim) };
  }

  /** Many things at once. */
  get bulk(): BulkAccess {
    return new BulkAccess(this, this.#caller, this.#sources);
  }

  /** The caller's rules, inbox and deliveries. */
  get notifications(): NotificationAccess {
    return new NotificationAccess(this.#caller, this.#sources);
  }

  /** What the caller has messages sent by. */
  get messageChannels(): MessageChannelAccess {
    return new MessageChannelAccess(this.#caller, this.#sources);
  }

  /** Where the caller has positions and events forwarded to. */
  get forwarding(): ForwardingAccess {
    return new ForwardingAccess(this.#caller, this.#sources);
  }

  /** The caller's jobs. */
  get jobs(): JobAccess {
    return new JobAccess(this.#caller, this.#sources);
  }

  /** The caller's API keys. */
  get apiKeys(): ApiKeyAccess {
    return new ApiKeyAccess(this.#caller, this.#sources);
  }

  /** E-mail addresses of accounts, and invitations. */
  get accountMails(): AccountMailAccess {
    return new AccountMailAccess(this.#caller, this.#sources);
  }

  /** The caller's second factor. */
  get secondFactor(): SecondFactorAccess {
    return new SecondFactorAccess(this.#caller, this.#sources);
  }

  /** The caller's passkeys. */
  get passkeys(): PasskeyAccess {
    return new PasskeyAccess(this.#caller, this.#sources);
  }

  /** The caller's link to a provider that they sign in by. */
  get externalSignIn(): ExternalSignInAccess {
    return new ExternalSignInAccess(this.#caller, this.#sources);
  }

  /** The caller's schedules of reports. */
  get reportSchedules(): ReportScheduleAccess {
    return new ReportScheduleAccess(this.#caller, this.#sources);
  }

  /** The caller's drivers. */
  get drivers(): DriverAccess {
    return new DriverAccess(this.#caller, this.#sources);
  }

  /** Codes of drivers that nobody has. */
  unknownDriverCodes(fromMs: number, toMs: number, signal: AbortSignal): Promise<UnknownCode[]> {
    return this.drivers.unknownCodes(this.#sources.reportArchive, fromMs, toMs, signal);
  }

  /** Links that show the caller's vehicles to others. */
  get shareLinks(): ShareAccess {
    return new ShareAccess(this.#caller, this.#sources);
  }

  /** Places in words, as the caller calls them. */
  placesOf(points: readonly Point[]): Promise<(NamedPlace | null)[]> {
    return new PlaceAccess(this.#caller, this.#sources, ADDRESSES_MS).placesOf(points);
  }

  /** What the caller's reports are made of. */
  get reports(): ReportAccess {
    return new ReportAccess(this.#caller, this.#sources);
  }

  /**
   * The vehicles that a report names, or those of a group that the caller may see; all of the caller's where it names
   * none. Each once, by id.
   */
  async reportVehicles(keys: readonly VehicleKey[] | undefined, groupId: GroupId | undefined): Promise<Vehicle[]> {
    if (keys !== undefined) {
      const found = new Map<VehicleId, Vehicle>();
      for (const key of keys) {
        const vehicle = await this.vehicleData(key);
        found.set(vehicle.id, vehicle);
      }
      return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    }
    if (groupId !== undefined) await this.#group(groupId, 'read');
    return this.reports.vehicles(groupId ?? null);
  }

  /** Video of the caller's vehicles. */
  get video(): VideoAccess {
    return new VideoAccess(this.#caller, this.#sources);
  }

  /** Counters, plans of maintenance and services. */
  get maintenance(): MaintenanceAccess {
    return new MaintenanceAccess(this.#caller, this.#sources);
  }

  /** Commands to the terminal of a vehicle that the caller may see. */
  async commandsOf(key: VehicleKey): Promise<CommandAccess> {
    return new CommandAccess(this.#caller, this.#sources, await this.vehicleData(key));
  }

  /** The past of a vehicle that the caller keeps. */
  async historyOf(key: VehicleKey): Promise<HistoryAccess> {
    const vehicle = await this.#vehicle(key, 'write');
    this.#requireManager();
    return new HistoryAccess(this.#caller, this.#sources, vehicle);
  }

  /** The terminal that is fitted to a vehicle of which the caller sees something else already. */
  terminalOf(id: VehicleId): TerminalId | null {
    const vehicle = this.#sources.directory.vehicles.get(id);
    return vehicle && rightToVehicle(this.#caller, vehicle) !== 'none' ? vehicle.terminalId : null;
  }

  /** The sensors of the vehicles that the caller may see, by their names: each name once, as the first has it. */
  sensors(): ListedSensor[] {
    const byName = new Map<string, ListedSensor>();
    for (const { sensors } of this.listedVehicles())
      for (const { name, kind, unit } of sensors) {
        const known = byName.get(sensorNameKey(name));
        if (known === undefined) byName.set(sensorNameKey(name), { name, kind, unit, vehicles: 1 });
        else known.vehicles++;
      }
    return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, listed]) => listed);
  }

  // Vehicles

  async vehicle(key: VehicleKey): Promise<Vehicle> {
    return this.#shown(await this.#vehicle(key, 'read'));
  }

  /** @throws {Problem} `vehicle-suspended` where its profile alone may be seen now */
  async vehicleData(key: VehicleKey): Promise<Vehicle> {
    const vehicle = await this.#vehicle(key, 'read');
    requireData(this.#caller, vehicle);
    return vehicle;
  }

  /** All vehicles that the caller may know of, by id: suspended ones as well, whose data is hidden. */
  listedVehicles(): Vehicle[] {
    return [...this.#sources.directory.vehicles.values()]
      .filter((vehicle) => rightToVehicle(this.#caller, vehicle) !== 'none')
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async vehicles(filter: { terminalId?: TerminalId | undefined; groupId?: GroupId | undefined }, paging: Paging) {
    const { terminalId, groupId } = filter;
    const visible = visibleVehicles(this.#caller);
    if (groupId !== undefined) await this.#group(groupId, 'read');
    const page = await this.#sources.registry.vehicles.list(
      {
        ...visible,
        ...(terminalId === undefined ? {} : { terminalId }),
        ...(groupId === undefined ? {} : { anyOfGroups: bothHold(visible.anyOfGroups, groupId) }),
      },
      paging,
    );
    return this.#page(page, (vehicle) => rightToVehicle(this.#caller, vehicle));
  }

  /** Vehicles that the caller may see, searched and sorted. */
  async findVehicles(
    { terminalId, groupId, state, protocol, dealerId, suspended, custom = {} }: VehicleFilter,
    search: Search<'name' | 'plate' | 'terminalId' | 'vin' | 'externalId'>,
  ): Promise<SearchPage<Vehicle>> {
    if (groupId !== undefined) await this.#group(groupId, 'read');
    const isWanted = customMatcher(custom);
    const matching = this.listedVehicles().filter(
      (vehicle) =>
        (groupId === undefined || vehicle.groupIds.includes(groupId)) &&
        (terminalId === undefined || vehicle.terminalId === terminalId) &&
        (protocol === undefined || vehicle.terminalAccess.protocol === protocol) &&
        (dealerId === undefined || vehicle.dealerId === dealerId) &&
        (suspended === undefined || (vehicle.suspension !== null) === suspended) &&
        isWanted?.(vehicle) !== false,
    );
    const found = state === undefined ? matching : await this.#inState(matching, state);
    return this.#found(searched(found, ['name', 'plate', 'terminalId', 'vin', 'externalId'], search));
  }

  async #inState(vehicles: readonly Vehicle[], state: VehicleState): Promise<Vehicle[]> {
    const inState: Vehicle[] = [];
    for (let from = 0; from < vehicles.length; from += STATES_AT_ONCE) {
      const some = vehicles.slice(from, from + STATES_AT_ONCE);
      const statuses = await this.#sources.hub.latest(some.map(({ id }) => id));
      const states = new Map(statuses.map(({ vehicleId, activity }) => [vehicleId, activity?.state]));
      const stateOf = (vehicle: Vehicle) =>
        (maySeeVehicle(this.#caller, vehicle) ? states.get(vehicle.id) : undefined) ?? 'unknown';
      inState.push(...some.filter((vehicle) => stateOf(vehicle) === state));
    }
    return inState;
  }

  async addVehicle(
    fields: Omit<VehicleFields, 'dealerId'> & { dealerId?: UserId | null | undefined },
  ): Promise<Vehicle> {
    this.#requireManager();
    await this.#requireGroups(fields.groupIds, '/groupIds');
    const dealerId = this.#dealerFor(fields.dealerId);
    for (const refusal of await this.unclaimable([fields.terminalId])) throw refusal;
    return this.#shown(await this.#sources.registry.vehicles.create({ ...fields, dealerId }));
  }

  async changeVehicle(key: VehicleKey, ifMatch: number | null, asked: CustomPatch<VehiclePatch>): Promise<Vehicle> {
    const vehicle = await this.#vehicle(key, 'write');
    const { patch, version } = customMerged<VehiclePatch>(vehicle, ifMatch, asked);
    this.#requireSameDealer(vehicle.dealerId, patch.dealerId);
    if (patch.dealerId !== undefined && patch.dealerId !== vehicle.dealerId) throw badField('/dealerId', MOVED_BY);
    if (patch.terminalId !== undefined && patch.terminalId !== vehicle.terminalId)
      requireNotHeld(this.#caller, vehicle, 'fit another terminal');
    if (patch.groupIds !== undefined && !isSameSet(patch.groupIds, this.#shown(vehicle).groupIds))
      this.#requireManager();
    if (patch.terminalId !== vehicle.terminalId)
      for (const refusal of await this.unclaimable([patch.terminalId])) throw refusal;
    const groupIds = await this.#groupsFrom(vehicle.groupIds, patch.groupIds, '/groupIds');
    return this.#shown(await this.#sources.registry.vehicles.update(vehicle.id, version, { ...patch, ...groupIds }));
  }

  /**
   * Terminals that have sent data for longer than an installation takes, and have no vehicle: they may be somebody's
   * who waits for the operator.
   *
   * @returns a refusal for each of them; none for operators
   */
  async unclaimable(
    terminalIds: readonly (TerminalId | null | undefined)[],
  ): Promise<(OperatorOnlyError & { terminalId: TerminalId })[]> {
    if (isOperator(this.#caller) || terminalIds.every((terminalId) => !terminalId)) return [];
    // Terminals that the hub lost, or cannot list now, count as never connected.
    const unknown = await this.#sources.hub.unknownTerminals().catch(() => []);
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

  async removeVehicle(key: VehicleKey, ifMatch: number | null): Promise<void> {
    const vehicle = await this.#vehicle(key, 'write');
    this.#requireManager();
    requireNotHeld(this.#caller, vehicle, 'delete it');
    const { registry, config } = this.#sources;
    await registry.vehicles.delete(vehicle.id, ifMatch, config.erasure.graceMs);
  }

  /**
   * Hides the data of a vehicle from all but operators, or shows it again with all that came meanwhile. What an
   * operator suspended, operators alone resume.
   *
   * @param reason what people are shown; null: it is resumed
   */
  async suspendVehicle(key: VehicleKey, reason: string | null): Promise<Vehicle> {
    const vehicle = await this.#vehicle(key, 'write');
    this.#requireManager();
    requireNotHeld(this.#caller, vehicle, reason === null ? 'resume it' : 'give another reason');
    const by = isOperator(this.#caller) ? 'operator' : 'dealer';
    const suspension = reason === null ? null : ({ reason, by } as const);
    return this.#shown(await this.#sources.registry.vehicles.suspend(vehicle.id, suspension));
  }

  /**
   * What is known of the vehicle now; a null status where nothing is, a null connection where its terminal has none.
   */
  async status(key: VehicleKey): Promise<{
    vehicleId: VehicleId;
    status: VehicleStatus | null;
    connection: TerminalConnection | null;
    /** Data with the id of its terminal that the vehicle did not take last. */
    refusal: UnknownTerminal | null;
  }> {
    const { id, terminalId } = await this.vehicleData(key);
    const { hub } = this.#sources;
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

  /** Without what others' geofences caused whose accounts the caller may not see. */
  #statusShown(status: VehicleStatus): VehicleStatus {
    const { surplus = [], ...rest } = status;
    const shown = surplus.filter(({ ownerId }) => {
      const owner = ownerId === null ? null : this.#sources.directory.users.get(ownerId);
      return owner === null || (owner !== undefined && rightToUser(this.#caller, owner) !== 'none');
    });
    return shown.length === 0 ? rest : { ...rest, surplus: shown };
  }

  async track(key: VehicleKey, question: Omit<Parameters<typeof judgedTrack>[1], 'vehicleId'>) {
    const vehicle = await this.vehicleData(key);
    const archive = ownedArchive(this.#sources.trackReport, this.#caller);
    const page = await judgedTrack(archive, { ...question, vehicleId: vehicle.id });
    return { vehicleId: vehicle.id, ...page };
  }

  /** Which positions of the vehicle moved nothing since a moment, and why. */
  async rejectedPositions(key: VehicleKey, fromMs: number, toMs: number) {
    const vehicle = await this.vehicleData(key);
    const trackReport = ownedArchive(this.#sources.trackReport, this.#caller);
    const reportArchive = ownedArchive(this.#sources.reportArchive, this.#caller);
    const archive = {
      track: (question: Parameters<TrackReport['track']>[0]) => trackReport.track(question),
      fixesBefore: (question: Parameters<TrackReport['fixesBefore']>[0]) => trackReport.fixesBefore(question),
      rejections: (question: Parameters<ReportArchive['rejections']>[0]) => reportArchive.rejections(question),
    };
    return { vehicleId: vehicle.id, ...(await rejectedPositions(archive, vehicle.id, fromMs, toMs)) };
  }

  /**
   * Terminals that sent data and have no profile now, or that their vehicle did not take as they came, the most
   * recently seen first.
   */
  async unknownTerminals(): Promise<UnknownTerminal[]> {
    this.#requireOperator('Terminals without a profile are shown to operators alone.');
    const terminals = await this.#sources.hub.unknownTerminals();
    const { directory } = this.#sources;
    return terminals.filter(
      (seen) => isAccessRefused(seen) || !directory.vehicleOfTerminal(seen.terminalId as TerminalId),
    );
  }

  /** Devices that were refused before they said who they are, the most recently seen first. */
  async unknownDevices(): Promise<(UnknownDevice & Sightings)[]> {
    this.#requireOperator('Terminals without a profile are shown to operators alone.');
    return this.#sources.hub.unknownDevices();
  }

  // Groups

  group(id: GroupId): Promise<VehicleGroup> {
    return this.#group(id, 'read');
  }

  async groups(paging: Paging): Promise<Page<VehicleGroup>> {
    const page = await this.#sources.registry.groups.list(visibleGroups(this.#caller), paging);
    return { ...page, items: page.items.filter((group) => rightToGroup(this.#caller, group) !== 'none') };
  }

  /** Groups that the caller may see, searched and sorted. */
  findGroups(search: Search<'name' | 'externalId'>, custom: CustomFilter = {}): SearchPage<VehicleGroup> {
    const isWanted = customMatcher(custom);
    const visible = [...this.#sources.directory.groups.values()].filter(
      (group) => rightToGroup(this.#caller, group) !== 'none' && isWanted?.(group) !== false,
    );
    return searched(visible, ['name', 'externalId'], search);
  }

  async addGroup(
    fields: Omit<GroupFields, 'dealerId'> & { dealerId?: UserId | null | undefined },
  ): Promise<VehicleGroup> {
    this.#requireManager();
    return this.#sources.registry.groups.create({ ...fields, dealerId: this.#dealerFor(fields.dealerId) });
  }

  async changeGroup(
    id: GroupId,
    ifMatch: number | null,
    asked: CustomPatch<Partial<GroupFields>>,
  ): Promise<VehicleGroup> {
    const group = await this.#group(id, 'write');
    const { patch, version } = customMerged<Partial<GroupFields>>(group, ifMatch, asked);
    this.#requireSameDealer(group.dealerId, patch.dealerId);
    return this.#sources.registry.groups.update(id, version, patch);
  }

  async removeGroup(id: GroupId, ifMatch: number | null): Promise<void> {
    await this.#group(id, 'write');
    await this.#sources.registry.groups.delete(id, ifMatch);
  }

  async setVehicleInGroup(groupId: GroupId, key: VehicleKey, isMember: boolean): Promise<void> {
    await this.#group(groupId, 'write');
    const vehicle = await this.#vehicle(key, 'write');
    await this.#sources.registry.groups.setVehicle(groupId, vehicle.id, isMember);
  }

  /** Users with access to the group, of those that the caller may see. */
  async usersOfGroup(groupId: GroupId, paging: Paging): Promise<Page<User>> {
    await this.#group(groupId, 'read');
    const ids = await this.#sources.registry.groups.userIds(groupId);
    const users = ids
      .map((id) => this.#sources.directory.users.get(id))
      .filter((user) => user !== undefined)
      .filter((user) => rightToUser(this.#caller, user) !== 'none')
      .filter((user) => paging.after === null || user.id > paging.after);
    const items = users.slice(0, paging.limit).map((user) => this.#shown(user));
    return { items, next: users.length > items.length ? (items.at(-1)?.id ?? null) : null };
  }

  async setUserAccess(groupId: GroupId, userId: UserId, hasAccess: boolean): Promise<void> {
    await this.#group(groupId, 'write');
    await this.#user(userId, 'write');
    await this.#sources.registry.groups.setUser(groupId, userId, hasAccess);
  }

  // Users

  async user(id: UserId): Promise<User> {
    return this.#shown(await this.#user(id, 'read'));
  }

  async users(paging: Paging): Promise<Page<User>> {
    const page = await this.#sources.registry.users.list(visibleUsers(this.#caller), paging);
    return this.#page(page, (user) => rightToUser(this.#caller, user));
  }

  /** Accounts that the caller may see, searched and sorted. */
  findUsers(
    search: Search<'login' | 'name' | 'externalId'>,
    matches: (user: User) => boolean = () => true,
  ): SearchPage<User> {
    const visible = [...this.#sources.directory.users.values()].filter(
      (user) => rightToUser(this.#caller, user) !== 'none' && matches(user),
    );
    return this.#found(searched(visible, ['login', 'name', 'externalId'], search));
  }

  async addUser(
    fields: Omit<UserFields, 'dealerId' | 'blocked'> & { dealerId?: UserId | null | undefined },
    password: string,
  ) {
    this.#requireManager();
    if (fields.role !== 'user') this.#requireOperator('Operators and dealers are made by operators alone.');
    if (fields.apiAccess) this.#requireOperator('The right to use the API is granted by operators alone.');
    await this.#requireGroups(fields.groupIds, '/groupIds');
    const dealerId = this.#dealerFor(fields.dealerId);
    if (dealerId !== null && fields.role !== 'user') throw badField('/dealerId', 'Only users belong to a dealer.');
    requireStrongPassword(password, [fields.login, fields.name]);
    return this.#shown(await this.#sources.registry.users.create({ ...fields, dealerId, blocked: false }, password));
  }

  async changeUser(
    id: UserId,
    ifMatch: number | null,
    asked: CustomPatch<Omit<UserPatch, 'blocked' | 'apiAccess'>>,
  ): Promise<User> {
    const user = await this.#user(id, 'write');
    const { patch, version } = customMerged<Omit<UserPatch, 'blocked' | 'apiAccess'>>(user, ifMatch, asked);
    this.#requireSameDealer(user.dealerId, patch.dealerId);
    if (patch.dealerId && user.role !== 'user') throw badField('/dealerId', 'Only users belong to a dealer.');
    const groupIds = await this.#groupsFrom(user.groupIds, patch.groupIds, '/groupIds');
    return this.#shown(await this.#sources.registry.users.update(id, version, { ...patch, ...groupIds }));
  }

  /** Blocks the account, which ends all that it is used for at once, or lets it in again. */
  async setBlocked(id: UserId, blocked: boolean): Promise<User> {
    await this.#user(id, 'write');
    if (blocked) this.#requireNotSelf(id, 'blocked');
    return this.#shown(await this.#sources.registry.users.update(id, null, { blocked }));
  }

  /** When the account's time is over, in Unix milliseconds; null: never. */
  async expiryOf(id: UserId): Promise<number | null> {
    await this.#user(id, 'read');
    return this.#sources.registry.users.expiryOf(id);
  }

  async setExpiry(id: UserId, expiresAtMs: number | null): Promise<void> {
    await this.#user(id, 'write');
    this.#requireNotSelf(id, 'given an end');
    await this.#sources.registry.users.setExpiry(id, expiresAtMs);
  }

  /** For how many days the fleet of the account's organisation keeps histories; null: as long as the service does. */
  async fleetRetentionOf(id: UserId): Promise<number | null> {
    return this.#sources.registry.historyLimits.fleetRetention(await this.#user(id, 'read'));
  }

  /** A dealer says it of its own fleet; operators of each dealer's, and of the vehicles that no dealer has. */
  async setFleetRetention(id: UserId, retentionDays: number | null): Promise<void> {
    const user = await this.#user(id, 'read');
    this.#requireManager();
    if (user.role === 'user')
      throw new Problem('conflict', 'Vehicles belong to dealers and to the operator: it is set at their accounts.');
    await this.#sources.registry.historyLimits.setFleetRetention(user, retentionDays);
  }

  async setApiAccess(id: UserId, apiAccess: boolean): Promise<User> {
    await this.#user(id, 'read');
    this.#requireOperator('The right to use the API is granted by operators alone.');
    if (!apiAccess) this.#requireNotSelf(id, 'shut out of the API');
    return this.#shown(await this.#sources.registry.users.update(id, null, { apiAccess }));
  }

  /**
   * An account's password; of the caller's own account only with the current one, and then `sessionId` stays.
   *
   * @param current undefined where it was not given
   */
  async setPassword(id: UserId, password: string, current: string | undefined, sessionId: SessionId): Promise<void> {
    requirePerson(this.#caller);
    const user = await this.#user(id, 'write');
    if (id === this.#caller.id) return this.changeOwnPassword(current, password, sessionId);
    if (current !== undefined) throw badField('/currentPassword', 'It is asked for the own account alone.');
    requireStrongPassword(password, [user.login, user.name]);
    await this.#sources.registry.users.setPassword(id, password, null);
    this.#sources.tokens.revokeUser(id);
  }

  /** The caller's own password, by whatever route; `sessionId` stays, every other session of theirs ends. */
  async changeOwnPassword(current: string | undefined, wanted: string, sessionId: SessionId): Promise<void> {
    const { registry, tokens } = this.#sources;
    const { id, login, name } = this.#caller;
    await requireOwnPassword(this.#caller, this.#sources, current, sessionId);
    requireStrongPassword(wanted, [login, name]);
    await registry.users.setPassword(id, wanted, sessionId);
    tokens.revokeUser(id);
  }

  async changeOwnName(name: string): Promise<User> {
    return this.#shown(await this.#sources.registry.users.update(this.#caller.id, null, { name }));
  }

  /** The caller's own, as they are stored; null where they never set any. */
  preferences(): Promise<object | null> {
    return this.#sources.registry.preferences.get(this.#caller.id);
  }

  changePreferences<T extends object>(revise: (stored: object | null) => T): Promise<T> {
    return this.#sources.registry.preferences.change(this.#caller.id, revise);
  }

  /** The caller's own. */
  reportTemplates(): Promise<TemplateList> {
    return this.#sources.registry.reportTemplates.get(this.#caller.id);
  }

  /** @throws {Problem} where the list is at another version than `ifMatch` */
  setReportTemplates(ifMatch: number | null, templates: readonly object[]): Promise<TemplateList> {
    return this.#sources.registry.reportTemplates.change(this.#caller.id, ({ version }) => {
      if (ifMatch !== null && ifMatch !== version)
        throw new Problem('stale', 'Read it again, and change what it is now.', {
          headers: { etag: `"${version}"` },
        });
      return templates;
    });
  }

  /** Has what is held about an account made as a file: by the account itself, or for who keeps it. */
  async exportUser(id: UserId): Promise<Job> {
    requirePerson(this.#caller);
    const user = await this.#user(id, 'read');
    return this.jobs.addExport({ subject: 'user', id }, user.login, dealersOfUser(user));
  }

  /** The same of a driver, for who keeps the driver. */
  async exportDriver(id: DriverId): Promise<Job> {
    requirePerson(this.#caller);
    const { name, dealerId } = this.drivers.keptDriver(id);
    return this.jobs.addExport({ subject: 'driver', id }, name, dealerId === null ? [] : [dealerId]);
  }

  async removeUser(id: UserId, ifMatch: number | null): Promise<void> {
    await this.#user(id, 'write');
    this.#requireNotSelf(id, 'deleted');
    const { registry, config } = this.#sources;
    await registry.users.delete(id, ifMatch, config.erasure.graceMs);
  }

  /** What the account, and a dealer as a whole, may use and does use. */
  async quotasOf(id: UserId): Promise<QuotaUse[]> {
    return this.#sources.registry.quotas.ofUser(await this.#user(id, 'read'));
  }

  async setQuotas(id: UserId, patch: QuotaPatch): Promise<QuotaUse[]> {
    const user = await this.#user(id, 'write');
    await setQuotas(this.#sources.registry, this.#caller, user, patch);
    return this.#sources.registry.quotas.ofUser(user);
  }

  /** Where the account is logged in. */
  async sessionsOf(id: UserId): Promise<Session[]> {
    await this.#user(id, 'read');
    this.#requireSessions(id);
    return this.#sources.registry.sessions.listOf(id);
  }

  async endSession(userId: UserId, sessionId: SessionId): Promise<void> {
    await this.#user(userId, 'read');
    this.#requireSessions(userId);
    const session = await this.#sources.registry.sessions.get(sessionId);
    if (session?.userId !== userId) throw notFound();
    await this.#sources.registry.sessions.end(sessionId);
    this.#sources.tokens.revokeSession(sessionId);
  }

  /** @param except the session of the call, which stays */
  async endSessions(userId: UserId, except: SessionId): Promise<void> {
    const { registry, tokens } = this.#sources;
    for (const { id } of await this.sessionsOf(userId)) {
      if (id === except) continue;
      await registry.sessions.end(id).catch((error) => {
        // It has ended meanwhile.
        if (!(error instanceof NotFoundError)) throw error;
      });
      tokens.revokeSession(id);
    }
  }

  /** Sessions of all accounts, the last used first, each with the login of its account. */
  async allSessions(
    limit: number,
    after: Pick<Session, 'id' | 'lastUsedAtMs'> | null,
  ): Promise<{ session: Session; login: string }[]> {
    requirePerson(this.#caller);
    this.#requireOperator('The sessions of all accounts are for operators.');
    const sessions = await this.#sources.registry.sessions.list(limit, after);
    const { users } = this.#sources.directory;
    return sessions.map((session) => ({ session, login: users.get(session.userId)?.login ?? '' }));
  }

  /** @throws {Problem} unless the caller is an operator: what concerns the service itself is theirs alone */
  requireOperator(): void {
    this.#requireOperator('This is for operators.');
  }

  // The audit trail

  /** The newest first. */
  async audit(filter: AuditFilter, paging: Paging): Promise<Page<AuditShown>> {
    const visible = visibleAudit(this.#caller);
    if (visible === null) throw new Problem('forbidden', 'The audit trail is for operators and dealers.');
    const page = await this.#sources.registry.audit.list({ ...filter, ...visible }, paging);
    return { ...page, items: page.items.map((entry) => this.#auditShown(entry)) };
  }

  #auditShown(entry: AuditEntry): AuditShown {
    const { user } = entry;
    const isOwn = user === null || user.id === this.#caller.id || user.dealerId === this.#caller.id;
    const shown: AuditShown = { ...entry, user: user && { id: user.id, login: user.login, role: user.role } };
    if (isOperator(this.#caller)) return shown;
    return {
      ...shown,
      ...(isOwn
        ? {}
        : { user: { id: null, login: null, role: user.role }, sessionId: null, apiKeyId: null, address: null }),
      before: this.#fieldsShown(entry.before),
      after: this.#fieldsShown(entry.after),
    };
  }

  /** Without what it names that the caller may not see now. */
  #fieldsShown(fields: AuditedFields | null): AuditedFields | null {
    if (fields === null) return null;
    const { directory } = this.#sources;
    const shown = { ...fields };
    const show = (name: string, isSeen: (id: never) => boolean) => {
      const named = fields[name];
      if (Array.isArray(named)) shown[name] = named.filter((id) => isSeen(id as never));
    };
    for (const name of ['groupIds', 'sharedGroupIds', 'driverGroupIds'])
      show(name, (id: GroupId) => this.#seesGroup(id));
    show('vehicleIds', (id: VehicleId) => {
      const vehicle = directory.vehicles.get(id);
      return vehicle !== undefined && rightToVehicle(this.#caller, vehicle) !== 'none';
    });
    for (const name of ['geofenceIds', 'insideGeofenceIds', 'outsideGeofenceIds'])
      show(name, (id: GeofenceId) => {
        const geofence = directory.geofences.get(id);
        return geofence !== undefined && this.#rightToGeofence(geofence) !== 'none';
      });
    show('driverIds', (id: DriverId) => {
      const driver = directory.drivers.get(id);
      return driver !== undefined && rightToDriver(this.#caller, driver) !== 'none';
    });
    if (fields.dealerId !== undefined && fields.dealerId !== this.#caller.id) shown.dealerId = null;
    return shown;
  }

  // Geofences

  async geofence(id: GeofenceId): Promise<Geofence> {
    return this.#shown(await this.#geofence(id, 'read'));
  }

  /** @param ownOnly the caller's own, in place of all that the caller may see */
  async geofences(paging: Paging, ownOnly = false): Promise<Page<Geofence>> {
    const filter = ownOnly ? { ownerId: this.#caller.id } : visibleGeofences(this.#caller);
    const page = await this.#sources.registry.geofences.list(filter, paging);
    return this.#page(page, (geofence) => this.#rightToGeofence(geofence));
  }

  /** Geofences that the caller may see, searched and sorted. */
  findGeofences(search: Search<'name' | 'externalId'>, custom: CustomFilter = {}): SearchPage<Geofence> {
    const isWanted = customMatcher(custom);
    const visible = [...this.#sources.directory.geofences.values()].filter(
      (geofence) => this.#rightToGeofence(geofence) !== 'none' && isWanted?.(geofence) !== false,
    );
    return this.#found(searched(visible, ['name', 'externalId'], search));
  }

  async addGeofence(fields: Omit<GeofenceFields, 'ownerId'>): Promise<Geofence> {
    requireRight(this.#caller, 'edit-geofences');
    if (fields.groupIds) await this.#requireGroups(fields.groupIds, '/properties/groupIds');
    await this.#requireGroups(fields.sharedGroupIds, '/properties/sharedGroupIds');
    return this.#shown(await this.#sources.registry.geofences.create({ ...fields, ownerId: this.#caller.id }));
  }

  /** @param change gives the new fields from the present ones */
  async changeGeofence(
    id: GeofenceId,
    ifMatch: number | null,
    change: (current: Geofence) => Promise<Omit<GeofenceFields, 'ownerId'>>,
  ): Promise<Geofence> {
    const current = await this.#geofence(id, 'write');
    const fields = await change(this.#shown(current));
    const named = await this.#groupsFrom(current.groupIds ?? [], fields.groupIds, '/properties/groupIds');
    const shares = await this.#groupsFrom(current.sharedGroupIds, fields.sharedGroupIds, '/properties/sharedGroupIds');
    // What was merged came from this version: another one in between must not be lost.
    const version = ifMatch ?? current.version;
    return this.#shown(
      await this.#sources.registry.geofences.update(id, version, {
        ...fields,
        ...named,
        ...(shares.groupIds && { sharedGroupIds: shares.groupIds }),
      }),
    );
  }

  async removeGeofence(id: GeofenceId, ifMatch: number | null): Promise<void> {
    await this.#geofence(id, 'write');
    await this.#sources.registry.geofences.delete(id, ifMatch);
  }

  // Recalculation

  async recalculateGeofence(id: GeofenceId, range: TimeRange): Promise<Job> {
    return this.jobs.recalculateGeofence(await this.#geofence(id, 'write'), range);
  }

  async recalculateVehicle(key: VehicleKey, range: TimeRange): Promise<Job> {
    return this.jobs.recalculateVehicle(await this.#vehicle(key, 'write'), range);
  }

  // The checks

  async #vehicle(key: VehicleKey, needed: Right): Promise<Vehicle> {
    const { directory, registry } = this.#sources;
    const vehicle =
      'id' in key
        ? (directory.vehicles.get(key.id) ?? (await registry.vehicles.get(key.id)))
        : directory.vehicleOfTerminal(key.terminalId);
    const right = vehicle ? rightToVehicle(this.#caller, vehicle) : 'none';
    if (right === 'read' && needed === 'write') requireRight(this.#caller, 'edit-vehicles');
    return permitted(vehicle, right, needed);
  }

  async #group(id: GroupId, needed: Right): Promise<VehicleGroup> {
    const { directory, registry } = this.#sources;
    const group = directory.groups.get(id) ?? (await registry.groups.get(id));
    return permitted(group, group ? rightToGroup(this.#caller, group) : 'none', needed);
  }

  async #user(id: UserId, needed: Right): Promise<User> {
    const { directory, registry } = this.#sources;
    const user = directory.users.get(id) ?? (await registry.users.get(id));
    return permitted(user, user ? rightToUser(this.#caller, user) : 'none', needed);
  }

  async #geofence(id: GeofenceId, needed: Right): Promise<Geofence> {
    const { directory, registry } = this.#sources;
    const geofence = directory.geofences.get(id) ?? (await registry.geofences.get(id));
    const right = geofence ? this.#rightToGeofence(geofence) : 'none';
    if (right === 'read' && needed === 'write') requireRight(this.#caller, 'edit-geofences');
    return permitted(geofence, right, needed);
  }

  #rightToGeofence(geofence: Geofence): Right {
    return rightToGeofence(this.#caller, geofence, this.#sources.directory.ownerOf(geofence));
  }

  #requireManager(): void {
    if (!mayManage(this.#caller)) throw new Problem('forbidden', 'Only operators and dealers may do that.');
  }

  #requireOperator(detail: string): void {
    if (!isOperator(this.#caller)) throw new Problem('forbidden', detail);
  }

  #requireSessions(of: UserId): void {
    requirePerson(this.#caller);
    if (!maySeeSessions(this.#caller, of))
      throw new Problem('forbidden', 'Sessions are for their user and for operators.');
  }

  #requireNotSelf(id: UserId, what: string): void {
    if (id === this.#caller.id) throw new Problem('conflict', `Nobody can be ${what} by themselves.`);
  }

  /** The dealer of something new: an operator says which, a dealer is it. */
  #dealerFor(wanted: UserId | null | undefined): UserId | null {
    if (isOperator(this.#caller)) return wanted ?? null;
    const own = dealerOf(this.#caller);
    if (wanted !== undefined && wanted !== own)
      throw new Problem('forbidden', 'Only operators say which dealer something belongs to.');
    return own;
  }

  #requireSameDealer(current: UserId | null, wanted: UserId | null | undefined): void {
    if (wanted !== undefined && (wanted !== current || !mayManage(this.#caller)))
      this.#requireOperator('Only operators say which dealer something belongs to.');
  }

  /**
   * What becomes of the groups that something names: those asked for, all of which the caller must see, and those
   * that the caller does not see and so can't mean to take away. Nothing where no groups were asked for.
   */
  async #groupsFrom(
    current: readonly GroupId[],
    wanted: readonly GroupId[] | null | undefined,
    pointer: string,
  ): Promise<{ groupIds?: readonly GroupId[] }> {
    if (!wanted) return {};
    await this.#requireGroups(wanted, pointer);
    return { groupIds: [...wanted, ...current.filter((id) => !this.#seesGroup(id))] };
  }

  async #requireGroups(groupIds: readonly GroupId[], pointer: string): Promise<void> {
    for (const [nth, id] of groupIds.entries()) await this.#requireGroup(id, `${pointer}/${nth}`);
  }

  async #requireGroup(id: GroupId, pointer: string): Promise<void> {
    try {
      await this.#group(id, 'read');
    } catch (error) {
      if (error instanceof Problem && error.kind === 'not-found') throw badField(pointer, 'There is no such group.');
      throw error;
    }
  }

  #seesGroup(id: GroupId): boolean {
    if (isOperator(this.#caller)) return true;
    const group = this.#sources.directory.groups.get(id);
    return group !== undefined && rightToGroup(this.#caller, group) !== 'none';
  }

  /** A definition as the caller may see it: without the groups that the caller may not. */
  #shown<T extends { groupIds: readonly GroupId[] | null; sharedGroupIds?: readonly GroupId[] }>(thing: T): T {
    if (isOperator(this.#caller)) return thing;
    const { groupIds, sharedGroupIds } = thing;
    return {
      ...thing,
      ...(groupIds && { groupIds: groupIds.filter((id) => this.#seesGroup(id)) }),
      ...(sharedGroupIds && { sharedGroupIds: sharedGroupIds.filter((id) => this.#seesGroup(id)) }),
    };
  }

  #found<T extends { groupIds: readonly GroupId[] | null }>(page: SearchPage<T>): SearchPage<T> {
    return { ...page, items: page.items.map((item) => this.#shown(item)) };
  }

  /** The queries ask for what may be seen, and nothing else; should one ever ask for more, it is still not shown. */
  #page<T extends { groupIds: readonly GroupId[] | null }>(page: Page<T>, right: (item: T) => Right): Page<T> {
    const items = page.items.filter((item) => right(item) !== 'none').map((item) => this.#shown(item));
    return { ...page, items };
  }
}

function isSameSet(one: readonly string[], other: readonly string[]): boolean {
  return new Set(one).symmetricDifference(new Set(other)).size === 0;
}

function permitted<T>(thing: T | null | undefined, right: Right, needed: Right): T {
  if (!thing || right === 'none') throw notFound();
  if (needed === 'write' && right !== 'write')
    throw new Problem('forbidden', 'This account may see it, and may not change it.');
  return thing;
}

/** Was it refused by what its vehicle demands? */
function isAccessRefused({ contact }: UnknownTerminal): boolean {
  return ACCESS_REFUSALS.some((reason) => reason === contact?.reason);
}
