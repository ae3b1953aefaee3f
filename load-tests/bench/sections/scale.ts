import { openKafkaLog, telemetryTopic } from '@outrider/log';
import { cpuSecondsOf } from '@outrider/testing/process-tree';
import { Cluster, type Instance } from '../../../services/outrider/src/distributed.fixture.ts';
import { type AllServers, startAllServers } from '../../servers/all.ts';
import { startChild } from '../road/child.ts';
import { createGeofences, createVehicles, openRest } from '../road/definitions.ts';
import { startGenerator } from '../road/generators.ts';
import { ADMIN_PASSWORD } from '../road/service.ts';
import type { BareConsumerMessage, BareConsumerTask } from '../scale/bare-consumer.ts';
import type { BareProducerMessage, BareProducerTask } from '../scale/bare-producer.ts';
import { TERMINALS as MOVING_TERMINALS, type Moves, measureMoves } from '../scale/moves.ts';
import { summed } from '../scale/processes.ts';
import { defineSection, figure } from '../section.ts';

const CONNECTIONS = 500;
const PER_PACKET = 10;
const WINDOW_PACKETS = 8;
const TERMINALS = { host: '127.0.0.1', connections: CONNECTIONS, perPacket: PER_PACKET, windowPackets: WINDOW_PACKETS };
const RULES = [1, 2, 4];
/** What the log puts into a request at most. */
const BARE_REQUEST_BYTES = 900 * 1024;
/** What comes before this share of a load is acknowledged warms up, and is not measured. */
const WARM_SHARE = 0.2;
const LOOK_MS = 200;
/** A process that uses no more than this share of a core for `IDLE_MS` has nothing left to do. */
const IDLE_SHARE = 0.1;
const IDLE_MS = 2000;
const MERGED_WITHIN_MS = 300_000;
/** No progress for this long: something is stuck. */
const STUCK_MS = 60_000;
/** Characters of a service's output that are printed when it failed. */
const SAID_CHARACTERS = 4000;
const PACKETS_ACKNOWLEDGED = 'outrider_packets_acknowledged_total';
const RULES_POSITIONS = 'outrider_rules_positions_total';
const ARCHIVED_ROWS = 'outrider_archived_rows_total{topic="telemetry"}';

type Say = (progress: string) => void;

interface Load {
  positionsPerConnection: number;
  geofences: number;
  /** When the drives of the last load end; each load's end where the next begins. */
  endMs: number;
}

/** How fast one of the stages was. */
interface Rate {
  positions: number;
  seconds: number;
  positionsPerSecond: number;
}

/** The services as processes of their own on real servers, beside what Kafka's client library does by itself. */
export const section = defineSection({
  about: 'positions a second through Kafka, with 1, 2 and 4 rules instances; needs servers, and takes some minutes',
  bare: 'Kafka’s client library alone, which produces the same bytes',
  async run(say, quick) {
    const load: Load = {
      positionsPerConnection: quick ? 400 : 16_000,
      geofences: quick ? 500 : 2000,
      endMs: Date.now(),
    };
    say('starting Redis, PostgreSQL, Kafka, ClickHouse and S3');
    const servers = await startAllServers(say);
    try {
      say('the client library alone');
      const before = await bare(servers, load, 'before.');
      const scaled = await services(servers, load, say);
      say('the client library alone, once more');
      const after = await bare(servers, load, 'after.');
      const produce = faster(before.produce, after.produce);
      const consume = faster(before.consume, after.consume);
      const carry = faster(before.carry, after.carry);
      return report(load, { bytesPerRecord: before.bytesPerRecord, produce, consume, carry, before, after }, scaled);
    } finally {
      await servers.stop();
    }
  },
  figures: ({ together, bare }) =>
    together.map(({ rules, all }) =>
      figure(`through Kafka, ${rules} of the rules`, 'positions/s', all.positionsPerSecond, {
        bare: bare.produce.positionsPerSecond,
      }),
    ),
});

function faster<R extends Rate>(one: R, other: R): R {
  return one.positionsPerSecond >= other.positionsPerSecond ? one : other;
}

function rate(positions: number, seconds: number): Rate {
  return { positions, seconds, positionsPerSecond: Math.round(positions / seconds) };
}

// --- The client library alone
// ------------------------------------------------------------------------------------------

interface BareRates {
  bytesPerRecord: number;
  /** Nobody reads meanwhile. */
  produce: BareRate;
  /** Nobody writes meanwhile. */
  consume: BareRate;
  /** What the services do with the topic, at the same time: one writes, two read all of it. */
  carry: BareRate;
}

interface BareRate extends Rate {
  /** Seconds of processor time, the broker's too. */
  cpuSeconds: { client: number; Kafka: number };
}

/** Who reads all of topic `telemetry`: the rules and the archiver. */
const READERS = 2;

async function bare({ kafka, environment }: AllServers, load: Load, prefix: string): Promise<BareRates> {
  const brokers = (environment.KAFKA_BROKERS ?? `127.0.0.1:${kafka.port}`).split(',');
  const children: { stop(): Promise<void> }[] = [];
  const child = async <Task, Message extends { type: string }>(module: string, task: Task) => {
    const started = await startChild<Task, Message>(module, task);
    children.push(started);
    return started;
  };
  const broker = async () => (await cpuSecondsOf(kafka.pid ?? 0)) ?? 0;
  const positions = CONNECTIONS * load.positionsPerConnection;

  /** A topic of its own, made as the services make theirs: the same partitions, the same promises. */
  async function topicFor(what: string): Promise<string> {
    const log = await openKafkaLog({ brokers, prefix: `${prefix}${what}.` });
    await log.endOffsets(telemetryTopic);
    await log.close();
    return `${prefix}${what}.${telemetryTopic.name}`;
  }

  async function producerOf(topic: string) {
    const producer = await child<BareProducerTask, BareProducerMessage>('../scale/bare-producer.ts', {
      brokers,
      topic,
      vehicles: CONNECTIONS,
      positionsPerVehicle: load.positionsPerConnection,
      perPacket: PER_PACKET,
      endMs: load.endMs,
      requestBytes: BARE_REQUEST_BYTES,
    });
    return { producer, ...(await producer.next('ready')) };
  }

  async function consumerOf(topic: string, messages: number) {
    const consumer = await child<BareConsumerTask, BareConsumerMessage>('../scale/bare-consumer.ts', {
      brokers,
      topic,
      messages,
    });
    await consumer.next('joined');
    return consumer;
  }

  /** One after the other. */
  async function apart(): Promise<Omit<BareRates, 'carry'>> {
    const topic = await topicFor('apart');
    const { producer, messages, bytes } = await producerOf(topic);
    const brokerBefore = await broker();
    producer.say('produce');
    const produced = await producer.next('produced');
    const brokerBetween = await broker();
    const consumed = await (await consumerOf(topic, messages)).next('consumed');
    const brokerAfter = await broker();
    return {
      bytesPerRecord: Math.round(bytes / messages),
      produce: {
        ...rate(positions, produced.seconds),
        cpuSeconds: { client: produced.cpuSeconds, Kafka: brokerBetween - brokerBefore },
      },
      consume: {
        ...rate(positions, consumed.seconds),
        cpuSeconds: { client: consumed.cpuSeconds, Kafka: brokerAfter - brokerBetween },
      },
    };
  }

  /** All at once, until the last has all of it. */
  async function together(): Promise<BareRate> {
    const topic = await topicFor('together');
    const { producer, messages } = await producerOf(topic);
    const consumers = await Promise.all(Array.from({ length: READERS }, () => consumerOf(topic, messages)));
    const brokerBefore = await broker();
    const begun = performance.now();
    producer.say('produce');
    const reports = await Promise.all([
      producer.next('produced'),
      ...consumers.map((consumer) => consumer.next('consumed')),
    ]);
    const seconds = (performance.now() - begun) / 1000;
    const client = reports.reduce((sum, each) => sum + each.cpuSeconds, 0);
    return { ...rate(positions, seconds), cpuSeconds: { client, Kafka: (await broker()) - brokerBefore } };
  }

  try {
    return { ...(await apart()), carry: await together() };
  } finally {
    await Promise.all(children.map((each) => each.stop()));
  }
}

// --- The services
// ------------------------------------------------------------------------------------------------------

/** One load through all of the services at once. */
interface Together {
  rules: number;
  acknowledged: Rate;
  processed: Rate;
  archived: Rate;
  /** Until the last of them had all of it. */
  all: Rate;
  /** Seconds of processor time while it was measured, by who used it. */
  cpuSeconds: Record<string, number>;
  /**
   * Seconds of processor time that ClickHouse went on for when all was there, before the next load began: it merges.
   */
  afterwardsCpuSeconds: number;
}

interface Scaled {
  /** Each service alone: the gateway fills the topic, the others empty it. */
  alone: { gateway: Rate; rules: Rate; archiver: Rate };
  together: Together[];
  moves: Moves;
}

async function services(servers: AllServers, load: Load, say: Say): Promise<Scaled> {
  const { KAFKA_BROKERS = '', REDIS_URL = '', DATABASE_URL = '' } = servers.environment;
  const cluster = await Cluster.open(
    { kafkaBrokers: KAFKA_BROKERS, redisUrl: REDIS_URL, databaseUrl: DATABASE_URL },
    servers.clickhouse.environment.CLICKHOUSE_URL,
  );
  const start = (service: 'gateway' | 'rules' | 'archiver' | 'api') =>
    cluster.start(service, {
      ADMIN_PASSWORD,
      LOG_LEVEL: 'warn',
      CHECKPOINT_MS: '1000',
      ARCHIVE_MS: '1000',
      // The definitions are made through the REST API as fast as it goes.
      LIMIT_AUTHORIZED_PER_MINUTE: '1000000000',
      LIMIT_UNAUTHORIZED_PER_MINUTE: '1000000000',
      ...profileOf(service),
    });
  try {
    await define(await start('api'), load, say);
    const loads = 1 + RULES.length;
    const ofLoad = (number: number): Load => ({
      ...load,
      endMs: load.endMs - (loads - 1 - number) * load.positionsPerConnection * 1000,
    });
    const positions = CONNECTIONS * load.positionsPerConnection;

    say('the gateway alone');
    const gateway = await start('gateway');
    const port = gateway.ports.teltonika ?? 0;
    const filled = await acknowledgedAlone(gateway, port, ofLoad(0));
    say('the rules alone');
    const rules = [await start('rules')];
    const processed = await drained(rules, RULES_POSITIONS, positions, say);
    say('the archiver alone');
    const archiver = await start('archiver');
    const archived = await drained([archiver], ARCHIVED_ROWS, positions, say);

    await merged(servers, say);
    const together: Together[] = [];
    for (const [index, count] of RULES.entries()) {
      while (rules.length < count) rules.push(await start('rules'));
      await emptyArchive(servers);
      say(`all together, ${count} of the rules`);
      const measured = await loaded({ gateway, rules, archiver }, port, ofLoad(1 + index), servers, say);
      together.push({ ...measured, afterwardsCpuSeconds: await merged(servers, say) });
    }
    say('a partition’s move');
    await Promise.all(rules.splice(1).map((instance) => instance.terminate()));
    const moves = await measureMoves(cluster, port, CONNECTIONS, () => start('rules'));
    await Promise.all([gateway, ...rules, archiver].map((instance) => instance.terminate()));
    return { alone: { gateway: filled, rules: processed, archiver: archived }, together, moves };
  } catch (error) {
    // The output of the service has the reason.
    throw new Error(`${(error as Error).message}\n${cluster.said.slice(-SAID_CHARACTERS)}`, { cause: error });
  } finally {
    await cluster.close();
  }
}

/** With `PROFILE` a folder: every process leaves a profile of its processor time there. */
function profileOf(service: string): Record<string, string> {
  const { PROFILE } = process.env;
  return PROFILE ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${PROFILE}/${service}` } : {};
}

async function define(api: Instance, { geofences }: Load, say: Say): Promise<void> {
  const rest = await openRest({ host: '127.0.0.1', ports: { http: api.ports.http ?? 0 } });
  say(`making ${CONNECTIONS} vehicles and ${geofences.toLocaleString('en-US')} geofences`);
  await createVehicles(rest, CONNECTIONS + MOVING_TERMINALS);
  await createGeofences(rest, geofences);
  rest.close();
  // By then the relay has published all definitions, and is not needed any more.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await api.terminate();
}

async function acknowledgedAlone(gateway: Instance, port: number, load: Load): Promise<Rate> {
  const generator = await startGenerator({ ...TERMINALS, port, ...load });
  try {
    const { positions } = await generator.next('ready');
    generator.say('go');
    const warm = positions * WARM_SHARE;
    const begun = await until(async () => {
      const acknowledged = (await summed([gateway], PACKETS_ACKNOWLEDGED)) * PER_PACKET;
      return acknowledged >= warm ? { acknowledged, at: performance.now() } : null;
    });
    await generator.next('done');
    return rate(positions - begun.acknowledged, (performance.now() - begun.at) / 1000);
  } finally {
    await generator.stop();
  }
}

/** @returns how fast they took what waited for them, from a part of it on */
async function drained(instances: readonly Instance[], name: string, positions: number, say: Say): Promise<Rate> {
  let warm: { count: number; at: number } | null = null;
  const progress = new Progress(say);
  for (;;) {
    const count = await summed(instances, name);
    const at = performance.now();
    if (warm === null && count >= positions * WARM_SHARE) warm = { count, at };
    if (count >= positions && warm) return rate(count - warm.count, (at - warm.at) / 1000);
    progress.reached(count, () => `${count.toLocaleString('en-US')} of ${positions.toLocaleString('en-US')}`);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

interface Roles {
  gateway: Instance;
  rules: readonly Instance[];
  archiver: Instance;
}

async function loaded(
  roles: Roles,
  port: number,
  load: Load,
  servers: AllServers,
  say: Say,
): Promise<Omit<Together, 'afterwardsCpuSeconds'>> {
  const { gateway, rules, archiver } = roles;
  const look = async () => {
    const [acknowledged, processed, archived] = await Promise.all([
      summed([gateway], PACKETS_ACKNOWLEDGED),
      summed(rules, RULES_POSITIONS),
      summed([archiver], ARCHIVED_ROWS),
    ]);
    return { acknowledged: acknowledged * PER_PACKET, processed, archived };
  };
  const base = await look();
  const generator = await startGenerator({ ...TERMINALS, port, ...load });
  const cpu = () => cpuSeconds(roles, servers, generator.pid);
  try {
    const { positions } = await generator.next('ready');
    generator.say('go');
    const progress = new Progress(say);
    const reached: { acknowledged?: number; processed?: number; archived?: number } = {};
    let warm: { at: number; counts: Awaited<ReturnType<typeof look>>; cpu: Record<string, number> } | null = null;
    for (;;) {
      const absolute = await look();
      const at = performance.now();
      const counts = {
        acknowledged: absolute.acknowledged - base.acknowledged,
        processed: absolute.processed - base.processed,
        archived: absolute.archived - base.archived,
      };
      if (warm === null && counts.acknowledged >= positions * WARM_SHARE) warm = { at, counts, cpu: await cpu() };
      for (const stage of ['acknowledged', 'processed', 'archived'] as const)
        if (counts[stage] >= positions) reached[stage] ??= at;
      const { acknowledged, processed, archived } = reached;
      if (warm && acknowledged && processed && archived) {
        const { at: from, counts: had, cpu: cpuBefore } = warm;
        const cpuAfter = await cpu();
        const stage = (name: keyof typeof had, end: number) => rate(positions - had[name], (end - from) / 1000);
        return {
          rules: rules.length,
          acknowledged: stage('acknowledged', acknowledged),
          processed: stage('processed', processed),
          archived: stage('archived', archived),
          all: rate(positions - had.acknowledged, (Math.max(acknowledged, processed, archived) - from) / 1000),
          cpuSeconds: Object.fromEntries(
            Object.entries(cpuAfter).map(([who, used]) => [
              who,
              Math.round((used - (cpuBefore[who] ?? 0)) * 100) / 100,
            ]),
          ),
        };
      }
      progress.reached(
        counts.acknowledged + counts.processed + counts.archived,
        () =>
          `${counts.acknowledged.toLocaleString('en-US')} acknowledged, ${counts.processed.toLocaleString('en-US')} through the rules, ${counts.archived.toLocaleString('en-US')} archived`,
      );
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  } finally {
    await generator.stop();
  }
}

/** Every load finds the archive the same: what ClickHouse merges is what this load brought. */
async function emptyArchive({ clickhouse }: AllServers): Promise<void> {
  for (const table of ['positions', 'events']) {
    const { origin, username, password } = new URL(clickhouse.environment.CLICKHOUSE_URL ?? '');
    const answer = await fetch(origin, {
      method: 'POST',
      headers: { 'X-ClickHouse-User': username, 'X-ClickHouse-Key': password },
      body: `TRUNCATE TABLE outrider.${table}`,
    });
    if (!answer.ok) throw new Error(`ClickHouse: ${await answer.text()}`);
  }
}

/**
 * Waits until ClickHouse has merged what it was given: no load is measured with what the one before it left to do.
 *
 * @returns seconds of processor time that it took
 */
async function merged({ clickhouse }: AllServers, say: Say): Promise<number> {
  const used = async () => (await cpuSecondsOf(clickhouse.pid ?? 0)) ?? 0;
  const begun = await used();
  const untilMs = performance.now() + MERGED_WITHIN_MS;
  say('waiting until ClickHouse has merged');
  for (let before = begun; ; ) {
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const after = await used();
    if (((after - before) * 1000) / IDLE_MS < IDLE_SHARE) return Math.round((after - begun) * 100) / 100;
    if (performance.now() > untilMs) throw new Error('ClickHouse does not come to rest');
    before = after;
  }
}

async function cpuSeconds(
  { gateway, rules, archiver }: Roles,
  { kafka, redis, clickhouse }: AllServers,
  generatorPid: number,
): Promise<Record<string, number>> {
  const of = async (instances: readonly Instance[]) => summed(instances, 'process_cpu_seconds_total');
  return {
    generator: (await cpuSecondsOf(generatorPid)) ?? 0,
    gateway: await of([gateway]),
    Kafka: (await cpuSecondsOf(kafka.pid ?? 0)) ?? 0,
    rules: await of(rules),
    archiver: await of([archiver]),
    Redis: (await cpuSecondsOf(redis.pid ?? 0)) ?? 0,
    ClickHouse: (await cpuSecondsOf(clickhouse.pid ?? 0)) ?? 0,
    'who measures': (await cpuSecondsOf(process.pid)) ?? 0,
  };
}

/** Says how far it is now and then, and that it is stuck. */
class Progress {
  readonly #say: Say;
  #before = -1;
  #movedAt = performance.now();
  #saidAt = performance.now();

  constructor(say: Say) {
    this.#say = say;
  }

  /** @throws {Error} when there was no progress for long */
  reached(count: number, text: () => string): void {
    const now = performance.now();
    if (count !== this.#before) this.#movedAt = now;
    this.#before = count;
    if (now - this.#movedAt > STUCK_MS) throw new Error(`stuck: ${text()}`);
    if (now - this.#saidAt < 5000) return;
    this.#saidAt = now;
    this.#say(text());
  }
}

async function until<T>(ask: () => Promise<T | null>): Promise<T> {
  for (;;) {
    const answer = await ask();
    if (answer !== null) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function total(values: Readonly<Record<string, number>>): number {
  return Object.values(values).reduce((sum, value) => sum + value, 0);
}

// --- The report
// --------------------------------------------------------------------------------------------------------

interface Bare extends BareRates {
  before: BareRates;
  after: BareRates;
}

function report(load: Load, bareRates: Bare, { alone, together, moves }: Scaled) {
  const { produce, consume, carry } = bareRates;
  const ratio = (of: Rate, to: Rate): number =>
    Math.round((of.positionsPerSecond / to.positionsPerSecond) * 1000) / 1000;
  const row = (what: string, of: Rate, to: Rate) => [what, of.seconds, of.positionsPerSecond, ratio(of, to)];
  return {
    result: {
      connections: CONNECTIONS,
      positionsPerPacket: PER_PACKET,
      windowPackets: WINDOW_PACKETS,
      geofences: load.geofences,
      bare: bareRates,
      alone,
      moves,
      together: together.map((each) => ({
        ...each,
        ofCarrying: ratio(each.all, carry),
        ofProducing: ratio(each.all, produce),
      })),
    },
    tables: [
      {
        title: `The client library alone, ${bareRates.bytesPerRecord.toLocaleString('en-US')} bytes a record of ${PER_PACKET} positions`,
        columns: ['what', 'seconds', 'positions/s', 'CPU s for a million', 'Kafka: CPU s for a million'],
        rows: [
          { what: 'produce', of: produce },
          { what: 'consume', of: consume },
          { what: 'produce, and meanwhile consume twice', of: carry },
        ].map(({ what, of }) => [
          what,
          of.seconds,
          of.positionsPerSecond,
          (of.cpuSeconds.client / of.positions) * 1e6,
          (of.cpuSeconds.Kafka / of.positions) * 1e6,
        ]),
      },
      {
        title: 'A stage alone, beside the client library at the same',
        columns: ['what', 'seconds', 'positions/s', 'of bare'],
        rows: [
          row('terminals → gateway → Kafka, of bare produce', alone.gateway, produce),
          row('Kafka → rules, one instance, of bare consume', alone.rules, consume),
          row('Kafka → archiver → ClickHouse, of bare consume', alone.archiver, consume),
        ],
      },
      {
        title: `End to end: ${CONNECTIONS} terminals, ${load.geofences.toLocaleString('en-US')} geofences`,
        columns: [
          'rules',
          'acknowledged/s',
          'rules-evaluated/s',
          'archived/s',
          'all of that/s',
          'of bare produce and consume at once',
          'of bare produce',
        ],
        rows: together.map(({ rules, acknowledged, processed, archived, all }) => [
          rules,
          acknowledged.positionsPerSecond,
          processed.positionsPerSecond,
          archived.positionsPerSecond,
          all.positionsPerSecond,
          ratio(all, carry),
          ratio(all, produce),
        ]),
      },
      {
        title: 'Processor seconds for a million positions, end to end',
        columns: ['who', ...together.map(({ rules }) => `${rules} of the rules`)],
        rows: [
          ...[...Object.keys(together[0]?.cpuSeconds ?? {}), 'all of them'].map((who) => [
            who,
            ...together.map(({ cpuSeconds: used, all }) => ((used[who] ?? total(used)) / all.positions) * 1e6),
          ]),
          [
            'ClickHouse merging, afterwards',
            ...together.map((each) => (each.afterwardsCpuSeconds / (CONNECTIONS * load.positionsPerConnection)) * 1e6),
          ],
        ],
      },
      {
        title: 'A partition’s move: the longest that any of 200 vehicles, reporting once a second, stood still',
        columns: ['when', 'ms'],
        rows: [
          ['nothing happens', moves.steadyMs],
          ['a second instance of the rules joins', moves.joinMs],
          ['it leaves in order', moves.leaveMs],
        ],
      },
    ],
  };
}
