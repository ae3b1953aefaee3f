import { blankPosition } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { flespi } from './protocol.ts';

const NOW_MS = Date.UTC(2026, 0, 15, 12);
const PLACE = { 'position.latitude': 52.37, 'position.longitude': 4.89 };

function post(messages: unknown, headers: Record<string, string> = {}) {
  const body = Buffer.from(typeof messages === 'string' ? messages : JSON.stringify(messages));
  return flespi.decode({ method: 'POST', url: '/', headers, body }, NOW_MS);
}

function positionOf(message: Record<string, unknown>) {
  const read = post([{ ident: 'van-1', timestamp: NOW_MS / 1000, ...message }]);
  return 'reports' in read ? read.reports[0]?.positions[0] : null;
}

describe('flespi', () => {
  test('parameters become fields and common attributes, beside their own names', () => {
    const own = {
      'battery.level': 80,
      'gsm.signal.level': 55,
      'position.hdop': 0.7,
      'can.engine.rpm': 1500,
      'can.vehicle.mileage': 12.5,
      'temperature.2': -18.5,
      'ain.1': 4.2,
      din: 0b101,
      'ibutton.code': '0100000012345678',
    };
    const message = {
      ...PLACE,
      ...own,
      'position.altitude': 13.6,
      'position.speed': 42.26,
      'position.direction': 271.4,
      'position.satellites': 11,
      'engine.ignition.status': true,
      'vehicle.mileage': 1234.5678,
      'external.powersource.voltage': 12.64,
      'can.fuel.volume': 40.5,
    };
    const position = positionOf(message);
    expect(position).toMatchObject({
      fixTimeMs: NOW_MS,
      latitude: 52.37,
      longitude: 4.89,
      valid: true,
      speedKmh: 42.3,
      courseDeg: 271,
      altitudeM: 14,
      satellites: 11,
      ignition: true,
      odometerM: 1_234_568,
      supplyV: 12.64,
      fuelL: 40.5,
      alarms: [],
    });
    expect(position?.attributes).toMatchObject({
      ...own,
      batteryPercent: 80,
      gsmSignalPercent: 55,
      hdop: 0.7,
      rpm: 1500,
      canOdometerM: 12_500,
      temperature2C: -18.5,
      analog1V: 4.2,
      input1: true,
      input2: false,
      input3: true,
      driverCode: '0100000012345678',
    });
  });

  test.each([
    ['sos.event', 'sos'],
    ['crash.event', 'crash'],
    ['harsh.braking.event', 'harsh-braking'],
    ['towing.alarm.status', 'towing'],
    ['gsm.jamming.alarm.status', 'jamming'],
    ['battery.low.status', 'low-battery'],
    ['alarm.event', 'other'],
  ])('%s raises %s while it is true', (name, alarm) => {
    expect(positionOf({ ...PLACE, [name]: true })?.alarms).toEqual([alarm]);
    expect(positionOf({ ...PLACE, [name]: false })?.alarms).toEqual([]);
  });

  test('an armed alarm system is no alarm', () => {
    expect(positionOf({ ...PLACE, 'alarm.mode.status': true, 'alarm.status': true })).toMatchObject({
      alarms: [],
      attributes: { armed: true },
    });
  });

  test('messages of many terminals become a report for each, in their order', () => {
    const messages = [1, 2, 3, 4].map((second) => ({ ident: `van-${second % 2}`, timestamp: second, ...PLACE }));
    const read = post(messages);
    expect('reports' in read && read.reports).toMatchObject([
      { terminalId: 'van-1', positions: [{ fixTimeMs: 1000 }, { fixTimeMs: 3000 }] },
      { terminalId: 'van-0', positions: [{ fixTimeMs: 2000 }, { fixTimeMs: 4000 }] },
    ]);
  });

  test('a report holds a bounded number of positions', () => {
    const messages = Array.from({ length: 1200 }, (_, second) => ({ ident: 'van-1', timestamp: second, ...PLACE }));
    const read = post(messages);
    expect('reports' in read && read.reports.map(({ positions }) => positions.length)).toEqual([500, 500, 200]);
  });

  test('a message that cannot be read is left out with its reason, and the others are kept', () => {
    const read = post([{ timestamp: 1 }, { ident: 'van-1', timestamp: 'soon' }, 7, { ident: 'van-1', ...PLACE }]);
    expect(read).toMatchObject({
      reports: [{ terminalId: 'van-1', positions: [{ fixTimeMs: NOW_MS }] }],
      unread: [
        { refused: 'not-identified', detail: '[0]: ident: nothing is no identifier' },
        { refused: 'bad-content', detail: '[1]: timestamp: "soon" is no time' },
        { refused: 'bad-content', detail: '[2]: the message is not a JSON object' },
      ],
    });
  });

  test('of very many messages that cannot be read, the last says how many are not listed', () => {
    const read = post(new Array(150).fill(7));
    const details = 'unread' in read ? read.unread?.map(({ detail }) => detail) : [];
    expect(details).toHaveLength(100);
    expect(details?.slice(-2)).toEqual([
      '[98]: the message is not a JSON object',
      '[149]: the message is not a JSON object, and 50 more before it',
    ]);
  });

  test('without a place, what it says is kept with a position that is not valid', () => {
    expect(positionOf({ 'position.latitude': 91, 'position.longitude': 4, 'battery.voltage': 3.9 })).toMatchObject({
      valid: false,
      latitude: 0,
      longitude: 0,
      attributes: { batteryV: 3.9 },
    });
  });

  test('a message that says nothing is a sign of life', () => {
    expect(post({ ident: 'van-1', timestamp: 1 })).toMatchObject({ reports: [{ terminalId: 'van-1', positions: [] }] });
  });

  test('the token is read from either form of the header', () => {
    expect(post([], { authorization: 'Bearer abc' })).toMatchObject({ secret: 'abc' });
    expect(post([], { authorization: 'FlespiToken abc' })).toMatchObject({ secret: 'abc' });
  });

  test('what is no JSON is refused', () => {
    expect(post('[')).toMatchObject({ refused: 'bad-content', status: 400 });
    expect(flespi.decode({ method: 'GET', url: '/', headers: {}, body: Buffer.alloc(0) }, NOW_MS)).toMatchObject({
      refused: 'unsupported',
      status: 405,
    });
  });

  test('what the simulator encodes is decoded again', () => {
    const position = {
      ...blankPosition(NOW_MS + 250, 52.37, -4.89),
      ...{
        speedKmh: 50,
        courseDeg: 90,
        altitudeM: 3,
        satellites: 9,
        ignition: false,
        odometerM: 12_345,
        supplyV: 12.5,
      },
      fuelL: 40,
    };
    const terminalId = flespi.exampleId(1);
    const reports = [{ terminalId, positions: [position] }];
    expect(flespi.topics.decode(flespi.topics.encode(terminalId, position), NOW_MS)).toMatchObject({ reports });
    expect(flespi.decode(flespi.encode(terminalId, position), NOW_MS)).toMatchObject({ reports });
  });
});
