import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import { type Log, type ReaderProgress, telemetryTopic } from '@outrider/log';
import {
  type Config,
  createDiskWatch,
  createMetricsAccess,
  FillForecast,
  freeBytes,
  Gauge,
  type Logger,
  Metrics,
  measureBuild,
  openHealthServer,
  type Watch,
} from '@outrider/runtime';
import type { variables } from './config.ts';

const MIB = 1024 * 1024;
/** Space that a start writes: write-ahead logs of three databases, ClickHouse's own files. */
const START_NEEDS_BYTES = 32 * MIB;
/** The first start also creates the archive's tables, which requires 64 MiB of the disk to remain free. */
const FIRST_START_NEEDS_BYTES = 96 * MIB;
const CHECK_EVERY_MS = 1000;
const RETRY_AFTER_SECONDS = 30;

/** Bytes that must be free on the disk of the data folder: with less the service would fail during the start. */
export function neededToStart({ DATA_DIR, CLICKHOUSE_URL }: StartPlace): number {
  const makesArchive = CLICKHOUSE_URL === null && !existsSync(join(DATA_DIR, 'warehouse', 'store'));
  return makesArchive ? FIRST_START_NEEDS_BYTES : START_NEEDS_BYTES;
}

type StartPlace = Pick<Config<typeof variables>, 'DATA_DIR' | 'CLICKHOUSE_URL'>;

/**
 * Waits until the disk of the data folder has enough space for a start. Meanwhile the port of the REST API serves
 * health and metrics, and responds with 503 to all else. A process that ended instead would be restarted again and
 * again without any report.
 *
 * @param stopped resolves when the process is to stop
 * @returns false if the process is to stop
 * @throws {Error} when the port is in use
 */
export async function waitForDisk(
  config: Pick<Config<typeof variables>, 'DISK_WARNING_MB' | 'HOST' | 'METRICS_TOKEN' | 'PORT'> & StartPlace,
  logger: Logger,
  stopped: Promise<unknown>,
): Promise<boolean> {
  const folder = await existing(resolve(config.DATA_DIR));
  const hasSpace = async () => (await freeBytes(folder)) >= neededToStart(config);
  if (await hasSpace()) return true;
  const metrics = new Metrics();
  measureBuild(metrics);
  createDiskWatch({ folder, warningMb: config.DISK_WARNING_MB, logger, metrics });
  const needed = neededToStart(config) / MIB;
  const health = await openHealthServer({
    host: config.HOST,
    port: config.PORT,
    checks: () => ({
      disk: () => Promise.reject(new Error(`less than ${needed} MB are free on the disk of DATA_DIR`)),
    }),
    metricsAccess: createMetricsAccess(() => metrics.metrics(), config.METRICS_TOKEN),
    logger,
    metrics,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
  try {
    logger.error(
      { folder, freeMb: Math.round((await freeBytes(folder)) / MIB), neededMb: needed },
      'the disk is full: waiting for space to start',
    );
    let isToStop = false;
    const stop = stopped.then(() => {
      isToStop = true;
    });
    while (!(await hasSpace())) {
      await Promise.race([SYSTEM_CLOCK.sleep(CHECK_EVERY_MS), stop]);
      if (isToStop) return false;
    }
    logger.info({ folder }, 'the disk has space again: starting');
    return true;
  } finally {
    await health.close();
  }
}

/** The folder, or its nearest existing ancestor. */
async function existing(folder: string): Promise<string> {
  const known = await stat(folder).catch(() => null);
  return known || dirname(folder) === folder ? folder : existing(dirname(folder));
}

const LOG_CHECK_EVERY_MS = 60_000;

export interface LogFillWatchParts {
  /** Path of the log. */
  path: string;
  /** The size bound of the log. */
  maxBytes: number;
  log: Pick<Log, 'readers'>;
  logger: Logger;
  metrics: Metrics;
  clock?: Clock;
  /** Default: measured from the file. */
  usedBytes?: () => number;
}

/**
 * Warns a day before the log refuses packets. At its size limit the log removes records that all readers have read, so
 * the unread part of the slowest reader determines the time.
 */
export function createLogFillWatch(parts: LogFillWatchParts): Watch {
  const { path, maxBytes, log, logger, metrics, clock = SYSTEM_CLOCK, usedBytes = () => usedBytesOf(path) } = parts;
  const forecast = new FillForecast();
  let isShort = false;
  let timer: Timer | null = null;
  new Gauge({
    name: 'outrider_log_full_in_seconds',
    help: 'Estimated seconds until unread records fill the embedded log to its size limit, from their growth; +Inf if they do not grow',
    registers: [metrics],
    collect() {
      this.set(forecast.secondsLeft ?? Number.POSITIVE_INFINITY);
    },
  });

  async function check(): Promise<void> {
    const unreadShare = unreadShareOf(await log.readers());
    forecast.note(clock.now(), maxBytes - unreadShare * usedBytes());
    const wasShort = isShort;
    isShort = forecast.isShort;
    const fullInHours = Math.round((forecast.secondsLeft ?? 0) / 3600);
    if (isShort && !wasShort) logger.warn({ fullInHours }, 'the log will be full of unread records within a day');
  }

  return {
    name: 'log fill',
    warnings: () => (isShort ? ['the log will be full of unread records within a day'] : []),
    async start() {
      await check();
      timer = clock.every(LOG_CHECK_EVERY_MS, () => {
        check().catch((error) => logger.warn({ err: error }, 'cannot read the size of the log'));
      });
      timer.unref();
    },
    async stop() {
      timer?.cancel();
    },
  };
}

/** Unread share of the slowest reader, in the topic that fills the log. */
function unreadShareOf(readers: readonly ReaderProgress[]): number {
  const shares = readers
    .filter(({ topic, end, earliest }) => topic === telemetryTopic.name && end > earliest)
    .map(({ offset, end, earliest }) => (end - Math.max(offset, earliest)) / (end - earliest));
  return Math.max(0, ...shares);
}

/** Bytes of records in the file of the log. Removed records leave free pages, which do not count. */
function usedBytesOf(path: string): number {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const read = (name: string) => Number(database.prepare(`PRAGMA ${name}`).get()?.[name]);
    return (read('page_count') - read('freelist_count')) * read('page_size');
  } finally {
    database.close();
  }
}

/** Measures the size of the log on disk. Kafka has its own metrics for that. */
export function measureLog(path: string, metrics: Metrics): void {
  new Gauge({
    name: 'outrider_log_bytes',
    help: 'Size of the embedded log on disk',
    registers: [metrics],
    async collect() {
      const files = [path, `${path}-wal`].map((file) => stat(file).catch(() => null));
      this.set((await Promise.all(files)).reduce((bytes, file) => bytes + (file?.size ?? 0), 0));
    },
  });
}
