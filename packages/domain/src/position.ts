import type { TerminalId, VehicleId } from './ids.ts';
import type { PacketTrace } from './trace.ts';

/**
 * Alarms that a terminal can raise; and `terminal-conflict`, raised by the gateway when two connections send under one
 * terminal id. `sos` is the panic button, `power-cut` the loss of external power, `tamper` an opened case. Records in
 * the log refer to alarms by their index in this list: append new ones, and never remove any.
 */
export const ALARMS = [
  'sos',
  'power-cut',
  'low-battery',
  'tamper',
  'overspeed',
  'crash',
  'harsh-acceleration',
  'harsh-braking',
  'harsh-cornering',
  'towing',
  'jamming',
  'other',
  'terminal-conflict',
] as const;
export type Alarm = (typeof ALARMS)[number];

/** A value that a protocol reports and that has no dedicated field. */
export type AttributeValue = number | string | boolean;

/**
 * A fix with the rest of its record. UTC, WGS84. A field is `null` where the terminal did not send it.
 * Every decoder builds this whole shape, in this order, so that all positions share one hidden class.
 */
export interface Position {
  /** Unix milliseconds at which the receiver determined the fix. */
  fixTimeMs: number;
  /** Degrees, positive north. The log stores 1e-7 degrees. */
  latitude: number;
  /** Degrees, positive east. The log stores 1e-7 degrees. */
  longitude: number;
  /** False where the terminal marks the fix as unreliable. */
  valid: boolean;
  /** Stored with a resolution of 0.1 km/h. */
  speedKmh: number | null;
  /** Degrees from north, clockwise, 0 to 359. */
  courseDeg: number | null;
  /** Whole metres above mean sea level. */
  altitudeM: number | null;
  satellites: number | null;
  ignition: boolean | null;
  /** Whole metres of the terminal's own odometer. */
  odometerM: number | null;
  /** Supply voltage of the vehicle in volts, stored with a resolution of 0.001 V. */
  supplyV: number | null;
  /** Litres in the tank, stored with a resolution of 0.1 l. */
  fuelL: number | null;
  alarms: readonly Alarm[];
  /**
   * Further values of the record under the protocol's own names (`io21`, `rpm`, `batteryPercent`, …); `null`: none.
   */
  attributes: Readonly<Record<string, AttributeValue>> | null;
}

/** A protocol that terminals speak to the gateway: one of those that `packages/protocols` lists. */
export type ProtocolName = string;

/** Protocol name of imported history, which no terminal sent. */
export const IMPORT_PROTOCOL: ProtocolName = 'import';

/** One packet of one terminal, as the gateway writes it to the log: the record of topic `telemetry`. */
export interface TelemetryPacket {
  vehicleId: VehicleId;
  terminalId: TerminalId;
  protocol: ProtocolName;
  /** Unix milliseconds at which the gateway received the whole packet. */
  receivedAtMs: number;
  /** In the order in which the terminal sent them. Empty: a heartbeat. */
  positions: Position[];
  /** Identifies the packet in traces and logs; null or missing in records from before traces existed. */
  trace?: PacketTrace | null;
}

/** Shared empty list, so that a position without alarms allocates none. */
export const NO_ALARMS: readonly Alarm[] = Object.freeze([]);

/** A position with only time and place known; decoders fill in what the terminal sent. */
export function blankPosition(fixTimeMs: number, latitude: number, longitude: number): Position {
  return {
    fixTimeMs,
    latitude,
    longitude,
    valid: true,
    speedKmh: null,
    courseDeg: null,
    altitudeM: null,
    satellites: null,
    ignition: null,
    odometerM: null,
    supplyV: null,
    fuelL: null,
    alarms: NO_ALARMS,
    attributes: null,
  };
}

/** A time range of a vehicle's past for which fixes arrived after newer ones: the record of topic `late`. */
export interface LateInterval {
  vehicleId: VehicleId;
  /** Unix milliseconds of the oldest of these fixes. */
  fromMs: number;
  /** Unix milliseconds of the newest of these fixes. */
  toMs: number;
  /** Unix milliseconds at which the gateway received the first of them. */
  receivedAtMs: number;
  /**
   * True where one of them raised an alarm, so that somebody may have to be notified at once. Missing where unknown.
   */
  hasAlarm?: boolean;
}
