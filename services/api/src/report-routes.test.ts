import { once } from 'node:events';
import { connect } from 'node:net';
import type { Vehicle, VehicleId } from '@outrider/domain';
import type { ReportArchive } from '@outrider/reports';
import { readCsv } from '@outrider/reports';
import { EMPTY_ARCHIVE } from '@outrider/reports/empty-archive';
import { type ArchiveGap, BusyError, type PositionsQuestion, TooMuchError } from '@outrider/warehouse';
import { afterEach, describe, expect, test } from 'vitest';
import { ABSENT, linesIn, World } from './api.fixture.ts';
import { listenApi } from './http/listen.ts';

const DAY = 'from=2026-01-15T00:00:00Z&to=2026-01-16T00:00:00Z';
const FROM_MS = Date.UTC(2026, 0, 15);

let world: World;
afterEach(() => world?.close());

/** A world in which an operator has a vehicle, and the archive answers as given. */
async function scene(archive: Partial<ReportArchive> = {}): Promise<{ jwt: string; vehicle: Vehicle }> {
  world = await World.open({}, { reportArchive: { ...EMPTY_ARCHIVE, ...archive } });
  const { jwt } = await world.member('op', 'operator');
  const { body } = await world.call('POST', '/api/v1/vehicles', { jwt, body: { name: '=Van' } });
  return { jwt, vehicle: body };
}

const TRIP = {
  id: ABSENT,
  ...{ startLatitude: 52, startLongitude: 13, latitude: 52, longitude: 13, distanceM: 1000 },
  ...{ movingMs: 3_600_000, idlingMs: 0, maxKmh: 50, meanKmh: 50, endReason: 'stopped' },
};

function positionsOf({ vehicleIds, limit, after }: PositionsQuestion) {
  const [vehicleId] = vehicleIds;
  if (vehicleId === undefined) return { positions: [], next: null };
  const first = after ? after.fixTimeMs + 1000 : FROM_MS;
  const positions = Array.from({ length: limit }, (_, nth) => ({
    vehicleId,
    fixTimeMs: first + nth * 1000,
    latitude: 52,
    longitude: 13,
    valid: true,
    speedKmh: 50,
    courseDeg: null,
    altitudeM: null,
    satellites: null,
    ignition: true,
    odometerM: null,
    supplyV: null,
    fuelL: null,
    alarms: [],
    attributes: null,
    receivedAtMs: 0,
    terminalId: '' as never,
    protocol: 'osmand' as const,
    rejection: null,
  }));
  return { positions, next: { vehicleId, fixTimeMs: first + (limit - 1) * 1000 } };
}

describe('what the archive has lost', () => {
  const lost = { table: 'positions', fromMs: FROM_MS - 1000, toMs: FROM_MS + 59_999 } as ArchiveGap;

  test('is said on the first page of a report, and in the head of a file', async () => {
    const { jwt, vehicle } = await scene({ gaps: async () => [lost] });
    const incomplete = [{ from: '2026-01-15T00:00:00.000Z', to: '2026-01-15T00:01:00.000Z' }];
    for (const query of [`trips?${DAY}`, `track?${DAY}&vehicleId=${vehicle.id}`, `track?${DAY}&maxPoints=7`])
      expect((await world.call('GET', `/api/v1/reports/${query}`, { jwt })).body).toMatchObject({ incomplete });
    const file = await world.call('GET', `/api/v1/reports/trips?${DAY}&format=csv`, { jwt });
    expect(file.headers.get('outrider-incomplete')).toBe('2026-01-15T00:00:00.000Z/2026-01-15T00:01:00.000Z');
    expect(file.body.split('\r\n')).toHaveLength(2);
  });

  test('is not said of another time, nor of now', async () => {
    const { jwt } = await scene({ gaps: async () => [lost] });
    const nextDay = 'from=2026-01-16T00:00:00Z&to=2026-01-17T00:00:00Z';
    for (const query of [`trips?${nextDay}`, 'current-state?limit=1'])
      expect((await world.call('GET', `/api/v1/reports/${query}`, { jwt })).body).not.toHaveProperty('incomplete');
    const file = await world.call('GET', `/api/v1/reports/trips?${nextDay}&format=csv`, { jwt });
    expect(file.headers.get('outrider-incomplete')).toBeNull();
  });
});

describe('what is asked', () => {
  test.each([
    ['to must be later', `${DAY.replace('01-16', '01-14')}`, 'to'],
    ['three years are enough', 'from=2020-01-01T00:00:00Z&to=2026-01-01T00:00:00Z', 'to'],
    ['a zone is one', `${DAY}&timeZone=Mars/Olympus`, 'timeZone'],
    ['a vehicle or a group', `${DAY}&vehicleId=${ABSENT}&groupId=${ABSENT}`, 'groupId'],
    ['a format is one of those there are', `${DAY}&format=docx`, 'format'],
    ['columns are those of the report', `${DAY}&format=csv&columns=vehicleName,altitudeM`, 'columns'],
    ['groups are those of the report', `${DAY}&groupBy=geozone`, 'groupBy'],
    ['data has no groups', `${DAY}&format=csv&groupBy=vehicle`, 'groupBy'],
    ['lines are of tracks', `${DAY}&format=gpx`, 'format'],
    ['a cursor is one', `${DAY}&cursor=bm90aGluZw`, 'cursor'],
  ])('%s', async (_, query, parameter) => {
    const { jwt } = await scene();
    const { status, body } = await world.call('GET', `/api/v1/reports/trips?${query}`, { jwt });
    expect(status).toBe(400);
    expect(body.errors).toMatchObject([{ parameter }]);
  });

  test('kinds of events are those there are', async () => {
    const { jwt } = await scene();
    const path = `/api/v1/reports/events?${DAY}&kind=`;
    expect((await world.call('GET', `${path}trip,%20alarm`, { jwt })).status).toBe(200);
    expect((await world.call('GET', `${path}trip,flight`, { jwt })).status).toBe(400);
  });

  test('a shape is checked like a geozone’s', async () => {
    const { jwt } = await scene();
    const body = {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [13, 52] },
      properties: { shape: 'circle' },
    };
    const path = `/api/v1/reports/geozone-visits?${DAY}`;
    const refused = await world.call('POST', path, { jwt, body });
    expect(refused).toMatchObject({ status: 400, body: { errors: [{ pointer: '/properties/radiusM' }] } });
    const taken = await world.call('POST', path, {
      jwt,
      body: { ...body, properties: { shape: 'circle', radiusM: 50 } },
    });
    expect(taken).toMatchObject({ status: 200, body: { items: [], nextCursor: null } });
  });

  test('visits of a shape come as a file with the columns and in the language that are asked for', async () => {
    const { jwt } = await scene();
    const body = {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [13, 52] },
      properties: { shape: 'circle', radiusM: 50 },
    };
    const path = `/api/v1/reports/geozone-visits?${DAY}&format=csv&language=de&columns=vehicleName,part`;
    const { status, body: csv } = await world.call('POST', path, { jwt, body });
    expect({ status, csv }).toEqual({ status: 200, csv: 'vehicleName,part\r\n' });
  });
});

describe('what comes back', () => {
  test('a file by Accept or by format, with a name', async () => {
    const { jwt, vehicle } = await scene({ openEvents: async () => [] });
    for (const [query, accept] of [
      ['?format=csv', 'application/json'],
      ['', 'text/csv'],
    ]) {
      const { status, headers, body } = await world.call('GET', `/api/v1/reports/current-state${query}`, {
        jwt,
        headers: { accept: accept ?? '' },
      });
      expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
      expect(headers.get('content-disposition')).toMatch(/^attachment; filename="current-state-.*\.csv"$/);
      const [, row] = [...readCsv(body, ',')];
      expect(row?.cells.slice(0, 3)).toEqual([vehicle.id, `'=Van`, 'unknown']);
    }
    const refused = await world.call('GET', '/api/v1/reports/current-state', { jwt, headers: { accept: 'image/png' } });
    expect(refused).toMatchObject({ status: 406, body: { type: 'urn:outrider:problem:not-acceptable' } });
  });

  test('a PDF is in the language that is asked for, else that of the account', async () => {
    const { jwt } = await scene({ openEvents: async () => [] });
    await world.call('PATCH', '/api/v1/me/preferences', { jwt, body: { language: 'de' } });
    const pdfOf = async (query: string) => {
      const { headers, body } = await world.call('GET', `/api/v1/reports/current-state?format=pdf${query}`, { jwt });
      expect(headers.get('content-type')).toBe('application/pdf');
      expect(body).toMatch(/^%PDF-1/);
      return body;
    };
    expect(await pdfOf('')).toContain('(Aktueller Zustand)');
    expect(await pdfOf('&language=en')).toContain('(Present state)');
  });

  test('a PDF with more rows than anybody reads is refused', async () => {
    const { jwt } = await scene({
      positions: async (question) => positionsOf(question) as never,
      fixesBefore: async () => [],
    });
    const refused = await world.call('GET', `/api/v1/reports/track?${DAY}&format=pdf`, { jwt });
    expect(refused.body).toMatchObject({
      type: 'urn:outrider:problem:too-much',
      detail: 'A report may have at most 3000 rows.',
    });
  });

  test('a file has the columns that are chosen; groups have totals', async () => {
    const { jwt, vehicle } = await scene({
      tallies: async ({ vehicleIds: [vehicleId] }) => ({
        tallies: [0, 1].map((place) => ({
          ...{ vehicleId: vehicleId as VehicleId, kind: 'trip' as const, place, count: 2, durationMs: 60_000 },
          ...{ distanceM: 1000 * (place + 1), movingMs: 60_000, idlingMs: 0, peakKmh: 60 },
          ...{ fuelUsedL: 0, fuelDistanceM: 0, fuelEngineMs: 0, volumeL: 0 },
        })),
        crossing: [],
      }),
    });
    const days = 'from=2026-01-15T00:00:00Z&to=2026-01-17T00:00:00Z';
    const path = `/api/v1/reports/mileage?${days}`;
    const { body: text } = await world.call('GET', `${path}&format=csv&columns=distanceM,period`, { jwt });
    expect(text).toBe('period,distanceM\r\n2026-01-15,1000\r\n2026-01-16,2000\r\n');
    const { body } = await world.call('GET', `${path}&groupBy=day&limit=1`, { jwt });
    expect(body.items).toMatchObject([{ vehicleId: vehicle.id, period: '2026-01-15' }]);
    expect(body.totals).toEqual({
      ...{ rows: 2, values: { distanceM: 3000, trips: 4, movingSeconds: 120 } },
      groups: [
        { key: '2026-01-15', rows: 1, values: { distanceM: 1000, trips: 2, movingSeconds: 60 } },
        { key: '2026-01-16', rows: 1, values: { distanceM: 2000, trips: 2, movingSeconds: 60 } },
      ],
    });
    const { body: next } = await world.call('GET', `${path}&groupBy=day&limit=1&cursor=${body.nextCursor}`, { jwt });
    expect(next.totals).toBeUndefined();
  });

  test('where vehicles were at a moment, in pages or whole: the recent fixes are read first, older ones of the others alone', async () => {
    const atMs = FROM_MS + 12 * 3_600_000;
    const asked: [hoursBack: number, vehicles: number][] = [];
    let old: string | undefined;
    const { jwt, vehicle } = await scene({
      fixesBefore: async ({ vehicleIds, fromMs, beforeMs, count }) => {
        expect([beforeMs, count]).toEqual([atMs + 1, 1]);
        asked.push([(atMs - fromMs) / 3_600_000, vehicleIds.length]);
        const isOlder = atMs - fromMs > 3_600_000;
        const said = isOlder ? { speedKmh: null, courseDeg: null } : { speedKmh: 42.5, courseDeg: 270 };
        return vehicleIds
          .filter((id) => (id === old) === isOlder)
          .map((vehicleId) => ({
            ...{ vehicleId, fixTimeMs: beforeMs - 1000, latitude: 52, longitude: 13 },
            ...{ ...said, ignition: null },
          }));
      },
    });
    old = (await world.call('POST', '/api/v1/vehicles', { jwt, body: { name: 'Old' } })).body.id;
    const { body } = await world.call('GET', '/api/v1/reports/positions-at?at=2026-01-15T12:00:00Z', { jwt });
    const place = { fixTime: '2026-01-15T11:59:59.001Z', latitude: 52, longitude: 13 };
    expect(body).toEqual({
      items: [
        { vehicleId: vehicle.id, ...place, speedKmh: 42.5, courseDeg: 270 },
        { vehicleId: old, ...place },
      ],
      nextCursor: null,
    });
    expect(asked).toEqual([
      [1 / 6, 2],
      [6, 1],
    ]);

    const headers = { accept: 'application/x-ndjson' };
    const whole = await world.call('GET', '/api/v1/reports/positions-at?at=2026-01-15T12:00:00Z', { jwt, headers });
    expect(linesIn(whole)).toEqual(body.items);
    const rest = `cursor=${Buffer.from(JSON.stringify(vehicle.id)).toString('base64url')}`;
    const second = await world.call('GET', `/api/v1/reports/positions-at?at=2026-01-15T12:00:00Z&${rest}`, {
      ...{ jwt, headers },
    });
    expect(linesIn(second)).toMatchObject([{ vehicleId: old }]);
  });

  test('a fleet’s track says which positions are jumps, over pages, and draws none of them', async () => {
    // Every third is one, and the first too, by what was before it.
    const { jwt } = await scene({
      positions: async (question) => {
        const { positions, next } = positionsOf({ ...question, limit: Math.min(question.limit, 5) });
        const spiked = positions.map((position) =>
          (position.fixTimeMs - FROM_MS) % 3000 === 0 ? { ...position, latitude: -33 } : position,
        );
        return { positions: spiked, next: (next?.fixTimeMs ?? 0) >= FROM_MS + 9000 ? null : next };
      },
      fixesBefore: async ({ vehicleIds, beforeMs }) =>
        vehicleIds.map((vehicleId) => ({
          ...{ vehicleId, fixTimeMs: beforeMs - 1000, latitude: 52, longitude: 13 },
          ...{ speedKmh: null, courseDeg: null, ignition: null },
        })),
    });
    const items: { fixTime: string; rejection?: string }[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const behind: string = cursor && `&cursor=${cursor}`;
      const { body } = await world.call('GET', `/api/v1/reports/track?${DAY}&limit=4${behind}`, { jwt });
      items.push(...body.items);
      cursor = body.nextCursor;
    }
    const jumps = items.filter((item) => 'rejection' in item).map(({ rejection, fixTime }) => [rejection, fixTime]);
    expect(items).toHaveLength(12);
    expect(jumps).toEqual([0, 3, 6, 9].map((second) => ['jump', new Date(FROM_MS + second * 1000).toISOString()]));
    const drawn = await world.call('GET', `/api/v1/reports/track?${DAY}&format=gpx`, { jwt });
    expect(drawn.body.match(/<trkpt lat="52" /g)).toHaveLength(6);
    expect(drawn.body).not.toContain('-33');
  });

  test('several vehicles are named by a repeated parameter; one that does not exist is not found', async () => {
    const asked: string[][] = [];
    const { jwt, vehicle } = await scene({
      overlappingEvents: async ({ vehicleIds }) => {
        asked.push([...vehicleIds]);
        return { events: [], next: null };
      },
    });
    const { body: other } = await world.call('POST', '/api/v1/vehicles', { jwt: jwt, body: { name: 'Other' } });
    await world.call('POST', '/api/v1/vehicles', { jwt: jwt, body: { name: 'Third' } });
    const trips = (...ids: string[]) => {
      const named = ids.map((id) => `&vehicleId=${id}`).join('');
      return world.call('GET', `/api/v1/reports/trips?${DAY}${named}`, { jwt: jwt });
    };
    expect((await trips(other.id, vehicle.id, other.id)).status).toBe(200);
    expect(asked).toEqual([[vehicle.id, other.id]]);
    expect((await trips(other.id, ABSENT)).status).toBe(404);
    expect((await trips(...Array(101).fill(other.id))).status).toBe(400);
  });

  test('trips come with their simplified lines where they are wanted, as JSON alone', async () => {
    const trip = { kind: 'trip', phase: 'end', startedAtMs: FROM_MS, endedAtMs: FROM_MS + 3600_000 };
    let asked: PositionsQuestion | null = null;
    const { jwt, vehicle } = await scene({
      overlappingEvents: async ({ vehicleIds: [vehicleId] }) => ({
        events: [{ ...TRIP, ...trip, vehicleId } as never],
        next: null,
      }),
      positions: async (question) => {
        asked = question;
        const { positions } = positionsOf({ ...question, limit: 1000 });
        return { positions: positions.map((one, nth) => ({ ...one, latitude: 52 + Math.sin(nth) / 100 })), next: null };
      },
    });
    const ask = (more: string) =>
      world.call('GET', `/api/v1/reports/trips?${DAY}&vehicleId=${vehicle.id}${more}`, { jwt });
    const { body } = await ask('&geometry=true');
    expect(asked).toMatchObject({ vehicleIds: [vehicle.id], fromMs: FROM_MS, toMs: FROM_MS + 3600_001 });
    expect(body.items[0].geometry).toMatchObject({ type: 'LineString' });
    expect(body.items[0].geometry.coordinates).toHaveLength(200);
    for (const plain of ['', '&geometry=false'])
      expect((await ask(plain)).body.items[0]).not.toHaveProperty('geometry');
    expect((await ask('&geometry=true&format=csv')).body.errors).toMatchObject([{ parameter: 'geometry' }]);
    const others = await world.call('GET', `/api/v1/reports/stops?${DAY}&geometry=true`, { jwt });
    expect(others.body.errors).toMatchObject([{ parameter: 'geometry' }]);
  });

  test('a report with too many rows, and too many reports at once, are refused', async () => {
    let error: Error = new TooMuchError('time', null);
    const { jwt } = await scene({
      overlappingEvents: async () => {
        throw error;
      },
    });
    for (const format of ['json', 'csv', 'xlsx'])
      expect(await world.call('GET', `/api/v1/reports/trips?${DAY}&format=${format}`, { jwt })).toMatchObject({
        status: 422,
        body: { type: 'urn:outrider:problem:too-much' },
      });
    error = new BusyError('many');
    const { status, headers } = await world.call('GET', `/api/v1/reports/trips?${DAY}`, { jwt });
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
  });
});

describe('a client', () => {
  /** Asks, over a connection of its own that can be left at any time. */
  async function ask(port: number, jwt: string, path: string) {
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.write(`GET ${path} HTTP/1.1\r\nHost: outrider.test\r\nAuthorization: JWT ${jwt}\r\n\r\n`);
    return socket;
  }

  test('that leaves is asked for no more: the query in hand is broken off', async () => {
    const asked = Promise.withResolvers<AbortSignal | undefined>();
    const { jwt, vehicle } = await scene({
      positions: ({ signal }) => {
        asked.resolve(signal);
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const http = await listenApi(world.api, { host: '127.0.0.1', port: 0 });
    const socket = await ask(http.port, jwt, `/api/v1/reports/track?${DAY}&format=csv&vehicleId=${vehicle.id}`);
    const signal = await asked.promise;
    if (!signal) throw new Error('it was asked without a signal');
    expect(signal.aborted).toBe(false);
    const aborted = once(signal, 'abort');
    socket.destroy();
    await aborted;
    await http.close();
    // That somebody left is no failure of the service.
    expect(world.logged.flat()).not.toContain('a request failed');
  });

  test('that reads nothing is sent nothing more; one that leaves halfway ends the report', async () => {
    /** Of each report that was asked for. */
    const pages = new Map<AbortSignal | undefined, number>();
    const { jwt, vehicle } = await scene({
      positions: async (question) => {
        question.signal?.throwIfAborted();
        pages.set(question.signal, (pages.get(question.signal) ?? 0) + 1);
        return positionsOf(question);
      },
    });
    const http = await listenApi(world.api, { host: '127.0.0.1', port: 0 });
    const path = `/api/v1/reports/track?${DAY}&format=ndjson&vehicleId=${vehicle.id}`;
    const socket = await ask(http.port, jwt, path);
    await once(socket, 'readable');
    const [slow] = pages.keys();
    /** Another client reads what 40 pages become. */
    const another = async () => {
      const answer = await fetch(`http://127.0.0.1:${http.port}${path}`, { headers: { authorization: `JWT ${jwt}` } });
      for await (const _ of answer.body ?? []) if (([...pages.values()].at(-1) ?? 0) >= 40) break;
    };
    await another();
    // Of 1000 pages, those that the buffers on the way hold.
    expect(pages.get(slow)).toBeLessThan(20);
    const sofar = pages.get(slow) ?? 0;
    socket.destroy();
    await another();
    expect(pages.get(slow)).toBeLessThan(sofar + 10);
    expect(pages.size).toBe(3);
    await http.close();
  });
});
