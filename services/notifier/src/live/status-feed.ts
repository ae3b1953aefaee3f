import {
  type Directory,
  type GeofenceId,
  maySeeGeofence,
  maySeeVehicle,
  positionJson,
  type Vehicle,
  type VehicleActivity,
  type VehicleId,
  type VehicleStatus,
} from '@outrider/domain';
import type { Hub, Unsubscribe } from '@outrider/hub';
import { Slots } from '../slots.ts';
import type { Audiences } from './audiences.ts';
import { VehicleNumbers, vehiclesFrame } from './binary.ts';
import type { LiveClient } from './client.ts';
import { jsonFrame } from './frames.ts';
import type { LiveMetrics } from './live-metrics.ts';
import { type Subscription, wantsVehicle } from './messages.ts';
import { BinaryMessages, ListMessages, SingleMessages } from './status-queue.ts';
import { liveStateJson, type SeesGeofence, StatusUpdate } from './status-update.ts';
import type { UnsentBytes } from './unsent-bytes.ts';

export interface StatusFeedContext {
  hub: Pick<Hub, 'latest' | 'onLatest'>;
  directory: Directory;
  audiences: Audiences<LiveClient>;
  unsent: UnsentBytes;
  metrics: LiveMetrics;
  now(): number;
}

const SNAPSHOT_CHUNK = 1000;
/** The same, while much waits for slow clients already. */
const SNAPSHOT_CHUNK_WHEN_SCARCE = 100;
/** Chunks that are on their way from the hub to clients at the same time. */
const SNAPSHOTS_AT_ONCE = 32;
/** Clients that take lists are sent one at most this often. */
const LIST_EVERY_MS = 100;

/** What of a vehicle's last status decides whether the next one is news. */
interface LastStatus {
  fixTimeMs: number | null;
  activity: VehicleActivity | null;
}

/** Positions and states from the hub to the clients that may see them, the newest only where a client is slow. */
export class StatusFeed {
  readonly #context: StatusFeedContext;
  readonly #last = new Map<VehicleId, LastStatus>();
  readonly #numbers = new VehicleNumbers();
  readonly #snapshots = new Slots(SNAPSHOTS_AT_ONCE);
  /** Clients for which something waits: those that take messages one by one, and those that take lists. */
  readonly #single = new FlushQueue(0);
  readonly #lists = new FlushQueue(LIST_EVERY_MS);
  #unsubscribe: Unsubscribe | null = null;

  constructor(context: StatusFeedContext) {
    this.#context = context;
  }

  async start(): Promise<void> {
    this.#unsubscribe = await this.#context.hub.onLatest((statuses) => this.#onLatest(statuses));
  }

  async stop(): Promise<void> {
    await this.#unsubscribe?.();
    this.#lists.stop();
  }

  /** What waits for a client is for another subscription now; the next messages have its format. */
  begin(client: LiveClient, { batch }: Subscription): void {
    const sees = this.#seesGeofence(client);
    client.statuses.begin(
      client.isBinary
        ? new BinaryMessages(this.#numbers, sees, this.#context.now)
        : batch
          ? new ListMessages(sees)
          : new SingleMessages(sees),
    );
  }

  forgetClient(client: LiveClient): void {
    this.#single.delete(client);
    this.#lists.delete(client);
  }

  forgetVehicle(vehicleId: VehicleId): void {
    this.#last.delete(vehicleId);
    this.#numbers.forget(vehicleId);
  }

  /** The latest status of each vehicle that the client wants and may see. */
  async sendSnapshot(client: LiveClient, subscription: Subscription): Promise<void> {
    const { hub, directory, unsent, now } = this.#context;
    const vehicleIds = [...this.#candidates(subscription)].filter((id) => this.#isVisible(client, subscription, id));
    let from = 0;
    do {
      await this.#snapshots.run(async () => {
        const ids = vehicleIds.slice(from, from + (unsent.isScarce ? SNAPSHOT_CHUNK_WHEN_SCARCE : SNAPSHOT_CHUNK));
        const statuses = await hub.latest(ids);
        from += ids.length;
        const isLast = from >= vehicleIds.length;
        // Rights may have changed meanwhile.
        const isVisible = (id: VehicleId) => directory.vehicles.has(id) && this.#isVisible(client, subscription, id);
        if (client.isBinary) {
          const known = new Map(statuses.map((status) => [status.vehicleId, status]));
          const vehicles = ids
            .filter(isVisible)
            .map((vehicleId) => ({ vehicleId, status: known.get(vehicleId) ?? null }));
          const options = { isSnapshot: true, isLast };
          client.send(vehiclesFrame(vehicles, this.#numbers, this.#seesGeofence(client), now(), options));
          for (const { vehicleId } of vehicles) client.statuses.markIntroduced(vehicleId);
        } else {
          const visible = statuses.filter(({ vehicleId }) => isVisible(vehicleId));
          client.send(jsonFrame(this.#snapshotJson(client, subscription, visible, isLast)));
        }
      });
      await client.drained();
    } while (from < vehicleIds.length && client.open);
  }

  /** Sends what is known of vehicles that the client could not see before, if it wants them. */
  async sendKnown(client: LiveClient, vehicleIds: readonly VehicleId[]): Promise<void> {
    for (let from = 0; from < vehicleIds.length && client.open; from += SNAPSHOT_CHUNK) {
      const statuses = await this.#context.hub.latest(vehicleIds.slice(from, from + SNAPSHOT_CHUNK));
      const { subscription } = client;
      if (subscription === null) return;
      for (const status of statuses)
        if (this.#isVisible(client, subscription, status.vehicleId))
          this.#queue(client, new StatusUpdate(status), status.position !== null, true);
      await client.drained();
    }
    this.#single.flushSoon();
    this.#lists.flushSoon();
  }

  #onLatest(statuses: readonly VehicleStatus[]): void {
    for (const status of statuses) {
      const { vehicleId, position, activity } = status;
      const last = this.#last.get(vehicleId);
      // A record without a usable fix comes with the position that is known already.
      const isMoved = position !== null && last?.fixTimeMs !== position.fixTimeMs;
      const isStateNew = !isMoved || last === undefined || !isSameActivity(last.activity, activity);
      this.#last.set(vehicleId, { fixTimeMs: position?.fixTimeMs ?? null, activity });
      const audience = this.#context.audiences.of(vehicleId);
      if (audience.length === 0) continue;
      const update = new StatusUpdate(status);
      for (const client of audience) this.#queue(client, update, isMoved, isStateNew);
    }
    this.#single.flushSoon();
    this.#lists.flushSoon();
  }

  #queue(client: LiveClient, update: StatusUpdate, isMoved: boolean, isStateNew: boolean): void {
    const { subscription, statuses } = client;
    if (subscription === null || !client.open) return;
    const { sent } = this.#context.metrics;
    const hasPosition = isMoved && subscription.positions;
    // A binary position has the state and the last contact.
    const hasState = subscription.states && (isStateNew || !client.isBinary || !subscription.positions);
    if (hasPosition) {
      statuses.addPosition(update);
      sent.position.inc();
    }
    if (hasState) {
      statuses.addState(update);
      sent['vehicle-state'].inc();
    }
    if (hasPosition || hasState) (client.isBinary || subscription.batch ? this.#lists : this.#single).add(client);
  }

  #candidates({ vehicles, groups }: Subscription): Iterable<VehicleId> {
    return vehicles !== null && groups === null ? vehicles : this.#context.directory.vehicles.keys();
  }

  #isVisible({ userId }: LiveClient, subscription: Subscription, vehicleId: VehicleId): boolean {
    const { directory } = this.#context;
    const vehicle: Vehicle | undefined = directory.vehicles.get(vehicleId);
    const user = userId === null ? undefined : directory.users.get(userId);
    if (vehicle === undefined || user === undefined) return false;
    return wantsVehicle(subscription, vehicle) && maySeeVehicle(user, vehicle);
  }

  #snapshotJson(
    client: LiveClient,
    { positions, states }: Subscription,
    visible: readonly VehicleStatus[],
    isLast: boolean,
  ): object {
    const sees = this.#seesGeofence(client);
    return {
      type: 'snapshot',
      positions: visible.flatMap(({ vehicleId, position }) =>
        positions && position !== null ? positionJson(vehicleId, position) : [],
      ),
      ...(states ? { states: visible.map((status) => liveStateJson(status, sees)) } : {}),
      complete: isLast,
    };
  }

  /** By the rights of the moment at which it is called. */
  #seesGeofence(client: LiveClient): SeesGeofence {
    const { directory } = this.#context;
    return (geofenceId: GeofenceId) => {
      const user = client.userId === null ? undefined : directory.users.get(client.userId);
      const geofence = directory.geofences.get(geofenceId);
      if (user === undefined || geofence === undefined) return false;
      return maySeeGeofence(user, geofence, directory.ownerOf(geofence) ?? null);
    };
  }
}

/**
 * Clients that are flushed together: at the end of the turn of the event loop, and no sooner than a time after the
 * last.
 */
class FlushQueue {
  readonly #everyMs: number;
  readonly #clients = new Set<LiveClient>();
  #isScheduled = false;
  #pause: NodeJS.Timeout | null = null;

  constructor(everyMs: number) {
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
      this.#pause = setTimeout(() => {
        this.#pause = null;
        this.flushSoon();
      }, this.#everyMs);
    });
  }

  stop(): void {
    if (this.#pause !== null) clearTimeout(this.#pause);
    this.#clients.clear();
  }
}

/** Both come from the engine: what did not change is equal in all its parts. */
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
