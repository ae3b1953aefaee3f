import {
  type AccountRight,
  geofenceOf as aboutGeofence,
  alsoHarsh,
  type CommandId,
  type DriverId,
  type FleetEvent,
  type GeofenceId,
  type GroupId,
  type NotificationRule,
  type NotificationRuleId,
  namesVehicle,
  type ReportScheduleId,
  type ServiceRecordId,
  type SessionId,
  type User,
  type UserId,
  type VehicleId,
  type VideoProfileId,
  type VideoTaskId,
} from '@outrider/domain';
import { MAX_OPEN_JOBS_PER_USER, MAX_TESTS_PER_MINUTE } from '@outrider/registry';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ABSENT, type Answer, PASSWORD } from './api.fixture.ts';
import { openApiDocument } from './openapi.ts';
import { blueprint, Organisation, SUSPENSION, WATCHFUL } from './organisation.fixture.ts';
import {
  allOf,
  forbiddenWords,
  hasCommands,
  hasVideo,
  isLimited,
  type KeptKind,
  type Kind,
  keyOf,
  lacks,
  lockedOut,
  MARKED,
  mayKnow,
  type Sight,
  sightOf,
  visibleOf,
} from './rights-model.fixture.ts';
import { DESCRIBED } from './routes.ts';

/** Pairs of a caller and what they ask for, over all operations. */
const PAIRS = Number(process.env.RIGHTS_PAIRS ?? runs(10_000));

/** A pair takes three milliseconds of a processor; a loaded machine takes many times as long. */
const PATIENCE_MS = Math.max(900_000, PAIRS * 30);
/** A failure is made smaller for as long as somebody would wait for it. */
const SHRINKING_MS = 300_000;

/** One in so many is asked of what an organisation has: all of it is more than the gate has time for. */
const ONE_IN = Math.max(1, Math.round(10_000 / PAIRS));

/** Of the organisations; another one with each run. */
const SEED = Number(process.env.RIGHTS_SEED ?? Date.now() % 1_000_000_000);

interface Scene {
  org: Organisation;
  caller: User;
  /** Of what the call names, by the kinds of its probe. */
  ids: readonly string[];
  sights: readonly Sight[];
}

interface Question {
  query?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

/** One way to make a call. */
interface Probe {
  /** What the path names, in its order, and after that what query and body name. */
  kinds: readonly Kind[];
  ask?: (ids: readonly string[], scene: { org: Organisation; caller: User | null }) => Question;
  /** What may be answered where the caller sees all that is named. */
  good: (scene: Scene) => number;
  /** What may be answered where something that is named is hidden: it must then be as if that did not exist. */
  hidden?: readonly number[];
  /** It names a value that must be unique among all accounts: `good` gives the status, visible or not. */
  unique?: true;
  /** What a success must show. */
  shows?: (answer: Answer, scene: Scene) => void;
  /**
   * It moves something between dealers, or gives something the name of another's: the audit trail shows it, rightly, to
   * those who were concerned at that time. So the trail is read before.
   */
  late?: true;
  /** Puts things back as they were. */
  undo?: (scene: Scene, answer: Answer) => Promise<void>;
  /** For calls that need no token: what is answered to nobody, and to those who are locked out. */
  open?: (caller: User | null) => number;
}

const isOperator = (caller: User) => caller.role === 'operator';
const mayManage = (caller: User) => caller.role !== 'user';
const kept =
  (good: number) =>
  ({ sights }: Scene) =>
    sights.every((sight) => sight === 'kept') ? good : 403;
const FIRST_KEPT =
  (good: number) =>
  ({ sights }: Scene) =>
    sights[0] === 'kept' ? good : 403;
const ifCommanding =
  (good: number) =>
  ({ caller }: Scene) =>
    hasCommands(caller) ? good : 403;
const maintains = (caller: User) => caller.role !== 'user' || caller.services.includes('maintenance');
const ifMaintaining =
  (good: number) =>
  ({ caller }: Scene) =>
    maintains(caller) ? good : 403;
/** Deletes what belongs to a vehicle. */
const ofItsOwn = (kind: KeptKind): Probe => ({
  kinds: ['vehicle', kind],
  late: true,
  good: ({ org, caller, ids: [vehicleId, id = ''] }) =>
    !maintains(caller) ? 403 : org.kept.get(id)?.vehicleId === vehicleId ? 204 : 404,
  hidden: [403, 404],
  undo: ({ org, ids: [, id = ''] }) => org.restoreKept(id),
});
const isItsFile = (org: Organisation, [vehicleId, recordId = '', id = '']: readonly string[]) =>
  org.kept.get(recordId)?.vehicleId === vehicleId && org.kept.get(id)?.recordId === recordId;
const ofItsVehicle =
  (good: number) =>
  ({ org, ids: [vehicleId, id] }: Scene) =>
    org.commands.get(id as CommandId)?.vehicleId === vehicleId ? good : 404;
const FORWARDED = {
  kind: 'http',
  name: 'ERP',
  settings: { url: 'https://erp.example.com/in' },
  secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
};
/** The id of something else. */
const ofNoDestination = (body?: object): Probe => ({
  kinds: ['rule'],
  ask: () => (body === undefined ? {} : { body }),
  good: ({ caller }) => (mayManage(caller) ? 404 : 403),
  hidden: [403, 404],
});
const STALE = { headers: { 'if-match': '"999999"' } };

const self = ({ caller, ids }: Scene) => ids[0] === caller.id;
const userOf = ({ org, ids }: Scene, nth = 0) => org.users.get(ids[nth] as UserId) as User;
const vehicleOf = ({ org, ids }: Scene, nth = 0) =>
  [...org.vehicles.values()].find((each) => each.id === ids[nth] || `terminal:${each.terminalId}` === ids[nth]) ??
  raise('no such vehicle');
const groupOf = ({ org, ids }: Scene, nth = 0) => org.groups.get(ids[nth] as GroupId) ?? raise('no such group');
const geofenceOf = ({ org, ids }: Scene, nth = 0) =>
  org.geofences.get(ids[nth] as GeofenceId) ?? raise('no such geofence');
const ruleOf = ({ org, ids }: Scene) => org.rules.get(ids[0] as NotificationRuleId) ?? raise('no such rule');
const profileOf = ({ org, ids }: Scene) => org.profiles.get(ids[0] as VideoProfileId) ?? raise('no such profile');
const taskOf = ({ org, ids }: Scene) => org.tasks.get(ids[0] as VideoTaskId) ?? raise('no such task');
const { webhookUrl: _, ...RULE } = WATCHFUL;
const newRule = (org: Organisation, more: object = {}) => ({ ...RULE, name: org.mark(), ...more });
const numberOf = (terminal: string | undefined) => terminal?.slice('terminal:'.length);
function raise(what: string): never {
  throw new Error(what);
}

// What successes show

const idsOf = (items: { id: string }[]) => items.map(({ id }) => id).toSorted();
const driverOf = ({ org, ids }: Scene) => org.drivers.get(ids[0] as DriverId) ?? raise('no such driver');
const visibleGroups = ({ org, caller }: Scene, groupIds: readonly GroupId[]) =>
  groupIds.filter((id) => sightOf(org, caller, 'group', id) !== 'hidden').toSorted();

const showsList =
  (kind: Kind, only: (scene: Scene, id: string) => boolean = () => true): NonNullable<Probe['shows']> =>
  ({ body }, scene) => {
    const wanted = visibleOf(scene.org, scene.caller, kind).filter((id) => only(scene, id));
    expect(idsOf(body.items)).toEqual(wanted.toSorted());
  };
const showsPage =
  (kind: Kind): NonNullable<Probe['shows']> =>
  ({ body }, { org, caller }) => {
    const sorted = visibleOf(org, caller, kind).toSorted();
    // Tasks come the newest first.
    const wanted = kind === 'task' ? sorted.toReversed() : sorted;
    expect(idsOf(body.items)).toEqual(wanted.slice(0, 1));
    expect(body.nextCursor !== null).toBe(wanted.length > 1);
  };
const lists = (kind: Kind): Probe[] => [
  { kinds: [], ask: () => ({ query: 'limit=1000' }), good: () => 200, shows: showsList(kind) },
  { kinds: [], ask: () => ({ query: 'limit=1' }), good: () => 200, shows: showsPage(kind) },
];
const showsUser: Probe['shows'] = ({ body }, scene) => {
  const { id, login, groupIds } = userOf(scene);
  expect(body).toMatchObject({ id, login, groupIds: visibleGroups(scene, groupIds) });
};
const showsVehicle: Probe['shows'] = ({ body }, scene) => {
  const { id, name, terminalId, groupIds } = vehicleOf(scene);
  expect(body).toMatchObject({ id, name, terminalId, groupIds: visibleGroups(scene, groupIds) });
};
const showsGeofence: Probe['shows'] = ({ body }, scene) => {
  const { id, name, groupIds } = geofenceOf(scene);
  expect(body).toMatchObject({ id, properties: { name, groupIds: groupIds && visibleGroups(scene, groupIds) } });
};

const showsJob: Probe['shows'] = ({ body }, { org, ids }) =>
  expect(body).toMatchObject({ id: ids[0], userId: org.jobs.get(ids[0] ?? '') });

const showsRule: Probe['shows'] = ({ body }, scene) => {
  const { id, name, vehicleIds, groupIds, geofenceIds } = ruleOf(scene);
  const seen = (kind: Kind, named: readonly string[] | null) =>
    named?.filter((each) => sightOf(scene.org, scene.caller, kind, each) !== 'hidden').toSorted() ?? null;
  expect(body).toMatchObject({
    id,
    name,
    vehicleIds: seen('vehicle', vehicleIds),
    groupIds: seen('group', groupIds),
    geofenceIds: seen('geofence', geofenceIds),
  });
};

/** How many tests of channels each account asked for, with its password and with its keys. */
const channelTests = new WeakMap<Organisation, Map<UserId, number>>();

/** Its clock stands still, so each account has what it may have in a minute. */
function testsChannel({ org, caller }: Scene): number {
  const ofAccounts = channelTests.getOrInsertComputed(org, () => new Map());
  const asked = ofAccounts.get(caller.id) ?? 0;
  ofAccounts.set(caller.id, asked + 1);
  return asked < MAX_TESTS_PER_MINUTE ? 202 : 429;
}

/** Is it of the kinds, the vehicles and the geofences of the rule? */
function selects(org: Organisation, rule: NotificationRule, event: FleetEvent): boolean {
  const vehicle = org.vehicles.get(event.vehicleId);
  const { eventKinds, geofenceIds } = rule;
  return (
    alsoHarsh(eventKinds).includes(event.kind) &&
    vehicle !== undefined &&
    namesVehicle(rule, vehicle.id, vehicle) &&
    (geofenceIds === null || geofenceIds.includes(aboutGeofence(event) as GeofenceId))
  );
}

const showsTrial: Probe['shows'] = ({ body }, { org, caller, ids }) => {
  const rule = org.rules.get(ids[0] as NotificationRuleId) ?? raise('no such rule');
  const owner = org.users.get(rule.ownerId) ?? raise('a rule without an owner');
  const known = org.events.filter(
    (event) => selects(org, rule, event) && mayKnow(org, owner, event) && mayKnow(org, caller, event),
  );
  expect(body.examined).toBe(known.length);
  const examples: { id: string }[] = [
    body.matched,
    ...body.notMatched.map((each: { examples: [] }) => each.examples),
  ].flat();
  for (const { id } of examples) expect(known.map((event) => event.id)).toContain(id);
};
/** The rows of a CSV without anything in quotes. */
const rowsOf = (text: string) =>
  text
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((row) => row.split(/[,;]/));
const groupsColumnOf = (text: string) => text.split('\r\n', 1)[0]?.split(/[,;]/).indexOf('groups') ?? -1;
const showsExport =
  (only: (scene: Scene, id: string) => boolean = () => true): NonNullable<Probe['shows']> =>
  ({ body }, scene) => {
    const wanted = visibleOf(scene.org, scene.caller, 'vehicle').filter((id) => only(scene, id));
    const rows = rowsOf(body);
    const groupsAt = groupsColumnOf(body);
    expect(rows.map(([id]) => id)).toEqual(wanted.toSorted());
    for (const row of rows) {
      const { name, groupIds } = scene.org.vehicles.get(row[0] as VehicleId) ?? raise('no such vehicle');
      expect(row[1]).toBe(name);
      const names = visibleGroups(scene, groupIds).map((id) => scene.org.groups.get(id)?.name);
      expect(row[groupsAt]?.split(' | ').filter(Boolean).toSorted()).toEqual(names.toSorted());
    }
  };

// How things are put back

const undoQuotas: Probe['undo'] = (scene) =>
  scene.org.world.registry.quotas.set(
    userOf(scene).id,
    [
      { scope: 'account', kind: 'geofences', limit: null },
      { scope: 'dealer', kind: 'vehicles', limit: null },
    ],
    async () => {},
  );
const undoUser: Probe['undo'] = (scene) => scene.org.restoreUser(userOf(scene).id);
const undoSessions: Probe['undo'] = (scene) => scene.org.renewSessions(userOf(scene).id);
const undoOwnSessions: Probe['undo'] = ({ org, caller }) => org.renewSessions(caller.id);
const undoVehicle: Probe['undo'] = async (scene) => {
  const { kind: _, id, version: __, ...fields } = vehicleOf(scene);
  await scene.org.world.registry.vehicles.update(id, null, fields);
};
const undoSuspension: Probe['undo'] = async (scene) => {
  const { id, suspension } = vehicleOf(scene);
  await scene.org.world.registry.vehicles.suspend(id, suspension && SUSPENSION);
};
const undoImportedVehicle: Probe['undo'] = ({ org }, { body }) =>
  org.world.registry.vehicles.delete(body.items[0].id, null);
const undoImportedDriver: Probe['undo'] = ({ org }, { body }) =>
  org.world.registry.drivers.delete(body.items[0].id, null);
const undoVehicleGroups: Probe['undo'] = async (scene) => {
  const { id, groupIds } = vehicleOf(scene);
  const now = (await scene.org.world.registry.vehicles.get(id))?.groupIds;
  const unseen = groupIds.filter((group) => sightOf(scene.org, scene.caller, 'group', group) === 'hidden');
  expect(now).toEqual([...new Set([...unseen, scene.ids[1]])].toSorted());
  await scene.org.world.registry.vehicles.update(id, null, { groupIds });
};
const undoGroup: Probe['undo'] = async (scene) => {
  const { kind: _, id, version: __, ...fields } = groupOf(scene);
  await scene.org.world.registry.groups.update(id, null, fields);
};
const undoGeofence: Probe['undo'] = async (scene) => {
  const { kind: _, id, version: __, ...fields } = geofenceOf(scene);
  await scene.org.world.registry.geofences.update(id, null, fields);
};
const undoAddedUser: Probe['undo'] = async ({ org }, { body }) => {
  const { registry } = org.world;
  const { groupIds } = (await registry.users.get(body.id)) ?? raise('it was not added');
  await registry.users.delete(body.id, null);
  for (const id of groupIds) if (!org.groups.has(id)) await registry.groups.delete(id, null);
};
const showsDriver: Probe['shows'] = ({ body }, scene) => {
  const { id, name, groupIds } = driverOf(scene);
  expect(body).toMatchObject({ id, name, groupIds: visibleGroups(scene, groupIds) });
};
const undoDriver: Probe['undo'] = async (scene) => {
  const { id, name, groupIds } = driverOf(scene);
  await scene.org.world.registry.drivers.update(id, null, { name, groupIds });
};
const undoAdded =
  (kind: 'vehicles' | 'groups' | 'geofences' | 'notificationRules' | 'drivers'): NonNullable<Probe['undo']> =>
  ({ org }, { body }) =>
    org.world.registry[kind].delete(body.id as never, null);
const undoImportedGeofence: Probe['undo'] = ({ org }, { body }) =>
  org.world.registry.geofences.delete(body.items[0].id, null);
const undoRule: Probe['undo'] = async (scene) => {
  const { kind: _, id, version: __, ownerId: ___, inactiveReason: ____, ...fields } = ruleOf(scene);
  await scene.org.world.registry.notificationRules.update(id, null, fields);
};
const undoMember: Probe['undo'] = async (scene) => {
  const vehicle = vehicleOf(scene, 1);
  const group = groupOf(scene).id;
  await scene.org.world.registry.groups.setVehicle(group, vehicle.id, vehicle.groupIds.includes(group));
};
const undoAccess: Probe['undo'] = async (scene) => {
  const user = userOf(scene, 1);
  const group = groupOf(scene).id;
  await scene.org.world.registry.groups.setUser(group, user.id, user.groupIds.includes(group));
};

const undoProfile: Probe['undo'] = async (scene) => {
  const { kind: _, id, version: __, vehicleId: ___, ...fields } = profileOf(scene);
  await scene.org.world.registry.videoProfiles.update(id, null, fields);
};
/** A task can't be taken back: it is made as if it were of a second ago, and forgotten as what is too old. */
const undoAddedTask: Probe['undo'] = async ({ org: { world } }, { body }) => {
  world.nowMs -= 1000;
  await world.registry.videoTasks.cancel(body.id);
  world.nowMs += 1000;
  expect(await world.registry.storedVideos.clean(world.nowMs, 10)).toBe(1);
};

// What is asked again and again

const AROUND = {
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [30, 60] },
  properties: { shape: 'circle', radiusM: 500 },
};

/** The vehicles that a report is about: those that are named, and none that the caller may not see. */
const showsVehiclesOf = ({ body }: Answer, scene: Scene, wanted = visibleOf(scene.org, scene.caller, 'data')) =>
  expect([...new Set((body.items as { vehicleId: string }[]).map(({ vehicleId }) => vehicleId))].toSorted()).toEqual(
    wanted.toSorted(),
  );

/** A report about one vehicle, about a group, and about all that the caller may see. */
function reportsOf(
  shows?: (answer: Answer, scene: Scene, wanted?: string[]) => void,
  more: Question = {},
  range = `${TRACK}&`,
): Probe[] {
  const good = () => 200;
  const ask = (query = '') => ({ ...more, query: `${range}limit=1000${query}` });
  return [
    {
      kinds: ['vehicle'],
      ask: ([id]) => ask(`&vehicleId=${id}`),
      good,
      ...(shows && { shows: (answer, scene) => shows(answer, scene, [vehicleOf(scene).id]) }),
    },
    { kinds: ['terminal'], ask: ([id]) => ask(`&vehicleId=${id}`), good },
    {
      kinds: ['group'],
      ask: ([id]) => ask(`&groupId=${id}`),
      good,
      ...(shows && {
        shows: (answer, scene) => {
          const seen = visibleOf(scene.org, scene.caller, 'data');
          const { id } = groupOf(scene);
          shows(
            answer,
            scene,
            seen.filter((vehicle) => scene.org.vehicles.get(vehicle as VehicleId)?.groupIds.includes(id)),
          );
        },
      }),
    },
    { kinds: [], ask: () => ask(), good, ...(shows && { shows: (answer, scene) => shows(answer, scene) }) },
    { kinds: [], ask: () => ask('&format=csv'), good },
  ];
}

/** Once by id, and once by terminal. */
const byEither = (probe: Omit<Probe, 'kinds'>): Probe[] => [
  { ...probe, kinds: ['vehicle'] },
  { ...probe, kinds: ['terminal'] },
];

/** The dealer of something new, named by the caller who adds it. */
const addedTo = ({ caller, ids, org }: Scene): number => {
  if (isOperator(caller)) return org.users.get(ids[0] as UserId)?.role === 'dealer' ? 201 : 400;
  return caller.role === 'dealer' && ids[0] === caller.id ? 201 : 403;
};
/** The dealer of something that exists, named by the caller who changes it. */
const movedTo = ({ caller, ids, org, sights }: Scene): number => {
  if (sights[0] !== 'kept') return 403;
  if (isOperator(caller)) return org.users.get(ids[1] as UserId)?.role === 'dealer' ? 200 : 400;
  return mayManage(caller) && ids[1] === caller.id ? 200 : 403;
};
/** A vehicle that is kept, by a dealer or an operator: what is beyond its profile. */
const keptByManager =
  (good: number) =>
  ({ caller, sights }: Scene) =>
    mayManage(caller) && sights[0] === 'kept' ? good : 403;
/** Which groups a vehicle is in decides who sees it: dealers and operators say so. */
const regrouped = (scene: Scene) => {
  const wanted = scene.ids[1];
  const same = visibleGroups(scene, vehicleOf(scene).groupIds);
  return scene.sights[0] === 'kept' && (mayManage(scene.caller) || (same.length === 1 && same[0] === wanted))
    ? 200
    : 403;
};
const movedToNobody = ({ caller, sights }: Scene) => (isOperator(caller) && sights[0] === 'kept' ? 200 : 403);
const auditor = ({ caller }: Scene) => (mayManage(caller) ? 200 : 403);
const manager = ({ caller }: Scene) => (mayManage(caller) ? 201 : 403);
/** What is open to all who have the video service. */
const video =
  (good: number) =>
  ({ caller }: Scene) =>
    hasVideo(caller) ? good : 403;
const videoLists = (kind: Kind): Probe[] => lists(kind).map((probe) => ({ ...probe, good: video(200) }));
const withProfile = ({ org }: Scene, vehicleId: string | undefined) =>
  [...org.profiles.values()].filter((profile) => profile.vehicleId === vehicleId);
const FRAGMENT = { channel: 1, start: '2026-01-15T11:30:00Z', end: '2026-01-15T11:31:00Z' };
const openToAll = { kinds: [], good: () => 200, open: () => 200 } satisfies Probe;
const TRACK = 'from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z';
const CIRCLE = { type: 'Feature', geometry: { type: 'Point', coordinates: [30, 60] } };
const circle = (properties: object) => ({ ...CIRCLE, properties: { shape: 'circle', radiusM: 100, ...properties } });
const collection = (properties: object, id?: string) => ({
  type: 'FeatureCollection',
  features: [{ ...circle(properties), ...(id === undefined ? {} : { id }) }],
});
const newUser = (org: Organisation, more: object = {}) => ({
  body: { login: org.mark(), name: 'New', password: PASSWORD, ...more },
});
const csv = (header: string, row: string): Question => ({
  body: `${header}\r\n${row}\r\n`,
  headers: { 'content-type': 'text/csv' },
});
/** A job is begun, unless the caller has as many as one may have. */
const begins = ({ org, caller, sights }: Scene) => {
  if (sights[0] !== 'kept') return 403;
  const open = [...org.jobs].filter(([id, userId]) => userId === caller.id && !org.cancelledJobs.has(id));
  return open.length < MAX_OPEN_JOBS_PER_USER ? 202 : 409;
};
const keepExport: Probe['undo'] = async (scene, answer) => {
  await keepJob?.(scene, answer);
  if (answer.status === 202) scene.org.exports.add(answer.body.id);
};
const noteCancelled: Probe['undo'] = async ({ org }, { body }) => {
  org.cancelledJobs.add(body.id);
};
/** What was begun can't be undone: from then on it is one of the organisation's jobs. */
const keepJob: Probe['undo'] = async ({ org, caller }, { status, body }) => {
  if (status === 202) org.jobs.set(body.id, caller.id);
};
/** A report is asked for, about what the caller sees. */
const asksFor = ({ org, caller }: Scene) => {
  const open = [...org.jobs].filter(([id, userId]) => userId === caller.id && !org.cancelledJobs.has(id));
  return open.length < MAX_OPEN_JOBS_PER_USER ? 202 : 409;
};
const keepReport: Probe['undo'] = async ({ org, caller }, { body }) => {
  org.jobs.set(body.id, caller.id);
  org.reports.set(body.id, null);
};
const REPORT = {
  kind: 'track',
  format: 'csv',
  from: '2026-01-01T00:00:00Z',
  to: '2026-01-02T00:00:00Z',
};
const newSchedule = (org: Organisation, more: object = {}) => ({
  name: org.mark(),
  kind: 'track',
  format: 'csv',
  timeZone: 'Europe/Berlin',
  frequency: 'daily',
  hour: 6,
  covers: 'yesterday',
  emails: [],
  ...more,
});
const undoSchedule: Probe['undo'] = ({ org }, { body }) => org.world.registry.reportSchedules.delete(body.id, null);
/** Of what it names, what its reader may see now. */
const showsSchedule: Probe['shows'] = ({ body }, { org, caller, ids: [id = ''] }) => {
  const { ownerId, name, emails } = org.schedules.get(id) ?? raise('no such schedule');
  expect(body).toMatchObject({ id, ownerId, name, emails });
  if (body.vehicleId !== null) expect(sightOf(org, caller, 'vehicle', body.vehicleId)).not.toBe('hidden');
};
const importer = ({ caller }: Scene) => (mayManage(caller) ? 200 : 403);
/** The dealer of something that is imported, named by the caller who imports it. */
const importedTo = ({ caller, org }: Scene, dealerId: string | undefined): number => {
  if (!mayManage(caller)) return 403;
  if (isOperator(caller)) return org.users.get(dealerId as UserId)?.role === 'dealer' ? 200 : 400;
  return dealerId === caller.id ? 200 : 400;
};
const mayEnd = ({ org, caller, ids }: Scene) => {
  if (!isOperator(caller) && ids[0] !== caller.id) return 403;
  return org.sessions.get(ids[1] as SessionId) === ids[0] ? 204 : 404;
};

/**
 * What the words of the design say of each operation of the document. An operation that is not here has no rights that
 * anyone thought of: the test fails by its name.
 */
const MODEL: Record<string, readonly Probe[]> = {
  login: [
    {
      kinds: [],
      ask: (_, { caller }) => ({
        query: 'jwt=1',
        body: { login: caller?.login ?? 'nobody', password: PASSWORD },
      }),
      good: () => 200,
      open: (caller) => lockedOut(caller) ?? 200,
      undo: undoOwnSessions,
    },
  ],
  // An API key needs no refresh, and gives no token.
  refresh: [
    {
      ...openToAll,
      good: ({ caller }) => (keyOf(caller) === null ? 200 : 401),
      open: (caller) => (keyOf(caller) === null ? (lockedOut(caller) ?? 200) : 401),
    },
  ],
  logout: [{ kinds: [], good: () => 204, undo: undoOwnSessions }],
  jwks: [openToAll],
  getLoginOptions: [openToAll],
  getIndex: [openToAll],
  getLiveness: [openToAll],
  getReadiness: [openToAll],
  // For who scrapes them, from this machine or with a token of their own.
  getMetrics: [{ kinds: [], good: () => 401, open: () => 401 }],

  getMe: [{ kinds: [], good: () => 200, shows: ({ body }, { caller }) => expect(body.id).toBe(caller.id) }],
  changeMe: [{ kinds: [], ask: (_, { caller }) => ({ body: { name: caller?.name ?? 'Nobody' } }), good: () => 200 }],
  getMyPreferences: [{ kinds: [], good: () => 200 }],
  changeMyPreferences: [
    {
      kinds: [],
      ask: () => ({ body: { theme: 'dark' } }),
      good: () => 200,
      shows: ({ body }) => expect(body.theme).toBe('dark'),
    },
  ],
  previewNotificationMessage: [{ kinds: [], ask: () => ({ body: {} }), good: () => 200 }],
  listMessageChannels: [{ kinds: [], good: () => 200, shows: ({ body }) => expect(body.items).toEqual([]) }],
  addMessageChannel: [{ kinds: [], ask: () => ({ body: { kind: 'telegram' } }), good: () => 400 }],
  getPushKey: [{ kinds: [], good: () => 200 }],
  getMessageChannel: [{ kinds: ['rule'], good: () => 404 }],
  changeMessageChannel: [{ kinds: ['rule'], ask: () => ({ body: { name: 'Chat' } }), good: () => 404 }],
  deleteMessageChannel: [{ kinds: ['rule'], good: () => 404 }],
  confirmMessageChannel: [{ kinds: ['rule'], ask: () => ({ body: { code: '123456' } }), good: () => 404 }],
  addMessageChannelTest: [{ kinds: ['rule'], good: () => 404 }],
  listMessageChannelTests: [{ kinds: ['rule'], good: () => 404 }],
  changeMyPassword: [
    {
      kinds: [],
      ask: () => ({ body: { currentPassword: PASSWORD, password: PASSWORD } }),
      good: () => 204,
      undo: undoOwnSessions,
    },
  ],
  requestPasswordReset: [{ kinds: [], ask: () => ({ body: { account: 'nobody' } }), good: () => 204, open: () => 204 }],
  completePasswordReset: [
    { kinds: [], ask: () => ({ body: { token: 'none', password: PASSWORD } }), good: () => 400, open: () => 400 },
  ],
  getEmail: [
    {
      kinds: ['user'],
      good: (scene) => (self(scene) || isOperator(scene.caller) || kept(200)(scene) === 200 ? 200 : 403),
      shows: ({ body }) => expect(body).toEqual({ email: null }),
    },
  ],
  setEmail: [
    {
      kinds: ['user'],
      ask: ([id], { caller }) => ({
        body: { email: null, ...(id === caller?.id ? { currentPassword: PASSWORD } : {}) },
      }),
      good: (scene) => (self(scene) ? 204 : kept(204)(scene)),
    },
  ],
  getExpiry: [{ kinds: ['user'], good: () => 200, shows: ({ body }) => expect(body.expiresAt).toBeNull() }],
  setExpiry: [
    {
      kinds: ['user'],
      ask: () => ({ body: { expiresAt: null } }),
      good: (scene) => (kept(204)(scene) === 204 && self(scene) ? 409 : kept(204)(scene)),
    },
  ],
  getFleetRetention: [
    { kinds: ['user'], good: () => 200, shows: ({ body }) => expect(body).toEqual({ retentionDays: null }) },
  ],
  setFleetRetention: [
    {
      kinds: ['user'],
      ask: () => ({ body: { retentionDays: null } }),
      good: (scene) => (!mayManage(scene.caller) ? 403 : userOf(scene).role === 'user' ? 409 : 204),
    },
  ],
  // Nobody has an address.
  inviteUser: [{ kinds: ['user'], good: (scene) => (self(scene) ? 403 : kept(409)(scene)) }],
  getMySecondFactor: [{ kinds: [], good: () => 200, shows: ({ body }) => expect(body.enabled).toBe(false) }],
  beginSecondFactor: [{ kinds: [], ask: () => ({ body: { currentPassword: PASSWORD } }), good: () => 200 }],
  confirmSecondFactor: [{ kinds: [], ask: () => ({ body: {} }), good: () => 400 }],
  renewRecoveryCodes: [{ kinds: [], ask: () => ({ body: { currentPassword: PASSWORD } }), good: () => 404 }],
  disableSecondFactor: [{ kinds: [], ask: () => ({ body: { currentPassword: PASSWORD } }), good: () => 404 }],
  // Nothing is signed, and the site of the tests has no TLS.
  beginPasskeySignIn: [{ kinds: [], good: () => 409, open: () => 409 }],
  signInByPasskey: [{ kinds: [], ask: () => ({ body: {} }), good: () => 400, open: () => 400 }],
  listMyPasskeys: [{ kinds: [], good: () => 200, shows: ({ body }) => expect(body.items).toEqual([]) }],
  beginPasskey: [{ kinds: [], ask: () => ({ body: { currentPassword: PASSWORD } }), good: () => 409 }],
  addPasskey: [{ kinds: [], ask: () => ({ body: {} }), good: () => 400 }],
  renamePasskey: [{ kinds: ['rule'], ask: () => ({ body: { name: 'Phone' } }), good: () => 404 }],
  removePasskey: [{ kinds: ['rule'], ask: () => ({ body: { currentPassword: PASSWORD } }), good: () => 404 }],
  getMyOpenId: [{ kinds: [], good: () => 200, shows: ({ body }) => expect(body.linked).toBe(false) }],
  linkMyOpenId: [{ kinds: [], ask: () => ({ body: { currentPassword: PASSWORD } }), good: () => 404 }],
  unlinkMyOpenId: [{ kinds: [], ask: () => ({ body: { currentPassword: PASSWORD } }), good: () => 404 }],
  getSecondFactor: [{ kinds: ['user'], good: (scene) => (isOperator(scene.caller) || self(scene) ? 200 : 403) }],
  // Nobody has one: an operator finds none to remove, and may not remove the own one.
  removeSecondFactor: [
    { kinds: ['user'], good: (scene) => (isOperator(scene.caller) ? (self(scene) ? 409 : 404) : 403) },
  ],
  listUsers: [
    ...lists('user'),
    { kinds: [], ask: () => ({ query: 'limit=1000&sort=login' }), good: () => 200, shows: showsList('user') },
  ],
  addUser: [
    { kinds: [], ask: (_, { org }) => newUser(org), good: manager, undo: undoAddedUser },
    ...[{ apiAccess: true }, { role: 'dealer' }, { role: 'operator' }, { dealerId: null }].map(
      (more): Probe => ({
        kinds: [],
        ask: (_, { org }) => newUser(org, more),
        good: ({ caller }) => (isOperator(caller) ? 201 : 403),
        undo: undoAddedUser,
      }),
    ),
    {
      kinds: ['group'],
      ask: (ids, { org }) => newUser(org, { groupIds: ids }),
      good: manager,
      hidden: [400, 403],
      undo: undoAddedUser,
    },
    {
      kinds: ['user'],
      ask: ([dealerId], { org }) => newUser(org, { dealerId }),
      good: addedTo,
      hidden: [403],
      undo: undoAddedUser,
    },
    {
      kinds: ['user'],
      unique: true,
      ask: ([id], { org }) => newUser(org, { login: org.users.get(id as UserId)?.login ?? 'absent' }),
      good: ({ caller }) => (mayManage(caller) ? 409 : 403),
    },
  ],
  getUser: [{ kinds: ['user'], good: () => 200, shows: showsUser }],
  changeUser: [
    { kinds: ['user'], ask: () => ({ body: { name: 'Renamed' } }), good: kept(200), undo: undoUser },
    { kinds: ['user'], ask: () => ({ body: { services: ['video'] } }), good: kept(200), undo: undoUser },
    { kinds: ['user'], ask: () => ({ body: { dealerId: null } }), good: movedToNobody, late: true, undo: undoUser },
    {
      kinds: ['user', 'group'],
      ask: ([, group]) => ({ body: { groupIds: [group] } }),
      good: FIRST_KEPT(200),
      hidden: [400, 403, 404],
      async undo(scene) {
        const { id, groupIds } = userOf(scene);
        const now = (await scene.org.world.registry.users.get(id))?.groupIds;
        const unseen = groupIds.filter((group) => sightOf(scene.org, scene.caller, 'group', group) === 'hidden');
        expect(now).toEqual([...new Set([...unseen, scene.ids[1]])].toSorted());
        await scene.org.world.registry.users.update(id, null, { groupIds });
      },
    },
    {
      kinds: ['user', 'user'],
      ask: ([, dealerId]) => ({ body: { dealerId } }),
      good: (scene) =>
        scene.sights[0] === 'kept' && isOperator(scene.caller) && userOf(scene).role !== 'user' ? 400 : movedTo(scene),
      hidden: [403, 404],
      late: true,
      undo: undoUser,
    },
  ],
  deleteUser: [
    {
      kinds: ['user'],
      ask: () => STALE,
      good: (scene) => (self(scene) && isOperator(scene.caller) ? 409 : kept(412)(scene)),
    },
  ],
  blockUser: [
    {
      kinds: ['user'],
      good: (scene) => (self(scene) && isOperator(scene.caller) ? 409 : kept(200)(scene)),
      undo: undoUser,
    },
  ],
  getMyQuotas: [{ kinds: [], good: () => 200 }],
  getQuotas: [{ kinds: ['user'], good: () => 200 }],
  setQuotas: [
    { kinds: ['user'], ask: () => ({ body: { account: { geofences: 9999 } } }), good: kept(200), undo: undoQuotas },
    {
      kinds: ['user'],
      ask: () => ({ body: { dealer: { vehicles: 19_999 } } }),
      good: (scene) => (isOperator(scene.caller) ? (userOf(scene).role === 'dealer' ? 200 : 400) : 403),
      undo: undoQuotas,
    },
  ],
  unblockUser: [{ kinds: ['user'], good: kept(200), undo: undoUser }],
  grantApiAccess: [{ kinds: ['user'], good: ({ caller }) => (isOperator(caller) ? 200 : 403), undo: undoUser }],
  withdrawApiAccess: [
    {
      kinds: ['user'],
      good: (scene) => (isOperator(scene.caller) ? (self(scene) ? 409 : 200) : 403),
      undo: undoUser,
    },
  ],
  setPassword: [
    {
      kinds: ['user'],
      // One's own needs the current one.
      ask: ([id], { caller }) => ({
        body: { password: PASSWORD, ...(id === caller?.id ? { currentPassword: PASSWORD } : {}) },
      }),
      good: kept(204),
      undo: undoSessions,
    },
  ],
  listSessions: [
    {
      kinds: ['user'],
      good: (scene) => (isOperator(scene.caller) || self(scene) ? 200 : 403),
      shows: showsList('session', ({ org, ids }, id) => org.sessions.get(id as SessionId) === ids[0]),
    },
  ],
  endSessions: [
    {
      kinds: ['user'],
      good: (scene) => (isOperator(scene.caller) || self(scene) ? 204 : 403),
      undo: undoSessions,
    },
  ],
  endSession: [{ kinds: ['user', 'session'], good: mayEnd, hidden: [403, 404], undo: undoSessions }],

  listForwardingDestinations: [
    {
      kinds: [],
      good: ({ caller }) => (mayManage(caller) ? 200 : 403),
      shows: ({ body }) => expect(body.items).toEqual([]),
    },
  ],
  addForwardingDestination: [
    {
      kinds: ['vehicle'],
      ask: (vehicleIds) => ({ body: { ...FORWARDED, filter: { vehicleIds } } }),
      good: ({ caller }) => (mayManage(caller) ? 201 : 403),
      hidden: [400, 403],
      undo: ({ org }, { body }) => org.world.registry.forwardingDestinations.delete(body.id, null),
    },
  ],
  // Nobody keeps one, see forwarding.test.ts.
  getForwardingDestination: [ofNoDestination()],
  changeForwardingDestination: [ofNoDestination({ active: false })],
  deleteForwardingDestination: [ofNoDestination()],
  replayForwardingDestination: [ofNoDestination({ from: '2026-01-15T12:00:00.000Z' })],
  testForwardingDestination: [ofNoDestination()],

  listApiKeys: [
    {
      kinds: [],
      ask: () => ({ query: 'limit=1000' }),
      good: () => 200,
      shows: showsList('api-key', ({ org, caller }, id) => org.apiKeys.get(id)?.userId === caller.id),
    },
    {
      kinds: ['user'],
      ask: ([id]) => ({ query: `limit=1000&userId=${id}` }),
      good: (scene) => (isOperator(scene.caller) || self(scene) ? 200 : 403),
      shows: showsList('api-key', ({ org, ids }, id) => org.apiKeys.get(id)?.userId === ids[0]),
    },
  ],
  addApiKey: [
    {
      kinds: [],
      ask: () => ({ body: { name: 'ERP', scopes: ['read'] } }),
      good: () => 201,
      undo: ({ org }, { body }) => org.world.registry.apiKeys.delete(body.id, null),
    },
    {
      kinds: ['group'],
      ask: (groupIds) => ({ body: { name: 'ERP', scopes: ['read'], groupIds } }),
      good: () => 201,
      hidden: [400],
      undo: ({ org }, { body }) => org.world.registry.apiKeys.delete(body.id, null),
    },
  ],
  getApiKey: [
    {
      kinds: ['api-key'],
      good: () => 200,
      shows: ({ body }, { org, ids: [id = ''] }) => expect(body).toMatchObject(org.apiKeys.get(id) ?? {}),
    },
  ],
  changeApiKey: [{ kinds: ['api-key'], ask: () => ({ ...STALE, body: { name: 'ERP' } }), good: kept(412) }],
  deleteApiKey: [{ kinds: ['api-key'], ask: () => STALE, good: () => 412 }],

  listAudit: [
    {
      kinds: [],
      ask: () => ({ query: 'limit=1000' }),
      good: auditor,
      shows: ({ body }, { caller }) => isOperator(caller) && expect(body.items.length).toBeGreaterThan(100),
    },
    { kinds: ['user'], ask: ([id]) => ({ query: `limit=1000&userId=${id}` }), good: auditor, hidden: [200, 403] },
    ...(['user', 'vehicle', 'group', 'geofence'] as const).map(
      (kind): Probe => ({
        kinds: [kind],
        ask: ([id]) => ({ query: `limit=1000&subject=${id}` }),
        good: auditor,
        hidden: [200, 403],
        shows: ({ body }, { ids }) => {
          for (const { subject } of body.items) expect(subject).toMatchObject({ kind, id: ids[0] });
        },
      }),
    ),
  ],

  listVehicles: [
    ...lists('vehicle'),
    {
      kinds: [],
      ask: () => ({ query: 'limit=1000&sort=-name' }),
      good: () => 200,
      shows: showsList('vehicle'),
    },
    {
      kinds: ['group'],
      ask: ([group]) => ({ query: `limit=1000&groupId=${group}` }),
      good: () => 200,
      shows: showsList(
        'vehicle',
        ({ org, ids }, id) => org.vehicles.get(id as VehicleId)?.groupIds.includes(ids[0] as GroupId) ?? false,
      ),
    },
    {
      kinds: ['terminal'],
      ask: ([terminal]) => ({ query: `terminalId=${numberOf(terminal)}` }),
      good: () => 200,
      hidden: [200],
      shows: ({ body }, scene) => expect(idsOf(body.items)).toEqual([vehicleOf(scene).id]),
    },
  ],
  addVehicle: [
    { kinds: [], ask: () => ({ body: { name: 'New' } }), good: manager, undo: undoAdded('vehicles') },
    {
      kinds: [],
      ask: () => ({ body: { name: 'New', dealerId: null } }),
      good: ({ caller }) => (isOperator(caller) ? 201 : 403),
      undo: undoAdded('vehicles'),
    },
    {
      kinds: ['group'],
      ask: (ids) => ({ body: { name: 'New', groupIds: ids } }),
      good: manager,
      hidden: [400, 403],
      undo: undoAdded('vehicles'),
    },
    {
      kinds: ['user'],
      ask: ([dealerId]) => ({ body: { name: 'New', dealerId } }),
      good: addedTo,
      hidden: [403],
      undo: undoAdded('vehicles'),
    },
    {
      kinds: ['terminal'],
      unique: true,
      ask: ([terminal]) => ({ body: { name: 'New', terminalId: numberOf(terminal) } }),
      good: ({ caller }) => (mayManage(caller) ? 409 : 403),
    },
  ],
  getVehicle: byEither({ good: () => 200, shows: showsVehicle }),
  changeVehicle: [
    ...byEither({ ask: () => ({ body: { name: 'Renamed' } }), good: kept(200), undo: undoVehicle }),
    {
      // It is moved by an operation of its own.
      kinds: ['vehicle', 'user'],
      ask: ([, dealerId]) => ({ body: { dealerId } }),
      good: (scene) => {
        if (mayManage(scene.caller) && vehicleOf(scene).dealerId === scene.ids[1]) return 200;
        return isOperator(scene.caller) ? 400 : 403;
      },
      hidden: [403, 404],
    },
    {
      kinds: ['vehicle', 'group'],
      ask: ([, group]) => ({ body: { groupIds: [group] } }),
      good: regrouped,
      hidden: [400, 403, 404],
      undo: undoVehicleGroups,
    },
    {
      // A terminal belongs to one vehicle, for every caller.
      kinds: ['vehicle', 'terminal'],
      unique: true,
      ask: ([, terminal]) => ({ body: { terminalId: numberOf(terminal) } }),
      good: ({ org, sights: [sight], ids: [vehicleId, terminal] }) => {
        if (sight !== 'kept') return sight === 'seen' ? 403 : 404;
        return org.vehicles.get(vehicleId as VehicleId)?.terminalId === numberOf(terminal) ? 200 : 409;
      },
      undo: undoVehicle,
    },
  ],
  deleteVehicle: byEither({ ask: () => STALE, good: keptByManager(412) }),
  exportVehicles: [
    { kinds: [], good: () => 200, shows: showsExport() },
    { kinds: [], ask: () => ({ query: 'excel=true' }), good: () => 200, shows: showsExport() },
    {
      kinds: ['group'],
      ask: ([group]) => ({ query: `groupId=${group}` }),
      good: () => 200,
      shows: showsExport(
        ({ org, ids }, id) => org.vehicles.get(id as VehicleId)?.groupIds.includes(ids[0] as GroupId) ?? false,
      ),
    },
  ],
  importVehicles: [
    { kinds: [], ask: () => csv('name', 'New'), good: importer, undo: undoImportedVehicle },
    {
      kinds: ['group'],
      ask: ([group]) => csv('name,groups', `New,${group}`),
      good: importer,
      hidden: [400, 403],
      undo: undoImportedVehicle,
    },
    {
      // Groups go by name as well: one that the caller does not see has none.
      kinds: ['group'],
      unique: true,
      ask: ([group], { org }) => csv('name,groups', `New,${org.groups.get(group as GroupId)?.name}`),
      good: ({ caller, sights }) => (!mayManage(caller) ? 403 : sights[0] === 'hidden' ? 400 : 200),
      undo: undoImportedVehicle,
    },
    {
      kinds: ['user'],
      ask: ([dealerId]) => csv('name,dealerId', `New,${dealerId}`),
      good: (scene) => importedTo(scene, scene.ids[0]),
      hidden: [400, 403],
      undo: undoImportedVehicle,
    },
    {
      kinds: ['vehicle'],
      ask: ([id]) => csv('id,name', `${id},Renamed`),
      good: importer,
      hidden: [400, 403],
      undo: undoVehicle,
    },
    {
      kinds: ['vehicle'],
      ask: ([id]) => ({ ...csv('id,name', `${id},Renamed`), query: 'dryRun=true' }),
      good: importer,
      hidden: [400, 403],
      async undo(scene) {
        const { id, version } = vehicleOf(scene);
        const now = await scene.org.world.registry.vehicles.get(id);
        expect(now?.name).not.toBe('Renamed');
        expect(now?.version).toBeGreaterThanOrEqual(version);
      },
    },
    {
      // A terminal of a vehicle that the caller does not see is taken, as it is for one that is added.
      kinds: ['terminal'],
      unique: true,
      ask: ([terminal]) => csv('terminalId,name', `${numberOf(terminal)},Renamed`),
      good: ({ caller, sights }) => (!mayManage(caller) ? 403 : sights[0] === 'hidden' ? 409 : 200),
      shows: ({ body }, scene) => expect(body.items).toMatchObject([{ id: vehicleOf(scene).id, outcome: 'updated' }]),
      undo: undoVehicle,
    },
    {
      kinds: ['vehicle', 'group'],
      ask: ([id, group]) => csv('id,groups', `${id},${group}`),
      good: importer,
      hidden: [400, 403],
      undo: undoVehicleGroups,
    },
    {
      kinds: ['vehicle', 'user'],
      // A vehicle that is there is moved by an operation of its own.
      ask: ([id, dealerId]) => csv('id,dealerId', `${id},${dealerId}`),
      good: (scene) =>
        isOperator(scene.caller) && vehicleOf(scene).dealerId !== scene.ids[1] ? 400 : importedTo(scene, scene.ids[1]),
      hidden: [400, 403],
      undo: undoVehicle,
    },
  ],
  listCommandTypes: byEither({ good: ifCommanding(200) }),
  listCommands: byEither({
    good: ifCommanding(200),
    shows: ({ status, body }, scene) => {
      if (status !== 200) return;
      const wanted = visibleOf(scene.org, scene.caller, 'command').filter(
        (id) => scene.org.commands.get(id as CommandId)?.vehicleId === vehicleOf(scene).id,
      );
      expect(idsOf(body.items)).toEqual(wanted.toSorted());
    },
  }),
  // None has a terminal that ever connected.
  addCommand: byEither({ ask: () => ({ body: { type: 'position-request' } }), good: ifCommanding(409) }),
  getCommand: [
    {
      kinds: ['vehicle', 'command'],
      good: ofItsVehicle(200),
      hidden: [403, 404],
      shows: ({ status, body }, { ids }) =>
        status === 200 && expect(body).toMatchObject({ id: ids[1], vehicleId: ids[0] }),
    },
  ],
  cancelCommand: [{ kinds: ['vehicle', 'command'], good: ofItsVehicle(409), hidden: [403, 404] }],
  suspendVehicle: byEither({
    ask: () => ({ body: { reason: 'An invoice is unpaid.' } }),
    good: keptByManager(200),
    shows: ({ body }, { caller }) =>
      expect(body.suspension).toMatchObject({ by: isOperator(caller) ? 'operator' : 'dealer' }),
    undo: undoSuspension,
  }),
  resumeVehicle: byEither({
    good: keptByManager(200),
    shows: ({ body }) => expect(body.suspension).toBeNull(),
    undo: undoSuspension,
  }),
  getVehicleState: byEither({
    good: () => 200,
    shows: ({ body }, scene) =>
      expect(body).toMatchObject({
        vehicleId: vehicleOf(scene).id,
        position: { attributes: { secret: scene.org.secrets.get(vehicleOf(scene).id)?.[0] } },
      }),
  }),
  getRejectedPositions: byEither({
    good: () => 200,
    shows: ({ body }, scene) => expect(body).toMatchObject({ vehicleId: vehicleOf(scene).id }),
  }),
  exportSensors: [
    { kinds: [], good: () => 200 },
    { kinds: ['group'], ask: ([group]) => ({ query: `groupId=${group}` }), good: () => 200 },
  ],
  importSensors: [
    {
      kinds: ['vehicle'],
      ask: ([id]) => csv('vehicleId,name,kind,source', `${id},Cargo,temperature,temperature1C`),
      good: kept(200),
      hidden: [400, 403],
      undo: undoVehicle,
    },
    {
      // Vehicles go by name as well: one that the caller may not change has none.
      kinds: ['vehicle'],
      unique: true,
      ask: ([id], { org }) =>
        csv('vehicleName,name,kind,source', `${org.vehicles.get(id as VehicleId)?.name},Cargo,temperature,rpm`),
      good: ({ caller, sights }) => (lacks(caller, 'edit-vehicles') ? 403 : sights[0] === 'kept' ? 200 : 400),
      hidden: [400, 403],
      undo: undoVehicle,
    },
  ],
  trySensor: byEither({
    ask: () => ({ body: { kind: 'temperature', source: 'temperature1C' } }),
    good: () => 200,
  }),
  listSensors: [{ kinds: [], good: () => 200 }],
  listSensorPresets: [{ kinds: [], good: () => 200 }],
  listTerminalProtocols: [{ kinds: [], good: () => 200 }],
  ...Object.fromEntries(
    ['getOperatorStatus', 'listAllSessions', 'listArchiveGaps', 'listDeadLetters', 'listMapFiles'].map(
      (name): [string, Probe[]] => [name, [{ kinds: [], good: ({ caller }) => (isOperator(caller) ? 200 : 403) }]],
    ),
  ),
  acceptArchiveGap: [
    {
      kinds: [],
      ask: () => ({ body: { id: 'positions/202601_1_1' } }),
      good: ({ caller }) => (isOperator(caller) ? 200 : 403),
    },
  ],
  getDeadLetter: [
    {
      kinds: [],
      ask: () => ({ query: 'id=telemetry/0@4/rules' }),
      good: ({ caller }) => (isOperator(caller) ? 200 : 403),
    },
  ],
  listUnknownTerminals: [
    {
      kinds: [],
      good: ({ caller }) => (isOperator(caller) ? 200 : 403),
      shows: ({ body }, { org }) =>
        expect(body.items).toMatchObject([
          { terminalId: null, detail: org.secrets.get('operator')?.[1] },
          { terminalId: org.secrets.get('operator')?.[0] },
        ]),
    },
  ],

  listVehicleGroups: lists('group'),
  addVehicleGroup: [
    { kinds: [], ask: (_, { org }) => ({ body: { name: org.mark() } }), good: manager, undo: undoAdded('groups') },
    {
      kinds: [],
      ask: (_, { org }) => ({ body: { name: org.mark(), dealerId: null } }),
      good: ({ caller }) => (isOperator(caller) ? 201 : 403),
      undo: undoAdded('groups'),
    },
    {
      kinds: ['user'],
      ask: ([dealerId], { org }) => ({ body: { name: org.mark(), dealerId } }),
      good: addedTo,
      hidden: [403],
      undo: undoAdded('groups'),
    },
    {
      // A name is taken among the groups of one dealer alone: nobody learns of another's.
      kinds: ['group'],
      unique: true,
      late: true,
      ask: ([id], { org }) => ({ body: { name: org.groups.get(id as GroupId)?.name ?? 'absent' } }),
      good: (scene) => {
        if (!mayManage(scene.caller)) return 403;
        return groupOf(scene).dealerId === (isOperator(scene.caller) ? null : scene.caller.id) ? 409 : 201;
      },
      undo: undoAdded('groups'),
    },
  ],
  getVehicleGroup: [
    {
      kinds: ['group'],
      good: () => 200,
      shows: ({ body }, scene) => expect(body).toMatchObject({ id: groupOf(scene).id, name: groupOf(scene).name }),
    },
  ],
  changeVehicleGroup: [
    { kinds: ['group'], ask: (_, { org }) => ({ body: { name: org.mark() } }), good: kept(200), undo: undoGroup },
    { kinds: ['group'], ask: () => ({ body: { dealerId: null } }), good: movedToNobody, late: true, undo: undoGroup },
    {
      kinds: ['group', 'user'],
      ask: ([, dealerId]) => ({ body: { dealerId } }),
      good: movedTo,
      hidden: [403, 404],
      late: true,
      undo: undoGroup,
    },
  ],
  deleteVehicleGroup: [{ kinds: ['group'], ask: () => STALE, good: kept(412) }],
  listVehiclesOfGroup: [
    {
      kinds: ['group'],
      ask: () => ({ query: 'limit=1000' }),
      good: () => 200,
      shows: showsList(
        'vehicle',
        ({ org, ids }, id) => org.vehicles.get(id as VehicleId)?.groupIds.includes(ids[0] as GroupId) ?? false,
      ),
    },
  ],
  listUsersOfGroup: [
    {
      kinds: ['group'],
      ask: () => ({ query: 'limit=1000' }),
      good: () => 200,
      shows: showsList(
        'user',
        ({ org, ids }, id) => org.users.get(id as UserId)?.groupIds.includes(ids[0] as GroupId) ?? false,
      ),
    },
  ],
  ...Object.fromEntries(
    ['putVehicleInGroup', 'takeVehicleFromGroup'].map((operation) => [
      operation,
      (['vehicle', 'terminal'] as const).map(
        (kind): Probe => ({ kinds: ['group', kind], good: kept(204), hidden: [403, 404], undo: undoMember }),
      ),
    ]),
  ),
  ...Object.fromEntries(
    ['grantGroupAccess', 'withdrawGroupAccess'].map((operation) => [
      operation,
      [{ kinds: ['group', 'user'], good: kept(204), hidden: [403, 404], undo: undoAccess } satisfies Probe],
    ]),
  ),
  changeVehicles: [
    {
      kinds: ['vehicle'],
      ask: (ids) => ({ body: { ids, patch: { speedLimitKmh: 80 } } }),
      good: kept(200),
      hidden: [400, 403],
      undo: undoVehicle,
    },
    {
      kinds: ['vehicle', 'group'],
      ask: ([id, group]) => ({ body: { ids: [id], patch: { groupIds: [group] } } }),
      good: keptByManager(200),
      hidden: [400, 403],
      undo: undoVehicleGroups,
    },
  ],
  moveVehicles: [
    {
      kinds: ['vehicle', 'user'],
      ask: ([id, dealerId]) => ({ body: { ids: [id], dealerId, history: 'along' } }),
      good: (scene) => (isOperator(scene.caller) ? movedTo(scene) : 403),
      hidden: [400, 403],
      late: true,
      undo: undoVehicle,
    },
    {
      kinds: ['vehicle'],
      ask: (ids) => ({ body: { ids, dealerId: null, history: 'along' } }),
      good: movedToNobody,
      hidden: [400, 403],
      late: true,
      undo: undoVehicle,
    },
  ],
  changeVehiclesOfGroup: (['add', 'remove'] as const).map(
    (list): Probe => ({
      kinds: ['group', 'vehicle'],
      ask: ([, id]) => ({ body: { [list]: [id] } }),
      good: kept(200),
      hidden: [400, 403, 404],
      undo: undoMember,
    }),
  ),
  changeUsersOfGroup: (['add', 'remove'] as const).map(
    (list): Probe => ({
      kinds: ['group', 'user'],
      ask: ([, id]) => ({ body: { [list]: [id] } }),
      good: kept(200),
      hidden: [400, 403, 404],
      undo: undoAccess,
    }),
  ),

  listVideoProfiles: [
    ...videoLists('profile'),
    {
      kinds: ['terminal'],
      ask: ([terminal]) => ({ query: `terminalId=${numberOf(terminal)}` }),
      good: video(200),
      hidden: [200, 403],
      shows: ({ body }, scene) =>
        expect(idsOf(body.items)).toEqual(withProfile(scene, vehicleOf(scene).id).map(({ id }) => id)),
    },
  ],
  addVideoProfile: [
    {
      kinds: ['vehicle'],
      ask: ([vehicleId]) => ({
        body: { vehicleId, name: 'New', protocol: 'stream', address: 'rtsp://nvr.example.net/{channel}?{start}' },
      }),
      good: (scene) =>
        scene.sights[0] !== 'kept' || !hasVideo(scene.caller)
          ? 403
          : withProfile(scene, scene.ids[0]).length > 0
            ? 409
            : 201,
      hidden: [400, 403],
      undo: ({ org }, { body }) => org.world.registry.videoProfiles.delete(body.id, null),
    },
    {
      // The number of a terminal is no secret: knowing another's must not give access to its recordings.
      kinds: ['vehicle', 'terminal'],
      unique: true,
      ask: ([vehicleId, terminal]) => ({ body: { vehicleId, name: 'New', address: numberOf(terminal) } }),
      good: ({ org, caller, sights: [sight], ids: [vehicleId, terminal] }) => {
        if (!hasVideo(caller)) return 403;
        if (sight !== 'kept') return sight === 'hidden' ? 400 : 403;
        const isOwn = org.vehicles.get(vehicleId as VehicleId)?.terminalId === numberOf(terminal);
        const hasProfile = [...org.profiles.values()].some((profile) => profile.vehicleId === vehicleId);
        return isOwn && !hasProfile ? 201 : 409;
      },
      undo: ({ org }, { body }) => org.world.registry.videoProfiles.delete(body.id, null),
    },
  ],
  getVideoProfile: [
    {
      kinds: ['profile'],
      good: () => 200,
      hidden: [403, 404],
      shows: ({ body }, scene) => {
        const { id, vehicleId, name } = profileOf(scene);
        const terminalId = scene.org.vehicles.get(vehicleId)?.terminalId;
        expect(body).toMatchObject({ id, vehicleId, name, terminalId });
      },
    },
  ],
  changeVideoProfile: [
    {
      kinds: ['profile'],
      ask: () => ({ body: { name: 'Renamed' } }),
      good: kept(200),
      hidden: [403, 404],
      undo: undoProfile,
    },
  ],
  deleteVideoProfile: [{ kinds: ['profile'], ask: () => STALE, good: kept(412), hidden: [403, 404] }],
  addVideoTask: [
    {
      kinds: ['profile'],
      ask: ([profileId]) => ({ body: { profileId, ...FRAGMENT } }),
      good: () => 201,
      hidden: [400, 403],
      shows: ({ body }, { caller }) => expect(body).toMatchObject({ status: 'new', createdBy: caller.id }),
      undo: undoAddedTask,
    },
  ],
  listVideoTasks: [
    ...videoLists('task'),
    {
      kinds: ['profile'],
      ask: ([profile]) => ({ query: `limit=1000&profileId=${profile}` }),
      good: () => 200,
      hidden: [403, 404],
      shows: showsList('task', ({ org, ids }, id) => org.tasks.get(id as VideoTaskId)?.profileId === ids[0]),
    },
  ],
  getVideoTask: [
    {
      kinds: ['task'],
      good: () => 200,
      hidden: [403, 404],
      shows: ({ body }, scene) => {
        const { id, vehicleId, state, createdBy } = taskOf(scene);
        const seen = sightOf(scene.org, scene.caller, 'user', createdBy ?? '') !== 'hidden' ? createdBy : null;
        expect(body).toMatchObject({ id, vehicleId, status: state, createdBy: seen });
      },
    },
  ],
  cancelVideoTask: [
    {
      kinds: ['task'],
      good: (scene) => kept(taskOf(scene).state === 'cancelled' ? 200 : 409)(scene),
      hidden: [403, 404],
    },
  ],
  changeVideoTask: [
    {
      // Those of the model are finished.
      kinds: ['task'],
      ask: () => ({ body: { audio: false } }),
      good: kept(409),
      hidden: [403, 404],
    },
  ],
  deleteVideoTask: [{ kinds: ['task'], ask: () => STALE, good: kept(412), hidden: [403, 404] }],
  getVideoFile: [
    {
      kinds: ['task'],
      good: (scene) => (taskOf(scene).state === 'done' ? 200 : 409),
      hidden: [403, 404],
      shows: ({ body }, { org, ids }) => expect(body).toBe(org.secrets.get(ids[0] ?? '')?.[0]),
    },
  ],
  deleteVideoFile: [
    {
      kinds: ['task'],
      late: true,
      good: (scene) => kept(taskOf(scene).state === 'done' ? 204 : 409)(scene),
      hidden: [403, 404],
    },
  ],
  getVideoStorage: [{ kinds: [], good: ({ caller }) => (isOperator(caller) ? 200 : 403) }],

  listGeozones: [
    ...lists('geofence'),
    { kinds: [], ask: () => ({ query: 'limit=1000&sort=name' }), good: () => 200, shows: showsList('geofence') },
  ],
  addGeozone: [
    {
      kinds: [],
      ask: (_, { org }) => ({ body: circle({ name: org.mark() }) }),
      good: () => 201,
      undo: undoAdded('geofences'),
    },
    {
      kinds: ['group'],
      ask: (ids, { org }) => ({ body: circle({ name: org.mark(), groupIds: ids }) }),
      good: () => 201,
      hidden: [400],
      undo: undoAdded('geofences'),
    },
    {
      // A name is taken among the geofences of one owner alone.
      kinds: ['geofence'],
      unique: true,
      late: true,
      ask: ([id], { org }) => ({ body: circle({ name: org.geofences.get(id as GeofenceId)?.name ?? 'absent' }) }),
      good: (scene) => (geofenceOf(scene).ownerId === scene.caller.id ? 409 : 201),
      undo: undoAdded('geofences'),
    },
  ],
  getGeozone: [{ kinds: ['geofence'], good: () => 200, shows: showsGeofence }],
  changeGeozone: [
    {
      kinds: ['geofence'],
      ask: (_, { org }) => ({ body: { properties: { name: org.mark() } } }),
      good: kept(200),
      undo: undoGeofence,
    },
    {
      kinds: ['geofence', 'group'],
      ask: ([, group]) => ({ body: { properties: { groupIds: [group] } } }),
      good: FIRST_KEPT(200),
      hidden: [400, 403, 404],
      undo: undoGeofence,
    },
  ],
  deleteGeozone: [{ kinds: ['geofence'], ask: () => STALE, good: kept(412) }],
  exportGeozones: [
    {
      kinds: [],
      good: () => 200,
      shows: ({ body }, { org, caller }) => {
        const own = [...org.geofences.values()].filter(({ ownerId }) => ownerId === caller.id);
        expect(idsOf(body.features)).toEqual(idsOf(own));
      },
    },
    {
      kinds: [],
      ask: () => ({ query: 'all=true' }),
      good: () => 200,
      shows: ({ body }, { org, caller }) =>
        expect(idsOf(body.features)).toEqual(visibleOf(org, caller, 'geofence').toSorted()),
    },
  ],
  readGeozoneFile: [
    { kinds: [], ask: () => ({ query: 'format=geojson', body: collection({ name: 'Any' }) }), good: () => 200 },
  ],
  importGeozoneFile: [
    {
      kinds: [],
      ask: (_, { org }) => ({ query: 'format=geojson', body: collection({ name: org.mark() }) }),
      good: () => 200,
      undo: undoImportedGeofence,
    },
    {
      kinds: ['group'],
      ask: (ids, { org }) => ({ query: 'format=geojson', body: collection({ name: org.mark(), groupIds: ids }) }),
      good: () => 200,
      hidden: [400],
      undo: undoImportedGeofence,
    },
    {
      kinds: ['geofence'],
      hidden: [200],
      ask: ([id]) => ({ query: 'format=geojson&dryRun=true', body: collection({ name: 'Renamed' }, id) }),
      good: () => 200,
      shows: ({ body }, scene) => {
        const isOwn = geofenceOf(scene).ownerId === scene.caller.id;
        expect(body.items).toMatchObject([
          { index: 0, id: isOwn ? scene.ids[0] : null, outcome: isOwn ? 'updated' : 'created' },
        ]);
      },
    },
  ],
  importGeozones: [
    {
      kinds: [],
      ask: (_, { org }) => ({ body: collection({ name: org.mark() }) }),
      good: () => 200,
      undo: undoImportedGeofence,
    },
    {
      kinds: ['group'],
      ask: (ids, { org }) => ({ body: collection({ name: org.mark(), groupIds: ids }) }),
      good: () => 200,
      hidden: [400],
      undo: undoImportedGeofence,
    },
    {
      // Only one of the caller's own is changed; the id of any other has no effect, and so reveals nothing.
      kinds: ['geofence'],
      hidden: [200],
      ask: ([id]) => ({ query: 'dryRun=true', body: collection({ name: 'Renamed' }, id) }),
      good: () => 200,
      shows: ({ body }, scene) => {
        const isOwn = geofenceOf(scene).ownerId === scene.caller.id;
        expect(body.items).toEqual([
          { index: 0, id: isOwn ? scene.ids[0] : null, outcome: isOwn ? 'updated' : 'created' },
        ]);
      },
    },
    {
      kinds: ['geofence'],
      unique: true,
      late: true,
      ask: ([id], { org }) => ({ body: collection({ name: org.geofences.get(id as GeofenceId)?.name ?? 'absent' }) }),
      good: (scene) => (geofenceOf(scene).ownerId === scene.caller.id ? 409 : 200),
      undo: undoImportedGeofence,
    },
  ],

  listNotificationRules: [
    ...lists('rule'),
    {
      kinds: ['user'],
      ask: ([ownerId]) => ({ query: `limit=1000&ownerId=${ownerId}` }),
      hidden: [200],
      good: () => 200,
      shows: showsList('rule', ({ org, ids }, id) => org.rules.get(id as NotificationRuleId)?.ownerId === ids[0]),
    },
  ],
  addNotificationRule: [
    { kinds: [], ask: (_, { org }) => ({ body: newRule(org) }), good: () => 201, undo: undoAdded('notificationRules') },
    ...(['vehicle', 'group', 'geofence', 'driver'] as const).map(
      (kind): Probe => ({
        kinds: [kind],
        ask: (ids, { org }) => ({ body: newRule(org, { [`${kind}Ids`]: ids }) }),
        good: () => 201,
        hidden: [400],
        undo: undoAdded('notificationRules'),
      }),
    ),
  ],
  getNotificationRule: [{ kinds: ['rule'], good: () => 200, shows: showsRule }],
  changeNotificationRule: [
    { kinds: ['rule'], ask: (_, { org }) => ({ body: { name: org.mark() } }), good: kept(200), undo: undoRule },
    ...(['vehicle', 'group', 'geofence', 'driver'] as const).map(
      (kind): Probe => ({
        kinds: ['rule', kind],
        ask: ([, id]) => ({ body: { [`${kind}Ids`]: [id] } }),
        good: FIRST_KEPT(200),
        hidden: [400, 404],
        undo: undoRule,
      }),
    ),
  ],
  deleteNotificationRule: [{ kinds: ['rule'], ask: () => STALE, good: kept(412) }],
  testNotificationRule: [{ kinds: ['rule'], good: kept(200), shows: showsTrial }],
  testNotificationRuleDraft: [
    { kinds: [], ask: () => ({ body: { eventKinds: ['trip'] } }), good: () => 200 },
    {
      kinds: ['rule'],
      ask: ([ruleId]) => ({ body: { ruleId, eventKinds: ['trip'] } }),
      good: kept(200),
      hidden: [404],
    },
    ...(['vehicle', 'group', 'geofence', 'driver'] as const).map(
      (kind): Probe => ({
        kinds: [kind],
        ask: (ids) => ({ body: { eventKinds: ['speeding'], [`${kind}Ids`]: ids } }),
        good: () => 200,
        hidden: [400],
      }),
    ),
  ],
  addChannelTest: [{ kinds: ['rule'], ask: () => ({ body: { channel: 'webhook' } }), good: testsChannel }],
  listChannelTests: [
    {
      kinds: ['rule'],
      good: kept(200),
      shows: ({ body }, { ids }) => {
        for (const { ruleId } of body.items) expect(ruleId).toBe(ids[0]);
      },
    },
  ],
  listNotifications: [
    { kinds: [], ask: () => ({ query: 'limit=1000' }), good: () => 200, shows: showsList('notification') },
    {
      kinds: ['vehicle'],
      ask: ([id]) => ({ query: `limit=1000&vehicleId=${id}` }),
      hidden: [200],
      good: () => 200,
      shows: showsList('notification', ({ org, ids }, id) => org.notifications.get(id)?.event.vehicleId === ids[0]),
    },
  ],
  readNotification: [
    { kinds: ['notification'], good: () => 200, shows: ({ body }, { ids }) => expect(body.id).toBe(ids[0]) },
  ],
  readAllNotifications: [{ kinds: [], good: () => 200 }],
  listIncidents: [
    { kinds: [], ask: () => ({ query: 'limit=1000' }), good: () => 200, shows: showsList('incident') },
    {
      kinds: ['vehicle'],
      ask: ([id]) => ({ query: `limit=1000&vehicleId=${id}` }),
      hidden: [200],
      good: () => 200,
      shows: showsList('incident', ({ org, ids }, id) => org.incidents.get(id)?.event.vehicleId === ids[0]),
    },
  ],
  getIncident: [{ kinds: ['incident'], good: () => 200, shows: ({ body }, { ids }) => expect(body.id).toBe(ids[0]) }],
  addIncidentEntry: [
    {
      kinds: ['incident'],
      ask: (_, { caller }) => ({ body: { kind: 'assigned', assigneeId: caller?.id ?? ABSENT } }),
      good: () => 201,
      shows: ({ body }, { caller }) => expect(body.assignee.id).toBe(caller.id),
    },
  ],
  listIncidentAssignees: [
    {
      kinds: ['incident'],
      ask: () => ({ query: 'limit=1000' }),
      good: () => 200,
      shows: ({ body }, { org, ids }) =>
        expect(idsOf(body.items)).toEqual(
          [...org.users.values()].flatMap((user) =>
            sightOf(org, user, 'incident', ids[0] ?? '') === 'hidden' ? [] : [user.id],
          ),
        ),
    },
  ],
  listWebhookDeliveries: [
    { kinds: [], ask: () => ({ query: 'limit=1000&channel=any' }), good: () => 200, shows: showsList('delivery') },
    {
      kinds: ['rule'],
      ask: ([id]) => ({ query: `limit=1000&channel=any&ruleId=${id}` }),
      hidden: [200],
      good: () => 200,
      shows: showsList('delivery', ({ org, ids }, id) => org.deliveries.get(id)?.ruleId === ids[0]),
    },
  ],
  resendWebhookDelivery: [
    {
      kinds: ['delivery'],
      // A notification about something that its reader may not see any more is not sent again.
      good: ({ org, caller, ids }) => {
        const { notificationId } = org.deliveries.get(ids[0] ?? '') ?? raise('no such delivery');
        return sightOf(org, caller, 'notification', notificationId) === 'hidden' ? 404 : 202;
      },
      shows: ({ body }, { ids }) => expect(body).toMatchObject({ id: ids[0], state: 'pending' }),
    },
  ],

  listReportKinds: [{ kinds: [], good: () => 200 }],
  getMyReportTemplates: [{ kinds: [], good: () => 200 }],
  setMyReportTemplates: [{ kinds: [], ask: () => ({ body: { items: [] } }), good: () => 200 }],
  reportTrack: [
    ...(['vehicle', 'terminal'] as const).map(
      (kind): Probe => ({
        kinds: [kind],
        ask: ([vehicle]) => ({ query: `${TRACK}&vehicleId=${vehicle}` }),
        good: () => 200,
        shows: ({ body }, scene) =>
          expect(body.items).toMatchObject([
            { vehicleId: vehicleOf(scene).id, attributes: { secret: scene.org.secrets.get(vehicleOf(scene).id)?.[0] } },
          ]),
      }),
    ),
    ...reportsOf(showsVehiclesOf),
  ],
  namePlace: [
    {
      kinds: [],
      ask: () => ({ query: 'latitude=53.9&longitude=27.5' }),
      good: () => 200,
      shows: ({ body }, { org, caller }) => {
        const { place } = body as { place: { geozoneId: string | null } };
        if (place.geozoneId !== null) expect(sightOf(org, caller, 'geofence', place.geozoneId)).not.toBe('hidden');
      },
    },
  ],
  reportTrips: reportsOf(),
  reportStops: reportsOf(),
  reportSpeeding: reportsOf(),
  reportEvents: [
    ...reportsOf(),
    {
      kinds: [],
      ask: () => ({ query: `${TRACK}&limit=1000` }),
      good: () => 200,
      shows: ({ body }, { org, caller }) => {
        const visible = org.events.filter(
          (event) =>
            sightOf(org, caller, 'data', event.vehicleId) !== 'hidden' &&
            (aboutGeofence(event) === null ||
              sightOf(org, caller, 'geofence', String(aboutGeofence(event))) !== 'hidden'),
        );
        expect(idsOf(body.items)).toEqual(visible.map(({ id }) => id).toSorted());
      },
    },
  ],
  // Every event is there twice: as it came, and as one that never was.
  followEvents: [
    {
      kinds: [],
      ask: () => ({ query: 'from=earliest&limit=1000' }),
      good: () => 200,
      shows: ({ body }, { org, caller }) => {
        const visible = org.events.filter(
          (event) =>
            sightOf(org, caller, 'data', event.vehicleId) !== 'hidden' &&
            (aboutGeofence(event) === null ||
              sightOf(org, caller, 'geofence', String(aboutGeofence(event))) !== 'hidden'),
        );
        const ids = visible.map(({ id }) => id);
        expect(idsOf(body.items)).toEqual([...ids, ...ids].toSorted());
      },
    },
  ],
  followPositions: [
    {
      kinds: [],
      ask: () => ({ query: 'from=earliest&limit=1000' }),
      good: () => 200,
      shows: ({ body }, { org, caller }) => {
        const seen = (body.items as { vehicleId: string }[]).map(({ vehicleId }) => vehicleId);
        expect(seen.toSorted()).toEqual(visibleOf(org, caller, 'data').toSorted());
      },
    },
  ],
  reportGeozoneVisits: [
    ...reportsOf(),
    {
      kinds: ['vehicle', 'geofence'],
      ask: ([vehicle, geofence]) => ({ query: `${TRACK}&vehicleId=${vehicle}&geozoneId=${geofence}` }),
      good: () => 200,
      shows: ({ body }, { ids: [vehicle, geofence] }) => {
        for (const item of body.items as { vehicleId: string; geozoneId: string }[])
          expect([item.vehicleId, item.geozoneId]).toEqual([vehicle, geofence]);
      },
    },
  ],
  reportGeozoneMatrix: reportsOf(),
  reportShapeVisits: reportsOf(undefined, { body: AROUND }),
  reportMileage: reportsOf(showsVehiclesOf),
  reportSummary: reportsOf(showsVehiclesOf),
  reportUtilisation: reportsOf(showsVehiclesOf),
  reportIdling: reportsOf(showsVehiclesOf),
  reportFuel: reportsOf(showsVehiclesOf),
  reportRefuellings: reportsOf(),
  reportEngineHours: reportsOf(showsVehiclesOf),
  reportMaintenance: reportsOf(),
  reportSensors: reportsOf(),
  reportSensorSeries: reportsOf(),
  reportWorkTime: reportsOf(showsVehiclesOf),
  reportViolations: reportsOf(),
  reportFleetDigest: reportsOf(showsVehiclesOf),
  reportEcoDriving: reportsOf(),
  reportDrivers: reportsOf(),
  reportPositionsAt: [
    {
      kinds: ['vehicle'],
      ask: ([id]) => ({ query: `at=2026-01-15T12:00:00Z&vehicleId=${id}` }),
      good: () => 200,
    },
    { kinds: ['group'], ask: ([id]) => ({ query: `at=2026-01-15T12:00:00Z&groupId=${id}` }), good: () => 200 },
    { kinds: [], ask: () => ({ query: 'at=2026-01-15T12:00:00Z' }), good: () => 200 },
  ],
  reportCurrentState: reportsOf(showsVehiclesOf, {}, ''),

  addReportJob: [
    { kinds: [], ask: () => ({ body: REPORT }), good: asksFor, undo: keepReport },
    ...(['vehicle', 'group'] as const).map(
      (kind): Probe => ({
        kinds: [kind],
        ask: ([id]) => ({ body: { ...REPORT, [`${kind}Id`]: id } }),
        good: asksFor,
        hidden: [400],
        undo: keepReport,
      }),
    ),
    {
      kinds: ['geofence'],
      ask: ([geozoneId]) => ({ body: { ...REPORT, kind: 'geozone-visits', geozoneId } }),
      good: asksFor,
      hidden: [400],
      undo: keepReport,
    },
  ],
  getReportFile: [
    {
      kinds: ['job'],
      good: ({ org, caller, ids: [id = ''] }) => {
        const vehicle = org.reports.get(id);
        if (vehicle === undefined) return 404;
        if (vehicle === null) return 409;
        // Of what was made for the whole account, a key that is limited to groups gets nothing.
        if (isLimited(caller)) return 410;
        // The caller must still be allowed to see the vehicle that the file is about.
        return org.vehicles.has(vehicle) && sightOf(org, caller, 'data', vehicle) === 'hidden' ? 410 : 200;
      },
      shows: ({ body }, { org, ids: [id = ''] }) => expect(body).toBe(org.secrets.get(org.reports.get(id) ?? '')?.[0]),
    },
  ],
  listReportSchedules: lists('schedule'),
  addReportSchedule: [
    { kinds: [], ask: (_, { org }) => ({ body: newSchedule(org) }), good: () => 201, undo: undoSchedule },
    ...(['vehicle', 'group'] as const).map(
      (kind): Probe => ({
        kinds: [kind],
        ask: ([id], { org }) => ({ body: newSchedule(org, { [`${kind}Id`]: id }) }),
        good: () => 201,
        hidden: [400],
        undo: undoSchedule,
      }),
    ),
    {
      kinds: ['geofence'],
      ask: ([geozoneId], { org }) => ({ body: newSchedule(org, { kind: 'geozone-visits', geozoneId }) }),
      good: () => 201,
      hidden: [400],
      undo: undoSchedule,
    },
  ],
  listReportDeliveries: [{ kinds: ['schedule'], good: () => 200 }],
  getReportSchedule: [{ kinds: ['schedule'], good: () => 200, shows: showsSchedule }],
  changeReportSchedule: [
    { kinds: ['schedule'], ask: () => ({ body: { hour: 7 } }), good: kept(200), shows: showsSchedule },
    {
      kinds: ['schedule', 'group'],
      ask: ([, groupId]) => ({ body: { vehicleId: null, groupId } }),
      good: FIRST_KEPT(200),
      hidden: [400, 404],
      undo: async ({ org, ids: [id = ''] }) => {
        const { report } =
          (await org.world.registry.reportSchedules.get(id as ReportScheduleId)) ?? raise('no schedule');
        await org.world.registry.reportSchedules.update(id as ReportScheduleId, null, {
          report: { ...report, vehicleId: [...org.vehicles.keys()][0], groupId: null },
        });
      },
    },
  ],
  listDrivers: [
    ...lists('driver'),
    { kinds: [], ask: () => ({ query: 'limit=1000&sort=-name' }), good: () => 200, shows: showsList('driver') },
  ],
  addDriver: [
    { kinds: [], ask: () => ({ body: { name: 'New' } }), good: manager, undo: undoAdded('drivers') },
    {
      kinds: ['group'],
      ask: (groupIds) => ({ body: { name: 'New', groupIds } }),
      good: manager,
      hidden: [400, 403],
      undo: undoAdded('drivers'),
    },
    {
      kinds: ['user'],
      ask: ([dealerId]) => ({ body: { name: 'New', dealerId } }),
      good: addedTo,
      hidden: [403],
      undo: undoAdded('drivers'),
    },
  ],
  getDriver: [{ kinds: ['driver'], good: () => 200, shows: showsDriver }],
  changeDriver: [
    { kinds: ['driver'], ask: () => ({ body: { name: 'Renamed' } }), good: kept(200), undo: undoDriver },
    {
      kinds: ['driver', 'group'],
      ask: ([, group]) => ({ body: { groupIds: [group] } }),
      good: FIRST_KEPT(200),
      hidden: [400, 403, 404],
      undo: undoDriver,
    },
  ],
  deleteDriver: [{ kinds: ['driver'], ask: () => STALE, good: kept(412) }],
  exportDrivers: [
    {
      kinds: [],
      good: () => 200,
      shows({ body }, scene) {
        const rows = rowsOf(body);
        expect(rows.map(([id]) => id)).toEqual(visibleOf(scene.org, scene.caller, 'driver').toSorted());
        const groupsAt = groupsColumnOf(body);
        for (const row of rows) {
          const { name, groupIds } = scene.org.drivers.get(row[0] as DriverId) ?? raise('no such driver');
          expect(row[1]).toBe(name);
          const names = visibleGroups(scene, groupIds).map((group) => scene.org.groups.get(group)?.name);
          expect(row[groupsAt]?.split(' | ').filter(Boolean).toSorted()).toEqual(names.toSorted());
        }
      },
    },
  ],
  importDrivers: [
    { kinds: [], ask: () => csv('name', 'New'), good: importer, undo: undoImportedDriver },
    {
      kinds: ['group'],
      ask: ([group]) => csv('name,groups', `New,${group}`),
      good: importer,
      hidden: [400, 403],
      undo: undoImportedDriver,
    },
    {
      kinds: ['user'],
      ask: ([dealerId]) => csv('name,dealerId', `New,${dealerId}`),
      good: (scene) => importedTo(scene, scene.ids[0]),
      hidden: [400, 403],
      undo: undoImportedDriver,
    },
    {
      kinds: ['driver'],
      ask: ([id]) => csv('id,name', `${id},Renamed`),
      good: importer,
      hidden: [400, 403],
      undo: undoDriver,
    },
    {
      kinds: ['driver'],
      ask: ([id]) => ({ ...csv('id,name', `${id},Renamed`), query: 'dryRun=true' }),
      good: importer,
      hidden: [400, 403],
      async undo(scene) {
        expect((await scene.org.world.registry.drivers.get(driverOf(scene).id))?.name).not.toBe('Renamed');
      },
    },
  ],
  listUnknownDriverCodes: [{ kinds: [], good: importer }],
  listDriverAssignments: [
    { kinds: [], good: () => 200 },
    { kinds: ['vehicle'], ask: ([id]) => ({ query: `vehicleId=${id}` }), good: () => 200, hidden: [404] },
    { kinds: ['driver'], ask: ([id]) => ({ query: `driverId=${id}` }), good: () => 200, hidden: [404] },
  ],
  addDriverAssignment: [
    {
      kinds: ['vehicle', 'driver'],
      ask: ([vehicleId, driverId]) => ({ body: { vehicleId, driverId, from: '2026-01-01T00:00:00Z' } }),
      good: ({ org, sights, ids: [vehicleId, driverId] }) => {
        if (sights[0] !== 'kept') return 403;
        const dealerOf = org.vehicles.get(vehicleId as VehicleId)?.dealerId;
        return org.drivers.get(driverId as DriverId)?.dealerId === dealerOf ? 201 : 400;
      },
      hidden: [400, 403],
      undo: ({ org }, { body }) => org.world.registry.driverAssignments.delete(body.id),
    },
  ],
  // What may be done with an assignment goes by its vehicle: see drivers.test.ts. A driver is no assignment.
  changeDriverAssignment: [{ kinds: ['driver'], ask: () => ({ body: { to: null } }), good: () => 404 }],
  deleteDriverAssignment: [{ kinds: ['driver'], good: () => 404 }],
  getCounters: [{ kinds: ['vehicle'], good: () => 200 }],
  addCounter: [
    {
      kinds: ['vehicle'],
      ask: () => ({ body: { name: 'Crane', source: 'manual' } }),
      good: ifMaintaining(201),
      undo: (scene, { body }) => scene.org.world.registry.customCounters.remove(vehicleOf(scene).id, body.id, null),
    },
  ],
  getCounter: [
    {
      kinds: ['vehicle', 'counter'],
      good: ({ org, ids: [vehicleId, id = ''] }) => (org.kept.get(id)?.vehicleId === vehicleId ? 200 : 404),
    },
  ],
  changeCounter: [
    {
      kinds: ['vehicle', 'counter'],
      ask: () => ({ ...STALE, body: { name: 'Another' } }),
      good: ({ org, caller, ids: [vehicleId, id = ''] }) =>
        !maintains(caller) ? 403 : org.kept.get(id)?.vehicleId === vehicleId ? 412 : 404,
      hidden: [403, 404],
    },
  ],
  deleteCounter: [ofItsOwn('counter')],
  importCounterReadings: [
    {
      kinds: ['vehicle'],
      ask: ([id]) => csv('vehicleId,value', `${id},7`),
      good: ifMaintaining(200),
      hidden: [400, 403],
      undo: (scene, { body }) =>
        scene.org.world.registry.counters.removeCorrection(vehicleOf(scene).id, body.items[0].id),
    },
  ],
  importMaintenancePlans: [
    {
      kinds: ['vehicle'],
      ask: ([id]) => csv('vehicleId,name,everyDays', `${id},Plan,30`),
      good: ifMaintaining(200),
      hidden: [400, 403],
      undo: ({ org }, { body }) => org.world.registry.maintenance.deletePlan(body.items[0].id, null),
    },
    {
      kinds: ['group'],
      ask: ([id]) => ({ ...csv('group,name,everyDays', `${id},Plan,30`), query: 'dryRun=true' }),
      good: ifMaintaining(200),
      hidden: [400, 403],
    },
  ],
  correctCounter: [
    {
      kinds: ['vehicle'],
      ask: () => ({ body: { counter: 'odometer', value: 5 } }),
      good: ifMaintaining(201),
      undo: (scene, { body }) => scene.org.world.registry.counters.removeCorrection(vehicleOf(scene).id, body.id),
    },
  ],
  deleteCounterCorrection: [ofItsOwn('correction')],
  listMaintenance: [{ kinds: [], good: () => 200 }],
  listMaintenancePlans: lists('plan'),
  addMaintenancePlan: [
    {
      kinds: ['vehicle'],
      ask: ([vehicleId]) => ({ body: { name: 'Plan', vehicleId, every: { days: 30 } } }),
      good: ifMaintaining(201),
      hidden: [400, 403],
      undo: ({ org }, { body }) => org.world.registry.maintenance.deletePlan(body.id, null),
    },
    {
      kinds: ['group'],
      ask: ([groupId]) => ({ body: { name: 'Plan', groupId, every: { days: 30 } } }),
      good: ifMaintaining(201),
      hidden: [400, 403],
      undo: ({ org }, { body }) => org.world.registry.maintenance.deletePlan(body.id, null),
    },
  ],
  getMaintenancePlan: [
    {
      kinds: ['plan'],
      good: () => 200,
      shows: ({ body }, { org, ids: [id = ''] }) => expect(body).toMatchObject(org.plans.get(id) ?? {}),
    },
  ],
  changeMaintenancePlan: [
    { kinds: ['plan'], ask: () => ({ ...STALE, body: { description: 'Another' } }), good: kept(412) },
  ],
  deleteMaintenancePlan: [{ kinds: ['plan'], ask: () => STALE, good: kept(412) }],
  listServiceRecords: [{ kinds: ['vehicle'], good: () => 200 }],
  addServiceRecord: [
    {
      kinds: ['vehicle', 'plan'],
      ask: ([, planId]) => ({ body: { planId } }),
      good: (scene) =>
        !maintains(scene.caller)
          ? 403
          : scene.org.plans.get(scene.ids[1] ?? '')?.vehicleId === vehicleOf(scene).id
            ? 201
            : 400,
      hidden: [400, 403, 404],
      undo: async ({ org }, { body }) => void (await org.world.registry.serviceRecords.remove(body.id)),
    },
  ],
  deleteServiceRecord: [ofItsOwn('service')],
  addServiceFile: [
    {
      kinds: ['vehicle', 'service'],
      ask: () => ({ body: { name: 'a.pdf', content: 'JVBERi0=' } }),
      good: ({ org, caller, ids: [vehicleId, id = ''] }) =>
        !maintains(caller) ? 403 : org.kept.get(id)?.vehicleId === vehicleId ? 201 : 404,
      hidden: [403, 404],
      undo: ({ org, ids: [, id] }, { body }) =>
        org.world.registry.serviceRecords.removeFile(id as ServiceRecordId, body.id),
    },
  ],
  getServiceFile: [
    {
      kinds: ['vehicle', 'service', 'service-file'],
      good: ({ org, ids }) => (isItsFile(org, ids) ? 200 : 404),
    },
  ],
  deleteServiceFile: [
    {
      kinds: ['vehicle', 'service', 'service-file'],
      late: true,
      good: ({ org, caller, ids }) => (!maintains(caller) ? 403 : isItsFile(org, ids) ? 204 : 404),
      hidden: [403, 404],
      undo: ({ org, ids: [, , id = ''] }) => org.restoreKept(id),
    },
  ],
  listShareLinks: lists('share'),
  addShareLink: [
    {
      kinds: ['vehicle'],
      ask: (ids) => ({ body: { vehicleIds: ids, expiresAt: '2026-01-16T12:00:00Z' } }),
      good: () => 201,
      hidden: [400],
      undo: ({ org }, { body }) => org.world.registry.shareLinks.delete(body.id),
    },
  ],
  getShareLink: [
    {
      kinds: ['share'],
      good: () => 200,
      shows: ({ body }, { org, ids: [id = ''] }) => expect(body).toMatchObject(org.shares.get(id) ?? {}),
    },
  ],
  deleteShareLink: [
    {
      kinds: ['share'],
      late: true,
      good: () => 204,
      undo: ({ org, ids: [id = ''] }) => org.restoreShares((org.shares.get(id) ?? raise('no such link')).ownerId),
    },
  ],
  // A token is all that is needed; what it shows is tried in share-pages.test.ts.
  getShared: [{ kinds: [], good: () => 404, open: () => 404 }],
  deleteReportSchedule: [{ kinds: ['schedule'], ask: () => STALE, good: kept(412) }],
  recalculateGeozone: [{ kinds: ['geofence'], ask: () => ({ query: TRACK }), good: begins, undo: keepJob }],
  importHistory: byEither({
    ask: () => ({ ...csv('', ''), body: 'fixTime,latitude,longitude\r\n' }),
    good: keptByManager(200),
  }),
  recalculateVehicle: byEither({ ask: () => ({ query: TRACK }), good: begins, undo: keepJob }),
  eraseHistory: byEither({
    ask: () => ({ query: 'dryRun=true', body: { before: '2026-01-01T00:00:00Z' } }),
    good: keptByManager(200),
  }),
  // Of those that a dealer sees, it keeps all; an account has its own.
  exportUser: [{ kinds: ['user'], good: (scene) => begins({ ...scene, sights: ['kept'] }), undo: keepExport }],
  exportDriver: [{ kinds: ['driver'], good: begins, undo: keepExport }],
  getPersonExport: [
    {
      kinds: ['job'],
      // Nothing makes the files here.
      good: ({ org, caller, ids: [id = ''] }) => (org.exports.has(id) && org.jobs.get(id) === caller.id ? 409 : 404),
    },
  ],
  listJobs: [
    {
      kinds: [],
      ask: () => ({ query: 'limit=1000' }),
      good: () => 200,
      shows: ({ body, ...answer }, scene) => {
        // What was deleted is erased by a job that nobody asked for.
        const [erasures, asked] = [true, false].map((is) =>
          (body.items as { kind: string }[]).filter(({ kind }) => (kind === 'erasure') === is),
        );
        if (!isOperator(scene.caller)) expect(erasures).toEqual([]);
        showsList('job')({ ...answer, body: { items: asked } }, scene);
      },
    },
  ],
  getJob: [{ kinds: ['job'], good: () => 200, shows: showsJob }],
  cancelJob: [{ kinds: ['job'], good: () => 200, shows: showsJob, undo: noteCancelled }],
};

// The machine that asks

interface Operation {
  operationId: string;
  method: string;
  path: string;
  needsToken: boolean;
  /** What an API key needs for it; null: none will do. */
  scope: string | null;
}
const document = openApiDocument(DESCRIBED) as {
  paths: Record<string, Record<string, { operationId: string; security: { apiKey?: string[] }[] }>>;
};
const OPERATIONS: readonly Operation[] = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, security }]) => ({
    operationId,
    method: method.toUpperCase(),
    path,
    needsToken: security.length > 0,
    scope: security.find(({ apiKey }) => apiKey !== undefined)?.apiKey?.[0] ?? null,
  })),
);

const absentOf = (kind: Kind) => (kind === 'terminal' ? 'terminal:absent' : ABSENT);

function* combinations(org: Organisation, kinds: readonly Kind[]): Generator<string[]> {
  const [kind, ...rest] = kinds;
  if (kind === undefined) return yield [];
  for (const id of allOf(org, kind)) for (const more of combinations(org, rest)) yield [id, ...more];
}

/** How many things each caller asks each operation for; by default few, which change with the seed. */
const MOST_ASKED = PAIRS < 10_000 ? 2 : Number.POSITIVE_INFINITY;

/** All of them, or as many as are asked for, spread evenly from `start` on. */
function asked<T>(all: readonly T[], start: number): T[] {
  if (all.length <= MOST_ASKED) return [...all];
  return Array.from({ length: MOST_ASKED }, (_, nth) => {
    const at = (start + Math.floor((nth * all.length) / MOST_ASKED)) % all.length;
    return all[at] as T;
  });
}

async function call(
  org: Organisation,
  operation: Operation,
  probe: Probe,
  caller: User | null,
  ids: readonly string[],
) {
  const left = [...ids];
  const path = operation.path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(left.shift() ?? ''));
  const { query, ...question } = probe.ask?.(ids, { org, caller }) ?? {};
  const jwt = caller === null ? undefined : (keyOf(caller)?.text ?? org.jwts.get(caller.id));
  const answer = await org.world.call(operation.method, `${path}${query ? `?${query}` : ''}`, {
    ...question,
    ...(jwt === undefined ? {} : { jwt }),
  });
  return { answer, said: JSON.stringify(question.body) ?? '' };
}

/** Everything of an answer that its reader can read, what is only encoded included. */
function readable({ body, headers }: Answer): string {
  const decoded: string[] = [];
  if (typeof body?.nextCursor === 'string') decoded.push(body.nextCursor);
  for (const token of [body?.jwt, body?.refresh]) if (typeof token === 'string') decoded.push(...token.split('.'));
  return [
    JSON.stringify(body),
    ...[...headers].map(([name, value]) => `${name}: ${value}`),
    ...decoded.map((text) => Buffer.from(text, 'base64url').toString('latin1')),
  ].join('\n');
}

/** What goes on after the call with all rights of the account: no key that is limited to groups writes it. */
const LASTING: ReadonlySet<string> = new Set([
  'addNotificationRule',
  'changeNotificationRule',
  'deleteNotificationRule',
  'addChannelTest',
  'addMessageChannel',
  'changeMessageChannel',
  'deleteMessageChannel',
  'confirmMessageChannel',
  'addMessageChannelTest',
  'addReportSchedule',
  'changeReportSchedule',
  'deleteReportSchedule',
  'addForwardingDestination',
  'changeForwardingDestination',
  'deleteForwardingDestination',
  'replayForwardingDestination',
  'testForwardingDestination',
]);

/** What an account needs for a call, whatever it is about. */
const RIGHT_OF: Readonly<Record<string, AccountRight>> = {
  addGeozone: 'edit-geofences',
  importGeozones: 'edit-geofences',
  importGeozoneFile: 'edit-geofences',
  addNotificationRule: 'edit-notifications',
  changeNotificationRule: 'edit-notifications',
  deleteNotificationRule: 'edit-notifications',
  addChannelTest: 'edit-notifications',
  addMessageChannel: 'edit-notifications',
  changeMessageChannel: 'edit-notifications',
  confirmMessageChannel: 'edit-notifications',
  addMessageChannelTest: 'edit-notifications',
  resendWebhookDelivery: 'edit-notifications',
  addIncidentEntry: 'edit-notifications',
  addReportSchedule: 'edit-notifications',
  changeReportSchedule: 'edit-notifications',
  deleteReportSchedule: 'edit-notifications',
  addShareLink: 'share',
};

/** What is done with the profile of a vehicle, which a suspension leaves as it is. All else is about its data. */
const ON_PROFILES: ReadonlySet<string> = new Set([
  'addDriverAssignment',
  'addForwardingDestination',
  'addMaintenancePlan',
  'addNotificationRule',
  'addShareLink',
  'addVehicle',
  'changeNotificationRule',
  'changeVehicle',
  'changeVehicles',
  'changeVehiclesOfGroup',
  'deleteVehicle',
  'getVehicle',
  'importCounterReadings',
  'importHistory',
  'importMaintenancePlans',
  'importSensors',
  'importVehicles',
  'listAudit',
  'listDriverAssignments',
  'listVehicles',
  'putVehicleInGroup',
  'recalculateVehicle',
  'resumeVehicle',
  'suspendVehicle',
  'takeVehicleFromGroup',
  'testNotificationRuleDraft',
]);

/** Does a call name a vehicle whose data is hidden from the caller, and not its profile? */
function asksForHiddenData(org: Organisation, caller: User, probe: Probe, ids: readonly string[]): boolean {
  return probe.kinds.some((kind, nth) => {
    if (kind !== 'vehicle' && kind !== 'terminal') return false;
    const id = ids[nth] ?? '';
    const vehicle = [...org.vehicles.values()].find((each) => each.id === id || `terminal:${each.terminalId}` === id);
    if (vehicle === undefined || sightOf(org, caller, 'vehicle', vehicle.id) === 'hidden') return false;
    return sightOf(org, caller, 'data', vehicle.id) === 'hidden';
  });
}

/** Asked for here with what nobody gets, see message-channels.test.ts. */
const NONSENSE: ReadonlySet<string> = new Set(['addMessageChannel']);

/** Is the call nothing that the caller's API key is for, whatever it is about? */
function isBeyondKey({ operationId, scope }: Operation, caller: User | null): boolean {
  const key = keyOf(caller);
  if (key === null) return false;
  return scope === null || !key.scopes.includes(scope) || (isLimited(caller) && LASTING.has(operationId));
}

function withWhichKey(caller: User | null): string {
  const key = keyOf(caller);
  return key === null ? '' : ` with a key of ${key.scopes} for ${key.groupIds ?? 'all groups'}`;
}

/**
 * What two indistinguishable answers must have in common; the count of calls goes on in any case, and what the caller
 * sent is returned.
 */
function face({ answer: { status, body, headers }, said }: { answer: Answer; said: string }): string {
  const shown = [...headers].filter(([name]) => name !== 'ratelimit').toSorted();
  return JSON.stringify([status, shown, body]).replaceAll(MARKED, (word) => (said.includes(word) ? '…' : word));
}

interface Tally {
  pairs: number;
  allowed: Map<string, number>;
  refused: Map<string, number>;
  /** Role, kind and sight of what was asked for. */
  sights: Set<string>;
}
/** All that there is to meet, by the words of the design. */
const SIGHTS = Object.entries<Partial<Record<Sight, string>>>({
  operator: {
    kept: 'user vehicle terminal group geofence session rule notification incident delivery job schedule share driver profile task command',
    hidden: 'notification incident delivery',
  },
  dealer: {
    kept: 'user vehicle terminal group geofence session rule notification incident delivery job schedule share driver profile task command',
    seen: 'user geofence',
    hidden:
      'user vehicle terminal group geofence session rule notification incident delivery job schedule share driver profile task command',
  },
  user: {
    // That a user keeps a camera or its task is checked where it is met: with all that it takes, it is rare.
    kept: 'vehicle terminal geofence session rule notification incident delivery job schedule share command',
    seen: 'user vehicle terminal group geofence driver profile task',
    hidden:
      'user vehicle terminal group geofence session rule notification incident delivery job schedule share driver profile task command',
  },
}).flatMap(([role, sights]) =>
  Object.entries(sights).flatMap(([sight, kinds]) => kinds.split(' ').map((kind) => `${role} ${kind} ${sight}`)),
);
const count = (map: Map<string, number>, key: string) => map.set(key, (map.get(key) ?? 0) + 1);

/** The organisation as if no vehicle were suspended. */
function withoutSuspensions(org: Organisation): Organisation {
  const vehicles = [...org.vehicles].map(([id, vehicle]) => [id, { ...vehicle, suspension: null }] as const);
  return Object.create(org, { vehicles: { value: new Map(vehicles) } });
}

async function everyPair(org: Organisation, tally: Tally): Promise<void> {
  const isAudit = ({ operationId }: Operation) => operationId === 'listAudit';
  const phases: ((operation: Operation, probe: Probe) => boolean)[] = [
    (operation, probe) => !isAudit(operation) && !probe.late,
    isAudit,
    (_, probe) => probe.late === true,
  ];
  const callers = [null, ...org.users.values(), ...org.keyCallers];
  let probes = SEED;
  for (const phase of phases)
    for (const caller of callers) {
      // The audit trail goes on naming the cameras and the commands of a suspended vehicle.
      const forbidden = forbiddenWords(phase === isAudit ? withoutSuspensions(org) : org, caller, org.secrets);
      const expectNoLeak = (what: string, answer: Answer, said: string) => {
        // A name that the caller gave to something of their own is returned to them, and so are wrong values. They
        // reveal nothing: things that do not exist get the same answer (see below).
        const text = readable(answer);
        for (const { 0: word, index } of text.matchAll(MARKED))
          if (forbidden.has(word) && !said.includes(word))
            throw new Error(
              `${what} tells ${word}, which the caller may not know: …${text.slice(Math.max(0, index - 500), index + 200)}…`,
            );
      };
      for (const operation of OPERATIONS)
        for (const probe of (MODEL[operation.operationId] ?? []).filter((each) => phase(operation, each))) {
          // Multiplied, so that it is not always the same probes of each caller.
          if ((Math.imul(probes++, 0x9e3779b1) >>> 0) % ONE_IN !== 0) continue;
          const likeAbsent = new Map<string, string>();
          for (const listed of asked([...combinations(org, probe.kinds)], tally.pairs)) {
            const ids = listed.map((id) => org.present(id));
            tally.pairs += 1;
            const what = `${operation.operationId} of [${probe.kinds.map((kind, nth) => `${kind} ${ids[nth]}`)}] by ${caller?.role ?? 'nobody'} ${caller?.id}${withWhichKey(caller)}`;
            const exchange = await call(org, operation, probe, caller, ids);
            const { answer, said } = exchange;
            const { status } = answer;
            expectNoLeak(what, answer, said);

            const locked = lockedOut(caller);
            if (caller === null || locked !== null) {
              if (!operation.needsToken) {
                expect(status, what).toBe(probe.open?.(caller));
                continue;
              }
              expect(status, what).toBe(locked);
              count(tally.refused, operation.operationId);
            }
            if (locked === null && operation.needsToken && isBeyondKey(operation, caller)) {
              // What is asked for is read first: nonsense is refused as such.
              if (status !== 400 || !NONSENSE.has(operation.operationId)) expect(status, what).toBe(403);
              count(tally.refused, operation.operationId);
              continue;
            }
            const right = RIGHT_OF[operation.operationId];
            if (caller !== null && locked === null && right !== undefined && lacks(caller, right)) {
              if (status !== 400 || !NONSENSE.has(operation.operationId))
                expect([status, answer.body.right], what).toEqual([403, right]);
              count(tally.refused, operation.operationId);
              continue;
            }
            const isOfHiddenData =
              caller !== null &&
              locked === null &&
              !ON_PROFILES.has(operation.operationId) &&
              asksForHiddenData(org, caller, probe, ids);
            const sights: Sight[] = probe.kinds.map((kind, nth) =>
              caller === null || locked !== null ? 'hidden' : sightOf(org, caller, kind, ids[nth] ?? ''),
            );
            if (caller !== null && locked === null)
              for (const [nth, kind] of probe.kinds.entries())
                tally.sights.add(`${caller.role} ${kind} ${sights[nth]}`);
            if (sights.includes('hidden') && !(probe.unique && locked === null)) {
              const inPlace = ids.map((id, nth) =>
                sights[nth] === 'hidden' ? absentOf(probe.kinds[nth] as Kind) : id,
              );
              const key = inPlace.join(' ');
              let absent = likeAbsent.get(key);
              if (absent === undefined) {
                absent = face(await call(org, operation, probe, caller, inPlace));
                likeAbsent.set(key, absent);
              }
              const shown = face(exchange);
              if (shown !== absent) expect(shown, `${what}, which is to look as if it did not exist`).toBe(absent);
              const hidden = [...(probe.hidden ?? [404]), ...(isOfHiddenData ? [403] : [])];
              if (locked === null && !hidden.includes(status)) expect(hidden, what).toContain(status);
              count(tally.refused, operation.operationId);
              continue;
            }
            if (caller === null || locked !== null) continue;
            if (isOfHiddenData) {
              // Where its profile would do as well, it is named as one that does not exist; lists leave it out.
              if (status === 200) expect(answer.body.items, what).toEqual([]);
              // That something else has a value is answered to all alike.
              else
                expect([400, 403, ...(probe.unique ? [409] : [])], `${what}: ${JSON.stringify(answer.body)}`).toContain(
                  status,
                );
              count(tally.refused, operation.operationId);
              continue;
            }

            const scene: Scene = { org, caller, ids, sights };
            const good = probe.good(scene);
            if (good !== status) expect(good, `${what}: ${JSON.stringify(answer.body)}`).toBe(status);
            count(
              status < 300 || status === 412 || status === 409 ? tally.allowed : tally.refused,
              operation.operationId,
            );
            if (status < 300) {
              probe.shows?.(answer, scene);
              await probe.undo?.(scene, answer);
            }
          }
        }
    }
}

const LISTS = [
  'listUsers',
  'listVehicles',
  'exportVehicles',
  'listVehicleGroups',
  'listDrivers',
  'exportDrivers',
  'listGeozones',
  'exportGeozones',
  'listNotificationRules',
  'listNotifications',
  'listIncidents',
  'listWebhookDeliveries',
  'listJobs',
  'listReportSchedules',
  'listShareLinks',
  'listMaintenancePlans',
  'listVideoProfiles',
  'listVideoTasks',
];

/**
 * Everyone's lists, once more.
 *
 * @param sinceMs of the audit trail, what was noted from then on
 */
async function everyList(org: Organisation, tally: Tally, sinceMs: number): Promise<void> {
  for (const caller of org.users.values()) {
    if (lockedOut(caller) !== null) continue;
    const forbidden = forbiddenWords(org, caller, org.secrets);
    for (const operation of OPERATIONS.filter(({ operationId }) => LISTS.includes(operationId))) {
      const probe = MODEL[operation.operationId]?.[0] ?? raise('a list without a probe');
      const { answer } = await call(org, operation, probe, caller, []);
      tally.pairs += 1;
      if (answer.status < 300) probe.shows?.(answer, { org, caller, ids: [], sights: [] });
      for (const [word] of readable(answer).matchAll(MARKED))
        expect(forbidden.has(word), `${word} is told`).toBe(false);
    }
    if (caller.role === 'user') continue;
    const since = encodeURIComponent(new Date(sinceMs).toISOString());
    const trail = await org.world.call('GET', `/api/v1/audit?limit=1000&from=${since}`, {
      jwt: org.jwts.get(caller.id) ?? '',
    });
    tally.pairs += 1;
    expect(trail.status).toBe(200);
    // A suspension hides what the terminal says, and not who changed what.
    const unshown = forbiddenWords(withoutSuspensions(org), caller, org.secrets);
    for (const entry of trail.body.items)
      for (const [word] of JSON.stringify(entry).matchAll(MARKED))
        expect(unshown.has(word), `the trail tells a ${caller.role} ${word}: ${JSON.stringify(entry)}`).toBe(false);
  }
}

/** Does the right to change what is kept go as far as deleting it? */
function mayDelete(caller: User, kind: string): boolean {
  if (kind === 'vehicle') return mayManage(caller);
  return kind !== 'rule' || !lacks(caller, 'edit-notifications');
}

/** Takes everything away again, each thing by one of those who may, and sees that it is gone and nothing else is. */
async function takeApart(org: Organisation, tally: Tally): Promise<void> {
  const [keeper] = org.users.keys();
  // Up to here, the trail named the earlier places to those who were concerned then.
  org.world.nowMs += 1;
  const sinceMs = org.world.nowMs;
  // Half of some stay, to see what becomes of them when what they are tied to goes.
  for (const [kind, path, part] of [
    ['rule', '/api/v1/notification-rules', 0.5],
    ['profile', '/service/ovms/api/profiles', 0.5],
    ['geofence', '/api/v1/geozones', 0.5],
    ['vehicle', '/api/v1/vehicles', 0.5],
    ['group', '/api/v1/vehicle-groups', 0.5],
    ['user', '/api/v1/users', 1],
    ['group', '/api/v1/vehicle-groups', 1],
    ['geofence', '/api/v1/geozones', 1],
  ] as const) {
    const things = allOf(org, kind);
    for (const [nth, id] of things.slice(things.length * (1 - part)).entries()) {
      const may = [...org.users.values()].filter(
        (caller) =>
          lockedOut(caller) === null &&
          caller.id !== id &&
          sightOf(org, caller, kind, id) === 'kept' &&
          mayDelete(caller, kind),
      );
      const caller = may[nth % may.length];
      if (caller === undefined || id === keeper) continue;
      const vehicles = org.vehicles.size;
      const { status } = await org.world.call('DELETE', `${path}/${id}`, {
        jwt: org.jwts.get(caller.id) ?? '',
      });
      tally.pairs += 1;
      expect(status, `${caller.role} deletes ${kind}`).toBe(204);
      const jwt = org.jwts.get(id as UserId);
      if (jwt !== undefined) expect((await org.world.call('GET', '/api/v1/me', { jwt })).status).toBe(401);
      for (const { key } of org.keyCallers.filter((each) => each.id === id))
        expect((await org.world.call('GET', '/api/v1/me', { jwt: key.text })).status).toBe(401);
      await org.reload();
      expect(allOf(org, kind)).not.toContain(id);
      if (kind === 'user') {
        expect(org.vehicles.size).toBe(vehicles);
        for (const { ownerId } of org.geofences.values()) expect(ownerId).not.toBe(id);
        if (nth % ONE_IN === 0) await everyList(org, tally, sinceMs);
      }
    }
    await everyList(org, tally, sinceMs);
  }
}

/** Operations whose success other tests try. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  // See drivers.test.ts.
  'changeDriverAssignment',
  'deleteDriverAssignment',
  // See forwarding.test.ts.
  'getForwardingDestination',
  'changeForwardingDestination',
  'deleteForwardingDestination',
  'replayForwardingDestination',
  'testForwardingDestination',
  // See message-channels.test.ts.
  'addMessageChannel',
  'getMessageChannel',
  'changeMessageChannel',
  'deleteMessageChannel',
  'confirmMessageChannel',
  'addMessageChannelTest',
  'listMessageChannelTests',
  // See second-factor.test.ts.
  'confirmSecondFactor',
  'renewRecoveryCodes',
  'disableSecondFactor',
  // See passkeys.test.ts.
  'beginPasskey',
  'addPasskey',
  'renamePasskey',
  'removePasskey',
  // See openid-pages.test.ts.
  'linkMyOpenId',
  'unlinkMyOpenId',
]);

/** What nobody met yet of all that there is to meet: it would be vain if nobody had ever been let in, or refused. */
function unmet({ sights, allowed, refused }: Tally): string[] {
  // A few thousand pairs may miss an operation whose object is rare.
  if (PAIRS < 100_000) return [];
  const needingToken = OPERATIONS.filter(({ needsToken }) => needsToken).map(({ operationId }) => operationId);
  return [
    ...SIGHTS.filter((sight) => !sights.has(sight)),
    ...needingToken.filter((id) => !allowed.has(id) && !ELSEWHERE.has(id)).map((id) => `${id} allowed`),
    ...needingToken.filter((id) => !refused.has(id)).map((id) => `${id} refused`),
  ];
}

/** What is rare may take more pairs than were asked for, and may not take them without end. */
const MOST_PAIRS = 4 * PAIRS;

test('the model knows every operation of the document, and no other', () => {
  expect(Object.keys(MODEL).toSorted()).toEqual(OPERATIONS.map(({ operationId }) => operationId).toSorted());
});

test(`${PAIRS} pairs of a caller and what they ask for, in random organisations (RIGHTS_SEED=${SEED})`, {
  timeout: PATIENCE_MS,
}, async () => {
  const tally: Tally = { pairs: 0, allowed: new Map(), refused: new Map(), sights: new Set() };
  let failedAtMs: number | null = null;
  const isEnough = () => {
    if (failedAtMs !== null) return performance.now() > failedAtMs + SHRINKING_MS;
    return tally.pairs >= PAIRS && (unmet(tally).length === 0 || tally.pairs >= MOST_PAIRS);
  };
  await fc.assert(
    fc.asyncProperty(blueprint, async (plan) => {
      if (isEnough()) return;
      const org = await Organisation.build(plan);
      try {
        await everyPair(org, tally);
        await takeApart(org, tally);
        // Nothing went wrong inside meanwhile.
        expect(org.world.logged).toEqual([]);
      } catch (error) {
        failedAtMs ??= performance.now();
        throw error;
      } finally {
        await org.world.close();
      }
    }),
    { numRuns: 10_000, seed: SEED },
  );
  expect(tally.pairs).toBeGreaterThanOrEqual(PAIRS);
  expect(unmet(tally)).toEqual([]);
});
