import type { Alarm, AttributeValue, ProtocolName } from './position.ts';

/** Places of a position's numbers, see {@link PacketSink.position}. */
export const FIX_TIME_MS = 0;
export const LATITUDE_E7 = 1;
export const LONGITUDE_E7 = 2;
/** 1 or 0, as ignition is. */
export const VALID = 3;
export const SPEED_KMH_E1 = 4;
export const COURSE_DEG = 5;
export const ALTITUDE_M = 6;
export const SATELLITES = 7;
export const IGNITION = 8;
export const ODOMETER_M = 9;
export const SUPPLY_V_E3 = 10;
export const FUEL_L_E1 = 11;
/** How many there are. */
export const POSITION_NUMBERS = 12;

/**
 * Receives a packet as numbers and bytes, in the order in which the log has them: no object is made of a position.
 * Texts are UTF-8 in `source`, from one place up to another. Numbers are scaled as in `schemas/telemetry.avsc`.
 *
 * Calls: `packet`; then of each position `position`, `alarm` for each of its alarms, and either `noAttributes`, or
 * `beginAttributes`, each attribute and `endAttributes`.
 */
export interface PacketSink {
  /** @throws {Error} when the sink can't take packets of such a vehicle */
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
   * @param numbers each at its place; 0 where it is not known
   * @param known bit n says whether the number at place n is
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
  /** Instead of everything since {@link beginAttributes}. */
  attributes(attributes: Readonly<Record<string, AttributeValue>>): void;
}

/** A packet that gives its content to a {@link PacketSink}. */
export interface PackedPacket {
  /** How many positions it has. */
  readonly rows: number;
  /** @throws {Error} when it can't be read, or what the sink throws: then a part of it was given */
  readInto(sink: PacketSink): void;
}
