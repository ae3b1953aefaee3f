import type { TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { FIELDS_OF_FLEX_1, FIELDS_OF_FLEX_2, layoutOf } from './fields.ts';
import { buildFlex, buildNtcb } from './frame.ts';
import { navtelecom } from './protocol.ts';
import { createNavtelecomSimulator, createNavtelecomSimulator2 } from './simulator.ts';

const IMEI = '356307042441013' as TerminalId;
const NOW_MS = Date.UTC(2026, 0, 1);
const TIME = Date.UTC(2026, 0, 1, 12) / 1000;

for (const [name, createSimulator] of [
  ['Navtelecom, FLEX 1.0', createNavtelecomSimulator],
  ['Navtelecom, FLEX 2.0', createNavtelecomSimulator2],
] as const)
  describeProtocol(name, {
    protocol: navtelecom,
    terminalId: IMEI,
    createSimulator,
    resolution: { degrees: 0.51 / 600_000, seconds: 1 },
    idleBytes: [0x7f],
    positions: arbitraryPosition(),
  });

const maskOf = (fields: readonly number[], bits: number) => {
  const mask = Buffer.alloc(Math.ceil(bits / 8));
  for (const field of fields) mask[(field - 1) >> 3] = (mask[(field - 1) >> 3] as number) | (0x80 >> ((field - 1) & 7));
  return mask;
};
const identity = () => buildNtcb(1, Buffer.from(`*>S:${IMEI}`), 0);
const wanted = (fields: readonly number[], version = 0x14, bits = FIELDS_OF_FLEX_2) =>
  buildNtcb(
    1,
    Buffer.concat([Buffer.from('*>FLEX'), Buffer.of(0xb0, version, version, bits), maskOf(fields, bits)]),
    0,
  );

/** A terminal that said who it is and which fields it sends. */
function agreed(fields: readonly number[]) {
  const session = navtelecom.createSession();
  session.push(Buffer.concat([identity(), wanted(fields)]), NOW_MS);
  return session;
}
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');
const le = (value: number, bytes: 2 | 4) => {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32LE(value | 0);
  return buffer.toString('hex', 0, bytes);
};
const float = (value: number) => {
  const buffer = Buffer.alloc(4);
  buffer.writeFloatLE(value);
  return buffer.toString('hex');
};

describe('what is agreed upon first', () => {
  test('the greeting and its answer, byte by byte', () => {
    // Receiver 1, sender 0, 19 bytes; the checksums are the XOR of the text and of the header.
    expect(identity().toString('hex', 0, 14)).toBe('404e5443' + '01000000' + '00000000' + '1300');
    const [identify] = navtelecom.createSession().push(identity(), NOW_MS);
    expect(identify).toEqual({
      type: 'identify',
      terminalId: IMEI,
      accept: hex('404e5443 00000000 01000000 0300 45 5e 2a3c53'),
      reject: null,
    });
  });

  test.each([
    ['1.0', 0x0a, '0a0a'],
    ['2.0', 0x14, '1414'],
    ['3.0, which is offered 2.0', 0x1e, '1414'],
  ])('fields of FLEX %s', (_, version, answered) => {
    const session = navtelecom.createSession();
    session.push(identity(), NOW_MS);
    const [answer] = session.push(wanted([1, 2, 3], version), NOW_MS);
    expect(answer).toMatchObject({ type: 'positions', positions: [] });
    expect((answer as { ack: Buffer }).ack.toString('latin1', 16, 22)).toBe('*<FLEX');
    expect((answer as { ack: Buffer }).ack.toString('hex', 22)).toBe(`b0${answered}`);
  });

  test('a terminal that wanted FLEX 3.0 begins anew with 2.0', () => {
    const session = navtelecom.createSession();
    session.push(Buffer.concat([identity(), wanted([1, 2, 3, 206], 0x1e, 255), wanted([3])]), NOW_MS);
    expect(session.push(buildFlex('C', hex(le(TIME, 4))), NOW_MS)).toMatchObject([{ positions: [{ valid: false }] }]);
  });

  test('every field has its place: records of FLEX 1.0 have 146 bytes, those of 2.0 have 403', () => {
    const all = (bits: number) =>
      layoutOf(
        maskOf(
          Array.from({ length: bits }, (_, index) => index + 1),
          bits,
        ),
      );
    const [one, two] = [all(FIELDS_OF_FLEX_1), all(FIELDS_OF_FLEX_2)];
    expect([one?.fields.length, two?.fields.length]).toEqual([69, 122]);
    expect([one?.recordBytes, two?.recordBytes]).toEqual([146, 403]);
    expect(layoutOf(maskOf([123], 128))).toBeNull();
  });
});

describe('records', () => {
  const PLACE = [3, 8, 10, 11, 12, 13, 14, 15];
  /** Valid, 11 satellites, 55.755 north, 37.617 east, 150.0 m, 60.5 km/h, 346 degrees, 65 km. */
  const place = `${le(TIME, 4)} 2f ${le(33_453_000, 4)} ${le(22_570_200, 4)} ${le(1500, 4)} ${float(60.5)} 5a01 ${float(65)}`;
  const PLACE_OF = {
    fixTimeMs: TIME * 1000,
    valid: true,
    latitude: 55.755,
    longitude: 37.617,
    altitudeM: 150,
    speedKmh: 60.5,
    courseDeg: 346,
    satellites: 11,
    odometerM: 65_000,
  };

  test('an array of them is answered by their count', () => {
    const [inbound] = agreed(PLACE).push(buildFlex('A', hex(`02 ${place} ${place}`)), NOW_MS);
    expect(inbound).toMatchObject({ positions: [PLACE_OF, PLACE_OF], ack: buildFlex('A', Buffer.of(2)) });
    expect((inbound as { ack: Buffer }).ack.subarray(0, 3)).toEqual(Buffer.from('~A\u0002'));
  });

  test('an urgent one is answered by its number, the present state by nothing but its type', () => {
    const session = agreed(PLACE);
    expect(session.push(buildFlex('T', hex(`2a000000 ${place}`)), NOW_MS)).toMatchObject([
      { positions: [PLACE_OF], ack: buildFlex('T', hex('2a000000')) },
    ]);
    expect(session.push(buildFlex('C', hex(place)), NOW_MS)).toMatchObject([
      { positions: [PLACE_OF], ack: buildFlex('C', Buffer.alloc(0)) },
    ]);
  });

  test('additional packets are confirmed and left out, and what stands behind them is taken', () => {
    const extra = buildFlex('E', hex('02 0300 010203 0100 04'));
    const urgent = buildFlex('X', hex('2a000000 0200 0506'));
    const bytes = Buffer.concat([extra, urgent, buildFlex('C', hex(place))]);
    const session = agreed(PLACE);
    const said = [...session.push(bytes.subarray(0, 9), NOW_MS), ...session.push(bytes.subarray(9), NOW_MS)];
    expect(said).toMatchObject([
      { type: 'unread' },
      { type: 'positions', positions: [], ack: buildFlex('E', Buffer.of(2)) },
      { type: 'unread' },
      { type: 'positions', positions: [], ack: buildFlex('X', hex('2a000000')) },
      { positions: [PLACE_OF] },
    ]);
  });

  test.each([
    ['percent', 75, { fuel1Percent: 75 }],
    ['tenths of a litre', 0x8000 | 425, { fuel1L: 42.5 }],
  ])('fuel by the bus, in %s', (_, level, attributes) => {
    const [inbound] = agreed([3, 53, 78]).push(buildFlex('C', hex(`${le(TIME, 4)} ${le(level, 2)} f6`)), NOW_MS);
    expect(inbound).toMatchObject({ positions: [{ attributes: { ...attributes, fuel1C: -10 } }] });
  });

  test('sensors have common names beside the numbers of their fields', () => {
    const fields = [2, 3, 4, 7, 19, 20, 21, 29, 31, 37, 38, 39, 44, 45, 46, 54, 55, 56, 57, 63, 69, 71, 84, 94];
    const record = [
      `a111 ${le(TIME, 4)} 2c 1f`, // event, time, alarm and armed and towed, signal
      `${le(12_345, 2)} ${le(4100, 2)} ${le(4300, 2)} 05 02 ${le(162_435, 4)}`,
      `${le(1234, 2)} ffff ${le(77, 2)} ec 80`, // levels, one of them is off; -20 degrees and no sensor
      `${float(1234.5)} ${le(1500, 2)} 5a ${float(98_765.4)} 2a 3c 0a14 ${le(900, 2)}15 010203040506`,
    ];
    const [inbound] = agreed(fields).push(buildFlex('C', hex(record.join(''))), NOW_MS);
    const [position] = (inbound as { positions: { attributes: object }[] }).positions;
    expect(position).toMatchObject({
      supplyV: 12.345,
      alarms: ['other', 'towing'],
      ignition: null,
      attributes: {
        eventCode: 0x11a1,
        armed: true,
        gsmSignalPercent: 100,
        batteryV: 4.1,
        analog1V: 4.3,
        input1: true,
        input2: false,
        input3: true,
        output2: true,
        engineHours: 45.12,
        fuelLevel1: 1234,
        fuelLevel17: 77,
        temperature1C: -20,
        fuelUsedL: 1234.5,
        rpm: 1500,
        engineTemperatureC: 90,
        canOdometerM: 98_765_400,
        throttlePercent: 42,
        canSpeedKmh: 60,
        hdop: 1,
        fuelLevel7: 900,
        flex21: 4300,
        flex94: '010203040506',
      },
    });
    for (const absent of ['fuelLevel2', 'temperature2C']) expect(position?.attributes).not.toHaveProperty(absent);
  });

  test('an answer to a command is a text', () => {
    const text = buildNtcb(1, Buffer.from('*@C'), 0);
    expect(agreed([3]).push(text, NOW_MS)).toEqual([{ type: 'text', text: '*@C' }]);
  });

  const damaged = (frame: Buffer, at: number) => {
    const bytes = Buffer.from(frame);
    bytes[at] = (bytes[at] as number) ^ 1;
    return bytes;
  };
  test.each([
    ['a wrong checksum of a packet', damaged(buildFlex('C', hex(le(TIME, 4))), 3), 'bad-checksum'],
    ['a wrong checksum of a header', damaged(identity(), 5), 'bad-checksum'],
    ['a wrong checksum of a frame', damaged(identity(), 20), 'bad-checksum'],
    ['another identity', buildNtcb(1, Buffer.from('*>S:356307042441014'), 0), 'bad-content'],
    ['an identity that is none', buildNtcb(1, Buffer.from('*>S:35630704244101'), 0), 'bad-content'],
    ['no fields', wanted([]), 'bad-content'],
    ['fields that are cut off', buildNtcb(1, Buffer.from('*>FLEX'), 0), 'bad-content'],
    ['an additional packet of another form', hex('7e4501020001020 0'.replaceAll(' ', '')), 'unsupported'],
    ['telemetry without FLEX', buildNtcb(1, Buffer.from('*>A'), 0), 'unsupported'],
    ['another type of packet', Buffer.from('~Q\u0001'), 'bad-frame'],
  ])('%s ends the connection', (_, bytes, reason) => {
    expect(agreed([3]).push(bytes, NOW_MS)).toMatchObject([{ type: 'refuse', reason }]);
  });

  test('a packet before the fields ends the connection', () => {
    const session = navtelecom.createSession();
    session.push(identity(), NOW_MS);
    expect(session.push(Buffer.from('~C\u0001'), NOW_MS)).toMatchObject([{ reason: 'bad-content' }]);
  });
});
