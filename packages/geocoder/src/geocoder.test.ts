import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import { VirtualClock } from '@outrider/testing/clock';
import { afterEach, expect, test } from 'vitest';
import { openAddressServer, type ServerFormat } from './address-server.ts';
import { Gazetteer } from './gazetteer.ts';
import { openGeocoder } from './geocoder.ts';

const MINSK = { latitude: 53.9, longitude: 27.5667 };
const gazetteer = new Gazetteer({
  latitudes: Float32Array.of(53.9),
  longitudes: Float32Array.of(27.5667),
  names: ['Minsk'],
  countries: ['BY'],
});
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function serverThat(answers: RequestListener): Promise<string> {
  const server = createServer(answers).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.push(() => server.close().closeAllConnections());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/geo/?key=abc`;
}

function geocoderWith(
  url: string,
  format: ServerFormat = 'nominatim',
  more: { perSecond?: number; clock?: Clock } = {},
) {
  const states: (string | null)[] = [];
  const addressServer = openAddressServer({
    url,
    format,
    perSecond: 1000,
    timeoutMs: 300,
    onState: (failure) => states.push(failure),
    ...more,
  });
  const { clock = SYSTEM_CLOCK } = more;
  return { states, geocoder: openGeocoder({ addressServer, openGazetteer: async () => gazetteer, clock }) };
}

test('without a server the nearest town is the place, and the sea has none', async () => {
  const geocoder = openGeocoder({ addressServer: null, openGazetteer: async () => gazetteer });
  expect(await geocoder.placesOf([MINSK, { latitude: 0, longitude: 0 }], 1000)).toEqual([
    { text: 'Minsk, Belarus', source: 'town' },
    null,
  ]);
});

test.each([
  ['nominatim', '/geo/reverse?key=abc&format=jsonv2&lat=53.9000&lon=27.5667', { display_name: ' 1 Lenin\n St ' }],
  [
    'photon',
    '/geo/reverse?key=abc&lat=53.9000&lon=27.5667',
    { features: [{ properties: { name: '1 Lenin St', street: '1 Lenin St' } }] },
  ],
  [
    'pelias',
    '/geo/v1/reverse?key=abc&point.lat=53.9000&point.lon=27.5667&size=1',
    { features: [{ properties: { label: '1 Lenin St' } }] },
  ],
] as const)('the address of a server that speaks %s, asked once', async (format, path, answer) => {
  const asked: (string | undefined)[] = [];
  const url = await serverThat((request, response) => {
    asked.push(request.url);
    response.end(JSON.stringify(answer));
  });
  const { geocoder } = geocoderWith(url, format);
  const address = [{ text: '1 Lenin St', source: 'address' }];
  expect(await geocoder.placesOf([MINSK], 5000)).toEqual(address);
  expect(await geocoder.placesOf([{ latitude: 53.90001, longitude: 27.56671 }], 0)).toEqual(address);
  expect(asked).toEqual([path]);
});

test('photon: what a feature has, each part once', async () => {
  const properties = { street: 'Lenin St', housenumber: '1', city: 'Minsk', country: 'Belarus', name: 'Minsk' };
  const url = await serverThat((_, response) => response.end(JSON.stringify({ features: [{ properties }] })));
  const { geocoder } = geocoderWith(url, 'photon');
  expect(await geocoder.placesOf([MINSK], 5000)).toEqual([{ text: 'Minsk, Lenin St 1, Belarus', source: 'address' }]);
});

test.each([
  ['does not answer', () => {}],
  ['answers nonsense', (_, response) => response.end('<html>')],
  ['answers without an end', (_, response) => response.end('x'.repeat(200_000))],
  ['is broken', (_, response) => response.writeHead(500).end()],
  ['knows nothing there', (_, response) => response.writeHead(404).end()],
  ['sends elsewhere', (_, response) => response.writeHead(302, { location: '/' }).end()],
] as [string, RequestListener][])('a server that %s: the nearest town has to do', async (_, answers) => {
  const { geocoder } = geocoderWith(await serverThat(answers));
  expect(await geocoder.placesOf([MINSK], 5000)).toEqual([{ text: 'Minsk, Belarus', source: 'town' }]);
});

test('a server that fails is left alone for a while, and what becomes of it is reported once', async () => {
  let asked = 0;
  let isBroken = true;
  const url = await serverThat((_, response) => {
    asked += 1;
    if (isBroken) response.writeHead(500).end();
    else response.end(JSON.stringify({ display_name: 'Here' }));
  });
  const clock = new VirtualClock();
  const { geocoder, states } = geocoderWith(url, 'nominatim', { clock });
  const ask = async (nth: number) => {
    // The turn of the next call comes a millisecond after that of the one before.
    await clock.advance(1);
    return geocoder.placesOf([{ latitude: 53.9 + nth / 100, longitude: 27.5667 }], 5000);
  };
  for (let nth = 0; nth < 6; nth += 1) await ask(nth);
  expect(asked).toBe(3);
  expect(states).toEqual(['the address server answered 500']);
  isBroken = false;
  await clock.advance(29_000);
  expect(await ask(6)).toMatchObject([{ source: 'town' }]);
  await clock.advance(1000);
  expect(await ask(7)).toEqual([{ text: 'Here', source: 'address' }]);
  expect(asked).toBe(4);
  expect(states).toEqual(['the address server answered 500', null]);
});

test('calls beyond what a second may have are not waited for', async () => {
  let asked = 0;
  const url = await serverThat((_, response) => {
    asked += 1;
    response.end(JSON.stringify({ display_name: 'Here' }));
  });
  const { geocoder } = geocoderWith(url, 'nominatim', { perSecond: 0.1 });
  const points = Array.from({ length: 500 }, (_, nth) => ({ latitude: 53.9 + nth / 1000, longitude: 27.5667 }));
  const places = await geocoder.placesOf(points, 1000);
  expect(places.filter((place) => place?.source === 'address')).toHaveLength(1);
  expect(asked).toBe(1);
});

test('where the gazetteer cannot be read there are no towns, and that is reported', async () => {
  const errors: unknown[] = [];
  const geocoder = openGeocoder({
    addressServer: null,
    openGazetteer: () => Promise.reject(new Error('no file')),
    onError: (error) => errors.push(error),
  });
  expect(await geocoder.placesOf([MINSK], 0)).toEqual([null]);
  expect(await geocoder.placesOf([MINSK], 0)).toEqual([null]);
  expect(errors).toHaveLength(1);
});
