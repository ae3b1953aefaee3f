import { type Clock, type DefinitionChange, readStoredChange, storedChange } from '@outrider/domain';
import { Engine } from '@outrider/engine';
import {
  type Checkpoint,
  type Checkpoints,
  definitionsTopic,
  eventsTopic,
  type Log,
  type ReaderPlace,
  type Topic,
  telemetryTopic,
} from '@outrider/log';
import type { Logger } from '@outrider/runtime';
import type { RulesMetrics } from '../metrics.ts';

const CONSUMER = 'rules';
/** Definition changes that were about to be applied when the checkpoint was saved: a replay begins with them. */
const PENDING_KEY = 'pending-definitions';
/** A check for silent vehicles that was due when the checkpoint was saved: a replay begins with it. */
const PENDING_SILENCE_CHECK_KEY = 'pending-look';
const TELEMETRY = 'telemetry';

/** Work to do right after a checkpoint, and again when a replay begins at it. */
export interface Pending {
  changes: readonly DefinitionChange[] | null;
  /** Time up to which silent vehicles are reported. */
  silenceCheckedMs: number | null;
}
export const NOTHING_PENDING: Pending = { changes: null, silenceCheckedMs: null };

export interface CheckpointParts {
  log: Log;
  checkpoints: Checkpoints;
  logger: Logger;
  metrics: RulesMetrics;
  clock: Clock;
}

/** The checkpoint of a partition: the engine's state, with the offsets at which it was saved. */
export class PartitionCheckpoint {
  readonly #partition: number;
  readonly #parts: CheckpointParts;
  /** Offsets and identities at the claim; null without a readable checkpoint. */
  #claimed: Pick<Checkpoint, 'offsets' | 'identities'> | null = null;
  /** Identities of the log to which all offsets here refer, by topic. */
  readonly #identities: Record<string, string> = {};
  /** Offsets in topic `events`, by partition; during a replay, those saved last. */
  #eventOffsets: Record<string, number> = {};
  /** Keys of an unreadable checkpoint, until a save removes them. */
  #discardedKeys: string[] = [];
  /** Pending work as saved last. */
  pending: Pending = NOTHING_PENDING;
  savedAtMs: number;

  constructor(partition: number, parts: CheckpointParts) {
    this.#partition = partition;
    this.#parts = parts;
    this.savedAtMs = parts.clock.now();
  }

  /**
   * Takes the checkpoint over from the process that owned the partition before.
   *
   * @returns the engine as it was saved; null without a checkpoint that this version can read, as after a downgrade:
   *   then the whole log is replayed, and the next save removes the entries of the unreadable one
   */
  async claim(): Promise<Engine | null> {
    const checkpoint = await this.#parts.checkpoints.claim(CONSUMER, this.#partition);
    if (checkpoint === null) return null;
    try {
      const engine = new Engine();
      engine.restore(checkpoint.entries);
      const changes = checkpoint.entries.get(PENDING_KEY);
      const silenceCheckedMs = checkpoint.entries.get(PENDING_SILENCE_CHECK_KEY);
      this.pending = {
        changes: changes === undefined ? null : readPending(changes.toString()),
        silenceCheckedMs: silenceCheckedMs === undefined ? null : Number(silenceCheckedMs.toString()),
      };
      this.#claimed = { offsets: checkpoint.offsets, identities: checkpoint.identities };
      return engine;
    } catch (error) {
      const partition = this.#partition;
      this.#parts.logger.warn({ partition, err: error }, 'cannot read the checkpoint; discarding it');
      this.#discardedKeys = [...checkpoint.entries.keys()];
      return null;
    }
  }

  /**
   * Translates the claimed offsets to the current log. They differ from the saved ones when a topic was replaced or
   * truncated; the engine's state stays valid.
   *
   * @returns the next offset of topic `telemetry`; and the saved offsets of the other topics, as `<topic>/<partition>`
   */
  async locate(): Promise<{ position: number; offsets: Record<string, number> }> {
    const { log } = this.#parts;
    const claimed = this.#claimed;
    const savedAs = (topic: string, name: string): ReaderPlace | null => {
      const offset = claimed?.offsets[name];
      return offset === undefined ? null : { offset, identity: claimed?.identities[topic] ?? null };
    };
    const telemetry = await log.resume(telemetryTopic, this.#partition, CONSUMER, savedAs(TELEMETRY, TELEMETRY));
    this.#identities[TELEMETRY] = telemetry.identity;
    const offsets: Record<string, number> = {};
    for (const topic of [eventsTopic, definitionsTopic] as Topic<unknown>[]) {
      for (const ofTopic of (await log.endOffsets(topic)).keys()) {
        const name = `${topic.name}/${ofTopic}`;
        const saved = savedAs(topic.name, name);
        const { offset, identity } = await log.locate(topic, ofTopic, saved);
        this.#identities[topic.name] = identity;
        if (saved !== null) offsets[name] = offset;
      }
    }
    for (const [name, offset] of Object.entries(offsets))
      if (partitionIn('events', name) !== null) this.#eventOffsets[name] = offset;
    return { position: telemetry.offset, offsets };
  }

  /**
   * Saves state and offsets together. All events of the state are durable.
   *
   * @param position next offset of topic `telemetry`
   * @param definitionOffsets not beyond changes that are neither applied nor in `pending`
   * @param isReplayed false while a replay has not repeated all events that were published before it
   * @param pending work to do right after this
   */
  async save(
    engine: Engine,
    position: number,
    definitionOffsets: Readonly<Record<string, number>>,
    isReplayed: boolean,
    pending: Pending,
  ): Promise<void> {
    const { log, checkpoints, metrics, clock } = this.#parts;
    if (isReplayed) {
      this.#eventOffsets = {};
      for (const [partition, end] of await log.endOffsets(eventsTopic)) this.#eventOffsets[`events/${partition}`] = end;
    }
    const offsets = { [TELEMETRY]: position, ...this.#eventOffsets, ...definitionOffsets };
    const changed = [...engine.takeChanges(), ...this.#pendingEntries(pending)];
    if (this.#discardedKeys.length > 0) {
      const kept = new Set(changed.map(([key]) => key));
      for (const key of this.#discardedKeys) if (!kept.has(key)) changed.push([key, null]);
      this.#discardedKeys = [];
    }
    const stopTimer = metrics.checkpoints.startTimer();
    await checkpoints.save(CONSUMER, this.#partition, { offsets, identities: this.#identities, changed });
    stopTimer();
    log.release(telemetryTopic, this.#partition, CONSUMER, position);
    this.pending = pending;
    this.savedAtMs = clock.now();
  }

  #pendingEntries({ changes, silenceCheckedMs }: Pending): [string, Buffer | null][] {
    const entries: [string, Buffer | null][] = [];
    if (changes !== null) entries.push([PENDING_KEY, Buffer.from(JSON.stringify(changes.map(storedChange)))]);
    else if (this.pending.changes !== null) entries.push([PENDING_KEY, null]);
    if (silenceCheckedMs !== null) entries.push([PENDING_SILENCE_CHECK_KEY, Buffer.from(String(silenceCheckedMs))]);
    else if (this.pending.silenceCheckedMs !== null) entries.push([PENDING_SILENCE_CHECK_KEY, null]);
    return entries;
  }
}

/** Reads pending changes. An earlier version wrote them without the format of their definitions. */
function readPending(text: string): DefinitionChange[] {
  const changes = JSON.parse(text) as (string | DefinitionChange)[];
  return changes.map((change) => readStoredChange(typeof change === 'string' ? change : JSON.stringify(change)));
}

/**
 * Partition of an offset that a checkpoint names `<topic>/<partition>`; null when the name is not of this topic.
 */
export function partitionIn(topic: string, name: string): number | null {
  return name.startsWith(`${topic}/`) ? Number(name.slice(topic.length + 1)) : null;
}
