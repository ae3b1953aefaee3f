import { s3ClockMs } from '@outrider/files';
import { probeRedis } from '@outrider/hub';
import type { Logger } from '@outrider/runtime';
import type { Backing } from './backing.ts';
import { openLogReplicas, openVideoFiles } from './open.ts';
import type { ServerName } from './variables.ts';

/** Facts that a server reports about itself. */
export interface ServerFacts {
  version: string | null;
  /** Unix milliseconds; null if the server does not report a clock. */
  clockMs: number | null;
  /** Findings, and what to do about each. */
  warnings: readonly { detail: string; todo: string }[];
}

export interface ServerProbe {
  setting: ServerName;
  name: string;
  /** The oldest tested version; null: any. */
  testedFrom: number | null;
  /** Changes nothing. @throws {Error} when the server can't be used */
  probe(): Promise<ServerFacts>;
}

/** A probe for each configured server. */
export function serverProbes(backing: Backing, logger: Logger): ServerProbe[] {
  const { databaseUrl, redisUrl, clickhouseUrl, s3Url, log } = backing;
  const probes: ServerProbe[] = [];
  const add = (setting: ServerName, name: string, testedFrom: number | null, probe: ServerProbe['probe']) =>
    probes.push({ setting, name, testedFrom, probe });
  if (log.brokers !== null)
    add('KAFKA_BROKERS', 'Kafka', null, async () => {
      const replicas = await openLogReplicas(backing, logger);
      try {
        const topics = await replicas.status();
        const few = topics.filter(({ replicas, wanted }) => replicas < wanted);
        const warnings = few.map(({ topic, replicas, wanted }) => ({
          detail: `${topic} has ${replicas} of ${wanted} replicas`,
          todo: 'outrider kafka-replicas raise',
        }));
        return { version: null, clockMs: null, warnings };
      } finally {
        await replicas.close();
      }
    });
  if (redisUrl !== null)
    add('REDIS_URL', 'Redis', 7, async () => {
      const { evicts, ...facts } = await probeRedis(redisUrl);
      const warning = { detail: 'maxmemory-policy lets it forget checkpoints', todo: 'set it to noeviction' };
      return { ...facts, warnings: evicts ? [warning] : [] };
    });
  if (databaseUrl !== null)
    add('DATABASE_URL', 'PostgreSQL', 15, async () => {
      const { probePostgres } = await import('@outrider/registry');
      return { ...(await probePostgres(databaseUrl)), warnings: [] };
    });
  if (clickhouseUrl !== null)
    add('CLICKHOUSE_URL', 'ClickHouse', 26, async () => {
      const { probeClickHouse } = await import('@outrider/warehouse');
      return { ...(await probeClickHouse(clickhouseUrl)), warnings: [] };
    });
  if (s3Url !== null)
    add('S3_URL', 'S3', null, async () => {
      await (await openVideoFiles(backing)).ping();
      return { version: null, clockMs: await s3ClockMs(s3Url), warnings: [] };
    });
  return probes;
}
