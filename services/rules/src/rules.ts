import { randomUUID } from 'node:crypto';
import type { Hub } from '@outrider/hub';
import { type Checkpoints, definitionsTopic, type Log, type Subscription, telemetryTopic } from '@outrider/log';
import type { Log as Diary, Part, Registry } from '@outrider/runtime';
import { rulesMetrics } from './metrics.ts';
import { PartitionRules } from './partition-rules.ts';

export {
  createRecalculator,
  MAX_LATE_MS,
  RECALCULATIONS,
  type RecalculatorConfig,
  type RecalculatorParts,
} from './recalculation/recalculator.ts';

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
  diary: Diary;
  metrics: Registry;
  /** Unix milliseconds. */
  now(): number;
}

const BATCH_PACKETS = 1000;
const LOOK_MS = 5000;

/**
 * The rules at work: takes telemetry and definitions from the log, steps the engine, puts the events into the log, and
 * tells the hub where vehicles are. Each partition of the telemetry has an engine and a checkpoint of its own.
 */
export function createRules({ config, metrics: registry, ...parts }: RulesParts): Part & { failed: Promise<never> } {
  const { log, diary } = parts;
  const partitions = new Map<number, PartitionRules>();
  const metrics = rulesMetrics(registry, () => {
    let vehicles = 0;
    for (const partition of partitions.values()) vehicles += partition.vehicleCount;
    return vehicles;
  });
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
    const rules = new PartitionRules(partition, { ...parts, ...config, metrics });
    partitions.set(partition, rules);
    return rules.open();
  }

  function ofPartition(partition: number): PartitionRules {
    const rules = partitions.get(partition);
    if (!rules) throw new Error(`a batch of partition ${partition}, which is not open`);
    return rules;
  }

  function follow(): Promise<Subscription> {
    return log.consume(telemetryTopic, {
      group: 'rules',
      startAt: open,
      onBatch: (batch) => ofPartition(batch.partition).takePackets(batch),
      async onRevoked(partition) {
        await partitions.get(partition)?.checkpoint();
        partitions.delete(partition);
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
          await Promise.all([...partitions.values()].map((rules) => rules.takeDefinitions(partition, records)));
        },
      });
      definitions.failed.catch(fail);
      telemetry = await follow().catch(async (error) => {
        await definitions?.stop();
        throw error;
      });
      telemetry.failed.catch(fail);
      timers = [
        setInterval(() => {
          for (const rules of partitions.values()) rules.checkpoint().catch(fail);
        }, config.checkpointMs),
        setInterval(() => {
          for (const rules of partitions.values()) rules.look().catch(fail);
        }, config.lookMs ?? LOOK_MS),
      ];
    },

    async stop() {
      for (const timer of timers) clearInterval(timer);
      await telemetry?.stop();
      await definitions?.stop();
      for (const rules of partitions.values()) await rules.checkpoint();
      diary.debug({ partitions: partitions.size }, 'checkpoints saved');
    },
  };
}
