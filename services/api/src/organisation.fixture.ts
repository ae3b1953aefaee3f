import { randomUUID } from 'node:crypto';
import {
  ACCOUNT_RIGHTS,
  type AccountRight,
  type ApiKeyScope,
  blankPosition,
  type CommandId,
  type CommandOrder,
  type Driver,
  type DriverId,
  deriveEventId,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  type GroupId,
  geofenceOf,
  type Incident,
  type MaintenancePlan,
  type Notification,
  type NotificationRule,
  type NotificationRuleId,
  type Role,
  type ServiceFileId,
  type ServiceRecordId,
  type SessionId,
  type ShareLinkId,
  type TelemetryPacket,
  type TerminalId,
  type User,
  type UserId,
  type Vehicle,
  type VehicleCommand,
  type VehicleGroup,
  type VehicleId,
  type VideoProfile,
  type VideoProfileId,
  type VideoTask,
  type VideoTaskId,
} from '@outrider/domain';
import { sampleGeofenceFields, sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import { correctionsTopic, eventsTopic, telemetryTopic } from '@outrider/log';
import type { Delivery } from '@outrider/registry';
import { EMPTY_ARCHIVE } from '@outrider/reports/empty-archive';
import type { ArchiveGap } from '@outrider/warehouse';
import fc from 'fast-check';
import { ONE_DEAD_LETTER, PASSWORD, World } from './api.fixture.ts';
import { type Everything, type KeptKind, type KeyCaller, mayKnow, sightOf, withKey } from './rights-model.fixture.ts';

/** What a random organisation is made from; numbers stand for one of however many there are. */
export interface Blueprint {
  dealers: { blocked: boolean; apiAccess: boolean }[];
  users: {
    dealer: number;
    blocked: boolean;
    apiAccess: boolean;
    hasVideo: boolean;
    hasCommands: boolean;
    rights: AccountRight[];
  }[];
  groups: { dealer: number }[];
  vehicles: {
    dealer: number;
    hasTerminal: boolean;
    hasVideo: boolean;
    isSuspended: boolean;
    groups: number[];
    /** The dealer that gets it afterwards, without its history. */
    movesTo: number | null;
  }[];
  /**
   * `byViewer`: by one who may see the video of the vehicle and no more, where there is any; else by anybody at all.
   */
  tasks: { profile: number; creator: number; byViewer: boolean; done: boolean }[];
  geofences: { owner: number; groups: number[] | null; isShared: boolean; sharedWith: number[] }[];
  rules: { owner: number; names: number }[];
  /**
   * Notifications; `rightly`: of an event that the rule's owner may see, if one exists. Rights may have changed since.
   */
  notified: { rule: number; event: number; rightly: boolean }[];
  /** Access given to anyone, across dealers as well. */
  access: { person: number; group: number }[];
}

const nth = fc.nat({ max: 1000 });
const rarely = fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) });
const mostly = rarely.map((is) => !is);
const some = fc.array(nth, { maxLength: 3 });

const anything: fc.Arbitrary<Blueprint> = fc.record({
  dealers: fc.array(fc.record({ blocked: rarely, apiAccess: mostly }), { minLength: 1, maxLength: 3 }),
  users: fc.array(
    fc.record({
      dealer: nth,
      blocked: rarely,
      apiAccess: mostly,
      hasVideo: fc.boolean(),
      hasCommands: fc.boolean(),
      rights: fc.subarray([...ACCOUNT_RIGHTS]),
    }),
    { minLength: 2, maxLength: 4 },
  ),
  groups: fc.array(fc.record({ dealer: nth }), { minLength: 1, maxLength: 4 }),
  vehicles: fc.array(
    fc.record({
      dealer: nth,
      hasTerminal: mostly,
      hasVideo: mostly,
      isSuspended: rarely,
      groups: some,
      movesTo: fc.option(nth, { freq: 1 }),
    }),
    {
      minLength: 2,
      maxLength: 6,
    },
  ),
  geofences: fc.array(
    fc.record({
      owner: nth,
      groups: fc.option(some),
      isShared: fc.boolean(),
      sharedWith: fc.oneof(fc.constant<number[]>([]), some),
    }),
    { minLength: 3, maxLength: 6 },
  ),
  rules: fc.array(fc.record({ owner: nth, names: nth }), { minLength: 3, maxLength: 5 }),
  notified: fc.array(fc.record({ rule: nth, event: nth, rightly: fc.boolean() }), { minLength: 3, maxLength: 6 }),
  tasks: fc.array(fc.record({ profile: nth, creator: nth, byViewer: fc.boolean(), done: fc.boolean() }), {
    minLength: 1,
    maxLength: 4,
  }),
  access: fc.array(fc.record({ person: nth, group: nth }), { maxLength: 8 }),
});

/**
 * Makes what would be met by chance alone, and so not in each few organisations: a vehicle with terminal and camera
 * that one user may change and another one sees, with a task that neither of them made.
 */
export const blueprint = anything.map((plan): Blueprint => {
  const [dealer, ...dealers] = plan.dealers;
  const [first, second, ...users] = plan.users;
  const [vehicle, ...vehicles] = plan.vehicles;
  const [task, ...tasks] = plan.tasks;
  if (!dealer || !first || !second || !vehicle || !task) return plan;
  const viewer = { blocked: false, apiAccess: true, hasVideo: true };
  const rights = (of: { rights: AccountRight[] }) => of.rights.filter((right) => right !== 'edit-vehicles');
  // People begin with two operators and the dealers, and dealers with none.
  const person = 2 + plan.dealers.length;
  return {
    ...plan,
    dealers: [{ ...dealer, blocked: false }, ...dealers],
    users: [
      { ...first, ...viewer, dealer: 1, rights: [...rights(first), 'edit-vehicles'] },
      { ...second, ...viewer, dealer: 0, rights: rights(second) },
      ...users,
    ],
    vehicles: [
      {
        ...vehicle,
        hasTerminal: true,
        hasVideo: true,
        isSuspended: false,
        groups: [0, ...vehicle.groups],
        movesTo: null,
      },
      ...vehicles,
    ],
    tasks: [{ ...task, profile: 0, creator: 0, byViewer: false }, ...tasks],
    access: [{ person, group: 0 }, { person: person + 1, group: 0 }, ...plan.access],
  };
});

/** A rule that leaves open whatever it can. */
export const WATCHFUL = {
  active: true,
  eventKinds: ['geofence-visit', 'speeding'],
  phases: ['begin'],
  minDurationMinutes: 0,
  insideGeofenceIds: null,
  outsideGeofenceIds: null,
  driver: null,
  driverIds: null,
  driverGroupIds: null,
  licenceWarningDays: 30,
  days: { on: 'daily' },
  hours: null,
  timeZone: 'Etc/UTC',
  minIntervalMinutes: 0,
  maxDataAgeMinutes: null,
  alarms: null,
  sensors: null,
  command: null,
  emails: [],
  channelIds: [],
  messageTemplate: null,
  messageTemplates: {},
  language: null,
  push: false,
  webhookUrl: null,
  severity: 'info',
  shared: false,
  escalateAfterMinutes: null,
  escalateTo: [],
} satisfies Partial<NotificationRule>;

/** By the dealer, who so may do with the profile what it may with others. */
export const SUSPENSION = { reason: 'An invoice is unpaid.', by: 'dealer' } as const;

/** When terminals sent what is in the log. */
const PACKET_MS = Date.UTC(2026, 0, 15, 11);
const RANGE = { fromMs: 0, toMs: 1, receivedAtMs: null };
const SESSION_TTL_MS = 30 * 86_400_000;
const UNLIMITED = { failedLoginsPerMinute: 1e9, authorizedPerMinute: 1e9, unauthorizedPerMinute: 1e9, blockSeconds: 1 };

/** What the archive lacks: it is the operator's to know. */
const LOST_PART: ArchiveGap = {
  ...{ id: 'positions/202601_1_1', table: 'positions', reason: 'gone', path: null, rows: 12, vehicles: 1 },
  ...{ fromMs: 0, toMs: 1000, offsets: null, log: null, hasCorrections: false, noticedAtMs: 0, restored: 'not' },
  isAccepted: false,
};

/** A blueprint come true: people with open sessions, and everything with a mark by which it is known again. */
export class Organisation implements Everything {
  readonly users = new Map<UserId, User>();
  readonly vehicles = new Map<VehicleId, Vehicle>();
  readonly drivers = new Map<DriverId, Driver>();
  readonly groups = new Map<GroupId, VehicleGroup>();
  readonly geofences = new Map<GeofenceId, Geofence>();
  readonly rules = new Map<NotificationRuleId, NotificationRule>();
  readonly plans = new Map<string, { id: string; vehicleId: VehicleId; name: string }>();
  readonly kept = new Map<string, { id: string; vehicleId: VehicleId; kind: KeptKind; recordId: string | null }>();
  readonly shares = new Map<string, { id: string; ownerId: UserId; name: string | null }>();
  readonly schedules = new Map<string, { id: string; ownerId: UserId; name: string; emails: readonly string[] }>();
  readonly profiles = new Map<VideoProfileId, VideoProfile>();
  readonly tasks = new Map<VideoTaskId, VideoTask>();
  readonly commands = new Map<CommandId, VehicleCommand>();
  readonly sessions = new Map<SessionId, UserId>();
  readonly apiKeys = new Map<string, { id: string; userId: UserId; name: string }>();
  /** Some of the accounts once more, each as it calls with an API key. */
  readonly keyCallers: KeyCaller[] = [];
  readonly notifications = new Map<string, Notification>();
  readonly incidents = new Map<string, Incident>();
  readonly namedBy = new Map<string, Set<UserId>>();
  readonly deliveries = new Map<string, Delivery>();
  readonly jobs = new Map<string, UserId | null>();
  /** Those of them that are over. */
  readonly cancelledJobs = new Set<string>();
  /** Of the jobs those that export a person. */
  readonly exports = new Set<string>();
  /** Jobs that make reports: the vehicle that a file is about; null where the file is not made. */
  readonly reports = new Map<string, VehicleId | null>();
  /** All that ever happened: each vehicle visited something, and was too fast. */
  readonly events: FleetEvent[] = [];
  /** Of the session that each account calls with. */
  readonly jwts = new Map<UserId, string>();
  /**
   * Marked words that no definition holds, by the id of what they belong to; `operator`: for operators alone, `nobody`:
   * for nobody.
   */
  readonly secrets = new Map<string, string[]>();
  readonly world: World;
  readonly #successors = new Map<string, string>();
  #marks = 0;

  private constructor(world: World) {
    this.world = world;
  }

  static async build(plan: Blueprint): Promise<Organisation> {
    let secretOf: (id: string) => string = () => '';
    let events: readonly FleetEvent[] = [];
    let vehicles: ReadonlyMap<VehicleId, Vehicle> = new Map();
    const packetOf = (vehicleId: VehicleId): TelemetryPacket => {
      const positions = [positionAt(PACKET_MS, secretOf(vehicleId))];
      return { vehicleId, terminalId: '' as TerminalId, protocol: 'osmand', receivedAtMs: PACKET_MS, positions };
    };
    // It has every event, each once more as one that never was, and a packet of every vehicle.
    const log = logOf({
      [eventsTopic.name]: () => events,
      [correctionsTopic.name]: () => events.map((event) => ({ event, removed: true })),
      [telemetryTopic.name]: () => [...vehicles.keys()].map(packetOf),
    });
    const contentOf = (fileId: string) => Buffer.from(secretOf(fileId.replace('.mp4', '')));
    const world = await World.open(
      { limits: UNLIMITED },
      {
        log,
        archiveGaps: { gaps: async () => [LOST_PART], updateGap: async () => {} },
        trackReport: {
          track: async ({ vehicleId, fromMs }) => ({
            positions: [positionAt(fromMs, secretOf(vehicleId))],
            next: null,
          }),
          fixesBefore: async () => [],
        },
        // It has rows for every vehicle of the query, as the archive does.
        reportArchive: {
          ...EMPTY_ARCHIVE,
          positions: async ({ vehicleIds, fromMs }) => ({
            positions: vehicleIds.map((vehicleId) => ({
              ...positionAt(fromMs, secretOf(vehicleId)),
              vehicleId,
              receivedAtMs: fromMs,
              terminalId: '' as TerminalId,
              protocol: 'osmand' as const,
              rejection: null,
            })),
            next: null,
          }),
          vehiclesWithin: async ({ vehicleIds }) => [...vehicleIds],
          overlappingEvents: async ({ vehicleIds, kinds }) => ({
            events: events.filter(
              ({ vehicleId, kind }) => vehicleIds.includes(vehicleId) && (kinds === null || kinds.includes(kind)),
            ),
            next: null,
          }),
          openEvents: async ({ vehicleIds }) => events.filter(({ vehicleId }) => vehicleIds.includes(vehicleId)),
          tallies: async ({ vehicleIds, geofenceIds }) => ({
            tallies: vehicleIds.map((vehicleId) => ({
              vehicleId,
              kind: 'trip' as const,
              place: 0,
              // The count reveals how many geofences the query named.
              count: 1 + (geofenceIds?.length ?? 0),
              durationMs: 1000,
              distanceM: 1000,
              movingMs: 1000,
              idlingMs: 0,
              peakKmh: null,
              fuelUsedL: 10,
              fuelDistanceM: 1000,
              fuelEngineMs: 1000,
              volumeL: 0,
            })),
            crossing: [],
          }),
        },
        eventReport: {
          recentEvents: async ({ vehicleIds, kinds, geofenceIds = null }) =>
            events.filter(
              (event) =>
                (vehicleIds === null || vehicleIds.includes(event.vehicleId)) &&
                (kinds === undefined || kinds.includes(event.kind)) &&
                (geofenceIds === null || geofenceIds.includes(geofenceOf(event) as GeofenceId)),
            ),
          firstEventMs: async () => null,
        },
        videoFiles: {
          info: async (id) => ({ id, bytes: contentOf(id).length, storedAtMs: 0 }),
          async get(id, { start, end } = { start: 0, end: Number.POSITIVE_INFINITY }) {
            return ReadableStream.from([contentOf(id).subarray(start, end)]);
          },
          delete: async () => {},
        },
      },
    );
    const made = new Organisation(world);
    secretOf = (id) => made.secrets.get(id)?.[0] ?? '';
    events = made.events;
    vehicles = made.vehicles;
    await made.#furnish(plan);
    return made;
  }

  mark(): string {
    this.#marks += 1;
    return `zz${this.#marks}zz`;
  }

  async #addKept(kind: KeptKind, vehicleId: VehicleId, recordId: string | null = null): Promise<string> {
    const { registry, nowMs } = this.world;
    const createdBy = [...this.users.keys()][0] ?? ('00000000-0000-7000-8000-0000000000aa' as UserId);
    const common = { vehicleId, atMs: nowMs, note: null, createdBy };
    const { id } =
      kind === 'service-file'
        ? await this.#addServiceFile(recordId as ServiceRecordId, createdBy)
        : kind === 'counter'
          ? await this.#addCounter(vehicleId)
          : kind === 'correction'
            ? await registry.counters.correct({ ...common, counter: 'odometer', value: 5 })
            : await registry.serviceRecords.add({
                ...common,
                planId: null,
                title: 'Oil',
                odometerM: null,
                engineMs: null,
                cost: null,
              });
    this.kept.set(id, { id, vehicleId, kind, recordId });
    return id;
  }

  /** Puts another one in the place of what was deleted. */
  async restoreKept(id: string, recordId: string | null = this.kept.get(id)?.recordId ?? null): Promise<void> {
    const gone = this.kept.get(id);
    if (gone === undefined) return;
    this.kept.delete(id);
    const successor = await this.#addKept(gone.kind, gone.vehicleId, recordId);
    this.#successors.set(id, successor);
    for (const each of [...this.kept.values()]) if (each.recordId === id) await this.restoreKept(each.id, successor);
  }

  #addCounter(vehicleId: VehicleId): Promise<{ id: string }> {
    const fields = { name: `Counter ${this.mark()}`, unit: '', source: 'manual' as const, sensorId: null };
    return this.world.registry.customCounters.create(vehicleId, fields);
  }

  async #addServiceFile(recordId: ServiceRecordId, createdBy: UserId): Promise<{ id: string }> {
    const id = randomUUID() as string as ServiceFileId;
    const stored = await this.world.serviceFiles.put(id, ReadableStream.from([Buffer.from('%PDF-')]));
    const file = { id, name: 'invoice.pdf', mediaType: 'application/pdf', ...stored } as const;
    await this.world.registry.serviceRecords.addFile(recordId, file, createdBy);
    return { id };
  }

  /** A plan of maintenance for a vehicle. */
  async addPlan(vehicleId: VehicleId): Promise<MaintenancePlan> {
    const { registry } = this.world;
    const none = { distanceM: null, engineMs: null, days: null, counter: null };
    const plan = await registry.maintenance.createPlan({
      name: `Plan ${this.mark()}`,
      description: null,
      vehicleId,
      groupId: null,
      counterName: null,
      dealerId: (await registry.vehicles.get(vehicleId))?.dealerId ?? null,
      every: { ...none, days: 30 },
      warning: none,
    });
    this.plans.set(plan.id, { id: plan.id, vehicleId, name: plan.name });
    return plan;
  }

  async #furnish(plan: Blueprint): Promise<void> {
    const { registry, hub, nowMs } = this.world;
    const person = async (
      role: Role,
      dealerId: UserId | null,
      {
        blocked = false,
        apiAccess = true,
        hasVideo = false,
        hasCommands = false,
        rights = [],
      }: Partial<Blueprint['users'][number]> = {},
    ) =>
      (
        await registry.users.create(
          {
            login: this.mark(),
            name: `Person ${this.mark()}`,
            role,
            dealerId,
            blocked,
            apiAccess,
            services: [
              ...(hasVideo ? (['video', 'command-text', 'maintenance'] as const) : []),
              ...(hasCommands ? (['commands'] as const) : []),
            ],
            rights,
            groupIds: [],
          },
          PASSWORD,
        )
      ).id;
    const operators = [await person('operator', null), await person('operator', null)];
    const people = [...operators];
    const dealers: (UserId | null)[] = [null];
    for (const each of plan.dealers) dealers.push(await person('dealer', null, each));
    for (const id of dealers) if (id !== null) people.push(id);
    const users: UserId[] = [];
    for (const each of plan.users) users.push(await person('user', pick(dealers, each.dealer), each));
    people.push(...users);
    for (const each of plan.groups)
      await registry.groups.create({ name: `Group ${this.mark()}`, dealerId: pick(dealers, each.dealer) });
    const groups = (await registry.groups.list({}, { limit: 1000, after: null })).items.map(({ id }) => id);
    const furnishVehicle = async (id: VehicleId) => {
      const secret = this.mark();
      this.secrets.set(id, [secret]);
      await hub.updateLatest([sampleStatus(id, positionAt(nowMs, secret), nowMs)]);
      await this.addPlan(id);
      await this.#addKept('counter', id);
      await this.#addKept('correction', id);
      await this.#addKept('service-file', id, await this.#addKept('service', id));
    };
    for (const each of plan.vehicles) {
      const { id } = await registry.vehicles.create(
        sampleVehicleFields({
          name: `Vehicle ${this.mark()}`,
          plate: this.mark(),
          terminalId: each.hasTerminal ? (this.#terminalNumber() as TerminalId) : null,
          dealerId: pick(dealers, each.dealer),
          groupIds: [...new Set(each.groups.map((n) => pick(groups, n)))],
        }),
      );
      await registry.drivers.create({
        name: `Driver ${this.mark()}`,
        dealerId: pick(dealers, each.dealer),
        groupIds: [...new Set(each.groups.map((n) => pick(groups, n)))],
        codes: [this.mark()],
        phone: this.mark(),
        licenceNumber: null,
        licenceExpiresOn: null,
      });
      if (each.isSuspended) await registry.vehicles.suspend(id, SUSPENSION);
      if (each.hasVideo) await this.#addProfile(id);
      await furnishVehicle(id);
      if (each.movesTo === null) continue;
      const dealerId = pick(dealers, each.movesTo);
      const moved = await registry.moveVehicles({ ids: [id], dealerId, history: 'apart' });
      const nextId = moved.get(id)?.id ?? id;
      if (nextId === id) continue;
      await registry.vehicles.update(nextId, null, { name: `Vehicle ${this.mark()}`, plate: this.mark() });
      await furnishVehicle(nextId);
    }
    for (const [nth, each] of plan.geofences.entries()) {
      // One is a user's own: without it, it is rare that a dealer sees what it may not change.
      const isPrivate = nth === 0;
      await registry.geofences.create(
        sampleGeofenceFields({
          name: `Zone ${this.mark()}`,
          ownerId: pick(isPrivate ? users : people, each.owner),
          groupIds: each.groups && [...new Set(each.groups.map((n) => pick(groups, n)))],
          category: this.mark(),
          sharedWithOrganisation: !isPrivate && each.isShared,
          sharedGroupIds: isPrivate ? [] : [...new Set(each.sharedWith.map((n) => pick(groups, n)))],
        }),
      );
    }
    const vehicles = (await registry.vehicles.list({}, { limit: 1000, after: null })).items.map(({ id }) => id);
    const zones = (await registry.geofences.list({}, { limit: 1000, after: null })).items.map(({ id }) => id);
    for (const [nth, id] of vehicles.entries())
      this.events.push(eventOf(id, pick(zones, nth), nowMs), eventOf(id, null, nowMs));
    const rules: NotificationRule[] = [];
    await this.reload();
    const owners = dealers.filter((id) => id !== null);
    const watchers = [owners, operators, users].map((ids) => this.#knowing(ids));
    for (const [nth, each] of plan.rules.entries()) {
      const secret = this.mark();
      this.secrets.set('nobody', [...(this.secrets.get('nobody') ?? []), secret]);
      const rule = await registry.notificationRules.create(
        {
          ...WATCHFUL,
          // Of each role somebody has one and is notified by it (see below): few people may know of an event.
          ownerId: pick(watchers[nth] ?? people, each.owner),
          name: `Rule ${this.mark()}`,
          emails: [`${this.mark()}@example.org`],
          // Those of the first notifications open incidents.
          severity: nth < 3 ? 'warning' : 'info',
          shared: each.owner % 2 === 0,
          escalateTo: [`${this.mark()}@example.org`],
          webhookUrl: `https://hooks.example.org/${this.mark()}`,
          vehicleIds: each.names % 2 === 0 ? [pick(vehicles, each.names)] : null,
          groupIds: each.names % 3 === 0 ? [pick(groups, each.names)] : null,
          geofenceIds: each.names % 5 === 0 ? [pick(zones, each.names)] : null,
        },
        `whsec_${secret.padEnd(32, 'A')}`,
      );
      rules.push(rule);
    }
    for (const each of plan.access)
      await registry.groups.setUser(pick(groups, each.group), pick(people, each.person), true);
    const stranger = this.mark();
    const detail = this.mark();
    this.secrets.set('operator', [stranger, detail]);
    await hub.noteUnknownTerminal(stranger, 'teltonika', '203.0.113.5', nowMs);
    const contact = { transport: 'tcp', reason: 'bad-frame', detail, receivedBytes: 1, firstBytes: '2a' } as const;
    await hub.noteUnknownDevice({ protocol: 'teltonika', address: '203.0.113.5', contact, guesses: [] }, nowMs);
    await this.reload();
    const profiles = [...this.profiles.values()];
    for (const { profile, creator, byViewer, done } of profiles.length > 0 ? plan.tasks : []) {
      const viewers = byViewer ? this.#viewers(pick(profiles, profile)) : [];
      await this.#addTask(pick(profiles, profile), pick(viewers.length > 0 ? viewers : people, creator), done);
    }
    await registry.notifications.record({
      consumer: 'test',
      partition: 0,
      next: plan.notified.length,
      drafts: plan.notified.map(({ rule: nth, event, rightly }, offset) => {
        const rule = pick(rules, offset < 3 ? offset : nth);
        return {
          offset,
          rule,
          event: pick(rightly || offset < 3 ? this.#known(rule) : this.events, event),
          vehicleName: 'As it was called then',
          geofenceName: null,
        };
      }),
    });
    for (const [nth, userId] of people.entries()) {
      const subjectId = pick(vehicles, nth);
      const { id } = await registry.jobs.create(
        { kind: 'recalculate-vehicle', userId, subjectId, parameters: RANGE, dueAtMs: 0 },
        {
          action: 'recalculated',
          subject: { kind: 'vehicle', id: subjectId, name: 'As it was called then' },
          after: null,
          dealerIds: [],
          ownerIds: [],
        },
      );
      this.jobs.set(id, userId);
    }
    for (const [nth, ownerId] of people.entries()) await this.#addSchedule(ownerId, pick(vehicles, nth));
    for (const [nth, ownerId] of people.entries())
      await this.#addShare(ownerId, `Share ${this.mark()}`, pick(vehicles, nth));
    for (const [nth, vehicleId] of vehicles.entries()) await this.#addCommands(vehicleId, pick(people, nth));
    for (const [nth, userId] of people.entries()) await this.#addReport(userId, pick(vehicles, nth));
    await registry.jobs.add(
      { kind: 'late-data', subjectId: pick(vehicles, 0), parameters: RANGE, dueAtMs: 0 },
      (waiting) => waiting,
    );
    for (const { id } of (await registry.jobs.list({ kind: 'late-data' }, { limit: 10, after: null })).items)
      this.jobs.set(id, null);
    await this.reload();
    for (const id of people) await this.renewSessions(id);
    const everything = ['read', 'write', 'commands', 'video'] as const;
    // One of each role: a caller more is as many pairs more.
    for (const [nth, role] of (['operator', 'dealer', 'user'] as const).entries()) {
      const of = people.filter((id) => this.users.get(id)?.role === role);
      const limit = [pick(groups, plan.access.length + nth), pick(groups, plan.rules.length + nth)];
      await this.#addKey(pick(of, plan.tasks.length), everything, [...new Set(limit)]);
    }
    await this.#addKey(pick(people, plan.notified.length), everything, null);
    await this.#addKey(pick(people, plan.rules.length), ['read'], null);
  }

  async #addKey(userId: UserId, scopes: readonly ApiKeyScope[], groupIds: readonly GroupId[] | null): Promise<void> {
    const name = `Key ${this.mark()}`;
    const fields = { name, scopes, groupIds, expiresAtMs: null };
    const { key, text } = await this.world.registry.apiKeys.create(userId, fields);
    this.apiKeys.set(key.id, { id: key.id, userId, name });
    const account = this.users.get(userId);
    if (account !== undefined) this.keyCallers.push(withKey(account, { text, scopes, groupIds }));
  }

  /** Events that the owner of a rule may see; all events if that is an empty list. */
  #known({ ownerId }: NotificationRule): readonly FleetEvent[] {
    const known = this.#knownTo(ownerId);
    return known.length === 0 ? this.events : known;
  }

  #knownTo(id: UserId): FleetEvent[] {
    const user = this.users.get(id);
    return user === undefined ? [] : this.events.filter((event) => mayKnow(this, user, event));
  }

  /** Those who may log in and know of an event; all where nobody does. */
  #knowing(ids: readonly UserId[]): readonly UserId[] {
    const knowing = ids.filter((id) => this.users.get(id)?.blocked === false && this.#knownTo(id).length > 0);
    return knowing.length === 0 ? ids : knowing;
  }

  /** Of one vehicle, which its owner may see or not. */
  async #addSchedule(ownerId: UserId, vehicleId: VehicleId): Promise<void> {
    await this.world.registry.reportSchedules.create({
      ownerId,
      name: `Schedule ${this.mark()}`,
      active: true,
      frequency: 'daily',
      hour: 6,
      covers: 'yesterday',
      timeZone: 'UTC',
      emails: [`${this.mark()}@example.org`],
      report: {
        report: 'track',
        format: 'csv',
        vehicleId,
        groupId: null,
        period: 'whole',
        eventKinds: null,
        geofenceId: null,
        maxPoints: null,
      },
    });
  }

  /** Of one vehicle, which its maker may see or not. */
  async #addShare(ownerId: UserId, name: string | null, vehicleId: VehicleId): Promise<string> {
    const expiresAtMs = this.world.nowMs + 86_400_000;
    const fields = { ownerId, name, vehicleIds: [vehicleId], track: null, expiresAtMs };
    const { link } = await this.world.registry.shareLinks.create(fields);
    this.shares.set(link.id, { id: link.id, ownerId, name });
    return link.id;
  }

  /** Makes the links of an account again that were revoked. */
  async restoreShares(ownerId: UserId): Promise<void> {
    const [vehicleId] = this.vehicles.keys();
    for (const [id, share] of [...this.shares]) {
      if (share.ownerId !== ownerId || (await this.world.registry.shareLinks.get(id as ShareLinkId))) continue;
      this.shares.delete(id);
      this.#successors.set(id, await this.#addShare(ownerId, share.name, vehicleId as VehicleId));
    }
  }

  /** One of each kind of right. They are cancelled. */
  async #addCommands(vehicleId: VehicleId, createdBy: UserId): Promise<void> {
    const { registry, nowMs } = this.world;
    const secret = this.mark();
    const orders: CommandOrder[] = [
      { type: 'position-request', parameters: {} },
      { type: 'text', parameters: { text: secret } },
    ];
    for (const order of orders) {
      const wish = { vehicleId, order, maxSpeedKmh: null, createdBy, expiresAtMs: nowMs + 60_000 };
      const { command } = await registry.vehicleCommands.create(wish, 1e9);
      const { command: cancelled } = await registry.vehicleCommands.cancel(command.id);
      this.commands.set(command.id, cancelled);
    }
  }

  /** A report that is done; rights may have been others then. */
  async #addReport(userId: UserId, vehicleId: VehicleId): Promise<void> {
    const { registry, reportFiles } = this.world;
    const parameters = {
      report: 'track',
      format: 'csv',
      vehicleId,
      groupId: null,
      fromMs: 0,
      toMs: 1,
      timeZone: 'UTC',
      period: 'whole',
      eventKinds: null,
      geofenceId: null,
      maxPoints: null,
      shape: null,
    };
    const job = await registry.jobs.create(
      { kind: 'report', userId, subjectId: vehicleId, parameters, dueAtMs: 0 },
      {
        action: 'report-requested',
        subject: { kind: 'user', id: userId, name: 'As it was called then' },
        after: null,
        dealerIds: [],
        ownerIds: [],
      },
    );
    const leased = await registry.jobs.lease({ kinds: ['report'], leaseMs: 1000, atOnce: 1 });
    if (leased?.job.id !== job.id) throw new Error('another report was left behind');
    const id = `report-${job.id}.csv`;
    const content = Buffer.from(this.secrets.get(vehicleId)?.[0] ?? '');
    const file = await reportFiles.put(id, ReadableStream.from([content]));
    const named = { name: 'track.csv', mediaType: 'text/csv' };
    await registry.reportFiles.finish(
      leased,
      { rows: 1, bytes: file.bytes, ...named },
      { id, ...file, ...named, vehicleIds: [vehicleId], geofenceIds: [] },
    );
    this.jobs.set(job.id, userId);
    this.cancelledJobs.add(job.id);
    this.reports.set(job.id, vehicleId);
  }

  /** Who may see the video of a vehicle, and does not keep it. */
  #viewers({ id }: VideoProfile): UserId[] {
    const viewers = [...this.users.values()].filter((user) => sightOf(this, user, 'profile', id) === 'seen');
    return viewers.map((user) => user.id);
  }

  async #addProfile(vehicleId: VehicleId): Promise<void> {
    await this.world.registry.videoProfiles.create({
      vehicleId,
      name: `Camera ${this.mark()}`,
      protocol: 'jt1078',
      address: this.#phone(),
      channels: [{ number: 1, name: this.mark(), direction: 'front' }],
      quality: 'main',
      audio: true,
      maxFragmentSeconds: 900,
      maxParallelDownloads: 1,
      timeZone: 'Etc/UTC',
    });
  }

  /** A mark of digits, as the headers of terminals can have it. */
  #terminalNumber(): string {
    this.#marks += 1;
    return `86412${String(this.#marks).padStart(7, '0')}`;
  }

  /** One that nobody else has. */
  #phone(): string {
    this.#marks += 1;
    return String(13_800_000_000 + this.#marks);
  }

  /** A task that is finished: with its file, or cancelled. */
  async #addTask(profile: VideoProfile, createdBy: UserId, isDone: boolean): Promise<void> {
    const { registry, nowMs } = this.world;
    const { videoTasks, videoQueue } = registry;
    const task = await videoTasks.create({
      profileId: profile.id,
      createdBy,
      channel: 1,
      startMs: nowMs - 120_000,
      endMs: nowMs - 60_000,
      quality: 'main',
      audio: true,
      expiresAtMs: nowMs + 60_000,
    });
    if (!isDone) {
      await videoTasks.cancel(task.id);
      return;
    }
    const content = this.mark();
    this.secrets.set(task.id, [content]);
    for (const leased of await videoQueue.lease(1, 1000)) {
      for (const state of ['requested', 'downloading', 'processing'] as const) await videoQueue.step(leased, { state });
      const facts = { durationMs: 1, videoCodec: 'h264', audioCodec: null, frames: 1, packetsLost: 0 };
      const file = { ...facts, bytes: content.length, sha256: 'ab'.repeat(32) };
      await videoQueue.step(leased, { state: 'done', file });
    }
  }

  /** Takes what the registry holds as what there is. */
  async reload(): Promise<void> {
    const maps: Record<string, Map<string, unknown> | undefined> = {
      user: this.users,
      vehicle: this.vehicles,
      group: this.groups,
      geofence: this.geofences,
      'notification-rule': this.rules,
      'video-profile': this.profiles,
      driver: this.drivers,
    };
    for (const map of Object.values(maps)) map?.clear();
    for (const { definition } of await this.world.registry.snapshot())
      if (definition) maps[definition.kind]?.set(definition.id, definition);
    for (const [id, { userId }] of this.apiKeys) if (!this.users.has(userId)) this.apiKeys.delete(id);
    for (const [session, userId] of this.sessions) if (!this.users.has(userId)) this.sessions.delete(session);
    const { inboxes, incidents, deliveries } = this.world.registry;
    this.notifications.clear();
    this.incidents.clear();
    this.deliveries.clear();
    for (const userId of this.users.keys()) {
      for (const each of await inboxes.after(userId, 0, 1000)) this.notifications.set(each.id, each);
      const opened = await incidents.list({ userId, organisationId: userId }, {}, { limit: 1000, after: null });
      for (const each of opened.items) this.incidents.set(each.id, each);
      const { items } = await deliveries.list(userId, {}, { limit: 1000, after: null });
      for (const each of items) this.deliveries.set(each.id, each);
    }
    for (const { id, ownerId, assigneeId } of this.incidents.values()) {
      const named = [ownerId, assigneeId];
      for (const entry of await incidents.entries(id)) named.push(entry.createdBy, entry.assigneeId);
      this.namedBy.set(id, new Set(named.filter((each) => each !== null)));
    }
    this.plans.clear();
    for (const plan of await this.world.registry.maintenance.plans())
      if (plan.vehicleId !== null) this.plans.set(plan.id, { id: plan.id, vehicleId: plan.vehicleId, name: plan.name });
    this.shares.clear();
    const shares = await this.world.registry.shareLinks.list({}, { limit: 1000, after: null });
    for (const { id, ownerId, name } of shares.items) this.shares.set(id, { id, ownerId, name });
    for (const [id, { vehicleId }] of this.commands) if (!this.vehicles.has(vehicleId)) this.commands.delete(id);
    this.schedules.clear();
    const schedules = await this.world.registry.reportSchedules.list({}, { limit: 1000, after: null });
    for (const { id, ownerId, name, emails } of schedules.items) this.schedules.set(id, { id, ownerId, name, emails });
    this.tasks.clear();
    const { items } = await this.world.registry.videoTasks.list({}, { limit: 1000, after: null });
    for (const task of items) this.tasks.set(task.id, task);
  }

  /** Ends the sessions of an account and opens two: one that it calls with, one that lies elsewhere. */
  async renewSessions(id: UserId): Promise<void> {
    const { registry, tokens } = this.world;
    for (const session of await registry.sessions.listOf(id)) await registry.sessions.end(session.id);
    tokens.revokeUser(id);
    const before = [...this.sessions].filter(([, userId]) => userId === id).map(([session]) => session);
    for (const session of before) this.sessions.delete(session);
    const other = await registry.sessions.create(id, SESSION_TTL_MS, '198.51.100.1', 'elsewhere');
    const session = await registry.sessions.create(id, SESSION_TTL_MS, '192.0.2.1', 'test');
    for (const [nth, each] of [other, session].entries()) {
      this.sessions.set(each.id, id);
      const predecessor = before[nth];
      if (predecessor !== undefined) this.#successors.set(predecessor, each.id);
    }
    this.jwts.set(id, (await tokens.issue(id, session.id, 0)).jwt);
  }

  /** The session or link that stands where another stood before it was renewed; any other id as it is. */
  present(id: string): string {
    const successor = this.#successors.get(id);
    return successor === undefined ? id : this.present(successor);
  }

  /** Makes an account again what it was: its fields, its groups and its sessions. */
  async restoreUser(id: UserId): Promise<void> {
    const { kind: _, id: __, version: ___, role: ____, ...fields } = this.users.get(id) as User;
    await this.world.registry.users.update(id, null, fields);
    // What blocks a dealer ends the use of the dealer's users as well.
    for (const user of this.users.values())
      if (user.id === id || user.dealerId === id) {
        await this.renewSessions(user.id);
        await this.restoreShares(user.id);
      }
  }
}

function pick<T>(list: readonly T[], n: number): T {
  return list[n % list.length] as T;
}

/** A visit of a geofence, or a vehicle that was too fast by itself. */
function eventOf(vehicleId: VehicleId, geofenceId: GeofenceId | null, atMs: number): FleetEvent {
  const kind = geofenceId === null ? 'speeding' : 'geofence-visit';
  const always = {
    id: deriveEventId(kind, vehicleId, geofenceId ?? '', atMs),
    phase: 'begin',
    vehicleId,
    startedAtMs: atMs,
    endedAtMs: null,
    latitude: 60,
    longitude: 30,
    speedKmh: 40,
    fromFixTimeMs: atMs,
    fixTimeMs: atMs,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: null,
  } as const;
  if (geofenceId !== null) return { ...always, kind: 'geofence-visit', geofenceId };
  const speeds = { limitKmh: 30, peakKmh: 40, meanKmh: 40, distanceM: 0 };
  return { ...always, ...speeds, kind: 'speeding', limitSource: 'vehicle', geofenceId };
}

/** A log with these records of each topic, and one of the records that were put aside. */
function logOf(topics: Readonly<Record<string, () => readonly unknown[]>>): typeof ONE_DEAD_LETTER {
  return {
    ...ONE_DEAD_LETTER,
    bounds: async ({ name }) => new Map([[0, { earliest: 0, end: topics[name]?.().length ?? 0 }]]),
    async *read(topic, partition, from, to) {
      const values = topics[topic.name]?.();
      if (values === undefined) return yield* ONE_DEAD_LETTER.read(topic, partition, from, to);
      const records = values.map((value, offset) => ({ offset, value: value as never })).slice(Number(from), to);
      if (records.length > 0) yield { partition, records };
    },
  };
}

function positionAt(fixTimeMs: number, secret: string) {
  return { ...blankPosition(fixTimeMs, 60, 30), attributes: { secret } };
}
