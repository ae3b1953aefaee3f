import { randomUUID } from 'node:crypto';
import { createDeadLetterOffice } from '@outrider/backing';
import type { TelemetryPacket, TraceId } from '@outrider/domain';
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
  NO_TRACING,
  type Part,
  type Registry,
  recordedAmong,
  type Span,
  type Tracing,
} from '@outrider/runtime';
import { type Lag, rulesMetrics } from './metrics.ts';
import { PartitionRules } from './partition-rules.ts';

export {
  createRecalculator,
  MAX_LATE_MS,
  RECALCULATIONS,
  type Recalculator,
  type RecalculatorConfig,
  type RecalculatorParts,
} from './recalculation/recalculator.ts';
export { rulesConfigOf, rulesVariables } from './settings.ts';

export interface RulesConfig {
  /** A checkpoint is saved after so many milliseconds … */
  checkpointMs: number;
  /** … or so many packets, whichever comes first. */
  checkpointPackets: number;
  /** It is looked every so many milliseconds which vehicles have gone silent. Default 5000. */
  lookMs?: number;
  /** Packets in one batch: what becomes durable, and known to the hub, together. Default 1000. */
  batchPackets?: number;
}

export interface RulesParts {
  config: RulesConfig;
  log: Log;
  checkpoints: Checkpoints;
  hub: Hub;
  logger: Logger;
  metrics: Registry;
  /** Default: none. */
  tracing?: Tracing;
  /** Unix milliseconds. */
  now(): number;
}

const GROUP = 'rules';
const BATCH_PACKETS = 1000;
const LOOK_MS = 5000;

/**
 * The rules at work: takes telemetry and definitions from the log, steps the engine, puts the events into the log, and
 * tells the hub where vehicles are. Each partition of the telemetry has an engine and a checkpoint of its own.
 */
export function createRules({ config, metrics: registry, ...parts }: RulesParts): Part & { failed: Promise<never> } {
  const { log, logger, tracing = NO_TRACING } = parts;
  const partitions = new Map<number, PartitionRules>();
  /** Of these another member has claimed the checkpoints. */
  const fenced = new Set<number>();
  const told = new WeakSet<PartitionRules>();
  const metrics = rulesMetrics(
    registry,
    () => {
      let vehicles = 0;
      for (const partition of partitions.values()) vehicles += partition.vehicleCount;
      return vehicles;
    },
    lag,
  );
  const deadLetters = createDeadLetterOffice({ ...parts, metrics: registry, reader: 'rules' });
  let telemetry: Subscription | null = null;
  let definitions: Subscription | null = null;
  let timers: NodeJS.Timeout[] = [];
  let fail: (error: unknown) => void = () => {};
  const failed = new Promise<never>((_, reject) => {
    fail = reject;
  });
  failed.catch(() => {});

  /** Known to the definitions' consumer from here on, so that no change falls between reading and following. */
  function open(partition: number): Promise<number> {
    const rules = new PartitionRules(partition, { ...parts, ...config, metrics, deadLetters });
    partitions.set(partition, rules);
    fenced.delete(partition);
    return rules.open();
  }

  function ofPartition(partition: number): PartitionRules {
    const rules = partitions.get(partition);
    if (!rules && fenced.has(partition)) throw new CheckpointFencedError(GROUP, partition);
    if (!rules) throw new Error(`a batch of partition ${partition}, which is not open`);
    return rules;
  }

  async function lag(): Promise<Lag | null> {
    // A log that is away is told by its own check.
    const ends = await log.endOffsets(telemetryTopic).catch(() => null);
    if (ends === null) return null;
    const told: Lag = { packets: 0, oldestSeconds: 0, checkpointSeconds: 0 };
    for (const [partition, rules] of partitions) {
      const { next, reachedAtMs, savedAtMs, unsaved } = rules.standing;
      const waiting = Math.max(0, (ends.get(partition) ?? 0) - next);
      told.packets += waiting;
      if (waiting > 0 && reachedAtMs !== null)
        told.oldestSeconds = Math.max(told.oldestSeconds, (parts.now() - reachedAtMs) / 1000);
      if (unsaved) told.checkpointSeconds = Math.max(told.checkpointSeconds, (parts.now() - savedAtMs) / 1000);
    }
    return told;
  }

  /** Another member has claimed the partition: what this one still does with it is let go, and is no failure. */
  function letGo(partition: number, rules: PartitionRules, error: unknown): void {
    if (!(error instanceof CheckpointFencedError)) throw error;
    // It may have been begun anew meanwhile.
    if (partitions.get(partition) === rules) {
      partitions.delete(partition);
      fenced.add(partition);
    }
    if (told.has(rules)) return;
    told.add(rules);
    metrics.fenced.inc();
    logger.info({ partition }, 'another member has the partition now: let go of it');
  }

  /** From when the batch came until its events are durable. */
  function spanOf({ partition, records }: Batch<TelemetryPacket>, packets: readonly TraceId[]): Span {
    const facts = { 'outrider.partition': partition, 'outrider.packets': records.length };
    return tracing.begin('rules batch', { packets, facts });
  }

  function ofEach(work: (rules: PartitionRules) => Promise<void>): void {
    for (const [partition, rules] of partitions)
      work(rules)
        .catch((error) => letGo(partition, rules, error))
        .catch(fail);
  }

  function follow(): Promise<Subscription> {
    return log.consume(telemetryTopic, {
      group: GROUP,
      startAt: open,
      async onBatch(batch) {
        const rules = ofPartition(batch.partition);
        try {
          const packets = recordedAmong(tracing, batch.records);
          if (packets.length === 0) await rules.takePackets(batch);
          else await inSpan(spanOf(batch, packets), () => rules.takePackets(batch));
        } catch (error) {
          letGo(batch.partition, rules, error);
          throw error;
        }
      },
      async onRevoked(partition) {
        const rules = partitions.get(partition);
        partitions.delete(partition);
        fenced.delete(partition);
        await rules?.checkpoint().catch((error) => letGo(partition, rules, error));
      },
      maxBatchRecords: config.batchPackets ?? BATCH_PACKETS,
    });
  }

  return {
    name: 'rules',
    failed,

    async start() {
      const ends = await log.endOffsets(definitionsTopic);
      definitions = await log.consume(definitionsTopic, {
        // Every member needs every definition: each is a group of its own.
        group: `rules-definitions-${randomUUID()}`,
        startAt: (partition) => ends.get(partition) ?? 'earliest',
        async onBatch({ partition, records }) {
          await Promise.all(
            [...partitions].map(([own, rules]) =>
              rules.takeDefinitions(partition, records).catch((error) => letGo(own, rules, error)),
            ),
          );
        },
      });
      definitions.failed.catch(fail);
      telemetry = await follow().catch(async (error) => {
        await definitions?.stop();
        throw error;
      });
      telemetry.failed.catch(fail);
      timers = [
        setInterval(() => ofEach((rules) => rules.checkpoint()), config.checkpointMs),
        setInterval(() => ofEach((rules) => rules.look()), config.lookMs ?? LOOK_MS),
      ];
    },

    async stop() {
      for (const timer of timers) clearInterval(timer);
      await telemetry?.stop();
      await definitions?.stop();
      for (const [partition, rules] of partitions)
        await rules.checkpoint().catch((error) => letGo(partition, rules, error));
      logger.debug({ partitions: partitions.size }, 'checkpoints saved');
    },
  };
}
