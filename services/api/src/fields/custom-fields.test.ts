import type { User } from '@outrider/domain';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from '../api.fixture.ts';

type Caller = { user: User; jwt: string };

const OWN = { externalId: 'FLEET-7', customAttributes: { costCentre: '4711', axles: 4, leased: true } };
const CIRCLE = { type: 'Feature', geometry: { type: 'Point', coordinates: [30, 60] } };

let world: World;
let dealer: Caller;
let stranger: Caller;

beforeEach(async () => {
  world = await World.open();
  dealer = await world.member('dealer', 'dealer');
  stranger = await world.member('stranger', 'dealer');
});
afterEach(() => world.close());

const call = (method: string, path: string, { jwt }: Caller, body?: unknown, headers = {}) =>
  world.call(method, `/api/v1/${path}`, body === undefined ? { jwt, headers } : { jwt, body, headers });

/** How one of each kind is added, changed and shown. */
const KINDS: [path: string, add: (own: object, nth: number) => object, patch: (own: object) => object, show: Show][] = [
  ['vehicles', (own, nth) => ({ name: `Van ${nth}`, ...own }), (own) => own, (body) => body],
  ['vehicle-groups', (own, nth) => ({ name: `Group ${nth}`, ...own }), (own) => own, (body) => body],
  ['drivers', (own, nth) => ({ name: `Driver ${nth}`, ...own }), (own) => own, (body) => body],
  [
    'users',
    (own, nth) => ({ login: `u${nth}`, name: 'U', password: 'correct horse battery', ...own }),
    (own) => own,
    (body) => body,
  ],
  [
    'geozones',
    (own, nth) => ({ ...CIRCLE, properties: { shape: 'circle', radiusM: 100, name: `Yard ${nth}`, ...own } }),
    (own) => ({ properties: own }),
    (body) => body.properties,
  ],
];
// biome-ignore lint/suspicious/noExplicitAny: what the API answers
type Show = (body: any) => { externalId: string | null; customAttributes: object };

test.each(KINDS)(
  '%s are found by external id and by attribute, and change by merge patch',
  async (path, add, patch, show) => {
    const added = await call('POST', path, dealer, add(OWN, 1));
    expect([added.status, show(added.body)]).toMatchObject([201, OWN]);
    await call('POST', path, dealer, add({}, 2));
    const ids = async (query: string, who = dealer) => {
      const { status, body } = await call('GET', `${path}?${query}`, who);
      expect(status).toBe(200);
      return body.items.map(({ id }: { id: string }) => id);
    };
    const { id } = added.body;
    for (const query of [
      'externalId=FLEET-7',
      'q=fleet-7',
      'attribute=costCentre:4711',
      'attribute=axles:4&attribute=leased:true',
    ])
      expect(await ids(query)).toEqual([id]);
    for (const query of ['externalId=fleet-7', 'attribute=costCentre:47', 'attribute=axles:4&attribute=axles:5'])
      expect(await ids(query)).toEqual([]);
    expect(await ids('externalId=FLEET-7', stranger)).toEqual([]);
    expect((await ids('sort=-externalId'))[0]).toBe(id);

    const changed = await call(
      'PATCH',
      `${path}/${id}`,
      dealer,
      patch({ customAttributes: { axles: null, seats: 5 } }),
    );
    expect(changed.status).toBe(200);
    const left = { costCentre: '4711', leased: true, seats: 5 };
    expect(show(changed.body)).toMatchObject({ externalId: 'FLEET-7', customAttributes: left });
    expect(show(changed.body).customAttributes).not.toHaveProperty('axles');
    const stale = await call('PATCH', `${path}/${id}`, dealer, patch({ customAttributes: {} }), { 'if-match': '"1"' });
    expect(stale.status).toBe(412);

    const twice = await call('POST', path, dealer, add({ externalId: 'FLEET-7' }, 3));
    expect([twice.status, twice.body.errors[0].pointer]).toMatchObject([409, expect.stringMatching(/externalId$/)]);
    expect((await call('POST', path, stranger, add(OWN, 4))).status).toBe(201);
  },
);

test('attributes are bounded, and refusals name the place', async () => {
  const many = (count: number, from = 0) =>
    Object.fromEntries(Array.from({ length: count }, (_, nth) => [`a${nth + from}`, 'x']));
  const refused = async (customAttributes: object) => {
    const { status, body } = await call('POST', 'vehicles', dealer, { name: 'Van', customAttributes });
    expect(status).toBe(400);
    return body.errors[0];
  };
  expect(await refused(many(21))).toMatchObject({ pointer: '/customAttributes' });
  expect(await refused({ 'a b': 1 })).toMatchObject({ pointer: '/customAttributes/a b' });
  expect(await refused({ a: 'x'.repeat(501) })).toMatchObject({ pointer: '/customAttributes/a' });
  expect(await refused({ a: { b: 1 } })).toMatchObject({ pointer: '/customAttributes/a' });
  const van = (await call('POST', 'vehicles', dealer, { name: 'Van', customAttributes: many(20) })).body;
  const more = await call('PATCH', `vehicles/${van.id}`, dealer, { customAttributes: many(1, 20) });
  expect([more.status, more.body.errors[0].pointer]).toEqual([400, '/customAttributes']);
  const swapped = await call('PATCH', `vehicles/${van.id}`, dealer, { customAttributes: { a0: null, ...many(1, 20) } });
  expect(swapped.status).toBe(200);
  const asked = await call('GET', 'vehicles?attribute=costCentre', dealer);
  expect([asked.status, asked.body.errors[0].parameter]).toEqual([400, 'attribute']);
});

test('many vehicles get attributes by one call, each keeping its own', async () => {
  const own = { dealerId: dealer.user.id, terminalId: null };
  const a = await world.registry.vehicles.create(sampleVehicleFields({ ...own, customAttributes: { a: 1 } }));
  const b = await world.registry.vehicles.create(sampleVehicleFields({ ...own, customAttributes: { b: 1 } }));
  const patch = { customAttributes: { b: null, c: 2 } };
  expect((await call('PATCH', 'vehicles', dealer, { ids: [a.id, b.id], patch })).body.updated).toBe(2);
  expect((await world.registry.vehicles.get(a.id))?.customAttributes).toEqual({ a: 1, c: 2 });
  expect((await world.registry.vehicles.get(b.id))?.customAttributes).toEqual({ c: 2 });
  const unique = await call('PATCH', 'vehicles', dealer, { ids: [a.id], patch: { externalId: 'x' } });
  expect(unique.status).toBe(400);
});

test.each(['vehicles', 'drivers'])('a CSV of %s holds them, and finds rows by external id', async (path) => {
  await call('POST', path, dealer, { name: 'One', ...OWN });
  const csv = (await call('GET', `${path}/export`, dealer)).body as string;
  expect(csv).toContain('FLEET-7');
  const send = (body: string) => call('POST', `${path}/import`, dealer, body, { 'content-type': 'text/csv' });
  expect((await send(csv)).body).toMatchObject({ created: 0, updated: 0, unchanged: 1 });
  const changed = await send('externalId,customAttributes\r\nFLEET-7,"{""seats"":5}"\r\n');
  expect(changed.body).toMatchObject({ created: 0, updated: 1 });
  const [item] = (await call('GET', `${path}?externalId=FLEET-7`, dealer)).body.items;
  expect(item).toMatchObject({ name: 'One', customAttributes: { seats: 5 } });
  const wrong = await send('externalId,customAttributes\r\nFLEET-7,seats=5\r\n');
  expect(wrong.body.errors[0]).toMatchObject({ row: 2, column: 'customAttributes' });
});
