import { MessageChannel, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import { connectHub, type Hub, serveHub } from '@outrider/hub';
import {
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

/** What a thread is given: its own share of the process's means. */
export interface ThreadParts<Settings> {
  settings: Settings;
  hub: Hub;
  logger: RootLogger;
  metrics: Registry;
  tracing: Tracing;
}

/** A service that runs in a thread of its own, as seen from the main thread. */
export interface ServiceThread<Told> extends Part {
  /** What the service told when it was ready. */
  told(): Told;
  metrics(): Promise<MetricsSnapshot>;
  /** False while the service says that it can't do its work. */
  healthy(): Promise<boolean>;
  /** What an operator has to know of it though it works. */
  warnings(): Promise<readonly string[]>;
}

interface Started {
  name: string;
  settings: unknown;
  hub: MessagePort;
  logger: { level: string; format: 'json' | 'text' };
  tracing: TracingConfig;
}
type Command = { ask: 'stop' | 'metrics' | 'healthy' | 'warnings'; id: number };
/** An error on its way to another thread, with what the copying of errors leaves out, such as `code` and `port`. */
interface Told {
  error: Error;
  facts: Record<string, unknown>;
}
type Report =
  | { ready: unknown }
  | { startFailed: Told }
  | { failed: Told }
  | { id: number; value: unknown }
  | { id: number; failure: Told };

/**
 * Runs a service in a thread: it shares no memory with the others, as it shares none when it runs in a process of its
 * own; it meets them at the log and, through a port, at the hub.
 *
 * @param entry module that calls {@link runInThread}
 * @param ports in the settings, to be transferred
 */
export function createServiceThread<Settings, Told>(
  name: string,
  entry: URL,
  settings: Settings,
  hub: Hub,
  logger: Started['logger'],
  tracing: TracingConfig,
  ports: readonly MessagePort[] = [],
): ServiceThread<Told> {
  let worker: Worker | null = null;
  let ready: { told: Told } | null = null;
  let nextId = 0;
  const asked = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  function ask(what: Command['ask']): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (worker === null) return reject(new Error(`${name} does not run`));
      const id = nextId++;
      asked.set(id, { resolve, reject });
      worker.postMessage({ ask: what, id } satisfies Command);
    });
  }

  return {
    name,
    failed,
    told() {
      if (ready === null) throw new Error(`${name} is not ready`);
      return ready.told;
    },
    metrics: () => ask('metrics') as Promise<MetricsSnapshot>,
    healthy: () => ask('healthy') as Promise<boolean>,
    warnings: () => ask('warnings') as Promise<readonly string[]>,
    async start() {
      const { port1, port2 } = new MessageChannel();
      serveHub(hub, port1);
      const started: Started = { name, settings, hub: port2, logger, tracing };
      const thread = new Worker(entry, { name, workerData: started, transferList: [port2, ...ports] });
      worker = thread;
      await new Promise<void>((resolve, reject) => {
        thread.on('message', (report: Report) => {
          if ('ready' in report) {
            ready = { told: report.ready as Told };
            resolve();
          } else if ('startFailed' in report) reject(heard(report.startFailed));
          else if ('failed' in report) fail(heard(report.failed));
          else {
            const question = asked.get(report.id);
            asked.delete(report.id);
            if ('failure' in report) question?.reject(heard(report.failure));
            else question?.resolve(report.value);
          }
        });
        thread.on('error', (error) => {
          reject(error);
          fail(error);
        });
        thread.on('exit', (code) => {
          const gone = new Error(`the thread of ${name} ended (${code})`);
          reject(gone);
          for (const { reject: refuse } of asked.values()) refuse(gone);
          asked.clear();
          if (worker !== null) fail(gone);
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

/** Inside the thread: makes the service, starts it, and answers the main thread until told to stop. */
export async function runInThread<Settings>(
  create: (parts: ThreadParts<Settings>) => Promise<{
    part: Part;
    told(): unknown;
    healthy(): boolean;
    warnings(): readonly string[];
    close(): Promise<void>;
  }>,
): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('this module runs in a worker thread only');
  const { name, settings, hub: hubPort, logger: loggerSettings, tracing: tracingConfig } = workerData as Started;
  const say = (report: Report) => port.postMessage(report);
  const hub = connectHub(hubPort);
  const metrics = new Registry();
  measureThread(name, metrics);
  try {
    const logger = createLogger(loggerSettings.level, loggerSettings.format);
    const tracing = await openTracing(tracingConfig, logger);
    const service = await create({ settings: settings as Settings, hub, logger, metrics, tracing });
    port.on('message', async ({ ask, id }: Command) => {
      try {
        if (ask === 'metrics') return say({ id, value: await snapshotOf(metrics) });
        if (ask === 'healthy') return say({ id, value: service.healthy() });
        if (ask === 'warnings') return say({ id, value: service.warnings() });
        await service.part.stop();
        await service.close();
        await tracing.close();
        await hub.close();
        say({ id, value: null });
      } catch (error) {
        say({ id, failure: told(error) });
      }
    });
    await service.part.start();
    service.part.failed?.catch((error: unknown) => say({ failed: told(error) }));
    say({ ready: service.told() });
  } catch (error) {
    say({ startFailed: told(error) });
  }
}

function told(error: unknown): Told {
  return error instanceof Error
    ? { error, facts: { ...error } }
    : { error: new Error(`not an error: ${String(error)}`), facts: {} };
}

function heard({ error, facts }: Told): Error {
  return Object.assign(error, facts);
}
