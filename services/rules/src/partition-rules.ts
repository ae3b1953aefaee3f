import type { DeadLetterOffice } from '@outrider/backing';
import {
  type Clock,
  type DefinitionChange,
  type FleetEvent,
  IMPORT_PROTOCOL,
  type LateInterval,
  noteCause,
  noteNoCause,
  readStoredChange,
  storedChange,
  type TelemetryPacket,
  type TraceId,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import { Engine, type SurplusCount } from '@outrider/engine';
import type { Hub } from '@outrider/hub';
import {
  type Batch,
  type Checkpoint,
  type Checkpoints,
  definitionRecordsTopic,
  definitionsTopic,
  eventsTopic,
  type Log,
  type LogRecord,
  lateTopic,
  type ReaderPlace,
  type Topic,
  telemetryTopic,
} from '@outrider/log';
import { isDebugEnabled, type Logger } from '@outrider/runtime';
import { appendAll } from './append-all.ts';
import type { RulesMetrics } from './metrics.ts';
import { PublishedEvents } from './published-events.ts';

const CONSUMER = 'rules';
/** Definition changes that were about to be applied when the checkpoint was saved: a replay begins with them. */
const PENDING_KEY = 'pending-definitions';
/** A check for silent vehicles that was due when the checkpoint was saved: a replay begins with it. */
const PENDING_SILENCE_CHECK_KEY = 'pending-look';
const TELEMETRY = 'telemetry';
/** Longest time from the reception of a packet until the log holds it. */
const ON_THE_WAY_MS = 10_000;
const HUB_ENTRIES = 1000;
const SURPLUS_LOG_MS = 60_000;
/** Vehicles that a log line names, at most. */
const MAX_SURPLUS_VEHICLES = 20;

export interface PartitionParts {
  log: Log;
  checkpoints: Checkpoints;
  hub: Hub;
  logger: Logger;
  metrics: RulesMetrics;
  deadLetters: DeadLetterOffice;
  clock: Clock;
  /** A checkpoint is due after so many milliseconds, or so many packets. */
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
  /** Whether anything changed since. */
  unsaved: boolean;
}

/** A change, and where it stood in topic `definitions`. */
interface PlacedChange {
  partition: number;
  offset: number;
  change: DefinitionChange;
}

/** What is done right after a checkpoint, and again where a replay begins with it. */
interface Pending {
  changes: readonly DefinitionChange[] | null;
  /** Time up to which silent vehicles are reported. */
  silenceCheckedMs: number | null;
}
const NOTHING_PENDING: Pending = { changes: null, silenceCheckedMs: null };

/**
 * One partition of topic `telemetry`: its engine, its checkpoint, and the progress of both.
 *
 * Why topic `events` holds each event once, wherever the process crashes:
 * - Events are appended before the checkpoint that contains their effects. So after a crash the log holds all events up
 *   to the checkpoint, and maybe later ones. The later ones are read ({@link PublishedEvents}) and left out when the
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
  readonly #reported = new PublishedEvents();
  /** Next offset of topic `telemetry`. */
  #position = 0;
  /** When the gateway received the last processed packet; null before the first. */
  #reachedAtMs: number | null = null;
  /** The end of the partition when it was opened: the replay is over there at the latest. */
  #replayEnd = 0;
  /** Identities of the log that all offsets here are of, by topic. */
  readonly #identities: Record<string, string> = {};
  /** The checkpoint's offsets in topic `events`, kept while the replay lasts. */
  #eventOffsets: Record<string, number> = {};
  /** Next offset of topic `definitions` to apply, by its partition. */
  readonly #definitionOffsets = new Map<number, number>();
  #held: PlacedChange[] = [];
  /** Entries of a checkpoint that could not be read, until a save removes them. */
  #discardedKeys: string[] = [];
  /** The pending changes of the last checkpoint. */
  #pendingSaved: Pending = NOTHING_PENDING;
  #savedAtMs: number;
  #packetsSinceSave = 0;
  #unsaved = false;
  #turn: Promise<unknown> = Promise.resolve();
  /** The append of the last batch's events. */
  #appending: Promise<void> = Promise.resolve();
  /** Statuses of vehicles whose events are in `#appending` or before it, for the hub. */
  readonly #updated = new Map<VehicleId, VehicleStatus>();
  /** Deleted since the hub was last updated. */
  #deleted: VehicleId[] = [];
  /** When the gateway received the first packet that changed them. */
  #updatedFirstReceivedAtMs: number | null = null;
  /** Counts of what was left out since the last log line. */
  #surplus: SurplusCount = { geofences: 0, events: 0, vehicles: new Set() };
  #surplusLoggedAtMs = Number.NEGATIVE_INFINITY;
  /** The running update of the hub, if any. */
  #reporting: Promise<void> | null = null;
  #publishFailed: { error: unknown } | null = null;

  constructor(partition: number, parts: PartitionParts) {
    this.#partition = partition;
    this.#parts = parts;
    this.#savedAtMs = parts.clock.now();
  }

  get vehicleCount(): number {
    return this.#engine.vehicleCount;
  }

  /** Progress, for metrics. */
  get progress(): Progress {
    return { next: this.#position, reachedAtMs: this.#reachedAtMs, savedAtMs: this.#savedAtMs, unsaved: this.#unsaved };
  }

  /** Restores the checkpoint. Returns the offset of topic `telemetry` to resume from. */
  open(): Promise<number> {
    return this.#inTurn(async () => {
      const { log, checkpoints, logger } = this.#parts;
      const partition = this.#partition;
      const checkpoint = this.#restore(await checkpoints.claim(CONSUMER, partition));
      const offsets = await this.#resume(checkpoint);
      await this.#readPublished(offsets);
      this.#replayEnd = (await log.endOffsets(telemetryTopic)).get(partition) ?? 0;
      this.#position = offsets[TELEMETRY] ?? 0;
      if (checkpoint) {
        for (const [name, offset] of Object.entries(offsets)) {
          const definitionPartition = partitionIn('definitions', name);
          if (definitionPartition !== null) this.#definitionOffsets.set(definitionPartition, offset);
        }
        this.#engine.rewind(this.#position);
        if (this.#pendingSaved.changes !== null) await this.#applyAll(this.#pendingSaved.changes);
        if (this.#pendingSaved.silenceCheckedMs !== null)
          await this.#checkSilenceAt(this.#pendingSaved.silenceCheckedMs);
      } else {
        if (this.#reported.size > 0)
          logger.warn({ partition, events: this.#reported.size }, 'no checkpoint; replaying the whole log');
        this.#engine.load(await this.#readNewestDefinitions());
        await this.#save();
      }
      await this.#fillHub();
      this.#held.push(...(await this.#readDefinitions()));
      await this.#releaseWhenReplayed();
      logger.info(
        {
          partition,
          offset: this.#position,
          behind: Math.max(0, this.#replayEnd - this.#position),
          vehicles: this.#engine.vehicleCount,
          replayed: this.#reported.size,
        },
        'partition opened',
      );
      return this.#position;
    });
  }

  /**
   * Processes packets. When this resolves, the append of their events has begun, and that of the packets before has
   * ended: the next packets are processed meanwhile. The hub gets the newest statuses; those that change during an
   * update are sent together after it.
   */
  takePackets({ records }: Batch<TelemetryPacket>): Promise<void> {
    return this.#inTurn(async () => {
      const { metrics, clock, checkpointMs, checkpointPackets } = this.#parts;
      const events: FleetEvent[] = [];
      let positions = 0;
      let moved = 0;
      for (const { value, offset } of records) {
        // A consumer may get packets again that it was processing.
        if (offset < this.#position) continue;
        // Imported history is for the archive: a recalculation finds out what it changes of the past.
        if (value.protocol === IMPORT_PROTOCOL) {
          this.#position = offset + 1;
          continue;
        }
        const eventsBefore = events.length;
        try {
          moved += this.#engine.process(value, offset, events);
        } catch (error) {
          // A retry would fail again. Its events up to here stay: a replay makes the same ones.
          await this.#parts.deadLetters.take(telemetryTopic, this.#partition, offset, value, error);
        }
        noteCause(events, eventsBefore, value);
        positions += value.positions.length;
        this.#position = offset + 1;
        this.#reachedAtMs = value.receivedAtMs;
      }
      await this.#append(events);
      await this.#appendLate(records);
      this.#unsaved = true;
      this.#packetsSinceSave += records.length;
      metrics.packets.inc(records.length);
      metrics.positions.inc(positions);
      metrics.moved.inc(moved);
      for (const [reason, count] of this.#engine.takeRejected()) metrics.rejected.inc({ reason }, count);
      this.#reportSurplus();
      for (const status of this.#engine.takeUpdated()) {
        this.#updatedFirstReceivedAtMs ??= status.lastContactAtMs;
        this.#updated.set(status.vehicleId, status);
      }
      this.#report();
      await this.#releaseWhenReplayed();
      if (this.#packetsSinceSave >= checkpointPackets || clock.now() - this.#savedAtMs >= checkpointMs)
        await this.#save();
    });
  }

  /**
   * Restores the engine from the checkpoint.
   *
   * @returns null without a checkpoint that this version can read, as after a downgrade: then the whole log is
   *   replayed, and the next save removes the entries of the unreadable one
   */
  #restore(checkpoint: Checkpoint | null): Checkpoint | null {
    if (checkpoint === null) return null;
    try {
      const engine = new Engine();
      engine.restore(checkpoint.entries);
      const changes = checkpoint.entries.get(PENDING_KEY);
      const silenceCheckedMs = checkpoint.entries.get(PENDING_SILENCE_CHECK_KEY);
      this.#pendingSaved = {
        changes: changes === undefined ? null : readPending(changes.toString()),
        silenceCheckedMs: silenceCheckedMs === undefined ? null : Number(silenceCheckedMs.toString()),
      };
      this.#engine = engine;
      return checkpoint;
    } catch (error) {
      const partition = this.#partition;
      this.#parts.logger.warn({ partition, err: error }, 'cannot read the checkpoint; discarding it');
      this.#discardedKeys = [...checkpoint.entries.keys()];
      return null;
    }
  }

  /** Counts what is beyond the caps, and logs it once per minute. */
  #reportSurplus(): void {
    const { metrics, logger, clock } = this.#parts;
    const { geofences, events, vehicles } = this.#engine.takeSurplus();
    metrics.surplusGeofences.inc(geofences);
    metrics.surplusEvents.inc(events);
    const sum = this.#surplus;
    sum.geofences += geofences;
    sum.events += events;
    for (const vehicle of vehicles) if (sum.vehicles.size < MAX_SURPLUS_VEHICLES) sum.vehicles.add(vehicle);
    if (sum.vehicles.size === 0 || clock.now() - this.#surplusLoggedAtMs < SURPLUS_LOG_MS) return;
    logger.warn(
      { partition: this.#partition, geofences: sum.geofences, events: sum.events, vehicleIds: [...sum.vehicles] },
      'geofences or events above the caps are left out',
    );
    this.#surplusLoggedAtMs = clock.now();
    this.#surplus = { geofences: 0, events: 0, vehicles: new Set() };
  }

  /** Applies changes: they are in force for the next packet when this resolves, unless a replay is running. */
  takeDefinitions(partition: number, records: readonly LogRecord<DefinitionChange>[]): Promise<void> {
    return this.#inTurn(async () => {
      for (const { offset, value } of records) this.#hold({ partition, offset, change: value });
      await this.#releaseWhenReplayed();
    });
  }

  /**
   * Publishes which vehicles have gone silent, up to the time before which all packets are processed: a waiting packet
   * may be of any vehicle.
   */
  checkSilence(): Promise<void> {
    return this.#inTurn(async () => {
      const { log, clock } = this.#parts;
      const untilMs = clock.now() - ON_THE_WAY_MS;
      // The log's own check reports its outage; the next check for silent vehicles comes soon.
      const ends = await log.endOffsets(telemetryTopic).catch(() => null);
      if (ends === null) return;
      const end = ends.get(this.#partition) ?? 0;
      const isBehind = this.#reported.size > 0 || this.#position < Math.max(end, this.#replayEnd);
      if (isBehind || !this.#engine.hasSilent(untilMs)) return;
      await this.#save({ changes: null, silenceCheckedMs: untilMs });
      await this.#checkSilenceAt(untilMs);
    });
  }

  /** Saves a checkpoint, if anything has changed. */
  checkpoint(): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#unsaved) await this.#save();
      await this.#reporting;
    });
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    // Does nothing after a failure: the state's events may be missing in the log.
    const result = this.#turn.then(() => {
      if (this.#publishFailed !== null) throw this.#publishFailed.error;
      return work();
    });
    this.#turn = result;
    return result;
  }

  /**
   * The checkpoint's offsets in the current log. They differ from the saved ones when a topic was replaced or
   * truncated; the engine's state stays valid.
   */
  async #resume(checkpoint: Checkpoint | null): Promise<Record<string, number>> {
    const { log } = this.#parts;
    const offsets: Record<string, number> = {};
    const savedAs = (topic: string, name: string): ReaderPlace | null => {
      const offset = checkpoint?.offsets[name];
      return offset === undefined ? null : { offset, identity: checkpoint?.identities[topic] ?? null };
    };
    const partition = this.#partition;
    const telemetry = await log.resume(telemetryTopic, partition, CONSUMER, savedAs(TELEMETRY, TELEMETRY));
    this.#identities[TELEMETRY] = telemetry.identity;
    offsets[TELEMETRY] = telemetry.offset;
    for (const topic of [eventsTopic, definitionsTopic] as Topic<unknown>[]) {
      for (const ofTopic of (await log.endOffsets(topic)).keys()) {
        const name = `${topic.name}/${ofTopic}`;
        const saved = savedAs(topic.name, name);
        const { offset, identity } = await log.locate(topic, ofTopic, saved);
        this.#identities[topic.name] = identity;
        if (saved !== null) offsets[name] = offset;
      }
    }
    return offsets;
  }

  /** Reads the events that were appended after the checkpoint. */
  async #readPublished(offsets: Readonly<Record<string, number>>): Promise<void> {
    const { log, logger } = this.#parts;
    const partition = this.#partition;
    const ends = await log.endOffsets(eventsTopic);
    const telemetryEnds = await log.endOffsets(telemetryTopic);
    // Both topics are keyed by vehicle: with equally many partitions, events and telemetry of a vehicle share a number.
    const end = ends.get(partition);
    const own: Iterable<readonly [number, number]> =
      ends.size === telemetryEnds.size && end !== undefined ? [[partition, end]] : ends;
    await this.#reported.readFrom(log, own, (eventPartition) => offsets[`events/${eventPartition}`]);
    if (this.#reported.overflowed)
      logger.warn({ partition, remembered: this.#reported.size }, 'appending some events again, with the same ids');
    for (const [name, offset] of Object.entries(offsets))
      if (partitionIn('events', name) !== null) this.#eventOffsets[name] = offset;
  }

  async #checkSilenceAt(untilMs: number): Promise<void> {
    const events: FleetEvent[] = [];
    this.#engine.advance(untilMs, events);
    noteNoCause(events);
    this.#unsaved = true;
    await this.#append(events);
    this.#publishUpdated();
  }

  async #applyAll(changes: readonly DefinitionChange[]): Promise<void> {
    const events: FleetEvent[] = [];
    for (const change of changes) {
      // Whether or not the engine has a state of it: the hub may have a status that an earlier run published.
      if (change.kind === 'vehicle' && change.definition === null) this.#deleted.push(change.id as VehicleId);
      events.push(...this.#engine.applyDefinition(change));
    }
    noteNoCause(events);
    this.#unsaved = true;
    await this.#append(events);
    this.#publishUpdated();
  }

  /** The newest change of each definition: earlier ones, which may be many and large, are not kept in memory. */
  async #readNewestDefinitions(): Promise<DefinitionChange[]> {
    const newest = new Map<string, DefinitionChange>();
    await this.#eachDefinition(({ change }) => {
      const known = newest.get(change.id);
      if (known === undefined || known.version < change.version) newest.set(change.id, change);
    });
    return [...newest.values()];
  }

  /** Changes after the partition's offsets, up to the newest. */
  async #readDefinitions(): Promise<PlacedChange[]> {
    const changes: PlacedChange[] = [];
    await this.#eachDefinition((placed) => changes.push(placed));
    return changes;
  }

  async #eachDefinition(take: (placed: PlacedChange) => void): Promise<void> {
    const { log } = this.#parts;
    for (const [partition, end] of await log.endOffsets(definitionsTopic)) {
      const from = this.#definitionOffsets.get(partition) ?? 'earliest';
      if (from !== 'earliest' && from >= end) continue;
      for await (const { records } of log.read(definitionRecordsTopic, partition, from, end))
        for (const { offset, value } of records)
          if (value.change !== null) take({ partition, offset, change: value.change });
      this.#definitionOffsets.set(partition, end);
    }
  }

  /** Queues a change; one that was applied before is left out. */
  #hold(placed: PlacedChange): void {
    const next = this.#definitionOffsets.get(placed.partition) ?? 0;
    if (placed.offset < next) return;
    this.#definitionOffsets.set(placed.partition, placed.offset + 1);
    this.#held.push(placed);
  }

  /** Applies the queued changes, once the replay has repeated all events published before the start. */
  async #releaseWhenReplayed(): Promise<void> {
    if (this.#reported.size > 0) {
      if (this.#position < this.#replayEnd) return;
      this.#reported.clear();
    }
    if (this.#held.length === 0) return;
    const changes = this.#held.map(({ change }) => change);
    await this.#save({ changes, silenceCheckedMs: null });
    this.#held = [];
    await this.#applyAll(changes);
  }

  async #append(made: FleetEvent[]): Promise<void> {
    if (made.length === 0) return;
    const { log, logger, metrics } = this.#parts;
    const events = this.#reported.withoutPublished(made);
    metrics.replayed.inc(made.length - events.length);
    await this.#put(async () => {
      await appendAll(log, eventsTopic, events, () => metrics.logFull.inc(), this.#parts.clock);
      metrics.countEvents(events);
      this.#measure('event', events.find(({ receivedAtMs }) => receivedAtMs != null)?.receivedAtMs ?? null);
      if (!isDebugEnabled(logger)) return;
      for (const { id, kind, phase, vehicleId, traceId } of events)
        logger.debug({ traceId, eventId: id, kind, phase, vehicleId }, 'event');
    });
  }

  /**
   * Appends to the log after the previous append. Callers that need the result get its failure.
   */
  async #put(append: () => Promise<void>): Promise<void> {
    await this.#appending;
    this.#appending = append();
    this.#appending.catch(() => {});
  }

  #publishUpdated(): void {
    for (const status of this.#engine.takeUpdated()) this.#updated.set(status.vehicleId, status);
    this.#report();
  }

  /**
   * Sends changed statuses to the hub, once their events are durable: a status agrees with the events, and no crash can
   * revert a visible one. Statuses that change meanwhile follow together. A failure is thrown at the next turn.
   */
  #report(): void {
    if (this.#updated.size + this.#deleted.length === 0 || this.#reporting !== null || this.#publishFailed !== null)
      return;
    const { hub } = this.#parts;
    const deleted = this.#deleted;
    this.#deleted = [];
    for (const id of deleted) this.#updated.delete(id);
    const updated = [...this.#updated.values()];
    const firstReceivedAtMs = this.#updatedFirstReceivedAtMs;
    this.#updated.clear();
    this.#updatedFirstReceivedAtMs = null;
    this.#reporting = this.#appending
      .then(async () => {
        if (deleted.length > 0) await hub.forgetLatest(deleted);
        if (updated.length > 0) await hub.updateLatest(updated);
      })
      .then(() => this.#measure('live', firstReceivedAtMs))
      .catch((error: unknown) => {
        this.#publishFailed = { error };
      })
      .finally(() => {
        this.#reporting = null;
        this.#report();
      });
  }

  /** Measures the time since the reception of a packet; clocks of two machines may differ. */
  #measure(stage: 'live' | 'event', receivedAtMs: number | null): void {
    if (receivedAtMs === null) return;
    this.#parts.metrics.endToEnd.observe({ stage }, Math.max(0, this.#parts.clock.now() - receivedAtMs) / 1000);
  }

  /** Before the checkpoint, as events are: a replay reports them again, which changes nothing. */
  async #appendLate(records: readonly LogRecord<TelemetryPacket>[]): Promise<void> {
    const { log, logger, metrics } = this.#parts;
    const late = this.#engine.takeLate().map((each) => ({ ...each, hasAlarm: raisesAlarm(each, records) }));
    if (late.length === 0) return;
    await this.#put(async () => {
      await appendAll(log, lateTopic, late, () => metrics.logFull.inc(), this.#parts.clock);
      metrics.late.inc(late.length);
      if (!isDebugEnabled(logger)) return;
      for (const each of late) logger.debug({ traceId: traceOfLate(each, records), ...each }, 'late data');
    });
  }

  /**
   * Saves state and offsets together, once all events of the state are durable.
   *
   * @param pending what will be done right after this; without the changes the checkpoint's offset in topic
   *   `definitions` must not be beyond them
   */
  async #save(pending: Pending = NOTHING_PENDING): Promise<void> {
    const { log, checkpoints, metrics, clock } = this.#parts;
    await this.#appending;
    if (this.#reported.size === 0) {
      this.#eventOffsets = {};
      for (const [partition, end] of await log.endOffsets(eventsTopic)) this.#eventOffsets[`events/${partition}`] = end;
    }
    const offsets: Record<string, number> = { [TELEMETRY]: this.#position, ...this.#eventOffsets };
    for (const [partition, offset] of this.#definitionOffsets) offsets[`definitions/${partition}`] = offset;
    if (pending.changes === null)
      for (const { partition, offset } of this.#held)
        offsets[`definitions/${partition}`] = Math.min(offset, offsets[`definitions/${partition}`] ?? offset);

    const changed: [string, Buffer | null][] = this.#engine.takeChanges();
    const { changes, silenceCheckedMs } = pending;
    if (changes !== null) changed.push([PENDING_KEY, Buffer.from(JSON.stringify(changes.map(storedChange)))]);
    else if (this.#pendingSaved.changes !== null) changed.push([PENDING_KEY, null]);
    if (silenceCheckedMs !== null) changed.push([PENDING_SILENCE_CHECK_KEY, Buffer.from(String(silenceCheckedMs))]);
    else if (this.#pendingSaved.silenceCheckedMs !== null) changed.push([PENDING_SILENCE_CHECK_KEY, null]);
    if (this.#discardedKeys.length > 0) {
      const kept = new Set(changed.map(([key]) => key));
      for (const key of this.#discardedKeys) if (!kept.has(key)) changed.push([key, null]);
      this.#discardedKeys = [];
    }
    const stopTimer = metrics.checkpoints.startTimer();
    await checkpoints.save(CONSUMER, this.#partition, { offsets, identities: this.#identities, changed });
    stopTimer();
    log.release(telemetryTopic, this.#partition, CONSUMER, this.#position);
    this.#pendingSaved = pending;
    this.#savedAtMs = clock.now();
    this.#packetsSinceSave = 0;
    this.#unsaved = false;
  }

  /** Sends everything to a hub that lost its data. */
  async #fillHub(): Promise<void> {
    const statuses = [...this.#engine.allStatuses()];
    for (let i = 0; i < statuses.length; i += HUB_ENTRIES)
      await this.#parts.hub.updateLatest(statuses.slice(i, i + HUB_ENTRIES));
  }
}

/** An earlier version wrote the changes as they are, without the format of their definitions. */
function readPending(text: string): DefinitionChange[] {
  const changes = JSON.parse(text) as (string | DefinitionChange)[];
  return changes.map((change) => readStoredChange(typeof change === 'string' ? change : JSON.stringify(change)));
}

/**
 * The partition that a checkpoint's offset named `<topic>/<partition>` is about; null where it is about something else.
 */
function partitionIn(topic: string, name: string): number | null {
  return name.startsWith(`${topic}/`) ? Number(name.slice(topic.length + 1)) : null;
}

/** Does a record that is late, or of the same time as one that is, raise an alarm? */
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

/** Of the packet that the interval's first late fix came with. */
function traceOfLate(late: LateInterval, records: readonly LogRecord<TelemetryPacket>[]): TraceId | undefined {
  const found = records.find(
    ({ value }) => value.vehicleId === late.vehicleId && value.receivedAtMs === late.receivedAtMs,
  );
  return found?.value.trace?.id;
}
