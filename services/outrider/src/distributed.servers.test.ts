import { generateDrive } from '@outrider/simulator';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { expectCommandsDone } from './commanded-fleet.fixture.ts';
import { expectNone } from './complaints.fixture.ts';
import {
  Cluster,
  callAt,
  counted,
  givenServers,
  type Instance,
  logInAt,
  MAIN,
  type ServiceName,
} from './distributed.fixture.ts';
import {
  ACKNOWLEDGED_TERMINALS,
  asDriven,
  defineFleet,
  expectAllOfIt,
  playFleet,
  type Reached,
} from './end-to-end.fixture.ts';
import { call, inForce, LiveRecorder } from './service.fixture.ts';

const servers = givenServers();
/** Of each service. */
const PROCESSES = 3;
const FIXES = 600;
const PATIENCE = { timeout: 120_000, interval: 100 };

describe.skipIf(servers === null)('three processes of each service, on Kafka, Redis and PostgreSQL', () => {
  let cluster: Cluster | null = null;
  const recorders: LiveRecorder[] = [];
  afterEach(async (context) => {
    for (const recorder of recorders.splice(0)) recorder.close();
    if (context.task.result?.state === 'fail')
      console.error(process.env.SAY_ALL ? cluster?.said : cluster?.complaints().join('\n'));
    await cluster?.close();
    cluster = null;
  });

  test('drives through every protocol make exactly their events, live on every notifier, and are archived whole, though rules are killed, come and go', {
    timeout: 600_000,
  }, async () => {
    if (servers === null) return;
    cluster = await Cluster.open(servers);
    const own = cluster;
    // The first one makes the tables and the operator.
    const firstApi = await own.start('api');
    const others = await Promise.all(
      (Object.keys(MAIN) as ServiceName[]).flatMap((service) =>
        Array.from({ length: service === 'api' ? PROCESSES - 1 : PROCESSES }, () => own.start(service)),
      ),
    );
    const instances = Map.groupBy([firstApi, ...others], ({ service }) => service);
    const nthOf = (service: ServiceName, nth: number) => instances.get(service)?.[nth % PROCESSES] as Instance;
    const apis = instances.get('api') ?? [];
    // What one instance signs, changes or ends, the others know.
    const jwt = await logInAt(firstApi);
    for (let nth = 0; nth < PROCESSES; nth++) recorders.push(new LiveRecorder());
    let calls = 0;
    const reached: Reached = {
      call: <T>(method: string, path: string, body?: unknown) => {
        const asked = calls;
        // What was not answered is asked again, of another instance: what is to be made is made once.
        const ask = () => {
          const { http = 0 } = nthOf('api', calls++).ports;
          return call<T>(http, jwt, method, path, body, method === 'GET' ? {} : { 'Idempotency-Key': `call-${asked}` });
        };
        return method === 'GET' ? ask() : vi.waitFor(ask, PATIENCE);
      },
      terminalPort: (protocol, nth) => nthOf('gateway', nth).ports[protocol] as number,
      healthPorts: () => [firstApi, ...others].map(({ ports }) => ports.health as number),
      recorders,
    };

    const drives = ACKNOWLEDGED_TERMINALS.map(({ packetOrder }, nth) =>
      // In this drive, events differ where the newest positions of a packet come first.
      asDriven(generateDrive(FIXES, packetOrder === 'newest-first' ? 108 : 200 + nth)),
    );
    const fleet = await defineFleet(reached, drives, ACKNOWLEDGED_TERMINALS);
    for (const api of apis) {
      for (const { vehicleId } of fleet.vehicles)
        await vi.waitFor(() => callAt(api, jwt, 'GET', `/api/v1/vehicles/${vehicleId}`), PATIENCE);
      for (const { id } of fleet.geofences)
        await vi.waitFor(() => callAt(api, jwt, 'GET', `/api/v1/geozones/${id}`), PATIENCE);
    }
    await inForce(...reached.healthPorts());
    for (const [nth, recorder] of recorders.entries())
      await recorder.connect({ ports: { http: nthOf('notifier', nth).ports.live as number }, jwt });

    const played = playFleet(reached, fleet);
    const [firstRules, secondRules, thirdRules] = [0, 1, 2].map((nth) => nthOf('rules', nth)) as [
      Instance,
      Instance,
      Instance,
    ];
    const taken = async () => {
      const counts = await Promise.all(
        [firstRules, secondRules, thirdRules].map((rules) => counted(rules, 'outrider_rules_positions_total')),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    };
    await vi.waitFor(async () => expect(await taken()).toBeGreaterThan(FIXES), PATIENCE);
    await firstRules.kill();
    // It joins while the dead one is still believed to live, and shares the partitions when it is missed.
    const fourthRules = await own.start('rules');
    await played;
    await expectAllOfIt(reached, fleet);
    for (const gateway of instances.get('gateway') ?? []) {
      expect(await counted(gateway, 'outrider_positions_received_total')).toBeGreaterThanOrEqual(FIXES);
      // Its log, its hub and its process.
      expect(await counted(gateway, 'outrider_part_ready')).toBe(3);
    }
    for (const rules of [secondRules, thirdRules, fourthRules])
      await vi.waitFor(async () => expect(await counted(rules, 'outrider_rules_lag_packets')).toBe(0), PATIENCE);

    // Two go in order: the others have their partitions, and what is driven next makes its events too.
    const goesAtMs = Date.now();
    expect(await Promise.all([secondRules, thirdRules].map((rules) => rules.terminate()))).toEqual([0, 0]);
    const drivesOn = fleet.vehicles.map((vehicle, nth) => {
      const last = drives[nth]?.at(-1);
      if (!last) throw new Error(`${vehicle.edition} did not drive`);
      const sent = [5, 35].map((seconds, n) => ({
        ...last,
        fixTimeMs: last.fixTimeMs + seconds * 1000,
        speedKmh: n === 0 ? 90 : 5,
      }));
      return { ...vehicle, sent };
    });
    await playFleet(reached, { ...fleet, vehicles: drivesOn });
    const vehicles = fleet.vehicles.map((vehicle, nth) => ({
      ...vehicle,
      sent: [...vehicle.sent, ...(drivesOn[nth]?.sent ?? [])],
    }));
    await expectAllOfIt(reached, { ...fleet, vehicles });
    await expectCommandsDone(reached, fleet);

    const opened = fourthRules
      .said()
      .filter(({ msg }) => msg === 'partition opened')
      .map(({ time }) => Date.parse(String(time)));
    const movedMs = opened.filter((timeMs) => timeMs >= goesAtMs).map((timeMs) => timeMs - goesAtMs);
    // Kafka may have given them to it before, where the machine was busy.
    if (movedMs.length > 0)
      console.info(`${movedMs.length} partitions moved, the last after ${Math.max(...movedMs)} ms`);

    // Ended at one instance, a session is over at the others within seconds.
    await callAt(firstApi, jwt, 'POST', '/auth/logout');
    for (const api of apis)
      await vi.waitFor(() => expect(callAt(api, jwt, 'GET', '/api/v1/me')).rejects.toThrow('401'), PATIENCE);

    const gone: readonly Instance[] = [firstRules, secondRules, thirdRules];
    const remaining = [fourthRules, ...others.filter((instance) => !gone.includes(instance)), firstApi];
    const ended = await Promise.all(remaining.map(async (instance) => [instance.service, await instance.terminate()]));
    expect(ended).toEqual(remaining.map(({ service }) => [service, 0]));
    expectNone(own.complaints());
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
