import { ALARMS } from './live-names.ts';

export type LiveVehicleState = 'moving' | 'parking' | 'idling' | 'offline' | 'unknown';

export interface LivePlace {
  latitude: number;
  longitude: number;
  fixMs: number;
  isValid: boolean;
  speedKmh: number | null;
  courseDeg: number | null;
  satellites: number | null;
}

/** Data of a binary message about one vehicle. Undefined fields are unchanged. */
export interface LiveRecord {
  vehicleId: string;
  /** Null before the first position. */
  place?: LivePlace | null;
  state: LiveVehicleState;
  /** Null: unknown. */
  online: boolean | null;
  ignition: boolean | null;
  lastContactMs: number | null;
  stateSinceMs?: number | null;
  hasAlarms: boolean;
  alarms?: string[];
  /** Geofences that it is in. */
  geofenceIds?: string[];
  /** Geofences whose speed limit it exceeds; null is its own limit. */
  speedingIn?: (string | null)[];
}

/** A binary message. `vehicles` replace all data of each vehicle. */
export interface LiveRecords {
  type: 'records';
  about: 'vehicles' | 'positions' | 'states';
  isSnapshot: boolean;
  /** This message is the last of the snapshot. */
  isComplete: boolean;
  serverTimeMs: number;
  records: LiveRecord[];
  /**
   * How long the service had each position before this was sent, at most 65,535 ms. Only for positions, if the
   * subscription requests `delays`; otherwise null.
   */
  delaysMs: number[] | null;
}

const HEADER_BYTES = 16;
const IS_SNAPSHOT = 1;
const IS_COMPLETE = 2;
const HAS_DELAYS = 4;
const ABOUT = [null, 'vehicles', 'positions', 'states'] as const;
const STATES: readonly LiveVehicleState[] = ['unknown', 'moving', 'parking', 'idling', 'offline', 'unknown'];
const NOTHING_KNOWN = 0;
const OFFLINE = 4;
const NO_COORDINATE = -(2 ** 31);
const UNKNOWN_16 = 0xffff;
const UNKNOWN_8 = 0xff;
const OWN_LIMIT = 0xffff;
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Reads the binary messages of one connection, in which vehicles are identified by numbers. */
export class BinaryReader {
  readonly #vehicleIds = new Map<number, string>();

  /** @throws {RangeError} for a truncated message, or one of an unknown type */
  read(bytes: ArrayBuffer): LiveRecords {
    const cursor = new Cursor(new DataView(bytes));
    const about = ABOUT[cursor.u8()];
    if (!about) throw new RangeError('a binary message of an unknown type');
    const flags = cursor.u8();
    const geofenceCount = cursor.u16();
    const count = cursor.u32();
    const serverTimeMs = cursor.f64();
    const geofenceIds = Array.from({ length: geofenceCount }, () => cursor.uuid());
    const records: LiveRecord[] = [];
    for (let nth = 0; nth < count; nth += 1) {
      const record = this.#record(cursor, about, geofenceIds);
      if (record !== null) records.push(record);
    }
    const delaysMs = (flags & HAS_DELAYS) === 0 ? null : Array.from({ length: count }, () => cursor.u16());
    return {
      type: 'records',
      about,
      isSnapshot: (flags & IS_SNAPSHOT) !== 0,
      isComplete: (flags & IS_COMPLETE) !== 0,
      serverTimeMs,
      records,
      delaysMs,
    };
  }

  /** Null for a vehicle that this connection has not introduced. */
  #record(cursor: Cursor, about: LiveRecords['about'], geofenceIds: readonly string[]): LiveRecord | null {
    const introduced = about === 'vehicles' ? cursor.uuid() : null;
    const number = cursor.u32();
    if (introduced !== null) this.#vehicleIds.set(number, introduced);
    const vehicleId = this.#vehicleIds.get(number);
    const record = about === 'states' ? stateOf(cursor) : positionOf(cursor);
    const hasOpenEvents = (cursor.status & (1 << 7)) !== 0;
    if (about === 'vehicles') record.stateSinceMs = secondsOf(cursor.u32());
    if (about !== 'positions') readLists(cursor, record, hasOpenEvents, geofenceIds);
    if (vehicleId === undefined) return null;
    record.vehicleId = vehicleId;
    return record;
  }
}

/** The vehicle id is set afterwards, so that none of 10,000 records is copied. */
function recordOf(cursor: Cursor, place: LivePlace | null | undefined, lastContactMs: number | null): LiveRecord {
  const { status } = cursor;
  const state = status & 7;
  const ignition = (status >> 4) & 3;
  const record: LiveRecord = {
    vehicleId: '',
    state: STATES[state] ?? 'unknown',
    online: state === NOTHING_KNOWN ? null : state !== OFFLINE,
    ignition: ignition === 0 ? null : ignition === 2,
    lastContactMs,
    hasAlarms: (status & (1 << 6)) !== 0,
  };
  if (place !== undefined) record.place = place;
  return record;
}

function positionOf(cursor: Cursor): LiveRecord {
  const latitude = cursor.i32();
  const longitude = cursor.i32();
  const fixMs = cursor.u32() + cursor.u16() * 2 ** 32;
  const speed = cursor.u16();
  const course = cursor.u16();
  const status = cursor.u8();
  cursor.status = status;
  const satellites = cursor.u8();
  const lastContactMs = secondsOf(cursor.u32());
  if (latitude === NO_COORDINATE) return recordOf(cursor, null, lastContactMs);
  const place = {
    latitude: latitude / 1e7,
    longitude: longitude / 1e7,
    fixMs,
    isValid: (status & (1 << 3)) !== 0,
    speedKmh: speed === UNKNOWN_16 ? null : speed / 10,
    courseDeg: course === UNKNOWN_16 ? null : course / 10,
    satellites: satellites === UNKNOWN_8 ? null : satellites,
  };
  return recordOf(cursor, place, lastContactMs);
}

function stateOf(cursor: Cursor): LiveRecord {
  const lastContactMs = secondsOf(cursor.u32());
  const stateSinceMs = secondsOf(cursor.u32());
  cursor.status = cursor.u8();
  cursor.u8();
  const record = recordOf(cursor, undefined, lastContactMs);
  record.stateSinceMs = stateSinceMs;
  return record;
}

function readLists(cursor: Cursor, record: LiveRecord, hasOpenEvents: boolean, geofenceIds: readonly string[]): void {
  const alarms = record.hasAlarms ? cursor.u16() : 0;
  record.alarms = ALARMS.filter((_, bit) => (alarms & (1 << bit)) !== 0);
  const [within, exceeded] = hasOpenEvents ? [cursor.u8(), cursor.u8()] : [0, 0];
  const geofence = () => geofenceIds[cursor.u16()] ?? '';
  record.geofenceIds = Array.from({ length: within }, geofence);
  record.speedingIn = Array.from({ length: exceeded }, () => {
    const index = cursor.u16();
    return index === OWN_LIMIT ? null : (geofenceIds[index] ?? '');
  });
}

/** 0 stands for unknown. */
function secondsOf(seconds: number): number | null {
  return seconds === 0 ? null : seconds * 1000;
}

/** Reads little-endian numbers sequentially. */
class Cursor {
  readonly #view: DataView;
  /** Status of the current record. */
  status = 0;
  #at = 0;

  constructor(view: DataView) {
    if (view.byteLength < HEADER_BYTES) throw new RangeError('a binary message without a header');
    this.#view = view;
  }

  u8(): number {
    return this.#view.getUint8(this.#next(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#next(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#next(4), true);
  }

  i32(): number {
    return this.#view.getInt32(this.#next(4), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.#next(8), true);
  }

  uuid(): string {
    let text = '';
    for (let nth = 0; nth < 16; nth += 1) {
      if (nth === 4 || nth === 6 || nth === 8 || nth === 10) text += '-';
      text += HEX[this.u8()];
    }
    return text;
  }

  #next(bytes: number): number {
    this.#at += bytes;
    return this.#at - bytes;
  }
}
