import type { AttributeValue, Position } from '@outrider/domain';
import { signalPercentOfCsq } from '../attributes.ts';
import { readSafetyItem } from './safety.ts';
import { readText } from './text.ts';

/** Optional items after the fixed part of a location: an id, a length, a value. */
export const ITEM = {
  odometer: 0x01,
  fuel: 0x02,
  recorderSpeed: 0x03,
  alarmEvent: 0x04,
  tyres: 0x05,
  cabinTemperature: 0x06,
  overspeedPlace: 0x11,
  areaPassed: 0x12,
  routeTime: 0x13,
  videoAlarms: 0x14,
  videoLost: 0x15,
  videoCovered: 0x16,
  storageFaults: 0x17,
  drivingBehaviour: 0x18,
  vehicleSignals: 0x25,
  ioStatus: 0x2a,
  analog: 0x2b,
  signal: 0x30,
  satellites: 0x31,
} as const;

/** Items outside of the standard on which makers agree; their raw value is kept, too. */
const MAKERS_ITEM = {
  temperatures: 0x51,
  cells: 0x53,
  batteryLevel: 0x56,
  humidities: 0x58,
  wideCells: 0x5d,
  supply: 0x61,
  batteryVoltage: 0x69,
  iccid: 0xcc,
  iccidAtLogin: 0xf1,
} as const;

/** Length of an item by the standard; 0 where it has none, or several. */
const ITEM_BYTES = new Uint8Array(256);
ITEM_BYTES[ITEM.odometer] = 4;
ITEM_BYTES[ITEM.fuel] = 2;
ITEM_BYTES[ITEM.recorderSpeed] = 2;
ITEM_BYTES[ITEM.alarmEvent] = 2;
ITEM_BYTES[ITEM.tyres] = 30;
ITEM_BYTES[ITEM.cabinTemperature] = 2;
ITEM_BYTES[ITEM.areaPassed] = 6;
ITEM_BYTES[ITEM.routeTime] = 7;
ITEM_BYTES[ITEM.videoAlarms] = 4;
ITEM_BYTES[ITEM.videoLost] = 4;
ITEM_BYTES[ITEM.videoCovered] = 4;
ITEM_BYTES[ITEM.storageFaults] = 2;
ITEM_BYTES[ITEM.drivingBehaviour] = 3;
ITEM_BYTES[ITEM.vehicleSignals] = 4;
ITEM_BYTES[ITEM.ioStatus] = 2;
ITEM_BYTES[ITEM.analog] = 4;
ITEM_BYTES[ITEM.signal] = 1;
ITEM_BYTES[ITEM.satellites] = 1;

/** Exceeds the sensors of any terminal; further items of a location are skipped. */
const MAX_RAW_ITEMS = 96;
const MAX_CHANNELS = 16;
const NO_TYRE = 0xff;
const LOWEST_C = -100;
const HIGHEST_C = 200;

/** Attribute name of the raw value by item id: `item` and the id in two hexadecimal digits. */
const ITEM_NAMES = Array.from({ length: 256 }, (_, id) => `item${id.toString(16).padStart(2, '0')}`);

/** Reads the items in `bytes` from `from` to `to`, up to the first that is cut off. */
export function readItems(
  position: Position,
  attributes: Record<string, AttributeValue>,
  bytes: Buffer,
  from: number,
  to: number,
): void {
  let raw = 0;
  for (let p = from; p + 2 <= to; ) {
    const id = bytes[p] as number;
    const length = bytes[p + 1] as number;
    const value = p + 2;
    p = value + length;
    if (p > to) break;
    if (length === ITEM_BYTES[id] && readItem(position, attributes, id, bytes, value)) continue;
    if (id === ITEM.overspeedPlace && readOverspeedPlace(attributes, bytes, value, length)) continue;
    if (raw++ < MAX_RAW_ITEMS) attributes[ITEM_NAMES[id] as string] = rawValue(bytes, value, length);
    if (id >= MAKERS_ITEM.temperatures && !readSafetyItem(position, attributes, id, bytes, value, length))
      readMakersItem(position, attributes, id, bytes, value, length);
  }
}

/** The raw value of an item: a number where its length is 1, 2 or 4, else its bytes in hexadecimal. */
function rawValue(bytes: Buffer, at: number, length: number): AttributeValue {
  if (length === 1 || length === 2 || length === 4) return bytes.readUIntBE(at, length);
  return bytes.toString('hex', at, at + length);
}

/**
 * Reads an item of the standard with the standard's length. @returns false where its content contradicts the standard
 */
function readItem(
  position: Position,
  attributes: Record<string, AttributeValue>,
  id: number,
  bytes: Buffer,
  at: number,
): boolean {
  switch (id) {
    case ITEM.odometer:
      position.odometerM = bytes.readUInt32BE(at) * 100;
      return true;
    case ITEM.fuel:
      position.fuelL = bytes.readUInt16BE(at) / 10;
      attributes.fuel1L = position.fuelL;
      return true;
    case ITEM.recorderSpeed:
      attributes.recorderSpeedKmh = bytes.readUInt16BE(at) / 10;
      return true;
    case ITEM.signal: {
      const signal = bytes[at] as number;
      attributes.signal = signal;
      const percent = signalPercentOfCsq(signal);
      if (percent !== null) attributes.gsmSignalPercent = percent;
      return true;
    }
    case ITEM.satellites:
      position.satellites = bytes[at] as number;
      return true;
    case ITEM.videoAlarms:
      attributes.videoAlarmBits = bytes.readUInt32BE(at);
      return true;
    case ITEM.vehicleSignals:
      attributes.vehicleSignalBits = bytes.readUInt32BE(at);
      return true;
    case ITEM.ioStatus:
      attributes.ioStatusBits = bytes.readUInt16BE(at);
      return true;
    case ITEM.analog: {
      const both = bytes.readUInt32BE(at);
      attributes.adc1 = both & 0xffff;
      attributes.adc2 = both >>> 16;
      return true;
    }
    case ITEM.alarmEvent:
      attributes.alarmEventId = bytes.readUInt16BE(at);
      return true;
    case ITEM.tyres:
      // From front to back, left before right. The standard's unit is pascals, which one byte cannot hold: the value
      // stays raw.
      for (let tyre = 0; tyre < (ITEM_BYTES[id] as number); tyre++) {
        const value = bytes[at + tyre] as number;
        if (value !== NO_TYRE) attributes[`tyre${tyre + 1}Raw`] = value;
      }
      return true;
    case ITEM.cabinTemperature: {
      const celsius = signedDegrees(bytes.readUInt16BE(at));
      if (celsius !== null) attributes.temperature1C = celsius;
      return celsius !== null;
    }
    case ITEM.areaPassed:
      attributes.areaKind = bytes[at] as number;
      attributes.areaId = bytes.readUInt32BE(at + 1);
      attributes.areaLeft = bytes[at + 5] === 1;
      return true;
    case ITEM.routeTime:
      attributes.routeSegmentId = bytes.readUInt32BE(at);
      attributes.routeSeconds = bytes.readUInt16BE(at + 4);
      attributes.routeTooLong = bytes[at + 6] === 1;
      return true;
    case ITEM.videoLost:
      attributes.videoLostBits = bytes.readUInt32BE(at);
      return true;
    case ITEM.videoCovered:
      attributes.videoCoveredBits = bytes.readUInt32BE(at);
      return true;
    case ITEM.storageFaults:
      attributes.storageFaultBits = bytes.readUInt16BE(at);
      return true;
    case ITEM.drivingBehaviour:
      attributes.drivingBehaviourBits = bytes.readUInt16BE(at);
      attributes.driverFatigueLevel = bytes[at + 2] as number;
      return true;
    default:
      return false;
  }
}

/** The standard uses the highest bit as a sign; many makers send two's complement. Null where neither is plausible. */
function signedDegrees(value: number): number | null {
  const bySign = (value & 0x8000) === 0 ? value : -(value & 0x7fff);
  if (bySign >= LOWEST_C && bySign <= HIGHEST_C) return bySign + 0;
  const byComplement = value - 0x10000;
  return byComplement >= LOWEST_C ? byComplement : null;
}

/** Reads the kind of the area or route, and its id where it has one. */
function readOverspeedPlace(
  attributes: Record<string, AttributeValue>,
  bytes: Buffer,
  at: number,
  length: number,
): boolean {
  if (length !== 1 && length !== 5) return false;
  attributes.overspeedPlaceKind = bytes[at] as number;
  if (length === 5) attributes.overspeedPlaceId = bytes.readUInt32BE(at + 1);
  return true;
}

function readMakersItem(
  position: Position,
  attributes: Record<string, AttributeValue>,
  id: number,
  bytes: Buffer,
  at: number,
  length: number,
): void {
  switch (id) {
    case MAKERS_ITEM.temperatures:
      for (let i = 0; i < Math.min(MAX_CHANNELS, length >> 1); i++) {
        const celsius = bytes.readInt16BE(at + 2 * i) / 10;
        // A channel without a sensor sends the lowest or the highest value.
        if (celsius >= LOWEST_C && celsius <= HIGHEST_C && celsius !== -0.1)
          attributes[`temperature${i + 1}C`] = celsius;
      }
      return;
    case MAKERS_ITEM.humidities:
      for (let i = 0; i < Math.min(MAX_CHANNELS, length >> 1); i++) {
        const percent = bytes.readUInt16BE(at + 2 * i) / 10;
        if (percent <= 100) attributes[`humidity${i + 1}Percent`] = percent;
      }
      return;
    case MAKERS_ITEM.batteryLevel: {
      if (length !== 2) return;
      // Tenths of a full battery, and percent where the terminal measures so finely.
      const [tenths = 0, percent = 0] = bytes.subarray(at, at + 2);
      if (percent >= 1 && percent <= 100) attributes.batteryPercent = percent;
      else if (tenths <= 10) attributes.batteryPercent = tenths * 10;
      return;
    }
    case MAKERS_ITEM.cells:
    case MAKERS_ITEM.wideCells: {
      const cellBytes = id === MAKERS_ITEM.cells ? 2 : 4;
      if (length < 1 + 6 + cellBytes || bytes[at] === 0) return;
      attributes.mcc = bytes.readUInt16BE(at + 1);
      attributes.mnc = bytes[at + 3] as number;
      attributes.lac = bytes.readUInt16BE(at + 4);
      attributes.cellId = bytes.readUIntBE(at + 6, cellBytes);
      return;
    }
    case MAKERS_ITEM.supply:
      if (length !== 2) return;
      position.supplyV = bytes.readUInt16BE(at) / 100;
      attributes.externalPowerV = position.supplyV;
      return;
    case MAKERS_ITEM.batteryVoltage:
      if (length === 2) attributes.batteryV = bytes.readUInt16BE(at) / 100;
      return;
    case MAKERS_ITEM.iccid:
    case MAKERS_ITEM.iccidAtLogin: {
      const iccid = readText(bytes, at, at + length);
      if (/^[\dA-Fa-f]{18,20}$/.test(iccid)) attributes.iccid = iccid;
      return;
    }
  }
}
