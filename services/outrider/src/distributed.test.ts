import { setTimeout as wait } from 'node:timers/promises';
import type { Position, TerminalId, VehicleId } from '@outrider/domain';
import { featureFromShape } from '@outrider/geo';
import { playDrive } from '@outrider/simulator';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  Cluster,
  callAt,
  givenServers,
  type Instance,
  logInAt,
  MAIN,
  type ServiceName,
} from './distributed.fixture.ts';
import { counted, heard, shapesOn, teltonikaDrive, track } from './distributed-drive.fixture.ts';
import { type PlainGeofence, plainHappenings } from './plain-rules.fixture.ts';
import { LiveRecorder, type RunningService } from './service.fixture.ts';

const servers = givenServers();
const VEHICLES = 6;
const FIXES = 900;
const SPEED_LIMIT_KMH = 30;
const PATIENCE = { timeout: 90_000, interval: 100 };

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

    const drives = Array.from({ length: VEHICLES }, (_, n) => teltonikaDrive(100 + n, FIXES));
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

    for (const recorder of recorders) {
      const phases = recorder.of('event').map(({ id, phase }) => `${id} ${phase}`);
      expect(new Set(phases).size).toBe(phases.length);
    }
    expect(await counted(secondRules, 'outrider_rules_lag_packets')).toBe(0);
    expect(await counted(gateway as Instance, 'outrider_part_ready')).toBe(3);

    // One goes in order: the other has its partitions, and what is driven next makes its events too.
    const goesAtMs = Date.now();
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

    const opened = thirdRules
      .said()
      .filter(({ msg }) => msg === 'partition opened')
      .map(({ time }) => Date.parse(String(time)));
    const movedMs = opened.filter((timeMs) => timeMs >= goesAtMs).map((timeMs) => timeMs - goesAtMs);
    // Kafka may have given them to it before, where the machine was busy.
    if (movedMs.length > 0)
      console.info(`${movedMs.length} partitions moved, the last after ${Math.max(...movedMs)} ms`);

    // Ended at one instance, a session is over at the others within seconds.
    await callAt(firstApi, jwt, 'POST', '/auth/logout');
    await vi.waitFor(() => expect(callAt(secondApi, jwt, 'GET', '/api/v1/me')).rejects.toThrow('401'), PATIENCE);

    for (const instance of [thirdRules, ...others.slice(2), gateway, secondApi, firstApi])
      expect([instance?.service, await instance?.terminate()]).toEqual([instance?.service, 0]);
    expect(own.said).not.toMatch(/"level":[56]0/);
  });
});

describe('a service that runs alone', () => {
  test.each(Object.keys(MAIN) as ServiceName[])('%s says which servers it lacks', async (service) => {
    const { spawnSync } = await import('node:child_process');
    const { status, stderr } = spawnSync(process.execPath, [MAIN[service]], {
      env: { PATH: process.env.PATH, HOST: '127.0.0.1', HEALTH_PORT: '0', REDIS_URL: 'redis://127.0.0.1:1' },
      encoding: 'utf8',
    });
    expect(status).toBe(1);
    expect(stderr).toContain('KAFKA_BROKERS must be set');
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});
