import type { Clock, VehicleId, VehicleStatus } from '@outrider/domain';
import type { Hub } from '@outrider/hub';
import type { RulesMetrics } from '../metrics.ts';

const ENTRIES_AT_ONCE = 1000;

export interface HubUpdateParts {
  hub: Hub;
  metrics: RulesMetrics;
  clock: Clock;
}

/**
 * Sends changed statuses to the hub once their events are durable: a status agrees with the events, and no crash can
 * revert a visible one. Statuses that change during an update are sent together after it.
 */
export class HubUpdates {
  readonly #parts: HubUpdateParts;
  /** Resolves when the events made up to now are durable. */
  readonly #durable: () => Promise<void>;
  readonly #updated = new Map<VehicleId, VehicleStatus>();
  /** Vehicles deleted since the last update. */
  #deleted: VehicleId[] = [];
  /** When the gateway received the first packet that changed a waiting status. */
  #firstReceivedAtMs: number | null = null;
  #running: Promise<void> | null = null;
  #failure: { error: unknown } | null = null;

  /** @param durable resolves when the events made up to now are durable */
  constructor(parts: HubUpdateParts, durable: () => Promise<void>) {
    this.#parts = parts;
    this.#durable = durable;
  }

  /** Resolves when the update in progress is over. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** @throws the error of a failed update, or of the append before it */
  throwFailure(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Sends everything to a hub that lost its data. */
  async fill(all: Iterable<VehicleStatus>): Promise<void> {
    const statuses = [...all];
    for (let i = 0; i < statuses.length; i += ENTRIES_AT_ONCE)
      await this.#parts.hub.updateLatest(statuses.slice(i, i + ENTRIES_AT_ONCE));
  }

  /** Removes the status of a vehicle with the next update. */
  delete(id: VehicleId): void {
    this.#deleted.push(id);
  }

  /** @param isLive whether packets changed the statuses: then the time until they are visible is measured */
  send(statuses: readonly VehicleStatus[], isLive: boolean): void {
    for (const status of statuses) {
      if (isLive) this.#firstReceivedAtMs ??= status.lastContactAtMs;
      this.#updated.set(status.vehicleId, status);
    }
    this.#begin();
  }

  #begin(): void {
    if (this.#updated.size + this.#deleted.length === 0 || this.#running !== null || this.#failure !== null) return;
    const { hub, metrics, clock } = this.#parts;
    const deleted = this.#deleted;
    this.#deleted = [];
    for (const id of deleted) this.#updated.delete(id);
    const updated = [...this.#updated.values()];
    const firstReceivedAtMs = this.#firstReceivedAtMs;
    this.#updated.clear();
    this.#firstReceivedAtMs = null;
    this.#running = this.#durable()
      .then(async () => {
        if (deleted.length > 0) await hub.forgetLatest(deleted);
        if (updated.length > 0) await hub.updateLatest(updated);
      })
      .then(() => metrics.measure('live', firstReceivedAtMs, clock.now()))
      .catch((error: unknown) => {
        this.#failure = { error };
      })
      .finally(() => {
        this.#running = null;
        this.#begin();
      });
  }
}
