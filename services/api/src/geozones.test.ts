import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, World } from './api.fixture.ts';

let world: World;
let jwt: string;
beforeEach(async () => {
  world = await World.open();
  jwt = (await world.member('anna')).jwt;
});
afterEach(() => world.close());

const RING = [
  [30, 59],
  [31, 59],
  [31, 60],
  [30, 60],
  [30, 59],
];
const circle = {
  geometry: { type: 'Point', coordinates: [30.3, 59.9] },
  properties: { shape: 'circle', radiusM: 100 },
};
const SHAPES = [
  { geometry: { type: 'Polygon', coordinates: [RING] }, properties: { shape: 'polygon' } },
  circle,
  { geometry: { type: 'LineString', coordinates: RING.slice(0, 3) }, properties: { shape: 'line', widthM: 30 } },
];

function feature({ geometry, properties }: { geometry: unknown; properties: object }, more: object = {}) {
  return { type: 'Feature', geometry, properties: { ...properties, name: 'Depot', ...more } };
}
const add = (body: unknown, as = jwt) => world.call('POST', '/api/v1/geozones', { jwt: as, body });

describe('geozones', () => {
  test('each shape goes in and comes out as the same GeoJSON, with what is computed of it', async () => {
    for (const [nth, shape] of SHAPES.entries()) {
      const { status, body } = await add(feature(shape, { name: `Depot ${nth}` }));
      expect(status).toBe(201);
      expect(body.geometry).toEqual(shape.geometry);
      expect(body.properties).toMatchObject({
        ...shape.properties,
        groupIds: null,
        speedLimitKmh: null,
        minDwellSeconds: 0,
        color: null,
        description: null,
      });
      expect(body.properties.areaM2).toBeGreaterThan(0);
      expect((await world.call('GET', `/api/v1/geozones/${body.id}`, { jwt })).body).toEqual(body);
    }
    const { body } = await world.call('GET', '/api/v1/geozones', { jwt });
    expect(body.items).toHaveLength(3);
    const drawn = body.items[1].properties;
    // A flat circle of 100 m: the sphere takes less than a millionth of it.
    expect(drawn.areaM2).toBeCloseTo(Math.PI * 100 ** 2, 2);
    expect(drawn.perimeterM).toBeCloseTo(2 * Math.PI * 100, 4);
  });

  test('a geometry that can not be is refused with what is wrong and where', async () => {
    const errors = async (shape: { geometry: unknown; properties: object }) =>
      (await add(feature(shape))).body.errors.map((error: { pointer: string }) => error.pointer);
    const polygon = (ring: unknown) => ({
      geometry: { type: 'Polygon', coordinates: [ring] },
      properties: { shape: 'polygon' },
    });
    expect(await errors(polygon(RING.slice(0, 4)))).toEqual(['/geometry/coordinates/0/3']);
    expect(await errors(polygon([...RING.slice(0, 2), [200, 60], RING[0]]))).toEqual(['/geometry/coordinates/0/2/0']);
    expect(
      await errors(
        polygon([
          [30, 59],
          ['31', 59],
        ]),
      ),
    ).toEqual(['/geometry/coordinates/0/1/0']);
    expect(await errors({ ...circle, properties: { shape: 'circle' } })).toEqual(['/properties/radiusM']);
    expect(await errors({ ...circle, properties: { shape: 'polygon' } })).toEqual(['/geometry/type']);
    expect(await errors({ ...circle, properties: { ...circle.properties, widthM: 30 } })).toEqual([
      '/properties/widthM',
    ]);
    expect(await errors({ ...circle, geometry: { type: 'MultiPoint', coordinates: [] } })).toEqual(['/geometry/type']);
  });

  test('a patch changes one thing, or the whole shape', async () => {
    const { body } = await add(feature(circle, { speedLimitKmh: 20 }));
    const path = `/api/v1/geozones/${body.id}`;
    const patch = async (change: unknown) => (await world.call('PATCH', path, { jwt, body: change })).body;
    const wider = await patch({ properties: { radiusM: 200 } });
    expect(wider.properties).toMatchObject({ radiusM: 200, name: 'Depot', speedLimitKmh: 20 });
    expect(wider.geometry).toEqual(circle.geometry);
    const freed = await patch({ properties: { speedLimitKmh: null } });
    expect(freed.properties).toMatchObject({ radiusM: 200, speedLimitKmh: null });
    const line = await patch({ geometry: SHAPES[2]?.geometry, properties: SHAPES[2]?.properties });
    expect(line.geometry).toEqual(SHAPES[2]?.geometry);
    expect(line.properties).toMatchObject({ shape: 'line', widthM: 30, name: 'Depot' });
    expect(line.properties.radiusM).toBeUndefined();
    const described = await patch({ properties: { color: '#1f5fc4', description: ' Gate code:\nat the office ' } });
    expect(described.properties).toMatchObject({ color: '#1f5fc4', description: 'Gate code:\nat the office' });
    expect((await patch({ properties: { color: null } })).properties).toMatchObject({
      color: null,
      description: 'Gate code:\nat the office',
    });
    expect((await patch({ properties: { color: 'blue', description: 'x'.repeat(2001) } })).errors).toMatchObject([
      { pointer: '/properties/color' },
      { pointer: '/properties/description' },
    ]);
    expect((await patch({ properties: { shape: 'circle' } })).errors).toMatchObject([{ pointer: '/geometry/type' }]);
    expect((await patch({ properties: { widthM: null } })).errors).toMatchObject([{ pointer: '/properties/widthM' }]);
    expect((await patch({ properties: { ownerId: ABSENT } })).errors).toMatchObject([
      { pointer: '/properties/ownerId' },
    ]);
  });

  test('If-Match, conflicts of names and deletion work as everywhere', async () => {
    const { body } = await add(feature(circle));
    const clash = await add(feature(circle));
    expect([clash.status, clash.body.errors[0].pointer]).toEqual([409, '/properties/name']);
    const path = `/api/v1/geozones/${body.id}`;
    const headers = { 'if-match': '"7"' };
    expect((await world.call('PATCH', path, { jwt, headers, body: { properties: { name: 'x' } } })).status).toBe(412);
    expect((await world.call('DELETE', path, { jwt, headers })).status).toBe(412);
    expect((await world.call('DELETE', path, { jwt })).status).toBe(204);
    expect((await world.call('GET', path, { jwt })).status).toBe(404);
  });

  test('it can only watch groups that its owner may see', async () => {
    const foreign = await world.registry.groups.create({ name: 'Foreign', dealerId: null });
    expect((await add(feature(circle, { groupIds: [foreign.id] }))).body.errors).toMatchObject([
      { pointer: '/properties/groupIds/0' },
    ]);
    const own = (await world.call('GET', '/api/v1/me', { jwt })).body.groupIds;
    expect((await add(feature(circle, { groupIds: own }))).body.properties.groupIds).toEqual(own);
  });

  test('a group that its owner lost is not shown, and a patch of something else leaves it', async () => {
    const { user } = await world.member('ben');
    const token = await world.tokenOf(user);
    const group = await world.registry.groups.create({ name: 'Vans', dealerId: null });
    await world.registry.groups.setUser(group.id, user.id, true);
    const { body } = await add(feature(circle, { groupIds: [group.id] }), token);
    await world.registry.groups.setUser(group.id, user.id, false);
    const path = `/api/v1/geozones/${body.id}`;
    expect((await world.call('GET', path, { jwt: token })).body.properties.groupIds).toEqual([]);
    await world.call('PATCH', path, { jwt: token, body: { properties: { name: 'Yard' } } });
    expect(await world.registry.geofences.get(body.id)).toMatchObject({ name: 'Yard', groupIds: [group.id] });
    // Asking for all is asking for all that may be seen.
    await world.call('PATCH', path, { jwt: token, body: { properties: { groupIds: null } } });
    expect(await world.registry.geofences.get(body.id)).toMatchObject({ groupIds: null });
  });

  test('another’s is not there', async () => {
    const { body } = await add(feature(circle));
    const ben = await world.member('ben');
    for (const [method, change] of [
      ['GET', undefined],
      ['PATCH', { properties: { name: 'mine' } }],
      ['DELETE', undefined],
    ] as const)
      expect((await world.call(method, `/api/v1/geozones/${body.id}`, { jwt: ben.jwt, body: change })).status).toBe(
        404,
      );
    expect((await world.call('GET', '/api/v1/geozones', { jwt: ben.jwt })).body.items).toEqual([]);
    // Names are unique per owner.
    expect((await add(feature(circle), ben.jwt)).status).toBe(201);
  });

  test('a dealer reads those of the dealer’s users, and changes none', async () => {
    const dealer = await world.member('dealer', 'dealer');
    const carl = await world.member('carl', 'user', { dealerId: dealer.user.id });
    const { body } = await add(feature(circle), carl.jwt);
    await add(feature(circle));
    const path = `/api/v1/geozones/${body.id}`;
    expect((await world.call('GET', path, { jwt: dealer.jwt })).status).toBe(200);
    expect((await world.call('PATCH', path, { jwt: dealer.jwt, body: {} })).status).toBe(403);
    expect((await world.call('DELETE', path, { jwt: dealer.jwt })).status).toBe(403);
    expect((await world.call('GET', '/api/v1/geozones', { jwt: dealer.jwt })).body.items).toMatchObject([
      { id: body.id },
    ]);
  });
});
