import type { MessagePort } from 'node:worker_threads';
import type { ChdbStatement, ChdbStatements } from './chdb-engine.ts';
import { chdbEngine } from './chdb-engine.ts';
import { BusyError, type Engine, TooMuchError, WarehouseAwayError, WarehouseFullError } from './engine.ts';

type Request = { id: number; statement: Omit<ChdbStatement, 'signal'> } | { abort: number };
type Response = { spool: string } | { id: number; rows: Uint8Array } | { id: number; error: SentError };

/** An error on its way to another thread: copying keeps no class of ours. */
interface SentError {
  name: string;
  message: string;
  what: TooMuchError['what'] | undefined;
}

/**
 * Lets the thread at the other end of `port` run statements. When the port closes, its running statements are broken
 * off.
 */
export function serveChdb(statements: ChdbStatements, port: MessagePort): void {
  const running = new Map<number, AbortController>();
  const send = (response: Response) => port.postMessage(response);

  port.on('message', async (request: Request) => {
    if ('abort' in request) return running.get(request.abort)?.abort();
    const { id, statement } = request;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const rows = await statements.run({ ...statement, signal: controller.signal });
      send({ id, rows });
    } catch (error) {
      send({ id, error: sentError(error) });
    } finally {
      running.delete(id);
    }
  });
  port.on('close', () => {
    for (const controller of running.values()) controller.abort();
  });
  send({ spool: statements.spool });
}

/** chDB that another thread of this process has loaded, at the other end of a port given to {@link serveChdb}. */
export async function connectChdb(port: MessagePort): Promise<Engine> {
  const waiting = new Map<number, { resolve(rows: Uint8Array): void; reject(error: Error): void }>();
  let nextId = 0;
  let isClosed = false;
  const spool = await new Promise<string>((resolve, reject) => {
    port.on('message', (response: Response) => {
      if ('spool' in response) return resolve(response.spool);
      const call = waiting.get(response.id);
      waiting.delete(response.id);
      if ('error' in response) call?.reject(receivedError(response.error));
      else call?.resolve(response.rows);
    });
    port.on('close', () => {
      isClosed = true;
      const error = new WarehouseAwayError('The thread that has ClickHouse ended');
      reject(error);
      for (const call of waiting.values()) call.reject(error);
      waiting.clear();
    });
  });

  const statements: ChdbStatements = {
    spool,
    async run({ signal, ...statement }) {
      signal?.throwIfAborted();
      if (isClosed) throw new WarehouseAwayError('The port to ClickHouse is closed');
      const id = nextId++;
      const abort = () => port.postMessage({ abort: id } satisfies Request);
      signal?.addEventListener('abort', abort);
      try {
        return await new Promise<Uint8Array>((resolve, reject) => {
          waiting.set(id, { resolve, reject });
          port.postMessage({ id, statement } satisfies Request);
        });
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      } finally {
        signal?.removeEventListener('abort', abort);
      }
    },
  };
  return {
    ...chdbEngine(statements),
    async close() {
      port.close();
    },
  };
}

function sentError(error: unknown): SentError {
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  return { name, message, what: error instanceof TooMuchError ? error.what : undefined };
}

function receivedError({ name, message, what }: SentError): Error {
  if (what !== undefined) return new TooMuchError(what, new Error(message));
  for (const Class of [BusyError, WarehouseFullError, WarehouseAwayError])
    if (Class.name === name) return new Class(message);
  return new Error(message);
}
