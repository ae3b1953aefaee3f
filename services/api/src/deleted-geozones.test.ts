import type { GeofenceId, GeofenceVisit, Speeding, VehicleId } from '@outrider/domain';
import { deriveEventId } from '@outrider/domain';
import type { ReportArchive } from '@outrider/reports';
import { EMPTY_ARCHIVE } from '@outrider/reports/empty-archive';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { World } from './api.fixture.ts';

const NOON = Date.UTC(2026, 0, 15, 12);
const DAY = 'from=2026-01-15T00:00:00Z&to=2026-01-16T00:00:00Z';
type Tallies = ReportArchive['tallies'];

let world: World;
let events: (GeofenceVisit | Speeding)[];
let tallied: Parameters<Tallies>[0]['geofenceIds'][];
beforeEach(async () => {
  events = [];
  tallied = [];
  const reportArchive: ReportArchive = {
    ...EMPTY_ARCHIVE,
    overlappingEvents: async ({ kinds }) => ({
      events: events.filter(({ kind }) => kinds === null || kinds.includes(kind)),
      next: null,
    }),
    tallies: async ({ geofenceIds }) => {
      tallied.push(geofenceIds);
      return { tallies: [], crossing: [] };
    },
  };
  world = await World.open({}, { reportArchive });
});
afterEach(() => world.close());

function about(vehicleId: VehicleId, geofenceId: GeofenceId): void {
  const common = {
    phase: 'end' as const,
    vehicleId,
    geofenceId,
    startedAtMs: NOON,
    endedAtMs: NOON + 60_000,
    latitude: 52,
    longitude: 13,
    startLatitude: 52,
    startLongitude: 13,
    speedKmh: 80,
    fromFixTimeMs: NOON,
    fixTimeMs: NOON + 60_000,
    definitionVersion: 1,
    origin: 'live' as const,
    inferred: false,
    endReason: 'left' as const,
  };
  const id = (kind: 'geofence-visit' | 'speeding') => deriveEventId(kind, vehicleId, geofenceId, NOON);
  events = [
    { ...common, kind: 'geofence-visit', id: id('geofence-visit') },
    {
      ...common,
      kind: 'speeding',
      id: id('speeding'),
      limitSource: 'geofence',
      limitKmh: 50,
      peakKmh: 80,
      meanKmh: 70,
      distanceM: 500,
    },
  ];
}

test('the name of a geozone stays on its past visits when it is deleted, for all who could see them, and for no others', async () => {
  const operator = await world.member('operator', 'operator');
  const dealer = await world.member('dealer', 'dealer');
  const group = await world.call('POST', '/api/v1/vehicle-groups', { jwt: dealer.jwt, body: { name: 'Vans' } });
  const own = { dealerId: dealer.user.id, groupIds: [group.body.id] };
  const anna = await world.member('anna', 'user', own);
  const ben = await world.member('ben', 'user', own);
  const van = await world.call('POST', '/api/v1/vehicles', {
    jwt: dealer.jwt,
    body: { name: 'Van', groupIds: [group.body.id] },
  });
  const drawn = await world.call('POST', '/api/v1/geozones', {
    jwt: anna.jwt,
    body: {
      type: 'Feature',
      geometry: { type: 'Point', coordinates: [13, 52] },
      properties: { name: 'Depot', shape: 'circle', radiusM: 100 },
    },
  });
  about(van.body.id, drawn.body.id);
  const rowsOf = async (jwt: string, report: string) => {
    const { status, body } = await world.call('GET', `/api/v1/reports/${report}?${DAY}`, { jwt });
    expect(status, JSON.stringify(body)).toBe(200);
    return (body.items as { geozoneName: string | null }[]).map(({ geozoneName }) => geozoneName);
  };
  const seen = async () => {
    const rows = [];
    for (const { jwt } of [anna, dealer, operator, ben])
      for (const report of ['geozone-visits', 'speeding', 'events']) rows.push(await rowsOf(jwt, report));
    return rows;
  };
  const all = [['Depot'], ['Depot'], ['Depot', 'Depot']];
  const before = await seen();
  expect(before).toEqual([...all, ...all, ...all, [], [], []]);
  expect((await world.call('DELETE', `/api/v1/geozones/${drawn.body.id}`, { jwt: anna.jwt })).status).toBe(204);
  expect(await seen()).toEqual(before);
  const { body: csv } = await world.call('GET', `/api/v1/reports/geozone-visits?${DAY}&format=csv`, { jwt: anna.jwt });
  expect(csv).toContain('Depot');

  // They are counted too, by those who may see them.
  for (const { jwt } of [anna, ben, operator]) await world.call('GET', `/api/v1/reports/summary?${DAY}`, { jwt });
  expect(tallied.map((ids) => ids && [...ids])).toEqual([[drawn.body.id], [], null]);

  // The owner's account goes, and takes nothing away from the dealer.
  expect((await world.call('DELETE', `/api/v1/users/${anna.user.id}`, { jwt: dealer.jwt })).status).toBe(204);
  expect(await rowsOf(dealer.jwt, 'geozone-visits')).toEqual(['Depot']);
  expect(await rowsOf(ben.jwt, 'geozone-visits')).toEqual([]);
});
