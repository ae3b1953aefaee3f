/** A message of the binary subprotocol, read by the layout of docs/live-api.md and not by the code that writes it. */
export interface BinaryMessage {
  type: number;
  isSnapshot: boolean;
  isLast: boolean;
  sentAtMs: number;
  geofenceIds: string[];
  records: BinaryRecord[];
  /** Of each record; null where none follow. */
  delaysMs: number[] | null;
}

export interface BinaryRecord {
  number: number;
  /** Of type 1 alone. */
  vehicleId: string | null;
  latitude: number | null;
  longitude: number | null;
  fixTimeMs: number | null;
  speedKmh: number | null;
  courseDeg: number | null;
  satellites: number | null;
  lastContactS: number;
  sinceS: number | null;
  state: number;
  isValid: boolean;
  ignition: boolean | null;
  /** Bit i: alarm i. Null where no list follows. */
  alarms: number | null;
  within: string[];
  /** Null: the vehicle's own limit. */
  speedingIn: (string | null)[];
}

export function readBinaryMessage(bytes: Buffer): BinaryMessage {
  const [type = 0, flags = 0] = bytes;
  let at = 16;
  const uuid = (): string => {
    const hex = bytes.toString('hex', at, at + 16);
    at += 16;
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  };
  const next = (length: number): number => {
    at += length;
    return at - length;
  };
  const u8 = () => bytes.readUInt8(next(1));
  const u16 = () => bytes.readUInt16LE(next(2));
  const u32 = () => bytes.readUInt32LE(next(4));
  const i32 = () => bytes.readInt32LE(next(4));
  const known = (value: number, unknown: number, scale: number) => (value === unknown ? null : value / scale);
  const geofenceIds = Array.from({ length: bytes.readUInt16LE(2) }, uuid);

  const record = (): BinaryRecord => {
    const vehicleId = type === 1 ? uuid() : null;
    const number = u32();
    const hasPosition = type !== 3;
    const latitude = hasPosition ? known(i32(), -(2 ** 31), 1e7) : null;
    const longitude = hasPosition ? known(i32(), -(2 ** 31), 1e7) : null;
    const fixTimeMs = hasPosition ? u32() + u16() * 2 ** 32 : 0;
    const speedKmh = hasPosition ? known(u16(), 0xffff, 10) : null;
    const courseDeg = hasPosition ? known(u16(), 0xffff, 10) : null;
    let status = hasPosition ? u8() : 0;
    const satellites = hasPosition ? known(u8(), 0xff, 1) : null;
    const lastContactS = u32();
    const sinceS = type === 2 ? null : u32();
    if (type === 3) {
      status = u8();
      u8();
    }
    const hasLists = type !== 2;
    const alarms = hasLists && status & 0x40 ? u16() : null;
    const [a, b] = hasLists && status & 0x80 ? [u8(), u8()] : [0, 0];
    const within = Array.from({ length: a }, () => geofenceIds[u16()] ?? 'no such geofence');
    const speedingIn = Array.from({ length: b }, () => {
      const index = u16();
      return index === 0xffff ? null : (geofenceIds[index] ?? 'no such geofence');
    });
    const ignition = [null, false, true][(status >> 4) & 3] ?? null;
    return {
      number,
      vehicleId,
      latitude,
      longitude,
      fixTimeMs: latitude === null ? null : fixTimeMs,
      speedKmh,
      courseDeg,
      satellites,
      lastContactS,
      sinceS,
      state: status & 7,
      isValid: (status & 8) !== 0,
      ignition,
      alarms,
      within,
      speedingIn,
    };
  };

  const records = Array.from({ length: bytes.readUInt32LE(4) }, record);
  const delaysMs = (flags & 4) === 0 ? null : records.map(u16);
  if (at !== bytes.length) throw new RangeError(`${bytes.length - at} bytes are left of ${bytes.length}`);
  return {
    type,
    isSnapshot: (flags & 1) !== 0,
    isLast: (flags & 2) !== 0,
    sentAtMs: bytes.readDoubleLE(8),
    geofenceIds,
    records,
    delaysMs,
  };
}
