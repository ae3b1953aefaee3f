import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Position, TerminalId } from '@outrider/domain';
import { createRandom, playDrive } from '@outrider/simulator';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { driveRound } from '../circuit.fixture.ts';
import { archivedCount, inForce, OPERATOR_PASSWORD, type RunningService, startService } from '../service.fixture.ts';
import { FakeTraccar, TOKEN } from './fake-traccar.fixture.ts';
import { runImport } from './import.ts';

const PATIENCE = { timeout: 60_000, interval: 50 };
const DAY_MS = 86_400_000;
const TERMINAL = '356307042441099' as TerminalId;

interface Listed {
  items: Record<string, never>[];
}

let folder: string;
let service: RunningService;
let printed: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-import-'));
  service = await startService(join(folder, 'data'), undefined, { CHECKPOINT_MS: '200' });
}, 120_000);
afterAll(async () => {
  await service?.kill();
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  printed = [];
});

const run = (...words: string[]) =>
  runImport(
    [...words, '--to', `http://127.0.0.1:${service.ports.http}`, '--login', 'admin'],
    { OUTRIDER_PASSWORD: OPERATOR_PASSWORD, TRACCAR_TOKEN: TOKEN },
    (line) => printed.push(line),
  );
const items = async (path: string) => (await service.call<Listed>('GET', path)).items as unknown as never[];
const file = (name: string, content: string | Buffer) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};
/** An hour's drive, in whole seconds. */
function drive(startMs: number, fixes = 360): Position[] {
  const round = driveRound(createRandom(7), Math.floor(startMs / 1000) * 1000);
  return Array.from({ length: fixes }, () => round.next().value);
}
const time = (timeMs: number) => new Date(timeMs).toISOString();
const tripsOf = (vehicleId: string, positions: readonly Position[]) => {
  const [from, to] = [positions[0]?.fixTimeMs ?? 0, (positions.at(-1)?.fixTimeMs ?? 0) + 1];
  return items(`/api/v1/reports/trips?vehicleId=${vehicleId}&from=${time(from)}&to=${time(to)}`);
};

describe('history from files', () => {
  test('is in the vehicle’s past with its trips, and nothing of now knows of it', async () => {
    const { id } = await service.call<{ id: string }>('POST', '/api/v1/vehicles', {
      name: 'Van',
      terminalId: TERMINAL,
    });
    await service.call('POST', '/api/v1/notification-rules', {
      name: 'All',
      eventKinds: ['trip', 'parking', 'offline'],
    });
    await inForce(service.ports.http);
    const state = () =>
      service.call<{ position: { fixTime: string } | null; lastContactAt: string | null }>(
        'GET',
        `/api/v1/vehicles/${id}/state`,
      );
    const past = drive(Date.now() - 60 * DAY_MS);
    // As a spreadsheet saves “Unicode text”, with rows that were emptied.
    const comma = (value: number | null) => String(value ?? '').replace('.', ',');
    const rows = past.map(({ fixTimeMs, latitude, longitude, speedKmh, ignition }) =>
      [time(fixTimeMs), ...[latitude, longitude, speedKmh].map(comma), ignition ?? ''].join(';'),
    );
    const lines = ['\uFEFFsep=;', 'fixTime;latitude;longitude;speedKmh;ignition', ...rows, ';;;;', ''];
    const csv = file('past.csv', Buffer.from(lines.join('\r\n'), 'utf16le'));
    expect(await run('csv', csv, '--vehicle', id)).toBe(0);
    expect(printed[0]).toMatch(/: 360 positions, /);
    await vi.waitFor(async () => expect(await archivedCount(service, id)).toBe(360), PATIENCE);
    const trips = await tripsOf(id, past);
    expect(trips.length).toBeGreaterThan(0);
    // What was silent since then does not last until now.
    for (const trip of trips as { endedAt: string | null }[]) expect(trip.endedAt).not.toBeNull();
    expect(await state()).toMatchObject({ position: null, lastContactAt: null });

    // What is live goes on as if nothing had been imported.
    const now = drive(Date.now() - 600_000, 30);
    await playDrive({
      ...{ protocol: 'teltonika', terminalId: TERMINAL, host: '127.0.0.1', port: service.ports.teltonika },
      ...{ positions: now, positionsPerPacket: 10 },
    });
    const newest = time(now.at(-1)?.fixTimeMs ?? 0);
    await vi.waitFor(async () => expect((await state()).position?.fixTime).toBe(newest), PATIENCE);
    const { lastContactAt } = await state();
    // Again: it is there once, and older than what is live.
    expect(await run('csv', csv, '--vehicle', `terminal:${TERMINAL}`)).toBe(0);
    await vi.waitFor(async () => expect(await archivedCount(service, id)).toBe(390), PATIENCE);
    expect(await tripsOf(id, past)).toEqual(trips);
    expect(await state()).toMatchObject({ position: { fixTime: newest }, lastContactAt });
    const notified = (await items('/api/v1/notifications')) as unknown as { event: { startedAt: string } }[];
    expect(notified.filter(({ event }) => Date.parse(event.startedAt) < Date.now() - DAY_MS)).toEqual([]);
  }, 180_000);

  test('of a GPX are the points that have a time', async () => {
    const { id } = await service.call<{ id: string }>('POST', '/api/v1/vehicles', { name: 'Walker' });
    const point = (second: number, more: string) => `<trkpt lat="${59.9 + second / 10_000}" lon="30.3">${more}</trkpt>`;
    const at = (second: number) => `<time>2026-01-14T10:00:${String(second).padStart(2, '0')}Z</time>`;
    const speed =
      '<extensions><gpxtpx:TrackPointExtension><gpxtpx:speed>10</gpxtpx:speed></gpxtpx:TrackPointExtension></extensions>';
    const gpx = `<gpx xmlns:gpxtpx="http://www.garmin.com/xmlschemas/TrackPointExtension/v2"><trk><trkseg>
      ${point(0, `<ele>12</ele>${at(0)}`)}${point(1, at(1) + speed)}${point(2, '')}</trkseg></trk></gpx>`;
    expect(await run('gpx', file('walk.gpx', gpx), '--vehicle', id)).toBe(0);
    expect(printed[0]).toBe('points without a time, left out: 1');
    await vi.waitFor(async () => expect(await archivedCount(service, id)).toBe(2), PATIENCE);
    const query = `vehicleId=${id}&from=2026-01-14T00:00:00Z&to=2026-01-15T00:00:00Z`;
    expect(await items(`/api/v1/reports/track?${query}`)).toMatchObject([
      { fixTime: '2026-01-14T10:00:00.000Z', altitudeM: 12 },
      { fixTime: '2026-01-14T10:00:01.000Z', speedKmh: 36 },
    ]);
  }, 120_000);

  test.each([
    [['csv', 'missing.csv', '--vehicle', 'x'], /cannot read missing\.csv/],
    [['csv'], /it is: import/],
    [['gpx', 'a.gpx', '--nonsense'], /nonsense/],
  ])('%j is refused', async (words, reason) => {
    await expect(run(...words)).rejects.toThrow(reason);
  });

  test('what is wrong with a file is named', async () => {
    const csv = file('wrong.csv', 'fixTime,latitude,longitude\nyesterday,1,2\n');
    const { id } = await service.call<{ id: string }>('POST', '/api/v1/vehicles', { name: 'Wrong' });
    await expect(run('csv', csv, '--vehicle', id)).rejects.toThrow(/row 2 fixTime: It must be a time/);
    await expect(run('gpx', csv, '--vehicle', id)).rejects.toThrow(/not XML/);
  });
});

describe('a Traccar', () => {
  let traccar: FakeTraccar;
  beforeEach(async () => {
    traccar = await FakeTraccar.open();
  });
  afterEach(() => traccar.close());

  test('moves in: at first in a dry run, then in earnest, and again without a change', async () => {
    const past = drive(Date.now() - 2 * DAY_MS);
    traccar.positions = [
      ...past.map(({ fixTimeMs, latitude, longitude, speedKmh }) => ({
        ...{ fixTime: time(fixTimeMs), latitude, longitude, valid: true, speed: (speedKmh ?? 0) / 1.852, course: 90 },
        attributes: { sat: 9, ignition: true, alarm: 'sos', rssi: 4, nested: {} },
      })),
      { fixTime: time(Date.now() - DAY_MS), latitude: 0, longitude: 0 },
    ];
    const before = (await items('/api/v1/vehicles')).length;
    expect(await run('traccar', '--url', traccar.url, '--dry-run')).toBe(0);
    expect(printed).toEqual(
      expect.arrayContaining([
        'made: group Region / Town',
        'made: device Van (356307042441013)',
        'skipped: device Odd (no terminal / has this): its unique id can be no terminal’s here',
        'made: account anna@example.com',
        'skipped: account gone@example.com: it is disabled',
        'made: geofence Street',
        'skipped: geofence Nowhere: its area is none of CIRCLE, POLYGON and LINESTRING',
        'made: driver Ben Cole',
        'made: notification 50 (geofenceEnter)',
        'made: notification 51 (ignitionOn)',
        'skipped: notification 52 (textMessage): there is no event like textMessage here',
        'made: maintenance Oil',
        'skipped: maintenance Once: it is due once: plans repeat',
        'made: computed attribute Charging of Van',
        'skipped: computed attribute door: its expression names in2, which is no field of a record here',
      ]),
    );
    expect(await items('/api/v1/vehicles')).toHaveLength(before);

    const report = join(folder, 'report.csv');
    const history = ['--history', time(Date.now() - 3 * DAY_MS), '--report', report];
    expect(await run('traccar', '--url', traccar.url, ...history), printed.join('\n')).toBe(0);
    const lines = readFileSync(report, 'utf8').split('\r\n');
    expect(lines[0]).toBe('outcome,what,why');
    expect(lines).toContain('skipped,account gone@example.com,it is disabled');
    interface Named {
      id: string;
      name: string;
      login: string;
      terminalId: string;
      groupIds: string[];
      terminalAccess: { protocol: string };
      sensors: unknown[];
      properties: Record<string, unknown>;
    }
    const list = async (path: string) => (await items(path)) as unknown as Named[];
    const groups = new Map((await list('/api/v1/vehicle-groups')).map(({ id, name }) => [name, id]));
    const vehicles = await list('/api/v1/vehicles');
    const [van, trailer] = ['356307042441013', '356307042441021'].map((terminal) =>
      vehicles.find(({ terminalId }) => terminalId === terminal),
    );
    expect(van).toMatchObject({ name: 'Van', terminalAccess: { protocol: 'any' } });
    expect(new Set(van?.groupIds)).toEqual(new Set([groups.get('Region'), groups.get('Region / Town')]));
    expect(trailer?.groupIds).toEqual([groups.get('Traccar: anna@example.com')]);
    const anna = (await list('/api/v1/users')).find(({ login }) => login === 'anna@example.com');
    expect(anna?.groupIds).toEqual(expect.arrayContaining([groups.get('Region'), ...(trailer?.groupIds ?? [])]));
    const zones = (await list('/api/v1/geozones')).map(({ properties }) => properties);
    expect(zones).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'Depot', shape: 'circle', radiusM: 300, speedLimitKmh: 20 }),
        expect.objectContaining({ name: 'Yard', shape: 'polygon' }),
        expect.objectContaining({ name: 'Street', shape: 'line', widthM: 40 }),
      ]),
    );
    expect(await list('/api/v1/drivers')).toMatchObject([{ name: 'Ben Cole', codes: [expect.anything()] }]);
    expect(van?.sensors).toMatchObject([{ name: 'Charging', kind: 'digital', source: 'supplyV > 13.2' }]);
    expect(trailer?.sensors).toEqual([]);
    const plans = (await items('/api/v1/maintenance-plans')) as unknown as { vehicleId: string; groupId: string }[];
    expect(plans).toHaveLength(2);
    expect(plans).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'Oil', vehicleId: van?.id, groupId: null }),
        expect.objectContaining({ name: 'Oil', vehicleId: null, groupId: groups.get('Region / Town') }),
      ]),
    );
    const rules = (await items('/api/v1/notification-rules')) as unknown as { name: string; groupIds: string[] }[];
    expect(rules.find(({ name }) => name === 'Traccar: ignitionOn (51)')?.groupIds).toEqual([
      groups.get('Region / Town'),
    ]);
    expect(rules.filter(({ name }) => name === 'Traccar: geofenceEnter')).toMatchObject([{ groupIds: null }]);
    await vi.waitFor(async () => expect(await archivedCount(service, van?.id ?? '')).toBe(360), PATIENCE);
    expect((await tripsOf(van?.id ?? '', past)).length).toBeGreaterThan(0);
    expect(printed).toContain('made: history of Van: 360 positions, 1 left out');

    printed = [];
    expect(await run('traccar', '--url', traccar.url)).toBe(0);
    expect(printed.filter((line) => /^(?:made|changed|failed)/.test(line))).toEqual([]);
    expect(printed.at(-1)).toMatch(/unchanged/);
  }, 180_000);

  test('that broke off goes on where it was, and by no other import’s progress', async () => {
    const past = drive(Date.now() - 2 * DAY_MS);
    traccar.positions = past.map(({ fixTimeMs, latitude, longitude }) => ({
      ...{ fixTime: time(fixTimeMs), latitude, longitude },
    }));
    const progress = join(folder, 'progress.json');
    const fromMs = Math.floor(Date.now() / 1000) * 1000 - 10 * DAY_MS;
    const words = ['traccar', '--url', traccar.url, '--history', time(fromMs), '--progress', progress];
    traccar.brokenFromMs = fromMs + 5 * DAY_MS;
    // Of both vehicles.
    expect(await run(...words)).toBe(2);
    expect(printed.join('\n')).toMatch(/failed: history of Van: Traccar answered 400/);
    expect(traccar.asked.at(-1)).toBe(fromMs + 5 * DAY_MS);
    traccar.brokenFromMs = Number.POSITIVE_INFINITY;
    traccar.asked.length = 0;
    expect(await run(...words), printed.join('\n')).toBe(0);
    expect(traccar.asked[0]).toBe(fromMs + 5 * DAY_MS);
    expect(printed).toContain('made: history of Van: 360 positions, 0 left out');
    const other = file('other.json', JSON.stringify({ source: 'x', target: 'y', devices: {} }));
    await expect(run(...words.slice(0, -1), other)).rejects.toThrow(/other\.json is the progress from x to y/);
    await expect(run(...words.slice(0, 3), '--progress', progress)).rejects.toThrow(/give both/);
  }, 180_000);

  test('that does not answer, or not to this token, is named', async () => {
    await expect(run('traccar', '--url', traccar.url, '--token', 'wrong')).rejects.toThrow(/Traccar answered 401/);
  });
});
