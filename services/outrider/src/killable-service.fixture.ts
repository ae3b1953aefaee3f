import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ListedProtocol } from '@outrider/protocols';
import type { Random } from '@outrider/simulator';
import { complaintsOf } from './complaints.fixture.ts';
import { Cluster, type Servers, type ServiceName } from './distributed.fixture.ts';
import { type LogContent, readLog } from './log-reader.fixture.ts';
import type { RestartedService } from './restarted-service.fixture.ts';
import { type Ports, portVariables, reservedPorts, type ServiceProcess, spawnService } from './service.fixture.ts';

/** Killed in its start, killed at work, or replaced in order, as by an orchestrator. */
export type Kill = 'whileStarting' | 'whileRunning' | 'inOrder';

/** A service that is killed again and again, and its ports, which stay the same. */
export interface KillableService {
  /** Of REST. */
  httpPort: number;
  /** Of `/health/ready`, of all its processes. */
  healthPorts(): Promise<number[]>;
  /** Port of the nth live client. */
  livePort(nth: number): number;
  /** Port of the nth terminal. */
  terminalPort(protocol: ListedProtocol, nth: number): number;
  /**
   * Kills it with -9, or replaces it in order, at a moment that `random` decides, and starts it again.
   *
   * @param meanwhile called while it works, if it is killed at work
   */
  die(random: Random, meanwhile: () => void): Promise<Kill>;
  /** Resolves when all of its processes are ready. */
  comeToLife(): Promise<void>;
  fastestStartMs: number;
  readLog(): Promise<LogContent>;
  /** Names of the files. */
  mails(): string[];
  /** Stops it in order. @returns exit codes */
  end(): Promise<(number | null)[]>;
  /** Log lines of all its processes at level `error` and above. */
  complaints(): string[];
  close(): Promise<void>;
}

/** Share of the kills that happen before the service is ready. */
const DIES_EARLY = 0.4;
const WORKS_AT_MOST_MS = 1500;
/** Share of replacements among kills at work, where a service has several processes. */
const GOES_IN_ORDER = 0.25;
/** Of each scalable service. */
const PROCESSES = 3;
/** Of so many deaths one after the other … */
const ROUND = 5;
/** … these are of notifiers, in turn: each of their clients has to lose its connection, and chance might spare one. */
const OF_NOTIFIERS: readonly number[] = [0, 2];
/** Longer than clients wait before they connect again. */
const CONNECTED_MS = 200;
const SCALABLE = ['api', 'gateway', 'rules', 'archiver', 'notifier'] as const;

/** The time after which to kill it, in its start or at work. */
function moment(random: Random, fastestStartMs: number): { isEarly: boolean; ms: number } {
  const [early, share] = [random.next(), random.next()];
  const isEarly = early < DIES_EARLY && fastestStartMs < Number.POSITIVE_INFINITY;
  return { isEarly, ms: share * (isEarly ? fastestStartMs : WORKS_AT_MOST_MS) };
}

async function work(ms: number, meanwhile: () => void): Promise<void> {
  await wait(ms * 0.5);
  meanwhile();
  await wait(ms * 0.5);
}

/** The whole service in one process, on a folder. */
export async function oneProcess(environment: Record<string, string>): Promise<KillableService> {
  const folder = mkdtempSync(join(tmpdir(), 'outrider-crash-'));
  const ports = await reservedPorts();
  const logs: (() => string)[] = [];
  let living: { process: ServiceProcess; ready: Promise<boolean> } | null = null;
  const live = () => {
    const begunMs = performance.now();
    const process = spawnService(folder, ports, environment);
    logs.push(process.stderrText);
    const ready = process.ready.then((ports) => {
      if (ports !== null) killable.fastestStartMs = Math.min(killable.fastestStartMs, performance.now() - begunMs);
      return ports !== null;
    });
    living = { process, ready };
    return living;
  };
  const ready = async () => {
    const { process, ready } = living ?? live();
    if (!(await ready)) throw new Error(`the service did not start:\n${process.stderrText()}`);
    return process;
  };
  const killable: KillableService = {
    httpPort: ports.http,
    healthPorts: async () => [ports.http],
    livePort: () => ports.http,
    terminalPort: (protocol) => ports[protocol],
    async die(random, meanwhile) {
      const { isEarly, ms } = moment(random, killable.fastestStartMs);
      if (isEarly) {
        await living?.process.kill();
        live();
        await wait(ms);
      } else {
        await ready();
        await work(ms, meanwhile);
      }
      const { process, ready: isReady } = living ?? live();
      const wasReady = await Promise.race([isReady, wait(0, false)]);
      await process.kill();
      live();
      return wasReady ? 'whileRunning' : 'whileStarting';
    },
    comeToLife: async () => void (await ready()),
    fastestStartMs: Number.POSITIVE_INFINITY,
    readLog: () => readLog(folder),
    mails: () => emlFiles(folder),
    end: async () => [await (await ready()).interrupt()],
    complaints: () => logs.flatMap((stderrText) => complaintsOf(stderrText())),
    async close() {
      await living?.process.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await ready();
  return killable;
}

/** Three processes of each scalable service, on servers. One of them is killed at a time. */
export async function manyProcesses(servers: Servers, environment: Record<string, string>): Promise<KillableService> {
  const cluster = await Cluster.open(servers);
  const places = await Promise.all(
    SCALABLE.flatMap((service) =>
      Array.from({ length: PROCESSES }, async () => ({ service, ports: await reservedPorts() })),
    ),
  );
  const nthOf = (service: ServiceName, nth: number) =>
    places.filter((place) => place.service === service)[nth % PROCESSES]?.ports as Ports;
  const members: RestartedService[] = [];
  const allReady = () => Promise.all(members.map((member) => member.ready()));
  let deaths = 0;
  let notifierDeaths = 0;
  const nextToDie = async (random: Random): Promise<RestartedService> => {
    const notifiers = members.filter(({ service }) => service === 'notifier');
    const isNotifier = OF_NOTIFIERS.includes(deaths++ % ROUND);
    if (!isNotifier) return random.pick(members);
    const member = notifiers[notifierDeaths++ % notifiers.length] as RestartedService;
    await member.ready();
    await wait(CONNECTED_MS);
    return member;
  };
  const killable: KillableService = {
    httpPort: nthOf('api', 0).http,
    async healthPorts() {
      const ports = await Promise.all((await allReady()).map(({ ready }) => ready));
      return ports.flatMap((each) => each?.health ?? []);
    },
    livePort: (nth) => nthOf('notifier', nth).http,
    terminalPort: (protocol, nth) => nthOf('gateway', nth)[protocol],
    async die(random, meanwhile) {
      const member = await nextToDie(random);
      const { isEarly, ms } = moment(random, member.fastestStartMs);
      if (isEarly) {
        await member.kill();
        member.liveAgain();
        await wait(ms);
      } else {
        await member.ready();
        await work(ms, meanwhile);
      }
      const { isReady } = member;
      const isReplaced = isReady && random.next() < GOES_IN_ORDER;
      if (isReplaced) {
        const code = await member.terminate();
        if (code !== 0) throw new Error(`${member.service} ended with ${code}:\n${member.said().join('\n')}`);
      } else await member.kill();
      member.liveAgain();
      killable.fastestStartMs = Math.min(killable.fastestStartMs, member.fastestStartMs);
      if (isReplaced) return 'inOrder';
      return isReady ? 'whileRunning' : 'whileStarting';
    },
    comeToLife: async () => void (await allReady()),
    fastestStartMs: Number.POSITIVE_INFINITY,
    readLog: () => cluster.readLog(),
    mails: () => emlFiles(cluster.sharedFolder),
    async end() {
      await allReady();
      for (const member of members) member.rest();
      return Promise.all(members.map((member) => member.terminate()));
    },
    complaints: () => cluster.complaints(),
    close: () => cluster.close(),
  };
  try {
    for (const { service, ports } of places) {
      const member = cluster.keep(service, { ...environment, ...portVariables(ports) });
      members.push(member);
      // The first one makes the tables and the operator.
      if (members.length === 1) await member.ready();
    }
    await allReady();
    return killable;
  } catch (error) {
    await killable.close();
    throw error;
  }
}

function emlFiles(folder: string): string[] {
  return readdirSync(join(folder, 'mail')).filter((name) => name.endsWith('.eml'));
}
