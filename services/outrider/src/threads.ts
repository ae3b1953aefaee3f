import { MessageChannel, type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import {
  type Backing,
  logCheck,
  mergedChecks,
  openLog,
  openStores,
  openWarehouse,
  placesOf,
  type Service,
  type StartedService,
  startService,
} from '@outrider/backing';
import { SYSTEM_CLOCK } from '@outrider/domain';
import { connectHub, type Hub, serveHub } from '@outrider/hub';
import {
  collectStartGarbage,
  collectWhenQuiet,
  createLogger,
  createMetricsAccess,
  Lifecycle,
  Metrics,
  type MetricsSnapshot,
  measureThread,
  NotReadyError,
  openTracing,
  type Part,
  type ReadyCheck,
  type RootLogger,
  snapshotOf,
  type Tracing,
  type TracingConfig,
} from '@outrider/runtime';

/** Calls {@link runInThread}. */
const ENTRY = new URL('./service-thread.ts', import.meta.url);

/** A service in its own thread, as seen by the main thread. */
export interface ThreadOfService extends Part {
  /** The message that the thread sent when it was ready. */
  started(): ThreadStarted;
  metrics(): Promise<MetricsSnapshot>;
  /**
   * Runs one of the service's checks.
   *
   * @throws {NotReadyError} as the check does
   */
  check(name: string): ReturnType<ReadyCheck>;
}

export interface ThreadStarted extends Pick<StartedService, 'ports' | 'terminalPorts'> {
  /** Names of the service's checks. */
  checks: readonly string[];
}

/** Start parameters of a thread. */
export interface ThreadSettings {
  /** Module that exports the service as `service`. */
  module: string;
  config: object;
  backing: Backing;
  /** Option of the embedded log, see `SqliteLogOptions`. */
  commitGapMs: number;
  /** Port of the thread that runs chDB; null if ClickHouse is a server or not needed. */
  warehouse: MessagePort | null;
}

interface Started {
  name: string;
  settings: ThreadSettings;
  hub: MessagePort;
  logger: { level: string; format: 'json' | 'text' };
  tracing: TracingConfig;
}
type Command = { ask: 'stop' | 'metrics' | 'check'; of?: string; id: number };
/** An error for another thread, with the fields that structured cloning drops, such as `code` and `port`. */
interface ClonedError {
  error: Error;
  facts: Record<string, unknown>;
}
type Report =
  | { ready: ThreadStarted }
  | { startFailed: ClonedError }
  | { failed: ClonedError }
  | { id: number; value: unknown }
  | { id: number; failure: ClonedError };

/**
 * Runs a service in a thread. Like a separate process, the thread shares no memory with others: it exchanges data
 * through the log and, over a message port, through the hub.
 *
 * @param hub of the main thread
 * @param youngMb MiB of V8's young generation, larger for fewer collections under load; null: V8's default, 48
 */
export function createServiceThread(
  name: string,
  settings: ThreadSettings,
  hub: Hub,
  logger: Started['logger'],
  tracing: TracingConfig,
  youngMb: number | null = null,
): ThreadOfService {
  let worker: Worker | null = null;
  let ready: ThreadStarted | null = null;
  let nextId = 0;
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  function ask(what: Command['ask'], of = ''): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (worker === null) return reject(new Error(`${name} does not run`));
      const id = nextId++;
      pending.set(id, { resolve, reject });
      worker.postMessage({ ask: what, of, id } satisfies Command);
    });
  }

  return {
    name,
    failed,
    started() {
      if (ready === null) throw new Error(`${name} is not ready`);
      return ready;
    },
    metrics: () => ask('metrics') as Promise<MetricsSnapshot>,
    async check(check) {
      try {
        return (await ask('check', check)) as Awaited<ReturnType<ReadyCheck>>;
      } catch (error) {
        const { message, warnings = [] } = error as Error & { warnings?: readonly string[] };
        throw new NotReadyError(message, warnings);
      }
    },
    async start() {
      const { port1, port2 } = new MessageChannel();
      serveHub(hub, port1);
      const started: Started = { name, settings, hub: port2, logger, tracing };
      const resourceLimits = youngMb === null ? {} : { maxYoungGenerationSizeMb: youngMb };
      const ports = settings.warehouse === null ? [port2] : [port2, settings.warehouse];
      const thread = new Worker(ENTRY, { name, workerData: started, transferList: ports, resourceLimits });
      worker = thread;
      const begun = new Promise<void>((resolve, reject) => {
        thread.on('message', (report: Report) => {
          if ('ready' in report) {
            ready = report.ready;
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
          worker = null;
        });
      });
      try {
        await begun;
      } catch (error) {
        // Another thread may be started in its place.
        worker = null;
        await thread.terminate();
        throw error;
      }
    },
    async stop() {
      const thread = worker;
      if (thread === null) return;
      await ask('stop');
      worker = null;
      await thread.terminate();
    },
  };
}

/** Inside the thread: opens the service's stores, starts it, and answers the main thread until the command to stop. */
export async function runInThread(): Promise<void> {
  const port = parentPort;
  if (port === null) throw new Error('this module runs in a worker thread only');
  const { name, settings, hub: hubPort, logger: loggerSettings, tracing: tracingConfig } = workerData as Started;
  const send = (report: Report) => port.postMessage(report);
  const hub = connectHub(hubPort);
  const metrics = new Metrics();
  measureThread(name, metrics);
  try {
    const { service } = (await import(settings.module)) as { service: Service };
    const logger = createLogger(loggerSettings.level, loggerSettings.format);
    const life = new Lifecycle(logger);
    life.own('hub', () => hub.close());
    const tracing = await openTracing(tracingConfig, logger);
    life.own('traces', () => tracing.close());
    const checks: Record<string, ReadyCheck> = {};
    port.on('message', async ({ ask, of = '', id }: Command) => {
      try {
        if (ask === 'metrics') return send({ id, value: await snapshotOf(metrics) });
        if (ask === 'check') return send({ id, value: await checks[of]?.() });
        await life.stop();
        send({ id, value: null });
      } catch (error) {
        send({ id, failure: clonedError(error) });
      }
    });
    const { ports = {}, terminalPorts } = await startIn(service, settings, {
      ...{ life, hub, metrics, tracing, checks, logger },
    });
    life.failed.catch((error: unknown) => send({ failed: clonedError(error) }));
    send({ ready: { checks: Object.keys(checks), ports, ...(terminalPorts && { terminalPorts }) } });
    await collectStartGarbage();
    collectWhenQuiet();
  } catch (error) {
    send({ startFailed: clonedError(error) });
  }
}

interface ThreadContext {
  life: Lifecycle;
  hub: Hub;
  metrics: Metrics;
  tracing: Tracing;
  /** Receives the checks of the service. */
  checks: Record<string, ReadyCheck>;
  logger: RootLogger;
}

async function startIn(service: Service, settings: ThreadSettings, context: ThreadContext): Promise<StartedService> {
  const { backing, config, commitGapMs, warehouse: warehousePort } = settings;
  const { life, hub, metrics, tracing, checks, logger } = context;
  const loggerOf = (part: string) => logger.child({ part });
  const clock = SYSTEM_CLOCK;
  const { now } = clock;
  const { refresh, ...stores } = await openStores(
    service,
    { config: config as never, backing, life, loggerOf, metrics, now },
    { hub },
    {
      log: () => openLog(backing, loggerOf('log'), metrics, { commitGapMs }),
      warehouse: () => openWarehouse(backing, {}, warehousePort),
    },
  );
  const own = { ...placesOf(backing), refresh, isOwnProcess: false, checks, neighbours: {} };
  const shared = { config, life, loggerOf, metrics, metricsAccess: NO_METRICS_ACCESS, tracing, clock, now };
  const started = await startService(service, { ...shared, ...stores, ...own } as never);
  const { log } = stores;
  Object.assign(checks, mergedChecks([{ log: logCheck(log) }, started.checks ?? {}]));
  return started;
}

/** Refuses access, because the main thread exposes the metrics of this thread. */
const NO_METRICS_ACCESS = createMetricsAccess(async () => '', null);

function clonedError(error: unknown): ClonedError {
  return error instanceof Error
    ? { error, facts: { ...error } }
    : { error: new Error(`not an error: ${String(error)}`), facts: {} };
}

function restoredError({ error, facts }: ClonedError): Error {
  return Object.assign(error, facts);
}
