import { randomInt } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import {
  beganAtMs,
  type FleetEvent,
  type Position,
  type Shape,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import { featureFromShape } from '@outrider/geo';
import { createRandom, playDrive } from '@outrider/simulator';
import { openWarehouse } from '@outrider/warehouse';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { driveRound, onCircuit } from './circuit.fixture.ts';
import { happening, type PlainGeofence, plainHappenings } from './plain-rules.fixture.ts';
import { inForce, LiveRecorder, type RunningService, startService } from './service.fixture.ts';

const SEED = Number(process.env.LATE_SEED ?? randomInt(2 ** 31));
const FIXES = 1800;
const SPEED_LIMIT_KMH = 60;
const PATIENCE = { timeout: 120_000, interval: 100 };
const ENVIRONMENT = { CHECKPOINT_MS: '200', ARCHIVE_MS: '200' };
const PUNCTUAL = '356307042441013' as TerminalId;
const TARDY = '356307042441021' as TerminalId;
const EVER = { fromMs: 0, toMs: Date.UTC(2100, 0), limit: 10_000 };

interface JobSeen {
  id: string;
  subjectId: string | null;
  state: string;
  startedAt: string | null;
  result: { vehicles: number; added: number; changed: number; removed: number } | null;
}
interface Fleet {
  /** Of the vehicle whose positions come in order, and of the one with the same drive whose do not. */
  punctual: VehicleId;
  tardy: VehicleId;
  geofences: PlainGeofence[];
}

let folder: string;
let service: RunningService;
const live = new LiveRecorder();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-late-'));
  live.messages.length = 0;
});
afterEach(async () => {
  live.close();
  await service?.kill().catch(() => {});
  rmSync(folder, { recursive: true, force: true });
});

/** A drive that ended some minutes ago, as it is sent: in whole seconds. */
function drive(): Position[] {
  const round = driveRound(createRandom(SEED), Math.floor(Date.now() / 1000) * 1000 - 5 * 3_600_000);
  return Array.from({ length: FIXES }, () => round.next().value);
}

const circle = (share: number, radiusM: number): Shape => ({ type: 'circle', center: onCircuit(share), radiusM });

async function define(shapes: readonly Shape[]): Promise<Fleet> {
  const { call } = service;
  const vehicle = async (terminalId: TerminalId) =>
    (
      await call<{ id: VehicleId }>('POST', '/api/v1/vehicles', {
        name: terminalId,
        terminalId,
        speedLimitKmh: SPEED_LIMIT_KMH,
      })
    ).id;
  const fleet: Fleet = { punctual: await vehicle(PUNCTUAL), tardy: await vehicle(TARDY), geofences: [] };
  for (const [nth, shape] of shapes.entries()) fleet.geofences.push(await draw(`zone ${nth}`, shape));
  await inForce(service.ports.http);
  return fleet;
}

async function draw(name: string, shape: Shape): Promise<PlainGeofence> {
  const feature = featureFromShape(shape);
  const body = { ...feature, properties: { ...feature.properties, name } };
  return { id: (await service.call<{ id: string }>('POST', '/api/v1/geozones', body)).id, shape };
}

const send = (terminalId: TerminalId, positions: readonly Position[]) =>
  playDrive({
    protocol: 'teltonika',
    terminalId,
    host: '127.0.0.1',
    port: service.ports.teltonika,
    positions,
    positionsPerPacket: 10,
  });

const jobs = async (query: string) => (await service.call<{ items: JobSeen[] }>('GET', `/api/v1/jobs?${query}`)).items;

/** Everything in hand is archived and recalculated: a job that began after a moment is done. */
function recalculatedSince(sinceMs: number): Promise<void> {
  return vi.waitFor(async () => {
    const done = await jobs('kind=late-data&state=done');
    expect(done.some(({ startedAt }) => Date.parse(startedAt ?? '') > sinceMs)).toBe(true);
  }, PATIENCE);
}

const stateOf = (vehicleId: VehicleId) =>
  service.call<{ position: { fixTime: string } }>('GET', `/api/v1/vehicles/${vehicleId}/state`);

interface Archive {
  events: Map<VehicleId, FleetEvent[]>;
  tracks: Map<VehicleId, Position[]>;
}

/** Stops the service and reads what it has archived. */
async function archive(vehicleIds: readonly VehicleId[]): Promise<Archive> {
  expect(await service.interrupt()).toBe(0);
  const warehouse = await openWarehouse({ path: join(folder, 'warehouse') });
  try {
    const read: Archive = { events: new Map(), tracks: new Map() };
    for (const vehicleId of vehicleIds) {
      read.events.set(vehicleId, (await warehouse.events({ vehicleId, ...EVER })).events);
      read.tracks.set(vehicleId, (await warehouse.track({ vehicleId, ...EVER })).positions);
    }
    return read;
  } finally {
    await warehouse.close();
  }
}

/** An event without what differs between two vehicles on the same drive. */
const factsOf = ({ id, vehicleId: _, origin: __, ...facts }: FleetEvent) => ({ beganAtMs: beganAtMs(id), ...facts });
const inOrder = (events: readonly FleetEvent[] | undefined) =>
  (events ?? [])
    .map(factsOf)
    .map((facts) => ({
      key: JSON.stringify([facts.beganAtMs, facts.kind, 'geofenceId' in facts && facts.geofenceId]),
      facts,
    }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ facts }) => facts);

/** Visits and speeding in the plainest form: when each began, and when it ended. */
function happenings(events: readonly FleetEvent[] | undefined, of: (event: FleetEvent) => boolean): string[] {
  return (events ?? [])
    .filter((event) => of(event) && !event.inferred)
    .flatMap((event) => {
      const geofenceId = 'geofenceId' in event ? event.geofenceId : null;
      const phases = [happening(event.kind, 'begin', geofenceId, beganAtMs(event.id))];
      if (event.phase === 'end') phases.push(happening(event.kind, 'end', geofenceId, event.fixTimeMs));
      return phases;
    })
    .toSorted();
}

describe(`4. Late data repairs history, not the present (LATE_SEED=${SEED})`, () => {
  const positions = drive();
  const [before, kept, after] = [positions.slice(0, 500), positions.slice(500, 1000), positions.slice(1000)];

  test('a black box that is read hours later changes the past, notifies nobody, and leaves the vehicle where it was', async () => {
    service = await startService(folder, undefined, ENVIRONMENT);
    const fleet = await define([circle(0.1, 300), circle(0.6, 150)]);
    await live.connect(service);
    await Promise.all([send(PUNCTUAL, positions), send(TARDY, [...before, ...after])]);
    const newest = new Date(positions.at(-1)?.fixTimeMs ?? 0).toISOString();
    await vi.waitFor(async () => expect((await stateOf(fleet.tardy)).position.fixTime).toBe(newest), PATIENCE);
    const ofTardy = () => live.messages.filter(({ vehicleId }) => vehicleId === fleet.tardy);
    await vi.waitFor(() => expect(ofTardy().at(-1)).toBeDefined(), PATIENCE);
    await wait(1000);
    const count = ofTardy().length;

    await send(TARDY, kept);
    await recalculatedSince(Date.now());
    expect((await stateOf(fleet.tardy)).position.fixTime).toBe(newest);
    expect(
      new Set(
        ofTardy()
          .slice(count)
          .map(({ type, origin }) => [type, origin].join(' ')),
      ),
    ).toEqual(new Set(['event recalculated']));

    const { events, tracks } = await archive([fleet.punctual, fleet.tardy]);
    const [inTime, late] = [events.get(fleet.punctual), events.get(fleet.tardy)];
    expect(tracks.get(fleet.tardy)).toHaveLength(FIXES);
    expect(inOrder(late)).toEqual(inOrder(inTime));
    // Events of the live drive have origin `live`, and those of late data `recalculated`.
    expect(new Set(inTime?.map(({ origin }) => origin))).toEqual(new Set(['live']));
    expect(new Set(late?.map(({ origin }) => origin))).toEqual(new Set(['live', 'recalculated']));
    // And both agree with the plain rules on the whole drive.
    const visitOrSpeeding = ({ kind }: FleetEvent) => kind === 'geofence-visit' || kind === 'speeding';
    const plain = plainHappenings(tracks.get(fleet.tardy) ?? [], fleet.geofences, SPEED_LIMIT_KMH);
    expect(plain.length).toBeGreaterThan(40);
    const missing = plain.filter((each) => !happenings(late, visitOrSpeeding).includes(each));
    expect(missing).toEqual([]);
  }, 240_000);

  test('the same, when the service is killed with -9 while it recalculates', async () => {
    const random = createRandom(SEED);
    service = await startService(folder, undefined, ENVIRONMENT);
    const fleet = await define([circle(0.1, 300), circle(0.6, 150)]);
    await Promise.all([send(PUNCTUAL, positions), send(TARDY, [...before, ...after])]);
    await send(TARDY, kept);
    const sentAtMs = Date.now();
    for (let kills = 0; kills < 4; kills++) {
      await vi.waitFor(async () => expect((await jobs('kind=late-data')).length).toBeGreaterThan(0), PATIENCE);
      // It is due two seconds after the first of it came.
      await wait(kills === 0 ? random.between(1500, 2300) : random.between(0, 400));
      await service.kill();
      service = await startService(folder, service.ports, ENVIRONMENT);
    }
    await recalculatedSince(sentAtMs);
    // What was in hand when it died is nobody's for a while, and then taken up.
    await vi.waitFor(async () => expect(await jobs('kind=late-data&state=running')).toEqual([]), PATIENCE);
    const { events } = await archive([fleet.punctual, fleet.tardy]);
    expect(inOrder(events.get(fleet.tardy))).toEqual(inOrder(events.get(fleet.punctual)));
    expect(events.get(fleet.tardy)?.length).toBeGreaterThan(20);
  }, 360_000);

  test('a drive whose packets arrive in any order has soon the reports of one whose packets arrive in order', async () => {
    const random = createRandom(SEED);
    service = await startService(folder, undefined, ENVIRONMENT);
    const fleet = await define([circle(0.1, 300), circle(0.6, 150)]);
    const last = positions.at(-1) as Position;
    const parked = Array.from({ length: 60 }, (_, nth) => ({
      ...last,
      ...{ fixTimeMs: last.fixTimeMs + (nth + 1) * 30_000, speedKmh: 0, ignition: false },
    }));
    const sent = [...positions, ...parked];
    const packets = Array.from({ length: sent.length / 10 }, (_, nth) => sent.slice(nth * 10, nth * 10 + 10))
      .map((packet) => ({ packet, rank: random.between(0, 1) }))
      .toSorted((a, b) => a.rank - b.rank)
      .flatMap(({ packet }) => packet);
    await Promise.all([send(PUNCTUAL, sent), send(TARDY, packets)]);
    const range = `from=${new Date(positions[0]?.fixTimeMs ?? 0).toISOString()}&to=${new Date().toISOString()}`;
    const reported = async (vehicleId: VehicleId) => {
      const rows = async (kind: string) =>
        (
          await service.call<{ items: Record<string, unknown>[] }>(
            'GET',
            `/api/v1/reports/${kind}?vehicleId=${vehicleId}&${range}&limit=1000`,
          )
        ).items;
      const [mileage, trips, events] = await Promise.all([rows('mileage'), rows('trips'), rows('events')]);
      const what = ({ kind, startedAt, endedAt, latitude, longitude }: Record<string, unknown>) =>
        [startedAt, kind, endedAt, latitude, longitude].join(' ');
      return {
        distanceM: mileage.map(({ distanceM }) => distanceM),
        trips: trips.map(({ startedAt, endedAt, distanceM }) => ({ startedAt, endedAt, distanceM })),
        events: events.map(what).toSorted(),
      };
    };
    await vi.waitFor(async () => {
      const [inOrder, shuffled] = await Promise.all([reported(fleet.punctual), reported(fleet.tardy)]);
      expect(inOrder.events.length).toBeGreaterThan(40);
      for (const { endedAt } of inOrder.trips) expect(endedAt).not.toBeNull();
      expect(shuffled).toEqual(inOrder);
    }, PATIENCE);
  }, 240_000);

  test('an alarm of minutes ago that comes late is notified once, marked late, and is a correction in the live view', async () => {
    service = await startService(folder, undefined, ENVIRONMENT);
    const fleet = await define([]);
    const rule = { name: 'Alarms', eventKinds: ['alarm'], phases: ['begin'], maxDataAgeMinutes: 30 };
    await service.call('POST', '/api/v1/notification-rules', rule);
    await inForce(service.ports.http);
    await live.connect(service);
    const startMs = Math.floor(Date.now() / 1000) * 1000 - 12 * 60_000;
    const recent = positions
      .slice(0, 24)
      .map(
        (each, nth): Position => ({ ...each, fixTimeMs: startMs + nth * 30_000, alarms: nth === 11 ? ['sos'] : [] }),
      );
    await send(TARDY, [...recent.slice(0, 8), ...recent.slice(16)]);
    await send(TARDY, recent.slice(8, 16));

    interface Notification {
      late: boolean;
      createdAt: string;
      event: { kind: string; vehicleId: string; startedAt: string; origin: string; receivedAt: string };
    }
    const inbox = async () => (await service.call<{ items: Notification[] }>('GET', '/api/v1/notifications')).items;
    await vi.waitFor(async () => expect(await inbox()).toHaveLength(1), PATIENCE);
    const [notification] = await inbox();
    expect(notification).toMatchObject({
      late: true,
      event: {
        kind: 'alarm',
        vehicleId: fleet.tardy,
        startedAt: new Date(recent[11]?.fixTimeMs ?? 0).toISOString(),
        origin: 'recalculated',
      },
    });
    await vi.waitFor(() => expect(live.of('notification')).toMatchObject([{ late: true }]), PATIENCE);
    const alarms = live.of('event').filter(({ kind }) => kind === 'alarm');
    expect(alarms).toMatchObject([{ origin: 'recalculated', startedAt: notification?.event.startedAt }]);

    // What was only sent again is no news.
    const sinceMs = Date.now();
    await send(TARDY, recent.slice(8, 16));
    await recalculatedSince(sinceMs);
    expect(await inbox()).toHaveLength(1);
  }, 240_000);

  test('a geofence that was drawn today has visits of the past', async () => {
    service = await startService(folder, undefined, ENVIRONMENT);
    const fleet = await define([circle(0.6, 150)]);
    await send(PUNCTUAL, positions);
    const drawn = await draw('drawn today', circle(0.3, 200));
    await inForce(service.ports.http);
    const from = new Date((positions[0]?.fixTimeMs ?? 0) - 1000).toISOString();
    const to = new Date().toISOString();
    const { id } = await service.call<{ id: string }>(
      'POST',
      `/api/v1/geozones/${drawn.id}/recalculate?from=${from}&to=${to}`,
    );
    const job = await vi.waitFor(async () => {
      const seen = await service.call<JobSeen & { percent: number; positions: number }>('GET', `/api/v1/jobs/${id}`);
      expect(seen.state).toBe('done');
      return seen;
    }, PATIENCE);
    expect(job).toMatchObject({ subjectId: drawn.id, percent: 100, positions: FIXES });

    const { events, tracks } = await archive([fleet.punctual]);
    const all = events.get(fleet.punctual);
    const isDrawn = (event: FleetEvent) => 'geofenceId' in event && event.geofenceId === drawn.id;
    const plain = plainHappenings(tracks.get(fleet.punctual) ?? [], [drawn], null);
    expect(plain.length).toBeGreaterThan(10);
    // Where the drive begins inside, the plain rules know the end of that visit alone.
    const atFirst = happening('geofence-visit', 'begin', drawn.id, positions[0]?.fixTimeMs ?? 0);
    expect(happenings(all, isDrawn).filter((each) => each !== atFirst)).toEqual(plain.toSorted());
    expect(job.result?.added).toBe(all?.filter(isDrawn).length);
    expect(all?.filter((event) => !isDrawn(event)).every(({ origin }) => origin === 'live')).toBe(true);
  }, 240_000);
});
