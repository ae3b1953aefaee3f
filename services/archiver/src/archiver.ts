import { createDeadLetterOffice } from '@outrider/backing';
import { type Clock, type FleetEvent, IMPORT_PROTOCOL } from '@outrider/domain';
import {
  type Checkpoints,
  eventsTopic,
  type Log,
  NOBODY,
  type Subscription,
  type TelemetryRecord,
  telemetryRecordsTopic,
} from '@outrider/log';
import { type Logger, type Metrics, NO_TRACING, type Part, recordedAmong, type Tracing } from '@outrider/runtime';
import type { Warehouse } from '@outrider/warehouse';
import { positionRows } from './fit-rows.ts';
import { type ArchiveLag, archiverMetrics } from './metrics.ts';
import { GROUP, TopicArchiver } from './topic-archiver.ts';

export interface ArchiverConfig {
  /** An insert begins when this many rows wait for it, … Default 250,000. */
  maxRows?: number;
  /** … or when the oldest has waited for this long. Default 500. */
  maxDelayMs?: number;
  /**
   * The same while nobody reads the archive, if all readers call {@link Archiver.hurry} first. Default: `maxDelayMs`.
   */
  maxUnreadDelayMs?: number;
  /** The wait after a first failure, and the maximum wait. Default 100 and 30,000. */
  retryFirstMs?: number;
  retryLongestMs?: number;
}

export interface ArchiverParts {
  config?: ArchiverConfig;
  log: Pick<Log, 'consume' | 'append' | 'endOffsets' | 'resume' | 'release'>;
  checkpoints: Pick<Checkpoints, 'claim' | 'save'>;
  warehouse: Pick<Warehouse, 'positionRows' | 'eventRows' | 'insert'>;
  logger: Logger;
  metrics: Metrics;
  /** Default: none. */
  tracing?: Tracing;
  clock: Clock;
}

export interface Archiver extends Part {
  readonly failed: Promise<never>;
  /** False while the warehouse is unavailable. */
  readonly healthy: boolean;
  /** Whether this archiver has the first partition of the telemetry. One of several archivers has it. */
  readonly isFirst: boolean;
  /**
   * Prepares a read of the archive. Resolves when everything that has waited for `maxDelayMs` is inserted, or after a
   * second; at once while the warehouse is unavailable.
   */
  hurry(): Promise<void>;
}

/** Maximum time for which a warehouse that takes no rows delays a reader. */
const MAX_HURRY_MS = 1000;

/**
 * Archives topics `telemetry` and `events` in the warehouse.
 *
 * A topic's offset is saved after its rows are durable, and the warehouse keeps repeated rows once: records read again
 * after a crash change nothing. Each topic has checkpoints of its own (`archiver/telemetry`, `archiver/events`),
 * because with several members its partitions may belong to another member.
 *
 * A failing warehouse is retried without end. Meanwhile at most two inserts' rows are held, and the rest waits in the
 * log. A record that can never be archived goes to topic `<name>-dead`.
 */
export function createArchiver(parts: ArchiverParts): Archiver {
  const { log, warehouse, logger, clock, tracing = NO_TRACING } = parts;
  const { now } = clock;
  const { maxRows = 250_000, maxDelayMs = 500, retryFirstMs = 100, retryLongestMs = 30_000 } = parts.config ?? {};
  const { maxUnreadDelayMs = maxDelayMs } = parts.config ?? {};
  /** Rows that only wait for a reader are not late. */
  const unreadMs = maxUnreadDelayMs - maxDelayMs;
  const metrics = archiverMetrics(parts.metrics, lags);
  const stopping = new AbortController();
  let subscriptions: Subscription[] = [];
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  const shared = {
    ...parts,
    tracing,
    deadLetters: createDeadLetterOffice({ log, reader: GROUP, logger, metrics: parts.metrics, now }),
    unreadable: createDeadLetterOffice({ log, reader: NOBODY, logger, metrics: parts.metrics, now }),
    maxRows,
    maxDelayMs: maxUnreadDelayMs,
    maxAskedDelayMs: maxDelayMs,
    retryFirstMs,
    retryLongestMs,
    stopping: stopping.signal,
    onFailure: (error: unknown) => fail(error),
  };
  const topics = [
    new TopicArchiver<TelemetryRecord>(
      {
        topic: telemetryRecordsTopic,
        rowsOf: ({ rows }) => rows,
        asRows: (packets) => positionRows(warehouse, packets),
        receivedAtMsOf: ({ protocol, receivedAtMs }) => (protocol === IMPORT_PROTOCOL ? null : receivedAtMs),
        onInserted({ protocol, receivedAtMs }) {
          // The reception time of imported history is the time when it happened: its age is no delay.
          if (protocol === IMPORT_PROTOCOL) return;
          metrics.delay.set(Math.max(0, now() - receivedAtMs - unreadMs) / 1000);
        },
        recordedOf: (packets) => recordedAmong(tracing, packets),
      },
      { ...shared, metrics: metrics.of(telemetryRecordsTopic.name) },
    ),
    new TopicArchiver<FleetEvent>(
      {
        topic: eventsTopic,
        rowsOf: () => 1,
        asRows: (events) => warehouse.eventRows(events),
        receivedAtMsOf: ({ receivedAtMs }) => receivedAtMs ?? null,
      },
      { ...shared, metrics: metrics.of(eventsTopic.name) },
    ),
  ];

  async function lags(): Promise<readonly ArchiveLag[] | null> {
    const all = await Promise.all(topics.map((each) => each.lag()));
    return all.filter((each) => each !== null);
  }

  return {
    name: 'archiver',
    failed,
    get healthy() {
      return topics.every(({ isHealthy }) => isHealthy);
    },
    get isFirst() {
      return topics[0]?.has(0) ?? false;
    },
    async hurry() {
      if (!topics.every(({ isHealthy }) => isHealthy)) return;
      const waited = new AbortController();
      const hurried = Promise.all(topics.map((topic) => topic.hurry()));
      // A failure is reported by the write itself.
      await Promise.race([hurried.catch(() => {}), clock.pause(MAX_HURRY_MS, waited.signal)]);
      waited.abort();
    },
    async start() {
      for (const topic of topics) {
        const subscription = await topic.subscribe();
        subscriptions.push(subscription);
        subscription.failed.catch((error) => {
          if (!stopping.signal.aborted) fail(error);
        });
      }
    },
    async stop() {
      // Failures are not retried from here on: records that are not archived stay in the log until the next start.
      stopping.abort();
      await Promise.allSettled(subscriptions.map((subscription) => subscription.stop()));
      subscriptions = [];
      await Promise.allSettled(topics.map((topic) => topic.drain()));
    },
  };
}
