import type { TerminalId, VehicleId } from './ids.ts';
import type { PacketTrace } from './trace.ts';

/**
 * What a terminal can raise; and `terminal-conflict`, raised by the gateway: its id speaks from two places at a time.
 * `sos` is the panic button, `power-cut` the loss of external power, `tamper` an opened case. Records in the log name
 * them by their place in this list: a new one goes to its end, and nothing is taken out.
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

/** A value that a protocol reports and that has no field of its own. */
export type AttributeValue = number | string | boolean;

/**
 * A fix with the rest of its record. UTC, WGS84. A field is `null` where the terminal did not say.
 * Every decoder builds this whole shape, in this order, so that all positions share one hidden class.
 */
export interface Position {
  /** Unix milliseconds at which the receiver took the fix. */
  fixTimeMs: number;
  /** Degrees, positive north. Kept to 1e-7 degrees once it is in the log. */
  latitude: number;
  /** Degrees, positive east. Kept to 1e-7 degrees once it is in the log. */
  longitude: number;
  /** False where the terminal says that the fix is not to be trusted. */
  valid: boolean;
  /** Kept to 0.1 km/h. */
  speedKmh: number | null;
  /** Degrees from north, clockwise, 0 to 359. */
  courseDeg: number | null;
  /** Metres above mean sea level, whole. */
  altitudeM: number | null;
  satellites: number | null;
  ignition: boolean | null;
  /** Whole metres on the terminal's own odometer. */
  odometerM: number | null;
  /** Volts of the vehicle's supply; kept to 0.001 V. */
  supplyV: number | null;
  /** Litres in the tank; kept to 0.1 l. */
  fuelL: number | null;
  alarms: readonly Alarm[];
  /**
   * What else the record held, by the protocol's own names (`io21`, `rpm`, `batteryPercent`, …); `null` when nothing.
   */
  attributes: Readonly<Record<string, AttributeValue>> | null;
}

/** A protocol that terminals speak to the gateway: one of those that `packages/protocols` lists. */
export type ProtocolName = string;

/** What stands in place of a protocol where no terminal sent it: history that somebody imported. */
export const IMPORT_PROTOCOL: ProtocolName = 'import';

/** One packet of one terminal, as the gateway hands it to the log: the record of topic `telemetry`. */
export interface TelemetryPacket {
  vehicleId: VehicleId;
  terminalId: TerminalId;
  protocol: ProtocolName;
  /** Unix milliseconds at which the gateway had the whole packet. */
  receivedAtMs: number;
  /** In the order in which the terminal sent them. Empty: a sign of life. */
  positions: Position[];
  /** What it is known by on its way; null or missing in what was recorded before there was such a thing. */
  trace?: PacketTrace | null;
}

/** No alarms: shared, so that a position without any allocates nothing for them. */
export const NO_ALARMS: readonly Alarm[] = Object.freeze([]);

/** A position with nothing known but its time and place; decoders fill in what the terminal said. */
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

/** A time range of a vehicle's past for which fixes came after newer ones: the record of topic `late`. */
export interface LateInterval {
  vehicleId: VehicleId;
  /** Unix milliseconds of the oldest of these fixes, … */
  fromMs: number;
  /** … and of the newest. */
  toMs: number;
  /** Unix milliseconds at which the gateway had the first of them. */
  receivedAtMs: number;
  /**
   * True where one of them raised an alarm: somebody may have to be notified at once. Missing where that is not known.
   */
  hasAlarm?: boolean;
}
