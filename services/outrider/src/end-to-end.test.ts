import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LngLat, Position, ProtocolName, Shape, TelemetryPacket, TerminalId, VehicleId } from '@outrider/domain';
import { distanceM, featureFromShape } from '@outrider/geo';
import { telemetryTopic } from '@outrider/log';
import { decodeOsmand, encodeOsmandQuery, tcpProtocols } from '@outrider/protocols';
import { createRandom, loadDrive, playDrive, simulatorOf } from '@outrider/simulator';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { type Happening, happening, type PlainGeofence, plainHappenings } from './plain-rules.fixture.ts';
import { LiveRecorder, type RunningService, startService } from './service.fixture.ts';

const FIXES = 1500;
const SPEED_LIMIT_KMH = 30;
/** The drives are of 2008; Omnicomm's clock begins with 2009. */
const YEARS_LATER_MS = 16 * 365.25 * 86_400_000;
const PATIENCE = { timeout: 60_000, interval: 50 };

const TERMINALS: readonly { protocol: ProtocolName; terminalId: TerminalId }[] = [
  { protocol: 'teltonika', terminalId: '356307042441013' as TerminalId },
  { protocol: 'omnicomm', terminalId: '202000777' as TerminalId },
  { protocol: 'wialon-ips', terminalId: 'wialon-7' as TerminalId },
  { protocol: 'osmand', terminalId: 'phone-7' as TerminalId },
];

/** A drive as a vehicle's terminal would send it: with speeds, without the jumps that the plain rules know nothing of. */
function drive(source: 'recorded-or-generated' | 'generated'): Position[] {
  const kept: Position[] = [];
  for (const recorded of loadDrive({ limit: FIXES, source })) {
    const position = { ...recorded, fixTimeMs: recorded.fixTimeMs + YEARS_LATER_MS };
    const last = kept.at(-1);
    const seconds = last ? (position.fixTimeMs - last.fixTimeMs) / 1000 : 1;
    const metres = last ? distanceM(last.longitude, last.latitude, position.longitude, position.latitude) : 0;
    const speedKmh = seconds > 0 ? Math.round((metres / seconds) * 3.6) : 0;
    // A repeated or overtaken fix stays in: the service has to see that it is one.
    if (seconds > 0 && speedKmh > 250) continue;
    kept.push({ ...position, speedKmh, courseDeg: 90, altitudeM: 100, satellites: 9, ignition: true });
  }
  return kept;
}

/** One geofence of each shape, on the way of the drive, so that it enters and leaves them. */
function shapesOn(positions: readonly Position[]): Shape[] {
  const at = (share: number): LngLat => {
    const position = positions[Math.floor(positions.length * share)] as Position;
    return [position.longitude, position.latitude];
  };
  const [x, y] = at(0.3);
  const box: LngLat[] = [
    [x - 0.001, y - 0.001],
    [x + 0.0015, y - 0.0008],
    [x + 0.001, y + 0.001],
    [x - 0.0012, y + 0.0009],
    [x - 0.001, y - 0.001],
  ];
  return [
    { type: 'circle', center: at(0.15), radiusM: 120 },
    { type: 'polygon', rings: [box] },
    { type: 'line', path: [at(0.5), at(0.55), at(0.6)], widthM: 60 },
  ];
}

/** The positions as they stand in the log: what the protocol carries, rounded as the log rounds. */
function asLogged(protocol: ProtocolName, terminalId: TerminalId, positions: readonly Position[]): Position[] {
  const decoded: Position[] = [];
  if (protocol === 'osmand') {
    for (const position of positions) {
      const request = {
        method: 'GET',
        url: encodeOsmandQuery(terminalId, position),
        contentType: null,
        body: Buffer.alloc(0),
        nowMs: Date.now(),
      };
      const report = decodeOsmand(request);
      if ('positions' in report) decoded.push(...report.positions);
    }
  } else {
    const simulator = simulatorOf[protocol](terminalId);
    const session = tcpProtocols.find(({ name }) => name === protocol)?.createSession();
    const feed = (bytes: Buffer | null) => {
      for (const inbound of (bytes && session?.push(bytes, Date.now())) ?? [])
        if (inbound.type === 'positions') decoded.push(...inbound.positions);
    };
    feed(simulator.hello());
    for (let from = 0; from < positions.length; from += simulator.maxPositionsPerPacket)
      feed(simulator.encode(positions.slice(from, from + simulator.maxPositionsPerPacket)));
  }
  const packet: TelemetryPacket = {
    vehicleId: CAR,
    terminalId,
    protocol,
    receivedAtMs: Date.now(),
    positions: decoded,
  };
  return telemetryTopic.decode(telemetryTopic.encode(packet)).positions;
}
const CAR = '0190a000-0000-7000-8000-000000000001' as VehicleId;

let folder: string;
let service: RunningService | null = null;
const live = new LiveRecorder();

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'outrider-e2e-'));
  live.messages.length = 0;
});
afterEach(async () => {
  live.close();
  await service?.kill().catch(() => {});
  service = null;
  rmSync(folder, { recursive: true, force: true });
});

interface Fleet {
  vehicleIdOf: Map<ProtocolName, VehicleId>;
  geofences: PlainGeofence[];
}

async function define({ call }: RunningService, shapes: readonly Shape[]): Promise<Fleet> {
  const vehicleIdOf = new Map<ProtocolName, VehicleId>();
  for (const { protocol, terminalId } of TERMINALS) {
    const { id } = await call<{ id: VehicleId }>('POST', '/api/v1/vehicles', {
      name: protocol,
      terminalId,
      speedLimitKmh: SPEED_LIMIT_KMH,
    });
    vehicleIdOf.set(protocol, id);
  }
  const geofences: PlainGeofence[] = [];
  for (const shape of shapes) {
    const feature = featureFromShape(shape);
    const body = { ...feature, properties: { ...feature.properties, name: shape.type } };
    const { id } = await call<{ id: string }>('POST', '/api/v1/geozones', body);
    geofences.push({ id, shape });
  }
  // A change is in force within a second: terminals are known, geofences watched.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  return { vehicleIdOf, geofences };
}

async function archivedTrack({ call }: RunningService, vehicleId: VehicleId): Promise<string[]> {
  const fixTimes: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: { fixTime: string }[]; nextCursor: string | null } = await call(
      'GET',
      `/api/v1/reports/track?vehicleId=${vehicleId}&from=2005-01-01T00:00:00.000Z&to=2035-01-01T00:00:00.000Z&limit=1000${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
    );
    fixTimes.push(...page.items.map(({ fixTime }) => fixTime));
    cursor = page.nextCursor;
  }
  return fixTimes;
}

function toldOf(vehicleId: VehicleId): Happening[] {
  return (
    live
      .of('event')
      .filter((event) => event.vehicleId === vehicleId)
      // What the plain rules know of: visits that a fix shows, and speeding.
      .filter(({ kind, inferred }) => (kind === 'geofence-visit' && inferred === false) || kind === 'speeding')
      .map((event) =>
        happening(
          String(event.kind),
          String(event.phase),
          event.geofenceId as string | null,
          Date.parse(String(event.fixTime)),
        ),
      )
  );
}

/** Everything that must be true after the drive, however it went. */
async function expectAllOfIt(
  running: RunningService,
  { vehicleIdOf, geofences }: Fleet,
  positions: readonly Position[],
): Promise<void> {
  for (const { protocol, terminalId } of TERMINALS) {
    const vehicleId = vehicleIdOf.get(protocol) as VehicleId;
    const logged = asLogged(protocol, terminalId, positions);
    const expected = plainHappenings(logged, geofences, SPEED_LIMIT_KMH);
    for (const { id } of geofences) expect(expected.some((text) => text.includes(id))).toBe(true);
    expect(expected.some((text) => text.includes('speeding'))).toBe(true);

    await vi.waitFor(() => expect(toldOf(vehicleId)).toHaveLength(expected.length), PATIENCE);
    expect(toldOf(vehicleId).toSorted()).toEqual(expected.toSorted());
    const phases = live.of('event').map(({ id, phase }) => `${id} ${phase}`);
    expect(new Set(phases).size).toBe(phases.length);

    const distinct = [...new Set(logged.map(({ fixTimeMs }) => new Date(fixTimeMs).toISOString()))].toSorted();
    await vi.waitFor(async () => expect(await archivedTrack(running, vehicleId)).toEqual(distinct), PATIENCE);

    const state = await running.call<{ position: { fixTime: string } }>('GET', `/api/v1/vehicles/${vehicleId}/state`);
    expect(state.position.fixTime).toBe(distinct.at(-1));
    await vi.waitFor(
      () =>
        expect(live.of('position').findLast((position) => position.vehicleId === vehicleId)?.fixTime).toBe(
          distinct.at(-1),
        ),
      PATIENCE,
    );
  }
}

function play({ ports }: RunningService, positions: readonly Position[]) {
  return Promise.all(
    TERMINALS.map(({ protocol, terminalId }) =>
      playDrive({ protocol, terminalId, host: '127.0.0.1', port: ports[protocol], positions, positionsPerPacket: 10 }),
    ),
  );
}

describe.each(['recorded-or-generated', 'generated'] as const)('a drive (%s) through all four protocols', (source) => {
  test('makes exactly its events, live, and is archived whole', { timeout: 120_000 }, async () => {
    const positions = drive(source);
    service = await startService(folder);
    const fleet = await define(service, shapesOn(positions));
    await live.connect(service);
    const played = await play(service, positions);
    expect(played.map(({ acknowledged }) => acknowledged)).toEqual(TERMINALS.map(() => positions.length));
    await expectAllOfIt(service, fleet, positions);

    // Stopped and started again, everything is there.
    live.close();
    expect(await service.interrupt()).toBe(0);
    service = await startService(folder, service.ports);
    const again = await archivedTrack(service, fleet.vehicleIdOf.get('teltonika') as VehicleId);
    expect(again.length).toBe(new Set(positions.map(({ fixTimeMs }) => fixTimeMs)).size);
  });

  test('loses and doubles nothing when the service is killed in the middle of it', { timeout: 180_000 }, async () => {
    const positions = drive(source);
    const random = createRandom(20_260_101);
    service = await startService(folder, undefined, { CHECKPOINT_MS: '300' });
    const fleet = await define(service, shapesOn(positions));
    await live.connect(service);
    const played = play(service, positions);
    for (let kills = 0; kills < 3; kills++) {
      const running: RunningService = service;
      const enough = random.between(400, 1200);
      await vi.waitFor(async () => expect(await received(running)).toBeGreaterThan(enough), PATIENCE);
      await service.kill();
      live.close();
      service = await startService(folder, service.ports, { CHECKPOINT_MS: '300' });
      await live.connect(service);
    }
    await played;
    await expectAllOfIt(service, fleet, positions);
  });
});

/** Positions taken by the gateway since the service started. */
async function received({ ports }: RunningService): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${ports.http}/metrics`)).text();
  return [...text.matchAll(/^outrider_positions_received_total\{[^}]*\} (\d+)/gm)].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}
