import { randomBytes } from 'node:crypto';
import {
  type EventKind,
  type GeofenceId,
  type GroupId,
  type ProtocolName,
  type TerminalId,
  type User,
  VEHICLE_DEFAULTS,
  type VehicleId,
} from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import type { Config } from '@outrider/runtime';
import { createDemoScenario, type DemoScenario, startFleet, startVideoTerminal } from '@outrider/simulator';
import { WebSocket } from 'ws';
import type { variables } from './config.ts';
import type { Outrider } from './outrider.ts';

const DEMO_LOGIN = 'demo';
/** The phone number of the one vehicle with cameras. */
const CAMERA_PHONE = '13800000099' as TerminalId;

/** Names by id, for printing events. */
interface Names {
  vehicles: Map<VehicleId, string>;
  geofences: Map<GeofenceId, string>;
}

/**
 * A fleet on the road of a made-up town, against the service as any fleet would be: terminals over TCP and HTTP, a
 * login, the live API. Prints what happens as it happens.
 */
export async function runDemo(
  config: Config<typeof variables>,
  { ports, registry }: Outrider,
): Promise<{ stop(): Promise<void> }> {
  const scenario = createDemoScenario();
  // Another one with each start: the ports may be open to a whole network.
  const password = randomBytes(9).toString('base64url');
  const names = await ensureDefinitions(registry, scenario, password);
  const fleet = startFleet({ scenario, host: '127.0.0.1', ports: ports as Record<ProtocolName, number> });
  await ensureCameras(registry, names);
  const cameras = startVideoTerminal({ host: '127.0.0.1', port: ports.jt808 ?? 0, phone: CAMERA_PHONE });
  const socket = await watch(ports.http, names, password);
  if (config.LOG_FORMAT === 'text')
    process.stdout.write(
      `The demo fleet is on the road: ${scenario.vehicles.length} vehicles, ${scenario.geofences.length} geofences.\n` +
        `  demo login  ${DEMO_LOGIN} / ${password}   (another one with each start)\n` +
        `  cameras     terminal ${CAMERA_PHONE}, at /service/ovms/api\n\nEvents as they come:\n\n`,
    );
  return {
    async stop() {
      socket.close();
      await cameras.stop();
      await fleet.stop();
    },
  };
}

/** Makes the account, the groups, the vehicles and the geofences of the demo, save those that an earlier run made. */
async function ensureDefinitions(registry: Registry, scenario: DemoScenario, password: string): Promise<Names> {
  const known = await registry.users.byLogin(DEMO_LOGIN);
  if (known) await registry.users.setPassword(known.id, password, null);
  const user = known ?? (await createDemoUser(registry, scenario, password));
  const names: Names = { vehicles: new Map(), geofences: new Map() };

  const groupByName = new Map<string, GroupId>();
  for (const id of user.groupIds) {
    const group = await registry.groups.get(id);
    if (group) groupByName.set(group.name, id);
  }
  for (const { profile, group } of scenario.vehicles) {
    const { terminalId } = profile;
    const groupId = groupByName.get(group);
    const vehicle =
      (await registry.vehicles.list({ terminalId }, { limit: 1, after: null })).items[0] ??
      (await registry.vehicles.create({
        ...VEHICLE_DEFAULTS,
        ...profile,
        dealerId: null,
        groupIds: groupId ? [groupId] : [],
      }));
    names.vehicles.set(vehicle.id, `${vehicle.name} ${vehicle.plate ?? ''}`.trim());
  }
  const drawn = await registry.geofences.list({ ownerId: user.id }, { limit: 1000, after: null });
  for (const fence of scenario.geofences) {
    const geofence =
      drawn.items.find(({ name }) => name === fence.name) ??
      (await registry.geofences.create({ ...fence, ownerId: user.id, groupIds: null }));
    names.geofences.set(geofence.id, geofence.name);
  }
  return names;
}

/** One more vehicle, with cameras that record all the time. */
async function ensureCameras(registry: Registry, names: Names): Promise<void> {
  const user = await registry.users.byLogin(DEMO_LOGIN);
  const [known] = (await registry.vehicles.list({ terminalId: CAMERA_PHONE }, { limit: 1, after: null })).items;
  const vehicle =
    known ??
    (await registry.vehicles.create({
      ...VEHICLE_DEFAULTS,
      name: 'Bus with cameras',
      terminalId: CAMERA_PHONE,
      dealerId: null,
      groupIds: user?.groupIds.slice(0, 1) ?? [],
    }));
  names.vehicles.set(vehicle.id, vehicle.name);
  const profiles = await registry.videoProfiles.list({ vehicleId: vehicle.id }, { limit: 1, after: null });
  if (profiles.items.length > 0) return;
  await registry.videoProfiles.create({
    vehicleId: vehicle.id,
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

async function createDemoUser(registry: Registry, scenario: DemoScenario, password: string): Promise<User> {
  const groups = [];
  for (const name of scenario.groups) groups.push(await registry.groups.create({ name, dealerId: null }));
  return registry.users.create(
    {
      login: DEMO_LOGIN,
      name: 'Demo dispatcher',
      role: 'user',
      dealerId: null,
      blocked: false,
      apiAccess: true,
      services: ['video'],
      groupIds: groups.map(({ id }) => id),
    },
    password,
  );
}

/** Logs in as anyone would and prints events from the live API. */
async function watch(httpPort: number, names: Names, password: string): Promise<WebSocket> {
  const base = `127.0.0.1:${httpPort}`;
  const response = await fetch(`http://${base}/auth/login?jwt=1`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ login: DEMO_LOGIN, password }),
  });
  if (!response.ok) throw new Error(`the demo login was refused: ${response.status} ${await response.text()}`);
  const { jwt } = (await response.json()) as { jwt: string };
  const socket = new WebSocket(`ws://${base}/live`, { headers: { Authorization: `JWT ${jwt}` } });
  socket.on('open', () => socket.send(JSON.stringify({ type: 'subscribe', all: true, positions: false })));
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString()) as LiveMessage;
    if (message.type === 'event') process.stdout.write(`${inWords(message, names)}\n`);
  });
  socket.on('error', (error) => process.stderr.write(`the demo's live connection: ${error.message}\n`));
  return socket;
}

interface LiveMessage {
  type: string;
  kind: EventKind;
  phase: 'begin' | 'end';
  vehicleId: VehicleId;
  geofenceId?: GeofenceId | null;
  startedAt: string;
  endedAt: string | null;
  speedKmh: number | null;
  limitKmh?: number;
  peakKmh?: number;
  distanceM?: number;
  alarm?: string;
}

/** `12:00:07  Van 3 AB 123    entered     Depot`. */
function inWords(event: LiveMessage, { vehicles, geofences }: Names): string {
  const time = (event.endedAt ?? event.startedAt).slice(11, 19);
  const vehicle = (vehicles.get(event.vehicleId) ?? event.vehicleId).padEnd(24);
  const { geofenceId } = event;
  const place = geofenceId ? (geofences.get(geofenceId) ?? geofenceId) : '';
  const begins = event.phase === 'begin';
  const [what, how] = wordsOf(event, begins, place);
  const seconds = Math.round((Date.parse(event.endedAt ?? event.startedAt) - Date.parse(event.startedAt)) / 1000);
  const details = [how, begins ? '' : `after ${seconds} s`].filter((detail) => detail !== '').join(', ');
  return `${time}  ${vehicle}  ${what.padEnd(11)} ${details}`.trimEnd();
}

function wordsOf(event: LiveMessage, begins: boolean, place: string): [what: string, how: string] {
  switch (event.kind) {
    case 'geofence-visit':
      return [begins ? 'entered' : 'left', place];
    case 'speeding': {
      const speed = begins
        ? `${Math.round(event.speedKmh ?? event.peakKmh ?? 0)} km/h`
        : `peak ${Math.round(event.peakKmh ?? 0)} km/h`;
      return [begins ? 'speeding' : 'slowed', `${speed}, limit ${event.limitKmh}${place === '' ? '' : ` in ${place}`}`];
    }
    case 'trip':
      return begins ? ['set out', ''] : ['arrived', `${((event.distanceM ?? 0) / 1000).toFixed(1)} km`];
    case 'parking':
      return [begins ? 'parked' : 'drove on', ''];
    case 'idling':
      return [begins ? 'idling' : 'idled', ''];
    case 'ignition':
      return [begins ? 'switched on' : 'switched off', ''];
    case 'alarm':
      return [begins ? 'alarm' : 'alarm over', event.alarm ?? ''];
    case 'power-cut':
      return [begins ? 'power lost' : 'power back', ''];
    case 'offline':
      return [begins ? 'offline' : 'online', ''];
  }
}
