import { randomUUID } from 'node:crypto';
import {
  type Clock,
  COUNTERS_CHANNEL,
  type CountersNews,
  type Directory,
  MAINTENANCE_CHANNEL,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import { type Checkpoints, eventsTopic, type Log } from '@outrider/log';
import type { KeptState, Registry } from '@outrider/registry';
import { Counter, type Logger, type Metrics, type Part, type Poller, poller } from '@outrider/runtime';
import { appendAll } from '../append-all.ts';
import { ArchiveBehind, ArchiveProgress } from '../recalculation/archive-progress.ts';
import type { History } from '../recalculation/recalculate-vehicle.ts';
import { type CountedHistory, countVehicles } from './counting.ts';
import { judgePlans } from './maintenance.ts';
import { findReached } from './reached.ts';
import type { FindReached } from './timeline.ts';

export interface CounterKeeperParts {
  config?: {
    /** Default 15,000. */
    pollMs?: number;
    /** Minimum interval between counts while nobody reads counters. Default: none, each poll counts. */
    unreadMs?: number;
  };
  log: Pick<Log, 'append' | 'endOffsets' | 'locate'>;
  checkpoints: Pick<Checkpoints, 'load'>;
  hub: Pick<Hub, 'latest' | 'holdLease' | 'releaseLease' | 'publish' | 'subscribe'>;
  registry: Pick<Registry, 'counters' | 'customCounters' | 'maintenance'>;
  history: CountedHistory & Pick<History, 'replaceEvents'>;
  /** Makes the archiver of this process insert its buffered rows. Undefined: it runs elsewhere. */
  hurryArchiver?: () => Promise<void>;
  directory: Directory;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
}

export interface CounterKeeper extends Part {
  /** False while vehicles can't be counted. */
  readonly healthy: boolean;
  /** Notes that somebody reads counters: vehicles are counted at each poll for a while. */
  read(): void;
  /** Counts all vehicles, and evaluates all plans, once. @returns false where another process does */
  work(): Promise<boolean>;
}

const LEASE = 'counters';
const LEASE_MS = 60_000;
/** Vehicles per status query to the hub. */
const AT_ONCE = 500;
/** Time after a read of counters during which each poll counts: readers usually read again. */
const READ_MS = 15 * 60_000;
const MAX_STALE = 1000;
const MAX_UNSENT = 500;
/** Maximum counting rounds for vehicles with a long history, before others have a turn. */
const MAX_ROUNDS = 200;

class LostLease extends Error {}

/**
 * Keeps the counters of all vehicles, and finds which maintenance is due. One process at a time does so, under a
 * lease. If two processes do so at once, results are still stored once.
 */
export function createCounterKeeper(parts: CounterKeeperParts): CounterKeeper {
  return new LeasedCounterKeeper(parts);
}

class LeasedCounterKeeper implements CounterKeeper {
  readonly name = 'counters';
  readonly #parts: CounterKeeperParts;
  readonly #holder = randomUUID();
  readonly #archive: ArchiveProgress;
  readonly #published: Counter;
  readonly #polling: Poller;
  #heldUntilMs = 0;
  /**
   * Earliest time of the next count. Counting takes at most a quarter of the time: a large fleet is counted less often.
   */
  #countAgainMs = 0;
  /** Vehicles are counted at each poll until this time, … */
  #readUntilMs = 0;
  /** … and else not before this one. */
  #dueAtMs = 0;
  #unsubscribe: (() => Promise<void>) | null = null;

  constructor(parts: CounterKeeperParts) {
    const { config, log, checkpoints, hurryArchiver, logger, metrics, clock } = parts;
    this.#parts = parts;
    this.#archive = new ArchiveProgress(log, checkpoints, clock, hurryArchiver);
    this.#published = new Counter({
      name: 'outrider_maintenance_events_total',
      help: 'Maintenance events published to the log',
      registers: [metrics],
    });
    this.#polling = poller({
      name: this.name,
      everyMs: config?.pollMs ?? 15_000,
      logger,
      clock,
      work: async (signal) => {
        await this.#work(signal);
      },
    });
  }

  get healthy(): boolean {
    return this.#polling.healthy;
  }

  work(): Promise<boolean> {
    return this.#work(new AbortController().signal);
  }

  read(): void {
    const { clock } = this.#parts;
    const isNew = clock.now() >= this.#readUntilMs;
    this.#readUntilMs = clock.now() + READ_MS;
    if (isNew) this.#polling.wake();
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#parts.hub.subscribe(MAINTENANCE_CHANNEL, () => {
      this.#dueAtMs = 0;
      this.#polling.wake();
    });
    await this.#polling.start();
  }

  async stop(): Promise<void> {
    await this.#unsubscribe?.();
    await this.#polling.stop();
    await this.#parts.hub.releaseLease(LEASE, this.#holder).catch(() => {});
  }

  async #work(signal: AbortSignal): Promise<boolean> {
    const { config, registry, history, directory, clock } = this.#parts;
    const { counters, customCounters, maintenance } = registry;
    if (!(await this.#hold())) return false;
    try {
      const startMs = clock.now();
      if (startMs >= this.#countAgainMs && (startMs < this.#readUntilMs || startMs >= this.#dueAtMs)) {
        // Set before the count: a change meanwhile resets it, and vehicles are counted again.
        this.#dueAtMs = startMs + (config?.unreadMs ?? 0);
        await this.#countAll(signal);
        this.#countAgainMs = clock.now() + 3 * (clock.now() - startMs);
      }
    } catch (error) {
      this.#dueAtMs = 0;
      if (error instanceof LostLease) return false;
      if (!(error instanceof ArchiveBehind)) throw error;
    }
    if (!(await this.#hold())) return false;
    const stopped = () => signal.throwIfAborted();
    const latest = (vehicleIds: readonly VehicleId[]) => this.#latest(vehicleIds);
    const find =
      (vehicleId: VehicleId): FindReached =>
      (counter, value) =>
        findReached({ history, counters, customCounters }, vehicleId, counter, value, stopped);
    await judgePlans({ maintenance, counters, customCounters, directory, latest, find }, clock.now(), stopped);
    await this.#publish();
    return true;
  }

  async #hold(): Promise<boolean> {
    const { hub, clock } = this.#parts;
    if (!(await hub.holdLease(LEASE, this.#holder, LEASE_MS))) return false;
    this.#heldUntilMs = clock.now() + LEASE_MS;
    return true;
  }

  #check(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (this.#parts.clock.now() > this.#heldUntilMs) throw new LostLease();
  }

  async #latest(vehicleIds: readonly VehicleId[]): Promise<readonly VehicleStatus[]> {
    const statuses: VehicleStatus[] = [];
    for (let at = 0; at < vehicleIds.length; at += AT_ONCE)
      statuses.push(...(await this.#parts.hub.latest(vehicleIds.slice(at, at + AT_ONCE))));
    return statuses;
  }

  async #countAll(signal: AbortSignal): Promise<void> {
    const { history, registry, directory } = this.#parts;
    const { counters, customCounters } = registry;
    const check = () => this.#check(signal);
    const announce = (vehicleIds: readonly VehicleId[]) => this.#announce(vehicleIds);
    const statuses = await this.#latest([...directory.vehicles.keys()]);
    await this.#archive.caughtUp(async () => check(), signal);
    const stale = await counters.stale(MAX_STALE);
    const contact = new Map(statuses.map(({ vehicleId, lastContactAtMs }) => [vehicleId, lastContactAtMs]));
    for (const vehicleId of stale) if (!contact.has(vehicleId)) contact.set(vehicleId, 0);
    let open = [...contact].map(([vehicleId, lastContactAtMs]) => ({ vehicleId, lastContactAtMs }));
    for (let round = 0; open.length > 0 && round < MAX_ROUNDS; round++) {
      if (round % 10 === 9) await this.#hold();
      const unfinished = new Set(await countVehicles(history, counters, customCounters, open, check, announce));
      open = open.filter(({ vehicleId }) => unfinished.has(vehicleId));
    }
  }

  /** Announces counted vehicles. A lost announcement is not repeated: that of the next count makes up for it. */
  #announce(vehicleIds: readonly VehicleId[]): void {
    const { hub, logger } = this.#parts;
    hub.publish(COUNTERS_CHANNEL, JSON.stringify({ vehicleIds } satisfies CountersNews)).catch((error) => {
      logger.debug({ err: error }, 'publishing counters failed');
    });
  }

  /**
   * Publishes unsent events. The archive is corrected first: clients that are notified of an event find its current
   * state there. A repetition changes nothing.
   */
  async #publish(): Promise<void> {
    const { log, registry, logger, clock } = this.#parts;
    const { maintenance } = registry;
    for (;;) {
      const states = await maintenance.unsent(MAX_UNSENT);
      if (states.length === 0) return;
      await this.#rewrite(states);
      const events = states.flatMap(({ unsent }) => unsent);
      await appendAll(log, eventsTopic, events, () => {}, clock);
      await maintenance.saveStates(states.map((state) => ({ ...state, unsent: [], written: [], removed: [] })));
      this.#published.inc(events.length);
      for (const { id, phase, vehicleId } of events)
        logger.debug({ eventId: id, phase, vehicleId }, 'maintenance event published');
    }
  }

  async #rewrite(states: readonly KeptState[]): Promise<void> {
    const { history, clock } = this.#parts;
    const written = states.flatMap((state) => state.written);
    const ids = new Set(written.map(({ id }) => id));
    const removed = states.flatMap((state) => state.removed).filter(({ id }) => !ids.has(id));
    if (written.length + removed.length > 0) await history.replaceEvents({ number: clock.now(), written, removed });
  }
}
