import { SYSTEM_CLOCK } from '@outrider/domain';
import type { Discontinuity, HoldUp, Log, ReaderProgress, TopicReplication } from '@outrider/log';
import { Counter, Gauge, type Logger, type Metrics } from '@outrider/runtime';

/** Reports readers that can't resume at their offset, and counts them. */
export function discontinuityReport(logger: Logger, metrics: Metrics | null): (discontinuity: Discontinuity) => void {
  const name = 'outrider_log_discontinuities_total';
  const known = metrics?.getSingleMetric(name) as Counter<'kind' | 'reader' | 'topic'> | undefined;
  const counter =
    known ??
    (metrics &&
      new Counter({
        name,
        help: 'Times a reader could not resume at its offset because records were replaced, truncated or removed',
        labelNames: ['kind', 'reader', 'topic'],
        registers: [metrics],
      }));
  return (discontinuity) => {
    const { kind, reader, topic } = discontinuity;
    logger.error({ ...discontinuity }, 'a log reader could not resume at its offset');
    counter?.inc({ kind, reader, topic });
  };
}

/**
 * Warnings about a log that works: each reader that could not resume at its offset since this process started, why
 * records from outside are refused, and each topic with fewer replicas than wanted.
 */
export function logWarnings({
  discontinuities,
  holdUp,
  replication,
}: Pick<Log, 'discontinuities' | 'holdUp' | 'replication'>): string[] {
  const lines = discontinuities.map(
    ({ kind, reader, topic }) => `records of topic ${topic} were ${kind}: ${reader} could not resume at its offset`,
  );
  if (holdUp !== null) lines.push(holdUpWarning(holdUp));
  for (const { topic, replicas, wanted } of replication)
    if (replicas < wanted) lines.push(`topic ${topic} has ${replicas} of ${wanted} replicas wanted`);
  return [...new Set(lines)];
}

function holdUpWarning({ reader, topic }: HoldUp): string {
  return `the log is at its size bound: ${reader} has not read topic ${topic}`;
}

/** Exports the distance of each reader from both ends of its partitions, and whether the log refuses records. */
export function measureLog(log: Pick<Log, 'readers' | 'holdUp' | 'replication'>, metrics: Metrics): void {
  if (metrics.getSingleMetric('outrider_log_held_up')) return;
  const registers = [metrics];
  new Gauge({
    name: 'outrider_log_held_up',
    help: '1 while the log is at its size limit and refuses packets because a reader has not read the oldest records',
    registers,
    // Each appending thread reports it.
    aggregator: 'max',
    collect() {
      this.set(log.holdUp === null ? 0 : 1);
    },
  });
  const replicationGauge = (name: string, help: string, measure: (replication: TopicReplication) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['topic'],
      registers,
      // Threads of one process see the same topics.
      aggregator: 'max',
      collect() {
        this.reset();
        for (const replication of log.replication) this.set({ topic: replication.topic }, measure(replication));
      },
    });
  replicationGauge(
    'outrider_kafka_topic_replicas',
    'Replicas of a Kafka topic: the lowest number over its partitions',
    ({ replicas }) => replicas,
  );
  replicationGauge(
    'outrider_kafka_topic_replicas_wanted',
    'Replicas a Kafka topic should have: KAFKA_REPLICATION_FACTOR, or the number of brokers if that is lower',
    ({ wanted }) => wanted,
  );
  let asking: Promise<readonly ReaderProgress[]> | null = null;
  /** All gauges of one scrape use the same query. A log that does not respond is reported by its own check. */
  const ask = () => {
    asking ??= log
      .readers()
      .catch(() => [])
      .finally(() => {
        asking = null;
      });
    return asking;
  };
  const gauge = (name: string, help: string, measure: (progress: ReaderProgress) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ['reader', 'topic', 'partition'],
      registers,
      async collect() {
        const readers = await ask();
        this.reset();
        for (const progress of readers) {
          const { reader, topic, partition } = progress;
          const value = measure(progress);
          if (value !== null) this.set({ reader, topic, partition }, value);
        }
      },
    });
  gauge('outrider_log_reader_lag_records', 'Records that a reader has not read', ({ end, offset }) =>
    Math.max(0, end - offset),
  );
  gauge(
    'outrider_log_reader_headroom_records',
    'Records between the oldest retained record and the next record of a reader. At 0, the next removal of old records may delete unread ones',
    ({ offset, earliest }) => offset - earliest,
  );
  gauge(
    'outrider_log_reader_retention_left_seconds',
    'Seconds until the brokers delete the oldest unread record of a reader',
    ({ oldestUnreadAtMs, removedAfterMs }) => {
      if (removedAfterMs === null) return null;
      const ageMs = oldestUnreadAtMs === null ? 0 : SYSTEM_CLOCK.now() - oldestUnreadAtMs;
      return (removedAfterMs - ageMs) / 1000;
    },
  );
}
