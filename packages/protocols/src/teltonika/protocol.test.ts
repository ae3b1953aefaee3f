import { type Alarm, NO_ALARMS, type Position, type TerminalId } from '@outrider/domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crc16Arc } from '../crc16.ts';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { teltonika } from './protocol.ts';
import { createTeltonikaExtendedSimulator, createTeltonikaSimulator } from './simulator.ts';

const IMEI = '356307042441013';
const HELLO = Buffer.from('000f333536333037303432343431303133', 'hex');

const CARRIED: readonly Alarm[] = ['sos', 'power-cut', 'overspeed', 'crash', 'towing', 'jamming'];
const HARSH: readonly Alarm[] = ['harsh-acceleration', 'harsh-braking', 'harsh-cornering'];

function carried(position: Position): Position {
  const harsh = position.alarms.find((alarm) => HARSH.includes(alarm));
  const alarms = position.alarms.filter((alarm) => CARRIED.includes(alarm) || alarm === harsh);
  let attributes = position.attributes;
  if (attributes !== null && alarms.length > 0) {
    const { eventIo: _, ...rest } = attributes;
    attributes = Object.keys(rest).length > 0 ? rest : null;
  }
  return {
    ...position,
    latitude: onGrid(position.latitude),
    longitude: onGrid(position.longitude),
    speedKmh: Math.round(position.speedKmh ?? 0),
    courseDeg: position.courseDeg ?? 0,
    altitudeM: position.altitudeM ?? 0,
    satellites: position.valid ? position.satellites || 4 : 0,
    alarms,
    attributes,
  };
}

/** In steps of 1e-7 degrees, without the negative zero that the wire does not have. */
function onGrid(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7 + 0;
}

const ATTRIBUTES = {
  eventIo: fc.integer({ min: 1, max: 100 }),
  io1: fc.nat({ max: 1 }),
  io17: fc.integer({ min: -8000, max: 8000 }),
  io21: fc.nat({ max: 5 }),
  io32: fc.integer({ min: -128, max: 127 }),
  io67: fc.nat({ max: 65535 }),
  io72: fc.integer({ min: -550, max: 1150 }),
  io199: fc.nat({ max: 2 ** 32 - 1 }),
  io241: fc.nat({ max: 99999 }),
  io78: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }),
};
const attributes = fc
  .record(ATTRIBUTES, { requiredKeys: [] })
  .map((held) => (Object.keys(held).length > 0 ? held : null));
const attributesOfExtended = fc
  .record(
    {
      ...ATTRIBUTES,
      eventIo: fc.integer({ min: 256, max: 65535 }),
      io256: fc.stringMatching(/^[A-HJ-NPR-Z0-9]{17}$/),
      io385: fc.uint8Array({ minLength: 1, maxLength: 40 }).map((bytes) => `0e${Buffer.from(bytes).toString('hex')}`),
      io10300: fc.nat({ max: 65535 }),
    },
    { requiredKeys: [] },
  )
  .map((held) => (Object.keys(held).length > 0 ? held : null));

const conformance = { protocol: teltonika, terminalId: IMEI as TerminalId, carried, idleBytes: [0xff] };
describeProtocol('Codec 8', {
  ...conformance,
  createSimulator: createTeltonikaSimulator,
  positions: arbitraryPosition(attributes),
});
describeProtocol('Codec 8 Extended', {
  ...conformance,
  createSimulator: createTeltonikaExtendedSimulator,
  positions: arbitraryPosition(attributesOfExtended),
});

/** A session that has taken the IMEI. */
function identified() {
  const session = teltonika.createSession();
  session.push(HELLO, 0);
  return session;
}

/** A packet around records, with a right checksum. */
function packet(codec: number, count: number, records: string, countAgain = count): Buffer {
  const data = Buffer.concat([Buffer.from([codec, count]), Buffer.from(records, 'hex'), Buffer.from([countAgain])]);
  const bytes = Buffer.alloc(data.length + 12);
  bytes.writeUInt32BE(data.length, 4);
  data.copy(bytes, 8);
  bytes.writeUInt32BE(crc16Arc(data, 0, data.length), data.length + 8);
  return bytes;
}

describe("the frames in the maker's wiki", () => {
  test('the IMEI is answered with 01 or 00', () => {
    expect(teltonika.createSession().push(HELLO, 0)).toEqual([
      { type: 'identify', terminalId: IMEI, accept: Buffer.from([1]), reject: Buffer.from([0]) },
    ]);
  });

  test('Codec 8, one record without a fix', () => {
    const frame =
      '000000000000003608010000016B40D8EA30010000000000000000000000000000000105021503010101425E0F01F10000601A014E0000000000000000010000C7CF';
    expect(identified().push(Buffer.from(frame, 'hex'), 0)).toEqual([
      {
        type: 'positions',
        positions: [
          {
            fixTimeMs: Date.UTC(2019, 5, 10, 10, 4, 46),
            latitude: 0,
            longitude: 0,
            valid: false,
            speedKmh: 0,
            courseDeg: 0,
            altitudeM: 0,
            satellites: 0,
            ignition: null,
            odometerM: null,
            supplyV: 24.079,
            fuelL: null,
            alarms: NO_ALARMS,
            attributes: { eventIo: 1, io21: 3, io1: 1, io241: 24602, io78: 0 },
          },
        ],
        ack: Buffer.from([0, 0, 0, 1]),
      },
    ]);
  });

  test('Codec 8 Extended, one record with a fix and an element of any length', () => {
    const frame =
      '000000000000005F8E010000015FBA40B620000F0DCDE420959D30008A000006000000000006000100EF0000010011001E000100100000CBDF0002000B000000003544C875000E0000000029BFE4D10001010000110000000000000000000000000000000000010000D153';
    expect(identified().push(Buffer.from(frame, 'hex'), 0)).toEqual([
      {
        type: 'positions',
        positions: [
          {
            fixTimeMs: Date.UTC(2017, 10, 14, 11, 18, 44),
            latitude: 54.6676016,
            longitude: 25.2562916,
            valid: true,
            speedKmh: 0,
            courseDeg: 0,
            altitudeM: 138,
            satellites: 6,
            ignition: false,
            odometerM: 52191,
            supplyV: null,
            fuelL: null,
            alarms: NO_ALARMS,
            attributes: { io17: 30, io11: 893700213, io14: 700441809, io256: '\0'.repeat(17) },
          },
        ],
        ack: Buffer.from([0, 0, 0, 1]),
      },
    ]);
  });
});

describe('what a frame must be', () => {
  const record = '0000016b40d8ea3001000000000000000000000000000000';

  test('a wrong checksum is refused, and none of its records acknowledged', () => {
    const frame = packet(8, 1, `${record}000000000000`);
    frame.writeUInt32BE(frame.readUInt32BE(frame.length - 4) ^ 1, frame.length - 4);
    expect(identified().push(frame, 0)).toMatchObject([
      { type: 'refuse', reason: 'bad-checksum', bytes: Buffer.from([0, 0, 0, 0]) },
    ]);
  });

  test.each([
    ['records that end early', packet(8, 2, `${record}000000000000`), 'bad-content'],
    ['records that end late', packet(8, 1, `${record}00000000000000`), 'bad-content'],
    ['counts that differ', packet(8, 1, `${record}000000000000`, 2), 'bad-content'],
    ['elements beyond the end', packet(8, 1, `${record}0005ff`), 'bad-content'],
    [
      'an element of any length beyond the end',
      packet(0x8e, 1, `${record}00000000000000000000000000010100ffff`),
      'bad-content',
    ],
    ['a time in the year 292278994', packet(8, 1, `7fffffffffffffff${record.slice(16)}000000000000`), 'bad-content'],
    ['Codec 16', packet(0x10, 1, '0600000000'), 'unsupported'],
    ['a message cut off', packet(0x0c, 1, '06000000056f6b'), 'bad-content'],
    ['a message without its size', packet(0x0d, 1, '060000'), 'bad-content'],
    ['bytes after a message', packet(0x0e, 1, '06000000006f6b'), 'bad-content'],
    ['counts of messages that differ', packet(0x0c, 1, '0600000000', 2), 'bad-content'],
    ['a length of 4 GB', Buffer.from('00000000ffffffff', 'hex'), 'bad-length'],
    ['a length of nothing', Buffer.from('0000000000000002', 'hex'), 'bad-length'],
    ['something else than zeros', Buffer.from('GET /'), 'bad-frame'],
  ])('%s', (_, bytes, reason) => {
    expect(identified().push(bytes, 0)).toMatchObject([{ type: 'refuse', reason }]);
  });

  test.each([
    ['an IMEI of letters', Buffer.from('\0\x0fabcdefghijklmno'), 'bad-content'],
    ['an IMEI of 255 digits', Buffer.from([0, 255]), 'bad-length'],
    ['HTTP', Buffer.from('GET / HTTP/1.1\r\n'), 'bad-frame'],
  ])('%s', (_, bytes, reason) => {
    expect(teltonika.createSession().push(bytes, 0)).toMatchObject([{ type: 'refuse', reason }]);
  });

  test('pings between frames are passed over', () => {
    const session = teltonika.createSession();
    expect(session.push(Buffer.from([0xff]), 0)).toEqual([]);
    expect(session.push(HELLO, 0)).toHaveLength(1);
    expect(session.push(Buffer.concat([Buffer.from([0xff, 0xff]), packet(8, 0, '')]), 0)).toEqual([
      { type: 'positions', positions: [], ack: Buffer.from([0, 0, 0, 0]) },
    ]);
  });
});

describe('messages', () => {
  const hex = (text: string) => Buffer.from(text, 'latin1').toString('hex');
  const message = (codec: number, type: string, before: string, text: string) => {
    const size = before.length / 2 + text.length;
    return packet(codec, 1, `${type}${size.toString(16).padStart(8, '0')}${before}${hex(text)}`);
  };
  const time = '65f1d2c3';
  const imei = '0356307042441013';

  test.each([
    ['Codec 12, an answer', message(0x0c, '06', '', 'DI1:0 DO1:1\r\n'), 'DI1:0 DO1:1'],
    ['Codec 13, with its time', message(0x0d, '06', time, 'level=12.5'), 'level=12.5'],
    ['Codec 14, with the IMEI', message(0x0e, '06', imei, 'Ver:03.18'), 'Ver:03.18'],
    ['Codec 14, refused', message(0x0e, '11', imei, ''), ''],
    ['Codec 15, with both', message(0x0f, '0b', time + imei, 'Hello!'), 'Hello!'],
    ['bytes that are no text', message(0x0c, '06', '', '\x01\xfe\x00'), '01fe00'],
    ['shorter than what comes before the text', message(0x0e, '06', '01', ''), ''],
  ])('%s: read, not answered, and the connection goes on', (_, bytes, text) => {
    expect(identified().push(Buffer.concat([bytes, packet(8, 0, '')]), 0)).toEqual([
      { type: 'text', text },
      { type: 'positions', positions: [], ack: Buffer.from([0, 0, 0, 0]) },
    ]);
  });

  test('several in a packet', () => {
    const [first, second] = ['one', 'two'].map((text) => `0600000003${hex(text)}`);
    expect(identified().push(packet(0x0c, 2, `${first}${second}`), 0)).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ]);
  });

  test('with a wrong checksum are refused', () => {
    const bytes = message(0x0c, '06', '', 'text');
    bytes.writeUInt8((bytes.at(-1) as number) ^ 1, bytes.length - 1);
    expect(identified().push(bytes, 0)).toMatchObject([{ type: 'refuse', reason: 'bad-checksum' }]);
  });
});

describe('alarms', () => {
  const alarmsOf = (event: string, id: string, value: string) => {
    const frame = packet(8, 1, `0000016b40d8ea300100000000000000000000000005000a${event}0101${id}${value}000000`);
    const [inbound] = identified().push(frame, 0);
    if (inbound?.type !== 'positions') throw new Error(JSON.stringify(inbound));
    const [position] = inbound.positions;
    return [position?.alarms, position?.attributes];
  };

  test.each([
    ['the alarm button', 'ec', '01', ['sos'], null],
    ['cut from power', 'fc', '01', ['power-cut'], null],
    ['power back', 'fc', '00', [], null],
    ['a crash', 'f7', '01', ['crash'], null],
    ['a crash told by a device that is not calibrated', 'f7', '06', ['crash'], null],
    ['a trace of a crash is no crash', 'f7', '02', [], { io247: 2 }],
    ['towing', 'f6', '01', ['towing'], null],
    ['jamming', 'f9', '01', ['jamming'], null],
    ['braking', 'fd', '02', ['harsh-braking'], null],
    ['overspeeding', 'ff', '5a', ['overspeed'], { io255: 90 }],
  ])('%s', (_, id, value, alarms, attributes) => {
    expect(alarmsOf(id, id, value)).toEqual([alarms, attributes]);
  });

  test('the speed of an overspeeding that another event repeats is no alarm', () => {
    expect(alarmsOf('01', 'ff', '5a')).toEqual([[], { eventIo: 1, io255: 90 }]);
  });
});

test('a simulated terminal needs an id of digits', () => {
  expect(() => createTeltonikaSimulator('truck' as TerminalId)).toThrow(TypeError);
});
