import { mkdir, readdir, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isMainThread, type MessagePort } from 'node:worker_threads';
import type { Session } from 'chdb';
import { frozenFolder } from './archive-files.ts';
import { type ChdbStatement, type ChdbStatements, chdbEngine } from './chdb-engine.ts';
import { serveChdb } from './chdb-port.ts';
import { type Engine, limitError } from './engine.ts';
import { QueryPlaces } from './query-places.ts';

/**
 * ClickHouse leaves so much of the disk to the others. On a disk with less, it neither inserts nor merges: a merge that
 * runs out of space on its way can end as a part of empty files in place of the rows that it merged (libchdb 26.7,
 * `Empty marks file`), without an error to anybody.
 */
const KEPT_FREE_BYTES = 64 * 1024 ** 2;

/**
 * What the engine may keep in memory. chDB's own defaults are a server's (caches of 5 GB each, nine tenths of the
 * machine): here it is a guest in the service's process.
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
  // How often it reads how much memory it has: 20 times a second where nobody says.
  memory_worker_period_ms: 1000,
  'storage_configuration.disks.default.keep_free_space_bytes': KEPT_FREE_BYTES,
} as const;

const DATABASE = 'outrider';

/** In the folder of the data: files on their way in and out. */
export const SPOOL_FOLDER = 'outrider-spool';

/** Reports that may wait for their turn; more of them would wait longer than anybody does. */
const MAX_WAITING_REPORTS = 64;
/** Quick questions that may wait. */
const MAX_WAITING_QUICK = 1000;

/**
 * How many reports run side by side. Each statement that runs holds a thread of Node's pool, which is of
 * `UV_THREADPOOL_SIZE` threads, 4 where nobody says: one each is left to the archiver's inserts, to quick questions, to
 * health checks, and to everything else that the service does with files.
 */
function reportQueues(): number {
  return Math.max(1, Math.min(4, Math.floor(Number(process.env.UV_THREADPOOL_SIZE ?? 4)) - 4 || 1));
}

/**
 * ClickHouse in this process, with its data in the folder `path`.
 *
 * chDB holds one data directory per process, and a directory belongs to one process at a time: a second engine on
 * another path, or the same path opened by a second process, is refused. It may be opened in the main thread or in a
 * worker, but in one of them only: a connection closed by one thread while another has a query under way leaves that
 * query hanging for ever.
 *
 * A block goes in through a file: chDB takes an insert's data only as a part of the query's text, where binary data is
 * cut at the first bytes that look like an end of the statement. The file lives for the length of the insert in a
 * folder of the data directory, is read by `file(…, Native)` and removed; nothing waits for the disk but the insert
 * itself.
 *
 * @throws {Error} when the folder can't be used: held by another process, not writable, or a path with `* ? { }`,
 *   which the `file` function would take for a pattern
 */
export async function openChdb(path: string): Promise<ChdbEngine> {
  const folder = folderAt(path);
  const spool = spoolIn(folder);
  await mkdir(spool, { recursive: true });
  const engine = await openIn(folder, spool);
  await emptySpool(spool);
  return engine;
}

async function openIn(folder: string, spool: string): Promise<ChdbEngine> {
  // Loaded here, not at the top: the library is half a gigabyte, and a service with a ClickHouse server never needs it.
  if (!isMainThread) keepLoaded();
  const chdb = await import('chdb');
  const connectionArgs = Object.entries(ENGINE_SETTINGS).map(([name, value]) => `--${name}=${value}`);
  const connect = () => {
    try {
      return new chdb.Session(folder, { connectionArgs });
    } catch (cause) {
      // chDB prints the reason to standard error and does not report it.
      const causes = "another process holds it, it can't be written to, or a file in it is damaged";
      throw new Error(`The warehouse can't open ${folder}: ${causes}; ClickHouse printed which before this`, { cause });
    }
  };

  // A connection runs one statement at a time: each kind of work has its own, so that a report holds up neither the
  // archiver nor a health check.
  const writer = new SerialSession(connect());
  let queues: { quick: QueryPlaces<SerialSession>; report: QueryPlaces<SerialSession> };
  let readers: readonly SerialSession[];
  let prober: SerialSession;
  try {
    await writer.session.queryAsync(`CREATE DATABASE IF NOT EXISTS ${DATABASE} ENGINE = Atomic`);
    const turns = (count: number) => Array.from({ length: count }, () => new SerialSession(connect()));
    const [quick, report] = [turns(1), turns(reportQueues())];
    readers = [...quick, ...report];
    queues = { quick: new QueryPlaces(quick, MAX_WAITING_QUICK), report: new QueryPlaces(report, MAX_WAITING_REPORTS) };
    prober = new SerialSession(connect());
    for (const { session } of [writer, ...readers]) await session.queryAsync(`USE ${DATABASE}`);
    await rm(frozenFolder(folder, ''), { recursive: true, force: true });
  } catch (error) {
    writer.session.close();
    throw error;
  }

  /** Breaks a running statement off by its name; a statement that cannot be broken off ends by its time limit. */
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

  const statements: ChdbStatements = {
    spool,
    run(statement) {
      const { queue } = statement;
      const work = (turns: SerialSession) => turns.take((session) => execute(session, statement));
      if (queue === 'write') return work(writer);
      return queue === 'probe' ? work(prober) : queues[queue].take(work, statement);
    },
  };
  return {
    ...chdbEngine(statements),
    run: statements.run,
    share: (port) => serveChdb(statements, port),
    freeze: (name, whileHeld) =>
      writer.take(async (session) => {
        const tables = await session.queryAsync(
          "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
          { format: 'TSV' },
        );
        for (const table of Buffer.from(tables.bytes()).toString().trim().split('\n'))
          await session.queryAsync(`ALTER TABLE \`${table}\` FREEZE WITH NAME '${name}'`);
        await whileHeld();
      }),
    unfreeze: (name) => rm(frozenFolder(folder, name), { recursive: true, force: true }),
    async close() {
      await Promise.all([writer, ...readers, prober].map((turns) => turns.done()));
      for (const { session } of [...readers, prober, writer]) session.close();
      await chdb.drainPending();
    },
  };
}

/** The engine of {@link openChdb}, with what it runs statements by. */
export interface ChdbEngine extends Engine, Pick<ChdbStatements, 'run'> {
  share(port: MessagePort): void;
  freeze: NonNullable<Engine['freeze']>;
  unfreeze: NonNullable<Engine['unfreeze']>;
}

/**
 * The same, opened when it is first needed: the library takes 250 MB of memory. An error of the opening is that of the
 * call that needed it, and of `ping` until another call has opened it.
 *
 * @param path a folder that no other process uses
 * @param prepare called when it was opened, before anything else uses it
 * @throws {Error} when the folder can't be made, or has a path as {@link openChdb} refuses it
 */
export async function chdbWhenNeeded(path: string, prepare: (engine: Engine) => Promise<void>): Promise<Engine> {
  const folder = folderAt(path);
  const spool = spoolIn(folder);
  // At once: other threads put their files there before anything is opened.
  await mkdir(spool, { recursive: true });
  await emptySpool(spool);
  let opened: Promise<ChdbEngine> | null = null;
  let failure: { error: unknown } | null = null;
  let isClosed = false;
  let beforeQuery = async () => {};

  async function openPrepared(): Promise<ChdbEngine> {
    const engine = await openIn(folder, spool);
    try {
      await prepare(engine);
    } catch (error) {
      await engine.close();
      throw error;
    }
    return engine;
  }

  async function needed(): Promise<ChdbEngine> {
    if (isClosed) throw new Error('The warehouse is closed');
    opened ??= openPrepared();
    try {
      const engine = await opened;
      failure = null;
      return engine;
    } catch (error) {
      opened = null;
      failure = { error };
      throw error;
    }
  }

  /** Opened first: the work before a query has a bounded time, which the opening must not use up. */
  async function readable(): Promise<ChdbEngine> {
    const engine = await needed();
    await beforeQuery();
    return engine;
  }

  return {
    insert: async (table, ...blocks) => (await needed()).insert(table, ...blocks),
    async select(statement) {
      return (await readable()).select(statement);
    },
    async *file(rows) {
      yield* (await needed()).file(rows);
    },
    execute: async (sql) => (await needed()).execute(sql),
    async ping() {
      if (opened !== null) await (await opened).ping();
      else if (failure !== null) throw failure.error;
    },
    isOpen: () => opened !== null && failure === null,
    beforeQueries(work) {
      beforeQuery = work;
    },
    share(port) {
      const run = async (statement: ChdbStatement) => {
        const isQuery = statement.queue === 'quick' || statement.queue === 'report';
        return (await (isQuery ? readable() : needed())).run(statement);
      };
      serveChdb({ spool, run }, port);
    },
    freeze: async (name, whileHeld) => (await needed()).freeze(name, whileHeld),
    unfreeze: async (name) => (await needed()).unfreeze(name),
    async close() {
      isClosed = true;
      const engine = await opened?.catch(() => null);
      await engine?.close();
    },
  };
}

/** @throws {Error} when the `file` function of ClickHouse would take the path for a pattern */
function folderAt(path: string): string {
  const folder = resolve(path);
  if (/[*?{}]/.test(folder))
    throw new Error(
      `The warehouse's folder ${folder} has one of * ? { } in its path, which ClickHouse takes for a pattern`,
    );
  return folder;
}

function spoolIn(folder: string): string {
  return join(folder, SPOOL_FOLDER);
}

/** Removes what a crash left behind: the insert it belonged to was never confirmed. */
async function emptySpool(spool: string): Promise<void> {
  for (const name of await readdir(spool)) await rm(join(spool, name), { force: true });
}

/**
 * A connection whose statements wait for their turn here. Left to chDB they would wait in Node's thread pool, where
 * four of them would leave no thread for anything else.
 */
class SerialSession {
  readonly session: Session;
  #last: Promise<unknown> = Promise.resolve();

  constructor(session: Session) {
    this.session = session;
  }

  take<T>(work: (session: Session) => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => work(this.session));
    // A failure is reported to the one who took the turn; the next one goes on. What a statement had written when it
    // failed stands in the connection, before the answer to the next: that must be nobody's.
    this.#last = turn.catch(async () => {
      await this.session.queryAsync('SELECT 1').catch(() => {});
    });
    return turn;
  }

  async done(): Promise<void> {
    await this.#last;
  }
}

/**
 * Pins chDB in the process. A thread that ends unloads the native modules that no other thread has loaded, and the
 * engine's own threads, which outlive a closed connection, would then run into unmapped code.
 */
function keepLoaded(): void {
  const fromChdb = createRequire(createRequire(import.meta.url).resolve('chdb'));
  const platform = `${process.platform}-${process.arch}`;
  const folder = dirname(fromChdb.resolve(`@chdb/lib-${platform}${process.platform === 'linux' ? '-gnu' : ''}`));
  // RTLD_NODELETE, which Node has no name for: 0x1000 in glibc, 0x80 on macOS.
  const noDelete = process.platform === 'darwin' ? 0x80 : 0x1000;
  process.dlopen({ exports: {} }, join(folder, 'chdb_node.node'), constants.dlopen.RTLD_LAZY | noDelete);
}
