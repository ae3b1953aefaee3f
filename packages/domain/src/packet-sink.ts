import type { Alarm, AttributeValue, ProtocolName } from './position.ts';

/** Indices of a position's numbers, see {@link PacketSink.position}. */
export const FIX_TIME_MS = 0;
export const LATITUDE_E7 = 1;
export const LONGITUDE_E7 = 2;
/** 1 or 0, as for `IGNITION`. */
export const VALID = 3;
export const SPEED_KMH_E1 = 4;
export const COURSE_DEG = 5;
export const ALTITUDE_M = 6;
export const SATELLITES = 7;
export const IGNITION = 8;
export const ODOMETER_M = 9;
export const SUPPLY_V_E3 = 10;
export const FUEL_L_E1 = 11;
/** Count of these numbers. */
export const POSITION_NUMBERS = 12;

/**
 * Receives a packet as numbers and bytes, in the order of the log format, so that no object per position is created.
 * Texts are UTF-8 ranges of `source`, given by start and end offset. Numbers are scaled as in `schemas/telemetry.avsc`.
 *
 * Order of calls: `packet`; then for each position `position`, `alarm` for each of its alarms, and either
 * `noAttributes`, or `beginAttributes`, each attribute and `endAttributes`.
 */
export interface PacketSink {
  /** @throws {Error} when the sink can't take packets of this vehicle */
  packet(
    source: Buffer,
    vehicleIdFrom: number,
    vehicleIdTo: number,
    terminalIdFrom: number,
    terminalIdTo: number,
    protocol: ProtocolName,
    receivedAtMs: number,
  ): void;
  /**
   * @param numbers each at its index; 0 where unknown
   * @param known bit n is set where the number at index n is known
   */
  position(numbers: Float64Array, known: number): void;
  alarm(alarm: Alarm): void;
  noAttributes(): void;
  beginAttributes(): void;
  /** @returns false when the sink wants all attributes of this position by {@link attributes} instead */
  attributeName(source: Buffer, from: number, to: number): boolean;
  attributeBoolean(value: boolean): void;
  attributeNumber(value: number): void;
  attributeText(source: Buffer, from: number, to: number): void;
  endAttributes(): void;
  /** Replaces everything since {@link beginAttributes}. */
  attributes(attributes: Readonly<Record<string, AttributeValue>>): void;
}

/** A packet that can be read into a {@link PacketSink}. */
export interface PackedPacket {
  /** Number of positions. */
  readonly rows: number;
  /** @throws {Error} when the packet can't be read, or the sink's error; a part may have been passed on by then */
  readInto(sink: PacketSink): void;
}
