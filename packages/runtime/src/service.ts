import { type Clock, SYSTEM_CLOCK } from '@outrider/domain';
import { collectDefaultMetrics } from 'prom-client';
import { measureBuild } from './build-info.ts';
import { type Config, describeConfig, oneOf, port, readConfig, textOr, type Variables } from './config.ts';
import { allowedConnections } from './health/descriptor-limit.ts';
import { createDescriptorWatch } from './health/descriptor-watch.ts';
import { openHealthServer, openMetricsServer } from './health/health-server.ts';
import { type ReadyCheck, readiness } from './health/readiness.ts';
import { logWarnings } from './health/warnings.ts';
import { Lifecycle } from './lifecycle.ts';
import { createLogger, type Logger, type RootLogger } from './logger.ts';
import { createMetricsAccess, type MetricsAccess, metricsVariables } from './metrics-access.ts';
import { logPrivateFolder, makePrivateFolder } from './private-folder.ts';
import { Gauge, Metrics } from './prometheus.ts';
import { expectShortLives } from './short-lived.ts';
import { explainStart } from './start-error.ts';
import { collectStartGarbage, collectWhenQuiet } from './start-garbage.ts';
import { stopSignal } from './stop-signal.ts';
import { openTracing, type Tracing, tracingConfigOf, tracingVariables } from './tracing/index.ts';

/** Settings of a service's log. */
export const loggerVariables = {
  LOG_LEVEL: oneOf(['debug', 'info', 'warn', 'error'], 'info', 'Lowest level of log lines that are written.'),
  LOG_FORMAT: oneOf(['text', 'json'], 'text', '`text` to read, `json` for log collectors.'),
} satisfies Variables;

/** Setting of the address on which a service listens. */
export const hostVariables = {
  HOST: textOr('0.0.0.0', 'Address that all ports listen on.'),
} satisfies Variables;

/** Settings of every service that runs in a process of its own. */
export const serviceVariables = {
  ...hostVariables,
  HEALTH_PORT: port(9464, 'Port for health and metrics of a service that runs as its own process.'),
  ...metricsVariables,
  ...loggerVariables,
  ...tracingVariables,
} satisfies Variables;

export interface ServiceParts<V extends Variables> {
  config: Config<V> & Config<typeof serviceVariables>;
  logger: RootLogger;
  metrics: Metrics;
  /** Guards the access to the metrics. */
  metricsAccess: MetricsAccess;
  /** For `/health/ready`: checks the process itself. */
  processCheck: ReadyCheck;
  tracing: Tracing;
  /** Stops everything that was started or is owned, in reverse order. */
  life: Lifecycle;
  clock: Clock;
  /** The clock's `now`: Unix milliseconds. */
  now: () => number;
}

/** A service that has started. */
export interface RunningService {
  /** Parts by name, for `/health/ready`. */
  checks: Readonly<Record<string, ReadyCheck>>;
  ports?: Readonly<Record<string, number>>;
}

/**
 * A service that cannot save its work in this time, because its servers are unavailable, is terminated: it reads that
 * work again.
 */
const STOP_WITHIN_MS = 25_000;
/** The same if the start was not complete. */
const START_ENDS_WITHIN_MS = 5000;

/**
 * Runs a service in this process until a signal stops it (SIGINT, SIGTERM) or it fails: reads the settings, serves
 * health and metrics, starts it, and stops it in order. Ends the process with 0 after a signal, and with 1 when it
 * could not start or failed, so that its supervisor starts it again.
 *
 * When it runs and `LOG_FORMAT` is `json`, it writes `{"ready":true,…}` with its ports to standard output.
 */
export async function runService<V extends Variables>(
  name: string,
  variables: V,
  start: (parts: ServiceParts<V>) => Promise<RunningService>,
): Promise<never> {
  expectShortLives();
  const stopped = stopSignal();
  const clock = SYSTEM_CLOCK;
  try {
    const all = { ...variables, ...serviceVariables };
    const config = readConfig(all, process.env) as Config<V> & Config<typeof serviceVariables>;
    const logger = createLogger(config.LOG_LEVEL, config.LOG_FORMAT).child({ part: name });
    logWarnings(logger);
    logger.debug({ config: describeConfig(all, config as never) }, 'configuration');
    const { DATA_DIR: folder } = config as { DATA_DIR?: string };
    if (folder !== undefined) logPrivateFolder(folder, makePrivateFolder(folder), logger);
    const life = new Lifecycle(logger);
    const metrics = new Metrics();
    collectDefaultMetrics({ register: metrics });
    measureBuild(metrics);
    let checks: Readonly<Record<string, ReadyCheck>> = { start: () => Promise.reject(new Error('it starts')) };
    new Gauge({
      name: 'outrider_part_ready',
      help: '1 if a part of the service is ready, otherwise 0',
      labelNames: ['part'],
      registers: [metrics],
      async collect() {
        const { parts } = await readiness(checks, SILENT);
        this.reset();
        for (const [part, { status }] of Object.entries(parts)) this.set({ part }, status === 'ok' ? 1 : 0);
      },
    });
    const metricsAccess = createMetricsAccess(() => metrics.metrics(), config.METRICS_TOKEN);
    const served = { host: config.HOST, metricsAccess, logger, metrics };
    const health = await openHealthServer({ ...served, port: config.HEALTH_PORT, checks: () => checks });
    life.own('health', () => health.close());
    const ports: Record<string, number> = { health: health.port };
    if (config.METRICS_PORT !== null) {
      const metricsServer = await openMetricsServer({ ...served, port: config.METRICS_PORT });
      life.own('metrics', () => metricsServer.close());
      ports.metrics = metricsServer.port;
    }
    const descriptors = createDescriptorWatch({ logger, metrics, allowed: allowedConnections(all, config as never) });
    await life.start(descriptors);
    const processCheck: ReadyCheck = async () => ({ warnings: descriptors.warnings() });
    const tracing = await openTracing(tracingConfigOf(config as never, `outrider-${name}`), logger);
    // Closed last, because other parts create spans until they are closed.
    life.own('traces', () => tracing.close());

    let reason: unknown;
    let hasStarted = false;
    try {
      const started = start({
        config,
        logger,
        metrics,
        metricsAccess,
        processCheck,
        tracing,
        life,
        clock,
        now: clock.now,
      });
      started.catch(() => {});
      const running = await Promise.race([started, stopped]);
      hasStarted = typeof running !== 'string';
      if (typeof running === 'string') reason = running;
      else {
        checks = { ...running.checks, process: processCheck };
        printReady(name, config.LOG_FORMAT, { ...ports, ...running.ports });
        await collectStartGarbage();
        collectWhenQuiet();
        reason = await Promise.race([stopped, life.failed.catch((error: unknown) => error)]);
      }
    } catch (error) {
      reason = error;
    }
    checks = { stop: () => Promise.reject(new Error('it stops')) };
    if (typeof reason === 'string') logger.info({ signal: reason }, 'stopping');
    const endsWithinMs = hasStarted ? STOP_WITHIN_MS : START_ENDS_WITHIN_MS;
    const overdue = clock.after(endsWithinMs, () => {
      logger.error('did not stop in time');
      process.exit(1);
    });
    overdue.unref();
    // A failure to stop is only logged: the error to report is the reason for stopping.
    const clean = await life.stop().then(
      () => true,
      () => false,
    );
    if (typeof reason !== 'string') throw reason;
    logger.info('stopped');
    process.exit(clean ? 0 : 1);
  } catch (error) {
    process.stderr.write(`outrider ${name}: ${explainStart(error)}\n`);
    process.exit(1);
  }
}

/** For metrics requests, which come every few seconds: only readiness requests log failures. */
const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {}, fatal() {} };

function printReady(name: string, format: 'text' | 'json', ports: Readonly<Record<string, number>>): void {
  if (format === 'json') process.stdout.write(`${JSON.stringify({ ready: true, service: name, ports })}\n`);
  else {
    const listed = Object.entries(ports).map(([what, number]) => `${what} on port ${number}`);
    process.stdout.write(`outrider ${name} is ready: ${listed.join(', ')}\n`);
  }
}
