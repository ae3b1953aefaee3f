import {
  type Geofence,
  type GeofenceId,
  type GroupId,
  HOURS_UNIT,
  type NotificationRule,
  type Role,
  type Sensor,
  SYSTEM_CLOCK,
  type User,
  type UserId,
  VEHICLE_DEFAULTS,
  type Vehicle,
  type VehicleId,
} from '@outrider/domain';
import type { NotificationRuleFields, Registry, UserFields } from '@outrider/registry';
import { CAMERA_PHONE, type DemoScenario } from '@outrider/simulator';
import { ensurePeople } from './people.ts';

const DAY_MS = 86_400_000;
/** The account used by the demo itself. It manages the whole fleet. */
export const DEMO_LOGIN = 'demo';
/** The only group that the dispatcher sees. */
const DISPATCHED_GROUP = 'Delivery';
/** A suspended car: it is no longer shown, though its terminal still sends. */
const SUSPENDED = { vehicle: 'Supervisor 01', reason: 'The leasing contract of this car has ended.' };
/** Destination to which the fleet is forwarded: the receiver of the demo. */
const RECEIVER = 'Receiver of the demo';
/** Retention of all groups: longer than the history of the demo. */
const DEMO_RETENTION_DAYS = 90;

interface Account {
  login: string;
  name: string;
  role: Role;
  /** Permissions of the account, as printed for people. */
  about: string;
}

/** The accounts, with the most privileged first. */
export const DEMO_ACCOUNTS: readonly Account[] = [
  { login: 'demo-operator', name: 'Operator', role: 'operator', about: 'operator: everything' },
  { login: 'demo-dealer', name: 'Dealer', role: 'dealer', about: 'dealer: vehicles, groups and users' },
  { login: DEMO_LOGIN, name: 'Fleet manager', role: 'user', about: 'fleet manager: all groups' },
  { login: 'demo-dispatcher', name: 'Dispatcher', role: 'user', about: `dispatcher: group ${DISPATCHED_GROUP}` },
  { login: 'demo-viewer', name: 'Viewer', role: 'user', about: 'viewer: all groups, and changes nothing' },
];

/** Definitions that the demo made, or found in its folder. */
export interface DemoDefinitions {
  dealer: User;
  manager: User;
  /** By terminal id. */
  vehicles: Map<string, Pick<Vehicle, 'id' | 'name' | 'plate' | 'sensors'>>;
  geofences: Map<GeofenceId, string>;
}

/**
 * Creates the accounts, groups, vehicles, drivers, geofences and notification rules of the demo that do not exist yet.
 */
export async function ensureDefinitions(
  registry: Registry,
  scenario: DemoScenario,
  password: string,
): Promise<DemoDefinitions> {
  const dealer = await ensureAccount(registry, account('demo-dealer'), {}, password);
  const groups = await ensureGroups(registry, scenario, dealer.id);
  await ensureAccount(registry, account('demo-operator'), {}, password);
  const rights = { dealerId: dealer.id, services: ['video', 'maintenance'] as const };
  const manager = await ensureAccount(
    registry,
    account(DEMO_LOGIN),
    { ...rights, services: ['video', 'commands', 'command-text', 'maintenance'], groupIds: [...groups.values()] },
    password,
  );
  const dispatched = groups.get(DISPATCHED_GROUP);
  await ensureAccount(
    registry,
    account('demo-dispatcher'),
    { ...rights, groupIds: dispatched === undefined ? [] : [dispatched] },
    password,
  );

  await ensureAccount(
    registry,
    account('demo-viewer'),
    { dealerId: dealer.id, rights: [], groupIds: [...groups.values()] },
    password,
  );

  const vehicles: DemoDefinitions['vehicles'] = new Map();
  for (const { profile, group, sensors } of scenario.vehicles) {
    const { terminalId } = profile;
    const groupId = groups.get(group);
    const known = (await registry.vehicles.list({ terminalId }, { limit: 1, after: null })).items[0];
    const vehicle =
      known ??
      (await registry.vehicles.create({
        ...VEHICLE_DEFAULTS,
        ...profile,
        dealerId: dealer.id,
        groupIds: groupId ? [groupId] : [],
        customAttributes: { depot: group },
        sensors,
      }));
    // Only once, because a user may have resumed the vehicle.
    if (known === undefined && vehicle.name === SUSPENDED.vehicle)
      await registry.vehicles.suspend(vehicle.id, { reason: SUSPENDED.reason, by: 'dealer' });
    vehicles.set(terminalId, vehicle);
    if (terminalId === CAMERA_PHONE) await ensureCameras(registry, vehicle.id);
  }
  const vehicleNamed = (name: string) => [...vehicles.values()].find((each) => each.name === name)?.id;
  await ensurePeople(registry, dealer.id, [...groups.values()], vehicleNamed);
  const geofences = await ensureGeofences(registry, scenario, manager.id);
  await ensureRules(registry, manager.id, geofences, groups);
  await ensureCounters(registry, [...vehicles.values()]);
  await ensureMaintenance(registry, dealer.id, manager.id, groups, [...vehicles.values()]);
  return { dealer, manager, vehicles, geofences: new Map(geofences.map(({ id, name }) => [id, name])) };
}

function account(login: string): Account {
  return DEMO_ACCOUNTS.find((each) => each.login === login) as Account;
}

async function ensureAccount(
  registry: Registry,
  { login, name, role }: Account,
  rights: Partial<Pick<UserFields, 'dealerId' | 'services' | 'rights' | 'groupIds'>>,
  password: string,
): Promise<User> {
  const known = await registry.users.byLogin(login);
  if (known === null) {
    const nothing = { dealerId: null, services: [], groupIds: [] };
    return registry.users.create(
      { ...nothing, ...rights, login, name, role, blocked: false, apiAccess: true },
      password,
    );
  }
  // Sets the password only if it differs, because that ends the account's sessions.
  if ((await registry.users.authenticate(login, password)) === null)
    await registry.users.setPassword(known.id, password, null);
  return known;
}

/** The groups by name. Groups of an earlier version of the demo belong to the operator. */
async function ensureGroups(
  registry: Registry,
  scenario: DemoScenario,
  dealerId: UserId,
): Promise<Map<string, GroupId>> {
  const groups = new Map<string, GroupId>();
  const earlier = (await registry.users.byLogin(DEMO_LOGIN))?.groupIds ?? [];
  for (const id of earlier) {
    const group = await registry.groups.get(id);
    if (group !== null && scenario.groups.includes(group.name)) groups.set(group.name, id);
  }
  for (const name of scenario.groups)
    if (!groups.has(name))
      groups.set(name, (await registry.groups.create({ name, dealerId, retentionDays: DEMO_RETENTION_DAYS })).id);
  return groups;
}

async function ensureGeofences(registry: Registry, scenario: DemoScenario, ownerId: UserId): Promise<Geofence[]> {
  const drawn = await registry.geofences.list({ ownerId }, { limit: 1000, after: null });
  const made: Geofence[] = [];
  for (const fence of scenario.geofences)
    made.push(
      drawn.items.find(({ name }) => name === fence.name) ??
        (await registry.geofences.create({ ...fence, ownerId, groupIds: null, sharedGroupIds: [] })),
    );
  return made;
}

const COOLING = 'Refrigeration unit';

function compressorOf({ sensors }: Pick<Vehicle, 'sensors'>): Sensor | undefined {
  return sensors.find(({ name, kind }) => name === 'Compressor' && kind === 'digital');
}

/** Operating hours of the refrigeration units, starting a week ago. */
async function ensureCounters(registry: Registry, vehicles: readonly Pick<Vehicle, 'id' | 'sensors'>[]): Promise<void> {
  const known = await registry.customCounters.of(vehicles.map(({ id }) => id));
  for (const vehicle of vehicles) {
    const compressor = compressorOf(vehicle);
    if (compressor === undefined || known.has(vehicle.id)) continue;
    await registry.customCounters.create(vehicle.id, {
      ...{ name: COOLING, unit: HOURS_UNIT, source: 'sensor-hours', sensorId: compressor.id },
      startsAtMs: SYSTEM_CLOCK.now() - 7 * DAY_MS,
    });
  }
}

/** Maintenance plans, one of which becomes due within two minutes, and past services. */
async function ensureMaintenance(
  registry: Registry,
  dealerId: UserId,
  managerId: UserId,
  groups: ReadonlyMap<string, GroupId>,
  vehicles: readonly Pick<Vehicle, 'id' | 'sensors'>[],
): Promise<void> {
  const { maintenance, serviceRecords } = registry;
  if ((await maintenance.plans()).length > 0) return;
  const nowMs = SYSTEM_CLOCK.now();
  const nothing = { distanceM: null, engineMs: null, days: null, counter: null };
  const [first, second] = vehicles;
  const [group] = groups.values();
  if (first === undefined || second === undefined || group === undefined) return;
  const plan = { description: null, dealerId, vehicleId: null, groupId: null, counterName: null };
  const oil = await maintenance.createPlan({
    ...plan,
    name: 'Oil and filter',
    vehicleId: first.id,
    every: { ...nothing, distanceM: 15_000_000, engineMs: 500 * 3_600_000, days: 180 },
    warning: { ...nothing, distanceM: 1_000_000, engineMs: 30 * 3_600_000, days: 14 },
    startsAtMs: nowMs - 200 * DAY_MS,
  });
  await maintenance.createPlan({
    ...plan,
    name: 'Yearly inspection',
    groupId: group,
    every: { ...nothing, distanceM: 40_000_000, days: 365 },
    warning: { ...nothing, distanceM: 2_000_000, days: 30 },
    startsAtMs: nowMs - 200 * DAY_MS,
  });
  const cooled = vehicles.find(compressorOf);
  if (cooled !== undefined)
    await maintenance.createPlan({
      ...plan,
      name: 'Refrigeration unit service',
      vehicleId: cooled.id,
      counterName: COOLING,
      every: { ...nothing, counter: 500, days: 365 },
      warning: { ...nothing, counter: 25, days: 14 },
      startsAtMs: nowMs - 7 * DAY_MS,
    });
  const service = { odometerM: null, engineMs: null, note: null, createdBy: managerId };
  await serviceRecords.add({
    ...service,
    vehicleId: first.id,
    planId: oil.id,
    title: oil.name,
    // Due 90 seconds from now.
    atMs: nowMs - 180 * DAY_MS + 90_000,
    cost: { amountMinor: 18_450, currency: 'EUR' },
  });
  await serviceRecords.add({
    ...service,
    vehicleId: second.id,
    planId: null,
    title: 'Tyres changed',
    atMs: nowMs - 40 * DAY_MS,
    cost: { amountMinor: 64_000, currency: 'EUR' },
  });
}

async function ensureRules(
  registry: Registry,
  ownerId: UserId,
  geofences: readonly Geofence[],
  groups: ReadonlyMap<string, GroupId>,
): Promise<void> {
  const fence = (name: string) => geofences.filter((each) => each.name.startsWith(name)).map(({ id }) => id);
  const group = (name: string) => [...groups].filter(([known]) => known === name).map(([, id]) => id);
  const rules: (Pick<NotificationRule, 'name' | 'eventKinds'> & Partial<NotificationRuleFields>)[] = [
    {
      name: 'Speeding in the old town',
      eventKinds: ['speeding'],
      geofenceIds: fence('Old town'),
      minIntervalMinutes: 720,
    },
    {
      name: 'Panic button and power cuts',
      eventKinds: ['alarm', 'power-cut'],
      alarms: ['sos'],
      ...{ severity: 'critical', shared: true, escalateAfterMinutes: 15 },
      minIntervalMinutes: 15,
    },
    { name: 'Harsh driving', eventKinds: ['harsh-driving'], minIntervalMinutes: 15 },
    {
      name: 'Deliveries at the hospital',
      eventKinds: ['geofence-visit'],
      geofenceIds: fence('City Hospital'),
      groupIds: group('Delivery'),
      minIntervalMinutes: 60,
    },
    {
      name: 'Leaves the depot at night',
      eventKinds: ['geofence-visit'],
      phases: ['end'],
      geofenceIds: fence('Depot'),
      hours: { from: '21:00', to: '05:00' },
      minIntervalMinutes: 60,
    },
    { name: 'Terminal offline', eventKinds: ['offline'] },
    { name: 'Fuel drains and refuellings', eventKinds: ['fuel-drain', 'refuelling'] },
    { name: 'Maintenance is near or due', eventKinds: ['maintenance-due'] },
    { name: 'Driving licences expire', eventKinds: ['licence-expiry'] },
    {
      name: 'Cargo too warm',
      eventKinds: ['sensor-threshold'],
      sensors: ['Cargo temperature'],
      ...{ phases: ['begin', 'end'], severity: 'warning', shared: true },
      groupIds: group('Delivery'),
      minIntervalMinutes: 60,
    },
    {
      name: 'Idles for two minutes outside the depots',
      eventKinds: ['idling'],
      minDurationMinutes: 2,
      outsideGeofenceIds: fence('Depot'),
      messageTemplate: '{vehicle} idles since {time}: {place}',
      minIntervalMinutes: 60,
    },
  ];
  const known = await registry.notificationRules.list({ ownerId }, { limit: 1000, after: null });
  for (const rule of rules) {
    if (known.items.some(({ name }) => name === rule.name)) continue;
    await registry.notificationRules.create(
      {
        ownerId,
        active: true,
        phases: ['begin'],
        minDurationMinutes: 0,
        alarms: null,
        sensors: null,
        command: null,
        vehicleIds: null,
        groupIds: null,
        geofenceIds: null,
        insideGeofenceIds: null,
        outsideGeofenceIds: null,
        driver: null,
        driverIds: null,
        driverGroupIds: null,
        licenceWarningDays: 30,
        days: { on: 'daily' },
        hours: null,
        timeZone: localTimeZone(),
        minIntervalMinutes: 0,
        maxDataAgeMinutes: null,
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
        ...rule,
      },
      null,
    );
  }
}

/** Forwards the dealer's fleet to a receiver, whose address and secret change at each start. */
export async function ensureForwarding(
  { forwardingDestinations }: Pick<Registry, 'forwardingDestinations'>,
  { id: ownerId }: Pick<User, 'id'>,
  { url, secret }: { url: string; secret: string },
): Promise<void> {
  const fields = { settings: { url }, endpoint: new URL(url).host };
  const { items } = await forwardingDestinations.list(ownerId, { limit: 100, after: null });
  const known = items.find(({ name, kind }) => name === RECEIVER && kind === 'http');
  if (known !== undefined) {
    const { name, kind, filter, active } = known;
    await forwardingDestinations.update(known.id, null, { name, kind, filter, active, ...fields }, { secret });
    return;
  }
  const filter = { vehicleIds: null, groupIds: null, positions: true, events: true, eventKinds: null };
  const wanted = { name: RECEIVER, kind: 'http', filter, active: true, ...fields };
  await forwardingDestinations.create(ownerId, wanted, { secret, headers: {} });
}

export function localTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Adds video profiles for cameras that record all the time. */
async function ensureCameras(registry: Registry, vehicleId: VehicleId): Promise<void> {
  const profiles = await registry.videoProfiles.list({ vehicleId }, { limit: 1, after: null });
  if (profiles.items.length > 0) return;
  await registry.videoProfiles.create({
    vehicleId,
    name: 'Dash cameras',
    protocol: 'jt1078',
    address: CAMERA_PHONE,
    channels: [
      { number: 1, name: 'Road', direction: 'front' },
      { number: 2, name: 'Doors', direction: 'cabin' },
    ],
    quality: 'main',
    audio: true,
    maxFragmentSeconds: 900,
    maxParallelDownloads: 1,
    timeZone: 'Asia/Shanghai',
  });
}
