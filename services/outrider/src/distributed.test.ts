import { setTimeout as wait } from 'node:timers/promises';
import type { LngLat, Position, Shape, TerminalId, VehicleId } from '@outrider/domain';
import { distanceM, featureFromShape } from '@outrider/geo';
import { generateDrive, playDrive } from '@outrider/simulator';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Cluster, callAt, givenServers, type Instance, logInAt } from './distributed.fixture.ts';
import { type Happening, happening, type PlainGeofence, plainHappenings } from './plain-rules.fixture.ts';
import { LiveRecorder, type RunningService } from './service.fixture.ts';

const servers = givenServers();
const VEHICLES = 6;
const FIXES = 900;
const SPEED_LIMIT_KMH = 30;
const PATIENCE = { timeout: 90_000, interval: 100 };
const YEARS_LATER_MS = 16 * 365.25 * 86_400_000;

/** A generated drive as a Teltonika terminal carries it: whole speeds, seven decimals. */
function drive(seed: number): Position[] {
  const kept: Position[] = [];
  for (const generated of generateDrive(FIXES, seed)) {
    const position = {
      ...generated,
      fixTimeMs: generated.fixTimeMs + YEARS_LATER_MS,
      latitude: Math.round(generated.latitude * 1e7) / 1e7,
      longitude: Math.round(generated.longitude * 1e7) / 1e7,
    };
    const last = kept.at(-1);
    const seconds = last ? (position.fixTimeMs - last.fixTimeMs) / 1000 : 1;
    const metres = last ? distanceM(last.longitude, last.latitude, position.longitude, position.latitude) : 0;
    const speedKmh = seconds > 0 ? Math.round((metres / seconds) * 3.6) : 0;
    if (seconds <= 0 || speedKmh > 250) continue;
    kept.push({ ...position, speedKmh, courseDeg: 90, altitudeM: 100, satellites: 9, ignition: true });
  }
  return kept;
}

/** On the way of a drive, so that it enters and leaves them. */
function shapesOn(positions: readonly Position[]): Shape[] {
  const at = (share: number): LngLat => {
    const { longitude, latitude } = positions[Math.floor(positions.length * share)] as Position;
    return [longitude, latitude];
  };
  return [0.15, 0.35, 0.55, 0.75, 0.9].map((share) => ({ type: 'circle', center: at(share), radiusM: 150 }));
}

function heard(live: LiveRecorder, vehicleId: VehicleId): Happening[] {
  return live
    .of('event')
    .filter((event) => event.vehicleId === vehicleId)
    .map((event) =>
      happening(
        String(event.kind),
        String(event.phase),
        event.geofenceId as string | null,
        Date.parse(String(event.fixTime)),
      ),
    );
}

async function track(api: Instance, jwt: string, vehicleId: VehicleId): Promise<string[]> {
  const fixTimes: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: { items: { fixTime: string }[]; nextCursor: string | null } = await callAt(
      api,
      jwt,
      'GET',
      `/api/v1/reports/track?vehicleId=${vehicleId}&from=2005-01-01T00:00:00.000Z&to=2045-01-01T00:00:00.000Z&limit=1000${cursor ? `&cursor=${encodeURIComponent(cursor)}` : ''}`,
    );
    fixTimes.push(...page.items.map(({ fixTime }) => fixTime));
    cursor = page.nextCursor;
  }
  return fixTimes;
}

async function counted({ ports }: Instance, name: string): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${ports.health}/metrics`)).text();
  return [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? ([\\d.e+]+)$`, 'gm'))].reduce(
    (sum, [, count]) => sum + Number(count),
    0,
  );
}

describe.skipIf(servers === null)('the services as processes of their own, on Kafka, Redis and PostgreSQL', () => {
  let cluster: Cluster | null = null;
  const recorders: LiveRecorder[] = [];
  afterEach(async (context) => {
    for (const recorder of recorders.splice(0)) recorder.close();
    if (context.task.result?.state === 'fail' && process.env.SAY_ALL) console.error(cluster?.said);
    await cluster?.close();
    cluster = null;
  });

  test('a drive makes exactly its events, live on every notifier, though rules are killed, come and go', {
    timeout: 400_000,
  }, async () => {
    if (servers === null) return;
    cluster = await Cluster.open(servers);
    const own = cluster;
    const firstApi = await own.start('api');
    const [secondApi, gateway, ...others] = await Promise.all([
      own.start('api'),
      own.start('gateway'),
      own.start('rules'),
      own.start('rules'),
      own.start('archiver'),
      own.start('notifier'),
      own.start('notifier'),
    ]);
    const [firstRules, secondRules] = others;
    const notifiers = others.filter(({ service }) => service === 'notifier');
    // What one instance signs, changes or ends, the others know.
    const jwt = await logInAt(firstApi);

    const drives = Array.from({ length: VEHICLES }, (_, n) => drive(100 + n));
    const geofences: PlainGeofence[] = [];
    for (const shape of drives.flatMap((positions) => shapesOn(positions))) {
      const feature = featureFromShape(shape);
      const body = { ...feature, properties: { ...feature.properties, name: `Depot ${geofences.length}` } };
      const { id } = await callAt<{ id: string }>(secondApi, jwt, 'POST', '/api/v1/geozones', body);
      geofences.push({ id, shape });
    }
    const vehicles: { id: VehicleId; terminalId: TerminalId; positions: Position[] }[] = [];
    for (const [n, positions] of drives.entries()) {
      const terminalId = `35630704244${1000 + n}` as TerminalId;
      const { id } = await callAt<{ id: VehicleId }>(firstApi, jwt, 'POST', '/api/v1/vehicles', {
        name: `Van ${n}`,
        terminalId,
        speedLimitKmh: SPEED_LIMIT_KMH,
      });
      vehicles.push({ id, terminalId, positions });
    }
    for (const { id } of vehicles)
      await vi.waitFor(() => callAt(secondApi, jwt, 'GET', `/api/v1/vehicles/${id}`), PATIENCE);
    for (const { id } of geofences)
      await vi.waitFor(() => callAt(firstApi, jwt, 'GET', `/api/v1/geozones/${id}`), PATIENCE);
    await wait(1000);
    for (const { ports } of notifiers) {
      const recorder = new LiveRecorder();
      recorders.push(recorder);
      await recorder.connect({ ports: { http: ports.live }, jwt } as unknown as RunningService);
    }

    const played = Promise.all(
      vehicles.map(({ terminalId, positions }) =>
        playDrive({
          protocol: 'teltonika',
          terminalId,
          host: '127.0.0.1',
          port: gateway?.ports.teltonika as number,
          positions,
          positionsPerPacket: 3,
        }),
      ),
    );
    const both = async () =>
      (await counted(firstRules, 'outrider_rules_positions_total')) +
      (await counted(secondRules, 'outrider_rules_positions_total'));
    await vi.waitFor(async () => expect(await both()).toBeGreaterThan(FIXES), PATIENCE);
    await firstRules.kill();
    // It joins while the dead one is still believed to live, and shares the partitions when it is missed.
    const thirdRules = await own.start('rules');
    await played;

    for (const { id, positions } of vehicles) {
      const expected = plainHappenings(positions, geofences, SPEED_LIMIT_KMH).toSorted();
      expect(expected.length).toBeGreaterThan(5);
      for (const recorder of recorders) {
        await vi.waitFor(() => expect(heard(recorder, id).length).toBeGreaterThanOrEqual(expected.length), PATIENCE);
        expect(heard(recorder, id).toSorted()).toEqual(expected);
      }
      const distinct = positions.map(({ fixTimeMs }) => new Date(fixTimeMs).toISOString());
      await vi.waitFor(async () => expect(await track(secondApi, jwt, id)).toEqual(distinct), PATIENCE);
      for (const api of [firstApi, secondApi]) {
        const state = await callAt<{ position: { fixTime: string } }>(api, jwt, 'GET', `/api/v1/vehicles/${id}/state`);
        expect(state.position.fixTime).toBe(distinct.at(-1));
      }
    }

    // One goes in order: the other has its partitions, and what is driven next makes its events too.
    expect(await secondRules.terminate()).toBe(0);
    const [van] = vehicles;
    if (!van) throw new Error('no vehicle');
    const last = van.positions.at(-1) as Position;
    const more = [5, 35].map((seconds, n) => ({
      ...last,
      fixTimeMs: last.fixTimeMs + seconds * 1000,
      speedKmh: n === 0 ? 90 : 5,
    }));
    await playDrive({
      protocol: 'teltonika',
      terminalId: van.terminalId,
      host: '127.0.0.1',
      port: gateway?.ports.teltonika as number,
      positions: more,
      positionsPerPacket: 1,
    });
    const all = plainHappenings([...van.positions, ...more], geofences, SPEED_LIMIT_KMH).toSorted();
    for (const recorder of recorders)
      await vi.waitFor(() => expect(heard(recorder, van.id).toSorted()).toEqual(all), PATIENCE);

    // Ended at one instance, a session is over at the others within seconds.
    await callAt(firstApi, jwt, 'POST', '/auth/logout');
    await vi.waitFor(() => expect(callAt(secondApi, jwt, 'GET', '/api/v1/me')).rejects.toThrow('401'), PATIENCE);

    for (const instance of [thirdRules, ...others.slice(2), gateway, secondApi, firstApi])
      expect([instance?.service, await instance?.terminate()]).toEqual([instance?.service, 0]);
    expect(own.said).not.toMatch(/"level":[56]0/);
  });
});

describe('a service that runs alone', () => {
  test.each(['gateway', 'rules', 'archiver', 'notifier', 'api'] as const)(
    '%s says which servers it lacks',
    async (service) => {
      const { spawnSync } = await import('node:child_process');
      const { join } = await import('node:path');
      const main = join(import.meta.dirname, '../..', service, 'src/main.ts');
      const { status, stderr } = spawnSync(process.execPath, [main], {
        env: { PATH: process.env.PATH, HOST: '127.0.0.1', HEALTH_PORT: '0', REDIS_URL: 'redis://127.0.0.1:1' },
        encoding: 'utf8',
      });
      expect(status).toBe(1);
      expect(stderr).toContain('KAFKA_BROKERS must be set');
      expect(stderr).not.toMatch(/^\s+at /m);
    },
  );
});
