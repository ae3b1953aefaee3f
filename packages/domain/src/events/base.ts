import type { EventId, VehicleId } from '../ids.ts';
import type { TraceId } from '../trace.ts';

/** What every event has. An event that lasts is published twice under one id: when it begins and when it ends. */
export interface EventBase {
  id: EventId;
  /** `begin`: `endedAtMs` is null. `end`: the same event with its end and its totals. */
  phase: 'begin' | 'end';
  vehicleId: VehicleId;
  startedAtMs: number;
  endedAtMs: number | null;
  /** Place, in degrees, of this phase: where it began, or where it ended. */
  latitude: number;
  longitude: number;
  /** Where it began, in either phase. Missing in events recorded before this was kept; a trip always has it. */
  startLatitude?: number;
  startLongitude?: number;
  /** Speed at this phase. */
  speedKmh: number | null;

  // Why: the fixes and the definition that it came from.

  /** Unix milliseconds of the first fix that it came from. */
  fromFixTimeMs: number;
  /** Unix milliseconds of the last: the fix that made the engine say so. */
  fixTimeMs: number;
  /** Version of the definition that was in force: the geofence's where it is about one, else the vehicle's. */
  definitionVersion: number;
  /** `recalculated`: made anew from the history, and not while the data came in. */
  origin: 'live' | 'recalculated';
  /** True where no fix shows it and it was inferred from the way between two. */
  inferred: boolean;

  /**
   * Code of the driver by the terminal's records: of the shift in this phase, or of the last one that the event has a
   * part in. Missing where nobody is known to drive.
   */
  driverCode?: string;

  // What brought it about. Records of the log and live messages have it; the archive does not.

  /**
   * Unix milliseconds at which the gateway had the packet that made the engine say so; where no packet did (a
   * definition changed, nothing came), `fixTimeMs`. Missing in what was recorded before this was known, and where it
   * was recalculated.
   */
  receivedAtMs?: number;
  /** The trace of that packet. Missing where none did, and where it has none. */
  traceId?: TraceId;
}
