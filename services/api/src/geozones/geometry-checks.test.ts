import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { World } from '../api.fixture.ts';

/** Points of each shape that was checked in the thread that answers calls. */
const here = vi.hoisted(() => ({ points: [] as number[] }));
vi.mock('./geojson.ts', async (original) => {
  const module = await original<typeof import('./geojson.ts')>();
  const shapeOf: typeof module.shapeOf = (feature) => {
    here.points.push(feature.geometry.coordinates.flat().length);
    return module.shapeOf(feature);
  };
  return { ...module, shapeOf };
});

let world: World;
let jwt: string;
beforeEach(async () => {
  here.points = [];
  const limits = { failedLoginsPerMinute: 10, authorizedPerMinute: 1e6, unauthorizedPerMinute: 1e6, blockSeconds: 60 };
  world = await World.open({ limits });
  ({ jwt } = await world.member('anna', 'user'));
});
afterEach(() => world.close());

/** Long slanted teeth beside each other: to hold each edge against each other took half a second. */
function comb(nth: number, tip = 0): object {
  const teeth = 2000;
  const ring = Array.from({ length: teeth }, (_, tooth) => {
    const y = tooth / teeth / 10;
    return [
      [30.001, 50 + y],
      [31, 55 + y + (tooth === 7 ? tip : 0)],
      [31, 55 + y + 0.02 / teeth],
      [30.001, 50 + y + 0.02 / teeth],
    ];
  }).flat();
  const closed = [...ring, [30, 50.2], [30, 49.9], ring[0]];
  return {
    type: 'Feature',
    geometry: { type: 'Polygon', coordinates: [closed] },
    properties: { shape: 'polygon', name: `Comb ${nth}` },
  };
}
const importing = (features: object[], query = '?dryRun=true') =>
  world.call('POST', `/api/v1/geozones/import${query}`, {
    jwt,
    body: { type: 'FeatureCollection', features },
    headers: { 'content-type': 'application/geo+json' },
  });

test('a dry run of comb polygons is checked in a thread of its own, and others are answered meanwhile', async () => {
  const checked = importing(Array.from({ length: 20 }, (_, nth) => comb(nth)));
  let isOver = false;
  checked.finally(() => {
    isOver = true;
  });
  let answered = 0;
  while (!isOver) {
    expect((await world.call('GET', '/api/v1/me', { jwt })).status).toBe(200);
    await new Promise((resolve) => setImmediate(resolve));
    answered++;
  }
  const { status, body } = await checked;
  expect([status, body.created]).toEqual([200, 20]);
  expect(here.points).toEqual([]);
  expect(answered).toBeGreaterThan(20);
});

test('what is wrong with a large geometry is found there as well, and named as before', async () => {
  const { status, body } = await importing([comb(0), comb(1, 0.01)]);
  expect(status).toBe(400);
  expect(body.errors).toHaveLength(1);
  expect(body.errors[0].pointer).toMatch(/^\/features\/1\/geometry\/coordinates\/0\/\d+$/);
  const one = await world.call('POST', '/api/v1/geozones', { jwt, body: comb(2, 0.01) });
  expect([one.status, one.body.errors.length]).toEqual([400, 1]);
  expect(here.points).toEqual([]);
});

test('one large geofence is drawn and changed without the thread that answers calls; a small one is not worth another', async () => {
  const drawn = await world.call('POST', '/api/v1/geozones', { jwt, body: comb(0) });
  expect(drawn.status).toBe(201);
  const path = `/api/v1/geozones/${drawn.body.id}`;
  const renamed = await world.call('PATCH', path, { jwt, body: { properties: { name: 'Renamed' } } });
  expect(renamed.status).toBe(200);
  expect(here.points).toEqual([]);
  const circle = { type: 'Point', coordinates: [30, 60] };
  const small = { type: 'Feature', geometry: circle, properties: { shape: 'circle', radiusM: 50, name: 'Small' } };
  expect((await world.call('POST', '/api/v1/geozones', { jwt, body: small })).status).toBe(201);
  expect(here.points).toHaveLength(1);
});

test('a client that sends its collection slowly keeps nobody else from importing', async () => {
  const other = await world.member('boris', 'user');
  let send: (text: string | null) => void = () => {};
  const slow = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new TextEncoder().encode('{"type":"FeatureCollection",'));
      send = (text) => {
        if (text !== null) controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      };
    },
  });
  const request = new Request('http://outrider.test/api/v1/geozones/import', {
    method: 'POST',
    headers: { authorization: `JWT ${jwt}`, 'content-type': 'application/geo+json' },
    body: slow,
    duplex: 'half',
  } as RequestInit);
  const sent = world.api.fetch(request, { incoming: { socket: { remoteAddress: '192.0.2.1' } } as never });
  const body = { type: 'FeatureCollection', features: [comb(0)] };
  const headers = { 'content-type': 'application/geo+json' };
  const answer = await world.call('POST', '/api/v1/geozones/import', { jwt: other.jwt, body, headers });
  expect(answer.status).toBe(200);
  send('"features":[]}');
  expect((await sent).status).toBe(200);
});
