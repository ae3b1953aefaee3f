import type { EventId, VehicleId } from '../ids.ts';
import type { TraceId } from '../trace.ts';

/** Fields of every event. An event that lasts is published twice under one id: when it begins and when it ends. */
export interface EventBase {
  id: EventId;
  /** `begin`: `endedAtMs` is null. `end`: the same event with its end time and totals. */
  phase: 'begin' | 'end';
  vehicleId: VehicleId;
  startedAtMs: number;
  endedAtMs: number | null;
  /** Place of this phase, in degrees: where the event began or where it ended. */
  latitude: number;
  longitude: number;
  /** Place of the begin, in both phases. Missing in events recorded before it was stored; a trip always has it. */
  startLatitude?: number;
  startLongitude?: number;
  /** Speed at this phase. */
  speedKmh: number | null;

  // Provenance: the fixes and the definition from which the event was derived.

  /** Unix milliseconds of the first fix from which the event was derived. */
  fromFixTimeMs: number;
  /** Unix milliseconds of the last: the fix at which the engine detected the event. */
  fixTimeMs: number;
  /** Version of the definition in force: the geofence's where the event is about one, else the vehicle's. */
  definitionVersion: number;
  /** `recalculated`: derived from the history, not while the data arrived. */
  origin: 'live' | 'recalculated';
  /** True where no fix shows the event and it was inferred from the path between two fixes. */
  inferred: boolean;

  /**
   * Driver code from the terminal's records: that of the shift in this phase, or of the last shift that overlaps the
   * event. Missing where the driver is unknown.
   */
  driverCode?: string;

  // Cause. Records of the log and live messages have these fields; the archive does not.

  /**
   * Unix milliseconds at which the gateway received the packet that triggered the event. Where no packet did (a changed
   * definition, missing data), equal to `fixTimeMs`. Missing in events recorded before this field existed, and in
   * recalculated ones.
   */
  receivedAtMs?: number;
  /** Trace of that packet. Missing where no packet triggered the event, or the packet has no trace. */
  traceId?: TraceId;
}
