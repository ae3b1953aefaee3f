import {
  blankPosition,
  deriveEventId,
  type FleetEvent,
  type Geofence,
  type GeofenceId,
  type GroupId,
  type Notification,
  type NotificationRule,
  type NotificationRuleId,
  type Role,
  type SessionId,
  type TerminalId,
  type User,
  type UserId,
  type Vehicle,
  type VehicleGroup,
  type VehicleId,
  type VideoProfile,
  type VideoProfileId,
  type VideoTask,
  type VideoTaskId,
} from '@outrider/domain';
import { sampleGeofenceFields, sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import type { Delivery } from '@outrider/registry';
import { EMPTY_ARCHIVE } from '@outrider/reports/empty-archive';
import fc from 'fast-check';
import { PASSWORD, World } from './api.fixture.ts';
import { type Everything, mayKnow, sightOf } from './rights-model.fixture.ts';

/** What a random organisation is made from; numbers stand for one of however many there are. */
export interface Blueprint {
  dealers: { blocked: boolean; apiAccess: boolean }[];
  users: { dealer: number; blocked: boolean; apiAccess: boolean; hasVideo: boolean }[];
  groups: { dealer: number }[];
  vehicles: { dealer: number; hasTerminal: boolean; hasVideo: boolean; groups: number[] }[];
  /**
   * `byViewer`: by one who may see the video of the vehicle and no more, where there is any; else by anybody at all.
   */
  tasks: { profile: number; creator: number; byViewer: boolean; done: boolean }[];
  geofences: { owner: number; groups: number[] | null }[];
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

export const blueprint: fc.Arbitrary<Blueprint> = fc.record({
  dealers: fc.array(fc.record({ blocked: rarely, apiAccess: mostly }), { minLength: 1, maxLength: 3 }),
  users: fc.array(fc.record({ dealer: nth, blocked: rarely, apiAccess: mostly, hasVideo: fc.boolean() }), {
    minLength: 2,
    maxLength: 4,
  }),
  groups: fc.array(fc.record({ dealer: nth }), { minLength: 1, maxLength: 4 }),
  vehicles: fc.array(fc.record({ dealer: nth, hasTerminal: mostly, hasVideo: mostly, groups: some }), {
    minLength: 2,
    maxLength: 6,
  }),
  geofences: fc.array(fc.record({ owner: nth, groups: fc.option(some) }), { minLength: 3, maxLength: 6 }),
  rules: fc.array(fc.record({ owner: nth, names: nth }), { minLength: 2, maxLength: 4 }),
  notified: fc.array(fc.record({ rule: nth, event: nth, rightly: fc.boolean() }), { minLength: 2, maxLength: 6 }),
  tasks: fc.array(fc.record({ profile: nth, creator: nth, byViewer: fc.boolean(), done: fc.boolean() }), {
    minLength: 1,
    maxLength: 4,
  }),
  access: fc.array(fc.record({ person: nth, group: nth }), { maxLength: 8 }),
});

/** A rule that leaves open whatever it can. */
export const WATCHFUL = {
  active: true,
  eventKinds: ['geofence-visit', 'speeding'],
  phases: ['begin'],
  days: { on: 'daily' },
  hours: null,
  timeZone: 'Etc/UTC',
  minIntervalMinutes: 0,
  maxDataAgeMinutes: null,
  emails: [],
  webhookUrl: null,
} satisfies Partial<NotificationRule>;

const RANGE = { fromMs: 0, toMs: 1, receivedAtMs: null };
const SESSION_TTL_MS = 30 * 86_400_000;
const UNLIMITED = { failedLoginsPerMinute: 1e9, authorizedPerMinute: 1e9, unauthorizedPerMinute: 1e9, blockSeconds: 1 };

/** A blueprint come true: people with open sessions, and everything with a mark by which it is known again. */
export class Organisation implements Everything {
  readonly users = new Map<UserId, User>();
  readonly vehicles = new Map<VehicleId, Vehicle>();
  readonly groups = new Map<GroupId, VehicleGroup>();
  readonly geofences = new Map<GeofenceId, Geofence>();
  readonly rules = new Map<NotificationRuleId, NotificationRule>();
  readonly schedules = new Map<string, { id: string; ownerId: UserId; name: string; emails: readonly string[] }>();
  readonly profiles = new Map<VideoProfileId, VideoProfile>();
  readonly tasks = new Map<VideoTaskId, VideoTask>();
  readonly sessions = new Map<SessionId, UserId>();
  readonly notifications = new Map<string, Notification>();
  readonly deliveries = new Map<string, Delivery>();
  readonly jobs = new Map<string, UserId | null>();
  /** Those of them that are over. */
  readonly cancelledJobs = new Set<string>();
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
  readonly #successors = new Map<string, SessionId>();
  #marks = 0;

  private constructor(world: World) {
    this.world = world;
  }

  static async build(plan: Blueprint): Promise<Organisation> {
    let secretOf: (id: string) => string = () => '';
    let events: readonly FleetEvent[] = [];
    const contentOf = (fileId: string) => Buffer.from(secretOf(fileId.replace('.mp4', '')));
    const world = await World.open(
      { limits: UNLIMITED },
      {
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
            })),
            crossing: [],
          }),
        },
        eventReport: {
          recentEvents: async ({ vehicleIds }) =>
            events.filter(({ vehicleId }) => vehicleIds === null || vehicleIds.includes(vehicleId)),
        },
        videoFiles: {
          info: async (id) => ({ id, bytes: contentOf(id).length, storedAtMs: 0 }),
          async get(id, { start, end } = { start: 0, end: Number.POSITIVE_INFINITY }) {
            return ReadableStream.from([contentOf(id).subarray(start, end)]);
          },
        },
      },
      ':memory:',
    );
    const made = new Organisation(world);
    secretOf = (id) => made.secrets.get(id)?.[0] ?? '';
    events = made.events;
    await made.#furnish(plan);
    return made;
  }

  mark(): string {
    this.#marks += 1;
    return `zz${this.#marks}zz`;
  }

  async #furnish(plan: Blueprint): Promise<void> {
    const { registry, hub, nowMs } = this.world;
    const person = async (
      role: Role,
      dealerId: UserId | null,
      { blocked = false, apiAccess = true, hasVideo = false } = {},
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
            services: hasVideo ? ['video'] : [],
            groupIds: [],
          },
          PASSWORD,
        )
      ).id;
    const people = [await person('operator', null), await person('operator', null)];
    const dealers: (UserId | null)[] = [null];
    for (const each of plan.dealers) dealers.push(await person('dealer', null, each));
    for (const id of dealers) if (id !== null) people.push(id);
    for (const each of plan.users) people.push(await person('user', pick(dealers, each.dealer), each));
    for (const each of plan.groups)
      await registry.groups.create({ name: `Group ${this.mark()}`, dealerId: pick(dealers, each.dealer) });
    const groups = (await registry.groups.list({}, { limit: 1000, after: null })).items.map(({ id }) => id);
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
      if (each.hasVideo) await this.#addProfile(id);
      const secret = this.mark();
      this.secrets.set(id, [secret]);
      const position = positionAt(nowMs, secret);
      await hub.updateLatest([sampleStatus(id, position, nowMs)]);
    }
    for (const each of plan.geofences)
      await registry.geofences.create(
        sampleGeofenceFields({
          name: `Zone ${this.mark()}`,
          ownerId: pick(people, each.owner),
          groupIds: each.groups && [...new Set(each.groups.map((n) => pick(groups, n)))],
        }),
      );
    const vehicles = (await registry.vehicles.list({}, { limit: 1000, after: null })).items.map(({ id }) => id);
    const zones = (await registry.geofences.list({}, { limit: 1000, after: null })).items.map(({ id }) => id);
    for (const [nth, id] of vehicles.entries())
      this.events.push(eventOf(id, pick(zones, nth), nowMs), eventOf(id, null, nowMs));
    const rules: NotificationRule[] = [];
    for (const each of plan.rules) {
      const secret = this.mark();
      this.secrets.set('nobody', [...(this.secrets.get('nobody') ?? []), secret]);
      const rule = await registry.notificationRules.create(
        {
          ...WATCHFUL,
          ownerId: pick(people, each.owner),
          name: `Rule ${this.mark()}`,
          emails: [`${this.mark()}@example.org`],
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
    this.secrets.set('operator', [stranger]);
    await hub.noteUnknownTerminal(stranger, 'teltonika', '203.0.113.5', nowMs);
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
      drafts: plan.notified.map(({ rule, event, rightly }, offset) => ({
        offset,
        rule: pick(rules, rule),
        event: pick(rightly ? this.#known(pick(rules, rule)) : this.events, event),
        vehicleName: 'As it was called then',
        geofenceName: null,
      })),
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
    for (const [nth, userId] of people.entries()) await this.#addReport(userId, pick(vehicles, nth));
    await registry.jobs.add(
      { kind: 'late-data', subjectId: pick(vehicles, 0), parameters: RANGE, dueAtMs: 0 },
      (waiting) => waiting,
    );
    for (const { id } of (await registry.jobs.list({ kind: 'late-data' }, { limit: 10, after: null })).items)
      this.jobs.set(id, null);
    await this.reload();
    for (const id of people) await this.renewSessions(id);
  }

  /** Events that the owner of a rule may see; all events if that is an empty list. */
  #known({ ownerId }: NotificationRule): readonly FleetEvent[] {
    const owner = this.users.get(ownerId);
    const known = owner === undefined ? [] : this.events.filter((event) => mayKnow(this, owner, event));
    return known.length === 0 ? this.events : known;
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
    const { videoTasks } = registry;
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
    for (const leased of await videoTasks.lease(1, 1000)) {
      for (const state of ['requested', 'downloading', 'processing'] as const) await videoTasks.step(leased, { state });
      const facts = { durationMs: 1, videoCodec: 'h264', audioCodec: null, frames: 1, packetsLost: 0 };
      const file = { ...facts, bytes: content.length, sha256: 'ab'.repeat(32) };
      await videoTasks.step(leased, { state: 'done', file });
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
    };
    for (const map of Object.values(maps)) map?.clear();
    for (const { definition } of await this.world.registry.snapshot())
      if (definition) maps[definition.kind]?.set(definition.id, definition);
    for (const [session, userId] of this.sessions) if (!this.users.has(userId)) this.sessions.delete(session);
    const { notifications, deliveries } = this.world.registry;
    this.notifications.clear();
    this.deliveries.clear();
    for (const userId of this.users.keys()) {
      for (const each of await notifications.after(userId, 0, 1000)) this.notifications.set(each.id, each);
      const { items } = await deliveries.list(userId, {}, { limit: 1000, after: null });
      for (const each of items) this.deliveries.set(each.id, each);
    }
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
    this.jwts.set(id, (await tokens.issue(id, session.id)).jwt);
  }

  /** The session that stands where another stood before it was renewed; any other id as it is. */
  present(id: string): string {
    const successor = this.#successors.get(id);
    return successor === undefined ? id : this.present(successor);
  }

  /** Makes an account again what it was: its fields, its groups and its sessions. */
  async restoreUser(id: UserId): Promise<void> {
    const { kind: _, id: __, version: ___, role: ____, ...fields } = this.users.get(id) as User;
    await this.world.registry.users.update(id, null, fields);
    await this.renewSessions(id);
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

function positionAt(fixTimeMs: number, secret: string) {
  return { ...blankPosition(fixTimeMs, 60, 30), attributes: { secret } };
}
