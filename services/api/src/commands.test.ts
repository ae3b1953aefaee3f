import {
  blankPosition,
  type CommandNews,
  type TerminalId,
  type User,
  VEHICLE_COMMAND_CHANNEL,
  type VehicleId,
} from '@outrider/domain';
import { sampleStatus, sampleVehicleFields } from '@outrider/domain/samples';
import { MAX_OPEN_COMMANDS_PER_VEHICLE } from '@outrider/registry';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, type Answer, World } from './api.fixture.ts';

type Caller = { user: User; jwt: string };

const TERMINAL = '356307042441013' as TerminalId;
let world: World;
let dealer: Caller;
let stranger: Caller;
let anna: Caller;
let plain: Caller;
let van: VehicleId;
let bare: VehicleId;
let news: string[];

beforeEach(async () => {
  world = await World.open();
  dealer = await world.member('dealer', 'dealer');
  stranger = await world.member('stranger', 'dealer');
  const group = await world.registry.groups.create({ name: 'North', dealerId: dealer.user.id });
  const more = { dealerId: dealer.user.id, groupIds: [group.id] };
  anna = await world.member('anna', 'user', { ...more, services: ['commands'] });
  plain = await world.member('plain', 'user', { ...more, services: ['video', 'command-text'] });
  van = (await world.registry.vehicles.create(sampleVehicleFields({ name: 'Van', terminalId: TERMINAL, ...more }))).id;
  bare = (await world.registry.vehicles.create(sampleVehicleFields({ name: 'Bare', terminalId: null, ...more }))).id;
  await drives(0);
  news = [];
  await world.hub.subscribe(VEHICLE_COMMAND_CHANNEL, (text) => {
    const { command } = JSON.parse(text) as CommandNews;
    news.push(`${command.order.type} ${command.state}`);
  });
});
afterEach(() => world.close());

async function drives(speedKmh: number, protocol = 'teltonika', ageMs = 0): Promise<void> {
  world.nowMs += 1;
  const position = { ...blankPosition(world.nowMs - ageMs, 52, 4), speedKmh };
  await world.hub.updateLatest([sampleStatus(van, position, world.nowMs, { protocol })]);
}

const call = (method: string, path: string, { jwt }: Caller, body?: unknown): Promise<Answer> =>
  world.call(method, `/api/v1/vehicles/${path}`, body === undefined ? { jwt } : { jwt, body });
const ask = (body: object, who = anna, vehicle: string = van) => call('POST', `${vehicle}/commands`, who, body);
const pointers = ({ body }: Answer) => body.errors.map(({ pointer }: { pointer: string }) => pointer);
const BLOCK = { type: 'engine-block', confirm: true };

describe('what a terminal can', () => {
  test('depends on its protocol and the rights of the caller', async () => {
    const { status, body } = await call('GET', `${van}/command-types`, anna);
    expect(status).toBe(200);
    expect(body).toMatchObject({ protocol: 'teltonika', connected: false, reason: null, limits: { maxSpeedKmh: 20 } });
    const types = body.types.map(({ type }: { type: string }) => type);
    expect(types).toContain('engine-block');
    expect(types).not.toContain('text');
    expect(body.types.find(({ type }: { type: string }) => type === 'output-set')).toMatchObject({
      guarded: false,
      guardedOutput: 1,
      parameters: [
        { name: 'output', type: 'integer', minimum: 1 },
        { name: 'on', type: 'boolean' },
      ],
    });
    const ofDealer = await call('GET', `${van}/command-types`, dealer);
    expect(ofDealer.body.types.map(({ type }: { type: string }) => type)).toContain('text');
  });

  test('is nothing without a terminal, a protocol, or commands of the protocol', async () => {
    const reasonOf = async (vehicle: string) => (await call('GET', `${vehicle}/command-types`, anna)).body.reason;
    expect(await reasonOf(bare)).toBe('no-terminal');
    await drives(0, 'suntech');
    expect(await reasonOf(van)).toBe('no-commands');
    await world.hub.forgetLatest([van]);
    expect(await reasonOf(van)).toBe('protocol-unknown');
    expect((await ask({ type: 'reboot' })).status).toBe(409);
    expect((await ask({ type: 'reboot' }, anna, bare)).status).toBe(409);
  });
});

describe('a command', () => {
  test('is queued, published, listed and audited', async () => {
    const wish = { type: 'output-set', parameters: { output: 2, on: true }, expiresInSeconds: 60 };
    const { status, headers, body } = await ask(wish);
    expect(status).toBe(201);
    expect(headers.get('location')).toBe(`/api/v1/vehicles/${van}/commands/${body.id}`);
    expect(body).toMatchObject({
      vehicleId: van,
      type: 'output-set',
      parameters: wish.parameters,
      state: 'queued',
      createdBy: anna.user.id,
      maxSpeedKmh: null,
      byRule: false,
    });
    expect(Date.parse(body.expiresAt) - Date.parse(body.createdAt)).toBe(60_000);
    expect((await call('GET', `${van}/commands/${body.id}`, anna)).body).toEqual(body);
    expect((await call('GET', `${van}/commands?state=queued`, anna)).body.items).toEqual([body]);
    expect((await call('GET', `${van}/commands?state=sent`, anna)).body.items).toEqual([]);
    expect(news).toEqual(['output-set queued']);
    const trail = await world.call('GET', '/api/v1/audit?kind=command', { jwt: dealer.jwt });
    expect(trail.body.items).toMatchObject([
      { action: 'created', user: { id: anna.user.id }, after: { type: 'output-set', parameters: wish.parameters } },
    ]);
  });

  test('is listed a page at a time, the newest first', async () => {
    const made: string[] = [];
    for (let seconds = 1; seconds <= 3; seconds++)
      made.push((await ask({ type: 'interval-set', parameters: { seconds } })).body.id);
    const first = (await call('GET', `${van}/commands?limit=2`, anna)).body;
    expect(first.items.map(({ id }: { id: string }) => id)).toEqual([made[2], made[1]]);
    const second = (await call('GET', `${van}/commands?limit=2&cursor=${first.nextCursor}`, anna)).body;
    expect(second.items.map(({ id }: { id: string }) => id)).toEqual([made[0]]);
    expect(second.nextCursor).toBeNull();
  });

  test('is cancelled while it is queued, and not after that', async () => {
    const { id } = (await ask({ type: 'reboot' })).body;
    expect((await call('DELETE', `${van}/commands/${id}`, dealer)).status).toBe(204);
    expect((await call('GET', `${van}/commands/${id}`, anna)).body).toMatchObject({ state: 'cancelled' });
    expect((await call('DELETE', `${van}/commands/${id}`, anna)).status).toBe(409);
    const sent = (await ask({ type: 'reboot' })).body;
    await world.registry.vehicleCommands.begin(van, () => 'send');
    expect((await call('DELETE', `${van}/commands/${sent.id}`, anna)).status).toBe(409);
    expect(news).toEqual(['reboot queued', 'reboot cancelled', 'reboot queued']);
  });

  test('made once with a key, however often it is sent', async () => {
    const options = { jwt: anna.jwt, body: { type: 'reboot' }, headers: { 'idempotency-key': 'once' } };
    const first = await world.call('POST', `/api/v1/vehicles/${van}/commands`, options);
    const again = await world.call('POST', `/api/v1/vehicles/${van}/commands`, options);
    expect(again.body).toEqual(first.body);
    expect((await call('GET', `${van}/commands`, anna)).body.items).toHaveLength(1);
  });
});

describe('rights', () => {
  test('commands are a service of their own, and texts a further one', async () => {
    expect((await ask({ type: 'reboot' }, plain)).status).toBe(403);
    expect((await call('GET', `${van}/commands`, plain)).status).toBe(403);
    expect((await ask({ type: 'text', parameters: { text: 'getver' } })).status).toBe(403);
    const text = await ask({ type: 'text', parameters: { text: 'getver' } }, dealer);
    expect(text.status).toBe(201);
    expect((await call('GET', `${van}/commands`, anna)).body.items).toEqual([]);
    expect((await call('GET', `${van}/commands/${text.body.id}`, anna)).status).toBe(404);
    expect((await call('DELETE', `${van}/commands/${text.body.id}`, anna)).status).toBe(404);
  });

  test('another dealer’s vehicle, and another vehicle’s command, do not exist', async () => {
    const { id } = (await ask({ type: 'reboot' })).body;
    expect((await ask({ type: 'reboot' }, stranger)).status).toBe(404);
    expect((await call('GET', `${van}/commands/${id}`, stranger)).status).toBe(404);
    expect((await call('GET', `${bare}/commands/${id}`, anna)).status).toBe(404);
    expect((await call('DELETE', `${bare}/commands/${id}`, anna)).status).toBe(404);
    expect((await call('GET', `${van}/commands/${ABSENT}`, anna)).status).toBe(404);
    expect((await call('GET', `${van}/commands/${id}`, dealer)).body).toMatchObject({ createdBy: anna.user.id });
  });
});

describe('blocking the engine', () => {
  test('needs a confirmation and a slow vehicle', async () => {
    expect(pointers(await ask({ type: 'engine-block' }))).toEqual(['/confirm']);
    expect(pointers(await ask({ ...BLOCK, maxSpeedKmh: 21 }))).toEqual(['/maxSpeedKmh']);
    expect((await ask({ ...BLOCK, maxSpeedKmh: 5 })).body).toMatchObject({ state: 'queued', maxSpeedKmh: 5 });
    await drives(12);
    const fast = await ask({ ...BLOCK, maxSpeedKmh: 5 });
    expect([fast.status, fast.body.type, fast.headers.get('content-type')]).toEqual([
      409,
      'urn:outrider:problem:unsafe-command',
      'application/problem+json',
    ]);
    expect(fast.body.detail).toContain('12 km/h');
    expect((await ask(BLOCK)).body).toMatchObject({ maxSpeedKmh: 20 });
    await drives(0, 'teltonika', 121_000);
    expect((await ask(BLOCK)).status).toBe(409);
  });

  test('by its output is guarded as well, other outputs are not', async () => {
    const set = (output: number, on: boolean, more = {}) =>
      ask({ type: 'output-set', parameters: { output, on }, ...more });
    expect(pointers(await set(1, true))).toEqual(['/confirm']);
    await drives(60);
    expect((await set(1, true, { confirm: true })).status).toBe(409);
    expect((await set(1, false)).status).toBe(201);
    expect((await set(2, true)).status).toBe(201);
    expect(pointers(await set(2, true, { maxSpeedKmh: 5 }))).toEqual(['/maxSpeedKmh']);
  });

  test('is taken back by resuming it', async () => {
    await ask(BLOCK);
    await ask({ type: 'engine-resume' });
    expect(news).toEqual(['engine-block queued', 'engine-block cancelled', 'engine-resume queued']);
  });
});

describe('what is refused', () => {
  test.each([
    [{}, '/type'],
    [{ type: 'explode' }, '/type'],
    [{ type: 'reboot', parameters: { output: 1 } }, '/parameters/output'],
    [{ type: 'output-set' }, '/parameters'],
    [{ type: 'output-set', parameters: { output: 5, on: true } }, '/parameters/output'],
    [{ type: 'output-set', parameters: { output: 2, on: 'yes' } }, '/parameters/on'],
    [{ type: 'interval-set', parameters: { seconds: 0 } }, '/parameters/seconds'],
    [{ type: 'interval-set', parameters: { seconds: 1.5 } }, '/parameters/seconds'],
    [{ type: 'text', parameters: { text: 'a\nb' } }, '/parameters/text'],
    [{ type: 'text', parameters: { text: 'x'.repeat(161) } }, '/parameters/text'],
    [{ type: 'text', parameters: { text: 'x'.repeat(501) } }, '/parameters/text'],
    [{ type: 'reboot', expiresInSeconds: 9 }, '/expiresInSeconds'],
    [{ type: 'reboot', expiresInSeconds: 604_801 }, '/expiresInSeconds'],
    [{ type: 'reboot', when: 'now' }, '/when'],
  ])('%j', async (body, pointer) => {
    const answer = await ask(body, dealer);
    expect(answer.status).toBe(400);
    expect(pointers(answer)).toEqual([pointer]);
  });

  test('a type that the protocol lacks, by name', async () => {
    await drives(0, 'jt808');
    const answer = await ask(BLOCK);
    expect(pointers(answer)).toEqual(['/type']);
    expect(answer.body.errors[0].detail).toContain('position-request');
  });

  test('more open commands than a vehicle may have', async () => {
    for (let made = 0; made < MAX_OPEN_COMMANDS_PER_VEHICLE; made++)
      expect((await ask({ type: 'reboot' })).status).toBe(201);
    expect((await ask({ type: 'reboot' })).status).toBe(409);
  });
});

test('an account may ask for so many commands in a minute', async () => {
  const commands = {
    maxSpeedKmh: 20,
    positionMaxAgeMs: 1,
    defaultExpirySeconds: 60,
    maxExpirySeconds: 60,
    perMinute: 2,
  };
  const other = await World.open({ commands });
  try {
    const boss = await other.member('boss', 'operator');
    const { id } = await other.registry.vehicles.create(sampleVehicleFields({ name: 'Van', terminalId: TERMINAL }));
    const position = blankPosition(other.nowMs, 52, 4);
    await other.hub.updateLatest([sampleStatus(id, position, other.nowMs, { protocol: 'gt06' })]);
    const once = () =>
      other.call('POST', `/api/v1/vehicles/${id}/commands`, { jwt: boss.jwt, body: { type: 'reboot' } });
    expect([(await once()).status, (await once()).status]).toEqual([201, 201]);
    const refused = await once();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '60']);
    other.nowMs += 60_000;
    expect((await once()).status).toBe(201);
  } finally {
    await other.close();
  }
});

describe('a rule that sends a command', () => {
  const rule = (command: unknown, who = anna) =>
    world.call('POST', '/api/v1/notification-rules', {
      jwt: who.jwt,
      body: { name: 'Panic', eventKinds: ['alarm'], timeZone: 'UTC', command },
    });

  test('is stored, shown, changed and taken away', async () => {
    const { status, body } = await rule({ type: 'output-set', parameters: { output: 2, on: true } });
    expect(status).toBe(201);
    const command = {
      type: 'output-set',
      parameters: { output: 2, on: true },
      maxSpeedKmh: null,
      expiresInSeconds: 600,
    };
    expect(body.command).toEqual(command);
    const change = (patch: object) =>
      world.call('PATCH', `/api/v1/notification-rules/${body.id}`, { jwt: anna.jwt, body: patch });
    expect((await change({ name: 'Panic button' })).body.command).toEqual(command);
    expect((await change({ command: null })).body.command).toBeNull();
  });

  test('needs the right of its owner, and a confirmation to block the engine', async () => {
    expect((await rule({ type: 'reboot' }, plain)).status).toBe(403);
    expect((await rule({ type: 'text', parameters: { text: 'getver' } })).status).toBe(403);
    expect(pointers(await rule({ type: 'engine-block' }))).toEqual(['/command/confirm']);
    const confirmed = await rule({ type: 'engine-block', confirm: true, maxSpeedKmh: 10, expiresInSeconds: 60 });
    expect(confirmed.body.command).toEqual({
      type: 'engine-block',
      parameters: {},
      maxSpeedKmh: 10,
      expiresInSeconds: 60,
    });
  });

  test.each([
    [{ type: 'explode' }, '/command/type'],
    [{ type: 'output-set', parameters: { output: 'two', on: true } }, '/command/parameters/output'],
    [{ type: 'reboot', expiresInSeconds: 1 }, '/command/expiresInSeconds'],
    [{ type: 'reboot', when: 'now' }, '/command/when'],
  ])('is refused as %j', async (command, pointer) => {
    expect(pointers(await rule(command))).toEqual([pointer]);
  });
});
