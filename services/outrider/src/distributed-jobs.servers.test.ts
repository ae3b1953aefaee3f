import type { Position, TerminalId, VehicleId } from '@outrider/domain';
import { featureFromShape } from '@outrider/geo';
import { createRandom, playDrive, startVideoTerminal } from '@outrider/simulator';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { driveRound, onCircuit } from './circuit.fixture.ts';
import { expectNone } from './complaints.fixture.ts';
import { Cluster, callAt, counted, givenServers, logInAt } from './distributed.fixture.ts';
import { archivedTimes } from './end-to-end.fixture.ts';
import { inForce } from './service.fixture.ts';

const servers = givenServers();
const PATIENCE = { timeout: 90_000, interval: 100 };
const OVMS = '/service/ovms/api';
const PHONE = '13800000007';
const PUNCTUAL = '356307042442001' as TerminalId;
const TARDY = '356307042442002' as TerminalId;

describe.skipIf(servers === null)('workers of jobs, as processes of their own on servers', () => {
  let cluster: Cluster | null = null;
  afterEach(async (context) => {
    if (context.task.result?.state === 'fail')
      console.error(process.env.SAY_ALL ? cluster?.said : cluster?.complaints().join('\n'));
    await cluster?.close();
    cluster = null;
  });

  test('late data makes the same events as in time, though the recalculator is killed', {
    timeout: 300_000,
  }, async () => {
    if (servers === null) return;
    cluster = await Cluster.open(servers);
    const own = cluster;
    const api = await own.start('api');
    const [gateway, recalculator, ...others] = await Promise.all([
      own.start('gateway'),
      own.start('recalculator'),
      own.start('rules'),
      own.start('archiver'),
    ]);
    const jwt = await logInAt(api);
    const call = <T>(method: string, path: string, body?: unknown) => callAt<T>(api, jwt, method, path, body);
    const feature = featureFromShape({ type: 'circle', center: onCircuit(0.3), radiusM: 200 });
    const geofence = { ...feature, properties: { ...feature.properties, name: 'Depot' } };
    await call('POST', '/api/v1/geozones', geofence);
    const vehicle = async (terminalId: TerminalId) =>
      (await call<{ id: VehicleId }>('POST', '/api/v1/vehicles', { name: terminalId, terminalId })).id;
    const [punctual, tardy] = [await vehicle(PUNCTUAL), await vehicle(TARDY)];
    await inForce(...[api, gateway, recalculator, ...others].map(({ ports }) => ports.health as number));

    const round = driveRound(createRandom(7), Math.floor(Date.now() / 1000) * 1000 - 2 * 3_600_000);
    const positions = Array.from({ length: 600 }, () => round.next().value);
    const send = (terminalId: TerminalId, sent: readonly Position[]) =>
      playDrive({
        protocol: 'teltonika',
        terminalId,
        host: '127.0.0.1',
        port: gateway.ports.teltonika as number,
        positions: sent,
        positionsPerPacket: 10,
      });
    await send(PUNCTUAL, positions);
    await send(TARDY, [...positions.slice(0, 200), ...positions.slice(400)]);
    await vi.waitFor(async () => expect(await archivedTimes(call, tardy)).toHaveLength(400), PATIENCE);
    await send(TARDY, positions.slice(200, 400));
    const jobs = () => call<{ items: { state: string }[] }>('GET', '/api/v1/jobs');
    await vi.waitFor(async () => expect((await jobs()).items).not.toEqual([]), PATIENCE);
    await recalculator.kill();
    const successor = await own.start('recalculator');

    const from = new Date((positions[0]?.fixTimeMs ?? 0) - 60_000).toISOString();
    const events = async (vehicleId: VehicleId) => {
      const query = `vehicleId=${vehicleId}&from=${from}&to=${new Date().toISOString()}&limit=1000`;
      const report = await call<{ items: { kind: string; startedAt: string; endedAt: string | null }[] }>(
        'GET',
        `/api/v1/reports/events?${query}`,
      );
      return report.items.map(({ kind, startedAt, endedAt }) => `${startedAt} ${endedAt} ${kind}`).toSorted();
    };
    const inTime = await events(punctual);
    expect(inTime.filter((event) => event.includes('geofence-visit')).length).toBeGreaterThan(4);
    await vi.waitFor(async () => expect(await events(tardy)).toEqual(inTime), PATIENCE);
    for (const instance of [successor, ...others, gateway, api])
      expect([instance.service, await instance.terminate()]).toEqual([instance.service, 0]);
    expectNone(own.complaints());
  });

  test('videos come from a terminal at a gateway into the storage, though one of those that fetch them is killed', {
    timeout: 300_000,
  }, async () => {
    if (servers === null) return;
    cluster = await Cluster.open(servers);
    const own = cluster;
    const api = await own.start('api');
    const [gateway, first, ...others] = await Promise.all([
      own.start('gateway'),
      own.start('video'),
      own.start('video'),
      own.start('video'),
    ]);
    const jwt = await logInAt(api);
    const call = <T>(method: string, path: string, body?: unknown) => callAt<T>(api, jwt, method, path, body);
    const fitted = { name: 'Bus 1', terminalId: PHONE };
    const { id: vehicleId } = await call<{ id: VehicleId }>('POST', '/api/v1/vehicles', fitted);
    const { id: profileId } = await call<{ id: string }>('POST', `${OVMS}/profiles`, { vehicleId });
    const ask = () => {
      const startMs = Math.floor(Date.now() / 1000 - 120) * 1000;
      const [start, end] = [startMs, startMs + 5000].map((ms) => new Date(ms).toISOString());
      return call<{ id: string }>('POST', `${OVMS}/tasks`, { profileId, channel: 1, start, end });
    };
    const file = async (id: string) => {
      await vi.waitFor(async () => {
        const task = await call<{ status: string }>('GET', `${OVMS}/tasks/${id}`);
        expect(task, JSON.stringify(task)).toMatchObject({ status: 'done' });
      }, PATIENCE);
      const answer = await fetch(`http://127.0.0.1:${api.ports.http}${OVMS}/tasks/file/${id}`, {
        headers: { Authorization: `JWT ${jwt}` },
      });
      expect(answer.status).toBe(200);
      return Buffer.from(await answer.arrayBuffer());
    };
    const terminal = startVideoTerminal({ host: '127.0.0.1', port: gateway.ports.jt808 as number, phone: PHONE });
    try {
      expect((await file((await ask()).id)).subarray(4, 8).toString()).toBe('ftyp');
      // Whatever one has in hand when it dies, the others end.
      const asked = await Promise.all([ask(), ask(), ask()]);
      await first.kill();
      for (const { id } of asked) expect((await file(id)).subarray(4, 8).toString()).toBe('ftyp');
      for (const video of others) expect(await counted(video, 'outrider_part_ready')).toBe(7);
      for (const instance of [...others, gateway, api])
        expect([instance.service, await instance.terminate()]).toEqual([instance.service, 0]);
    } finally {
      await terminal.stop();
    }
  });
});
