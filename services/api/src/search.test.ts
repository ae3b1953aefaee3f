import type { Position } from '@outrider/domain';
import { sampleStatus } from '@outrider/domain/samples';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

let world: World;
let jwt: string;
beforeEach(async () => {
  world = await World.open();
  ({ jwt } = await world.member('boss', 'operator'));
  for (const [name, plate] of [
    ['Van 10', 'B 7'],
    ['van 9', null],
    ['Tanker', 'VAN 1'],
    ['Crane', null],
  ])
    await world.call('POST', '/api/v1/vehicles', { jwt, body: { name, plate } });
});
afterEach(() => world.close());

const namesOf = async (query: string, as = jwt) => {
  const { status, body } = await world.call('GET', `/api/v1/vehicles?${query}`, { jwt: as });
  return status === 200 ? body.items.map(({ name }: { name: string }) => name) : body.errors;
};

test('vehicles by a part of name, plate or number, in the order that is asked for', async () => {
  expect(await namesOf('q=van')).toEqual(['Van 10', 'van 9', 'Tanker']);
  expect(await namesOf('q=van&sort=name')).toEqual(['Tanker', 'van 9', 'Van 10']);
  expect(await namesOf('sort=-name')).toEqual(['Van 10', 'van 9', 'Tanker', 'Crane']);
});

test('page by page, and what was added is found at once', async () => {
  const names: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const path: string = `/api/v1/vehicles?sort=name&limit=1${cursor && `&cursor=${cursor}`}`;
    const { body } = await world.call('GET', path, { jwt });
    names.push(...body.items.map(({ name }: { name: string }) => name));
    cursor = body.nextCursor;
  }
  expect(names).toEqual(['Crane', 'Tanker', 'van 9', 'Van 10']);
  await world.call('POST', '/api/v1/vehicles', { jwt, body: { name: 'Van 11' } });
  expect(await namesOf('q=van%2011')).toEqual(['Van 11']);
});

test('only what the caller may see, without groups that they may not', async () => {
  const { id } = await world.registry.groups.create({ name: 'Own', dealerId: null });
  const { id: other } = await world.registry.groups.create({ name: 'Other', dealerId: null });
  await world.call('POST', '/api/v1/vehicles', { jwt, body: { name: 'Van 12', groupIds: [id, other] } });
  const anna = await world.member('anna', 'user', { groupIds: [id] });
  const { body } = await world.call('GET', '/api/v1/vehicles?q=van', anna);
  expect(body.items).toMatchObject([{ name: 'Van 12', groupIds: [id] }]);
  expect((await world.call('GET', `/api/v1/vehicles?q=van&groupId=${other}`, anna)).status).toBe(404);
  const groups = await world.call('GET', '/api/v1/vehicle-groups?q=o&sort=name', anna);
  expect(groups.body.items.map(({ name }: { name: string }) => name)).not.toContain('Other');
  const users = await world.call('GET', '/api/v1/users?q=s&sort=-login', { jwt });
  expect(users.body.items.map(({ login }: { login: string }) => login)).toEqual(['boss']);
});

test('vehicles by what their terminals are bound to, whose they are, and what they do now', async () => {
  const { user: dealer } = await world.member('dealer', 'dealer');
  const added = await world.call('POST', '/api/v1/vehicles', {
    jwt,
    body: { name: 'Bus', dealerId: dealer.id, terminalAccess: { protocol: 'gt06' } },
  });
  expect(await namesOf('protocol=gt06')).toEqual(['Bus']);
  expect(await namesOf(`dealerId=${dealer.id}&sort=name`)).toEqual(['Bus']);
  expect(await namesOf('dealerId=none&sort=name')).toEqual(['Crane', 'Tanker', 'van 9', 'Van 10']);
  expect(await namesOf('protocol=learn&q=van&limit=1')).toEqual(['Van 10']);
  expect(await namesOf('protocol=smoke')).toMatchObject([{ parameter: 'protocol' }]);
  expect(await namesOf('state=parking')).toEqual([]);
  const activity = { state: 'parking' as const, sinceMs: 1, ignition: null, alarms: [], geofenceIds: [], speeding: [] };
  const position = { fixTimeMs: world.nowMs, latitude: 60, longitude: 30, valid: true } as Position;
  await world.hub.updateLatest([sampleStatus(added.body.id, position, world.nowMs, { activity })]);
  expect(await namesOf('state=parking')).toEqual(['Bus']);
  expect(await namesOf('state=unknown&q=van')).toEqual(['Van 10', 'van 9', 'Tanker']);
});

test('accounts by role, and those that are blocked', async () => {
  const { user: carl } = await world.member('carl', 'dealer');
  await world.member('dora', 'user', { dealerId: carl.id, blocked: true });
  const loginsOf = async (query: string) =>
    (await world.call('GET', `/api/v1/users?${query}`, { jwt })).body.items.map(
      ({ login }: { login: string }) => login,
    );
  expect(await loginsOf('role=dealer')).toEqual(['carl']);
  expect(await loginsOf('blocked=true')).toEqual(['dora']);
  expect(await loginsOf('role=dealer&blocked=true')).toEqual([]);
  const first = (await world.call('GET', '/api/v1/users?blocked=false&limit=1', { jwt })).body;
  const second = (await world.call('GET', `/api/v1/users?blocked=false&limit=1&cursor=${first.nextCursor}`, { jwt }))
    .body;
  expect(second.items[0].login > first.items[0].login).toBe(true);
});

test('other fields, and cursors of another list, are refused', async () => {
  expect(await namesOf('sort=dealerId')).toMatchObject([{ parameter: 'sort' }]);
  expect(await namesOf('q=')).toMatchObject([{ parameter: 'q' }]);
  const { body } = await world.call('GET', '/api/v1/vehicles?limit=1', { jwt });
  expect(await namesOf(`sort=name&cursor=${body.nextCursor}`)).toMatchObject([{ parameter: 'cursor' }]);
});
