import {
  type Clock,
  type Directory,
  type DriverId,
  FairQueue,
  type GeofenceId,
  maySeeDriver,
  maySeeGeofence,
  maySeeVehicle,
  positionJson,
  type TankLevel,
  type Timer,
  type Vehicle,
  type VehicleActivity,
  type VehicleCounters,
  type VehicleId,
  type VehicleStatus,
  vehicleCountersJson,
} from '@outrider/domain';
import type { Hub, Unsubscribe } from '@outrider/hub';
import type { Audiences } from '../audiences.ts';
import { VehicleNumbers, vehiclesFrame } from '../binary.ts';
import type { LiveClient } from '../client.ts';
import type { CurrentDrivers } from '../current-drivers.ts';
import { jsonFrame } from '../frames.ts';
import type { LiveMetrics } from '../live-metrics.ts';
import { type Subscription, wantsVehicle } from '../messages.ts';
import { BinaryMessages, driversFrame, ListMessages, SingleMessages, tanksFrame } from '../status-queue.ts';
import { liveStateJson, type Sight, StatusUpdate } from '../status-update.ts';
import type { UnsentBytes } from '../unsent-bytes.ts';

export interface StatusFeedContext {
  hub: Pick<Hub, 'latest' | 'onLatest'>;
  directory: Directory;
  audiences: Audiences<LiveClient>;
  drivers: CurrentDrivers;
  unsent: UnsentBytes;
  metrics: LiveMetrics;
  clock: Clock;
}

const SNAPSHOT_CHUNK = 1000;
/** The same while many bytes wait for slow clients. */
const SNAPSHOT_CHUNK_WHEN_SCARCE = 100;
/** Chunks that are read from the hub and sent to clients concurrently. */
const SNAPSHOTS_AT_ONCE = 32;
/** Shortest interval between two lists to a client. */
const LIST_EVERY_MS = 100;

/** Part of a vehicle's last status that decides whether the next one has news. */
interface LastStatus {
  fixTimeMs: number | null;
  activity: VehicleActivity | null;
  /** See {@link levelOf}. */
  level: number;
}

/** Parts of a status that a client has not been sent. */
interface News {
  isMoved: boolean;
  isStateNew: boolean;
  isDriverNew: boolean;
  isTankNew: boolean;
}

/** Sends positions and states from the hub to the clients that may see them. A slow client gets only the newest. */
export class StatusFeed {
  readonly #context: StatusFeedContext;
  readonly #last = new Map<VehicleId, LastStatus>();
  readonly #numbers = new VehicleNumbers();
  readonly #snapshots = new FairQueue({ atOnce: SNAPSHOTS_AT_ONCE, maxWaiting: Number.POSITIVE_INFINITY });
  /** Clients with waiting messages: one queue for clients with single messages, one for clients with lists. */
  readonly #single: FlushQueue;
  readonly #lists: FlushQueue;
  #unsubscribe: Unsubscribe | null = null;

  constructor(context: StatusFeedContext) {
    this.#context = context;
    this.#single = new FlushQueue(0, context.clock);
    this.#lists = new FlushQueue(LIST_EVERY_MS, context.clock);
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#context.hub.onLatest((statuses) => this.#onLatest(statuses));
  }

  async stop(): Promise<void> {
    await this.#unsubscribe?.();
    this.#lists.stop();
  }

  /** Starts a new subscription: drops waiting messages and sets the format of the next ones. */
  begin(client: LiveClient, subscription: Subscription): void {
    const sight = this.#sightOf(client);
    client.statuses.begin(
      client.isBinary
        ? new BinaryMessages(this.#numbers, sight, this.#context.clock.now, subscription)
        : subscription.batch
          ? new ListMessages(sight)
          : new SingleMessages(sight),
    );
  }

  forgetClient(client: LiveClient): void {
    this.#single.delete(client);
    this.#lists.delete(client);
  }

  forgetVehicle(vehicleId: VehicleId): void {
    this.#last.delete(vehicleId);
    this.#numbers.forget(vehicleId);
    this.#context.drivers.forget(vehicleId);
  }

  /** Sends the latest status of each vehicle that the client wants and may see. */
  async sendSnapshot(client: LiveClient, subscription: Subscription): Promise<void> {
    const { hub, directory, unsent, clock } = this.#context;
    const vehicleIds = [...this.#candidates(subscription)].filter((id) => this.#isVisible(client, subscription, id));
    let from = 0;
    do {
      await this.#snapshots.run(async () => {
        const ids = vehicleIds.slice(from, from + (unsent.isScarce ? SNAPSHOT_CHUNK_WHEN_SCARCE : SNAPSHOT_CHUNK));
        const statuses = await hub.latest(ids);
        from += ids.length;
        const isLast = from >= vehicleIds.length;
        // Rights may have changed during the read.
        const isVisible = (id: VehicleId) => directory.vehicles.has(id) && this.#isVisible(client, subscription, id);
        if (client.isBinary) {
          const known = new Map(statuses.map((status) => [status.vehicleId, status]));
          const vehicles = ids
            .filter(isVisible)
            .map((vehicleId) => ({ vehicleId, status: known.get(vehicleId) ?? null }));
          const options = { isSnapshot: true, isLast };
          const sight = this.#sightOf(client);
          const updates = vehicles.flatMap(({ status }) => (status === null ? [] : [this.#updateOf(status)]));
          const driven = updates.filter(({ hasDriver }) => hasDriver);
          client.send(vehiclesFrame(vehicles, this.#numbers, sight.geofence, clock.now(), options));
          for (const { vehicleId } of vehicles) client.statuses.markIntroduced(vehicleId);
          const filled = updates.filter(({ hasTank }) => hasTank);
          if (subscription.states && driven.length > 0) client.send(driversFrame(driven, sight));
          if (subscription.states && filled.length > 0) client.send(tanksFrame(filled));
        } else {
          const visible = statuses.filter(({ vehicleId }) => isVisible(vehicleId));
          client.send(jsonFrame(this.#snapshotJson(client, subscription, visible, isLast)));
        }
      });
      await client.drained();
    } while (from < vehicleIds.length && client.open);
  }

  /** Sends the known status of vehicles that have become visible to the client, if it wants them. */
  async sendKnown(client: LiveClient, vehicleIds: readonly VehicleId[]): Promise<void> {
    for (let from = 0; from < vehicleIds.length && client.open; from += SNAPSHOT_CHUNK) {
      const statuses = await this.#context.hub.latest(vehicleIds.slice(from, from + SNAPSHOT_CHUNK));
      const { subscription } = client;
      if (subscription === null) return;
      for (const status of statuses)
        if (this.#isVisible(client, subscription, status.vehicleId))
          this.#queue(client, this.#updateOf(status), {
            isMoved: status.position !== null,
            isStateNew: true,
            isDriverNew: true,
            isTankNew: status.tank !== undefined,
          });
      await client.drained();
    }
    this.#single.flushSoon();
    this.#lists.flushSoon();
  }

  /** Sends the drivers of vehicles whose driver, or whose driver's visibility, has changed. */
  async sendDrivers(vehicleIds: readonly VehicleId[], only?: LiveClient): Promise<void> {
    const { audiences, hub } = this.#context;
    const isWanted = (client: LiveClient) => client.subscription?.states === true && (only ?? client) === client;
    const wanted = vehicleIds.filter((vehicleId) => audiences.of(vehicleId).some(isWanted));
    for (let from = 0; from < wanted.length; from += SNAPSHOT_CHUNK)
      for (const status of await hub.latest(wanted.slice(from, from + SNAPSHOT_CHUNK))) {
        const update = this.#updateOf(status);
        for (const client of audiences.of(status.vehicleId))
          if (isWanted(client)) this.#queue(client, update, NEW_DRIVER);
      }
    this.#single.flushSoon();
    this.#lists.flushSoon();
  }

  /** Sends counters of vehicles to the clients that subscribed to them. */
  sendCounters(counters: readonly VehicleCounters[]): void {
    const { audiences, metrics } = this.#context;
    for (const each of counters) {
      let item: Buffer | null = null;
      for (const client of audiences.of(each.vehicleId)) {
        if (client.subscription?.counters !== true || !client.open) continue;
        item ??= Buffer.from(JSON.stringify(vehicleCountersJson(each)));
        client.statuses.addCounters(each.vehicleId, item);
        metrics.sent['vehicle-counters'].inc();
        this.#lists.add(client);
      }
    }
    this.#lists.flushSoon();
  }

  #onLatest(statuses: readonly VehicleStatus[]): void {
    for (const status of statuses) {
      const { vehicleId, position, activity } = status;
      const level = levelOf(status.tank);
      const last = this.#last.get(vehicleId);
      // A record without a usable fix carries the last known position.
      const isMoved = position !== null && last?.fixTimeMs !== position.fixTimeMs;
      const isStateNew = !isMoved || last === undefined || !isSameActivity(last.activity, activity);
      this.#last.set(vehicleId, { fixTimeMs: position?.fixTimeMs ?? null, activity, level });
      const { driverId, isNew } = this.#context.drivers.note(status);
      const audience = this.#context.audiences.of(vehicleId);
      if (audience.length === 0) continue;
      const update = new StatusUpdate(status, driverId);
      // Before the first status, clients were sent the latest one of the hub.
      const isDriverNew = isNew || (last === undefined && update.hasDriver);
      const isTankNew = level !== (last?.level ?? NO_LEVEL);
      const news = { isMoved, isStateNew, isDriverNew, isTankNew };
      for (const client of audience) this.#queue(client, update, news);
    }
    this.#single.flushSoon();
    this.#lists.flushSoon();
  }

  #updateOf(status: VehicleStatus): StatusUpdate {
    const isFirst = !this.#last.has(status.vehicleId);
    return new StatusUpdate(status, this.#context.drivers.driverIn(status, isFirst));
  }

  #queue(client: LiveClient, update: StatusUpdate, { isMoved, isStateNew, isDriverNew, isTankNew }: News): void {
    const { subscription, statuses } = client;
    if (subscription === null || !client.open) return;
    const { sent } = this.#context.metrics;
    const hasPosition = isMoved && subscription.positions;
    // A binary position includes the state and the last contact.
    const hasState =
      subscription.states && (client.isBinary ? isStateNew || (isMoved && !subscription.positions) : true);
    const hasDriver = subscription.states && client.isBinary && isDriverNew;
    const hasTank = subscription.states && client.isBinary && isTankNew;
    if (hasPosition) {
      statuses.addPosition(update);
      sent.position.inc();
    }
    if (hasState) {
      statuses.addState(update);
      sent['vehicle-state'].inc();
    }
    if (hasDriver) {
      statuses.addDriver(update);
      sent['vehicle-drivers'].inc();
    }
    if (hasTank) {
      statuses.addTank(update);
      sent['vehicle-tanks'].inc();
    }
    if (hasPosition || hasState || hasDriver || hasTank)
      (client.isBinary || subscription.batch ? this.#lists : this.#single).add(client);
  }

  #candidates({ vehicles, groups }: Subscription): Iterable<VehicleId> {
    return vehicles !== null && groups === null ? vehicles : this.#context.directory.vehicles.keys();
  }

  #isVisible(client: LiveClient, subscription: Subscription, vehicleId: VehicleId): boolean {
    const { directory } = this.#context;
    const vehicle: Vehicle | undefined = directory.vehicles.get(vehicleId);
    const user = client.callerIn(directory);
    if (vehicle === undefined || user === undefined) return false;
    return wantsVehicle(subscription, vehicle) && maySeeVehicle(user, vehicle);
  }

  #snapshotJson(
    client: LiveClient,
    { positions, states }: Subscription,
    visible: readonly VehicleStatus[],
    isLast: boolean,
  ): object {
    const sight = this.#sightOf(client);
    return {
      type: 'snapshot',
      positions: visible.flatMap(({ vehicleId, position }) =>
        positions && position !== null ? positionJson(vehicleId, position) : [],
      ),
      ...(states ? { states: visible.map((status) => liveStateJson(this.#updateOf(status), sight)) } : {}),
      complete: isLast,
    };
  }

  /** Evaluates the rights at the time of each call. */
  #sightOf(client: LiveClient): Sight {
    const { directory } = this.#context;
    return {
      geofence: (geofenceId: GeofenceId) => {
        const user = client.callerIn(directory);
        const geofence = directory.geofences.get(geofenceId);
        if (user === undefined || geofence === undefined) return false;
        return maySeeGeofence(user, geofence, directory.ownerOf(geofence) ?? null);
      },
      driver: (driverId: DriverId) => {
        const user = client.callerIn(directory);
        const driver = directory.drivers.get(driverId);
        if (user === undefined || driver === undefined || !maySeeDriver(user, driver)) return null;
        return { id: driver.id, name: driver.name };
      },
    };
  }
}

/**
 * Clients that are flushed together: at the end of the event loop turn, and at most once per interval.
 */
class FlushQueue {
  readonly #everyMs: number;
  readonly #clock: Clock;
  readonly #clients = new Set<LiveClient>();
  #isScheduled = false;
  #pause: Timer | null = null;

  constructor(everyMs: number, clock: Clock) {
    this.#clock = clock;
    this.#everyMs = everyMs;
  }

  add(client: LiveClient): void {
    this.#clients.add(client);
  }

  delete(client: LiveClient): void {
    this.#clients.delete(client);
  }

  flushSoon(): void {
    if (this.#clients.size === 0 || this.#isScheduled || this.#pause !== null) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      for (const client of this.#clients) client.flushStatuses();
      this.#clients.clear();
      if (this.#everyMs === 0) return;
      this.#pause = this.#clock.after(this.#everyMs, () => {
        this.#pause = null;
        this.flushSoon();
      });
    });
  }

  stop(): void {
    this.#pause?.cancel();
    this.#clients.clear();
  }
}

const NEW_DRIVER: News = { isMoved: false, isStateNew: false, isDriverNew: true, isTankNew: false };

const NO_LEVEL = -1;

/** Fuel level as one number, at the resolution of lists: whole percent, and whether the tank is filled or drained. */
function levelOf(tank: TankLevel | undefined): number {
  if (tank === undefined) return NO_LEVEL;
  const change = tank.change === undefined ? 0 : tank.change === 'refuelling' ? 1 : 2;
  return 3 * Math.max(0, Math.round((100 * tank.levelL) / tank.capacityL)) + change;
}

/** Compares by value: both come from the engine, which leaves unchanged parts equal. */
function isSameActivity(one: VehicleActivity | null, other: VehicleActivity | null): boolean {
  if (one === null || other === null) return one === other;
  return (
    one.state === other.state &&
    one.sinceMs === other.sinceMs &&
    one.ignition === other.ignition &&
    isSameList(one.alarms, other.alarms) &&
    isSameList(one.geofenceIds, other.geofenceIds) &&
    isSameList(one.speeding, other.speeding)
  );
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, nth) => value === other[nth]);
}
