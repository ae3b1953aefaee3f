import { createDeadLetterOffice } from '@outrider/backing';
import type { FleetEvent, TelemetryPacket, TraceId } from '@outrider/domain';
import {
  CheckpointFencedError,
  type Checkpoints,
  eventsTopic,
  type Log,
  type LogRecord,
  type Subscription,
  type Topic,
  telemetryTopic,
} from '@outrider/log';
import {
  inSpan,
  type Logger,
  NO_SPAN,
  NO_TRACING,
  type Part,
  type Registry,
  recordedAmong,
  type Tracing,
} from '@outrider/runtime';
import { type Rows, UnfitRecordError, type Warehouse } from '@outrider/warehouse';
import { Gatherer } from './gatherer.ts';
import { type ArchiveLag, archiverMetrics } from './metrics.ts';
import { retry } from './retry.ts';

export { archiverVariables } from './settings.ts';

export interface ArchiverConfig {
  /** An insert goes out when this many rows wait for it… Default 250,000. */
  maxRows?: number;
  /** …or when the oldest has waited for this long. Default 500. */
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
  /** False while the warehouse takes nothing. */
  readonly healthy: boolean;
}

const GROUP = 'archiver';
/** Few: what was decoded of them is dead, and cheap to collect, before the next come. */
const BATCH_RECORDS = 256;

/** Consecutive records of a partition, on their way. */
interface Packed<T> {
  rows: Rows[];
  /** Those that can never be archived. */
  unfit: { partition: number; record: LogRecord<T>; error: UnfitRecordError }[];
  /** The first of the records that came in. */
  oldest: T | undefined;
  /** When the last of them was received, where that is known. */
  newestMs: number | null;
  /** The packets of it whose traces are recorded. */
  recorded: readonly TraceId[];
}

/**
 * Takes topics `telemetry` and `events` into the warehouse.
 *
 * The place in a topic is saved after its rows are durable, and the warehouse takes repeated rows for one: whatever is
 * read again after a crash changes nothing. Each topic has checkpoints of its own (`archiver/telemetry`,
 * `archiver/events`), because with several members its partitions may be another member's.
 *
 * A warehouse that fails is tried again for as long as it takes; meanwhile no more than two inserts' rows are held, and
 * the rest waits in the log. A record that can never be archived is put aside, into topic `<name>-dead`.
 */
export function createArchiver(parts: ArchiverParts): Archiver {
  const { log, checkpoints, warehouse, logger, now, tracing = NO_TRACING } = parts;
  const { maxRows = 250_000, maxDelayMs = 500, retryFirstMs = 100, retryLongestMs = 30_000 } = parts.config ?? {};
  const metrics = archiverMetrics(parts.metrics, lags);
  const giveUp = new AbortController();
  const deadLetters = createDeadLetterOffice({ log, reader: GROUP, logger, metrics: parts.metrics, now });
  const troubled = new Set<string>();
  let subscriptions: Subscription[] = [];
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  /** A topic's way into the warehouse. */
  function road<T>(
    topic: Topic<T>,
    rowsOf: (value: T) => number,
    asRows: (records: readonly LogRecord<T>[]) => Rows,
    receivedAtMsOf: (value: T) => number | null,
    onInserted: (oldest: T) => void = () => {},
    recordedOf: (records: readonly LogRecord<T>[]) => readonly TraceId[] = () => [],
  ) {
    const consumer = `${GROUP}/${topic.name}`;
    const counted = metrics.of(topic.name);
    const persistently = <R>(work: () => Promise<R>) =>
      retry(work, {
        firstMs: retryFirstMs,
        longestMs: retryLongestMs,
        giveUp: giveUp.signal,
        isFinal: (error) => error instanceof UnfitRecordError || error instanceof CheckpointFencedError,
        onRetry(error, attempt, waitMs) {
          troubled.add(topic.name);
          counted.retries.inc();
          logger.warn({ err: error, topic: topic.name, attempt, waitMs }, 'could not archive: trying again');
        },
      });

    /** Of these another member has claimed the checkpoints. */
    const fenced = new Set<number>();
    /** Of each partition that this member has: the offset below which all is archived. */
    const archived = new Map<number, number>();
    /** When the newest archived record was received, or, before the first, when this began. */
    let archivedThroughMs = now();

    async function lagOf(): Promise<ArchiveLag | null> {
      const ends = await log.endOffsets(topic).catch(() => null);
      if (ends === null) return null;
      let records = 0;
      for (const [partition, next] of archived) records += Math.max(0, (ends.get(partition) ?? 0) - next);
      return { topic: topic.name, records, seconds: records > 0 ? Math.max(0, now() - archivedThroughMs) / 1000 : 0 };
    }
    /** Of the log that the partition is read from. */
    const identities = new Map<number, string>();

    /** The rows are in the warehouse, where those that the other member brings again replace them. */
    async function savePlace(partition: number, offset: number): Promise<void> {
      try {
        const identity = identities.get(partition);
        const change = {
          offsets: { [topic.name]: offset },
          identities: identity === undefined ? {} : { [topic.name]: identity },
          changed: [],
        };
        await persistently(() => checkpoints.save(consumer, partition, change));
        log.release(topic, partition, GROUP, offset);
      } catch (error) {
        if (!(error instanceof CheckpointFencedError)) throw error;
        if (fenced.has(partition)) return;
        fenced.add(partition);
        logger.info({ topic: topic.name, partition }, 'another member has the partition now: let go of it');
      }
    }

    /** Makes rows of what can be archived: what can't is found by halving, so that a few among many cost little. */
    function packInto(packed: Packed<T>, partition: number, records: readonly LogRecord<T>[]): void {
      try {
        packed.rows.push(asRows(records));
      } catch (error) {
        const [record] = records;
        if (!(error instanceof UnfitRecordError) || record === undefined) throw error;
        if (records.length === 1) {
          packed.unfit.push({ partition, record, error });
          return;
        }
        const half = records.length >> 1;
        packInto(packed, partition, records.slice(0, half));
        packInto(packed, partition, records.slice(half));
      }
    }

    const gatherer = new Gatherer<T, Packed<T>>({
      rowsOf,
      maxRows,
      maxDelayMs,
      pack(partition, records) {
        const [first, last] = [records[0]?.value, records.at(-1)?.value];
        const newestMs = last === undefined ? null : receivedAtMsOf(last);
        const packed: Packed<T> = { rows: [], unfit: [], oldest: first, newestMs, recorded: recordedOf(records) };
        packInto(packed, partition, records);
        return packed;
      },
      async write(packed, nextOffsets, rows) {
        for (const { unfit } of packed)
          for (const { partition, record, error } of unfit)
            await persistently(() => deadLetters.take(topic, partition, record.offset, record.value, error));
        const all = packed.flatMap((each) => each.rows);
        const packets = packed.flatMap(({ recorded }) => recorded);
        const span =
          packets.length > 0
            ? tracing.begin(`archive ${topic.name}`, { packets, facts: { 'outrider.rows': rows } })
            : NO_SPAN;
        await inSpan(span, () => persistently(() => warehouse.insert(all)));
        const oldest = packed[0]?.oldest;
        if (oldest !== undefined) onInserted(oldest);
        archivedThroughMs = packed.findLast(({ newestMs }) => newestMs !== null)?.newestMs ?? archivedThroughMs;
        for (const [partition, offset] of nextOffsets) {
          if (archived.has(partition)) archived.set(partition, offset);
          await savePlace(partition, offset);
        }
        if (troubled.delete(topic.name)) logger.info({ topic: topic.name }, 'archives again');
        counted.rows.inc(rows);
        counted.inserts.inc();
      },
      onFailure(error) {
        if (giveUp.signal.aborted)
          logger.warn({ err: error, topic: topic.name }, 'stopped with records still to archive');
        else fail(error);
      },
    });

    return {
      subscribe: () =>
        log.consume(topic, {
          group: GROUP,
          maxBatchRecords: BATCH_RECORDS,
          isPatient: true,
          async startAt(partition) {
            // What was gathered under an earlier claim is of an earlier place.
            if (fenced.has(partition)) await gatherer.drain();
            const checkpoint = await checkpoints.claim(consumer, partition);
            fenced.delete(partition);
            const offset = checkpoint?.offsets[topic.name];
            const identity = checkpoint?.identities[topic.name] ?? null;
            const saved = offset === undefined ? null : { offset, identity };
            const resumption = await log.resume(topic, partition, GROUP, saved);
            identities.set(partition, resumption.identity);
            // At once: the gauge compares this with the log as it is now.
            if (resumption.discontinuity !== null) await savePlace(partition, resumption.offset);
            archived.set(partition, resumption.offset);
            return resumption.offset;
          },
          async onBatch({ partition, records }) {
            if (fenced.has(partition)) throw new CheckpointFencedError(consumer, partition);
            await gatherer.add(partition, records);
          },
          async onRevoked(partition) {
            await gatherer.drain();
            archived.delete(partition);
          },
        }),
      lag: lagOf,
      drain: () => gatherer.drain(),
    };
  }

  const roads = [
    road<TelemetryPacket>(
      telemetryTopic,
      (packet) => packet.positions.length,
      (packets) => warehouse.positionRows(packets),
      ({ receivedAtMs }) => receivedAtMs,
      ({ receivedAtMs }) => metrics.delay.set((now() - receivedAtMs) / 1000),
      (packets) => recordedAmong(tracing, packets),
    ),
    road<FleetEvent>(
      eventsTopic,
      () => 1,
      (events) => warehouse.eventRows(events),
      ({ receivedAtMs }) => receivedAtMs ?? null,
    ),
  ];

  async function lags(): Promise<readonly ArchiveLag[] | null> {
    const all = await Promise.all(roads.map((each) => each.lag()));
    return all.filter((each) => each !== null);
  }

  return {
    name: 'archiver',
    failed,
    get healthy() {
      return troubled.size === 0;
    },
    async start() {
      for (const { subscribe } of roads) {
        const subscription = await subscribe();
        subscriptions.push(subscription);
        subscription.failed.catch((error) => {
          if (!giveUp.signal.aborted) fail(error);
        });
      }
    },
    async stop() {
      // From here on a failure is not tried again: what is not archived stays in the log and comes at the next start.
      giveUp.abort();
      await Promise.allSettled(subscriptions.map((subscription) => subscription.stop()));
      subscriptions = [];
      await Promise.allSettled(roads.map(({ drain }) => drain()));
    },
  };
}
