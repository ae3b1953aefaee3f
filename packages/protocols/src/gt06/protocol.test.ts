import type { Alarm, Position, TerminalId } from '@outrider/domain';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { buildFrame, MESSAGE } from './frame.ts';
import { STEPS_PER_DEGREE } from './message.ts';
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
      ...(batteryLevel !== undefined && { batteryLevel }),
      gsmSignal: gsmSignal ?? 0,
      ...(armed && { armed }),
      ...(charging && { charging }),
      ...(fuelCut && { fuelCut }),
    }),
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

  test('a clock that is not set has the time of the server; a time that is none ends the connection', () => {
    const at = (time: string) => loggedIn().push(frame(MESSAGE.location, time + LOCATION.slice(12) + CELL), NOW_MS);
    expect(at('000000000000')).toMatchObject([{ positions: [{ fixTimeMs: NOW_MS }] }]);
    expect(at('1a0d01000000')).toMatchObject([{ type: 'refuse', reason: 'bad-content' }]);
  });

  test('text is kept, the time is answered, other messages are accepted and not answered', () => {
    const session = loggedIn();
    expect(session.push(frame(MESSAGE.text, '0500000001524f4b3a'), NOW_MS)).toEqual([{ type: 'text', text: 'ROK:' }]);
    expect(session.push(frame(MESSAGE.time, ''), NOW_MS)).toEqual([
      { type: 'reply', bytes: frame(MESSAGE.time, '1a0101000000') },
    ]);
    expect(session.push(frame(0x18, '00'), NOW_MS)).toEqual([{ type: 'positions', positions: [], ack: null }]);
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
