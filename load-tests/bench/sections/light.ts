import { setTimeout as wait } from 'node:timers/promises';
import { COMMIT_GAP_MS } from '@outrider/log';
import { cpuSecondsOf } from '@outrider/testing/process-tree';
import type { BareStoreMessage, BareStoreTask } from '../road/bare-store.ts';
import { type Child, startChild } from '../road/child.ts';
import { createGeofences, createVehicles, openRest, type RestClient } from '../road/definitions.ts';
import type { LatencyMs, Paced, PacerMessage, PacerTask } from '../road/pacer.ts';
import { type Service, startService } from '../road/service.ts';
import { defineSection, figure, type Table } from '../section.ts';

/** Small fleets: each terminal sends one position a second, in a packet of its own. */
const TERMINALS = [300, 1000] as const;
/** Of a core, at each of them. */
const GOAL_CORES = [0.03, 0.06] as const;
const VEHICLES = 1000;
const GEOFENCES = 100;
const IDLE_SECONDS = 20;
const WARM_SECONDS = 20;
const MEASURED_SECONDS = 60;

interface Durations {
  idleSeconds: number;
  warmSeconds: number;
  measuredSeconds: number;
}

/** What a process used of one core, and how often its threads were woken; null where the system does not report it. */
interface Used {
  cores: number | null;
  wakesPerSecond: number | null;
  threads: { name: string; cores: number }[];
}

/**
 * What a small fleet costs with 100 geofences and one watcher: processor time and memory, beside a bare server that
 * only stores the packets.
 */
export const section = defineSection({
  about: 'processor time and memory at 300 and 1,000 positions a second, one a packet, and idle',
  bare: 'a server that decodes the packets with the same codec and stores them in SQLite with the same gap',
  async run(say, quick) {
    const tenth = quick ? 10 : 1;
    const durations: Durations = {
      idleSeconds: IDLE_SECONDS / tenth,
      warmSeconds: WARM_SECONDS / tenth,
      measuredSeconds: MEASURED_SECONDS / tenth,
    };
    const service = await measureService(durations, say);
    const bare: BareMeasured[] = [];
    for (const terminals of TERMINALS) bare.push({ terminals, cores: await measureBare(terminals, durations, say) });
    return { result: { ...service, bare }, tables: tablesOf(service, bare) };
  },
  figures: ({ idle, idleMb, loads, bare }) => [
    figure('idle', 'cores', idle.cores, { goal: { atMost: 0.01 } }),
    figure('idle, resident', 'MB', idleMb, { goal: { atMost: 250 } }),
    ...loads.flatMap(({ terminals, used, residentMb, paced }, nth) => {
      const load = `${terminals.toLocaleString('en-US')} positions/s, one a packet`;
      return [
        figure(load, 'cores', used.cores, {
          bare: bare.find((each) => each.terminals === terminals)?.cores,
          goal: { atMost: GOAL_CORES[nth] ?? 1 },
        }),
        figure(`${load}: resident`, 'MB', residentMb, { goal: { atMost: 300 } }),
        figure(`${load}: packet to WebSocket, p99`, 'ms', paced.liveMs?.p99, { goal: { atMost: 20 } }),
      ];
    }),
  ],
});

interface BareMeasured {
  terminals: number;
  cores: number | null;
}

interface LoadMeasured {
  terminals: number;
  used: Used;
  residentMb: number | null;
  paced: Omit<Paced, 'type'>;
}

interface ServiceMeasured {
  idle: Used;
  idleMb: number | null;
  loads: LoadMeasured[];
  peakMb: number | null;
  threads: number | null;
}

async function measureService(durations: Durations, say: (progress: string) => void): Promise<ServiceMeasured> {
  const service = await startService();
  try {
    const rest = await openRest(service);
    const vehicleIds = await createVehicles(rest, VEHICLES);
    await createGeofences(rest, GEOFENCES);
    rest.close();
    say('idle');
    await wait(durations.warmSeconds * 1000);
    const idle = await usedWithin(service, () => wait(durations.idleSeconds * 1000));
    const idleMb = await service.residentMb();
    const loads: LoadMeasured[] = [];
    for (const terminals of TERMINALS)
      loads.push(await measureLoad(service, rest, vehicleIds, terminals, durations, say));
    return { idle, idleMb, loads, peakMb: await service.peakResidentMb(), threads: await service.threadCount() };
  } finally {
    await service.stop();
  }
}

async function measureLoad(
  service: Service,
  { jwt }: RestClient,
  vehicleIds: readonly string[],
  terminals: number,
  durations: Durations,
  say: (progress: string) => void,
): Promise<LoadMeasured> {
  const live = { url: `ws://${service.host}:${service.ports.http}/live`, jwt, vehicleIds };
  const pacer = await startPacer(service.ports.teltonika, terminals, live);
  try {
    let used: Used = { cores: null, wakesPerSecond: null, threads: [] };
    const paced = await paceFor(pacer, durations, say, async (measured) => {
      used = await usedWithin(service, measured);
    });
    return { terminals, used, residentMb: await service.residentMb(), paced };
  } finally {
    await pacer.stop();
  }
}

async function measureBare(
  terminals: number,
  durations: Durations,
  say: (progress: string) => void,
): Promise<number | null> {
  say('the bare server');
  const bare = await startChild<BareStoreTask, BareStoreMessage>('./bare-store.ts', { commitEveryMs: COMMIT_GAP_MS });
  try {
    const { port } = await bare.next('listening');
    const pacer = await startPacer(port, terminals, null);
    try {
      let cores: number | null = null;
      await paceFor(pacer, durations, say, async (measured) => {
        const before = await cpuSecondsOf(bare.pid);
        const begun = performance.now();
        await measured();
        const after = await cpuSecondsOf(bare.pid);
        if (before !== null && after !== null) cores = (after - before) / ((performance.now() - begun) / 1000);
      });
      bare.say('stop');
      await bare.next('stopped');
      return cores;
    } finally {
      await pacer.stop();
    }
  } finally {
    await bare.stop();
  }
}

function startPacer(port: number, terminals: number, live: PacerTask['live']): Promise<Child<PacerMessage>> {
  return startChild<PacerTask, PacerMessage>('./pacer.ts', {
    host: '127.0.0.1',
    port,
    terminals,
    perPacket: 1,
    connectAtATime: 50,
    live,
  });
}

/** Warms up, then lets `measure` wait for as long as is measured. */
async function paceFor(
  pacer: Child<PacerMessage>,
  { warmSeconds, measuredSeconds }: Durations,
  say: (progress: string) => void,
  measure: (measured: () => Promise<void>) => Promise<void>,
): Promise<Omit<Paced, 'type'>> {
  await pacer.next('connected');
  pacer.say('begin');
  await pacer.next('begun');
  say('warming up');
  await wait(warmSeconds * 1000);
  say('measuring');
  pacer.say('measure');
  await measure(() => wait(measuredSeconds * 1000));
  pacer.say('end');
  const { type: _, ...paced } = await pacer.next('paced');
  return paced;
}

/** What the service used of a core while `work` went on. */
async function usedWithin(service: Service, work: () => Promise<void>): Promise<Used> {
  const before = await service.cpuSeconds();
  const wakesBefore = await service.wakes();
  const threadsBefore = await service.threadCpuSeconds();
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1000;
  const after = await service.cpuSeconds();
  const wakes = await service.wakes();
  const threads = [...(await service.threadCpuSeconds())].map(([name, total]) => ({
    name,
    cores: (total - (threadsBefore.get(name) ?? 0)) / seconds,
  }));
  return {
    cores: before === null || after === null ? null : (after - before) / seconds,
    wakesPerSecond: wakesBefore === null || wakes === null ? null : (wakes - wakesBefore) / seconds,
    threads: threads.filter(({ cores }) => cores > 0).sort((a, b) => b.cores - a.cores),
  };
}

function tablesOf({ idle, idleMb, loads, peakMb, threads }: ServiceMeasured, bare: readonly BareMeasured[]): Table[] {
  const three = (value: number | null) => value?.toFixed(3) ?? null;
  const whole = (value: number | null) => value?.toFixed(0) ?? null;
  const bareOf = (terminals: number) => bare.find((each) => each.terminals === terminals)?.cores ?? null;
  const ratio = ({ terminals, used: { cores } }: LoadMeasured) => {
    const ofBare = bareOf(terminals);
    return cores !== null && ofBare ? (cores / ofBare).toFixed(1) : null;
  };
  const row = (what: string, idly: string | number | null, of: (load: LoadMeasured) => string | number | null) => [
    what,
    idly,
    ...loads.map(of),
  ];
  const time = (of: (paced: LoadMeasured['paced']) => LatencyMs | null, at: 'p50' | 'p99') => (load: LoadMeasured) =>
    of(load.paced)?.[at] ?? null;
  const columns = ['idle', ...loads.map(({ paced }) => `${whole(paced.sentPositions / paced.seconds)} positions/s`)];
  const names = new Set(loads.flatMap(({ used }) => used.threads.map(({ name }) => name)));
  const ofThread = (used: Used, name: string) => three(used.threads.find((each) => each.name === name)?.cores ?? 0);
  return [
    {
      title: `${VEHICLES} vehicles, ${GEOFENCES} geofences, one watcher; one position a packet`,
      columns: ['what', ...columns],
      rows: [
        row('cores used', three(idle.cores), ({ used }) => three(used.cores)),
        row('cores of a bare server that stores the packets', null, ({ terminals }) => three(bareOf(terminals))),
        row('of the bare server', null, ratio),
        row('times a second that a thread is woken', whole(idle.wakesPerSecond), ({ used }) =>
          whole(used.wakesPerSecond),
        ),
        row('resident, MB', idleMb, ({ residentMb }) => residentMb),
        row(
          'acknowledged in, p50 ms',
          null,
          time(({ ackMs }) => ackMs, 'p50'),
        ),
        row(
          'acknowledged in, p99 ms',
          null,
          time(({ ackMs }) => ackMs, 'p99'),
        ),
        row(
          'out of the WebSocket in, p50 ms',
          null,
          time(({ liveMs }) => liveMs, 'p50'),
        ),
        row(
          'out of the WebSocket in, p99 ms',
          null,
          time(({ liveMs }) => liveMs, 'p99'),
        ),
        row('positions sent', null, ({ paced }) => paced.sentPositions),
        row('positions acknowledged', null, ({ paced }) => paced.acknowledgedPositions),
      ],
    },
    {
      title: `Cores used by threads of a name; ${threads} threads, ${peakMb} MB resident at most`,
      columns: ['thread', ...columns],
      rows: [...names].map((name) => row(name, ofThread(idle, name), ({ used }) => ofThread(used, name))),
    },
  ];
}
