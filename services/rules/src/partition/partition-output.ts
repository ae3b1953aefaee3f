import type { Clock, FleetEvent, LateInterval, TelemetryPacket, TraceId } from '@outrider/domain';
import { eventsTopic, type Log, type LogRecord, lateTopic } from '@outrider/log';
import { isDebugEnabled, type Logger } from '@outrider/runtime';
import { appendAll } from '../append-all.ts';
import type { RulesMetrics } from '../metrics.ts';
import { PublishedEvents } from './published-events.ts';

export interface OutputParts {
  log: Log;
  logger: Logger;
  metrics: RulesMetrics;
  clock: Clock;
}

/**
 * Appends the events and the intervals of late data of a partition to the log. Only the next append waits for an
 * append, so that the next packets are processed meanwhile.
 */
export class PartitionOutput {
  readonly #parts: OutputParts;
  /** Events already in the log that a replay produces again. */
  readonly published = new PublishedEvents();
  #appending: Promise<void> = Promise.resolve();

  constructor(parts: OutputParts) {
    this.#parts = parts;
  }

  /** Resolves when everything passed in up to now is durable. */
  get durable(): Promise<void> {
    return this.#appending;
  }

  /** Begins to append events, except those already in the log. */
  async append(made: FleetEvent[]): Promise<void> {
    if (made.length === 0) return;
    const { log, logger, metrics, clock } = this.#parts;
    const events = this.published.withoutPublished(made);
    metrics.replayed.inc(made.length - events.length);
    await this.#begin(async () => {
      await appendAll(log, eventsTopic, events, () => metrics.logFull.inc(), clock);
      metrics.countEvents(events);
      const receivedAtMs = events.find((event) => event.receivedAtMs != null)?.receivedAtMs ?? null;
      metrics.measure('event', receivedAtMs, clock.now());
      if (!isDebugEnabled(logger)) return;
      for (const { id, kind, phase, vehicleId, traceId } of events)
        logger.debug({ traceId, eventId: id, kind, phase, vehicleId }, 'event published');
    });
  }

  /**
   * Begins to append intervals of late data. Like events, they are appended before the checkpoint. A replay appends
   * them again, which changes nothing.
   *
   * @param records records in which the intervals were found
   */
  async appendLate(intervals: readonly LateInterval[], records: readonly LogRecord<TelemetryPacket>[]): Promise<void> {
    if (intervals.length === 0) return;
    const { log, logger, metrics, clock } = this.#parts;
    const late = intervals.map((each) => ({ ...each, hasAlarm: raisesAlarm(each, records) }));
    await this.#begin(async () => {
      await appendAll(log, lateTopic, late, () => metrics.logFull.inc(), clock);
      metrics.late.inc(late.length);
      if (!isDebugEnabled(logger)) return;
      for (const each of late) logger.debug({ traceId: traceOfLate(each, records), ...each }, 'late data');
    });
  }

  /** Begins an append once the previous one has ended. A failure is thrown to all that wait for the append. */
  async #begin(append: () => Promise<void>): Promise<void> {
    await this.#appending;
    this.#appending = append();
    this.#appending.catch(() => {});
  }
}

/** Whether a late record, or one of the same time as a late one, raises an alarm. */
function raisesAlarm(
  { vehicleId, fromMs, toMs }: LateInterval,
  records: readonly LogRecord<TelemetryPacket>[],
): boolean {
  return records.some(
    ({ value }) =>
      value.vehicleId === vehicleId &&
      value.positions.some(({ alarms, fixTimeMs }) => alarms.length > 0 && fixTimeMs >= fromMs && fixTimeMs <= toMs),
  );
}

/** Trace of the packet that contained the interval's first late fix. */
function traceOfLate(late: LateInterval, records: readonly LogRecord<TelemetryPacket>[]): TraceId | undefined {
  const found = records.find(
    ({ value }) => value.vehicleId === late.vehicleId && value.receivedAtMs === late.receivedAtMs,
  );
  return found?.value.trace?.id;
}
