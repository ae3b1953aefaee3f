import { ALARMS, type GeofenceId, type VehicleId, type VehicleState, type VehicleStatus } from '@outrider/domain';
import { openEventsOf, type SeesGeofence } from './feeds/open-events.ts';
import { binaryFrame } from './frames.ts';

/** Name of the subprotocol; its layout is described in docs/live-api.md. */
export const BINARY_PROTOCOL = 'outrider.live.v1+binary';

const TYPE = { vehicles: 1, positions: 2, states: 3 } as const;
const HEADER_BYTES = 16;
const UUID_BYTES = 16;
export const POSITION_BYTES = 28;
const STATE_BYTES = 14;
const NO_COORDINATE = -(2 ** 31);
const UNKNOWN_16 = 0xffff;
const UNKNOWN_8 = 0xff;
const OWN_LIMIT = 0xffff;
const MAX_LISTED = 0xff;
/** Flag of a message. */
const HAS_DELAYS = 1 << 2;
/** Flags of a record. */
const HAS_ALARMS = 1 << 6;
const HAS_OPEN_EVENTS = 1 << 7;
const STATES: Record<VehicleState, number> = { unknown: 5, moving: 1, parking: 2, idling: 3, offline: 4 };

/** Assigns the numbers that identify vehicles in binary messages: unique within the process and never reused. */
export class VehicleNumbers {
  readonly #numbers = new Map<VehicleId, number>();
  #next = 0;

  of(vehicleId: VehicleId): number {
    let number = this.#numbers.get(vehicleId);
    if (number === undefined) {
      number = this.#next++;
      this.#numbers.set(vehicleId, number);
    }
    return number;
  }

  /** Forgets a deleted vehicle. */
  forget(vehicleId: VehicleId): void {
    this.#numbers.delete(vehicleId);
  }
}

/** UUIDs of geofences. The records of one message refer to them by index. */
class GeofenceTable {
  readonly rows: Buffer[] = [];
  readonly #indexes = new Map<GeofenceId, number>();

  indexOf(id: GeofenceId): number {
    let index = this.#indexes.get(id);
    if (index === undefined) {
      index = this.rows.push(uuidBytes(id)) - 1;
      this.#indexes.set(id, index);
    }
    return index;
  }
}

/** The position record of a status. Without a position it contains only what is known. */
export function positionRecord(status: VehicleStatus, number: number): Buffer {
  const record = Buffer.allocUnsafe(POSITION_BYTES);
  const { position } = status;
  record.writeUInt32LE(number, 0);
  record.writeInt32LE(position === null ? NO_COORDINATE : Math.round(position.latitude * 1e7), 4);
  record.writeInt32LE(position === null ? NO_COORDINATE : Math.round(position.longitude * 1e7), 8);
  record.writeUIntLE(Math.max(0, Math.round(position?.fixTimeMs ?? 0)), 12, 6);
  record.writeUInt16LE(tenths(position?.speedKmh), 18);
  record.writeUInt16LE(tenths(position?.courseDeg), 20);
  record[22] = statusBits(status);
  record[23] = Math.min(position?.satellites ?? UNKNOWN_8, UNKNOWN_8);
  record.writeUInt32LE(seconds(status.lastContactAtMs), 24);
  return record;
}

/**
 * A message of position records.
 *
 * @param delaysMs age of each packet since it arrived; null if the client did not request it
 */
export function positionsFrame(records: readonly Buffer[], nowMs: number, delaysMs: readonly number[] | null): Buffer {
  const flags = delaysMs === null ? 0 : HAS_DELAYS;
  const delays = delaysMs === null ? [] : [uint16s(delaysMs.map(delayOf))];
  return binaryFrame([header(TYPE.positions, flags, 0, records.length, nowMs), ...records, ...delays]);
}

/**
 * A message of vehicle records.
 *
 * @param statuses each null if nothing is known of the vehicle
 */
export function vehiclesFrame(
  vehicles: readonly { vehicleId: VehicleId; status: VehicleStatus | null }[],
  numbers: VehicleNumbers,
  sees: SeesGeofence,
  nowMs: number,
  { isSnapshot = false, isLast = false } = {},
): Buffer {
  const table = new GeofenceTable();
  const parts: Buffer[] = [];
  for (const { vehicleId, status } of vehicles) {
    const number = numbers.of(vehicleId);
    const position = status === null ? unknownRecord(number) : positionRecord(status, number);
    const since = Buffer.allocUnsafe(4);
    since.writeUInt32LE(seconds(status?.activity?.sinceMs), 0);
    const { bits, lists } = listsOf(status, sees, table);
    position[22] = ((position[22] ?? 0) & ~(HAS_ALARMS | HAS_OPEN_EVENTS)) | bits;
    parts.push(uuidBytes(vehicleId), position, since, ...lists);
  }
  const flags = (isSnapshot ? 1 : 0) | (isLast ? 2 : 0);
  return binaryFrame([
    header(TYPE.vehicles, flags, table.rows.length, vehicles.length, nowMs),
    ...table.rows,
    ...parts,
  ]);
}

/** A message of state records. */
export function statesFrame(
  statuses: readonly VehicleStatus[],
  numbers: VehicleNumbers,
  sees: SeesGeofence,
  nowMs: number,
): Buffer {
  const table = new GeofenceTable();
  const parts: Buffer[] = [];
  for (const status of statuses) {
    const record = Buffer.alloc(STATE_BYTES);
    const { bits, lists } = listsOf(status, sees, table);
    record.writeUInt32LE(numbers.of(status.vehicleId), 0);
    record.writeUInt32LE(seconds(status.lastContactAtMs), 4);
    record.writeUInt32LE(seconds(status.activity?.sinceMs), 8);
    record[12] = (statusBits(status) & ~HAS_ALARMS) | bits;
    parts.push(record, ...lists);
  }
  return binaryFrame([header(TYPE.states, 0, table.rows.length, statuses.length, nowMs), ...table.rows, ...parts]);
}

function header(type: number, flags: number, geofences: number, records: number, nowMs: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEADER_BYTES);
  bytes[0] = type;
  bytes[1] = flags;
  bytes.writeUInt16LE(geofences, 2);
  bytes.writeUInt32LE(records, 4);
  bytes.writeDoubleLE(nowMs, 8);
  return bytes;
}

function unknownRecord(number: number): Buffer {
  const record = Buffer.alloc(POSITION_BYTES);
  record.writeUInt32LE(number, 0);
  record.writeInt32LE(NO_COORDINATE, 4);
  record.writeInt32LE(NO_COORDINATE, 8);
  record.writeUInt16LE(UNKNOWN_16, 18);
  record.writeUInt16LE(UNKNOWN_16, 20);
  record[23] = UNKNOWN_8;
  return record;
}

/** Alarms and open events as lists, and the status bits that announce them. */
function listsOf(
  status: VehicleStatus | null,
  sees: SeesGeofence,
  table: GeofenceTable,
): { bits: number; lists: Buffer[] } {
  if (status === null) return { bits: 0, lists: [] };
  const lists: Buffer[] = [];
  let bits = 0;
  const alarms = alarmsOf(status);
  if (alarms.length > 0) {
    bits |= HAS_ALARMS;
    lists.push(uint16s([alarms.reduce((set, alarm) => set | (1 << ALARMS.indexOf(alarm)), 0)]));
  }
  const { geofenceIds, speedingIn } = openEventsOf(status.activity, sees);
  if (geofenceIds.length + speedingIn.length > 0) {
    bits |= HAS_OPEN_EVENTS;
    const within = geofenceIds.slice(0, MAX_LISTED);
    const exceeded = speedingIn.slice(0, MAX_LISTED);
    lists.push(
      Buffer.from([within.length, exceeded.length]),
      uint16s(within.map((id) => table.indexOf(id))),
      uint16s(exceeded.map((id) => (id === null ? OWN_LIMIT : table.indexOf(id)))),
    );
  }
  return { bits, lists };
}

function statusBits(status: VehicleStatus): number {
  const { activity, position, record } = status;
  const ignition = activity?.ignition ?? record.ignition;
  return (
    (activity === null ? 0 : STATES[activity.state]) |
    (position?.valid ? 1 << 3 : 0) |
    (ignition === null ? 0 : ignition ? 2 << 4 : 1 << 4) |
    (alarmsOf(status).length > 0 ? HAS_ALARMS : 0)
  );
}

function alarmsOf({ activity, record }: VehicleStatus) {
  return activity?.alarms ?? record.alarms;
}

/** Unix seconds; 0 for an unknown time. */
function seconds(timeMs: number | null | undefined): number {
  return Math.min(Math.max(0, Math.floor((timeMs ?? 0) / 1000)), 0xffff_ffff);
}

/** Not negative: the clocks of two machines may differ a little. */
function delayOf(ms: number): number {
  return Math.min(Math.max(0, Math.round(ms)), UNKNOWN_16);
}

function tenths(value: number | null | undefined): number {
  return value === null || value === undefined
    ? UNKNOWN_16
    : Math.min(Math.max(0, Math.round(value * 10)), UNKNOWN_16 - 1);
}

function uint16s(values: readonly number[]): Buffer {
  const bytes = Buffer.allocUnsafe(2 * values.length);
  for (const [nth, value] of values.entries()) bytes.writeUInt16LE(value, 2 * nth);
  return bytes;
}

function uuidBytes(id: string): Buffer {
  const bytes = Buffer.from(id.replaceAll('-', ''), 'hex');
  if (bytes.length !== UUID_BYTES) throw new RangeError(`not a UUID: ${id}`);
  return bytes;
}
