import { GeofenceOwners } from '@outrider/access';
import { createGuardedHttp } from '@outrider/channels';
import type { Clock, Directory } from '@outrider/domain';
import { FEED_NAMES, type FeedLog, feedSources, Pages, readingQueue } from '@outrider/feeds';
import { DESTINATION_KINDS, ForwardingError, openTarget, type Target, type TargetContext } from '@outrider/forwarding';
import { isLogAway } from '@outrider/log';
import type { ForwardingSettlement, LeasedDestination, Registry } from '@outrider/registry';
import { type Logger, type Metrics, type Worker, worker } from '@outrider/runtime';
import { createForwarderMetrics } from './metrics.ts';
import { ForwardingRun, type RunContext } from './run.ts';

export interface ForwarderConfig {
  /** Whether plain HTTP, and addresses inside the own network, are allowed. */
  allowPrivateAddresses: boolean;
  /** Whether no other process forwards: leases from before a crash are then free at once. Default false. */
  isAlone?: boolean;
  /** Maximum destinations that this process serves at a time. Default 64. */
  atOnce?: number;
  /** Lease duration: after this time the destinations of a crashed forwarder are free. Default 60 s. */
  leaseMs?: number;
  /** Interval of the search for destinations. Default 1 s. */
  pollMs?: number;
  /** How often progress is saved while something is sent. Default 1 s. */
  saveEveryMs?: number;
}

export interface ForwarderParts {
  config: ForwarderConfig;
  log: FeedLog;
  registry: Pick<Registry, 'forwardingDestinations' | 'geofences'>;
  /** All current definitions. */
  directory: Directory;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
  /** 0 to 1. */
  random(): number;
  /** Default: the targets of `packages/forwarding`. */
  open?: (destination: LeasedDestination, context: TargetContext) => Target;
}

const AT_ONCE = 64;
/** Longer than a batch may take. */
const LEASE_MS = 60_000;
const POLL_MS = 1000;
const SAVE_EVERY_MS = 1000;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 5 * 60_000;
const LONGEST_RETRY_AFTER_MS = 3_600_000;
/** Share of a wait that is random. */
const JITTER = 0.3;
/** A process at its maximum number of destinations hands each back after this time, for those that wait. */
const TURN_MS = 60_000;
/** Time that a batch in progress has when the service stops. */
const STOP_WITHIN_MS = 5000;
const HTTP_TIMEOUT_MS = 15_000;
const HTTP_MAX_RESPONSE_BYTES = 64 * 1024;

/**
 * Forwards positions and events to the systems that accounts configured. One instance at a time serves a destination,
 * by a lease. It reads the log with offsets of the destination, which advance when the receiving system has confirmed.
 */
export function createForwarder(parts: ForwarderParts): Worker<LeasedDestination> {
  const { config, log, registry, directory, logger, metrics, clock, random } = parts;
  const {
    atOnce = AT_ONCE,
    leaseMs = LEASE_MS,
    pollMs = POLL_MS,
    saveEveryMs = SAVE_EVERY_MS,
    allowPrivateAddresses,
  } = config;
  const destinations = registry.forwardingDestinations;
  const open = parts.open ?? ((destination, context) => openTarget(destination, destination.secrets, context));
  const http = createGuardedHttp({
    allowPrivateAddresses,
    timeoutMs: HTTP_TIMEOUT_MS,
    maxResponseBytes: HTTP_MAX_RESPONSE_BYTES,
    now: clock.now,
  });
  const runs = new Set<ForwardingRun>();
  const stateOfProcess = () => ({
    running: runs.size,
    lagSeconds: Math.max(0, ...[...runs].map(({ lagSeconds }) => lagSeconds)),
  });
  const counted = createForwarderMetrics(metrics, DESTINATION_KINDS, stateOfProcess, () => destinations.counts());
  const readings = readingQueue();
  const sources = feedSources();
  const context: RunContext = {
    log,
    pages: new Map(FEED_NAMES.map((feed) => [feed, sources[feed].map((source) => new Pages(log, source, readings))])),
    owners: new GeofenceOwners(directory, (ids) => registry.geofences.ownersOf(ids)),
    directory,
    destinations,
    metrics: counted,
    leaseMs,
    saveEveryMs,
    clock,
    isToYield: (sinceMs) => runs.size >= atOnce && clock.steadyMs() - sinceMs > TURN_MS,
  };

  async function forward(destination: LeasedDestination, signal: AbortSignal): Promise<void> {
    let settlement: ForwardingSettlement = null;
    let target: Target | null = null;
    const stopping = () => clock.after(STOP_WITHIN_MS, () => void target?.close()).unref();
    signal.addEventListener('abort', stopping, { once: true });
    let run: ForwardingRun | null = null;
    try {
      target = open(destination, { id: destination.id, isTest: false, http, allowPrivateAddresses, now: clock.now });
      run = new ForwardingRun(destination, target, context);
      runs.add(run);
      await run.run(signal);
    } catch (error) {
      // An attempt that a stop interrupts has not failed.
      if (!signal.aborted) settlement = settled(destination, run?.failures ?? destination.failures, error);
    } finally {
      signal.removeEventListener('abort', stopping);
      if (run !== null) runs.delete(run);
      await target?.close();
      await destinations.settle(destination, settlement);
    }
  }

  function settled(destination: LeasedDestination, failures: number, error: unknown): ForwardingSettlement {
    const facts = { destinationId: destination.id, kind: destination.kind, failures };
    const grownMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS) * (1 + JITTER * (2 * random() - 1));
    if (error instanceof ForwardingError) {
      counted.failed(destination.kind);
      logger.warn({ ...facts, problem: error.message }, 'forwarding destination does not accept data; retrying');
      const retryMs = Math.max(grownMs, Math.min(error.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS));
      return { error: error.message, nextAttemptAtMs: clock.now() + Math.round(retryMs) };
    }
    logger.error({ ...facts, err: error }, 'forwarding failed; retrying');
    const reason = isLogAway(error) ? 'The log of this service does not answer.' : 'An error of this service.';
    return { error: reason, nextAttemptAtMs: clock.now() + Math.round(grownMs) };
  }

  const work = worker<LeasedDestination>({
    name: 'forwarder',
    atOnce,
    lease: (free) => destinations.lease(free, leaseMs),
    run: forward,
    facts: ({ id, kind }) => ({ destinationId: id, kind }),
    pollMs,
    logger,
  });
  return {
    ...work,
    get healthy() {
      return work.healthy;
    },
    get running() {
      return work.running;
    },
    async start() {
      if (config.isAlone) await destinations.releaseAll();
      await work.start();
    },
    async stop() {
      await work.stop();
      await http.close();
    },
  };
}
