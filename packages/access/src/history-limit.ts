import { isoTime, type VehicleId } from '@outrider/domain';
import type { Registry } from '@outrider/registry';
import { badField } from './problem.ts';

export interface HistoryLimitSource {
  historyLimits: Pick<Registry['historyLimits'], 'of'>;
}

/** Known limits of vehicle histories. A vehicle without a limit has its full history. */
export class KnownLimits {
  readonly #beforeMs: ReadonlyMap<VehicleId, number>;

  private constructor(beforeMs: ReadonlyMap<VehicleId, number>) {
    this.#beforeMs = beforeMs;
  }

  static async of({ historyLimits }: HistoryLimitSource, vehicleIds: readonly VehicleId[]): Promise<KnownLimits> {
    const limits = await historyLimits.of([...new Set(vehicleIds)]);
    return new KnownLimits(new Map(limits.map(({ vehicleId, beforeMs }) => [vehicleId, beforeMs])));
  }

  /**
   * Describes the fault of a time before the vehicle's limit; null: no fault.
   *
   * @param so the consequence, as a sentence without a full stop
   */
  fault(vehicleId: VehicleId, atMs: number, so: string): string | null {
    const beforeMs = this.#beforeMs.get(vehicleId);
    if (beforeMs === undefined || atMs >= beforeMs) return null;
    return `The history of the vehicle before ${isoTime(beforeMs)} is erased: ${so}.`;
  }
}

/** @throws {Problem} at the field if the time is before the limit of the vehicle */
export async function requireHistory(
  registry: HistoryLimitSource,
  vehicleId: VehicleId,
  at: { field: string; ms: number; so: string },
): Promise<void> {
  const fault = (await KnownLimits.of(registry, [vehicleId])).fault(vehicleId, at.ms, at.so);
  if (fault !== null) throw badField(at.field, fault);
}
