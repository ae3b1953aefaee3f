import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { drainPending, Session } from 'chdb';
import type { ChdbStatement, ChdbStatements } from './chdb-engine.ts';
import { processChannel, refuseChdb, type ServingChannel, serveChdb } from './chdb-port.ts';
import { limitError } from './engine.ts';
import { QueryPlaces } from './query-places.ts';

/*
 * The ClickHouse process, with its data in a folder. `openChdb` starts it with the folder and its spool as arguments,
 * sends statements over the channel, and ends it. When its parent process has ended, it kills itself: confirmed data is
 * on the disk.
 */

/**
 * Free disk space that ClickHouse leaves to others. With less, it neither inserts nor merges. A merge that runs out of
 * space can silently replace the merged rows by a part of empty files (libchdb 26.7, `Empty marks file`).
 */
const KEPT_FREE_BYTES = 64 * 1024 ** 2;

/**
 * Memory limits of the engine. chDB's own defaults are those of a dedicated server (caches of 5 GB each, nine tenths of
 * the machine), but here it shares the machine with the service.
 */
const ENGINE_SETTINGS = {
  max_server_memory_usage: 2 * 1024 ** 3,
  mark_cache_size: 64 * 1024 ** 2,
  index_mark_cache_size: 16 * 1024 ** 2,
  primary_index_cache_size: 64 * 1024 ** 2,
  query_condition_cache_size: 8 * 1024 ** 2,
  uncompressed_cache_size: 0,
  index_uncompressed_cache_size: 0,
  background_pool_size: 1,
  background_merges_mutations_concurrency_ratio: 2,
  max_thread_pool_size: 200,
  max_io_thread_pool_size: 8,
  // Interval of reading its memory use. The default is 20 times a second.
  memory_worker_period_ms: 1000,
  'storage_configuration.disks.default.keep_free_space_bytes': KEPT_FREE_BYTES,
} as const;

const DATABASE = 'outrider';

/** Maximum number of waiting reports; more would wait longer than users do. */
const MAX_WAITING_REPORTS = 64;
/** Maximum number of waiting quick queries. */
const MAX_WAITING_QUICK = 1000;

/** How long to wait for the process of a killed service to release the folder. */
const HELD_AT_MOST_MS = 5000;
const LOOK_EVERY_MS = 50;

/** Larger results go through a file: the channel would copy them in the main thread of the service. */
const MAX_SENT_BYTES = 64 * 1024;

/**
 * Number of concurrent reports. Each running statement holds a thread of Node's pool, which has `UV_THREADPOOL_SIZE`
 * threads (default 4). One each is left for the archiver's inserts, quick queries, health checks, and files.
 */
function reportQueues(): number {
  return Math.max(1, Math.min(4, Math.floor(Number(process.env.UV_THREADPOOL_SIZE ?? 4)) - 4 || 1));
}

/** Waits until the process that ClickHouse recorded in the folder as its owner has ended. */
async function letGo(folder: string): Promise<void> {
  const { steadyMs } = SYSTEM_CLOCK;
  const untilMs = steadyMs() + HELD_AT_MOST_MS;
  let isLast = !(await isHeld(folder));
  while (!isLast && steadyMs() < untilMs) {
    // Waits once more after the process was gone: an ending process releases its files last.
    isLast = !(await isHeld(folder));
    await SYSTEM_CLOCK.sleep(LOOK_EVERY_MS);
  }
}

/** Also false if that can't be determined: the folder is then opened, or refused, at once. */
async function isHeld(folder: string): Promise<boolean> {
  const status = await readFile(join(folder, 'status'), 'utf8').catch(() => '');
  const holder = /^PID: (\d+)$/m.exec(status)?.[1];
  if (holder === undefined || Number(holder) === process.pid) return false;
  // Process ids are reused: after the start of a container, another process may have the id.
  const command = await readFile(`/proc/${holder}/cmdline`, 'utf8').catch(() => '');
  return command.split('\0').includes(folder);
}

/** @throws {Error} when the folder can't be used: held by another process, not writable, or damaged */
function connect(folder: string): SerialSession {
  const connectionArgs = Object.entries(ENGINE_SETTINGS).map(([name, value]) => `--${name}=${value}`);
  try {
    return new SerialSession(new Session(folder, { connectionArgs }));
  } catch (cause) {
    // chDB prints the reason to standard error and does not report it.
    const causes = "another process holds it, it can't be written to, or a file in it is damaged";
    throw new Error(`The warehouse can't open ${folder}: ${causes}; ClickHouse printed which before this`, { cause });
  }
}

/** Opens the connections. A connection runs one statement at a time, so each kind of work has its own. */
async function openStatements(folder: string, spool: string): Promise<ChdbStatements & { close(): Promise<void> }> {
  await letGo(folder);
  const writer = connect(folder);
  await writer.session.queryAsync(`CREATE DATABASE IF NOT EXISTS ${DATABASE} ENGINE = Atomic`);
  const turns = (count: number) => Array.from({ length: count }, () => connect(folder));
  const [quick, report] = [turns(1), turns(reportQueues())];
  const readers = [...quick, ...report];
  const queues = {
    quick: new QueryPlaces(quick, MAX_WAITING_QUICK),
    report: new QueryPlaces(report, MAX_WAITING_REPORTS),
  };
  const prober = connect(folder);
  for (const { session } of [writer, ...readers]) await session.queryAsync(`USE ${DATABASE}`);

  /** Cancels a running statement by its name; a statement that can't be cancelled ends by its time limit. */
  const kill = (name: string) => {
    const sql = `KILL QUERY WHERE Settings['log_comment'] = '${name}' ASYNC`;
    prober.take((session) => session.queryAsync(sql)).catch(() => {});
  };

  async function execute(session: Session, { sql, parameters, name, signal }: ChdbStatement): Promise<Uint8Array> {
    signal?.throwIfAborted();
    const onAbort = () => name !== undefined && kill(name);
    signal?.addEventListener('abort', onAbort);
    try {
      const result =
        parameters !== undefined && Object.keys(parameters).length > 0
          ? await session.queryBindAsync(sql, parameters, { format: 'JSONCompact' })
          : await session.queryAsync(sql, { format: 'JSONCompact' });
      return result.bytes();
    } catch (error) {
      signal?.throwIfAborted();
      throw name === undefined ? error : limitError(error);
    } finally {
      signal?.removeEventListener('abort', onAbort);
    }
  }

  return {
    spool,
    run(statement) {
      const { queue } = statement;
      const work = (on: SerialSession) => on.take((session) => execute(session, statement));
      if (queue === 'write') return work(writer);
      return queue === 'probe' ? work(prober) : queues[queue].take(work, statement);
    },
    async close() {
      await Promise.all([writer, ...readers, prober].map((each) => each.done()));
      for (const { session } of [...readers, prober, writer]) session.close();
      await drainPending();
    },
  };
}

/**
 * A connection with a queue of its own. In chDB, statements would wait in Node's thread pool, where four of them would
 * leave no thread for anything else.
 */
class SerialSession {
  readonly session: Session;
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: Session) {
    this.session = session;
  }

  take<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => work(this.session));
    // The caller gets the failure; the queue continues. Output of a failed statement stays in the connection and would
    // precede the next result, so a dummy query consumes it.
    this.#last = turn.catch(async () => {
      await this.session.queryAsync('SELECT 1').catch(() => {});
    });
    return turn;
  }

  async done(): Promise<void> {
    await this.#last;
  }
}

// A terminal or service manager signals the whole process group. Such signals are ignored: the service ends this
// process once it has stored what it acknowledged.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));

const [folder, spool] = process.argv.slice(2) as [string, string];
const channel: ServingChannel = processChannel(process);
try {
  const statements = await openStatements(folder, spool);
  const end = () => statements.close().finally(() => process.exit());
  serveChdb(statements, channel, { maxSentBytes: MAX_SENT_BYTES, onEnd: end });
} catch (error) {
  refuseChdb(error, channel);
}
