import type { DeadLetterOffice } from '@outrider/backing';
import {
  type DefinitionChange,
  type FleetEvent,
  IMPORT_PROTOCOL,
  noteCause,
  noteNoCause,
  type TelemetryPacket,
  type VehicleId,
} from '@outrider/domain';
import { Engine } from '@outrider/engine';
import { type Batch, eventsTopic, type LogRecord, telemetryTopic } from '@outrider/log';
import { HeldChanges } from './held-changes.ts';
import { type HubUpdateParts, HubUpdates } from './hub-updates.ts';
import { type CheckpointParts, NOTHING_PENDING, PartitionCheckpoint, type Pending } from './partition-checkpoint.ts';
import { PartitionOutput } from './partition-output.ts';
import { SurplusLog } from './surplus-log.ts';

/** Maximum time from the reception of a packet until the log holds it. */
const ON_THE_WAY_MS = 10_000;

export interface PartitionParts extends CheckpointParts, HubUpdateParts {
  deadLetters: DeadLetterOffice;
  /** A checkpoint is due after this time, or after this number of packets. */
  checkpointMs: number;
  checkpointPackets: number;
}

/** Progress of a partition. */
export interface Progress {
  /** Next offset of topic `telemetry`. */
  next: number;
  /** Unix milliseconds at which the gateway received the newest processed packet; null before the first. */
  reachedAtMs: number | null;
  /** Unix milliseconds of the last checkpoint. */
  savedAtMs: number;
  /** Whether anything changed since the last checkpoint. */
  unsaved: boolean;
}

/**
 * One partition of topic `telemetry`: its engine, its checkpoint, and the progress of both.
 *
 * Why topic `events` holds each event once, wherever the process crashes:
 * - Events are appended before the checkpoint that contains their effects. So after a crash the log holds all events up
 *   to the checkpoint, and maybe later ones. The later ones are read (`PublishedEvents`) and left out when the
 *   replay makes them again under the same ids. The checkpoint's offset in topic `events` does not move until the
 *   replay has made them all.
 * - The replay makes the same events because it uses the same definitions. A change is applied only right after a
 *   checkpoint that holds it as pending, so no replay crosses a change: it starts at one, or after.
 * - Silence is detected by time, which a replay can't repeat. So a check for silent vehicles is treated like a change:
 *   it runs right after a checkpoint that holds its time.
 * - Changes that came since the checkpoint wait until the replay has repeated all events published before, so that it
 *   uses the old definitions for them.
 *
 * All work on the partition is sequential ({@link #inTurn}).
 */
export class PartitionRules {
  readonly #partition: number;
  readonly #parts: PartitionParts;
  #engine = new Engine();
  readonly #checkpoint: PartitionCheckpoint;
  readonly #output: PartitionOutput;
  readonly #hub: HubUpdates;
  readonly #held: HeldChanges;
  readonly #surplus: SurplusLog;
  /** Next offset of topic `telemetry`. */
  #position = 0;
  /** When the gateway received the last processed packet; null before the first. */
  #reachedAtMs: number | null = null;
  /** End of the partition when it was opened: the replay is over there at the latest. */
  #replayEnd = 0;
  #packetsSinceSave = 0;
  #unsaved = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(partition: number, parts: PartitionParts) {
    this.#partition = partition;
    this.#parts = parts;
    this.#checkpoint = new PartitionCheckpoint(partition, parts);
    this.#output = new PartitionOutput(parts);
    this.#hub = new HubUpdates(parts, () => this.#output.durable);
    this.#held = new HeldChanges(parts.log);
    this.#surplus = new SurplusLog(partition, parts);
  }

  get vehicleCount(): number {
    return this.#engine.vehicleCount;
  }

  /** Progress, for metrics. */
  get progress(): Progress {
    const { savedAtMs } = this.#checkpoint;
    return { next: this.#position, reachedAtMs: this.#reachedAtMs, savedAtMs, unsaved: this.#unsaved };
  }

  /** Restores the checkpoint. Returns the offset of topic `telemetry` to resume from. */
  open(): Promise<number> {
    return this.#inTurn(async () => {
      const { log, logger } = this.#parts;
      const partition = this.#partition;
      const restored = await this.#checkpoint.claim();
      const { position, offsets } = await this.#checkpoint.locate();
      await this.#readPublished(offsets);
      this.#replayEnd = (await log.endOffsets(telemetryTopic)).get(partition) ?? 0;
      this.#position = position;
      const { published } = this.#output;
      if (restored !== null) {
        this.#engine = restored;
        this.#engine.rewind(position);
        this.#held.restore(offsets);
        const { changes, silenceCheckedMs } = this.#checkpoint.pending;
        if (changes !== null) await this.#applyAll(changes);
        if (silenceCheckedMs !== null) await this.#checkSilenceAt(silenceCheckedMs);
      } else {
        if (published.size > 0)
          logger.warn({ partition, events: published.size }, 'no checkpoint; replaying the whole log');
        this.#engine.load(await this.#held.readNewest());
        await this.#save();
      }
      await this.#hub.fill(this.#engine.allStatuses());
      await this.#held.readOn();
      await this.#releaseWhenReplayed();
      logger.info(
        {
          partition,
          offset: this.#position,
          behind: Math.max(0, this.#replayEnd - this.#position),
          vehicles: this.#engine.vehicleCount,
          replayed: published.size,
        },
        'partition opened',
      );
      return this.#position;
    });
  }

  /**
   * Processes packets. When this resolves, the append of their events has begun, and the append of the packets before
   * has ended: the next packets are processed meanwhile. The hub gets the newest statuses; statuses that change during
   * an update are sent together after it.
   */
  takePackets({ records }: Batch<TelemetryPacket>): Promise<void> {
    return this.#inTurn(async () => {
      const { metrics, clock, checkpointMs, checkpointPackets } = this.#parts;
      const events: FleetEvent[] = [];
      let positions = 0;
      let moved = 0;
      for (const { value, offset } of records) {
        // A consumer may receive packets again that it was processing.
        if (offset < this.#position) continue;
        // Imported history only goes to the archive: a recalculation determines how it changes the past.
        if (value.protocol === IMPORT_PROTOCOL) {
          this.#position = offset + 1;
          continue;
        }
        const eventsBefore = events.length;
        try {
          moved += this.#engine.process(value, offset, events);
        } catch (error) {
          // A retry would fail again. Events up to here stay: a replay produces the same ones.
          await this.#parts.deadLetters.take(telemetryTopic, this.#partition, offset, value, error);
        }
        noteCause(events, eventsBefore, value);
        positions += value.positions.length;
        this.#position = offset + 1;
        this.#reachedAtMs = value.receivedAtMs;
      }
      await this.#output.append(events);
      await this.#output.appendLate(this.#engine.takeLate(), records);
      this.#unsaved = true;
      this.#packetsSinceSave += records.length;
      metrics.packets.inc(records.length);
      metrics.positions.inc(positions);
      metrics.moved.inc(moved);
      for (const [reason, count] of this.#engine.takeRejected()) metrics.rejected.inc({ reason }, count);
      this.#surplus.add(this.#engine.takeSurplus());
      this.#hub.send(this.#engine.takeUpdated(), true);
      await this.#releaseWhenReplayed();
      if (this.#packetsSinceSave >= checkpointPackets || clock.now() - this.#checkpoint.savedAtMs >= checkpointMs)
        await this.#save();
    });
  }

  /** Applies changes: they are in force for the next packet when this resolves, unless a replay is running. */
  takeDefinitions(partition: number, records: readonly LogRecord<DefinitionChange>[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const { offset, value } of records) this.#held.hold(partition, offset, value);
      await this.#releaseWhenReplayed();
    });
  }

  /**
   * Publishes which vehicles have gone silent. Only the time before which all packets are processed is covered: a
   * waiting packet may be of any vehicle.
   */
  checkSilence(): Promise<void> {
    return this.#inTurn(async () => {
      const { log, clock } = this.#parts;
      const untilMs = clock.now() - ON_THE_WAY_MS;
      // The log's own check reports its outage; the next check for silent vehicles comes soon.
      const ends = await log.endOffsets(telemetryTopic).catch(() => null);
      if (ends === null) return;
      const end = ends.get(this.#partition) ?? 0;
      const isBehind = this.#output.published.size > 0 || this.#position < Math.max(end, this.#replayEnd);
      if (isBehind || !this.#engine.hasSilent(untilMs)) return;
      await this.#save({ changes: null, silenceCheckedMs: untilMs });
      await this.#checkSilenceAt(untilMs);
    });
  }

  /** Saves a checkpoint, if anything has changed. */
  checkpoint(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#unsaved) await this.#save();
      await this.#hub.idle();
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#turn.then(() => {
      // Nothing is done after a failure: the state's events may be missing in the log.
      this.#hub.throwFailure();
      return work();
    });
    this.#turn = result;
    return result;
  }

  /** Reads the events that were appended after the checkpoint. */
  async #readPublished(offsets: Readonly<Record<string, number>>): Promise<void> {
    const { log, logger } = this.#parts;
    const partition = this.#partition;
    const { published } = this.#output;
    const ends = await log.endOffsets(eventsTopic);
    const telemetryEnds = await log.endOffsets(telemetryTopic);
    // Both topics are keyed by vehicle: with equally many partitions, events and telemetry of a vehicle share a number.
    const end = ends.get(partition);
    const own: Iterable<readonly [number, number]> =
      ends.size === telemetryEnds.size && end !== undefined ? [[partition, end]] : ends;
    await published.readFrom(log, own, (eventPartition) => offsets[`events/${eventPartition}`]);
    if (published.overflowed)
      logger.warn({ partition, remembered: published.size }, 'appending some events again, with the same ids');
  }

  async #checkSilenceAt(untilMs: number): Promise<void> {
    const events: FleetEvent[] = [];
    this.#engine.advance(untilMs, events);
    await this.#publish(events);
  }

  async #applyAll(changes: readonly DefinitionChange[]): Promise<void> {
    const events: FleetEvent[] = [];
    for (const change of changes) {
      // Also when the engine has no state of the vehicle: the hub may have a status that an earlier run published.
      if (change.kind === 'vehicle' && change.definition === null) this.#hub.delete(change.id as VehicleId);
      events.push(...this.#engine.applyDefinition(change));
    }
    await this.#publish(events);
  }

  /** Publishes events that no packet caused. */
  async #publish(events: FleetEvent[]): Promise<void> {
    noteNoCause(events);
    this.#unsaved = true;
    await this.#output.append(events);
    this.#hub.send(this.#engine.takeUpdated(), false);
  }

  /** Applies the held changes, once the replay has repeated all events published before the start. */
  async #releaseWhenReplayed(): Promise<void> {
    const { published } = this.#output;
    if (published.size > 0) {
      if (this.#position < this.#replayEnd) return;
      published.clear();
    }
    const changes = this.#held.all;
    if (changes.length === 0) return;
    await this.#save({ changes, silenceCheckedMs: null });
    this.#held.release();
    await this.#applyAll(changes);
  }

  /**
   * Saves a checkpoint, once all events of the state are durable.
   *
   * @param pending work to do right after this
   */
  async #save(pending: Pending = NOTHING_PENDING): Promise<void> {
    await this.#output.durable;
    const definitionOffsets = this.#held.offsets(pending.changes !== null);
    const isReplayed = this.#output.published.size === 0;
    await this.#checkpoint.save(this.#engine, this.#position, definitionOffsets, isReplayed, pending);
    this.#packetsSinceSave = 0;
    this.#unsaved = false;
  }
}
