import { gunzipSync } from 'node:zlib';
import { sampleVehicleFields } from '@outrider/domain/samples';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

let world: World;
let jwt: string;
beforeAll(async () => {
  world = await World.open();
  ({ jwt } = await world.member('boss', 'operator'));
  await world.registry.vehicles.writeAll(
    Array.from({ length: 300 }, (_, n) => ({ id: null, fields: sampleVehicleFields({ name: `Van ${n}` }) })),
    false,
  );
});
afterAll(() => world.close());

async function get(path: string, accepted: string, accept = '*/*') {
  const headers = { authorization: `JWT ${jwt}`, 'accept-encoding': accepted, accept };
  const response = await world.api.fetch(new Request(`http://outrider.test${path}`, { headers }), {
    incoming: { socket: { remoteAddress: '192.0.2.1' } } as never,
  });
  return { headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
}

test('large lists and exports are compressed for those who take it', async () => {
  for (const [path, accept] of [
    ['/api/v1/vehicles?limit=1000', '*/*'],
    ['/api/v1/vehicles', 'application/x-ndjson'],
    ['/api/v1/vehicles/export', '*/*'],
  ] as const) {
    const plain = await get(path, 'identity', accept);
    const zipped = await get(path, 'gzip, br', accept);
    expect(plain.headers.get('content-encoding'), path).toBeNull();
    expect(zipped.headers.get('content-encoding'), path).toBe('gzip');
    expect(zipped.headers.get('vary'), path).toContain('Accept-Encoding');
    expect(zipped.bytes.length, path).toBeLessThan(plain.bytes.length / 5);
    expect(gunzipSync(zipped.bytes).equals(plain.bytes), path).toBe(true);
  }
});

test('small answers are not, nor those with an ETag, whose tag stays strong', async () => {
  expect((await get('/api/v1/vehicles?limit=1', 'gzip')).headers.get('content-encoding')).toBeNull();
  const { items } = JSON.parse((await get('/api/v1/vehicles?limit=1', 'identity')).bytes.toString());
  const one = await get(`/api/v1/vehicles/${items[0].id}`, 'gzip');
  expect([one.headers.get('content-encoding'), one.headers.get('etag')]).toEqual([null, '"1"']);
});
