import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ABSENT, type Answer, World } from '../api.fixture.ts';
import { MAX_FEATURES } from './geozone-reading.ts';

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
const HOLE = [
  [30.4, 59.4],
  [30.4, 59.6],
  [30.6, 59.6],
  [30.4, 59.4],
];
const polygon = (rings: unknown) => ({
  geometry: { type: 'Polygon', coordinates: rings },
  properties: { shape: 'polygon' },
});
const circle = {
  geometry: { type: 'Point', coordinates: [30.3, 59.9] },
  properties: { shape: 'circle', radiusM: 100 },
};
const line = {
  geometry: { type: 'LineString', coordinates: RING.slice(0, 3) },
  properties: { shape: 'line', widthM: 30 },
};
const SHAPES = [polygon([RING]), polygon([RING, HOLE]), circle, line];

const feature = ({ geometry, properties }: { geometry: unknown; properties: object }, more: object = {}) => ({
  type: 'Feature',
  geometry,
  properties: { ...properties, name: 'Depot', ...more },
});
const named = (name: string) => feature(circle, { name });
const collection = (features: readonly unknown[]) => ({ type: 'FeatureCollection', features });
const send = (features: readonly unknown[], query = '', as = jwt): Promise<Answer> =>
  world.call('POST', `/api/v1/geozones/import${query}`, {
    jwt: as,
    body: collection(features),
    headers: { 'content-type': 'application/geo+json' },
  });
const fetched = async (query = '', as = jwt) =>
  (await world.call('GET', `/api/v1/geozones/export${query}`, { jwt: as })).body;
const names = async (as = jwt) =>
  (await fetched('', as)).features.map((each: { properties: { name: string } }) => each.properties.name);
const pointers = ({ body }: Answer) => body.errors.map(({ pointer }: { pointer: string }) => pointer);

describe('many geozones as a FeatureCollection', () => {
  test('all shapes go in, come out as they went in, and going in again change nothing', async () => {
    const group = await world.registry.groups.create({ name: 'Vans', dealerId: null });
    const { user } = await world.member('ben', 'user', { groupIds: [group.id] });
    const token = await world.tokenOf(user);
    const more = { groupIds: [group.id], speedLimitKmh: 20, minDwellSeconds: 30 };
    const drawn = SHAPES.map((shape, nth) => feature(shape, { name: `Zone ${nth}`, ...(nth % 2 ? more : {}) }));
    const { status, body } = await send(drawn, '', token);
    expect(status).toBe(200);
    expect(body).toMatchObject({ dryRun: false, created: 4, updated: 0, unchanged: 0 });
    expect(body.items.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2, 3]);

    const exported = await fetched('', token);
    expect(exported.type).toBe('FeatureCollection');
    for (const [nth, { id, geometry, properties }] of exported.features.entries()) {
      expect(id).toBe(body.items[nth].id);
      expect(geometry).toEqual(SHAPES[nth]?.geometry);
      expect(properties).toMatchObject({
        groupIds: null,
        speedLimitKmh: null,
        minDwellSeconds: 0,
        ...drawn[nth]?.properties,
      });
      expect((await world.call('GET', `/api/v1/geozones/${id}`, { jwt: token })).body).toEqual(exported.features[nth]);
    }
    const before = (await world.registry.outbox.pending(100)).length;
    const again = await send(exported.features, '', token);
    expect(again.body).toMatchObject({ created: 0, updated: 0, unchanged: 4 });
    expect(await world.registry.outbox.pending(100)).toHaveLength(before);
    expect(await fetched('', token)).toEqual(exported);
  });

  test('whatever can be drawn comes back', async () => {
    const round = fc.integer({ min: -1800, max: 1800 }).map((tenths) => tenths / 10);
    const somewhere = fc.tuple(
      round,
      round.map((degrees) => degrees / 4),
    );
    const shape = fc.oneof(
      fc.record({
        geometry: fc.record({ type: fc.constant('Point'), coordinates: somewhere }),
        properties: fc.record({ shape: fc.constant('circle'), radiusM: fc.integer({ min: 1, max: 1_000_000 }) }),
      }),
      fc.record({
        geometry: somewhere.map(([x, y]) => ({
          type: 'LineString',
          coordinates: [
            [x, y],
            [x / 2 + 10, y / 2],
          ],
        })),
        properties: fc.record({ shape: fc.constant('line'), widthM: fc.integer({ min: 10, max: 1000 }) }),
      }),
      fc.tuple(somewhere, fc.integer({ min: 1, max: 50 })).map(([[x, y], size]) => {
        const [w, s] = [x / 2, y / 2];
        const ring = [
          [w, s],
          [w + size, s],
          [w, s + size / 2],
          [w, s],
        ];
        return polygon([ring]);
      }),
    );
    // One organisation for all: an account each.
    let accounts = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(shape, { maxLength: 5 }), async (shapes) => {
        accounts += 1;
        world.nowMs += 60_000;
        const { jwt: token } = await world.member(`drawer-${accounts}`);
        const { status } = await send(
          shapes.map((each, nth) => feature(each, { name: `${nth}` })),
          '',
          token,
        );
        expect(status).toBe(200);
        const { features } = await fetched('', token);
        expect(features.map(({ geometry }: { geometry: unknown }) => geometry)).toEqual(
          shapes.map(({ geometry }) => geometry),
        );
        expect((await send(features, '', token)).body).toMatchObject({ unchanged: shapes.length });
      }),
      { numRuns: 15 },
    );
  });

  test('all faults are reported at once, each with its place, and nothing is drawn', async () => {
    const wrong: [unknown, string[]][] = [
      [named('Good'), []],
      ['no feature', ['']],
      [{ ...named('B'), colour: 'red' }, ['/colour']],
      [feature(polygon([[...RING.slice(0, 2), [200, 60], RING[0]]]), { name: 'C' }), ['/geometry/coordinates/0/2/0']],
      [feature(polygon([RING.slice(0, 4)]), { name: 'D' }), ['/geometry/coordinates/0/3']],
      [
        feature(
          polygon([
            [
              [30, 59],
              ['31', 59],
            ],
          ]),
          { name: 'E' },
        ),
        ['/geometry/coordinates/0/1/0'],
      ],
      [feature({ ...circle, properties: { shape: 'circle' } }, { name: 'F' }), ['/properties/radiusM']],
      [feature({ ...circle, properties: { shape: 'polygon' } }, { name: 'G' }), ['/geometry/type']],
      [feature({ ...line, properties: { ...line.properties, radiusM: 3 } }, { name: 'H' }), ['/properties/radiusM']],
      [
        { type: 'Feature', geometry: null, properties: { shape: 'blob', speedLimitKmh: 'fast' } },
        ['/geometry', '/properties/name', '/properties/shape', '/properties/speedLimitKmh'],
      ],
      [feature(circle, { name: 'K', groupIds: [ABSENT] }), ['/properties/groupIds/0']],
    ];
    const answer = await send(wrong.map(([each]) => each));
    expect(answer.status).toBe(400);
    const expected = wrong.flatMap(([, places], nth) => places.map((place) => `/features/${nth}${place}`));
    expect(pointers(answer).toSorted()).toEqual(expected.toSorted());
    expect(answer.body.detail).toMatch(`${expected.length} errors were found`);
    expect(await names()).toEqual([]);
  });

  test('a malformed collection is reported with the place as well', async () => {
    const post = (body: unknown) => world.call('POST', '/api/v1/geozones/import', { jwt, body });
    expect(pointers(await post([]))).toEqual(['']);
    expect(pointers(await post({ type: 'FeatureCollection' }))).toEqual(['/features']);
    expect(pointers(await post({ type: 'Feature', features: [] }))).toEqual(['/type']);
    expect(pointers(await post({ ...collection([]), crs: {} }))).toEqual(['/crs']);
    expect(pointers(await post(collection(new Array(MAX_FEATURES + 1).fill(null))))).toEqual(['/features']);
    expect((await post({ ...collection([]), bbox: [30, 59, 31, 60] })).body).toMatchObject({ created: 0 });
    // More than anyone mends before trying again is counted, not listed.
    const many = await post(collection(new Array(500).fill(null)));
    expect([many.body.errors.length, many.body.detail]).toEqual([
      100,
      '500 errors were found; nothing was changed. The first 100 are listed.',
    ]);
  });

  test('names clash with those that are there and among themselves, and may change places', async () => {
    await send([named('A'), named('B')]);
    const clash = await send([named('C'), named('A'), named('C')]);
    expect([clash.status, pointers(clash)]).toEqual([
      409,
      ['/features/1/properties/name', '/features/2/properties/name'],
    ]);
    const { features } = await fetched();
    const swapped = features.map((each: { id: string }, nth: number) => ({ ...named(nth ? 'A' : 'B'), id: each.id }));
    expect((await send(swapped)).body).toMatchObject({ created: 0, updated: 2 });
    expect(await names()).toEqual(['B', 'A']);
    const twice = await send([swapped[0], { ...named('X'), id: swapped[0].id }]);
    expect([twice.status, pointers(twice)]).toEqual([400, ['/features/1/id']]);
  });

  test('a dry run says what would become of it, and changes nothing', async () => {
    await send([named('A')]);
    const [a] = (await fetched()).features;
    const changed = { ...a, properties: { ...a.properties, speedLimitKmh: 30 } };
    const dry = await send([changed, named('B')], '?dryRun=true');
    expect(dry.body).toEqual({
      dryRun: true,
      created: 1,
      updated: 1,
      unchanged: 0,
      items: [
        { index: 0, id: a.id, outcome: 'updated' },
        { index: 1, id: null, outcome: 'created' },
      ],
    });
    expect((await fetched()).features).toEqual([a]);
    expect((await send([changed, named('A')], '?dryRun=true')).status).toBe(409);
  });

  test('another’s id is no id: it becomes the caller’s own, and the other’s stays as it is', async () => {
    const ben = await world.member('ben');
    await send([named('A')]);
    const [a] = (await fetched()).features;
    const { body } = await send(
      [
        { ...a, properties: { ...a.properties, name: 'Mine' } },
        { ...named('C'), id: 7 },
      ],
      '',
      ben.jwt,
    );
    expect(body).toMatchObject({ created: 2, updated: 0 });
    expect(body.items[0].id).not.toBe(a.id);
    expect((await fetched()).features).toEqual([a]);
    const [mine] = (await fetched('', ben.jwt)).features;
    expect(mine.properties).toMatchObject({ name: 'Mine', ownerId: ben.user.id });
  });

  test('an export holds the caller’s own; or all that the caller may see', async () => {
    const dealer = await world.member('dealer', 'dealer');
    const carl = await world.member('carl', 'user', { dealerId: dealer.user.id });
    const operator = await world.member('operator', 'operator');
    for (const [token, name] of [
      [jwt, 'Anna’s'],
      [carl.jwt, 'Carl’s'],
      [dealer.jwt, 'Dealer’s'],
      [operator.jwt, 'Operator’s'],
    ] as const)
      await send([named(name)], '', token);
    const all = async (token: string) =>
      (await fetched('?all=true', token)).features.map(
        (each: { properties: { name: string } }) => each.properties.name,
      );
    expect(await all(jwt)).toEqual(['Anna’s']);
    expect(await all(dealer.jwt)).toEqual(['Carl’s', 'Dealer’s']);
    expect(await all(operator.jwt)).toEqual(['Anna’s', 'Carl’s', 'Dealer’s', 'Operator’s']);
    expect(await names(dealer.jwt)).toEqual(['Dealer’s']);
    expect(await names(operator.jwt)).toEqual(['Operator’s']);
  });

  test('a group that its owner lost is not exported, and not lost by an import', async () => {
    const group = await world.registry.groups.create({ name: 'Vans', dealerId: null });
    const ben = await world.member('ben', 'user', { groupIds: [group.id] });
    const { body } = await send([feature(circle, { groupIds: [group.id] })], '', ben.jwt);
    await world.registry.groups.setUser(group.id, ben.user.id, false);
    const exported = await fetched('', ben.jwt);
    expect(exported.features[0].properties.groupIds).toEqual([]);
    expect((await send(exported.features, '', ben.jwt)).body).toMatchObject({ unchanged: 1 });
    expect((await world.registry.geofences.get(body.items[0].id))?.groupIds).toEqual([group.id]);
  });

  test('thousands go at once, an export comes in parts, and a body that is larger is refused', {
    timeout: 60_000,
  }, async () => {
    const many = Array.from({ length: 3000 }, (_, nth) => named(`Zone ${nth}`));
    expect((await send(many)).body).toMatchObject({ created: 3000 });
    const response = await world.api.fetch(
      new Request('http://outrider.test/api/v1/geozones/export', { headers: { authorization: `JWT ${jwt}` } }),
    );
    expect(response.headers.get('content-type')).toBe('application/geo+json');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="geozones.geojson"');
    let parts = 0;
    for await (const _ of response.body ?? []) parts += 1;
    expect(parts).toBeGreaterThan(5);
    expect(await names()).toEqual(many.map(({ properties }) => (properties as { name?: string }).name));

    const large = ' '.repeat(16 * 1024 * 1024 + 1);
    const post = (body: string, as?: string) =>
      world.call('POST', '/api/v1/geozones/import', { ...(as ? { jwt: as } : {}), body });
    expect((await post(large, jwt)).status).toBe(413);
    // A client without a token may not send that much.
    expect((await post(' '.repeat(1024 * 1024 + 1))).status).toBe(413);
  });
});
