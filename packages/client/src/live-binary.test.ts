import { expect, test } from 'vitest';
import { BinaryReader } from './live-binary.ts';

const VEHICLE = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d57';
const OTHER_VEHICLE = '01961f3c-7a10-7c3e-9b1d-2f6a0c4e8d58';
const GEOFENCE = '01961f3c-be54-7a7c-9f5b-6d0e4a8c2b9b';
const FIX_MS = Date.parse('2026-01-15T12:00:00.250Z');
const CONTACT_S = 1_768_478_401;
const SINCE_S = 1_768_478_000;

/** Bytes as docs/live-api.md lays them out. */
class Bytes {
  readonly #bytes: number[] = [];
  u8(...values: number[]): this {
    this.#bytes.push(...values);
    return this;
  }
  u16(value: number): this {
    return this.u8(value & 255, value >> 8);
  }
  u32(value: number): this {
    return this.u8(value & 255, (value >> 8) & 255, (value >> 16) & 255, (value >>> 24) & 255);
  }
  f64(value: number): this {
    return this.u8(...new Uint8Array(new Float64Array([value]).buffer));
  }
  uuid(text: string): this {
    const hex = text.replaceAll('-', '');
    return this.u8(...Array.from({ length: 16 }, (_, nth) => Number.parseInt(hex.slice(2 * nth, 2 * nth + 2), 16)));
  }
  header(type: number, flags: number, geofences: number, records: number): this {
    return this.u8(type, flags)
      .u16(geofences)
      .u32(records)
      .f64(FIX_MS + 1000);
  }
  /** Latitude 59.9386, longitude -30.3141, 72.4 km/h, course 181.5. */
  position(number: number, status: number): this {
    return this.u32(number)
      .u32(599_386_000)
      .u32(-303_141_000)
      .u32(FIX_MS % 2 ** 32)
      .u16(Math.floor(FIX_MS / 2 ** 32))
      .u16(724)
      .u16(1815)
      .u8(status, 11)
      .u32(CONTACT_S);
  }
  get length(): number {
    return this.#bytes.length;
  }
  get buffer(): ArrayBuffer {
    return new Uint8Array(this.#bytes).buffer;
  }
}

const PLACE = {
  latitude: 59.9386,
  longitude: -30.3141,
  fixMs: FIX_MS,
  isValid: true,
  speedKmh: 72.4,
  courseDeg: 181.5,
  satellites: 11,
};
const MOVING_VALID_ON = 0b0010_1001;

test('vehicles of a snapshot, with alarms and open events; then a position by the number', () => {
  const reader = new BinaryReader();
  const snapshot = new Bytes()
    .header(1, 0b11, 1, 2)
    .uuid(GEOFENCE)
    .uuid(VEHICLE)
    .position(7, MOVING_VALID_ON | 0b1100_0000)
    .u32(SINCE_S)
    .u16(0b1_0000_0000_0001)
    .u8(1, 2)
    .u16(0)
    .u16(0xffff)
    .u16(0)
    .uuid(OTHER_VEHICLE)
    .u32(8)
    .u32(0x8000_0000)
    .u32(0x8000_0000)
    .u32(0)
    .u16(0)
    .u16(0xffff)
    .u16(0xffff)
    .u8(0, 0xff)
    .u32(0)
    .u32(0);
  expect(snapshot.length).toBe(16 + 16 + (48 + 10) + 48);
  expect(reader.read(snapshot.buffer)).toEqual({
    type: 'records',
    about: 'vehicles',
    isSnapshot: true,
    isComplete: true,
    serverTimeMs: FIX_MS + 1000,
    delaysMs: null,
    records: [
      {
        vehicleId: VEHICLE,
        place: PLACE,
        state: 'moving',
        online: true,
        ignition: true,
        lastContactMs: CONTACT_S * 1000,
        stateSinceMs: SINCE_S * 1000,
        hasAlarms: true,
        alarms: ['sos', 'terminal-conflict'],
        geofenceIds: [GEOFENCE],
        speedingIn: [null, GEOFENCE],
      },
      {
        vehicleId: OTHER_VEHICLE,
        place: null,
        state: 'unknown',
        online: null,
        ignition: null,
        lastContactMs: null,
        stateSinceMs: null,
        hasAlarms: false,
        alarms: [],
        geofenceIds: [],
        speedingIn: [],
      },
    ],
  });

  // Bits 6 and 7 announce lists in other types only.
  const positions = new Bytes().header(2, 0, 0, 2).position(7, 0b1101_0010).position(8, MOVING_VALID_ON);
  expect(positions.length).toBe(16 + 2 * 28);
  const { about, isSnapshot, records } = reader.read(positions.buffer);
  expect([about, isSnapshot]).toEqual(['positions', false]);
  expect(records.map(({ vehicleId }) => vehicleId)).toEqual([VEHICLE, OTHER_VEHICLE]);
  expect(records[0]).toEqual({
    vehicleId: VEHICLE,
    place: { ...PLACE, isValid: false },
    state: 'parking',
    online: true,
    ignition: false,
    lastContactMs: CONTACT_S * 1000,
    hasAlarms: true,
  });
});

test('states, and a number that was never introduced', () => {
  const reader = new BinaryReader();
  reader.read(new Bytes().header(1, 0, 0, 1).uuid(VEHICLE).position(1, 0).u32(0).buffer);
  const states = new Bytes()
    .header(3, 0, 1, 2)
    .uuid(GEOFENCE)
    .u32(99)
    .u32(CONTACT_S)
    .u32(SINCE_S)
    .u8(0b1000_0011, 0)
    .u8(1, 0)
    .u16(0)
    .u32(1)
    .u32(CONTACT_S)
    .u32(SINCE_S)
    .u8(4, 0);
  expect(states.length).toBe(16 + 16 + (14 + 4) + 14);
  expect(reader.read(states.buffer).records).toEqual([
    {
      vehicleId: VEHICLE,
      state: 'offline',
      online: false,
      ignition: null,
      lastContactMs: CONTACT_S * 1000,
      stateSinceMs: SINCE_S * 1000,
      hasAlarms: false,
      alarms: [],
      geofenceIds: [],
      speedingIn: [],
    },
  ]);
});

test('positions with the time that the service had them, where it was asked for', () => {
  const reader = new BinaryReader();
  reader.read(new Bytes().header(1, 0, 0, 1).uuid(VEHICLE).position(7, 0).u32(0).buffer);
  const positions = new Bytes().header(2, 0b100, 0, 2).position(7, 0).position(7, 0).u16(17).u16(0xffff);
  expect(reader.read(positions.buffer)).toMatchObject({
    about: 'positions',
    isSnapshot: false,
    delaysMs: [17, 65_535],
  });
  expect(() => reader.read(positions.buffer.slice(0, -2))).toThrow(RangeError);
});

test('a message that is cut off or of an unknown type is refused', () => {
  const whole = new Bytes().header(1, 0, 0, 1).uuid(VEHICLE).position(1, 0).u32(0).buffer;
  for (const length of [0, 15, 16, 40, whole.byteLength - 1])
    expect(() => new BinaryReader().read(whole.slice(0, length)), `${length}`).toThrow(RangeError);
  expect(() => new BinaryReader().read(new Bytes().header(9, 0, 0, 0).buffer)).toThrow(RangeError);
});
