import { setTimeout as wait } from 'node:timers/promises';
import { COMMIT_GAP_MS } from '@outrider/log';
import type { BareStoreMessage, BareStoreTask } from '../road/bare-store.ts';
import { type Child, startChild } from '../road/child.ts';
import { createVehicles, openRest } from '../road/definitions.ts';
import type { Paced, PacerMessage, PacerTask } from '../road/pacer.ts';
import { cpuSecondsOf, type Service, startService } from '../road/service.ts';
import type { Section, Table } from '../section.ts';

/** A small fleet: each terminal sends one position a second, in a packet of its own. */
const TERMINALS = 300;
const IDLE_SECONDS = 20;
const WARM_SECONDS = 20;
const MEASURED_SECONDS = 60;

interface Durations {
  idleSeconds: number;
  warmSeconds: number;
  measuredSeconds: number;
}

/** What a process used of one core; null where the system does not report it. */
interface Used {
  cores: number | null;
  threads: { name: string; cores: number }[];
}

/** What a small fleet costs: processor time and memory, beside a bare server that only stores the packets. */
export const section: Section = {
  about: 'processor time and memory at 300 positions a second, one a packet, and idle',
  async run(say, quick) {
    const tenth = quick ? 10 : 1;
    const durations: Durations = {
      idleSeconds: IDLE_SECONDS / tenth,
      warmSeconds: WARM_SECONDS / tenth,
      measuredSeconds: MEASURED_SECONDS / tenth,
    };
    const service = await measureService(durations, say);
    const bare = await measureBare(durations, say);
    const { idle, loaded, paced } = service;
    const ratio = loaded.cores !== null && bare.cores ? loaded.cores / bare.cores : null;
    return { result: { ...service, bare, ratio }, tables: tablesOf(idle, loaded, service, paced, bare, ratio) };
  },
};

interface ServiceMeasured {
  idle: Used;
  loaded: Used;
  idleMb: number | null;
  loadedMb: number | null;
  peakMb: number | null;
  threads: number | null;
  paced: Omit<Paced, 'type'>;
}

async function measureService(durations: Durations, say: (progress: string) => void): Promise<ServiceMeasured> {
  const service = await startService();
  try {
    const rest = await openRest(service);
    await createVehicles(rest, TERMINALS);
    rest.close();
    say('idle');
    await wait(durations.warmSeconds * 1000);
    const idle = await usedWithin(service, () => wait(durations.idleSeconds * 1000));
    const idleMb = await service.residentMb();
    const pacer = await startPacer(service.ports.teltonika);
    try {
      let loaded: Used = { cores: null, threads: [] };
      const paced = await paceFor(pacer, durations, say, async (measured) => {
        loaded = await usedWithin(service, measured);
      });
      return {
        idle,
        loaded,
        idleMb,
        loadedMb: await service.residentMb(),
        peakMb: await service.peakResidentMb(),
        threads: await service.threadCount(),
        paced,
      };
    } finally {
      await pacer.stop();
    }
  } finally {
    await service.stop();
  }
}

async function measureBare(durations: Durations, say: (progress: string) => void): Promise<{ cores: number | null }> {
  say('the bare server');
  const bare = await startChild<BareStoreTask, BareStoreMessage>('./bare-store.ts', { commitEveryMs: COMMIT_GAP_MS });
  try {
    const { port } = await bare.next('listening');
    const pacer = await startPacer(port);
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
      return { cores };
    } finally {
      await pacer.stop();
    }
  } finally {
    await bare.stop();
  }
}

function startPacer(port: number): Promise<Child<PacerMessage>> {
  return startChild<PacerTask, PacerMessage>('./pacer.ts', {
    host: '127.0.0.1',
    port,
    terminals: TERMINALS,
    perPacket: 1,
    connectAtATime: 50,
    live: null,
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
  const threadsBefore = await service.threadCpuSeconds();
  const begun = performance.now();
  await work();
  const seconds = (performance.now() - begun) / 1000;
  const after = await service.cpuSeconds();
  const threads = [...(await service.threadCpuSeconds())].map(([name, total]) => ({
    name,
    cores: (total - (threadsBefore.get(name) ?? 0)) / seconds,
  }));
  return {
    cores: before === null || after === null ? null : (after - before) / seconds,
    threads: threads.filter(({ cores }) => cores > 0).sort((a, b) => b.cores - a.cores),
  };
}

function tablesOf(
  idle: Used,
  loaded: Used,
  { idleMb, loadedMb, peakMb, threads }: ServiceMeasured,
  paced: Omit<Paced, 'type'>,
  bare: { cores: number | null },
  ratio: number | null,
): Table[] {
  const three = (value: number | null) => value?.toFixed(3) ?? null;
  return [
    {
      title: `${Math.round(paced.sentPositions / paced.seconds)} positions/s, one a packet, ${TERMINALS} terminals`,
      columns: ['what', 'value'],
      rows: [
        ['cores used, idle', three(idle.cores)],
        ['cores used, under this load', three(loaded.cores)],
        ['cores of a bare server that stores the packets', three(bare.cores)],
        ['of the bare server', ratio],
        ['resident idle, MB', idleMb],
        ['resident under this load, MB', loadedMb],
        ['resident at most, MB', peakMb],
        ['threads', threads],
        ['acknowledged in, p50 ms', paced.ackMs?.p50 ?? null],
        ['acknowledged in, p99 ms', paced.ackMs?.p99 ?? null],
        ['positions sent', paced.sentPositions],
        ['positions acknowledged', paced.acknowledgedPositions],
      ],
    },
    {
      title: 'Cores used by threads of a name',
      columns: ['thread', 'idle', 'under this load'],
      rows: loaded.threads.map(({ name, cores }) => [
        name,
        three(idle.threads.find((thread) => thread.name === name)?.cores ?? 0),
        three(cores),
      ]),
    },
  ];
}
