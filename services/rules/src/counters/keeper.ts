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
import { Counter, type Logger, type Metrics, type Part, poller } from '@outrider/runtime';
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
    /** How long vehicles are not counted while nobody reads counters. Default: no longer than else. */
    unreadMs?: number;
  };
  log: Pick<Log, 'append' | 'endOffsets' | 'locate'>;
  checkpoints: Pick<Checkpoints, 'load'>;
  hub: Pick<Hub, 'latest' | 'holdLease' | 'releaseLease' | 'publish' | 'subscribe'>;
  registry: Pick<Registry, 'counters' | 'customCounters' | 'maintenance'>;
  history: CountedHistory & Pick<History, 'replaceEvents'>;
  /** Has the archiver of this process insert what it has gathered. Undefined: it runs elsewhere. */
  hurryArchiver?: () => Promise<void>;
  directory: Directory;
  logger: Logger;
  metrics: Metrics;
  clock: Clock;
}

export interface CounterKeeper extends Part {
  /** False while vehicles can't be counted. */
  readonly healthy: boolean;
  /** Somebody reads counters: vehicles are counted at each poll for a while. */
  read(): void;
  /** Counts all, and judges all plans, once. @returns false where another process does */
  work(): Promise<boolean>;
}

const LEASE = 'counters';
const LEASE_MS = 60_000;
/** Vehicles whose states are asked for by one call to the hub. */
const AT_ONCE = 500;
/** Who reads counters reads them again. */
const READ_MS = 15 * 60_000;
const MAX_STALE = 1000;
const MAX_UNSENT = 500;
/** Rounds over vehicles with a long history, before others have a turn. */
const MAX_ROUNDS = 200;

class LostLease extends Error {}

/**
 * Keeps the counters of all vehicles, and finds which maintenance is due. One process does so at a time; what two of
 * them would do at once is stored once.
 */
export function createCounterKeeper(parts: CounterKeeperParts): CounterKeeper {
  const { log, hub, registry, history, directory, logger, clock } = parts;
  const { counters, customCounters, maintenance } = registry;
  const { pollMs = 15_000, unreadMs = 0 } = parts.config ?? {};
  const holder = randomUUID();
  const archive = new ArchiveProgress(log, parts.checkpoints, clock, parts.hurryArchiver);
  const published = new Counter({
    name: 'outrider_maintenance_events_total',
    help: 'Events of maintenance put into the log',
    registers: [parts.metrics],
  });
  let heldUntilMs = 0;
  /** A large fleet is counted less often: counting takes a quarter of the time at most. */
  let countAgainMs = 0;
  /** Vehicles are counted at each poll until the one, and else not before the other. */
  let [readUntilMs, dueAtMs] = [0, 0];
  let unsubscribe: (() => Promise<void>) | null = null;

  async function hold(): Promise<boolean> {
    if (!(await hub.holdLease(LEASE, holder, LEASE_MS))) return false;
    heldUntilMs = clock.now() + LEASE_MS;
    return true;
  }

  function check(signal: AbortSignal): void {
    signal.throwIfAborted();
    if (clock.now() > heldUntilMs) throw new LostLease();
  }

  async function latest(vehicleIds: readonly VehicleId[]): Promise<readonly VehicleStatus[]> {
    const statuses: VehicleStatus[] = [];
    for (let at = 0; at < vehicleIds.length; at += AT_ONCE)
      statuses.push(...(await hub.latest(vehicleIds.slice(at, at + AT_ONCE))));
    return statuses;
  }

  /** What is lost on its way is made good by what is counted next. */
  function announce(vehicleIds: readonly VehicleId[]): void {
    hub.publish(COUNTERS_CHANNEL, JSON.stringify({ vehicleIds } satisfies CountersNews)).catch((error) => {
      logger.debug({ err: error }, 'announcing counters failed');
    });
  }

  async function countAll(signal: AbortSignal): Promise<void> {
    const statuses = await latest([...directory.vehicles.keys()]);
    await archive.caughtUp(async () => check(signal), signal);
    const stale = await counters.stale(MAX_STALE);
    const contact = new Map(statuses.map(({ vehicleId, lastContactAtMs }) => [vehicleId, lastContactAtMs]));
    for (const vehicleId of stale) if (!contact.has(vehicleId)) contact.set(vehicleId, 0);
    let open = [...contact].map(([vehicleId, lastContactAtMs]) => ({ vehicleId, lastContactAtMs }));
    for (let round = 0; open.length > 0 && round < MAX_ROUNDS; round++) {
      if (round % 10 === 9) await hold();
      const counted = countVehicles(history, counters, customCounters, open, () => check(signal), announce);
      const unfinished = new Set(await counted);
      open = open.filter(({ vehicleId }) => unfinished.has(vehicleId));
    }
  }

  /** The archive first: clients that are notified of an event find it as it is. What is repeated changes nothing. */
  async function publish(): Promise<void> {
    for (;;) {
      const states = await maintenance.unsent(MAX_UNSENT);
      if (states.length === 0) return;
      await rewrite(states);
      const events = states.flatMap(({ unsent }) => unsent);
      await appendAll(log, eventsTopic, events, () => {}, clock);
      await maintenance.saveStates(states.map((state) => ({ ...state, unsent: [], written: [], removed: [] })));
      published.inc(events.length);
      for (const { id, phase, vehicleId } of events) logger.debug({ eventId: id, phase, vehicleId }, 'maintenance');
    }
  }

  async function rewrite(states: readonly KeptState[]): Promise<void> {
    const written = states.flatMap((state) => state.written);
    const ids = new Set(written.map(({ id }) => id));
    const removed = states.flatMap((state) => state.removed).filter(({ id }) => !ids.has(id));
    if (written.length + removed.length > 0) await history.replaceEvents({ number: clock.now(), written, removed });
  }

  async function work(signal: AbortSignal): Promise<boolean> {
    if (!(await hold())) return false;
    try {
      const startMs = clock.now();
      if (startMs >= countAgainMs && (startMs < readUntilMs || startMs >= dueAtMs)) {
        // What is changed meanwhile asks for another time.
        dueAtMs = startMs + unreadMs;
        await countAll(signal);
        countAgainMs = clock.now() + 3 * (clock.now() - startMs);
      }
    } catch (error) {
      dueAtMs = 0;
      if (error instanceof LostLease) return false;
      if (!(error instanceof ArchiveBehind)) throw error;
    }
    if (!(await hold())) return false;
    const stopped = () => signal.throwIfAborted();
    const find =
      (vehicleId: VehicleId): FindReached =>
      (counter, value) =>
        findReached({ history, counters, customCounters }, vehicleId, counter, value, stopped);
    await judgePlans({ maintenance, counters, customCounters, directory, latest, find }, clock.now(), stopped);
    await publish();
    return true;
  }

  const polling = poller({
    name: 'counters',
    everyMs: pollMs,
    logger,
    clock,
    async work(signal) {
      await work(signal);
    },
  });

  return {
    name: polling.name,
    get healthy() {
      return polling.healthy;
    },
    work: () => work(new AbortController().signal),
    read() {
      const isNew = clock.now() >= readUntilMs;
      readUntilMs = clock.now() + READ_MS;
      if (isNew) polling.wake();
    },
    async start() {
      unsubscribe = await hub.subscribe(MAINTENANCE_CHANNEL, () => {
        dueAtMs = 0;
        polling.wake();
      });
      await polling.start();
    },
    async stop() {
      await unsubscribe?.();
      await polling.stop();
      await hub.releaseLease(LEASE, holder).catch(() => {});
    },
  };
}
