import {
  ALTITUDE_M,
  type Alarm,
  type AttributeValue,
  alarmBit,
  asciiNameHash,
  beginMark,
  COURSE_DEG,
  endMark,
  FIX_TIME_MS,
  FUEL_L_E1,
  IGNITION,
  isPlace,
  LATITUDE_E7,
  LONGITUDE_E7,
  markName,
  markValue,
  nameHash,
  ODOMETER_M,
  type PackedPacket,
  type PacketSink,
  SATELLITES,
  SPEED_KMH_E1,
  SUPPLY_V_E3,
  VALID,
} from '@outrider/domain';
import type { NativeBlock } from '../native/block.ts';
import { readUuid } from '../native/columns.ts';
import { storableMs } from '../native/time.ts';
import type { Recorded } from '../recorded.ts';
import { AttributeTexts } from './attribute-texts.ts';
import { PositionColumns } from './columns.ts';
import { TerminalIndexes } from './terminal-indexes.ts';

/**
 * Does the same as `positionBlock`, for packed packets: builds the same rows without an object for each position.
 *
 * @throws {UnfitRecordError} when a vehicle id is not a UUID
 * @throws {RangeError} when a packet has more positions than it declared. Errors that a packet throws are passed on.
 */
export function packedBlock(packets: readonly Recorded<PackedPacket>[]): NativeBlock {
  let rows = 0;
  for (const { value } of packets) rows += value.rows;
  const sink = new ColumnSink(rows);
  for (const { offset, value } of packets) {
    sink.offset = offset;
    value.readInto(sink);
  }
  return sink.block();
}

/** Writes the contents of packets into the columns. */
class ColumnSink implements PacketSink {
  /** Offset of the next packet. */
  offset = 0;
  readonly #columns: PositionColumns;
  readonly #texts: AttributeTexts;
  readonly #terminals: TerminalIndexes;
  readonly #vehicleId = new Uint32Array(4);
  #terminalId = 0;
  #protocolName: string | null = null;
  #protocol = 0;
  #receivedAtMs = 0;
  #place = 0;
  #row = 0;
  #alarmCount = 0;

  // Inputs of the row's record mark, until its attributes come.
  #valid = false;
  #isPlaced = false;
  #ignition: boolean | null = null;
  #supplyV: number | null = null;
  #alarmBits = 0;
  #mark = 0;

  constructor(rows: number) {
    this.#columns = new PositionColumns(rows);
    this.#texts = new AttributeTexts(rows * 16 + 16);
    this.#terminals = new TerminalIndexes(this.#columns.terminalIds);
  }

  block(): NativeBlock {
    return this.#columns.block(this.#texts.column('attributes'));
  }

  packet(
    source: Buffer,
    vehicleIdFrom: number,
    vehicleIdTo: number,
    terminalIdFrom: number,
    terminalIdTo: number,
    protocol: string,
    receivedAtMs: number,
  ): void {
    readUuid(source, vehicleIdFrom, vehicleIdTo, this.#vehicleId);
    this.#terminalId = this.#terminals.index(this.#vehicleId, source, terminalIdFrom, terminalIdTo);
    if (protocol !== this.#protocolName) {
      this.#protocolName = protocol;
      this.#protocol = this.#columns.protocols.index(protocol);
    }
    this.#receivedAtMs = receivedAtMs;
    this.#place = 0;
  }

  position(numbers: Float64Array, known: number): void {
    const columns = this.#columns;
    const row = this.#row;
    if (row === columns.rows) throw new RangeError('a packet has more positions than it said');
    const fixTimeMs = numbers[FIX_TIME_MS] as number;
    const latitudeE7 = numbers[LATITUDE_E7] as number;
    const longitudeE7 = numbers[LONGITUDE_E7] as number;
    const latitude = latitudeE7 / 1e7;
    const longitude = longitudeE7 / 1e7;
    columns.vehicleIds.set(row, this.#vehicleId);
    columns.terminalIds.pushIndex(this.#terminalId);
    columns.protocols.pushIndex(this.#protocol);
    columns.receivedAt.set(row, this.#receivedAtMs);
    columns.precedence.set(row, this.offset, this.#place++);
    columns.pushRejection(fixTimeMs, latitude, longitude, this.#receivedAtMs);
    columns.fixTimes.set(row, storableMs(fixTimeMs));
    columns.latitudes[row] = latitudeE7;
    columns.longitudes[row] = longitudeE7;
    columns.valid[row] = numbers[VALID] as number;

    const unknown = ~known;
    columns.noSpeed[row] = (unknown >> SPEED_KMH_E1) & 1;
    columns.speeds[row] = within(numbers[SPEED_KMH_E1] as number, 0, 0xffff);
    columns.noCourse[row] = (unknown >> COURSE_DEG) & 1;
    columns.courses[row] = within(numbers[COURSE_DEG] as number, 0, 0xffff);
    columns.noAltitude[row] = (unknown >> ALTITUDE_M) & 1;
    columns.altitudes[row] = within(numbers[ALTITUDE_M] as number, -0x8000, 0x7fff);
    columns.noSatellites[row] = (unknown >> SATELLITES) & 1;
    columns.satellites[row] = within(numbers[SATELLITES] as number, 0, 0xff);
    columns.noIgnition[row] = (unknown >> IGNITION) & 1;
    columns.ignitions[row] = numbers[IGNITION] as number;
    columns.noOdometer[row] = (unknown >> ODOMETER_M) & 1;
    columns.odometers[row] = within(numbers[ODOMETER_M] as number, 0, 0xffff_ffff);
    columns.noSupply[row] = (unknown >> SUPPLY_V_E3) & 1;
    columns.supplies[row] = within(numbers[SUPPLY_V_E3] as number, 0, 0xffff_ffff);
    columns.noFuel[row] = (unknown >> FUEL_L_E1) & 1;
    columns.fuels[row] = within(numbers[FUEL_L_E1] as number, 0, 0xffff_ffff);

    this.#valid = numbers[VALID] === 1;
    this.#isPlaced = isPlace(latitude, longitude);
    this.#ignition = (unknown >> IGNITION) & 1 ? null : numbers[IGNITION] === 1;
    this.#supplyV = (unknown >> SUPPLY_V_E3) & 1 ? null : (numbers[SUPPLY_V_E3] as number) / 1000;
    this.#alarmBits = 0;
  }

  alarm(alarm: Alarm): void {
    this.#columns.alarms.push(alarm);
    this.#alarmBits |= alarmBit(alarm);
    this.#alarmCount++;
  }

  noAttributes(): void {
    this.#beginMark();
    this.#texts.none();
    this.#endRow();
  }

  beginAttributes(): void {
    this.#beginMark();
    this.#texts.begin();
  }

  attributeName(source: Buffer, from: number, to: number): boolean {
    const hash = asciiNameHash(source, from, to);
    this.#mark = markName(this.#mark, hash);
    return this.#texts.name(source, from, to, hash);
  }

  attributeBoolean(value: boolean): void {
    this.#mark = markValue(this.#mark, value);
    this.#texts.boolean(value);
  }

  attributeNumber(value: number): void {
    this.#mark = markValue(this.#mark, value);
    this.#texts.number(value);
  }

  attributeText(source: Buffer, from: number, to: number): void {
    this.#texts.text(source, from, to);
  }

  endAttributes(): void {
    this.#texts.end();
    this.#endRow();
  }

  attributes(attributes: Readonly<Record<string, AttributeValue>>): void {
    this.#beginMark();
    for (const name in attributes) this.#mark = markValue(markName(this.#mark, nameHash(name)), attributes[name]);
    this.#texts.whole(JSON.stringify(attributes));
    this.#endRow();
  }

  #beginMark(): void {
    this.#mark = beginMark(this.#valid, this.#isPlaced, this.#ignition, this.#supplyV, this.#alarmBits);
  }

  #endRow(): void {
    this.#columns.marks[this.#row] = endMark(this.#mark);
    this.#columns.alarmEnds.set(this.#row, this.#alarmCount);
    this.#row++;
  }
}

/** The nearest whole number that a column holds. */
function within(whole: number, low: number, high: number): number {
  return whole < low ? low : Math.min(whole, high);
}
