import type { Alarm, Position, TerminalId } from '@outrider/domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { crc16X25 } from '../crc16.ts';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { buildFrame, MESSAGE } from './frame.ts';
import { ALARM_CODES, STEPS_PER_DEGREE } from './message.ts';
import { gt06 } from './protocol.ts';
import { createGt06Simulator } from './simulator.ts';

const IMEI = '356307042441013' as TerminalId;
const NOW_MS = Date.UTC(2026, 0, 1);

const onGrid = (degrees: number) =>
  (Math.round(Math.abs(degrees) * STEPS_PER_DEGREE) / STEPS_PER_DEGREE) * Math.sign(degrees) + 0;

/** The cell is sent in each packet, the status with alarms alone. */
function carried(position: Position): Position {
  const { batteryLevel, gsmSignal, armed, charging, fuelCut, mcc, mnc, lac, cellId } = position.attributes ?? {};
  const [alarm] = position.alarms;
  const hasCell = typeof mcc === 'number' && mcc > 0;
  const attributes = {
    ...(hasCell && { mcc, mnc: mnc ?? 0, lac: lac ?? 0, cellId: cellId ?? 0 }),
    ...(alarm !== undefined && {
      ...(typeof batteryLevel === 'number' && {
        batteryLevel,
        batteryPercent: Math.round((batteryLevel * 100) / 6),
      }),
      gsmSignal: gsmSignal ?? 0,
      gsmSignalPercent: Number(gsmSignal ?? 0) * 25,
      armed: armed ?? false,
      charging: charging ?? false,
      fuelCut: fuelCut ?? false,
      eventCode: ALARM_CODES.find(([, named]) => named === alarm)?.[0] ?? 0x21,
    }),
    ...(alarm === undefined && (position.ignition !== null || position.odometerM !== null) && { uploadMode: 0 }),
  };
  const hasStatus = position.ignition !== null || position.odometerM !== null || alarm !== undefined;
  return {
    ...position,
    fixTimeMs: Math.floor(position.fixTimeMs / 1000) * 1000,
    latitude: onGrid(position.latitude),
    longitude: onGrid(position.longitude),
    speedKmh: Math.min(255, Math.round(position.speedKmh ?? 0)),
    courseDeg: position.courseDeg ?? 0,
    altitudeM: null,
    satellites: Math.min(15, position.satellites ?? 0),
    ignition: hasStatus ? (position.ignition ?? false) : null,
    odometerM: alarm === undefined ? position.odometerM : null,
    supplyV: null,
    fuelL: null,
    alarms: alarm === undefined ? [] : [alarm],
    attributes: Object.keys(attributes).length > 0 ? attributes : null,
  };
}

const cell = fc.record({
  mcc: fc.integer({ min: 1, max: 999 }),
  mnc: fc.nat({ max: 255 }),
  lac: fc.nat({ max: 65535 }),
  cellId: fc.nat({ max: 0xffffff }),
});
const status = fc.record(
  {
    batteryLevel: fc.nat({ max: 6 }),
    gsmSignal: fc.nat({ max: 4 }),
    armed: fc.constant(true),
    charging: fc.constant(true),
    fuelCut: fc.constant(true),
  },
  { requiredKeys: [] },
);
const attributes = fc.tuple(cell, status).map(([known, more]) => ({ ...known, ...more }));

describeProtocol('GT06', {
  protocol: gt06,
  terminalId: IMEI,
  createSimulator: createGt06Simulator,
  carried,
  positions: arbitraryPosition(fc.option(attributes, { nil: null })),
});

/** A session that has taken the login. */
function loggedIn() {
  const session = gt06.createSession();
  session.push(createGt06Simulator(IMEI).hello() ?? Buffer.alloc(0), NOW_MS);
  return session;
}

/** 2026-01-01 11:59:30, 9 satellites, 55.75 north, 37.61 east, 60 km/h, 123 degrees, with a fix. */
const LOCATION = `1a01010b3b1ec9${(55.75 * STEPS_PER_DEGREE).toString(16).padStart(8, '0')}${(37.61 * STEPS_PER_DEGREE).toString(16).padStart(8, '0')}3c147b`;
const CELL = '00fa021234005678';
const frame = (number: number, content: string, serial = 7) => buildFrame(number, Buffer.from(content, 'hex'), serial);
const POSITION = {
  fixTimeMs: Date.UTC(2026, 0, 1, 11, 59, 30),
  latitude: 55.75,
  longitude: 37.61,
  valid: true,
  speedKmh: 60,
  courseDeg: 123,
  satellites: 9,
};
const CELL_ATTRIBUTES = { mcc: 250, mnc: 2, lac: 0x1234, cellId: 0x5678 };

describe('the messages of the maker’s document', () => {
  test('a login is answered by its number and serial number, in a frame written out by hand', () => {
    // Length 5, number 1, serial 1; the CRC of these four bytes is d9 dc.
    const answer = Buffer.from('787805010001d9dc0d0a', 'hex');
    expect(buildFrame(MESSAGE.login, Buffer.alloc(0), 1)).toEqual(answer);
    const login = frame(MESSAGE.login, '0356307042441013', 1);
    expect(gt06.createSession().push(login, NOW_MS)).toEqual([
      { type: 'identify', terminalId: IMEI, accept: answer, reject: null },
    ]);
  });

  test.each([
    ['0x12', MESSAGE.location, LOCATION + CELL, { ignition: null, odometerM: null }],
    ['0x22', MESSAGE.locationWithStatus, `${LOCATION}${CELL}010000`, { ignition: true, odometerM: null }],
    [
      '0x22 with an odometer',
      MESSAGE.locationWithStatus,
      `${LOCATION}${CELL}00000000012345`,
      { ignition: false, odometerM: 0x12345 },
    ],
  ])('a location %s', (_, number, content, more) => {
    expect(loggedIn().push(frame(number, content), NOW_MS)).toMatchObject([
      {
        type: 'positions',
        positions: [{ ...POSITION, ...more, alarms: [], attributes: CELL_ATTRIBUTES }],
        ack: buildFrame(number, Buffer.alloc(0), 7),
      },
    ]);
  });

  const WIDE_CELL = '00fa 02 00001234 0000000001020304'.replaceAll(' ', '');
  const LONG_NETWORK = '80fa 0102 00001234 0000000001020304'.replaceAll(' ', '');
  const WIDE = { mcc: 250, mnc: 2, lac: 0x1234, cellId: 0x1020304 };
  const read = (number: number, content: string) => {
    const session = loggedIn();
    const [inbound] = session.push(frame(number, content.replaceAll(' ', '')), NOW_MS);
    if (inbound?.type !== 'positions') throw new Error(JSON.stringify(inbound));
    return { position: inbound.positions[0], isAnswered: inbound.ack !== null };
  };

  test.each([
    ['0x10, without a cell', 0x10, LOCATION, { attributes: null }, true],
    ['0x1a, for an address', 0x1a, `${LOCATION}${'30'.repeat(21)}`, { attributes: null }, false],
    ['0x2a, for an address', 0x2a, `${LOCATION}${'30'.repeat(21)}0002`, { attributes: null }, false],
    [
      '0xa0, 4G',
      0xa0,
      `${LOCATION}${WIDE_CELL}01030000012345`,
      { ignition: true, odometerM: 0x12345, attributes: { ...WIDE, uploadMode: 3 } },
      true,
    ],
    [
      '0xa0, 4G, a long network code',
      0xa0,
      `${LOCATION}${LONG_NETWORK}00`,
      {
        ignition: false,
        attributes: { ...WIDE, mnc: 0x102 },
      },
      true,
    ],
    ['0xa0, cut off behind the place', 0xa0, `${LOCATION}00fa02`, { attributes: null }, true],
    [
      '0x22 with more than the document has',
      0x22,
      `${LOCATION}${CELL}01020000012345abcdef`,
      {
        odometerM: 0x12345,
        attributes: { ...CELL_ATTRIBUTES, uploadMode: 2, tail: 'abcdef' },
      },
      true,
    ],
  ])('a location %s', (_, number, content, expected, isAnswered) => {
    expect(read(number, content)).toMatchObject({ position: { ...POSITION, ...expected }, isAnswered });
  });

  const STATUS_SAID = {
    batteryLevel: 6,
    batteryPercent: 100,
    gsmSignal: 4,
    gsmSignalPercent: 100,
    armed: false,
    charging: false,
    fuelCut: false,
  };
  test.each([
    ['0x26 with an odometer', 0x26, `${LOCATION}09${CELL}4206040102 00012345`, { odometerM: 0x12345 }, {}],
    ['0x27, a fence', 0x27, `${LOCATION}09${CELL}4206040102 02 00012345`, { odometerM: 0x12345 }, { fence: 3 }],
    ['0x27, no fence', 0x27, `${LOCATION}09${CELL}4206040102 ff`, { odometerM: null }, {}],
    ['0xa4, 4G', 0xa4, `${LOCATION}10${WIDE_CELL}4206040102 00`, {}, { ...WIDE, fence: 1 }],
  ])('an alarm %s', (_, number, content, fields, attributes) => {
    expect(read(number, content)).toMatchObject({
      position: {
        ...POSITION,
        ...fields,
        alarms: ['sos'],
        attributes: { ...CELL_ATTRIBUTES, ...STATUS_SAID, ...attributes, eventCode: 1 },
      },
      isAnswered: true,
    });
  });

  const TIME = LOCATION.slice(0, 12);
  test.each([
    ['0x11', 0x11, `${TIME}${CELL}`, CELL_ATTRIBUTES],
    ['0x18', 0x18, `${TIME}${CELL}3e123400567840`, CELL_ATTRIBUTES],
    ['0x28', 0x28, `${TIME}${CELL}3e123400567840`, CELL_ATTRIBUTES],
    ['0x2c', 0x2c, `${TIME}${CELL}3e`, CELL_ATTRIBUTES],
    ['0xa1', 0xa1, `${TIME}${WIDE_CELL}3e`, WIDE],
  ])(
    'a cell %s is a position without a place, at its own time, and is not answered',
    (_, number, content, expected) => {
      const { position, isAnswered } = read(number, content);
      expect(position).toMatchObject({ fixTimeMs: POSITION.fixTimeMs, valid: false, attributes: expected });
      expect(isAnswered).toBe(false);
    },
  );

  test('a cell with a status', () => {
    expect(read(0x19, `${CELL}4206040102`)).toMatchObject({
      position: { valid: false, ignition: true, alarms: ['sos'], attributes: { ...CELL_ATTRIBUTES, ...STATUS_SAID } },
      isAnswered: true,
    });
  });

  test.each<[string, string, object]>([
    ['the supply', '00 049f', { supplyV: 11.83, attributes: { externalPowerV: 11.83 } }],
    ['a door', '05 05', { attributes: { door1: true, input1: true } }],
    [
      'the SIM card',
      '0a 0356307042441013 0250012345678901 89701012345678901234',
      {
        attributes: { imsi: '250012345678901', iccid: '89701012345678901234' },
      },
    ],
    ['a key', '1b 0000002345678912', { attributes: { driverCode: '0000002345678912' } }],
    ['its settings', '04 414c4d313d37353b', { attributes: { information04: 'ALM1=75;' } }],
    ['anything else', '09 0102', { attributes: { information09: '0102' } }],
  ])('information that is transmitted in a long frame: %s', (_, hex, expected) => {
    const content = Buffer.from(hex.replaceAll(' ', ''), 'hex');
    const body = Buffer.concat([Buffer.of(0, content.length + 5, 0x94), content, Buffer.of(0, 7)]);
    const checksum = Buffer.alloc(2);
    checksum.writeUInt16BE(crc16X25(body, 0, body.length));
    const long = Buffer.concat([Buffer.of(0x79, 0x79), body, checksum, Buffer.from('\r\n')]);
    expect(loggedIn().push(long, NOW_MS)).toMatchObject([
      { type: 'positions', positions: [{ fixTimeMs: NOW_MS, valid: false, ...expected }], ack: null },
    ]);
  });

  test('a heartbeat of a maker’s own has the state in common', () => {
    expect(read(0x23, '46 01a4 04 0002')).toMatchObject({
      position: { valid: false, ignition: true, attributes: { charging: true, armed: false, tail: '01a4040002' } },
      isAnswered: true,
    });
  });

  test('other messages that cannot be read are counted and answered, and end nothing', () => {
    for (const number of [0x11, 0x18, 0x28, 0x2c, 0x94, 0xa1, 0x77])
      expect(loggedIn().push(frame(number, '0102'), NOW_MS), `0x${number.toString(16)}`).toMatchObject(
        number === 0x94
          ? [{ type: 'positions', positions: [{}] }]
          : [
              { type: 'unread', detail: `message 0x${number.toString(16)} of 2 bytes is not known: 0102` },
              { type: 'positions', positions: [], ack: frame(number, '') },
            ],
      );
    expect(read(0x23, '')).toEqual({ position: undefined, isAnswered: true });
  });

  const SHORT_NETWORK = CELL;
  const LONG = '80fa00021234005678';
  test.each([
    [
      'the odometer behind a network code of two bytes',
      0x22,
      `${LONG}010000 000025d4`,
      { ignition: true, odometerM: 9684 },
    ],
    [
      'the ignition of 0x12, where it has one',
      0x12,
      `${SHORT_NETWORK}010000 000025d4`,
      { ignition: true, odometerM: 9684 },
    ],
    ['0x12 with a network code of two bytes', 0x12, LONG, { ignition: null, odometerM: null }],
  ])('%s', (_, number, behind, expected) => {
    const attributes = { mcc: 250, mnc: 2, lac: 0x1234, cellId: 0x5678 };
    expect(read(number, LOCATION + behind).position).toMatchObject({ ...POSITION, ...expected, attributes });
  });

  test.each(['01000000 000025d4', '10 010000 000025d4', '02ff', '05 00 00'])(
    'what stands behind the cell in an unknown layout is kept as it stands: %s',
    (behind) => {
      const { position } = read(0x22, `${LOCATION}${SHORT_NETWORK}${behind}`);
      const tail = behind.replaceAll(' ', '');
      expect(position).toMatchObject({ ...POSITION, ignition: null, odometerM: null, attributes: { tail } });
    },
  );

  test.each([
    ['without the length of its cell', 0x16, `${SHORT_NETWORK}4204040102`, ['sos'], { batteryLevel: 4 }],
    ['with a network code of two bytes', 0x26, `0a${LONG}4204040102`, ['sos'], { batteryLevel: 4 }],
    ['with the voltage of its battery', 0x26, `09${SHORT_NETWORK}42019a040102`, ['sos'], { batteryV: 4.1 }],
    ['whose code is 0 and whose state says SOS', 0x16, `09${SHORT_NETWORK}6204040002`, ['sos'], { eventCode: 0 }],
    ['in an unknown layout', 0x16, `00${'ee'.repeat(14)}`, ['other'], { tail: `00${'ee'.repeat(14)}` }],
  ])('an alarm %s', (_, number, behind, alarms, attributes) => {
    expect(read(number, LOCATION + behind).position).toMatchObject({ ...POSITION, alarms, attributes });
  });

  test.each([MESSAGE.location, 0x32])('a location 0x%s with the IMEI in front', (number) => {
    expect(read(number, `0${IMEI}${LOCATION}${CELL}`)).toMatchObject({
      position: { ...POSITION, attributes: CELL_ATTRIBUTES },
      isAnswered: true,
    });
  });

  test.each([
    ['west', '100f190a', '1a0b14040000'],
    ['east', '100f3202', '1a0b14100000'],
    ['UTC, whatever the login says', '100f190a', '1a0b14080000'],
    ['none', '', '1a0b14080000'],
  ])('the clock of a terminal is that of the zone of its login: %s', (_, zone, shown) => {
    const receivedAtMs = Date.UTC(2026, 10, 20, 8, 0, 5);
    const session = gt06.createSession();
    session.push(frame(MESSAGE.login, `0${IMEI}${zone}`), receivedAtMs);
    const [read] = session.push(frame(MESSAGE.location, shown + LOCATION.slice(12) + CELL), receivedAtMs);
    expect(read).toMatchObject({ positions: [{ fixTimeMs: Date.UTC(2026, 10, 20, 8) }] });
  });

  test('what a terminal of UTC kept for hours stays where it is, although the login names a zone', () => {
    const receivedAtMs = Date.UTC(2026, 10, 20, 8, 0, 5);
    const session = gt06.createSession();
    session.push(frame(MESSAGE.login, `0${IMEI}100f190a`), receivedAtMs);
    for (const [time, hour] of [
      ['1a0b14080000', 8],
      ['1a0b14040000', 4],
    ] as const)
      expect(session.push(frame(MESSAGE.location, time + LOCATION.slice(12) + CELL), receivedAtMs)).toMatchObject([
        { positions: [{ fixTimeMs: Date.UTC(2026, 10, 20, hour) }] },
      ]);
  });

  test('a clone’s frame of the networks around it, without a checksum, is answered and ends nothing', () => {
    const session = loggedIn();
    const cells = `02 0106 01 1a2b 0001 5a 1a2b 0002 58`.replaceAll(' ', '');
    for (const end of ['0d0a', '000d0a']) {
      const bytes = Buffer.from(`78780017260101113000${cells}${end}`, 'hex');
      const inbound = [
        {
          type: 'positions',
          positions: [
            {
              fixTimeMs: Date.UTC(2026, 0, 1, 11, 30),
              valid: false,
              attributes: { mcc: 262, mnc: 1, lac: 0x1a2b, cellId: 1 },
            },
          ],
          ack: Buffer.from('787800172601011130000d0a', 'hex'),
        },
      ];
      expect(session.push(bytes, NOW_MS)).toMatchObject(inbound);
      expect(session.push(bytes.subarray(0, 20), NOW_MS)).toEqual([]);
      expect(session.push(bytes.subarray(20), NOW_MS)).toMatchObject(inbound);
    }
    const accessPoints = `78780117260101113000 0200000000015a 00 0d0a`.replaceAll(' ', '');
    expect(session.push(Buffer.from(accessPoints, 'hex'), NOW_MS)).toMatchObject([
      { positions: [{ attributes: null }] },
    ]);
    expect(session.push(frame(MESSAGE.location, LOCATION + CELL), NOW_MS)).toMatchObject([{ positions: [POSITION] }]);
  });

  test.each<[string, Alarm[]]>([
    ['00', []],
    ['01', ['sos']],
    ['02', ['power-cut']],
    ['06', ['overspeed']],
    ['0e', ['low-battery']],
    ['19', ['low-battery']],
    ['fe', []],
    ['77', ['other']],
  ])('alarm code %s', (code, alarms) => {
    const content = `${LOCATION}09${CELL}42060${4}${code}02`;
    for (const number of [MESSAGE.alarm, MESSAGE.alarmWithStatus])
      expect(loggedIn().push(frame(number, content), NOW_MS)).toMatchObject([
        {
          positions: [
            { ...POSITION, alarms, ignition: true, attributes: { ...CELL_ATTRIBUTES, batteryLevel: 6, gsmSignal: 4 } },
          ],
          ack: buildFrame(number, Buffer.alloc(0), 7),
        },
      ]);
  });

  test('an alarm without a cell', () => {
    const [inbound] = loggedIn().push(frame(MESSAGE.alarm, `${LOCATION}000206040102`), NOW_MS);
    expect(inbound).toMatchObject({ positions: [{ ...POSITION, alarms: ['sos'], ignition: true }] });
  });

  test('a heartbeat is a position without a place: ignition, battery and signal', () => {
    const [inbound] = loggedIn().push(frame(MESSAGE.heartbeat, '4604040002'), NOW_MS);
    expect(inbound).toMatchObject({
      positions: [
        {
          fixTimeMs: NOW_MS,
          valid: false,
          ignition: true,
          alarms: [],
          attributes: { batteryLevel: 4, gsmSignal: 4, charging: true },
        },
      ],
      ack: buildFrame(MESSAGE.heartbeat, Buffer.alloc(0), 7),
    });
  });

  test('south and west', () => {
    const southWest = `${LOCATION.slice(0, -4)}187b`;
    const [inbound] = loggedIn().push(frame(MESSAGE.location, southWest + CELL), NOW_MS);
    expect(inbound).toMatchObject({ positions: [{ latitude: -55.75, longitude: -37.61, courseDeg: 123 }] });
  });

  test('a clock that is not set has the time of the server; a location that is none is left out', () => {
    const at = (time: string) => loggedIn().push(frame(MESSAGE.location, time + LOCATION.slice(12) + CELL), NOW_MS);
    expect(at('000000000000')).toMatchObject([{ positions: [{ fixTimeMs: NOW_MS }] }]);
    const ack = buildFrame(MESSAGE.location, Buffer.alloc(0), 7);
    const leftOut = [{ type: 'unread' }, { type: 'positions', positions: [], ack }];
    expect(at('1a0d01000000')).toMatchObject(leftOut);
    const beyondThePole = `${LOCATION.slice(0, 14)}ffffffff${LOCATION.slice(22)}`;
    expect(loggedIn().push(frame(MESSAGE.location, beyondThePole), NOW_MS)).toMatchObject(leftOut);
  });

  test('a location under a number of the maker’s own is read as far as all of them agree', () => {
    expect(read(0x2d, `${LOCATION}${CELL}0102`)).toMatchObject({
      position: { ...POSITION, ignition: null, attributes: { ...CELL_ATTRIBUTES, tail: '0102' } },
      isAnswered: true,
    });
    expect(read(0x34, `${LOCATION}ff01`)).toMatchObject({ position: { ...POSITION, attributes: { tail: 'ff01' } } });
    // The byte before a place says that it has 12 bytes; else its time does, which is of today.
    expect(read(0x32, LOCATION.replace('c9', '09'))).toMatchObject({ position: POSITION, isAnswered: true });
    const lastYear = `19${LOCATION.slice(2).replace('c9', '09')}`;
    expect(loggedIn().push(frame(0x32, lastYear), NOW_MS)).toMatchObject([{ type: 'unread' }, { positions: [] }]);
  });

  test('the ignition beside the course', () => {
    const withCourse = (course: string) => read(MESSAGE.location, LOCATION.slice(0, -4) + course).position;
    expect(withCourse('d47b')).toMatchObject({ ignition: true, courseDeg: 123 });
    expect(withCourse('547b')).toMatchObject({ ignition: false, courseDeg: 123 });
  });

  test('text is kept, the time is answered, other messages are counted and answered', () => {
    const session = loggedIn();
    expect(session.push(frame(MESSAGE.text, '0500000001524f4b3a'), NOW_MS)).toEqual([{ type: 'text', text: 'ROK:' }]);
    expect(session.push(frame(MESSAGE.time, ''), NOW_MS)).toEqual([
      { type: 'reply', bytes: frame(MESSAGE.time, '1a0101000000') },
    ]);
    expect(session.push(frame(0x18, '00'), NOW_MS)).toEqual([
      { type: 'unread', detail: 'message 0x18 of 1 bytes is not known: 00' },
      { type: 'positions', positions: [], ack: frame(0x18, '') },
    ]);
  });

  test('a long frame has a length of two bytes', () => {
    const session = loggedIn();
    const short = frame(0x94, '00'.repeat(40));
    const long = Buffer.concat([Buffer.from('7979', 'hex'), Buffer.of(0), short.subarray(2)]);
    // The checksum covers the length, which is a byte longer.
    expect(session.push(long, NOW_MS)).toMatchObject([{ type: 'refuse', reason: 'bad-checksum' }]);
  });

  test('a login again on the same connection is answered; with another IMEI it ends it', () => {
    const session = loggedIn();
    expect(session.push(frame(MESSAGE.login, '0356307042441013', 9), NOW_MS)).toEqual([
      { type: 'reply', bytes: frame(MESSAGE.login, '', 9) },
    ]);
    expect(session.push(frame(MESSAGE.login, '0356307042441021'), NOW_MS)).toMatchObject([{ type: 'refuse' }]);
  });
});
