import type { GroupId } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ABSENT, World } from './api.fixture.ts';

let world: World;
let jwt: string;
let groupId: GroupId;
let ids: string[];
beforeEach(async () => {
  world = await World.open();
  ({ jwt } = await world.member('boss', 'operator'));
  groupId = (await world.registry.groups.create({ name: 'Tankers', dealerId: null })).id;
  ids = [];
  for (let n = 0; n < 3; n += 1)
    ids.push((await world.call('POST', '/api/v1/vehicles', { jwt, body: { name: `Van ${n}` } })).body.id);
});
afterEach(() => world.close());

const patch = (path: string, body: unknown, as = jwt) => world.call('PATCH', `/api/v1/${path}`, { jwt: as, body });
const members = async () => (await world.registry.groups.vehicleIds(groupId)) as string[];
const limits = () => ids.map((id) => world.directory.vehicles.get(id as never)?.speedLimitKmh);

test('members come and go by one call; what is so already is not counted, and makes no version', async () => {
  const path = `vehicle-groups/${groupId}/vehicles`;
  expect((await patch(path, { add: [...ids, ids[0]] })).body).toEqual({ dryRun: false, added: 3, removed: 0 });
  expect(await members()).toEqual(ids.toSorted());
  const before = ids.map((id) => world.directory.vehicles.get(id as never)?.version);
  expect((await patch(path, { add: [ids[0]], remove: [ids[1]] })).body).toMatchObject({ added: 0, removed: 1 });
  expect(await members()).toEqual([ids[0], ids[2]].toSorted());
  const after = ids.map((id) => world.directory.vehicles.get(id as never)?.version);
  expect(after).toEqual([before[0], (before[1] ?? 0) + 1, before[2]]);
});

test('all of them, or none', async () => {
  const path = `vehicle-groups/${groupId}/vehicles`;
  const { status, body } = await patch(path, { add: [ids[0], ABSENT], remove: [] });
  expect([status, body.errors]).toEqual([400, [{ pointer: '/add/1', detail: 'There is no such vehicle.' }]]);
  expect(await members()).toEqual([]);
  const both = await patch(path, { add: [ids[0], ids[1]], remove: [ids[1]] });
  expect([both.status, both.body.errors?.[0].pointer]).toEqual([400, '/remove/0']);
  const missing = await patch('vehicles', { ids: [ids[0], ABSENT], patch: { speedLimitKmh: 70 } });
  expect([missing.status, missing.body.errors?.[0].pointer]).toEqual([400, '/ids/1']);
  expect(limits()).toEqual([null, null, null]);
});

test('a dry run counts and changes nothing', async () => {
  const dry = await patch(`vehicle-groups/${groupId}/vehicles?dryRun=true`, { add: ids });
  expect([dry.status, dry.body]).toEqual([200, { dryRun: true, added: 3, removed: 0 }]);
  expect(await members()).toEqual([]);
  await patch('vehicles', { ids: [ids[0]], patch: { speedLimitKmh: 80 } });
  const changed = await patch('vehicles?dryRun=true', { ids, patch: { speedLimitKmh: 80 } });
  expect(changed.body).toEqual({
    dryRun: true,
    updated: 2,
    unchanged: 1,
    items: ids.map((id, n) => ({ id, outcome: n === 0 ? 'unchanged' : 'updated' })),
  });
  expect(limits()).toEqual([80, null, null]);
});

test('the same change to many vehicles, in force at once and in the audit trail', async () => {
  const { body } = await patch('vehicles', { ids, patch: { speedLimitKmh: 80, groupIds: [groupId] } });
  expect(body).toMatchObject({ dryRun: false, updated: 3, unchanged: 0 });
  expect(limits()).toEqual([80, 80, 80]);
  expect(await members()).toEqual(ids.toSorted());
  const trail = await world.call('GET', `/api/v1/audit?subject=${ids[1]}`, { jwt });
  expect(trail.body.items[0].after).toMatchObject({ speedLimitKmh: 80, groupIds: [groupId] });
});

test('what belongs to one vehicle is no field of many', async () => {
  for (const field of [{ name: 'Same' }, { plate: 'A1' }, { terminalId: '356307042441013' }, { terminalAccess: {} }])
    expect((await patch('vehicles', { ids, patch: field })).status).toBe(400);
});

test('a user sees vehicles and may change none, one by one or many', async () => {
  await patch(`vehicle-groups/${groupId}/vehicles`, { add: [ids[0]] });
  const anna = await world.member('anna', 'user', { groupIds: [groupId] });
  expect((await patch('vehicles', { ids: [ids[0]], patch: { speedLimitKmh: 9 } }, anna.jwt)).status).toBe(403);
  expect((await patch('vehicles', { ids: [ids[1]], patch: { speedLimitKmh: 9 } }, anna.jwt)).status).toBe(403);
  expect((await patch(`vehicle-groups/${groupId}/vehicles`, { add: [ids[0]] }, anna.jwt)).status).toBe(403);
});

test('accounts get and lose a group by one call', async () => {
  const { user } = await world.member('anna');
  const { user: bert } = await world.member('bert');
  const path = `vehicle-groups/${groupId}/users`;
  expect((await patch(path, { add: [user.id, bert.id] })).body).toMatchObject({ added: 2, removed: 0 });
  expect((await patch(path, { add: [], remove: [bert.id] })).body).toMatchObject({ added: 0, removed: 1 });
  expect(world.directory.users.get(user.id)?.groupIds).toContain(groupId);
  expect(world.directory.users.get(bert.id)?.groupIds).not.toContain(groupId);
});

test('500 vehicles are one call of the limit', async () => {
  const many = await world.registry.vehicles.writeAll(
    Array.from({ length: 500 }, (_, n) => ({ id: null, fields: sampleVehicleFields({ name: `Lorry ${n}` }) })),
    false,
  );
  const add = many.map(({ definition }) => definition.id);
  const { body, headers } = await patch(`vehicle-groups/${groupId}/vehicles`, { add });
  expect(body.added).toBe(500);
  expect(headers.get('ratelimit')).toMatch(/;r=17\d;/);
});
