import { randomUUID } from 'node:crypto';
import { createDeadLetterOffice } from '@outrider/backing';
import type { Clock, TelemetryPacket, Timer, TraceId } from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import {
  type Batch,
  CheckpointFencedError,
  type Checkpoints,
  definitionsTopic,
  type Log,
  type Subscription,
  telemetryTopic,
} from '@outrider/log';
import {
  inSpan,
  type Logger,
  type Metrics,
  NO_TRACING,
  type Part,
  recordedAmong,
  type Span,
  type Tracing,
} from '@outrider/runtime';
import { type Lag, rulesMetrics } from './metrics.ts';
import { PartitionRules } from './partition/partition-rules.ts';

export interface RulesConfig {
  /** A checkpoint is saved after this time, … */
  checkpointMs: number;
  /** … or after this many packets, whichever comes first. */
  checkpointPackets: number;
  /** Interval of the check for silent vehicles. Default 5000. */
  silenceCheckMs?: number;
  /** Packets whose events become durable together. Default 1000. */
  batchPackets?: number;
}

export interface RulesParts {
  config: RulesConfig;
  log: Log;
  checkpoints: Checkpoints;
  hub: Hub;
  logger: Logger;
  metrics: Metrics;
  /** Default: none. */
  tracing?: Tracing;
  clock: Clock;
}

const GROUP = 'rules';
const BATCH_PACKETS = 1000;
const SILENCE_CHECK_MS = 5000;

/** The rules service. */
export interface Rules extends Part {
  readonly failed: Promise<never>;
}

/**
 * Runs the engine over topic `telemetry`: appends the events to the log and publishes the states of vehicles in the
 * hub. Each partition has an engine and a checkpoint of its own.
 */
export function createRules(parts: RulesParts): Rules {
  return new LogRules(parts);
}

class LogRules implements Rules {
  readonly name = 'rules';
  readonly failed: Promise<never>;
  readonly #parts: RulesParts;
  readonly #tracing: Tracing;
  readonly #partitions = new Map<number, PartitionRules>();
  /** Partitions whose checkpoints another member has claimed. */
  readonly #fenced = new Set<number>();
  readonly #reportedAsFenced = new WeakSet<PartitionRules>();
  readonly #metrics: ReturnType<typeof rulesMetrics>;
  readonly #deadLetters: ReturnType<typeof createDeadLetterOffice>;
  #telemetry: Subscription | null = null;
  #definitions: Subscription | null = null;
  #timers: Timer[] = [];
  #fail: (error: unknown) => void = () => {};

  constructor(parts: RulesParts) {
    this.#parts = parts;
    this.#tracing = parts.tracing ?? NO_TRACING;
    this.#metrics = rulesMetrics(
      parts.metrics,
      () => this.#vehicleCount(),
      () => this.#lag(),
    );
    this.#deadLetters = createDeadLetterOffice({ ...parts, now: parts.clock.now, reader: 'rules' });
    this.failed = new Promise<never>((_, reject) => {
      this.#fail = reject;
    });
    this.failed.catch(() => {});
  }

  async start(): Promise<void> {
    const { config, clock } = this.#parts;
    this.#definitions = await this.#followDefinitions();
    this.#definitions.failed.catch(this.#fail);
    this.#telemetry = await this.#followTelemetry().catch(async (error) => {
      await this.#definitions?.stop();
      throw error;
    });
    this.#telemetry.failed.catch(this.#fail);
    this.#timers = [
      clock.every(config.checkpointMs, () => this.#ofEach((rules) => rules.checkpoint())),
      clock.every(config.silenceCheckMs ?? SILENCE_CHECK_MS, () => this.#ofEach((rules) => rules.checkSilence())),
    ];
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) timer.cancel();
    await this.#telemetry?.stop();
    await this.#definitions?.stop();
    for (const [partition, rules] of this.#partitions)
      await rules.checkpoint().catch((error) => this.#release(partition, rules, error));
    this.#parts.logger.debug({ partitions: this.#partitions.size }, 'checkpoints saved');
  }

  async #followDefinitions(): Promise<Subscription> {
    const { log } = this.#parts;
    const ends = await log.endOffsets(definitionsTopic);
    return log.consume(definitionsTopic, {
      // Every member needs every definition, so each has a consumer group of its own.
      group: `rules-definitions-${randomUUID()}`,
      startAt: (partition) => ends.get(partition) ?? 'earliest',
      onBatch: async ({ partition, records }) => {
        await Promise.all(
          [...this.#partitions].map(([own, rules]) =>
            rules.takeDefinitions(partition, records).catch((error) => this.#release(own, rules, error)),
          ),
        );
      },
    });
  }

  #followTelemetry(): Promise<Subscription> {
    const { log, config } = this.#parts;
    return log.consume(telemetryTopic, {
      group: GROUP,
      startAt: (partition) => this.#open(partition),
      onBatch: async (batch) => {
        const rules = this.#ofPartition(batch.partition);
        try {
          const packets = recordedAmong(this.#tracing, batch.records);
          if (packets.length === 0) await rules.takePackets(batch);
          else await inSpan(this.#spanOf(batch, packets), () => rules.takePackets(batch));
        } catch (error) {
          this.#release(batch.partition, rules, error);
          throw error;
        }
      },
      onRevoked: async (partition) => {
        const rules = this.#partitions.get(partition);
        this.#partitions.delete(partition);
        this.#fenced.delete(partition);
        await rules?.checkpoint().catch((error) => this.#release(partition, rules, error));
      },
      maxBatchRecords: config.batchPackets ?? BATCH_PACKETS,
    });
  }

  /** Registers the partition before its checkpoint is read, so that it misses no change of a definition. */
  #open(partition: number): Promise<number> {
    const { config, ...parts } = this.#parts;
    const rules = new PartitionRules(partition, {
      ...parts,
      ...config,
      metrics: this.#metrics,
      deadLetters: this.#deadLetters,
    });
    this.#partitions.set(partition, rules);
    this.#fenced.delete(partition);
    return rules.open();
  }

  #ofPartition(partition: number): PartitionRules {
    const rules = this.#partitions.get(partition);
    if (!rules && this.#fenced.has(partition)) throw new CheckpointFencedError(GROUP, partition);
    if (!rules) throw new Error(`a batch of partition ${partition}, which is not open`);
    return rules;
  }

  #ofEach(work: (rules: PartitionRules) => Promise<void>): void {
    for (const [partition, rules] of this.#partitions)
      work(rules)
        .catch((error) => this.#release(partition, rules, error))
        .catch(this.#fail);
  }

  /**
   * Gives up a partition that another member has claimed. That is not a failure.
   *
   * @throws {unknown} the error, if it is a different one
   */
  #release(partition: number, rules: PartitionRules, error: unknown): void {
    if (!(error instanceof CheckpointFencedError)) throw error;
    // The partition may have been assigned again meanwhile, with other rules.
    if (this.#partitions.get(partition) === rules) {
      this.#partitions.delete(partition);
      this.#fenced.add(partition);
    }
    if (this.#reportedAsFenced.has(rules)) return;
    this.#reportedAsFenced.add(rules);
    this.#metrics.fenced.inc();
    this.#parts.logger.info({ partition }, 'another member has claimed the partition');
  }

  /** Span from the arrival of a batch until its events are durable. */
  #spanOf({ partition, records }: Batch<TelemetryPacket>, packets: readonly TraceId[]): Span {
    const facts = { 'outrider.partition': partition, 'outrider.packets': records.length };
    return this.#tracing.begin('rules batch', { packets, facts });
  }

  #vehicleCount(): number {
    let vehicles = 0;
    for (const partition of this.#partitions.values()) vehicles += partition.vehicleCount;
    return vehicles;
  }

  async #lag(): Promise<Lag | null> {
    const { log, clock } = this.#parts;
    // The log has a check of its own, which reports an outage.
    const ends = await log.endOffsets(telemetryTopic).catch(() => null);
    if (ends === null) return null;
    const lag: Lag = { packets: 0, oldestSeconds: 0, checkpointSeconds: 0 };
    for (const [partition, rules] of this.#partitions) {
      const { next, reachedAtMs, savedAtMs, unsaved } = rules.progress;
      const waiting = Math.max(0, (ends.get(partition) ?? 0) - next);
      lag.packets += waiting;
      if (waiting > 0 && reachedAtMs !== null)
        lag.oldestSeconds = Math.max(lag.oldestSeconds, (clock.now() - reachedAtMs) / 1000);
      if (unsaved) lag.checkpointSeconds = Math.max(lag.checkpointSeconds, (clock.now() - savedAtMs) / 1000);
    }
    return lag;
  }
}
