import { randomInt } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { VehicleId } from '@outrider/domain';
import { createRandom } from '@outrider/simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ServiceName } from '../../services/outrider/src/distributed.fixture.ts';
import type { RestartedService } from '../../services/outrider/src/restarted-service.fixture.ts';
import { reservedPorts } from '../../services/outrider/src/service.fixture.ts';
import { Access } from './access.ts';
import { faketimeLibrary } from './clock.ts';
import { type Disk, openDisk } from './disk.ts';
import {
  CLIENTS,
  type Distributed,
  LINKS,
  ON_THE_ROAD,
  openDistributed,
  REPORTED_BY,
  SERVICES,
  type ServerName,
  TERMINALS,
  unreadyParts,
} from './distributed.ts';
import type { Watched } from './invariants.ts';
import { type Lone, openLone } from './lone.ts';
import { describeFault, type Fault, KINDS, type Kind, type Places, planRounds } from './plan.ts';
import { faultTable, type RoundResult } from './report.ts';
import { caughtUp, RECOVERS_WITHIN_MS, say, watch } from './watching.ts';

/** How often each fault comes; which of them; and the seed of an earlier run. */
const ROUNDS = Number(process.env.FAULT_ROUNDS ?? 20);
const SEED = Number(process.env.FAULT_SEED ?? randomInt(2 ** 31));
const WANTED = process.env.FAULT_KINDS?.split(',') ?? KINDS;
const VEHICLES = 4;
const LONE_VEHICLES = 2;
/** Includes space for ClickHouse's logs and merges: recorded data takes only a part of it. */
const DISK_MIB = 512;
const LOOK_EVERY_MS = 400;
/** Interval of log lines about what is still awaited. */
const LOG_EVERY_MS = 20_000;
/** The library that sets clocks looks every second, and so does who watches them. */
const CLOCK_SEEN_WITHIN_MS = 2500;
/** Duplicates arrive within this time. */
const DUPLICATES_WITHIN_MS = 400;
const SHOWN_ERRORS = 6;

const PLACES: Places = {
  kill: Object.keys(SERVICES),
  stop: Object.keys(REPORTED_BY),
  cut: LINKS,
  delay: LINKS,
  halve: LINKS,
  disk: ['the service in one process'],
  clock: ON_THE_ROAD,
};

const random = createRandom(SEED);
const skipped = new Map<Kind, string>();
const results: RoundResult[] = [];
const ends: (() => Promise<unknown> | unknown)[] = [];
/** By vehicle, the first fix that was not found in the archive after an earlier round. */
const since = new Map<VehicleId, number>();
let distributed: Distributed;
let lone: Lone<Disk> | null = null;
let watched: Watched;
let watchedLone: Watched | null = null;

const secondsSince = (ms: number) => (performance.now() - ms) / 1000;

beforeAll(async () => {
  say(`\nFAULT_SEED=${SEED}: ${ROUNDS} rounds of ${WANTED.join(', ')}`);
  const faketime = faketimeLibrary();
  if (faketime === null) skipped.set('clock', 'libfaketime is not installed');
  const startedMs = performance.now();
  distributed = await openDistributed(random, WANTED.includes('clock') ? faketime : null);
  ends.push(() => distributed.close());
  say(`servers and services run after ${secondsSince(startedMs).toFixed(1)} s`);
  watched = await watch(
    new Access(distributed.apiPort),
    { terminals: distributed.terminalsPort, clients: distributed.clientsPort },
    { vehicleCount: VEHICLES, seed: SEED },
    ends,
  );
  if (WANTED.includes('disk')) {
    try {
      const opened = await openLone(await reservedPorts(), (folder) => openDisk(folder, DISK_MIB));
      lone = opened;
      ends.push(() => opened.close());
      const { http, teltonika } = opened.ports;
      watchedLone = await watch(
        new Access(http),
        { terminals: teltonika, clients: http },
        { vehicleCount: LONE_VEHICLES, seed: SEED },
        ends,
      );
    } catch (error) {
      skipped.set('disk', (error as Error).message.trim());
    }
  }
  for (const [kind, why] of skipped) say(`skipped: ${kind}, ${why}`);
  say(`all runs after ${secondsSince(startedMs).toFixed(1)} s`);
}, 300_000);

afterAll(async () => {
  for (const end of ends.reverse()) await end();
  const kinds = KINDS.filter((kind) => WANTED.includes(kind) && !skipped.has(kind));
  say(`\n${faultTable(kinds, results)}`);
  for (const [kind, why] of skipped) say(`skipped: ${kind}, ${why}`);
  say(`FAULT_SEED=${SEED}\n`);
}, 120_000);

function serviceOf(name: string): RestartedService {
  const service = distributed.services.get(name as ServiceName);
  if (!service) throw new Error(`no ${name} runs`);
  return service;
}

/** Whom a fault at a link is felt by. */
function sufferer(link: string): ServiceName {
  if (link === TERMINALS) return 'gateway';
  if (link === CLIENTS) return 'notifier';
  return link.split('→')[0] as ServiceName;
}

/** Does it, waits for as long as it lasts, and undoes it. Says what was not as it should be meanwhile. */
async function suffer({ kind, place, lastsMs, how }: Fault): Promise<string[]> {
  switch (how.kind) {
    case 'kill': {
      const service = serviceOf(place);
      const before = service.restarts();
      await service.kill();
      while (service.restarts() === before) await wait(50);
      return [];
    }
    case 'stop': {
      const server = distributed.servers[place as ServerName];
      await server.stop();
      const { service, part } = REPORTED_BY[place as ServerName];
      const reported = await reportedUnready(() => distributed.unready(service), part, lastsMs);
      await server.start();
      return reported ? [] : [`${service} did not say that its ${part} is away`];
    }
    case 'disk':
      return sufferFullDisk(lastsMs);
    case 'clock': {
      const clock = distributed.clocks.get(place as ServiceName);
      clock?.set(how.offsetSeconds);
      await wait(lastsMs);
      clock?.set(0);
      await wait(CLOCK_SEEN_WITHIN_MS);
      return [];
    }
    default: {
      const proxy = distributed.proxies.get(place);
      if (!proxy) throw new Error(`nothing is between ${place}, for ${kind}`);
      if (how.kind === 'cut') {
        for (let time = 0; time < how.times; time++) {
          proxy.cut();
          await wait(lastsMs / how.times);
        }
        return [];
      }
      if (how.kind === 'delay') proxy.delay(how.delayMs);
      else proxy.halve(how.silent, how.silence);
      await wait(lastsMs);
      proxy.heal();
      return [];
    }
  }
}

/**
 * Whether the part, or the whole service, was said not to be ready: a service that another fault ends meanwhile starts,
 * stops, or is not there. It is asked for as long as the fault lasts, and a little more.
 */
async function reportedUnready(ask: () => Promise<string[]>, part: string, lastsMs: number): Promise<boolean> {
  const startedMs = performance.now();
  let reported = false;
  while (performance.now() < startedMs + lastsMs || (!reported && performance.now() < startedMs + lastsMs + 10_000)) {
    reported ||= (await ask()).some((each) => [part, 'it', 'start', 'stop'].includes(each));
    await wait(200);
  }
  return reported;
}

async function sufferFullDisk(lastsMs: number): Promise<string[]> {
  if (!lone) return [];
  const { disk, ports, said } = lone;
  const wrong: string[] = [];
  const saidBefore = said().length;
  const jwt = await new Access(ports.http).token();
  await lone.giveBackSpace();
  disk.fill();
  // The service accepts data while it has space. Then it accepts none, and reports that.
  if (!(await reportedUnready(() => unreadyParts(ports.http), 'log', 0)))
    wrong.push('readiness did not say that the log is full');
  // A checkpoint of the database may free a little space for some writes. The end of the round checks that they are
  // stored, as it does for everything that was acknowledged.
  wrong.push(...(await wronglyRefusedWrites(ports.http, jwt, lastsMs)));
  if (!said().slice(saidBefore).includes('packets can not be appended to the log'))
    wrong.push('no log said that nothing is taken');
  disk.free();
  return wrong;
}

/** Writes by REST for a while: each is done, or answered with 503 and when to try again. */
async function wronglyRefusedWrites(http: number, jwt: string, lastsMs: number): Promise<string[]> {
  const wrong: string[] = [];
  const untilMs = performance.now() + lastsMs;
  for (let number = 0; performance.now() < untilMs; number++) {
    const name = `Full disk ${Date.now()} ${number}`;
    const answer = await fetch(`http://127.0.0.1:${http}/api/v1/vehicles`, {
      method: 'POST',
      headers: { authorization: `JWT ${jwt}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name, terminalId: `99${Date.now()}${number}`.slice(0, 20) }),
    }).catch(() => null);
    if (answer && !answer.ok && (answer.status !== 503 || !answer.headers.has('retry-after')))
      wrong.push(`REST answered ${answer.status} to a write on the full disk: ${await answer.text()}`);
    await wait(200);
  }
  return wrong;
}

/** Until the place of the fault is ready again, in seconds; null where it is not in time. */
async function recovered({ kind, place }: Fault): Promise<number | null> {
  const startedMs = performance.now();
  let logAtMs = startedMs + LOG_EVERY_MS;
  const asks: (() => Promise<string[]>)[] =
    kind === 'disk'
      ? [() => unreadyParts(lone?.ports.http ?? 0)]
      : kind === 'stop'
        ? ON_THE_ROAD.map((service) => () => distributed.unready(service))
        : [() => distributed.unready(kind === 'kill' || kind === 'clock' ? (place as ServiceName) : sufferer(place))];
  while (performance.now() < startedMs + RECOVERS_WITHIN_MS) {
    const unready = await Promise.all(asks.map((ask) => ask()));
    if (unready.every((parts) => parts.length === 0)) return secondsSince(startedMs);
    if (performance.now() > logAtMs) {
      say(`  still: not ready after ${kind} ${place}: ${unready.flat().join(', ')}`);
      logAtMs += LOG_EVERY_MS;
    }
    await wait(LOOK_EVERY_MS / 2);
  }
  return null;
}

const KINDS_HERE = KINDS.filter((kind) => WANTED.includes(kind));
const plan = planRounds(SEED, ROUNDS, KINDS_HERE, PLACES);

test.each(plan.map((faults, nth) => [nth + 1, faults] as const))(
  'round %i: nothing acknowledged is lost, everything is told once, all catches up',
  { timeout: 60_000 + 2 * RECOVERS_WITHIN_MS },
  async (number, planned) => {
    const faults = planned.filter(({ kind }) => !skipped.has(kind));
    const systems = [watched, ...(watchedLone ? [watchedLone] : [])];
    const startedMs = performance.now();
    say(`round ${number}/${ROUNDS}: ${faults.map(describeFault).join(', ')}`);
    for (const { load } of systems) load.go();
    let overMs = startedMs;
    const wrong: string[] = [];
    const recoveries = await Promise.all(
      faults.map(async (fault) => {
        await wait(fault.beginsAfterMs);
        for (const each of await suffer(fault)) wrong.push(`${describeFault(fault)}: ${each}`);
        overMs = Math.max(overMs, performance.now());
        const seconds = await recovered(fault);
        if (seconds === null) wrong.push(`${describeFault(fault)}: not ready again`);
        return { fault, seconds };
      }),
    );
    for (const { load } of systems) load.pause();
    for (const found of await Promise.all(systems.map((system) => caughtUp(system, since)))) wrong.push(...found);
    const caughtUpSeconds = wrong.length === 0 ? secondsSince(overMs) : null;
    await wait(DUPLICATES_WITHIN_MS);
    // Only duplicates are final: another violation may come from a service that is starting again.
    if (wrong.length === 0)
      for (const found of await Promise.all(systems.map((system) => caughtUp(system, since)))) wrong.push(...found);
    results.push({ recoveries, caughtUpSeconds });
    for (const { load } of systems)
      for (const { vehicleId, sent } of load.driven) since.set(vehicleId, sent.at(-1)?.fixTimeMs ?? 0);
    const slowest = recoveries.toSorted((a, b) => (b.seconds ?? Infinity) - (a.seconds ?? Infinity))[0];
    say(
      `  ${wrong.length === 0 ? 'as promised' : 'NOT as promised'} after ${secondsSince(startedMs).toFixed(1)} s ` +
        `(faults ${((overMs - startedMs) / 1000).toFixed(1)} s, then ${caughtUpSeconds?.toFixed(1) ?? '∞'} s), ` +
        `slowest ${slowest ? `${slowest.fault.kind} ${slowest.fault.place} ${slowest.seconds?.toFixed(1)} s` : '-'}, ` +
        `${systems.map(({ load }) => load.sent).join(' + ')} positions`,
    );
    if (wrong.length > 0) for (const fault of faults) logFault(fault);
    expect(wrong, `FAULT_SEED=${SEED}, round ${number}: ${faults.map(describeFault).join(', ')}`).toEqual([]);
  },
);

/** The last lines of different errors, with what is needed to find their cause. */
function errorsAmong(lines: readonly string[]): string[] {
  const errors = lines.filter((line) => line.includes('"level":"error"') || line.includes('"level":50'));
  return [...new Map(errors.map((line) => [/"stack":"([^"\\]*)/.exec(line)?.[1] ?? line, line])).values()]
    .slice(-SHOWN_ERRORS)
    .map((line) => line.slice(0, 2000));
}

/** Prints the last output of the service that a fault was about. */
function logFault({ kind, place }: Fault): void {
  if (kind === 'stop' || kind === 'disk') {
    if (kind === 'disk') {
      const lines = lone?.said().split('\n') ?? [];
      say(
        `--- errors of ${place}:\n${errorsAmong(lines).join('\n')}\n--- it said at last:\n${lines.join('\n').slice(-3000)}`,
      );
    }
    return;
  }
  const service = kind === 'kill' || kind === 'clock' ? place : sufferer(place);
  const said = serviceOf(service)
    .said()
    .filter((line) => !line.includes('"not ready"'));
  say(`--- ${service} said at last:\n${said.slice(-12).join('\n').slice(-5000)}`);
}
