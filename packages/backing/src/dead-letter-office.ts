import { SYSTEM_CLOCK, traceIdOf } from '@outrider/domain';
import { type Log, NOBODY, setAside, type Topic, type UnreadableRecord } from '@outrider/log';
import { Counter, type Logger, type Metrics } from '@outrider/runtime';

/** Stores records that a service can't process. */
export interface DeadLetterOffice {
  /** When it resolves, the record is in topic `<name>-dead`, and the reader may continue after it. */
  take<T>(topic: Topic<T>, partition: number, offset: number, record: T, error: unknown): Promise<void>;
}

export interface DeadLetterParts {
  log: Pick<Log, 'append'>;
  /** The reader that can't process the record. */
  reader: string;
  logger: Logger;
  metrics: Metrics;
  /** Unix milliseconds. */
  now(): number;
}

/**
 * Stores records that a service can't process, with the reason. Only for failures that a retry can't cure: after an
 * outage of a server the record is tried again.
 */
export function createDeadLetterOffice({ log, reader, logger, metrics, now }: DeadLetterParts): DeadLetterOffice {
  const counter = counterIn(metrics);
  return {
    async take(topic, partition, offset, record, error) {
      const letter = { topic: topic.name, partition, offset, reader, reason: reasonOf(error) };
      logger.error({ err: error, ...letter, traceId: traceIdOf(record) }, 'cannot process a record; setting it aside');
      await setAside(log, { ...letter, record: topic.encode(record) }, now());
      counter.inc({ topic: topic.name, reader });
    },
  };
}

/** Stores unreadable records as dead letters, so that readers can continue. */
export function unreadableRecords(
  log: () => Pick<Log, 'append'>,
  logger: Logger,
  metrics: Metrics | null,
): (record: UnreadableRecord) => Promise<void> {
  const counter = metrics && counterIn(metrics);
  return async ({ topic, partition, offset, bytes, error }) => {
    const letter = { topic, partition, offset, reader: NOBODY, reason: reasonOf(error) };
    logger.error({ err: error, ...letter }, 'cannot read a record; setting it aside');
    // An unreadable record of a dead-letter topic can't be moved any further.
    if (!topic.endsWith('-dead')) await setAside(log(), { ...letter, record: bytes }, SYSTEM_CLOCK.now());
    counter?.inc({ topic, reader: NOBODY });
  };
}

function counterIn(metrics: Metrics): Counter<'topic' | 'reader'> {
  const name = 'outrider_dead_letters_total';
  const known = metrics.getSingleMetric(name) as Counter<'topic' | 'reader'> | undefined;
  return (
    known ??
    new Counter({
      name,
      help: 'Records set aside because they could not be processed',
      labelNames: ['topic', 'reader'],
      registers: [metrics],
    })
  );
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
