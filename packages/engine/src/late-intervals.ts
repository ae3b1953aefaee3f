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
 * For each vehicle the interval of its history that late data changed. Late data does not move the vehicle; a
 * recalculation determines what it changes in the past.
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

  /** Notes fixes older than a fix that was ahead: they change how that fix affects the history. */
  noteBehindAhead({ id, aheadMs }: VehicleState, { positions, receivedAtMs }: TelemetryPacket): void {
    for (const { fixTimeMs } of positions) {
      if (fixTimeMs > receivedAtMs + MAX_AHEAD_LIVE_MS) continue;
      if (fixTimeMs <= aheadMs) this.note(id, fixTimeMs, receivedAtMs);
    }
  }

  /**
   * Notes an interval where data arrives for a vehicle whose trip was ended by elapsed time. Fixes from within the gap
   * show that the trip continued: a recalculation corrects its published end.
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
