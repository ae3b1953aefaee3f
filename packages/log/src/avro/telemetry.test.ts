import { readFileSync } from 'node:fs';
import v8 from 'node:v8';
import {
  type Alarm,
  type AttributeValue,
  blankPosition,
  PacketTrace,
  type Position,
  type ProtocolName,
  rejectionOf,
  type TelemetryPacket,
  type TerminalId,
  type VehicleId,
} from '@outrider/domain';
import { runs } from '@outrider/testing';
import avsc from 'avsc';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HEADER_BYTES, nameOf, symbolOf } from './schema-file.ts';
import { decodeTelemetry, encodeTelemetry } from './telemetry.ts';

// The oracle: the Avro library, driven by the schema file alone, and the rules of rounding written the slow way.
const type = avsc.Type.forSchema(
  JSON.parse(readFileSync(new URL('../../../../schemas/telemetry.avsc', import.meta.url), 'utf8')),
);

const MAX_LONG = 2n ** 52n;
const whole = (value: number, low: number, high: number, ifNaN: number) =>
  Number.isNaN(value) ? ifNaN : Math.min(high, Math.max(low, Math.round(value))) + 0;
const int = (value: number) => whole(value, -2147483648, 2147483647, -2147483648);
const long = (value: number) => whole(value, -Number(MAX_LONG), Number(MAX_LONG), 0);
const nullable = (value: number | null, round: (known: number) => number) =>
  value === null || Number.isNaN(value) ? null : round(value);

function attributeToAvro(value: AttributeValue) {
  if (typeof value === 'boolean') return { boolean: value };
  if (typeof value === 'string') return { string: value.toWellFormed() };
  if (Number.isInteger(value) && Math.abs(value) <= Number(MAX_LONG)) return { long: value + 0 };
  return { double: value };
}

type AvroPosition = ReturnType<typeof toAvro>['positions'][number];

function toAvro(packet: TelemetryPacket) {
  return {
    // Half a character becomes the replacement character; the Avro library would write bytes that are no UTF-8.
    vehicleId: packet.vehicleId.toWellFormed(),
    terminalId: packet.terminalId.toWellFormed(),
    protocol: packet.protocol,
    receivedAt: long(packet.receivedAtMs),
    positions: packet.positions.map((position) => ({
      fixTime: long(position.fixTimeMs),
      latitudeE7: int(position.latitude * 1e7),
      longitudeE7: int(position.longitude * 1e7),
      valid: position.valid,
      speedKmhE1: nullable(position.speedKmh, (kmh) => int(kmh * 10)),
      courseDeg: nullable(position.courseDeg, (deg) => (deg >= 359.5 && deg <= 360 ? 0 : int(deg))),
      altitudeM: nullable(position.altitudeM, int),
      satellites: nullable(position.satellites, int),
      ignition: position.ignition,
      odometerM: nullable(position.odometerM, long),
      supplyVE3: nullable(position.supplyV, (v) => int(v * 1000)),
      fuelLE1: nullable(position.fuelL, (l) => int(l * 10)),
      alarms: position.alarms.map(symbolOf),
      attributes:
        position.attributes &&
        Object.fromEntries(
          Object.entries(position.attributes)
            .filter(([, value]) => typeof value !== 'number' || Number.isFinite(value))
            .map(([name, value]) => [name, attributeToAvro(value)]),
        ),
    })),
    traceId: packet.trace ? Buffer.from(packet.trace.id, 'hex') : null,
  };
}

// biome-ignore format: one line for each field
const ALARMS: readonly Alarm[] = ['sos', 'power-cut', 'low-battery', 'tamper', 'overspeed', 'crash', 'harsh-acceleration', 'harsh-braking', 'harsh-cornering', 'towing', 'jamming', 'other'];
const PROTOCOLS: readonly ProtocolName[] = ['omnicomm', 'teltonika', 'wialon-ips', 'osmand', 'jt808', 'a-later-one'];
/** The schema of 0.1.0, where the protocol was an enum. */
const typeV1 = avsc.Type.forSchema(
  JSON.parse(readFileSync(new URL('../../../../schemas/history/telemetry.v1.avsc', import.meta.url), 'utf8')),
);

/** Numbers as terminals send them, and as nobody should. */
const anyNumber = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(Number.NaN, -0, 0, 1e9, -1e9, 1e12, 1e300, Infinity, -Infinity, 2 ** 31, 2 ** 52, 2 ** 53, 5e-324),
  fc.double({ min: -200, max: 400, noNaN: true }),
);
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ maxLength: 80 }),
  fc.constantFrom('\ud800', 'Ж', ''),
);
// The Avro library keeps maps in plain objects: this one name is tested by itself.
const anyName = anyText.filter((name) => name !== '__proto__' && name.isWellFormed());
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });

function positions(number: fc.Arbitrary<number>): fc.Arbitrary<Position> {
  return fc
    .record({
      fixTimeMs: number,
      latitude: number,
      longitude: number,
      valid: fc.boolean(),
      speedKmh: maybe(number),
      courseDeg: maybe(number),
      altitudeM: maybe(number),
      satellites: maybe(number),
      ignition: maybe(fc.boolean()),
      odometerM: maybe(number),
      supplyV: maybe(number),
      fuelL: maybe(number),
      alarms: fc.array(fc.constantFrom(...ALARMS), { maxLength: 200 }),
      attributes: maybe(fc.dictionary(anyName, fc.oneof(number, fc.boolean(), anyText), { noNullPrototype: true })),
    })
    .map((fields) => Object.assign(blankPosition(0, 0, 0), fields));
}

const word = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const packets = fc.record({
  vehicleId: anyText as fc.Arbitrary<VehicleId>,
  terminalId: anyText as fc.Arbitrary<TerminalId>,
  protocol: fc.constantFrom(...PROTOCOLS),
  receivedAtMs: anyNumber,
  positions: fc.array(positions(anyNumber), { maxLength: 20 }),
  trace: maybe(fc.tuple(word, word, word, word).map(([a, b, c, d]) => new PacketTrace(a, b, c, d))),
});

const packetOf = (...list: Position[]): TelemetryPacket => ({
  vehicleId: '018f4c1e-7a00-7000-8000-000000000001' as VehicleId,
  terminalId: '356307042441013' as TerminalId,
  protocol: 'teltonika',
  receivedAtMs: Date.UTC(2026, 0, 1, 12),
  positions: list,
});

/** A copy: what is encoded next shares memory with it, and a test may change it. */
const encoded = (packet: TelemetryPacket) => Buffer.from(encodeTelemetry(packet));

describe('telemetry in Avro', () => {
  test('the bytes are those that the Avro library writes with the schema file, whatever the numbers', () => {
    fc.assert(
      fc.property(packets, (packet) => {
        const body = encodeTelemetry(packet).subarray(HEADER_BYTES);
        expect(body.equals(type.toBuffer(toAvro(packet)))).toBe(true);
      }),
      { numRuns: runs(1000) },
    );
  });

  test('what the Avro library reads from the bytes is what was meant', () => {
    fc.assert(
      fc.property(packets, (packet) => {
        const read = type.fromBuffer(encodeTelemetry(packet).subarray(HEADER_BYTES));
        expect(type.toBuffer(read).equals(type.toBuffer(toAvro(packet)))).toBe(true);
      }),
    );
  });

  test('what the Avro library wrote is read back, in the domain’s words', () => {
    fc.assert(
      fc.property(packets, (packet) => {
        const avro = type.fromBuffer(type.toBuffer(toAvro(packet)));
        const header = encoded(packet).subarray(0, HEADER_BYTES);
        const read = decodeTelemetry(Buffer.concat([header, type.toBuffer(toAvro(packet))]));
        expect(read).toEqual({
          vehicleId: avro.vehicleId,
          terminalId: avro.terminalId,
          protocol: avro.protocol,
          receivedAtMs: avro.receivedAt,
          trace: packet.trace,
          positions: avro.positions.map((position: AvroPosition) => ({
            fixTimeMs: position.fixTime,
            latitude: position.latitudeE7 / 1e7,
            longitude: position.longitudeE7 / 1e7,
            valid: position.valid,
            speedKmh: position.speedKmhE1 === null ? null : position.speedKmhE1 / 10,
            courseDeg: position.courseDeg,
            altitudeM: position.altitudeM,
            satellites: position.satellites,
            ignition: position.ignition,
            odometerM: position.odometerM,
            supplyV: position.supplyVE3 === null ? null : position.supplyVE3 / 1000,
            fuelL: position.fuelLE1 === null ? null : position.fuelLE1 / 10,
            alarms: position.alarms.map(nameOf),
            attributes:
              position.attributes &&
              Object.fromEntries(
                Object.entries(position.attributes).map(([name, value]) => [name, Object.values(value)[0]]),
              ),
          })),
        });
      }),
      { numRuns: runs(500) },
    );
  });

  test('arrays and maps in blocks with their sizes, as other encoders write them, are read', () => {
    // An array in two blocks, each behind its negative count and its length in bytes.
    const text = (value: string) => [value.length * 2, ...Buffer.from(value)];
    const position = (attributes: number[]) => [0, 2, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...attributes];
    const plain = position([0]);
    const rich = position([2, 1, 4 * 2, ...text('a'), 2, 6, 1, 4 * 2, ...text('b'), 0, 1, 0]);
    const body = [...text('v'), ...text('t'), ...text('p'), 0];
    for (const block of [plain, rich]) body.push(1, block.length * 2, ...block);
    body.push(0, 0);
    const bytes = Buffer.concat([encoded(packetOf()).subarray(0, HEADER_BYTES), Buffer.from(body)]);
    const read = decodeTelemetry(bytes);
    expect(read.positions).toHaveLength(2);
    expect(read.positions[0]).toEqual({ ...blankPosition(0, 1e-7, 2e-7) });
    expect(read.positions[1]?.attributes).toEqual({ a: 3, b: true });
  });

  test('what a schema’s precision holds comes back exactly', () => {
    const exact = (low: number, high: number, scale: number) =>
      fc.integer({ min: low, max: high }).map((n) => n / scale);
    fc.assert(
      fc.property(
        exact(-9e8, 9e8, 1e7),
        exact(-18e8, 18e8, 1e7),
        exact(0, 4000, 10),
        (latitude, longitude, speedKmh) => {
          const position = {
            ...blankPosition(Date.UTC(2026, 0, 1), latitude, longitude),
            speedKmh,
            supplyV: 12.345,
            fuelL: 55.5,
          };
          expect(decodeTelemetry(encoded(packetOf(position))).positions).toEqual([position]);
        },
      ),
    );
  });

  test('places and times that cannot be are still refused after the log', () => {
    for (const wrong of [Number.NaN, 1e9, -1e9, Infinity, -Infinity, 1e300]) {
      const receivedAtMs = packetOf().receivedAtMs;
      const list = [
        blankPosition(receivedAtMs, wrong, 10),
        blankPosition(receivedAtMs, 10, wrong),
        blankPosition(wrong, 10, 10),
      ];
      const reasons = decodeTelemetry(encoded(packetOf(...list))).positions.map((p) => rejectionOf(p, receivedAtMs));
      expect(reasons.slice(0, 2)).toEqual(['out-of-range', 'out-of-range']);
      expect(reasons[2]).toMatch(/^time-/);
    }
  });

  test('the widest position there can be fits, at every place of the memory that is written into', () => {
    const widest: Position = {
      ...blankPosition(-(2 ** 52), -1e9, -1e9),
      speedKmh: -1e12,
      courseDeg: -1e12,
      altitudeM: -1e12,
      satellites: -1e12,
      ignition: true,
      odometerM: -(2 ** 52),
      supplyV: -1e12,
      fuelL: -1e12,
      alarms: ALARMS,
      attributes: { real: 0.1, long: -(2 ** 52), text: 'x'.repeat(300), switch: true },
    };
    const packet = packetOf(...Array.from({ length: 40 }, () => widest));
    const bytes = type.toBuffer(toAvro(packet));
    for (let i = 0; i < 200; i++) expect(encodeTelemetry(packet).subarray(HEADER_BYTES).equals(bytes)).toBe(true);
    const long = packetOf({ ...widest, attributes: { text: 'é'.repeat(2_000_000) } });
    expect(
      encodeTelemetry(long)
        .subarray(HEADER_BYTES)
        .equals(type.toBuffer(toAvro(long))),
    ).toBe(true);
  });

  test('a record from before packets had a trace is read as one without', () => {
    const base64 =
      'wwHMJsNcLOPLREgwMThmNGMxZS03YTAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDEeMzU2MzA3MDQyNDQxMDEzAoDY7pbvZgLArueW72bAmdaTBMDS1uYCAQK6CQAAAAIBAAAAAAAA';
    const earlier = Buffer.from(base64, 'base64');
    const packet = packetOf({
      ...blankPosition(Date.UTC(2026, 0, 1, 11, 59), 55.75, 37.61),
      speedKmh: 60.5,
      ignition: true,
    });
    expect(decodeTelemetry(earlier)).toEqual({ ...packet, trace: null });
    for (let end = 0; end < earlier.length; end++)
      expect(() => decodeTelemetry(earlier.subarray(0, end))).toThrow(Error);
  });

  test('a record of 0.1.0, whose schema had the protocols as an enum, reads as one of today', () => {
    const header = Buffer.from('c301403ed164a94ec6bb', 'hex');
    fc.assert(
      fc.property(packets, fc.constantFrom(...PROTOCOLS.slice(0, 5)), (packet, protocol) => {
        const record = toAvro({ ...packet, protocol });
        const bytes = Buffer.concat([header, typeV1.toBuffer({ ...record, protocol: symbolOf(protocol) })]);
        expect(decodeTelemetry(bytes)).toEqual(decodeTelemetry(encoded({ ...packet, protocol })));
      }),
    );
  });

  test('a trace costs a packet 16 bytes, and comes back as the text that it stands for', () => {
    const trace = new PacketTrace(0x0af76519, 0x16cd43dd, 0x8448eb21 | 0, 0x1c80319c);
    const plain = packetOf(blankPosition(1, 2, 3));
    const bytes = encoded({ ...plain, trace });
    expect(bytes.length - encoded(plain).length).toBe(16);
    expect(decodeTelemetry(bytes).trace?.id).toBe('0af7651916cd43dd8448eb211c80319c');
    expect(JSON.stringify({ traceId: trace })).toBe('{"traceId":"0af7651916cd43dd8448eb211c80319c"}');
  });

  test('a record is not touched by those encoded after it', () => {
    const first = encodeTelemetry(packetOf(blankPosition(1, 2, 3)));
    const copy = Buffer.from(first);
    for (let i = 0; i < 10_000; i++) encodeTelemetry(packetOf(blankPosition(i, 4, 5)));
    expect(first.equals(copy)).toBe(true);
  });

  test('an attribute may have any name', () => {
    const attributes = JSON.parse('{"__proto__": 5, "constructor": "x", "": true}');
    const read = decodeTelemetry(encoded(packetOf({ ...blankPosition(1, 2, 3), attributes })));
    expect(Object.entries(read.positions[0]?.attributes ?? {})).toEqual(Object.entries(attributes));
    expect(Object.getPrototypeOf(read.positions[0]?.attributes)).toBe(Object.prototype);
  });

  test('names that share a place in memory are told apart', () => {
    const names = Array.from({ length: 5000 }, (_, i) => [`io${i}`, `é${i}`, `Ã©${i}`, `ж${i}`][i % 4] as string);
    for (let round = 0; round < 2; round++)
      for (const name of names) {
        const attributes = { [name]: 1 };
        const read = decodeTelemetry(encoded(packetOf({ ...blankPosition(1, 2, 3), attributes })));
        expect(read.positions[0]?.attributes).toEqual(attributes);
      }
  });

  test('bytes that are no record, or half of one, are refused and nothing else', () => {
    fc.assert(
      fc.property(packets, fc.nat(), fc.nat(), fc.integer({ min: 0, max: 255 }), (packet, cut, place, byte) => {
        const bytes = encoded(packet);
        expect(() => decodeTelemetry(bytes.subarray(0, cut % bytes.length))).toThrow(Error);
        bytes[place % bytes.length] = byte;
        try {
          decodeTelemetry(bytes);
        } catch (error) {
          expect(String(error)).toMatch(/no Avro record|written with schema|not a record/);
        }
      }),
      { numRuns: runs(1000) },
    );
    expect(() => decodeTelemetry(Buffer.alloc(0))).toThrow('begins no Avro record');
  });

  test('positions from the log share their hidden class with those from the decoders', () => {
    v8.setFlagsFromString('--allow-natives-syntax');
    const sameMap = new Function('a', 'b', 'return %HaveSameMap(a, b)') as (a: object, b: object) => boolean;
    const full = (): Position =>
      Object.assign(blankPosition(Date.UTC(2026, 0, 1), 55.7, 37.6), {
        speedKmh: 60.5,
        ignition: true,
        attributes: { rpm: 5 },
      });
    // V8 settles on how it keeps each field once it has seen what they hold.
    for (let i = 0; i < 100; i++) decodeTelemetry(encoded(packetOf(full(), blankPosition(1, 2, 3))));
    const [rich, plain] = decodeTelemetry(encoded(packetOf(full(), blankPosition(1, 2, 3)))).positions;
    expect(Object.keys(rich ?? {})).toEqual(Object.keys(blankPosition(0, 0, 0)));
    expect(sameMap(rich as Position, plain as Position)).toBe(true);
    expect(sameMap(rich as Position, full())).toBe(true);
  });
});
