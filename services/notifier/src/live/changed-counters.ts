import type { VehicleCounters, VehicleId } from '@outrider/domain';
import type { Audiences } from './audiences.ts';
import type { LiveClient } from './client.ts';

export interface ChangedCountersContext {
  counters(vehicleIds: readonly VehicleId[]): Promise<VehicleCounters[]>;
  audiences: Audiences<LiveClient>;
  send(counters: readonly VehicleCounters[]): void;
}

/** Vehicles per query. */
const AT_ONCE = 500;

/**
 * Vehicles with changed counters that at least one client listens for. Their counters are read from the registry and
 * sent when {@link send} is called, however often they changed until then.
 */
export class ChangedCounters {
  readonly #context: ChangedCountersContext;
  readonly #changed = new Set<VehicleId>();

  constructor(context: ChangedCountersContext) {
    this.#context = context;
  }

  note(vehicleIds: readonly VehicleId[]): void {
    for (const vehicleId of vehicleIds) if (this.#isWanted(vehicleId)) this.#changed.add(vehicleId);
  }

  /** Sends the counters that changed since the last call. Counters that could not be read are read by the next call. */
  async send(): Promise<void> {
    const vehicleIds = [...this.#changed];
    for (let at = 0; at < vehicleIds.length; at += AT_ONCE) {
      const some = vehicleIds.slice(at, at + AT_ONCE);
      // Deleted before the query: a change during the query may be missing in its result.
      for (const vehicleId of some) this.#changed.delete(vehicleId);
      try {
        this.#context.send(await this.#context.counters(some));
      } catch (error) {
        for (const vehicleId of some) this.#changed.add(vehicleId);
        throw error;
      }
    }
  }

  #isWanted(vehicleId: VehicleId): boolean {
    return this.#context.audiences.of(vehicleId).some(({ subscription }) => subscription?.counters === true);
  }
}
