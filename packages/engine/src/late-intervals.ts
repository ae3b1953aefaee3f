import {
  type LateInterval,
  MAX_AHEAD_LIVE_MS,
  type Position,
  type TelemetryPacket,
  type VehicleId,
} from '@outrider/domain';
import { gapMsOf } from './motion.ts';
import type { VehicleState } from './vehicle-state.ts';

/**
 * For each vehicle the interval of the history that was changed by what came late. It moved nothing; what it changes of
 * the past is for a recalculation to find out.
 */
export class LateIntervals {
  readonly #byVehicle = new Map<VehicleId, LateInterval>();

  /** The intervals since the last call. */
  take(): LateInterval[] {
    const late = [...this.#byVehicle.values()];
    this.#byVehicle.clear();
    return late;
  }

  forget(vehicleId: VehicleId): void {
    this.#byVehicle.delete(vehicleId);
  }

  note(vehicleId: VehicleId, fixTimeMs: number, receivedAtMs: number): void {
    const known = this.#byVehicle.get(vehicleId);
    if (known === undefined)
      this.#byVehicle.set(vehicleId, { vehicleId, fromMs: fixTimeMs, toMs: fixTimeMs, receivedAtMs });
    else if (fixTimeMs < known.fromMs) known.fromMs = fixTimeMs;
    else if (fixTimeMs > known.toMs) known.toMs = fixTimeMs;
  }

  /** What comes with an older time than a fix that was ahead changes what that fix makes of the history. */
  noteBehindAhead({ id, aheadMs }: VehicleState, { positions, receivedAtMs }: TelemetryPacket): void {
    for (const { fixTimeMs } of positions) {
      if (fixTimeMs > receivedAtMs + MAX_AHEAD_LIVE_MS) continue;
      if (fixTimeMs <= aheadMs) this.note(id, fixTimeMs, receivedAtMs);
    }
  }

  /**
   * Data came for a vehicle whose trip had ended without packets. Fixes from within the gap show that the trip went on:
   * a recalculation corrects its published end.
   *
   * @param before the last fix before the silence
   */
  noteInGap({ id, definition }: VehicleState, before: Position, { positions, receivedAtMs }: TelemetryPacket): void {
    if (definition === null) return;
    const untilMs = before.fixTimeMs + gapMsOf(definition);
    for (const { fixTimeMs } of positions) {
      if (fixTimeMs <= before.fixTimeMs || fixTimeMs > untilMs) continue;
      this.note(id, before.fixTimeMs, receivedAtMs);
      this.note(id, fixTimeMs, receivedAtMs);
    }
  }
}
