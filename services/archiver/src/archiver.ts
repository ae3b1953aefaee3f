import { createDeadLetterOffice } from '@outrider/backing';
import type { FleetEvent, TelemetryPacket } from '@outrider/domain';
import { type Checkpoints, eventsTopic, type Log, type Subscription, telemetryTopic } from '@outrider/log';
import { type Logger, NO_TRACING, type Part, type Registry, recordedAmong, type Tracing } from '@outrider/runtime';
import type { Warehouse } from '@outrider/warehouse';
import { type ArchiveLag, archiverMetrics } from './metrics.ts';
import { GROUP, TopicArchiver } from './topic-archiver.ts';

export { archiverVariables } from './settings.ts';

export interface ArchiverConfig {
  /** An insert begins when this many rows wait for it, … Default 250,000. */
  maxRows?: number;
  /** … or when the oldest has waited for this long. Default 500. */
  maxDelayMs?: number;
  /** The wait after a first failure, and the longest. Default 100 and 30,000. */
  retryFirstMs?: number;
  retryLongestMs?: number;
}

export interface ArchiverParts {
  config?: ArchiverConfig;
  log: Pick<Log, 'consume' | 'append' | 'endOffsets' | 'resume' | 'release'>;
  checkpoints: Pick<Checkpoints, 'claim' | 'save'>;
  warehouse: Pick<Warehouse, 'positionRows' | 'eventRows' | 'insert'>;
  logger: Logger;
  metrics: Registry;
  /** Default: none. */
  tracing?: Tracing;
  /** Unix milliseconds. */
  now(): number;
}

export interface Archiver extends Part {
  readonly failed: Promise<never>;
  /** False while the warehouse is unavailable. */
  readonly healthy: boolean;
}

/**
 * Takes topics `telemetry` and `events` into the warehouse.
 *
 * A topic's offset is saved after its rows are durable, and the warehouse keeps repeated rows once: records read again
 * after a crash change nothing. Each topic has checkpoints of its own (`archiver/telemetry`, `archiver/events`),
 * because with several members its partitions may belong to another member.
 *
 * A failing warehouse is retried without end. Meanwhile at most two inserts' rows are held, and the rest waits in the
 * log. A record that can never be archived goes to topic `<name>-dead`.
 */
export function createArchiver(parts: ArchiverParts): Archiver {
  const { log, warehouse, logger, now, tracing = NO_TRACING } = parts;
  const { maxRows = 250_000, maxDelayMs = 500, retryFirstMs = 100, retryLongestMs = 30_000 } = parts.config ?? {};
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
    maxRows,
    maxDelayMs,
    retryFirstMs,
    retryLongestMs,
    stopping: stopping.signal,
    onFailure: (error: unknown) => fail(error),
  };
  const topics = [
    new TopicArchiver<TelemetryPacket>(
      {
        topic: telemetryTopic,
        rowsOf: (packet) => packet.positions.length,
        asRows: (packets) => warehouse.positionRows(packets),
        receivedAtMsOf: ({ receivedAtMs }) => receivedAtMs,
        onInserted: ({ receivedAtMs }) => metrics.delay.set((now() - receivedAtMs) / 1000),
        recordedOf: (packets) => recordedAmong(tracing, packets),
      },
      { ...shared, metrics: metrics.of(telemetryTopic.name) },
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
      // Failures are not retried from here on: what is not archived stays in the log until the next start.
      stopping.abort();
      await Promise.allSettled(subscriptions.map((subscription) => subscription.stop()));
      subscriptions = [];
      await Promise.allSettled(topics.map((topic) => topic.drain()));
    },
  };
}
