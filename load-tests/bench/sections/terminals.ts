import { setTimeout as wait } from 'node:timers/promises';
import { descriptorLimit } from '@outrider/runtime';
import { cpuSecondsOf, statusOf } from '@outrider/testing/process-tree';
import type { BareHolderMessage } from '../road/bare-holder.ts';
import { type Child, startChild } from '../road/child.ts';
import { createVehicles, openRest } from '../road/definitions.ts';
import type { HolderMessage, HolderTask } from '../road/holder.ts';
import { startService } from '../road/service.ts';
import { defineSection, figure } from '../section.ts';

const TERMINALS = 50_000;
const REPORT_SECONDS = 30;
const SETTLE_SECONDS = 10;
/** All terminals report once before, so that what each keeps of a packet is there. */
const WARM_SECONDS = REPORT_SECONDS + 5;
const MEASURED_SECONDS = 60;
/** Samples of `/metrics`: objects, and buffers beside them, of each thread. */
const MEMORY_SAMPLE = /^outrider_thread_memory_bytes\{.*kind="(heap|buffers)"/;
/** Has the process collect garbage when {@link memoryOf} asks for it. */
const COLLECTING = ['--import', new URL('../road/collect-on-signal.ts', import.meta.url).href];
/** A collection of all threads, more than one of which give memory back. */
const COLLECTIONS = 2;
const COLLECTION_MS = 500;
/** What the service has open beside the terminals, and each process that holds them. */
const OTHER_DESCRIPTORS = 500;
const GOAL_KB = 20;

type Say = (progress: string) => void;

interface Held {
  /** Objects and buffers for each connected terminal, kB; what the system and libuv keep of a socket is not in it. */
  connectedKb: number;
  /** Of the whole process, before they connect and after. */
  idleMb: number | null;
  connectedMb: number | null;
  /** Used of a core while all of them report. */
  cores: number | null;
  connectSeconds: number;
  sentPackets: number;
  acknowledgedPackets: number;
  lost: number;
  ackP99Ms: number | null;
}

/** Many terminals that stay connected and report now and then: what each takes, beside bare sockets of Node. */
export const section = defineSection({
  about: `${TERMINALS.toLocaleString('en-US')} connected terminals, or as many as the limit of open files permits, one packet each ${REPORT_SECONDS} s`,
  bare: 'a server of Node that accepts the same sockets, answers what comes and remembers nothing',
  async run(say, quick) {
    const limit = descriptorLimit();
    const wanted = quick ? TERMINALS / 10 : TERMINALS;
    const terminals = Math.min(wanted, (limit ?? Number.POSITIVE_INFINITY) - OTHER_DESCRIPTORS);
    if (terminals < wanted)
      say(`the limit of open files is ${limit}: ${terminals} terminals; ${wanted} need ${wanted + OTHER_DESCRIPTORS}`);
    const service = await measureService(terminals, quick, say);
    say('the bare server');
    const bare = await measureBare(terminals, quick, say);
    const row = (what: string, of: (held: Held) => number | null) => [what, of(service), of(bare)];
    return {
      result: { terminals, limit, service, bare, aboveBareKb: service.connectedKb - bare.connectedKb },
      tables: [
        {
          title: `${terminals.toLocaleString('en-US')} terminals, a packet each ${REPORT_SECONDS} s; limit of open files ${limit ?? 'unknown'}`,
          columns: ['what', 'service', 'bare'],
          rows: [
            row('objects and buffers for each, kB', ({ connectedKb }) => connectedKb),
            row('resident, none connected, MB', ({ idleMb }) => idleMb),
            row('resident, all connected, MB', ({ connectedMb }) => connectedMb),
            row('cores used', ({ cores }) => cores),
            row('seconds to connect', ({ connectSeconds }) => connectSeconds),
            row('packets sent', ({ sentPackets }) => sentPackets),
            row('packets acknowledged', ({ acknowledgedPackets }) => acknowledgedPackets),
            row('acknowledged in, p99 ms', ({ ackP99Ms }) => ackP99Ms),
            row('connections lost', ({ lost }) => lost),
          ],
        },
      ],
    };
  },
  figures({ terminals, service, bare, aboveBareKb }) {
    const many = `${terminals.toLocaleString('en-US')} terminals`;
    return [
      figure(`${many} connected: memory of each`, 'kB', service.connectedKb, { bare: bare.connectedKb }),
      figure(`${many} connected: above a bare socket`, 'kB', aboveBareKb, { goal: { atMost: GOAL_KB } }),
      figure(`${many}, a packet each ${REPORT_SECONDS} s`, 'cores', service.cores, { bare: bare.cores }),
      figure(`${many}: connections lost`, '', service.lost, { goal: { atMost: 0 } }),
    ];
  },
});

/** A server whose memory is measured. */
interface Measurable {
  pid: number;
  port: number;
  /** What the objects and buffers of all its threads take, kB. */
  heldKb(): Promise<number>;
}

async function measureService(terminals: number, quick: boolean, say: Say): Promise<Held> {
  const service = await startService({ MAX_TERMINAL_CONNECTIONS: String(terminals + 100) }, undefined, COLLECTING);
  try {
    say(`making ${terminals.toLocaleString('en-US')} vehicles`);
    const rest = await openRest(service);
    await createVehicles(rest, terminals);
    rest.close();
    const heldKb = async () => {
      const samples = [...(await service.metrics())].filter(([name]) => MEMORY_SAMPLE.test(name));
      return samples.reduce((sum, [, bytes]) => sum + bytes, 0) / 1000;
    };
    return await hold({ pid: service.pid, port: service.ports.teltonika, heldKb }, terminals, quick, say);
  } finally {
    await service.stop();
  }
}

async function measureBare(terminals: number, quick: boolean, say: Say): Promise<Held> {
  const bare = await startChild<null, BareHolderMessage>('./bare-holder.ts', null, COLLECTING);
  try {
    const { port } = await bare.next('listening');
    const heldKb = async () => {
      bare.say('measure');
      return (await bare.next('memory')).bytes / 1000;
    };
    return await hold({ pid: bare.pid, port, heldKb }, terminals, quick, say);
  } finally {
    await bare.stop();
  }
}

/** Connects all to a server, and measures its process before, with them silent, and while they report. */
async function hold(server: Measurable, terminals: number, quick: boolean, say: Say): Promise<Held> {
  await wait((quick ? 1 : SETTLE_SECONDS) * 1000);
  const idle = await memoryOf(server);
  say('connecting');
  const holder: Child<HolderMessage> = await startChild<HolderTask, HolderMessage>('./holder.ts', {
    host: '127.0.0.1',
    port: server.port,
    firstTerminal: 0,
    terminals,
    reportSeconds: REPORT_SECONDS,
    connectAtATime: 200,
  });
  try {
    const { seconds: connectSeconds } = await holder.next('connected');
    await wait((quick ? 1 : SETTLE_SECONDS) * 1000);
    const connected = await memoryOf(server);
    say(`connected in ${connectSeconds.toFixed(1)} s; each reports`);
    holder.say('begin');
    await wait((quick ? WARM_SECONDS / 10 : WARM_SECONDS) * 1000);
    const cpuBefore = await cpuSecondsOf(server.pid);
    const began = performance.now();
    await wait((quick ? MEASURED_SECONDS / 10 : MEASURED_SECONDS) * 1000);
    const cpuAfter = await cpuSecondsOf(server.pid);
    const seconds = (performance.now() - began) / 1000;
    holder.say('end');
    const { type: _, ...held } = await holder.next('held');
    return {
      connectedKb: (connected.heldKb - idle.heldKb) / terminals,
      idleMb: idle.residentMb,
      connectedMb: connected.residentMb,
      cores: cpuBefore === null || cpuAfter === null ? null : (cpuAfter - cpuBefore) / seconds,
      connectSeconds,
      ...held,
    };
  } finally {
    await holder.stop();
  }
}

/** What a server keeps, garbage not counted. Resident memory is null on systems without `/proc`. */
async function memoryOf({ pid, heldKb }: Measurable): Promise<{ heldKb: number; residentMb: number | null }> {
  for (let times = 0; times < COLLECTIONS; times++) {
    process.kill(pid, 'SIGUSR2');
    await wait(COLLECTION_MS);
  }
  const kb = await statusOf(pid, 'VmRSS');
  return { heldKb: await heldKb(), residentMb: kb === null ? null : Math.round(kb / 1000) };
}
