import { MessageChannel, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import { connectHub, type Hub, serveHub } from '@outrider/hub';
import {
  collectStartGarbage,
  collectWhenQuiet,
  createLogger,
  type MetricsSnapshot,
  measureThread,
  openTracing,
  type Part,
  Registry,
  type RootLogger,
  snapshotOf,
  type Tracing,
  type TracingConfig,
} from '@outrider/runtime';

/** What the service of a thread is created with. */
export interface ThreadParts<Settings> {
  settings: Settings;
  hub: Hub;
  logger: RootLogger;
  metrics: Registry;
  tracing: Tracing;
}

/** A service that runs in a thread of its own, as the main thread uses it. */
export interface ServiceThread<Result> extends Part {
  /** What the service returned when it was ready. */
  result(): Result;
  metrics(): Promise<MetricsSnapshot>;
  /** False while the service can't do its work. */
  healthy(): Promise<boolean>;
  /** Problems that an operator must know, although the service works. */
  warnings(): Promise<readonly string[]>;
  /** Records that the service has not processed yet, by topic. */
  behind(): Promise<Readonly<Record<string, number>>>;
}

interface Started {
  name: string;
  settings: unknown;
  hub: MessagePort;
  logger: { level: string; format: 'json' | 'text' };
  tracing: TracingConfig;
}
type Command = { ask: 'stop' | 'metrics' | 'healthy' | 'warnings' | 'behind'; id: number };
/** An error for another thread, with the fields that structured cloning drops, such as `code` and `port`. */
interface ClonedError {
  error: Error;
  facts: Record<string, unknown>;
}
type Report =
  | { ready: unknown }
  | { startFailed: ClonedError }
  | { failed: ClonedError }
  | { id: number; value: unknown }
  | { id: number; failure: ClonedError };

/**
 * Runs a service in a thread. It shares no memory with other threads, just as when it runs in a process of its own: it
 * exchanges data through the log and, over a message port, through the hub.
 *
 * @param entry module that calls {@link runInThread}
 * @param ports in the settings, to be transferred
 * @param youngMb what V8 has for new objects, which collections under load are rarer with; null: as it decides, 48
 */
export function createServiceThread<Settings, Result>(
  name: string,
  entry: URL,
  settings: Settings,
  hub: Hub,
  logger: Started['logger'],
  tracing: TracingConfig,
  ports: readonly MessagePort[] = [],
  youngMb: number | null = null,
): ServiceThread<Result> {
  let worker: Worker | null = null;
  let ready: { result: Result } | null = null;
  let nextId = 0;
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  function ask(what: Command['ask']): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (worker === null) return reject(new Error(`${name} does not run`));
      const id = nextId++;
      pending.set(id, { resolve, reject });
      worker.postMessage({ ask: what, id } satisfies Command);
    });
  }

  return {
    name,
    failed,
    result() {
      if (ready === null) throw new Error(`${name} is not ready`);
      return ready.result;
    },
    metrics: () => ask('metrics') as Promise<MetricsSnapshot>,
    healthy: () => ask('healthy') as Promise<boolean>,
    warnings: () => ask('warnings') as Promise<readonly string[]>,
    behind: () => ask('behind') as Promise<Readonly<Record<string, number>>>,
    async start() {
      const { port1, port2 } = new MessageChannel();
      serveHub(hub, port1);
      const started: Started = { name, settings, hub: port2, logger, tracing };
      const resourceLimits = youngMb === null ? {} : { maxYoungGenerationSizeMb: youngMb };
      const thread = new Worker(entry, { name, workerData: started, transferList: [port2, ...ports], resourceLimits });
      worker = thread;
      await new Promise<void>((resolve, reject) => {
        thread.on('message', (report: Report) => {
          if ('ready' in report) {
            ready = { result: report.ready as Result };
            resolve();
          } else if ('startFailed' in report) reject(restoredError(report.startFailed));
          else if ('failed' in report) fail(restoredError(report.failed));
          else {
            const request = pending.get(report.id);
            pending.delete(report.id);
            if ('failure' in report) request?.reject(restoredError(report.failure));
            else request?.resolve(report.value);
          }
        });
        thread.on('error', (error) => {
          reject(error);
          fail(error);
        });
        thread.on('exit', (code) => {
          const ended = new Error(`the thread of ${name} ended (${code})`);
          reject(ended);
          for (const { reject: refuse } of pending.values()) refuse(ended);
          pending.clear();
          if (worker !== null) fail(ended);
        });
      });
    },
    async stop() {
      await ask('stop');
      const thread = worker;
      worker = null;
      await thread?.terminate();
    },
  };
}

/** Inside the thread: creates the service, starts it, and answers the main thread until the command to stop. */
export async function runInThread<Settings>(
  create: (parts: ThreadParts<Settings>) => Promise<{
    part: Part;
    result(): unknown;
    healthy(): boolean;
    warnings(): readonly string[];
    behind(): Promise<Readonly<Record<string, number>>>;
    close(): Promise<void>;
  }>,
): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('this module runs in a worker thread only');
  const { name, settings, hub: hubPort, logger: loggerSettings, tracing: tracingConfig } = workerData as Started;
  const send = (report: Report) => port.postMessage(report);
  const hub = connectHub(hubPort);
  const metrics = new Registry();
  measureThread(name, metrics);
  try {
    const logger = createLogger(loggerSettings.level, loggerSettings.format);
    const tracing = await openTracing(tracingConfig, logger);
    const service = await create({ settings: settings as Settings, hub, logger, metrics, tracing });
    port.on('message', async ({ ask, id }: Command) => {
      try {
        if (ask === 'metrics') return send({ id, value: await snapshotOf(metrics) });
        if (ask === 'healthy') return send({ id, value: service.healthy() });
        if (ask === 'warnings') return send({ id, value: service.warnings() });
        if (ask === 'behind') return send({ id, value: await service.behind() });
        await service.part.stop();
        await service.close();
        await tracing.close();
        await hub.close();
        send({ id, value: null });
      } catch (error) {
        send({ id, failure: clonedError(error) });
      }
    });
    await service.part.start();
    service.part.failed?.catch((error: unknown) => send({ failed: clonedError(error) }));
    send({ ready: service.result() });
    await collectStartGarbage();
    collectWhenQuiet();
  } catch (error) {
    send({ startFailed: clonedError(error) });
  }
}

function clonedError(error: unknown): ClonedError {
  return error instanceof Error
    ? { error, facts: { ...error } }
    : { error: new Error(`not an error: ${String(error)}`), facts: {} };
}

function restoredError({ error, facts }: ClonedError): Error {
  return Object.assign(error, facts);
}
