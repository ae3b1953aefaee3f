import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { ListedProtocol } from '@outrider/protocols';
import type { Random } from '@outrider/simulator';
import { Cluster, type Servers, type ServiceName } from './distributed.fixture.ts';
import { type LogContent, readLog } from './log-reader.fixture.ts';
import type { RestartedService } from './restarted-service.fixture.ts';
import { type Ports, portVariables, reservedPorts, type ServiceProcess, spawnService } from './service.fixture.ts';

/** In its start, at work, or as an orchestrator replaces a process by a newer one. */
export type Kill = 'whileStarting' | 'whileRunning' | 'inOrder';

/** What is killed again and again: where it is reached all the while, and how it dies. */
export interface KillableService {
  /** Of REST. */
  httpPort: number;
  /** Where the nth of those who listen does. */
  livePort(nth: number): number;
  /** Where the nth terminal connects. */
  terminalPort(protocol: ListedProtocol, nth: number): number;
  /**
   * Dies by -9 once, or is replaced in order, at a moment that `random` decides, and comes back.
   *
   * @param meanwhile called while it works, where it dies at work
   */
  die(random: Random, meanwhile: () => void): Promise<Kill>;
  /** Resolves when nothing of it is dead. */
  comeToLife(): Promise<void>;
  fastestStartMs: number;
  readLog(): Promise<LogContent>;
  /** Names of the files. */
  mails(): string[];
  /** Ends in order. @returns exit codes */
  end(): Promise<(number | null)[]>;
  /** Lines of all lives at level `error` and above. */
  complaints(): string[];
  close(): Promise<void>;
}

/** So many of the deaths lie between the first moment and the one when it would be ready; the others after that. */
const DIES_EARLY = 0.4;
const WORKS_AT_MOST_MS = 1500;
/** Of those at work, where there is one of many processes to replace. */
const GOES_IN_ORDER = 0.25;
/** Of each service that more than one may run of. */
const PROCESSES = 3;
const SCALABLE = ['api', 'gateway', 'rules', 'archiver', 'notifier'] as const;

/** When it is to die: so far into its start, or so far into its work. */
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

/** All of it in one process, on a folder. */
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

/** Three processes of each service that can be more than one, on servers: one of them dies at a time. */
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
  const killable: KillableService = {
    httpPort: nthOf('api', 0).http,
    livePort: (nth) => nthOf('notifier', nth).http,
    terminalPort: (protocol, nth) => nthOf('gateway', nth)[protocol],
    async die(random, meanwhile) {
      const member = random.pick(members);
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

function complaintsOf(stderrText: string): string[] {
  return stderrText.split('\n').filter((line) => /"level":[56]0/.test(line));
}
