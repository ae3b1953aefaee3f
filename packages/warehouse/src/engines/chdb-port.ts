import type { ChildProcess, Serializable } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MessagePort } from 'node:worker_threads';
import type { ChdbResult, ChdbStatement, ChdbStatements } from './chdb-engine.ts';
import { BusyError, TooMuchError, WarehouseAwayError, WarehouseDamagedError, WarehouseFullError } from './engine.ts';

type Request = { id: number; statement: Omit<ChdbStatement, 'signal'> } | { abort: number } | { end: true };
type Response =
  | { spool: string }
  | { refused: SentError }
  | { id: number; rows: ChdbResult }
  | { id: number; error: SentError };

/** An error on its way to another thread or process: copying keeps no class of ours. */
interface SentError {
  name: string;
  message: string;
  what: TooMuchError['what'] | undefined;
}

/** What statements and their results go through: either end sends what the other receives. */
export interface Channel<Sent extends object, Received extends object> {
  send(message: Sent): void;
  onMessage(listener: (message: Received) => void): void;
  /** Called when nothing more comes or goes. */
  onClose(listener: () => void): void;
  close(): void;
}

/** Of the end that runs the statements. */
export type ServingChannel = Channel<Response, Request>;

/** To another thread of this process. */
export function threadChannel<S extends object, R extends object>(port: MessagePort): Channel<S, R> {
  return {
    send: (message) => port.postMessage(message),
    onMessage: (listener) => port.on('message', listener),
    onClose: (listener) => port.once('close', listener),
    close: () => port.close(),
  };
}

/** To the process that this one started, or that started this one. */
export function processChannel<S extends object, R extends object>(peer: ChildProcess | NodeJS.Process): Channel<S, R> {
  return {
    // What can't be sent is known by the end of the channel.
    send: (message) => peer.send?.(message as Serializable, undefined, undefined, () => {}),
    onMessage: (listener) => peer.on('message', listener),
    onClose: (listener) => peer.once('disconnect', listener),
    close: () => peer.disconnect?.(),
  };
}

export interface ChdbServing {
  /** Larger results are written to a file of the spool. Default: none are. */
  maxSentBytes?: number;
  /** The other end has what it asked for, and asks for nothing more. */
  onEnd?(): void;
}

/** Lets the other end of `channel` run statements. When the channel closes, its running statements are broken off. */
export function serveChdb(statements: ChdbStatements, channel: ServingChannel, serving: ChdbServing = {}): void {
  const { maxSentBytes = Number.POSITIVE_INFINITY, onEnd } = serving;
  const running = new Map<number, AbortController>();
  let isClosed = false;

  async function run(id: number, statement: ChdbStatement): Promise<void> {
    let rows = await statements.run(statement);
    if (rows instanceof Uint8Array && rows.byteLength > maxSentBytes) rows = await asFile(id, rows);
    channel.send({ id, rows });
    // The other end takes it away, where there is one.
    if (isClosed && 'file' in rows) await rm(rows.file, { force: true });
  }

  /** As they are, where the disk is full. */
  async function asFile(id: number, rows: Uint8Array): Promise<ChdbResult> {
    const file = join(statements.spool, `${process.pid}-${id}.rows`);
    try {
      await writeFile(file, rows);
      return { file };
    } catch {
      await rm(file, { force: true });
      return rows;
    }
  }

  channel.onMessage(async (request) => {
    if ('abort' in request) return running.get(request.abort)?.abort();
    if ('end' in request) return onEnd?.();
    const { id, statement } = request;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      await run(id, { ...statement, signal: controller.signal });
    } catch (error) {
      channel.send({ id, error: sentError(error) });
    } finally {
      running.delete(id);
    }
  });
  channel.onClose(() => {
    isClosed = true;
    for (const controller of running.values()) controller.abort();
  });
  channel.send({ spool: statements.spool });
}

/** Has {@link connectChdb} at the other end throw an error. */
export function refuseChdb(error: unknown, channel: ServingChannel): void {
  channel.send({ refused: sentError(error) });
}

export interface ConnectedChdb extends ChdbStatements {
  /** Nothing more is asked for: has the other end finish. */
  end(): void;
  close(): void;
}

/**
 * ClickHouse at the other end of a channel given to {@link serveChdb}.
 *
 * @throws {Error} when it was refused
 * @throws {WarehouseAwayError} when the channel closes before
 */
export async function connectChdb(channel: Channel<Request, Response>): Promise<ConnectedChdb> {
  const waiting = new Map<number, { resolve(rows: ChdbResult): void; reject(error: Error): void }>();
  let nextId = 0;
  let isClosed = false;
  const away = () => new WarehouseAwayError('The process that has ClickHouse ended');
  const spool = await new Promise<string>((resolve, reject) => {
    channel.onMessage((response) => {
      if ('spool' in response) return resolve(response.spool);
      if ('refused' in response) return reject(receivedError(response.refused));
      const call = waiting.get(response.id);
      waiting.delete(response.id);
      if ('error' in response) call?.reject(receivedError(response.error));
      else call?.resolve(response.rows);
    });
    channel.onClose(() => {
      isClosed = true;
      reject(away());
      for (const call of waiting.values()) call.reject(away());
      waiting.clear();
    });
  });

  return {
    spool,
    async run({ signal, ...statement }) {
      signal?.throwIfAborted();
      if (isClosed) throw away();
      const id = nextId++;
      const abort = () => channel.send({ abort: id });
      signal?.addEventListener('abort', abort);
      try {
        return await new Promise<ChdbResult>((resolve, reject) => {
          waiting.set(id, { resolve, reject });
          channel.send({ id, statement });
        });
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    },
    end: () => channel.send({ end: true }),
    close: () => channel.close(),
  };
}

function sentError(error: unknown): SentError {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { name, message, what: error instanceof TooMuchError ? error.what : undefined };
}

function receivedError({ name, message, what }: SentError): Error {
  if (what !== undefined) return new TooMuchError(what, new Error(message));
  for (const Class of [BusyError, WarehouseDamagedError, WarehouseFullError, WarehouseAwayError])
    if (Class.name === name) return new Class(message);
  return new Error(message);
}
