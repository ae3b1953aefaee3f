import { readFileSync } from 'node:fs';
import {
  ALARMS,
  blankPosition,
  type PacketSink,
  PacketTrace,
  type Position,
  type TelemetryPacket,
} from '@outrider/domain';
import { telemetryRecordsTopic, telemetryTopic } from '@outrider/log';
import { runs } from '@outrider/testing';
import { UnfitRecordError } from '@outrider/warehouse';
import avsc from 'avsc';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blocksChunks, type NativeBlock } from '../../../packages/warehouse/src/native/block.ts';
import { positionBlock } from '../../../packages/warehouse/src/positions/block.ts';
import { packedBlock } from '../../../packages/warehouse/src/positions/packed-block.ts';

const anyNumber = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(Number.NaN, -0, 0, 1, 1e9, -1e9, 1e12, 1e300, Infinity, -Infinity, 2 ** 31, 2 ** 52, 2 ** 53, 5e-324),
  fc.double({ min: -200, max: 400, noNaN: true }),
  fc.integer({ min: Date.UTC(2004, 0), max: Date.UTC(2030, 0) }),
);
const anyText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ maxLength: 200 }),
  fc.constantFrom('\ud800', 'Ж', '', '"', '\\', '\u007f', '\n', '__proto__'),
);
/** Names as terminals have them, those that an object puts first, and as nobody should. */
const anyName = fc.oneof(
  fc.constantFrom('hdop', 'gsm', 'io21', 'io239', '5', '17', '017', '__proto__', 'constructor', 'a b', ''),
  anyText,
);
const maybe = <T>(some: fc.Arbitrary<T>) => fc.option(some, { nil: null });
const attributes = fc
  .array(fc.tuple(anyName, fc.oneof(anyNumber, fc.boolean(), anyText)), { maxLength: 12 })
  .map((entries) => Object.fromEntries(entries));

const positions: fc.Arbitrary<Position> = fc
  .record({
    fixTimeMs: anyNumber,
    latitude: anyNumber,
    longitude: anyNumber,
    valid: fc.boolean(),
    speedKmh: maybe(anyNumber),
    courseDeg: maybe(anyNumber),
    altitudeM: maybe(anyNumber),
    satellites: maybe(anyNumber),
    ignition: maybe(fc.boolean()),
    odometerM: maybe(anyNumber),
    supplyV: maybe(anyNumber),
    fuelL: maybe(anyNumber),
    alarms: fc.array(fc.constantFrom(...ALARMS), { maxLength: 5 }),
    attributes: maybe(attributes),
  })
  .map((fields) => Object.assign(blankPosition(0, 0, 0), fields));

const word = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const packets = fc.record({
  vehicleId: fc.oneof(
    fc.uuid(),
    fc.uuid().map((id) => id.toUpperCase()),
    fc.uuid().map((id) => `${id.replaceAll('-', '')}----`),
  ),
  terminalId: fc.oneof(fc.constantFrom('356307042441013', '356307042441014'), anyText),
  protocol: fc.constantFrom('teltonika', 'osmand', 'ж'),
  receivedAtMs: anyNumber,
  positions: fc.array(positions, { maxLength: 6 }),
  trace: maybe(fc.tuple(word, word, word, word).map((words) => new PacketTrace(...words))),
}) as fc.Arbitrary<TelemetryPacket>;

const packetOf = (...list: Position[]): TelemetryPacket => ({
  vehicleId: '018f4c1e-7a00-7000-8000-000000000001' as TelemetryPacket['vehicleId'],
  terminalId: '356307042441013' as TelemetryPacket['terminalId'],
  protocol: 'teltonika',
  receivedAtMs: Date.UTC(2026, 0, 1, 12),
  positions: list,
});
const encoded = (packet: TelemetryPacket) => Buffer.from(telemetryTopic.encode(packet));
const bytesOf = (block: NativeBlock) => Buffer.concat(blocksChunks([block]));

/** Both ways from the log's bytes to the rows: the second by an object of each position. */
function expectSameRows(records: readonly Buffer[], areChecked = false): void {
  const packed = records.map((bytes, i) => ({ offset: i * 2 ** 40, value: telemetryRecordsTopic.decode(bytes) }));
  if (areChecked) for (const { value } of packed) value.check();
  const plain = records.map((bytes, i) => ({ offset: i * 2 ** 40, value: telemetryTopic.decode(bytes) }));
  expect(
    packed.map(({ value: { rows, receivedAtMs, protocol, trace } }) => [rows, receivedAtMs, protocol, trace]),
  ).toEqual(plain.map(({ value }) => [value.positions.length, value.receivedAtMs, value.protocol, value.trace]));
  expect(bytesOf(packedBlock(packed)).equals(bytesOf(positionBlock(plain)))).toBe(true);
}

describe('rows made of the log’s bytes', () => {
  test('are those that are made of the positions as objects, whatever these hold', () => {
    fc.assert(
      fc.property(fc.array(packets, { maxLength: 8 }), (list) => expectSameRows(list.map(encoded))),
      { numRuns: runs(1000) },
    );
  });

  test('are so for packets of the schema of 0.1.0', () => {
    const schema = new URL('../../../schemas/history/telemetry.v1.avsc', import.meta.url);
    const type = avsc.Type.forSchema(JSON.parse(readFileSync(schema, 'utf8')));
    const current = new URL('../../../schemas/telemetry.avsc', import.meta.url);
    const currentType = avsc.Type.forSchema(JSON.parse(readFileSync(current, 'utf8')));
    fc.assert(
      fc.property(packets, (packet) => {
        const record = currentType.fromBuffer(encoded(packet).subarray(10));
        const body = type.toBuffer({ ...record, protocol: 'WIALON_IPS' });
        expectSameRows([Buffer.concat([Buffer.from('c301403ed164a94ec6bb', 'hex'), body])]);
      }),
    );
  });

  test('are so for arrays and maps in several blocks, and for names that come twice or as numbers', () => {
    const text = (value: string) => [value.length * 2, ...Buffer.from(value)];
    const position = (attributes: number[]) => [0, 2, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, ...attributes];
    // A block of one entry behind its length in bytes: a long, or true.
    const block = (entry: number[]) => [1, entry.length * 2, ...entry];
    const [a3, a4, b] = [block([...text('a'), 2, 6]), block([...text('a'), 2, 8]), block([...text('b'), 0, 1])];
    const five = block([...text('5'), 2, 6]);
    const vehicle = text('018f4c1e-7a00-7000-8000-000000000001');
    const body = [...vehicle, ...text('t'), ...text('p'), 0];
    for (const maps of [[a3, b], [a3, b, a4], [b], [b, five]]) body.push(...block(position([2, ...maps.flat(), 0])));
    body.push(0, 0);
    const record = Buffer.concat([encoded(packetOf()).subarray(0, 10), Buffer.from(body)]);
    expect(() => packedBlock([{ offset: 0, value: telemetryRecordsTopic.decode(record) }])).toThrow(RangeError);
    expectSameRows([record], true);
  });

  test('are so for more attributes than are distinguished', () => {
    const many = Object.fromEntries(Array.from({ length: 700 }, (_, i) => [`io${i}`, i % 2 === 0]));
    const few = { hdop: 0.7, gsm: 4 };
    expectSameRows(
      [many, few, { text: 'x'.repeat(20_000) }, {}].map((attributes) =>
        encoded(packetOf({ ...blankPosition(1, 2, 3), attributes })),
      ),
    );
  });

  test('bytes that are no record, or half of one, are refused as they are by the other decoder', () => {
    const nothing = () => {};
    const deaf: PacketSink = {
      packet: nothing,
      position: nothing,
      alarm: nothing,
      noAttributes: nothing,
      beginAttributes: nothing,
      attributeName: () => true,
      attributeBoolean: nothing,
      attributeNumber: nothing,
      attributeText: nothing,
      endAttributes: nothing,
      attributes: nothing,
    };
    const outcome = (decode: () => unknown) => {
      try {
        decode();
        return 'read';
      } catch (error) {
        return String(error);
      }
    };
    fc.assert(
      fc.property(packets, fc.nat(), fc.integer({ min: 0, max: 255 }), fc.nat(), (packet, place, byte, cut) => {
        const bytes = encoded(packet);
        expect(() => telemetryRecordsTopic.decode(bytes.subarray(0, cut % bytes.length)).readInto(deaf)).toThrow(Error);
        bytes[place % bytes.length] = byte;
        const refusal = outcome(() => telemetryTopic.decode(bytes));
        expect(outcome(() => telemetryRecordsTopic.decode(bytes).readInto(deaf))).toBe(refusal);
        expect(outcome(() => telemetryRecordsTopic.decode(bytes).check())).toContain(refusal.replace(/^Error: /, ''));
      }),
      { numRuns: runs(1000) },
    );
  });

  test('a vehicle id that is no UUID is refused as unfit', () => {
    for (const vehicleId of ['car 7', '018f4c1e-7a00-7000-8000-00000000000g', '018f4c1e-7a00-7000-8000-0000000000é']) {
      const packet = { ...packetOf(blankPosition(1, 2, 3)), vehicleId } as TelemetryPacket;
      const record = { offset: 1, value: telemetryRecordsTopic.decode(encoded(packet)) };
      expect(() => packedBlock([record])).toThrow(UnfitRecordError);
    }
  });
});
