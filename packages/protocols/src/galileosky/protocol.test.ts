import type { TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { crc16Modbus } from '../crc16.ts';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { galileosky } from './protocol.ts';
import { buildPacket } from './session.ts';
import { createGalileoskySimulator } from './simulator.ts';

const IMEI = '356307042441013' as TerminalId;
const NOW_MS = Date.UTC(2026, 0, 1);

describeProtocol('Galileosky', {
  protocol: galileosky,
  terminalId: IMEI,
  createSimulator: createGalileoskySimulator,
  resolution: { degrees: 0.51e-6, seconds: 1 },
  positions: arbitraryPosition(),
});

/** A packet by the maker's layout; `more` says that the archive has more. */
function packet(tags: string, more = false): Buffer {
  const content = Buffer.from(tags, 'hex');
  const bytes = Buffer.alloc(content.length + 5);
  bytes[0] = 1;
  bytes.writeUInt16LE(content.length | (more ? 0x8000 : 0), 1);
  content.copy(bytes, 3);
  bytes.writeUInt16LE(crc16Modbus(bytes, 0, content.length + 3), content.length + 3);
  return bytes;
}
const answer = (bytes: Buffer) => Buffer.concat([Buffer.of(2), bytes.subarray(-2)]);

const IDENTITY = `0111022003${Buffer.from(IMEI).toString('hex')}043200`;
/** 2026-01-01 12:00:00; 11 satellites, 55.755 north, 37.617 east; 60.5 km/h, 90.0 degrees; 150 m; hdop 0.8. */
const TIME = '20c0615669';
const PLACE = '300bf8c05203' + '68fd3d02' + '335d028403' + '349600' + '3508';
const PLACE_OF = {
  fixTimeMs: Date.UTC(2026, 0, 1, 12),
  latitude: 55.755,
  longitude: 37.617,
  valid: true,
  satellites: 11,
  speedKmh: 60.5,
  courseDeg: 90,
  altitudeM: 150,
};

function identified() {
  const session = galileosky.createSession();
  session.push(packet(IDENTITY), NOW_MS);
  return session;
}

describe('the packets of the maker’s description', () => {
  test('a first packet with the IMEI alone is answered by its checksum', () => {
    const first = packet(IDENTITY, true);
    expect(galileosky.createSession().push(first, NOW_MS)).toEqual([
      { type: 'identify', terminalId: IMEI, accept: answer(first), reject: null },
    ]);
  });

  test('a first packet that has a record as well', () => {
    const first = packet(`${IDENTITY}100500${TIME}${PLACE}`);
    expect(galileosky.createSession().push(first, NOW_MS)).toMatchObject([
      { type: 'identify', accept: null },
      { type: 'positions', positions: [PLACE_OF], ack: answer(first) },
    ]);
  });

  test('sensors have the common names, other tags are kept raw', () => {
    const sensors = [
      '400002' /* engine runs */,
      '41b22f',
      '428a10',
      '43f6',
      '450300',
      '460100',
      '50e803',
      '60e803',
      '63d00719',
      '7001e7',
      '9078563412',
      'c00a000000',
      'c17d78401f',
      'c264000000',
      'd4e8fd0000',
      'e2d2040000',
    ].join('');
    const [data] = identified().push(packet(`${TIME}${PLACE}${sensors}`), NOW_MS);
    expect(data).toMatchObject({
      positions: [
        {
          ...PLACE_OF,
          ignition: true,
          supplyV: 12.21,
          odometerM: 65_000,
          attributes: {
            hdop: 0.8,
            batteryV: 4.234,
            deviceTemperatureC: -10,
            output1: true,
            output2: true,
            output3: false,
            input1: true,
            input2: false,
            analog1V: 1,
            fuelLevel1: 1000,
            fuelLevel4: 2000,
            fuelLevel4TemperatureC: 25,
            temperature1C: -25,
            driverCode: '12345678',
            fuelUsedL: 5,
            fuel1Percent: 50,
            engineTemperatureC: 80,
            rpm: 1000,
            canOdometerM: 500,
            tage2: 1234,
          },
        },
      ],
    });
  });

  test('a tag that does not grow begins the next record', () => {
    const [data] = identified().push(packet(`100100${TIME}${PLACE}100200${TIME}${PLACE}100300${TIME}`), NOW_MS);
    expect(data).toMatchObject({
      positions: [
        { attributes: { tag10: 1 } },
        { attributes: { tag10: 2 } },
        { valid: false, attributes: { tag10: 3 } },
      ],
    });
  });

  test('the answer to a command is text', () => {
    const text = Buffer.from('Dev50 Soft=223').toString('hex');
    const answered = identified().push(packet(`${IDENTITY.slice(8)}e001000000e10e${text}`), NOW_MS);
    expect(answered).toMatchObject([
      { type: 'text', text: 'Dev50 Soft=223' },
      { type: 'positions', positions: [] },
    ]);
  });

  test.each([
    ['a place that is not by satellites', `${TIME}301bf8c0520368fd3d02`, { positions: [{ valid: false }] }],
    ['a tag that is cut off', `${TIME}300b`, { type: 'refuse', reason: 'bad-content' }],
    ['another IMEI', `03${Buffer.from('356307042441021').toString('hex')}`, { type: 'refuse', reason: 'bad-content' }],
  ])('%s', (_, tags, expected) => {
    expect(identified().push(packet(tags), NOW_MS)).toMatchObject([expected]);
  });

  test('a tag that is not known ends the packet, and neither the connection nor the records before it', () => {
    const bytes = packet(`${TIME}${PLACE}ff0102`);
    expect(identified().push(bytes, NOW_MS)).toMatchObject([
      { type: 'unread', detail: 'tag 0xff is not known' },
      { positions: [{ valid: true, attributes: { unreadTags: 'ff0102' } }], ack: expect.anything() },
    ]);
  });

  test('milliseconds behind the time', () => {
    const [data] = identified().push(packet(`${TIME}21f401${PLACE}`), NOW_MS);
    expect(data).toMatchObject({ positions: [{ fixTimeMs: Date.UTC(2026, 0, 1, 12, 0, 0, 500) }] });
  });

  /** Bits of the least set of data: seconds of the year, fix, place, alarm. */
  const leastSet = (seconds: number, alarm: 0 | 1) => {
    const bits = (value: number, count: number) => Math.round(value).toString(2).padStart(count, '0');
    const longitude = bits(((37.617 + 180) / 360) * 2 ** 22, 22);
    const latitude = bits(((55.755 + 90) / 180) * 2 ** 21, 21);
    const all = `0${bits(seconds, 25)}0${longitude}${latitude}${alarm}${'0'.repeat(9)}`;
    return BigInt(`0b${all}`).toString(16).padStart(20, '0');
  };
  const compressed = (records: string) => {
    const imei = BigInt(IMEI).toString(16).padStart(16, '0');
    return buildPacket(Buffer.from(imei + records, 'hex'), 8);
  };

  test('a compressed packet names its terminal, and the tags of each record before their contents', () => {
    const supply = Buffer.of(12_210 & 0xff, 12_210 >> 8).toString('hex');
    const records = `${leastSet(43_200, 0)}023441${'9600'}${supply}${leastSet(364 * 86_400, 1)}00`;
    const bytes = compressed(records);
    const [identify, data] = galileosky.createSession().push(bytes, Date.UTC(2026, 0, 1, 13));
    expect(identify).toMatchObject({ type: 'identify', terminalId: IMEI, accept: null });
    expect(data).toMatchObject({
      positions: [
        { fixTimeMs: Date.UTC(2026, 0, 1, 12), valid: true, altitudeM: 150, supplyV: 12.21, alarms: [] },
        { fixTimeMs: Date.UTC(2025, 11, 31), valid: true, alarms: ['other'] },
      ],
      ack: Buffer.from([2, ...bytes.subarray(-2)]),
    });
    const [first] = (data as { positions: { latitude: number; longitude: number }[] }).positions;
    expect(first?.latitude).toBeCloseTo(55.755, 4);
    expect(first?.longitude).toBeCloseTo(37.617, 4);
  });

  test.each([
    ['a record', leastSet(0, 0)],
    ['a tag', `${leastSet(0, 0)}0120`],
  ])('%s of a compressed packet that is cut off ends the connection', (_, records) => {
    expect(identified().push(compressed(records), NOW_MS)).toMatchObject([{ type: 'refuse', reason: 'bad-content' }]);
  });
});
