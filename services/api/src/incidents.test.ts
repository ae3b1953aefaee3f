import {
  deriveEventId,
  type FleetEvent,
  type GeofenceId,
  INCIDENT_CHANNEL,
  type NotificationRule,
  type User,
  type VehicleId,
} from '@outrider/domain';
import { sampleGeofenceFields, sampleRuleFields, sampleVehicleFields } from '@outrider/domain/samples';
import type { NotificationRuleFields } from '@outrider/registry';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, World } from './api.fixture.ts';

interface Member {
  user: User;
  jwt: string;
}
let world: World;
let dealer: Member;
/** Anna and Ben share a group; Cleo has none. */
let anna: Member;
let ben: Member;
let cleo: Member;
let stranger: Member;
let car: VehicleId;
let yard: GeofenceId;

const INCIDENTS = '/api/v1/incidents';
let offset = 0;

beforeEach(async () => {
  offset = 0;
  world = await World.open();
  dealer = await world.member('dealer', 'dealer');
  const dealerId = dealer.user.id;
  const lorries = await world.registry.groups.create({ name: 'Lorries', dealerId });
  const rights = ['edit-notifications'] as const;
  anna = await world.member('anna', 'user', { dealerId, rights, groupIds: [lorries.id], name: 'Anna' });
  ben = await world.member('ben', 'user', { dealerId, rights, groupIds: [lorries.id], name: 'Ben' });
  cleo = await world.member('cleo', 'user', { dealerId, rights, name: 'Cleo' });
  stranger = await world.member('stranger', 'dealer');
  car = (await world.registry.vehicles.create(sampleVehicleFields({ name: 'Car', dealerId, groupIds: [lorries.id] })))
    .id;
  yard = (
    await world.registry.geofences.create(
      sampleGeofenceFields({ name: 'Yard', ownerId: anna.user.id, sharedWithOrganisation: true }),
    )
  ).id;
});
afterEach(() => world.close());

const addRule = (more: Partial<NotificationRuleFields> = {}) =>
  world.registry.notificationRules.create(
    sampleRuleFields({ ownerId: anna.user.id, severity: 'critical', shared: true, ...more }),
    null,
  );
const visit = (minute: number): FleetEvent => {
  const atMs = world.nowMs + minute * 60_000;
  return {
    id: deriveEventId('geofence-visit', car, yard, atMs),
    kind: 'geofence-visit',
    phase: 'begin',
    vehicleId: car,
    startedAtMs: atMs,
    endedAtMs: null,
    latitude: 52.5,
    longitude: 13.4,
    speedKmh: 40,
    fixTimeMs: atMs,
    geofenceId: yard,
    fromFixTimeMs: atMs,
    definitionVersion: 1,
    origin: 'live',
    inferred: false,
    endReason: null,
  };
};
const happen = async (rule: NotificationRule, event = visit(offset)): Promise<string> => {
  const drafts = [{ offset, rule, event, vehicleName: 'Car', geofenceName: 'Yard' }];
  offset += 1;
  const [made] = await world.registry.notifications.record({ consumer: 'test', partition: 0, next: offset, drafts });
  return made?.id ?? '';
};
const get = (path: string, as: Member) => world.call('GET', `${INCIDENTS}${path}`, { jwt: as.jwt });
const add = (id: string, body: object, as: Member) =>
  world.call('POST', `${INCIDENTS}/${id}/entries`, { jwt: as.jwt, body });

describe('who deals with an incident', () => {
  test('its owner, and where it is shared whoever of the organisation may see the vehicle', async () => {
    const shared = await happen(await addRule());
    const own = await happen(await addRule({ name: 'Own', shared: false }));
    const listed = async (as: Member) => {
      const { body } = await get('', as);
      return [body.items.map((each: { id: string }) => each.id), body.openCount];
    };
    expect(await listed(anna)).toEqual([[own, shared], 2]);
    expect(await listed(ben)).toEqual([[shared], 1]);
    expect(await listed(dealer)).toEqual([[shared], 1]);
    expect(await listed(cleo)).toEqual([[], 0]);
    expect(await listed(stranger)).toEqual([[], 0]);
    expect((await get(`/${shared}`, ben)).status).toBe(200);
    for (const [id, as] of [
      [own, ben],
      [shared, cleo],
      [shared, stranger],
    ] as const) {
      expect((await get(`/${id}`, as)).status).toBe(404);
      expect((await get(`/${id}/assignees`, as)).status).toBe(404);
      expect((await add(id, { kind: 'acknowledged' }, as)).status).toBe(404);
    }
  });

  test('of a vehicle that is deleted its owner alone', async () => {
    const id = await happen(await addRule());
    await world.registry.vehicles.delete(car, null);
    expect((await get(`/${id}`, anna)).status).toBe(200);
    expect((await get(`/${id}`, ben)).status).toBe(404);
    expect((await get('', ben)).body).toMatchObject({ items: [], openCount: 0 });
  });

  test('accounts that it can be assigned to, by name, in pages', async () => {
    const id = await happen(await addRule());
    const names = ({ body }: { body: { items: { name: string }[] } }) => body.items.map(({ name }) => name);
    expect(names(await get(`/${id}/assignees`, ben))).toEqual(['Anna', 'Ben', dealer.user.name]);
    expect(names(await get(`/${id}/assignees?q=eN`, ben))).toEqual(['Ben']);
    const first = await get(`/${id}/assignees?limit=2`, ben);
    expect(names(first)).toEqual(['Anna', 'Ben']);
    const rest = await get(`/${id}/assignees?limit=2&cursor=${first.body.nextCursor}`, ben);
    expect([names(rest), rest.body.nextCursor]).toEqual([[dealer.user.name], null]);
    // A cursor holds the longest name that there may be.
    await world.registry.users.update(ben.user.id, null, { name: '𠀀'.repeat(100) });
    await world.registry.users.update(dealer.user.id, null, { name: '𠀁'.repeat(100) });
    const long = await get(`/${id}/assignees?limit=2`, ben);
    expect(names(await get(`/${id}/assignees?limit=2&cursor=${long.body.nextCursor}`, ben))).toHaveLength(1);
    for (const userId of [cleo.user.id, stranger.user.id, ABSENT]) {
      const refused = await add(id, { kind: 'assigned', assigneeId: userId }, ben);
      expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/assigneeId']);
    }
  });

  test('who was not given the right to keep notifications only looks on', async () => {
    const id = await happen(await addRule());
    await world.registry.users.update(ben.user.id, null, { rights: [] });
    expect((await get(`/${id}`, ben)).status).toBe(200);
    const refused = await add(id, { kind: 'acknowledged' }, ben);
    expect([refused.status, refused.body.right]).toEqual([403, 'edit-notifications']);
  });
});

describe('what is done with an incident', () => {
  test('is its history, with who did it, and is announced', async () => {
    const id = await happen(await addRule());
    const published: object[] = [];
    await world.hub.subscribe(INCIDENT_CHANNEL, (text) => published.push(JSON.parse(text)));
    expect((await add(id, { kind: 'acknowledged' }, ben)).body).toMatchObject({
      ...{ id, state: 'acknowledged', severity: 'critical', version: 2, assignee: null },
      owner: { id: anna.user.id, name: 'Anna' },
    });
    await add(id, { kind: 'assigned', assigneeId: anna.user.id }, ben);
    await add(id, { kind: 'commented', text: 'The driver calls.\nHe waits.' }, anna);
    const { body } = await add(id, { kind: 'closed' }, anna);
    expect(body).toMatchObject({ state: 'closed', assignee: { name: 'Anna' } });
    expect(body.entries).toMatchObject([
      { kind: 'acknowledged', by: { id: ben.user.id, name: 'Ben' }, text: null },
      { kind: 'assigned', by: { name: 'Ben' }, assignee: { name: 'Anna' } },
      { kind: 'commented', by: { name: 'Anna' }, text: 'The driver calls.\nHe waits.' },
      { kind: 'closed', by: { name: 'Anna' }, text: null },
    ]);
    expect(await get(`/${id}`, ben)).toMatchObject({ status: 200, body });
    expect(published).toHaveLength(4);
    expect(published.at(-1)).toMatchObject({ id, version: 5, state: 'closed', vehicleId: car, geofenceId: yard });
  });

  test('is refused once it is closed, but for comments', async () => {
    const id = await happen(await addRule());
    await add(id, { kind: 'closed', text: 'A test.' }, anna);
    for (const entry of [{ kind: 'assigned', assigneeId: ben.user.id }, { kind: 'escalated' }])
      expect(await add(id, entry, anna)).toMatchObject({
        status: 409,
        body: { type: 'urn:outrider:problem:conflict' },
      });
    expect((await add(id, { kind: 'commented', text: 'Afterwards.' }, anna)).status).toBe(201);
    expect((await add(id, { kind: 'commented', text: '' }, anna)).status).toBe(400);
  });
});

test('lists are narrowed by state, severity, assignee, vehicle and time', async () => {
  const rule = await addRule();
  const [first, second] = [await happen(rule), await happen(rule)];
  const third = await happen(await addRule({ name: 'Warning', severity: 'warning' }));
  await add(second, { kind: 'closed' }, anna);
  await add(first, { kind: 'acknowledged' }, anna);
  await add(first, { kind: 'assigned', assigneeId: ben.user.id }, anna);
  const ids = async (query: string) => (await get(`?${query}`, ben)).body.items.map(({ id }: { id: string }) => id);
  expect(await ids('state=active')).toEqual([third, first]);
  expect(await ids('state=closed')).toEqual([second]);
  expect(await ids('severity=warning')).toEqual([third]);
  expect(await ids(`assigneeId=${ben.user.id}`)).toEqual([first]);
  expect(await ids(`vehicleId=${ABSENT}`)).toEqual([]);
  const now = new Date(world.nowMs).toISOString();
  expect(await ids(`to=${now}`)).toEqual([]);
  expect(await ids(`from=${now}`)).toHaveLength(3);
  expect((await get(`?from=${now}&to=${now}`, ben)).status).toBe(400);
});

test('a rule says how much it matters, who deals with it, and what happens when nobody does', async () => {
  const rules = '/api/v1/notification-rules';
  const escalation = { severity: 'warning', shared: true, escalateAfterMinutes: 15, escalateTo: ['boss@example.org'] };
  const body = { name: 'Visits', eventKinds: ['geofence-visit'], ...escalation };
  const added = await world.call('POST', rules, { jwt: anna.jwt, body });
  expect(added.body).toMatchObject({ ...escalation, emailStates: [{ address: 'boss@example.org', state: 'pending' }] });
  const path = `${rules}/${added.body.id}`;
  const changed = await world.call('PATCH', path, { jwt: anna.jwt, body: { severity: 'info', escalateTo: [] } });
  expect(changed.body).toMatchObject({ severity: 'info', shared: true, escalateTo: [], emailStates: [] });
  const wrong = await world.call('PATCH', path, { jwt: anna.jwt, body: { escalateAfterMinutes: 0 } });
  expect([wrong.status, wrong.body.errors[0].pointer]).toEqual([400, '/escalateAfterMinutes']);
  const { body: test } = await world.call('POST', `${path}/channel-tests`, {
    ...{ jwt: anna.jwt, body: { channel: 'email', address: 'boss@example.org' } },
  });
  expect(test.errors[0].pointer).toBe('/address');
});
