import type { Position, TerminalId, VehicleId } from '@outrider/domain';
import { featureFromShape } from '@outrider/geo';
import type { ListedProtocol } from '@outrider/protocols';
import { connectTerminal, createRandom, type TerminalClient } from '@outrider/simulator';
import { expect, vi } from 'vitest';
import { driveRound, measured, onCircuit, placeAt } from './circuit.fixture.ts';
import type { Kill, KillableService } from './killable-service.fixture.ts';
import type { LogContent } from './log-reader.fixture.ts';
import { ReconnectingClient } from './reconnecting-client.fixture.ts';
import { call, inForce, type LiveMessage, logIn, OPERATOR_PASSWORD } from './service.fixture.ts';
import { type ReceivedWebhook, receiveWebhooks } from './webhook-receiver.fixture.ts';

const ENVIRONMENT = {
  WEBHOOK_ALLOW_PRIVATE: 'yes',
  MAIL_TRUSTED_DOMAINS: 'example.com',
  // Hours of driving are made in minutes.
  MAIL_ADDRESS_HOURLY: '10000',
  MAIL_ADDRESS_DAILY: '10000',
  MAIL_OWNER_HOURLY: '10000',
  MAIL_OWNER_DAILY: '10000',
  MESSAGE_CHANNEL_HOURLY: '10000',
  MESSAGE_CHANNEL_DAILY: '10000',
  CHECKPOINT_MS: '100',
  ARCHIVE_MS: '100',
};
/** How long ago drives begin: fixes are made faster than real time, and none may be in the future. */
const BEGAN_AGO_MS = 20 * 3_600_000;
const MAX_FIXES = 5000;
/** In so many, each tank was filled and robbed. */
const LEAST_FIXES = 500;
const FEED_EVERY_MS = 60;
const FIXES_AT_ONCE = 2;
const PATIENCE = { timeout: 90_000, interval: 100 };
const PASSWORD = 'a password for a test';
export const LISTENERS = ['anna', 'ben', 'admin'] as const;

/** Those over Wialon IPS measure ({@link measured}). */
const FLEET: readonly { protocol: ListedProtocol; terminalId: TerminalId; group: 'north' | 'south' }[] = [
  { protocol: 'teltonika', terminalId: '356307042441013' as TerminalId, group: 'north' },
  { protocol: 'omnicomm', terminalId: '202000777' as TerminalId, group: 'north' },
  { protocol: 'wialon-ips', terminalId: 'wialon-7' as TerminalId, group: 'north' },
  { protocol: 'osmand', terminalId: 'phone-7' as TerminalId, group: 'south' },
  { protocol: 'teltonika', terminalId: '356307042441021' as TerminalId, group: 'south' },
  { protocol: 'wialon-ips', terminalId: 'wialon-8' as TerminalId, group: 'south' },
];

const MEASURING: ListedProtocol = 'wialon-ips';
/** What is set of vehicles whose terminals measure. */
const MEASURED_FIELDS = {
  tankCapacityL: 400,
  sensors: [
    {
      ...{ name: 'Cargo', kind: 'temperature', unit: '°C', source: 't' },
      thresholds: [{ condition: 'above', max: -15, hysteresis: 1, forSeconds: 20 }],
    },
  ],
};

/** A vehicle, and the positions that its terminal sent and that were acknowledged and archived. */
export interface Driven {
  vehicleId: VehicleId;
  group: 'north' | 'south';
  sent: Position[];
  acknowledged: number;
  archived: { fixTime: string; latitude: number; longitude: number }[];
}

/** A user: what their client received, and the content of their inbox. */
export interface Listener {
  received: LiveMessage[];
  undescribed: string[];
  inbox: Notification[];
  connections: number;
}

/** A notification as REST and the live API show it. */
export interface Notification {
  id: string;
  number: number;
  ruleName: string;
  event: { id: string; phase: string };
}

/** The results of a service that was killed again and again, and of its clients. */
export interface Aftermath {
  kills: Record<Kill, number> & { fastestStartMs: number };
  /** Of all processes that were stopped in order at the end. */
  exitCodes: (number | null)[];
  fleet: Driven[];
  geofenceIds: Record<'anna' | 'ben' | 'admin', string[]>;
  log: LogContent;
  listeners: Record<'anna' | 'ben' | 'admin', Listener>;
  /** Anna's deliveries, all of them finished. */
  deliveries: { id: string; channel: string; state: string; notificationId: string }[];
  webhooks: readonly ReceivedWebhook[];
  webhookSecret: string;
  /** Names of the files. */
  mails: string[];
  /** Lines of all lives at level `error` and above. */
  complaints: string[];
}

/**
 * Kills what runs with -9 at random moments while terminals send, people listen and messages go out: while it starts,
 * works, saves checkpoints. Then lets it finish, and looks at everything from outside, and into its log.
 *
 * @param seed decides the moments and the drives
 */
export async function crash(
  seed: number,
  kills: number,
  born: (environment: Record<string, string>) => Promise<KillableService>,
): Promise<Aftermath> {
  const random = createRandom(seed);
  /**
   * For what comes at its own time: it must not take from the stream above, or the seed would not decide the moments.
   */
  const chance = createRandom(seed + 1);
  const receiver = await receiveWebhooks((id, times) => (times === 1 && id.endsWith('0') ? 503 : 204));
  const terminals: TerminalClient[] = [];
  const clients: ReconnectingClient[] = [];
  let feeding: NodeJS.Timeout | null = null;
  let killable: KillableService | null = null;
  try {
    killable = await born(ENVIRONMENT);
    const { httpPort } = killable;
    const { vehicleIds, geofenceIds, tokens, webhookSecret } = await furnish(httpPort, receiver.url);
    for (const [nth, name] of LISTENERS.entries())
      clients.push(new ReconnectingClient(killable.livePort(nth), tokens[name], chance));
    await vi.waitFor(() => expect(clients.every(({ resumed }) => resumed !== null)).toBe(true), PATIENCE);
    await inForce(...(await killable.healthPorts()));

    // Some protocols count in whole seconds.
    const beganMs = Math.floor((Date.now() - BEGAN_AGO_MS) / 1000) * 1000;
    const drives = FLEET.map(({ protocol }, nth) => {
      const drive = driveRound(createRandom(seed + 2 + nth), beganMs);
      return protocol === MEASURING ? measured(drive) : drive;
    });
    const sent: Position[][] = FLEET.map(() => []);
    for (const [nth, { protocol, terminalId }] of FLEET.entries())
      terminals.push(
        connectTerminal({
          protocol,
          terminalId,
          host: '127.0.0.1',
          port: killable.terminalPort(protocol, nth),
          positionsPerPacket: 5,
          windowPackets: 4,
          maxStoredPositions: MAX_FIXES,
          backoffMs: [30, 200],
          random: chance.next,
        }),
      );
    feeding = setInterval(() => {
      for (const [nth, terminal] of terminals.entries()) {
        const all = sent[nth] ?? [];
        const drive = drives[nth];
        if (!drive || all.length > MAX_FIXES - FIXES_AT_ONCE) continue;
        const some = Array.from({ length: FIXES_AT_ONCE }, () => drive.next().value);
        all.push(...some);
        terminal.record(some);
      }
    }, FEED_EVERY_MS);

    const killed: Record<Kill, number> = { whileStarting: 0, whileRunning: 0, inOrder: 0 };
    // A connection may be lost without a kill.
    const hangUp = () => chance.pick(clients).hangUp();
    for (let nth = 0; nth < kills; nth++) killed[await killable.die(random, hangUp)]++;
    await killable.comeToLife();
    await vi.waitFor(
      () => expect(Math.min(...sent.map(({ length }) => length))).toBeGreaterThan(LEAST_FIXES),
      PATIENCE,
    );
    clearInterval(feeding);
    await Promise.all(terminals.map((terminal) => terminal.settled()));

    const asAdmin = { port: httpPort, jwt: tokens.admin };
    const fleet = await Promise.all(
      vehicleIds.map(async (vehicleId, nth): Promise<Driven> => {
        const all = sent[nth] ?? [];
        await processed(asAdmin, vehicleId, all);
        return {
          vehicleId,
          group: FLEET[nth]?.group ?? 'north',
          sent: all,
          acknowledged: terminals[nth]?.stats().acknowledged ?? 0,
          archived: await archived(asAdmin, vehicleId, all.length),
        };
      }),
    );
    const log = await killable.readLog();
    await delivered(clients, log, httpPort, tokens);

    const listeners = {} as Aftermath['listeners'];
    for (const [nth, name] of LISTENERS.entries()) {
      const inbox = await all<Notification>({ port: httpPort, jwt: tokens[name] }, '/api/v1/notifications?');
      const client = clients[nth];
      if (!client) continue;
      const { received, undescribed, connections } = client;
      listeners[name] = { received, undescribed, inbox: inbox.toReversed(), connections };
    }
    const deliveries = await all<Aftermath['deliveries'][number]>(
      { port: httpPort, jwt: tokens.anna },
      '/api/v1/webhook-deliveries?channel=any&',
    );
    const exitCodes = await killable.end();
    return {
      kills: { ...killed, fastestStartMs: Math.round(killable.fastestStartMs) },
      exitCodes,
      fleet,
      geofenceIds,
      log,
      listeners,
      deliveries,
      webhooks: receiver.received,
      webhookSecret,
      mails: killable.mails(),
      complaints: killable.complaints(),
    };
  } finally {
    if (feeding) clearInterval(feeding);
    for (const terminal of terminals) await terminal.close();
    for (const client of clients) client.close();
    await killable?.close();
    receiver.close();
  }
}

interface Furnished {
  vehicleIds: VehicleId[];
  geofenceIds: Aftermath['geofenceIds'];
  tokens: Record<'anna' | 'ben' | 'admin', string>;
  webhookSecret: string;
}

/** Anna may see the north of the fleet and Ben the south; all three have geofences and rules of their own. */
async function furnish(port: number, webhookUrl: string): Promise<Furnished> {
  const admin = await logIn(port, 'admin', OPERATOR_PASSWORD);
  const asOperator = <T>(path: string, body: unknown) => call<T>(port, admin, 'POST', path, body);
  const groups = {
    north: await asOperator<{ id: string }>('/api/v1/vehicle-groups', { name: 'North' }),
    south: await asOperator<{ id: string }>('/api/v1/vehicle-groups', { name: 'South' }),
  };
  const vehicleIds: VehicleId[] = [];
  for (const { protocol, terminalId, group } of FLEET) {
    const body = {
      ...{ name: `${protocol} ${terminalId}`, terminalId, groupIds: [groups[group].id], speedLimitKmh: 60 },
      ...(protocol === MEASURING && MEASURED_FIELDS),
    };
    vehicleIds.push((await asOperator<{ id: VehicleId }>('/api/v1/vehicles', body)).id);
  }
  const tokens = { anna: '', ben: '', admin };
  for (const [login, group] of [
    ['anna', 'north'],
    ['ben', 'south'],
  ] as const) {
    const account = { login, name: login, password: PASSWORD, apiAccess: true, groupIds: [groups[group].id] };
    await asOperator('/api/v1/users', account);
    tokens[login] = await logIn(port, login, PASSWORD);
  }

  const box = [
    placeAt(-1400, -300),
    placeAt(-900, -300),
    placeAt(-900, 300),
    placeAt(-1400, 300),
    placeAt(-1400, -300),
  ];
  const shapes = {
    anna: [
      { type: 'circle', center: onCircuit(0.1), radiusM: 150 },
      { type: 'polygon', rings: [box] },
    ],
    ben: [
      { type: 'line', path: [onCircuit(0.4), onCircuit(0.45), onCircuit(0.5)], widthM: 80 },
      { type: 'circle', center: onCircuit(0.6), radiusM: 250 },
    ],
    admin: [{ type: 'circle', center: onCircuit(0.85), radiusM: 200 }],
  } as const;
  const geofenceIds: Aftermath['geofenceIds'] = { anna: [], ben: [], admin: [] };
  for (const owner of ['anna', 'ben', 'admin'] as const)
    for (const [nth, shape] of shapes[owner].entries()) {
      const feature = featureFromShape(shape);
      const limit = owner === 'ben' && nth === 1 ? { speedLimitKmh: 50 } : {};
      const body = { ...feature, properties: { ...feature.properties, name: `${owner} ${nth}`, ...limit } };
      geofenceIds[owner].push((await call<{ id: string }>(port, tokens[owner], 'POST', '/api/v1/geozones', body)).id);
    }

  const phases = ['begin', 'end'];
  const rules = '/api/v1/notification-rules';
  await call(port, tokens.anna, 'POST', rules, { name: 'Visits', eventKinds: ['geofence-visit'], phases });
  const channel = await call<{ id: string }>(port, tokens.anna, 'POST', '/api/v1/me/message-channels', {
    kind: 'http',
    name: 'Call',
    settings: { url: webhookUrl, headers: [{ name: 'call-id', value: '{id}' }], body: '{"text":"{message}"}' },
  });
  const { webhook } = await call<{ webhook: { secret: string } }>(port, tokens.anna, 'POST', rules, {
    name: 'Sent',
    eventKinds: ['geofence-visit'],
    vehicleIds: [vehicleIds[0]],
    geofenceIds: [geofenceIds.anna[0]],
    emails: ['anna@example.com'],
    channelIds: [channel.id],
    webhook: { url: webhookUrl },
  });
  await call(port, tokens.ben, 'POST', rules, {
    name: 'Too fast',
    eventKinds: ['speeding'],
    minIntervalMinutes: 10,
  });
  await call(port, tokens.admin, 'POST', rules, { name: 'All', eventKinds: ['geofence-visit', 'speeding'], phases });
  return { vehicleIds, geofenceIds, tokens, webhookSecret: webhook.secret };
}

interface Access {
  port: number;
  jwt: string;
}

/** All items of a list, in its order; `path` ends with `?` or `&`. */
async function all<T>({ port, jwt }: Access, path: string): Promise<T[]> {
  const items: T[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const from: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: { items: T[]; nextCursor: string | null } = await call(port, jwt, 'GET', `${path}limit=1000${from}`);
    items.push(...page.items);
    cursor = page.nextCursor;
  }
  return items;
}

/** Resolves when the vehicle's state has its last fix: then the events of all fixes are in the log. */
async function processed({ port, jwt }: Access, vehicleId: VehicleId, sent: readonly Position[]): Promise<void> {
  const last = new Date(sent.at(-1)?.fixTimeMs ?? 0).toISOString();
  await vi.waitFor(async () => {
    const state = await call<{ position: { fixTime: string } | null }>(
      port,
      jwt,
      'GET',
      `/api/v1/vehicles/${vehicleId}/state`,
    );
    expect(state.position?.fixTime).toBe(last);
  }, PATIENCE);
}

/** The vehicle's track, once it has as many positions as were sent, or after some patience. */
async function archived(access: Access, vehicleId: VehicleId, count: number): Promise<Driven['archived']> {
  const path = `/api/v1/reports/track?vehicleId=${vehicleId}&from=2005-01-01T00:00:00.000Z&to=2100-01-01T00:00:00.000Z&`;
  let track: Driven['archived'] = [];
  await vi
    .waitFor(async () => {
      track = await all(access, path);
      expect(track.length).toBeGreaterThanOrEqual(count);
    }, PATIENCE)
    // What is missing is for the test to say.
    .catch(() => {});
  return track;
}

/** Resolves when everything was delivered (to inboxes and clients, by e-mail and webhook), or after `PATIENCE`. */
async function delivered(
  clients: readonly ReconnectingClient[],
  { events }: LogContent,
  port: number,
  tokens: Furnished['tokens'],
): Promise<void> {
  await vi
    .waitFor(async () => {
      for (const [nth, jwt] of Object.values(tokens).entries()) {
        const { items } = await call<{ items: Notification[] }>(port, jwt, 'GET', '/api/v1/notifications?limit=1');
        expect(clients[nth]?.of('notification').at(-1)?.number).toBe(items[0]?.number);
      }
      // The last one may see all.
      expect(clients.at(-1)?.of('event').length).toBeGreaterThanOrEqual(events.length);
      const pending = '/api/v1/webhook-deliveries?channel=any&state=pending&limit=1';
      expect((await call<{ items: unknown[] }>(port, tokens.anna, 'GET', pending)).items).toEqual([]);
    }, PATIENCE)
    // What is missing is for the test to say.
    .catch(() => {});
  // All clients reconnect: late messages and duplicates would arrive now.
  const before = clients.map(({ connections }) => connections);
  for (const client of clients) client.hangUp();
  await vi.waitFor(() => {
    for (const [nth, { connections, resumed }] of clients.entries())
      expect([connections > (before[nth] ?? 0), resumed === null]).toEqual([true, false]);
  }, PATIENCE);
}
