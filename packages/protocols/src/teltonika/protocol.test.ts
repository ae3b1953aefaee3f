import { type Alarm, blankPosition, NO_ALARMS, type Position, type TerminalId } from '@outrider/domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ATTRIBUTES as VOCABULARY } from '../attributes.ts';
import { crc16Arc } from '../crc16.ts';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { FAMILIES } from './elements.ts';
import { elementsPage } from './elements-page.fixture.ts';
import { CODEC_12, CODEC_13, encodeMessage, MESSAGE } from './messages.ts';
import { teltonika } from './protocol.ts';
import { createTeltonika16Simulator, createTeltonikaExtendedSimulator, createTeltonikaSimulator } from './simulator.ts';

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
    attributes: withCommonNames(attributes),
  };
}

/** What the codec adds: the names that are the same whatever the brand. */
function withCommonNames(attributes: Position['attributes']): Position['attributes'] {
  if (attributes === null) return null;
  const { io1, io21, io32, io67, io72, io78, io241 } = attributes;
  const key = io78 === undefined ? 0n : BigInt(io78 as string | number);
  return {
    ...attributes,
    ...(typeof io1 === 'number' && { input1: io1 === 1 }),
    ...(typeof io21 === 'number' && { gsmSignalPercent: io21 * 20 }),
    ...(typeof io32 === 'number' && { engineTemperatureC: io32 }),
    ...(typeof io67 === 'number' && { batteryV: io67 / 1000 }),
    ...(typeof io72 === 'number' && io72 !== 850 && { temperature1C: io72 / 10 }),
    ...(typeof io241 === 'number' && { mcc: Math.floor(io241 / 100), mnc: io241 % 100 }),
    ...(key !== 0n && { driverCode: reversedHex(key) }),
  };
}

function reversedHex(key: bigint): string {
  const pairs = key.toString(16).toUpperCase().padStart(16, '0').match(/../g) ?? [];
  return pairs.reverse().join('');
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
  io241: fc.integer({ min: 10_000, max: 99_999 }),
  io78: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : value.toString();
  }),
};
const attributes = fc
  .record(ATTRIBUTES, { requiredKeys: [] })
  .map((held) => (Object.keys(held).length > 0 ? held : null));
const attributesOf16 = fc.record(
  {
    ...ATTRIBUTES,
    eventIo: fc.integer({ min: 256, max: 65535 }),
    io10300: fc.nat({ max: 65535 }),
    generationType: fc.nat({ max: 7 }),
  },
  { requiredKeys: ['generationType'] },
);
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

describeProtocol('Codec 16', {
  ...conformance,
  createSimulator: createTeltonika16Simulator,
  positions: arbitraryPosition(attributesOf16),
});

/** A session that has taken the IMEI, of a terminal of that model. */
function identified(model: string | null = null) {
  const session = teltonika.createSession({ modelOf: () => model });
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

test('the code of a driver’s key stands as it is printed: its bytes from the last to the first', () => {
  const simulator = createTeltonikaSimulator(IMEI as TerminalId);
  const session = teltonika.createSession();
  session.push(simulator.hello() ?? Buffer.alloc(0), 0);
  const key = { io78: BigInt('0xE5F8280F00000001').toString() };
  const sent = simulator.encode([{ ...blankPosition(0, 1, 2), attributes: key }]);
  expect(session.push(sent, 0)).toMatchObject([{ positions: [{ attributes: { driverCode: '010000000F28F8E5' } }] }]);
});

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
            attributes: {
              eventIo: 1,
              io21: 3,
              gsmSignalPercent: 60,
              io1: 1,
              input1: true,
              io241: 24602,
              mcc: 246,
              mnc: 2,
              io78: 0,
            },
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
    ['Codec 7', packet(0x07, 1, '0600000000'), 'unsupported'],
    ['Codec 16 that ends behind the id of its event', packet(0x10, 1, `${record}0000`), 'bad-content'],
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

  test('pings between frames are signs of life', () => {
    const session = teltonika.createSession();
    expect(session.push(Buffer.from([0xff]), 0)).toEqual([]);
    expect(session.push(HELLO, 0)).toHaveLength(1);
    expect(session.push(Buffer.concat([Buffer.from([0xff, 0xff]), packet(8, 0, '')]), 0)).toEqual([
      { type: 'positions', positions: [], ack: null },
      { type: 'positions', positions: [], ack: null },
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

describe('texts are kept', () => {
  const HERE = { fixTimeMs: Date.UTC(2026, 0, 1), latitude: 54.5, longitude: 25.25 };
  const at = (fixTimeMs: number) => ({ ...blankPosition(fixTimeMs, HERE.latitude, HERE.longitude), satellites: 9 });
  const sent = (fixTimeMs: number) => createTeltonikaSimulator(IMEI as TerminalId).encode([at(fixTimeMs)]);
  const answer = encodeMessage(CODEC_12, MESSAGE.answer, 'Fuel:42');

  test('at the last place, by the clock of the terminal', () => {
    const session = identified();
    session.push(sent(HERE.fixTimeMs), HERE.fixTimeMs + 3_600_000);
    expect(session.push(answer, HERE.fixTimeMs + 3_605_000)).toEqual([
      { type: 'text', text: 'Fuel:42' },
      {
        type: 'positions',
        positions: [
          {
            ...blankPosition(HERE.fixTimeMs + 5000, HERE.latitude, HERE.longitude),
            valid: false,
            attributes: { text: 'Fuel:42' },
          },
        ],
        ack: null,
      },
    ]);
  });

  test('at the time that Codec 13 says', () => {
    const session = identified();
    session.push(sent(HERE.fixTimeMs), HERE.fixTimeMs);
    const before = Buffer.alloc(4);
    before.writeUInt32BE(HERE.fixTimeMs / 1000 + 7);
    const [, inbound] = session.push(
      encodeMessage(CODEC_13, MESSAGE.answer, '$GPGGA', before),
      HERE.fixTimeMs + 60_000,
    );
    expect(inbound).toMatchObject({
      positions: [{ fixTimeMs: HERE.fixTimeMs + 7000, valid: false, attributes: { text: '$GPGGA' } }],
    });
  });

  test('that came before any place, behind the first records', () => {
    const session = identified();
    expect(session.push(answer, HERE.fixTimeMs)).toHaveLength(1);
    const [inbound] = session.push(sent(HERE.fixTimeMs), HERE.fixTimeMs);
    expect(inbound).toMatchObject({
      positions: [{ valid: true }, { fixTimeMs: HERE.fixTimeMs, valid: false, attributes: { text: 'Fuel:42' } }],
      ack: Buffer.from([0, 0, 0, 1]),
    });
  });

  test('no more than a few before the first record', () => {
    const session = identified();
    for (let nth = 0; nth < 1000; nth++) session.push(answer, HERE.fixTimeMs);
    const [inbound] = session.push(sent(HERE.fixTimeMs), HERE.fixTimeMs);
    expect(inbound?.type === 'positions' && inbound.positions.length).toBe(9);
  });
});

describe('Codec 16', () => {
  test('why the record was made stands behind the id of its event', () => {
    const head = '0000016b40d8ea30011c0ca67f207f5ef800a1000a050000';
    const [inbound] = identified().push(packet(0x10, 1, `${head}000b05020100ef0101000b01020000`), 0);
    expect(inbound).toMatchObject({
      positions: [
        { valid: true, satellites: 5, ignition: true, attributes: { eventIo: 11, generationType: 5, io11: 258 } },
      ],
      ack: Buffer.from([0, 0, 0, 1]),
    });
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

/** Elements of Codec 8 by width, as `[id, value]` in hexadecimal. */
function elementsOf(model: string | null, groups: Partial<Record<1 | 2 | 4 | 8, readonly string[]>>) {
  const group = (bytes: 1 | 2 | 4 | 8) => {
    const elements = groups[bytes] ?? [];
    return elements.length.toString(16).padStart(2, '0') + elements.join('');
  };
  const elements = ([1, 2, 4, 8] as const).map(group).join('');
  const frame = packet(8, 1, `0000016b40d8ea3001000000000000000000000000050000${'00'}ff${elements}`);
  const [inbound] = identified(model).push(frame, 0);
  if (inbound?.type !== 'positions') throw new Error(JSON.stringify(inbound));
  return { ...inbound.positions[0], ...inbound.positions[0]?.attributes };
}

describe('what an element means is up to the model', () => {
  const { FMB920, FMB640, FM36M1, FMB930 } = { FMB920: 'FMB920', FMB640: 'FMB640', FM36M1: 'FM36M1', FMB930: 'FMB930' };

  test('84 is litres with a CAN adapter, and a pedal on FMB6xx', () => {
    expect(elementsOf('FMB140', { 2: ['540208'] })).toMatchObject({ fuelL: 52 });
    expect(elementsOf(null, { 2: ['540208'] })).toMatchObject({ fuelL: 52 });
    expect(elementsOf(FMB640, { 2: ['540208'] })).toMatchObject({ fuelL: null, io84: 520 });
    expect(elementsOf(FMB640, { 4: ['5400000037'] })).toMatchObject({ fuelL: null, io84: 55, throttlePercent: 55 });
    expect(elementsOf(FMB640, { 2: ['220208'] })).toMatchObject({ fuelL: 52 });
    expect(elementsOf(FMB920, { 2: ['220208'] })).toMatchObject({ fuelL: null, io34: 520 });
  });

  test('without a model only what all models mean alike has a name', () => {
    expect(elementsOf(null, { 2: ['1900fa'] })).not.toHaveProperty('temperature5C');
    expect(elementsOf(null, { 2: ['1900fa'] })).toMatchObject({ io25: 250 });
    expect(elementsOf(FMB920, { 2: ['1900fa'] })).toMatchObject({ io25: 250, temperature5C: 2.5 });
    expect(elementsOf(FMB640, { 2: ['1900fa'] })).toMatchObject({ io25: 250, engineTemperatureC: 25 });
    expect(elementsOf(null, { 4: ['570000ea60'] })).not.toHaveProperty('canOdometerM');
    expect(elementsOf('FMB140', { 4: ['570000ea60'] })).toMatchObject({ canOdometerM: 60_000 });
    expect(elementsOf(FMB640, { 4: ['5700000032'] })).toMatchObject({ fuel1Percent: 50 });
  });

  test('a model that nobody knows means as little as none', () => {
    expect(elementsOf('FMB9999', { 2: ['1900fa'] })).toEqual(elementsOf(null, { 2: ['1900fa'] }));
  });

  test('the same number in another width is another element', () => {
    expect(elementsOf(null, { 1: ['d801'], 4: ['0400000009'] })).not.toHaveProperty('input4');
    expect(elementsOf(null, { 4: ['d800001388'] })).toMatchObject({ odometerM: 5000 });
    expect(elementsOf(null, { 2: ['ec0001'] })).toMatchObject({ alarms: [], io236: 1 });
    expect(elementsOf(FMB640, { 1: ['0401'], 2: ['ecff9c'] })).toMatchObject({ input4: true, io236: -100 });
  });

  test('temperatures of FM36 have two bytes, and its odometer an id of its own', () => {
    expect(elementsOf(FM36M1, { 2: ['48ff9c'], 4: ['6300001388'] })).toMatchObject({
      io72: -100,
      temperature1C: -10,
      odometerM: 5000,
    });
  });

  test('252 is a driver on FMB6xx, and else that the power was cut', () => {
    expect(elementsOf(FMB920, { 1: ['fc01'] })).toMatchObject({ alarms: ['power-cut'] });
    expect(elementsOf(null, { 1: ['fc01'] })).toMatchObject({ alarms: ['power-cut'] });
    expect(elementsOf(FMB640, { 1: ['fc01'] })).toMatchObject({ alarms: [], io252: 1 });
  });

  test('FMB930 reports a tenth of its voltage', () => {
    expect(elementsOf(FMB930, { 2: ['4204b0'] })).toMatchObject({ supplyV: 12 });
    expect(elementsOf(null, { 2: ['422ee0'] })).toMatchObject({ supplyV: 12 });
  });

  test.each([
    ['a sensor that has not measured yet', 0x352],
    ['a value that could not be read', 2000],
    ['a sensor that is not connected', 3000],
    ['an id that failed', 4000],
    ['colder than a sensor can be', -551],
  ])('%s is no temperature', (_, value) => {
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(value);
    const position = elementsOf(null, { 4: [`48${bytes.toString('hex')}`] });
    expect(position).toMatchObject({ io72: value });
    expect(position).not.toHaveProperty('temperature1C');
  });

  test('level sensors, doors, engine hours, the cell', () => {
    expect(elementsOf('FMB140', { 2: ['c90123', 'cbfffc', '5a2100'], 4: ['6600000078'] })).toMatchObject({
      fuelLevel1: 0x123,
      io203: -4,
      door1: true,
      door2: false,
      door6: true,
      engineHours: 2,
    });
    expect(elementsOf('FMB140', { 2: ['cbfffc'] })).not.toHaveProperty('fuelLevel2');
    expect(elementsOf(null, { 2: ['cd1234', 'ce0042'], 4: ['f10004bb9a'] })).toMatchObject({
      cellId: 0x1234,
      lac: 0x42,
      mcc: 310,
      mnc: 170,
    });
  });

  test('another model holds from the next packet on', () => {
    let model: string | null = 'FMB920';
    const session = teltonika.createSession({ modelOf: (ids) => (ids[0] === IMEI ? model : null) });
    session.push(HELLO, 0);
    const frame = packet(8, 1, '0000016b40d8ea300100000000000000000000000005000000010001220208000000'.slice(0, -2));
    const fuel = () => {
      const [inbound] = session.push(frame, 0);
      return inbound?.type === 'positions' ? inbound.positions[0]?.fuelL : inbound;
    };
    expect(fuel()).toBe(null);
    model = FMB640;
    expect(fuel()).toBe(52);
  });

  test('every common name is one of the vocabulary', () => {
    const known = new Set(Object.keys(VOCABULARY));
    const generic = (name: string) => name.replace(/\d+/, '<n>');
    for (const rows of Object.values(FAMILIES))
      for (const [id, , { use, name }] of rows)
        if (use === 'attribute' || use === 'state')
          expect(known.has(name) || known.has(generic(name)), `${id}: ${name}`).toBe(true);
  });

  test('the page of elements in the documents is that of the codec (remove it, and it is written anew)', async () => {
    await expect(elementsPage()).toMatchFileSnapshot('../../../../docs/teltonika-elements.md');
  });
});

test('a simulated terminal needs an id of digits', () => {
  expect(() => createTeltonikaSimulator('truck' as TerminalId)).toThrow(TypeError);
});
