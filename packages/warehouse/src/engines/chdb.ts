import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import { type Clock, SYSTEM_CLOCK, type Timer } from '@outrider/domain';
import { frozenFolder } from './archive-files.ts';
import { type ChdbResult, type ChdbStatement, type ChdbStatements, chdbEngine } from './chdb-engine.ts';
import { connectChdb, processChannel, serveChdb, threadChannel } from './chdb-port.ts';
import type { Engine } from './engine.ts';

const PROCESS = new URL('./chdb-process.ts', import.meta.url);

/** Folder for input and output files, inside the data folder. */
export const SPOOL_FOLDER = 'outrider-spool';

/** A process that does not end within this is killed: what was confirmed is on the disk in any case. */
const END_MS = 10_000;

/** Opening takes a second or two, and longer on busy processors. After this time it counts as failed. */
const OPENED_WITHIN_MS = 30_000;

/** How long ClickHouse stays open after a statement: its process takes a quarter of a gigabyte. */
export interface ChdbIdle {
  /** After a user's query: more are likely to follow, and opening takes a second or two. */
  askedMs: number;
  /** After the service's own statements, such as inserts. */
  ownMs: number;
}

const FOR_EVER: ChdbIdle = { askedMs: Number.POSITIVE_INFINITY, ownMs: Number.POSITIVE_INFINITY };

export interface ChdbOptions {
  /** Called after each opening, before anything else uses the engine. */
  prepare?(engine: Engine): Promise<void>;
  /** Default: until it is closed. */
  idle?: ChdbIdle;
  /** Default: the system clock. */
  clock?: Clock;
}

/** The engine of {@link openChdb}. */
export type ChdbEngine = Engine & Required<Pick<Engine, 'beforeQueries' | 'isOpen' | 'share' | 'freeze' | 'unfreeze'>>;

/**
 * Runs ClickHouse in a separate process, with its data in the folder `path`. The first statement starts the process,
 * which ends after an idle time. The statement that needed the process gets an error of its opening, and so does `ping`
 * until it was opened. If the process dies, pending statements fail, and the next one restarts it.
 *
 * A folder belongs to one process at a time, and leftovers of a crash are removed before it is opened. The caller must
 * ensure that nothing else uses it. A second ClickHouse on it is refused.
 *
 * A block is inserted through a file: chDB takes an insert's data only as a part of the query's text, where binary data
 * is cut at the first bytes that look like an end of the statement. The file exists for the duration of the insert in a
 * folder of the data directory, is read by `file(…, Native)` and removed; only the insert itself waits for the disk.
 *
 * @throws {Error} when the folder can't be created, or its path has `* ? { }`, which the `file` function would take for
 *   a pattern
 */
export async function openChdb(path: string, options: ChdbOptions = {}): Promise<ChdbEngine> {
  const folder = folderAt(path);
  const spool = join(folder, SPOOL_FOLDER);
  // At once: other threads put their files there before anything is opened.
  await mkdir(spool, { recursive: true });
  // Files left by a crash: the inserts they belonged to were never confirmed.
  for (const name of await readdir(spool)) await rm(join(spool, name), { force: true });
  await rm(frozenFolder(folder, ''), { recursive: true, force: true });
  const chdb = new ChdbWhenNeeded(folder, spool, options);
  const { run } = chdb;
  return {
    ...chdbEngine({ spool, run }),
    ping: () => chdb.ping(),
    isOpen: () => chdb.isOpen,
    beforeQueries(work) {
      chdb.beforeQuery = work;
    },
    share: (port) => serveChdb({ spool, run }, threadChannel(port)),
    freeze: (name, whileHeld) => chdb.freeze(name, whileHeld),
    unfreeze: (name) => rm(frozenFolder(folder, name), { recursive: true, force: true }),
    close: () => chdb.close(),
  };
}

/** Connects to the engine of another thread of this process, at the other end of a port passed to its `share`. */
export async function connectThread(port: MessagePort): Promise<Engine> {
  const connected = await connectChdb(threadChannel(port));
  return { ...chdbEngine(connected), close: async () => connected.close() };
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

class ChdbWhenNeeded {
  beforeQuery: () => Promise<void> = async () => {};
  readonly #folder: string;
  readonly #spool: string;
  readonly #prepare: NonNullable<ChdbOptions['prepare']>;
  readonly #idle: ChdbIdle;
  readonly #clock: Clock;
  #opened: Promise<ChdbProcess> | null = null;
  /** Monotonic time at which opening began; null when it is not being opened. */
  #openingSinceMs: number | null = null;
  #failure: { error: unknown } | null = null;
  /** Resolves when the previous process has ended: two can't have the folder. */
  #ended: Promise<void> = Promise.resolve();
  #isClosed = false;
  readonly #uses = new Set<Promise<unknown>>();
  #openUntilMs = 0;
  #timer: Timer | null = null;
  /** Tail of the queue of writes, which allows holding them back. */
  #lastWrite: Promise<unknown> = Promise.resolve();

  constructor(folder: string, spool: string, { prepare, idle, clock }: ChdbOptions) {
    this.#folder = folder;
    this.#spool = spool;
    this.#prepare = prepare ?? (async () => {});
    this.#idle = idle ?? FOR_EVER;
    this.#clock = clock ?? SYSTEM_CLOCK;
  }

  get isOpen(): boolean {
    return this.#opened !== null && this.#failure === null;
  }

  readonly run = async (statement: ChdbStatement): Promise<ChdbResult> => {
    this.#requireUnclosed();
    const { queue, owner } = statement;
    const { askedMs, ownMs } = this.#idle;
    if (queue === 'write') return this.#inTurn(() => this.#use(ownMs, ({ run }) => run(statement)));
    if (queue === 'probe') return this.#use(0, ({ run }) => run(statement));
    return this.#use(owner === undefined ? ownMs : askedMs, async ({ run }) => {
      // Runs after the opening: the work before a query has a bounded time, which the opening must not use up.
      await this.beforeQuery();
      return run(statement);
    });
  };

  /** While the engine is being opened, reports the previous result: opening is no failure, and a check can't wait. */
  async ping(): Promise<void> {
    const sinceMs = this.#openingSinceMs;
    const isOpening = sinceMs !== null && this.#clock.steadyMs() - sinceMs < OPENED_WITHIN_MS;
    if (this.#opened !== null && !isOpening) await this.run({ sql: 'SELECT 1', queue: 'probe' });
    else if (this.#failure !== null) throw this.#failure.error;
  }

  async freeze(name: string, whileHeld: () => Promise<void>): Promise<void> {
    this.#requireUnclosed();
    return this.#inTurn(() =>
      this.#use(this.#idle.ownMs, async (chdb) => {
        const engine = chdbEngine(chdb);
        const tables = await engine.select({
          sql: "SELECT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'",
          parameters: {},
        });
        for (const [table] of tables) await engine.execute(`ALTER TABLE \`${table}\` FREEZE WITH NAME '${name}'`);
        await whileHeld();
      }),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    do await Promise.allSettled([this.#lastWrite, ...this.#uses]);
    while (this.#uses.size > 0);
    await this.#end();
  }

  /** Checked at the call, not when its turn comes: calls made before `close` still run. */
  #requireUnclosed(): void {
    if (this.#isClosed) throw new Error('The warehouse is closed');
  }

  /** Runs `work` after earlier writes. The caller gets a failure; the queue continues. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lastWrite.then(work);
    this.#lastWrite = turn.catch(() => {});
    return turn;
  }

  async #use<T>(idleMs: number, work: (chdb: ChdbStatements) => Promise<T>): Promise<T> {
    this.#timer?.cancel();
    const use = this.#needed().then(work);
    this.#uses.add(use);
    try {
      return await use;
    } finally {
      this.#uses.delete(use);
      this.#openUntilMs = Math.max(this.#openUntilMs, this.#clock.steadyMs() + idleMs);
      if (this.#uses.size === 0) this.#endLater();
    }
  }

  #endLater(): void {
    const leftMs = this.#openUntilMs - this.#clock.steadyMs();
    if (this.#isClosed || leftMs === Number.POSITIVE_INFINITY) return;
    this.#timer = this.#clock.after(leftMs, () => void this.#end());
    this.#timer.unref();
  }

  async #needed(): Promise<ChdbProcess> {
    if (this.#opened === null) {
      this.#openingSinceMs = this.#clock.steadyMs();
      this.#opened = this.#ended.then(() => this.#open());
    }
    const opening = this.#opened;
    try {
      const chdb = await opening;
      this.#failure = null;
      return chdb;
    } catch (error) {
      if (this.#opened === opening) this.#opened = null;
      this.#failure = { error };
      throw error;
    } finally {
      if (this.#opened === opening || this.#opened === null) this.#openingSinceMs = null;
    }
  }

  async #open(): Promise<ChdbProcess> {
    const chdb = await startProcess(this.#folder, this.#spool, this.#clock);
    this.#ended = chdb.ended;
    try {
      await this.#prepare({ ...chdbEngine(chdb), close: async () => {} });
    } catch (error) {
      await chdb.end();
      throw error;
    }
    const opened = this.#opened;
    void chdb.lost.then(() => {
      if (this.#opened === opened) this.#opened = null;
    });
    return chdb;
  }

  async #end(): Promise<void> {
    this.#timer?.cancel();
    const opened = this.#opened?.catch(() => null);
    this.#opened = null;
    this.#openUntilMs = 0;
    const ended = opened?.then((chdb) => chdb?.end());
    if (ended !== undefined) this.#ended = ended;
    await ended;
  }
}

interface ChdbProcess extends ChdbStatements {
  /** Resolves when the process no longer responds. */
  readonly lost: Promise<unknown>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  /** Lets running statements finish, then ends the process. */
  end(): Promise<void>;
}

async function startProcess(folder: string, spool: string, clock: Clock): Promise<ChdbProcess> {
  const child = fork(PROCESS, [folder, spool], {
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [],
  });
  // Other errors, such as of a signal to an ended process, have no effect.
  await once(child, 'spawn');
  child.on('error', () => {});
  const lost = new Promise<void>((resolve) => child.once('disconnect', resolve));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  try {
    const connected = await connectChdb(processChannel(child));
    return {
      ...connected,
      ...{ lost, ended },
      async end() {
        const timer = clock.after(END_MS, () => child.kill('SIGKILL'));
        connected.end();
        await ended;
        timer.cancel();
      },
    };
  } catch (error) {
    child.kill('SIGKILL');
    await ended;
    throw error;
  }
}
