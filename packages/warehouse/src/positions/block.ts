import { type Position, recordMark, type TelemetryPacket } from '@outrider/domain';
import type { NativeBlock } from '../native/block.ts';
import { StringValues, uuidWords } from '../native/columns.ts';
import { clamp, degreesE7 } from '../native/scaled.ts';
import { storableMs } from '../native/time.ts';
import type { Recorded } from '../recorded.ts';
import { PositionColumns } from './columns.ts';

/**
 * Builds rows of table `positions` from packets.
 *
 * A value that a column can't hold is replaced by the nearest possible one (a latitude of 500 degrees by 214.7, which
 * is flagged `out-of-range` all the same).
 *
 * @throws {UnfitRecordError} when a vehicle id is not a UUID
 */
export function positionBlock(packets: readonly Recorded<TelemetryPacket>[]): NativeBlock {
  let rows = 0;
  for (const { value } of packets) rows += value.positions.length;
  const columns = new PositionColumns(rows);
  const attributes = new StringValues(rows * 16 + 16);
  let alarmCount = 0;
  let row = 0;
  for (const { offset, value: packet } of packets) {
    const vehicleId = uuidWords(packet.vehicleId);
    const terminalId = columns.terminalIds.index(packet.terminalId);
    const protocol = columns.protocols.index(packet.protocol);
    const { receivedAtMs, positions } = packet;
    for (let place = 0; place < positions.length; place++, row++) {
      const position = positions[place] as Position;
      columns.vehicleIds.set(row, vehicleId);
      columns.terminalIds.pushIndex(terminalId);
      columns.protocols.pushIndex(protocol);
      columns.receivedAt.set(row, receivedAtMs);
      columns.precedence.set(row, offset, place);
      columns.pushRejection(position.fixTimeMs, position.latitude, position.longitude, receivedAtMs);
      columns.marks[row] = recordMark(position);
      setMeasures(columns, row, position);
      for (const alarm of position.alarms) columns.alarms.push(alarm);
      alarmCount += position.alarms.length;
      columns.alarmEnds.set(row, alarmCount);
      attributes.push(position.attributes === null ? '' : JSON.stringify(position.attributes));
    }
  }
  return columns.block(attributes.column('attributes'));
}

function setMeasures(columns: PositionColumns, row: number, position: Position): void {
  columns.fixTimes.set(row, storableMs(position.fixTimeMs));
  columns.latitudes[row] = degreesE7(position.latitude);
  columns.longitudes[row] = degreesE7(position.longitude);
  columns.valid[row] = position.valid ? 1 : 0;

  if (position.speedKmh === null) columns.noSpeed[row] = 1;
  else columns.speeds[row] = clamp(position.speedKmh * 10, 0, 0xffff);
  if (position.courseDeg === null) columns.noCourse[row] = 1;
  else columns.courses[row] = clamp(position.courseDeg, 0, 0xffff);
  if (position.altitudeM === null) columns.noAltitude[row] = 1;
  else columns.altitudes[row] = clamp(position.altitudeM, -0x8000, 0x7fff);
  if (position.satellites === null) columns.noSatellites[row] = 1;
  else columns.satellites[row] = clamp(position.satellites, 0, 0xff);
  if (position.ignition === null) columns.noIgnition[row] = 1;
  else columns.ignitions[row] = position.ignition ? 1 : 0;
  if (position.odometerM === null) columns.noOdometer[row] = 1;
  else columns.odometers[row] = clamp(position.odometerM, 0, 0xffff_ffff);
  if (position.supplyV === null) columns.noSupply[row] = 1;
  else columns.supplies[row] = clamp(position.supplyV * 1000, 0, 0xffff_ffff);
  if (position.fuelL === null) columns.noFuel[row] = 1;
  else columns.fuels[row] = clamp(position.fuelL * 10, 0, 0xffff_ffff);
}
