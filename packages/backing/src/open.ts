import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { type Files, openFolder, openS3 } from '@outrider/files';
import { type Hub, MemoryHub, openRedisHub } from '@outrider/hub';
import {
  type Checkpoints,
  type KafkaReplicas,
  LOG_TOPIC_NAMES,
  type Log,
  openKafkaLog,
  openKafkaReplicas,
  openRedisCheckpoints,
  openSqliteCheckpoints,
  openSqliteLog,
  type SqliteLogOptions,
} from '@outrider/log';
import type { Registry, RegistryOptions } from '@outrider/registry';
import { type Logger, type Metrics, StartError } from '@outrider/runtime';
import type { Warehouse, WarehouseOptions } from '@outrider/warehouse';
import type { Backing, Sasl } from './backing.ts';
import { unreadableRecords } from './dead-letter-office.ts';
import { discontinuityReport, measureLog } from './log-watch.ts';
import { openSecrets } from './secrets-key.ts';

/*
 * The registry and the warehouse are loaded when one is opened: each thread of a service has its own copy of the
 * modules it loads, and the threads of the gateway and of the rules need neither.
 */

/**
 * Opens Kafka if brokers are configured, otherwise a SQLite file. An unreadable record is put into topic `<name>-dead`,
 * and the reader continues after it.
 *
 * @param metrics counts dead letters, and exports the progress of readers
 * @param options options of a SQLite file, see `SqliteLogOptions`; Kafka's producers have a gap of their own
 * @throws {StartError} when the brokers can't be reached or refuse the account
 */
export async function openLog(
  { folder, log: address }: Pick<Backing, 'folder' | 'log'>,
  logger: Logger,
  metrics: Metrics | null = null,
  { commitGapMs = 0, startsRun = false }: Pick<SqliteLogOptions, 'commitGapMs' | 'startsRun'> = {},
): Promise<Log> {
  const maxAgeMs = address.retentionHours * 3_600_000;
  const onDiscontinuity = discontinuityReport(logger, metrics);
  const onUnreadable = unreadableRecords(() => log, logger, metrics);
  const log =
    address.brokers === null
      ? openSqliteLog({
          path: inFolder(folder, 'log.sqlite'),
          maxAgeMs,
          maxBytes: address.retentionMb * 1024 * 1024,
          commitGapMs,
          startsRun,
          onUnreadable,
          onDiscontinuity,
        })
      : await reached(
          kafkaAt(address.brokers),
          openKafkaLog({
            ...kafkaConnection(address, address.brokers, logger),
            maxAgeMs,
            onUnreadable,
            onDiscontinuity,
            onFewReplicas: (replication) => logger.warn({ ...replication }, 'a topic has fewer replicas than wanted'),
          }),
        );
  if (metrics !== null) measureLog(log, metrics);
  return log;
}

/**
 * Opens the replicas of the log's topics.
 *
 * @throws {StartError} when no brokers are set, they can't be reached or refuse the account
 */
export function openLogReplicas({ log: address }: Pick<Backing, 'log'>, logger: Logger): Promise<KafkaReplicas> {
  const { brokers } = address;
  if (brokers === null) throw new StartError('KAFKA_BROKERS must be set: an embedded log has no replicas');
  const connection = kafkaConnection(address, brokers, logger);
  return reached(kafkaAt(brokers), openKafkaReplicas(connection, LOG_TOPIC_NAMES));
}

function kafkaConnection(
  { prefix, replicationFactor, ssl, sasl }: Backing['log'],
  brokers: readonly string[],
  logger: Logger,
) {
  return {
    brokers,
    prefix,
    replicationFactor,
    ...(ssl ? { ssl: true } : {}),
    ...(sasl === null ? {} : { sasl: kafkaSasl(sasl) }),
    onWarning: (message: string) => logger.warn(message),
  };
}

function kafkaAt(brokers: readonly string[]): string {
  return `Kafka at ${brokers.join(', ')}`;
}

/** Separate cases because the client has a type for each mechanism. */
function kafkaSasl({ mechanism, username, password }: Sasl) {
  switch (mechanism) {
    case 'plain':
      return { mechanism, username, password } as const;
    case 'scram-sha-256':
      return { mechanism, username, password } as const;
    case 'scram-sha-512':
      return { mechanism, username, password } as const;
  }
}

/** Redis if configured, otherwise a SQLite file. */
export async function openCheckpoints(
  { folder, redisUrl, redisPrefix }: Pick<Backing, 'folder' | 'redisUrl' | 'redisPrefix'>,
  logger: Logger,
): Promise<Checkpoints> {
  if (redisUrl !== null)
    return reached(null, openRedisCheckpoints({ url: redisUrl, prefix: redisPrefix, onError: redisTrouble(logger) }));
  return openSqliteCheckpoints({ path: inFolder(folder, 'checkpoints.sqlite') });
}

/** Redis if configured, otherwise this process's memory. */
export async function openHub(
  { redisUrl, redisPrefix }: Pick<Backing, 'redisUrl' | 'redisPrefix'>,
  logger: Logger,
): Promise<Hub> {
  if (redisUrl === null) return new MemoryHub();
  return reached(null, openRedisHub({ url: redisUrl, prefix: redisPrefix, onError: redisTrouble(logger) }));
}

/** PostgreSQL if configured, otherwise a SQLite file; for a service that reads and stores no secrets. */
export function openRegistryWithoutSecrets(backing: RegistryBacking, logger: Logger): Promise<Registry> {
  return openRegistryWith(backing, logger, {});
}

/**
 * PostgreSQL if configured, otherwise a SQLite file. Its secrets are encrypted, including existing ones.
 *
 * @param options default limits of accounts: for services that write users' definitions
 * @throws {StartError} when the database can't be used, or its secrets need another key, or any key at all
 */
export async function openRegistry(
  backing: RegistryBacking & Pick<Backing, 'secretsKey' | 'secretsKeyFile'>,
  logger: Logger,
  options: Pick<RegistryOptions, 'quotas' | 'forgetLostSecrets'> = {},
): Promise<Registry> {
  const { secrets, file, isNew } = await openSecrets(backing);
  if (isNew)
    logger.warn({ file }, 'generated a key for stored secrets: back it up separately from the rest of DATA_DIR');
  try {
    return await openRegistryWith(backing, logger, {
      ...options,
      secrets,
      onSecrets({ sealed, inClear }) {
        if (sealed > 0) logger.info({ secrets: sealed }, 'encrypted secrets that were stored in plain text');
        if (inClear) logger.warn('SECRETS_KEY is not set: secrets are stored in plain text');
      },
    });
  } catch (error) {
    const { cause } = error as Error;
    const { SecretsKeyError } = await import('@outrider/registry');
    if (cause instanceof SecretsKeyError)
      throw new StartError(
        `${cause.message}${file === null ? '' : ` in ${file}`}: set SECRETS_KEY or SECRETS_KEY_FILE, see "Secrets" in docs/deployment.md`,
        { cause },
      );
    throw error;
  }
}

/** The file or the server of the registry, for messages to people. */
export function registryName({ folder, databaseUrl }: RegistryBacking): string {
  return databaseUrl === null ? inFolder(folder, 'registry.sqlite') : `PostgreSQL at ${hostOf(databaseUrl)}`;
}

type RegistryBacking = Pick<Backing, 'folder' | 'databaseUrl'>;

async function openRegistryWith(
  { folder, databaseUrl }: RegistryBacking,
  logger: Logger,
  options: Pick<RegistryOptions, 'quotas' | 'secrets' | 'onSecrets' | 'forgetLostSecrets'>,
): Promise<Registry> {
  const { openRegistry: openRegistryAt } = await import('@outrider/registry');
  if (databaseUrl === null)
    return reached(null, openRegistryAt({ path: inFolder(folder, 'registry.sqlite'), ...options }));
  return reached(
    `PostgreSQL at ${hostOf(databaseUrl)}`,
    openRegistryAt({
      url: databaseUrl,
      onIdleError: (error) => logger.warn({ err: error }, 'PostgreSQL connection lost'),
      ...options,
    }),
  );
}

/**
 * A ClickHouse server if configured, otherwise embedded ClickHouse.
 *
 * @param port port to the thread that has ClickHouse; null: this thread opens it
 */
export async function openWarehouse(
  { folder, clickhouseUrl }: Pick<Backing, 'folder' | 'clickhouseUrl'>,
  options: WarehouseOptions = {},
  port: MessagePort | null = null,
): Promise<Warehouse> {
  const { openWarehouse: openWarehouseAt } = await import('@outrider/warehouse');
  if (clickhouseUrl === null && port !== null) return openWarehouseAt({ port });
  if (clickhouseUrl === null) return openWarehouseAt({ path: inFolder(folder, 'warehouse') }, options);
  return reached(`ClickHouse at ${hostOf(clickhouseUrl)}`, openWarehouseAt({ url: clickhouseUrl }, options));
}

/** Store of videos: S3 if configured, otherwise a folder. */
export async function openVideoFiles({ folder, s3Url }: Pick<Backing, 'folder' | 's3Url'>): Promise<Files> {
  return s3Url === null ? openFolder(inFolder(folder, 'video')) : openS3({ url: s3Url });
}

/** Store of report files: in the same bucket under a name of its own, or in a separate folder. */
export async function openReportFiles({ folder, s3Url }: Pick<Backing, 'folder' | 's3Url'>): Promise<Files> {
  return openFilesNamed('reports', folder, s3Url);
}

/** Store of files of services: invoices and photos. */
export async function openServiceFiles({ folder, s3Url }: Pick<Backing, 'folder' | 's3Url'>): Promise<Files> {
  return openFilesNamed('services', folder, s3Url);
}

async function openFilesNamed(name: string, folder: Backing['folder'], s3Url: Backing['s3Url']): Promise<Files> {
  if (s3Url === null) return openFolder(inFolder(folder, name));
  const url = new URL(s3Url);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${name}`;
  return openS3({ url: url.href });
}

/**
 * @param server where the reason alone does not name it
 * @throws {StartError} that names the server that can't be used, and why
 */
async function reached<T>(server: string | null, opening: Promise<T>): Promise<T> {
  try {
    return await opening;
  } catch (error) {
    // A name with several addresses fails with a reason for each.
    const reasons = error instanceof AggregateError ? error.errors : [error];
    const said = reasons.map((reason) => (reason instanceof Error ? reason.message : String(reason))).join(', ');
    throw new StartError(server === null ? said : `${server} can't be used: ${said}`, { cause: error });
  }
}

/** Host and port, without the password. */
function hostOf(url: string): string {
  return new URL(url).host;
}

function redisTrouble(logger: Logger): (error: Error) => void {
  return (error) => logger.warn({ err: error }, 'Redis connection error');
}

function inFolder(folder: string | null, name: string): string {
  if (folder === null) throw new Error(`there is neither a server nor a folder for ${name}`);
  return join(folder, name);
}
