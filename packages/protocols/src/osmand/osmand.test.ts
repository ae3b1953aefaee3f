import { NO_ALARMS, type Position, type TerminalId } from '@outrider/domain';
import { runs } from '@outrider/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition } from '../protocol.conformance.ts';
import { decodeOsmand, type OsmandRequest } from './decode.ts';
import { encodeOsmandJson, encodeOsmandQuery } from './encode.ts';

const NOW_MS = Date.UTC(2026, 5, 1, 12);
const ID = 'phone 7' as TerminalId;

const decoded = (request: Partial<OsmandRequest>) =>
  decodeOsmand({ method: 'GET', url: '/', contentType: null, body: Buffer.alloc(0), nowMs: NOW_MS, ...request });
const ask = (request: Partial<OsmandRequest>) => {
  const report = decoded(request);
  if ('refused' in report) return report;
  const { isInKnots: _, ...rest } = report;
  return rest;
};
const get = (url: string) => ask({ url });
const post = (json: unknown) =>
  ask({
    method: 'POST',
    contentType: 'application/json; charset=utf-8',
    body: Buffer.from(typeof json === 'string' ? json : JSON.stringify(json)),
  });
const form = (body: string, url = '/') =>
  ask({ method: 'POST', url, contentType: 'application/x-www-form-urlencoded', body: Buffer.from(body) });

const BLANK: Position = {
  fixTimeMs: NOW_MS,
  latitude: 48.8566,
  longitude: 2.3522,
  valid: true,
  speedKmh: null,
  courseDeg: null,
  altitudeM: null,
  satellites: null,
  ignition: null,
  odometerM: null,
  supplyV: null,
  fuelL: null,
  alarms: NO_ALARMS,
  attributes: null,
};

describe('round trip', () => {
  const attributes = fc
    .record(
      {
        accuracy: fc.nat({ max: 1000 }),
        batt: fc.nat({ max: 100 }),
        charge: fc.boolean(),
        is_moving: fc.boolean(),
        event: fc.constantFrom('motionchange', 'heartbeat'),
        activity: fc.constantFrom('still', 'in_vehicle'),
        driverUniqueId: fc.stringMatching(/^[A-F][0-9A-F]{8}$/),
        task: fc.constantFrom('a&b=c', 'Привет', '007', '+1'),
        temperature: fc.integer({ min: -400, max: 400 }).map((tenths) => tenths / 10),
      },
      { requiredKeys: [] },
    )
    .map((held) => (Object.keys(held).length > 0 ? held : null));
  const carried = (position: Position): Position => ({
    ...position,
    latitude: expect.closeTo(position.latitude, 9),
    longitude: expect.closeTo(position.longitude, 9),
    speedKmh: position.speedKmh === null ? null : expect.closeTo(position.speedKmh, 1),
  });

  test('by the query', () => {
    fc.assert(
      fc.property(arbitraryPosition(attributes), (position) => {
        expect(get(encodeOsmandQuery(ID, position))).toEqual({ terminalId: ID, positions: [carried(position)] });
      }),
    );
  });

  test('by a form', () => {
    fc.assert(
      fc.property(arbitraryPosition(attributes), (position) => {
        const answer = form(encodeOsmandQuery(ID, position).slice('/?'.length));
        expect(answer).toEqual({ terminalId: ID, positions: [carried(position)] });
      }),
    );
  });

  test('by JSON', () => {
    fc.assert(
      fc.property(arbitraryPosition(attributes), (position) => {
        expect(post(encodeOsmandJson(ID, position))).toEqual({ terminalId: ID, positions: [carried(position)] });
      }),
    );
  });
});

describe("the requests on Traccar's page", () => {
  test('what must be there', () => {
    expect(get('/?id=12345&lat=48.8566&lon=2.3522&timestamp=1609459200000')).toEqual({
      terminalId: '12345',
      positions: [{ ...BLANK, fixTimeMs: Date.UTC(2021, 0, 1) }],
    });
  });

  test('with more', () => {
    expect(
      get(
        '/?deviceid=12345&lat=48.8566&lon=2.3522&timestamp=2021-01-01T00:00:00Z&speed=15&bearing=270&altitude=35&accuracy=10&hdop=0.8&batt=75',
      ),
    ).toEqual({
      terminalId: '12345',
      positions: [
        {
          ...BLANK,
          fixTimeMs: Date.UTC(2021, 0, 1),
          speedKmh: 27.8,
          courseDeg: 270,
          altitudeM: 35,
          attributes: { accuracy: 10, hdop: 0.8, batt: 75 },
        },
      ],
    });
  });

  test('JSON of Traccar Client', () => {
    expect(
      post({
        location: {
          timestamp: '2000-01-01T00:00:00.000Z',
          coords: { latitude: 48.8566, longitude: 2.3522, accuracy: 5, speed: 10, heading: 359.7, altitude: 12.4 },
          is_moving: false,
          odometer: 1234.5,
          event: 'motionchange',
          battery: { level: 0.5, is_charging: false },
          activity: { type: 'still' },
          extras: {},
        },
        device_id: '48241179',
      }),
    ).toEqual({
      terminalId: '48241179',
      positions: [
        {
          ...BLANK,
          fixTimeMs: Date.UTC(2000, 0, 1),
          speedKmh: 36,
          courseDeg: 0,
          altitudeM: 12,
          odometerM: 1235,
          attributes: {
            accuracy: 5,
            is_moving: false,
            event: 'motionchange',
            batt: 50,
            charge: false,
            activity: 'still',
          },
        },
      ],
    });
  });
});

test.each([
  ['seconds', '1609459200', Date.UTC(2021, 0, 1)],
  ['seconds with a fraction', '1609459200.25', Date.UTC(2021, 0, 1) + 250],
  ['milliseconds', '1609459200123', Date.UTC(2021, 0, 1) + 123],
  ['a date and time with a space', '2021-01-01 00:00:00', Date.UTC(2021, 0, 1)],
  ['a zone whose plus was not escaped', '2021-01-01T02:00:00+02:00', Date.UTC(2021, 0, 1)],
  ['a zone that was', '2021-01-01T02:00:00%2B02:00', Date.UTC(2021, 0, 1)],
  ['no zone', '2021-01-01T00:00', Date.UTC(2021, 0, 1)],
])('time as %s', (_, timestamp, fixTimeMs) => {
  expect(get(`/?id=1&lat=48.8566&lon=2.3522&timestamp=${timestamp}`)).toEqual({
    terminalId: '1',
    positions: [{ ...BLANK, fixTimeMs }],
  });
});

test('no time means now', () => {
  expect(get('/?id=1&location=48.8566,2.3522')).toEqual({ terminalId: '1', positions: [BLANK] });
});

test('what is no speed of anything is none', () => {
  for (const speed of ['999999999', '40000'])
    expect(get(`/?id=1&lat=48.8566&lon=2.3522&speed=${speed}`)).toEqual({ terminalId: '1', positions: [BLANK] });
  const coords = { latitude: 48.8566, longitude: 2.3522, speed: 1e308 };
  const decoded = post({ location: { timestamp: '2000-01-01T00:00:00.000Z', coords }, device_id: '1' });
  expect(decoded).toMatchObject({ positions: [{ speedKmh: null }] });
});

test('a phone that does not know its speed and bearing says -1', () => {
  expect(get('/?id=1&lat=48.8566&lon=2.3522&speed=-1&bearing=-1')).toEqual({ terminalId: '1', positions: [BLANK] });
});

test('an alarm without a place is kept; an identifier alone is a sign of life', () => {
  expect(get('/?id=1&alarm=sos,hardBraking,unheard')).toEqual({
    terminalId: '1',
    positions: [{ ...BLANK, latitude: 0, longitude: 0, valid: false, alarms: ['sos', 'harsh-braking', 'other'] }],
  });
  expect(get('/?id=1')).toEqual({ terminalId: '1', positions: [] });
  expect(post({ device_id: 7 })).toEqual({ terminalId: '7', positions: [] });
});

describe('a place is understood under each name that it is sent by', () => {
  const PLACED = { terminalId: '1', positions: [BLANK] };
  const place = { latitude: 48.8566, longitude: 2.3522 };
  const timestamp = new Date(NOW_MS).toISOString();

  test.each([
    '/?id=1&latitude=48.8566&longitude=2.3522',
    '/?id=1&LAT=48.8566&LON=2.3522',
    '/?ID=1&Lat=48.8566&Lng=2.3522&Timestamp=1780315200',
    '/?id=1&lat=48,8566&lon=%2B2,3522',
    '/?id=1&lat=+48.8566&lon=+2.3522&speed=&bearing=&altitude=&timestamp=&batt=&valid=',
  ])('%s', (url) => expect(get(url)).toEqual(PLACED));

  test.each([
    { device_id: '1', locations: [{ timestamp, coords: place }] },
    { device_id: '1', coords: place },
    { device_id: '1', timestamp, latitude: 48.8566, longitude: '2.3522' },
    { device_id: '1', lat: 48.8566, lon: 2.3522 },
    { id: 1, location: { lat: 48.8566, lng: 2.3522 } },
  ])('%j', (json) => expect(post(json)).toEqual(PLACED));

  test('in JSON that is posted as a form, with the identifier in the address', () => {
    expect(form(JSON.stringify({ coords: place }), '/?id=1')).toEqual(PLACED);
  });

  test('what stands beside it in JSON is kept', () => {
    const said = post({ device_id: '1', lat: 48.8566, lon: 2.3522, speed: 10, ignition: 'on', batt: 80, alarm: 'sos' });
    const kept = { speedKmh: 36, ignition: true, alarms: ['sos'], attributes: { batt: 80 } };
    expect(said).toEqual({ terminalId: '1', positions: [{ ...BLANK, ...kept }] });
  });
});

test.each(['nan', 'NaN', '-', 'null', 'Infinity', 'fast', ''])(
  'a height, speed and course of %j are not known',
  (text) => {
    const url = `/?id=1&lat=48.8566&lon=2.3522&altitude=${text}&speed=${text}&bearing=${text}&sat=${text}`;
    const [position] = (get(url) as { positions: Position[] }).positions;
    expect(position).toMatchObject({ ...BLANK, attributes: text === 'fast' ? { sat: 'fast' } : null });
  },
);

test('a number of JSON that is none is not known', () => {
  const coords = '{"latitude":48.8566,"longitude":2.3522,"altitude":1e999,"speed":null,"heading":"NaN"}';
  expect(post(`{"device_id":"1","location":{"coords":${coords}}}`)).toEqual({ terminalId: '1', positions: [BLANK] });
});

test('a phone that does not know where it is keeps its battery', () => {
  expect(get('/?id=1&lat=&lon=&batt=77&speed=')).toEqual({
    terminalId: '1',
    positions: [{ ...BLANK, latitude: 0, longitude: 0, valid: false, attributes: { batt: 77 } }],
  });
  expect(get('/?id=1&timestamp=1780315200&lat=&lon=')).toEqual({ terminalId: '1', positions: [] });
});

test('an alarm is kept whatever is missing beside it', () => {
  expect(get('/?id=1&alarm=sos&speed=0&x=5')).toMatchObject({ positions: [{ valid: false, alarms: ['sos'] }] });
  expect(post({ device_id: 1, alarm: 'sos' })).toMatchObject({ positions: [{ valid: false, alarms: ['sos'] }] });
});

test.each([
  ['ON', true],
  ['on', true],
  ['yes', true],
  ['TRUE', true],
  ['1', true],
  ['OFF', false],
  ['off', false],
  ['no', false],
  ['FALSE', false],
  ['0', false],
])('ignition=%s is understood', (text, ignition) => {
  const positions = [{ ...BLANK, ignition }];
  expect(get(`/?id=1&lat=48.8566&lon=2.3522&ignition=${text}`)).toEqual({ terminalId: '1', positions });
});

test('no alarm is none, whatever it is called', () => {
  for (const alarm of ['', 'none', 'null', 'off'])
    expect(get(`/?id=1&lat=48.8566&lon=2.3522&alarm=${alarm}`)).toEqual({ terminalId: '1', positions: [BLANK] });
});

test('the address of GPSLogger', () => {
  const unknown = 'hdop=&altitude=&speed=3.5&bearing=&sat=&batt=88&accuracy=12.5';
  expect(get(`/?id=1&lat=48.8566&lon=2.3522&timestamp=2026-06-01T12:00:00.000Z&${unknown}`)).toEqual({
    terminalId: '1',
    positions: [{ ...BLANK, speedKmh: 6.5, attributes: { batt: 88, accuracy: 12.5 } }],
  });
});

test('a location that can not be read does not take the others of its list with it', () => {
  const location = { coords: { latitude: 48.8566, longitude: 2.3522 } };
  const broken = { coords: { latitude: 91, longitude: 2 } };
  expect(post({ device_id: 'a', location: [location, broken, location] })).toEqual({
    terminalId: 'a',
    positions: [BLANK, BLANK],
    unread: [
      { refused: 'bad-content', status: 400, detail: expect.stringContaining('location[1].coords.latitude: 91') },
    ],
  });
});

test('parameters of the query and of the form go together', () => {
  expect(form('lat=48.8566&lon=2.3522', '/?id=1')).toEqual({ terminalId: '1', positions: [BLANK] });
});

test('locations kept by the phone may come as a list', () => {
  const location = { coords: { latitude: 48.8566, longitude: 2.3522 } };
  expect(post({ device_id: 'a', location: [location, location] })).toEqual({
    terminalId: 'a',
    positions: [BLANK, BLANK],
  });
});

describe('what is wrong is said, and where', () => {
  const AT = '&lat=48.8566&lon=2.3522';
  test.each([
    ['/', 'not-identified', 'id: missing'],
    [`/?id=${AT}`, 'not-identified', 'id: missing'],
    [`/?id=${'x'.repeat(65)}`, 'bad-content', 'id:'],
    ['/?id=1&lat=1', 'bad-content', 'lon: missing'],
    ['/?id=1&lon=1', 'bad-content', 'lat: missing'],
    ['/?id=1&location=1', 'bad-content', 'lon: missing'],
    ['/?id=1&lat=north&lon=1', 'bad-content', 'lat: "north"'],
    ['/?id=1&lat=&lon=1', 'bad-content', 'lat: ""'],
    ['/?id=1&breite=52.5&laenge=13.4&speed=3', 'bad-content', 'known are lat and lon'],
    ['/?id=1&gps=52.5,13.4', 'bad-content', '"gps" without a place'],
    ['/?id=1&x=13.4&y=52.5', 'bad-content', '"x" without a place'],
    ['/?id=1&latitud=52.5&longitud=13.4', 'bad-content', '"latitud" without a place'],
    ['/?id=1&lat=90.1&lon=1', 'bad-content', 'lat: 90.1'],
    ['/?id=1&lat=1&lon=-180.1', 'bad-content', 'lon: -180.1'],
    ['/?id=1&location=52,5,13,4', 'bad-content', 'location: "52,5,13,4"'],
    [`/?id=1${AT}&valid=maybe`, 'bad-content', 'valid: "maybe"'],
    [`/?id=1${AT}&timestamp=yesterday`, 'bad-content', 'timestamp: "yesterday"'],
    [`/?id=1${AT}&timestamp=99999999999999`, 'bad-content', 'timestamp:'],
    [`/?id=1${AT}&timestamp=2021-13-01T00:00:00Z`, 'bad-content', 'timestamp:'],
  ])('%s', (url, refused, detail) => {
    expect(get(url)).toEqual({ refused, status: 400, detail: expect.stringContaining(detail) });
  });

  test.each([
    ['{', 'the body is not JSON'],
    ['[]', 'not a JSON object'],
    [{ device_id: {}, location: {} }, 'device_id:'],
    [{ device_id: 'a', location: 5 }, 'location: no object'],
    [{ device_id: 'a', location: {} }, 'location.coords: missing'],
    [{ device_id: 'a', location: { coords: { latitude: 1 } } }, 'location.coords.longitude: missing'],
    [{ device_id: 'a', location: { coords: { latitude: 'x', longitude: 1 } } }, 'location.coords.latitude: "x"'],
    [{ device_id: 'a', location: [{ coords: { latitude: 91, longitude: 1 } }] }, 'location[0].coords.latitude: 91'],
    [{ device_id: 'a', location: { timestamp: [], coords: {} } }, 'location.timestamp: []'],
    [{ device_id: 'a', position: { lat: 1, lon: 2 } }, '"position" without a place'],
    [{ device_id: 'a', lat: 1 }, 'longitude: missing'],
  ])('%j', (json, detail) => {
    expect(post(json)).toEqual({ refused: 'bad-content', status: 400, detail: expect.stringContaining(detail) });
  });

  test('no identifier in JSON', () => {
    expect(post({ location: {} })).toEqual({ refused: 'not-identified', status: 400, detail: 'device_id: missing' });
  });

  test('a method that carries no report', () => {
    expect(ask({ method: 'DELETE' })).toMatchObject({ refused: 'unsupported', status: 405 });
  });

  test('a list without end', () => {
    expect(post({ device_id: 'a', location: Array(1001).fill({}) })).toMatchObject({
      refused: 'bad-length',
      status: 413,
    });
  });
});

test('whatever is asked, the answer is a report or a refusal', () => {
  const json = fc.json().map((text) => Buffer.from(text));
  const request = fc.record({
    method: fc.constantFrom('GET', 'POST'),
    url: fc.oneof(
      fc.string(),
      fc.string().map((query) => `/?id=1&lat=1&lon=2&${query}`),
    ),
    contentType: fc.constantFrom(null, '', 'application/json', 'application/x-www-form-urlencoded', 'text/plain'),
    body: fc.oneof(
      json,
      fc.uint8Array().map((bytes) => Buffer.from(bytes)),
      fc.jsonValue().map((location) => Buffer.from(JSON.stringify({ device_id: 'a', location }))),
      fc
        .jsonValue()
        .map((extras) =>
          Buffer.from(JSON.stringify({ device_id: 'a', location: { coords: { latitude: 1, longitude: 2 }, extras } })),
        ),
    ),
  });
  fc.assert(
    fc.property(request, (asked) => {
      const answer = ask(asked);
      if ('refused' in answer) expect(answer.status).toBeGreaterThanOrEqual(400);
      else for (const position of answer.positions) expect(Object.keys(position)).toEqual(Object.keys(BLANK));
    }),
    { numRuns: runs(500) },
  );
});

test('attributes are bounded, and reach nothing that is not theirs', () => {
  const many = Array.from({ length: 300 }, (_, i) => `p${i}=1`).join('&');
  const answer = get(`/?id=1&lat=1&lon=2&__proto__=x&${many}`);
  if ('refused' in answer) throw new Error(answer.detail);
  const attributes = answer.positions[0]?.attributes;
  expect(Object.keys(attributes ?? {})).toHaveLength(96);
  expect(Object.getPrototypeOf(attributes)).toBe(Object.prototype);
});

test('speeds of parameters are marked as knots, those of the JSON form are m/s', () => {
  expect(decoded({ url: '/?id=1&lat=1&lon=2&speed=3' })).toMatchObject({ isInKnots: true });
  const body = Buffer.from('{"device_id":"1","lat":1,"lon":2,"speed":3}');
  expect(decoded({ method: 'POST', contentType: 'application/json', body })).not.toHaveProperty('isInKnots');
});
