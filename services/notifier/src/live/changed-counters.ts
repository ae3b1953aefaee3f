import type { VehicleCounters, VehicleId } from '@outrider/domain';
import type { Audiences } from './audiences.ts';
import type { LiveClient } from './client.ts';

export interface ChangedCountersContext {
  counters(vehicleIds: readonly VehicleId[]): Promise<VehicleCounters[]>;
  audiences: Audiences<LiveClient>;
  send(counters: readonly VehicleCounters[]): void;
}

/** Vehicles that one query reads. */
const AT_ONCE = 500;

/**
 * Vehicles whose counters changed and that somebody listens for. They are read from the registry and sent at the pace
 * of {@link send}, however often they changed until then.
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

  /** Sends what changed since the last time. What could not be read is read the next time. */
  async send(): Promise<void> {
    const vehicleIds = [...this.#changed];
    for (let at = 0; at < vehicleIds.length; at += AT_ONCE) {
      const some = vehicleIds.slice(at, at + AT_ONCE);
      // First: a change that comes while they are read may not be in what is read.
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
