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

/** An error to be sent to another thread or process: structured cloning does not preserve custom classes. */
interface SentError {
  name: string;
  message: string;
  what: TooMuchError['what'] | undefined;
}

/** Carries statements and their results: each end sends what the other receives. */
export interface Channel<Sent extends object, Received extends object> {
  send(message: Sent): void;
  onMessage(listener: (message: Received) => void): void;
  /** Called when the channel has closed. */
  onClose(listener: () => void): void;
  close(): void;
}

/** Channel of the end that runs the statements. */
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
    // Send errors are ignored: the channel then closes.
    send: (message) => peer.send?.(message as Serializable, undefined, undefined, () => {}),
    onMessage: (listener) => peer.on('message', listener),
    onClose: (listener) => peer.once('disconnect', listener),
    close: () => peer.disconnect?.(),
  };
}

export interface ChdbServing {
  /** Larger results are written to a file of the spool. Default: none are. */
  maxSentBytes?: number;
  /** Called when the other end has all its results, and will send no more statements. */
  onEnd?(): void;
}

/** Runs statements for the other end of `channel`. When the channel closes, its running statements are cancelled. */
export function serveChdb(statements: ChdbStatements, channel: ServingChannel, serving: ChdbServing = {}): void {
  const { maxSentBytes = Number.POSITIVE_INFINITY, onEnd } = serving;
  const running = new Map<number, AbortController>();
  let isClosed = false;

  async function run(id: number, statement: ChdbStatement): Promise<void> {
    let rows = await statements.run(statement);
    if (rows instanceof Uint8Array && rows.byteLength > maxSentBytes) rows = await asFile(id, rows);
    channel.send({ id, rows });
    // Removed here if the channel has closed; otherwise the other end removes the file.
    if (isClosed && 'file' in rows) await rm(rows.file, { force: true });
  }

  /** Returns the rows unchanged if the disk is full. */
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

/** Makes {@link connectChdb} at the other end throw an error. */
export function refuseChdb(error: unknown, channel: ServingChannel): void {
  channel.send({ refused: sentError(error) });
}

export interface ConnectedChdb extends ChdbStatements {
  /** Asks the other end to finish: no more statements follow. */
  end(): void;
  close(): void;
}

/**
 * Connects to ClickHouse at the other end of a channel passed to {@link serveChdb}.
 *
 * @throws {Error} when the other end refused
 * @throws {WarehouseAwayError} when the channel closes first
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
