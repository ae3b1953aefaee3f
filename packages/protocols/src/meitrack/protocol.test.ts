import type { TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { meitrack } from './protocol.ts';
import { buildPacket } from './session.ts';
import { createMeitrackBinarySimulator, createMeitrackSimulator } from './simulator.ts';

const IMEI = '356307042441013' as TerminalId;
const NOW_MS = Date.UTC(2026, 0, 1);

describeProtocol('Meitrack', {
  protocol: meitrack,
  terminalId: IMEI,
  createSimulator: createMeitrackSimulator,
  identifiesByData: true,
  resolution: { degrees: 0.51e-6, seconds: 1 },
  positions: arbitraryPosition(),
  idleBytes: [0x0d, 0x0a],
});

describeProtocol('Meitrack in binary form', {
  protocol: meitrack,
  terminalId: IMEI,
  createSimulator: createMeitrackBinarySimulator,
  identifiesByData: true,
  resolution: { degrees: 0.51e-6, seconds: 1 },
  positions: arbitraryPosition(),
  idleBytes: [0x0d, 0x0a],
});

const packet = (content: string) => buildPacket('$$', 'Q', `${IMEI},${content}`);
const answerTo = (content: string) => meitrack.createSession().push(packet(content), NOW_MS).slice(1);
const place = (event: number, more = '') =>
  `AAA,${event},55.755000,37.617000,260101120000,A,11,31,60,346,0.8,150,65000,3600${more}`;
const PLACE_OF = {
  fixTimeMs: Date.UTC(2026, 0, 1, 12),
  latitude: 55.755,
  longitude: 37.617,
  valid: true,
  satellites: 11,
  speedKmh: 60,
  courseDeg: 346,
  altitudeM: 150,
  odometerM: 65_000,
};

describe('the packets of the maker’s description', () => {
  test('the length counts from the comma on, the checksum is the sum of all bytes', () => {
    expect(buildPacket('@@', 'A', 'x,y').toString()).toBe('@@A9,x,y*6D\r\n');
  });

  test('a position with cell, inputs and voltages', () => {
    const [identify, inbound] = meitrack
      .createSession()
      .push(packet(place(35, ',250|1|1234|5678,0103,0064|||01A4|04C5')), NOW_MS);
    expect(identify).toEqual({ type: 'identify', terminalId: IMEI, accept: null, reject: null });
    expect(inbound).toMatchObject({
      ack: buildPacket('@@', 'Q', `${IMEI},AFF,1`),
      positions: [
        {
          ...PLACE_OF,
          supplyV: 12.21,
          alarms: [],
          attributes: {
            eventCode: 35,
            gsmSignalPercent: 100,
            hdop: 0.8,
            runTimeSeconds: 3600,
            mcc: 250,
            mnc: 1,
            lac: 0x1234,
            cellId: 0x5678,
            input1: true,
            input2: true,
            input3: false,
            output1: true,
            output2: false,
            analog1V: 1,
            batteryV: 4.2,
          },
        },
      ],
    });
  });

  test.each([
    [1, ['sos']],
    [17, ['low-battery']],
    [23, ['power-cut']],
    [35, []],
    [129, ['harsh-braking']],
  ])('event %i', (event, alarms) => {
    expect(answerTo(place(event))).toMatchObject([{ positions: [{ ...PLACE_OF, alarms }] }]);
  });

  const binary = (command: string, hex: string) =>
    `${command},${Buffer.from(hex.replaceAll(' ', ''), 'hex').toString('latin1')}`;
  // 55.755 and 37.617 degrees; seconds from 2000 on to 2026-01-01 12:00.
  const [LATITUDE, LONGITUDE, TIME] = ['f8c05203', '68fd3d02', '401ee930'] as const;

  test('records of CCC, all of the same length', () => {
    // Event, place, time, fix, satellites, signal, speed, course, precision, altitude, mileage, seconds, cell, states.
    const record = `11 ${LATITUDE} ${LONGITUDE} ${TIME} 01 0b 1f 3c00 5a01 0800 9600 e8fd0000 100e0000 fa00 0100 d204 2e16 0301`;
    const two = `0100 2d00 02000000 ${record} a1b2c3 ${record} a1b2c3`;
    const position = {
      ...PLACE_OF,
      alarms: ['low-battery'],
      attributes: {
        eventCode: 17,
        gsmSignalPercent: 100,
        hdop: 0.8,
        runTimeSeconds: 3600,
        mcc: 250,
        mnc: 1,
        lac: 1234,
        cellId: 5678,
        input1: true,
        input2: true,
        input3: false,
        output1: true,
        tail: 'a1b2c3',
      },
    };
    expect(answerTo(binary('CCC', two))).toMatchObject([
      { positions: [position, position], ack: buildPacket('@@', 'Q', `${IMEI},CCC,2`) },
    ]);
  });

  test('records of CCE, of parameters with ids of one byte and of two', () => {
    const ones = '05 0101 0501 060b 071f fe3105';
    const twos = '05 083c00 095a01 0a0800 0b9600 1ac504';
    const fours = `05 02${LATITUDE} 03${LONGITUDE} 04${TIME} 0ce8fd0000 0d100e0000`;
    const others = '01 39 03 010203';
    const record = `0100 ${ones} ${twos} ${fours} ${others}`;
    const bytes = record.replaceAll(' ', '').length / 2;
    const length = Buffer.of(bytes, 0).toString('hex');
    expect(answerTo(binary('CCE', `00000000 0100 ${length} ${record}`))).toMatchObject([
      {
        positions: [
          {
            ...PLACE_OF,
            supplyV: 12.21,
            alarms: ['sos'],
            attributes: {
              eventCode: 1,
              gsmSignalPercent: 100,
              hdop: 0.8,
              runTimeSeconds: 3600,
              io65073: 5,
              io57: '010203',
            },
          },
        ],
        ack: buildPacket('@@', 'Q', `${IMEI},CCE,1`),
      },
    ]);
  });

  test('a record without a time is deleted, and brings nothing', () => {
    expect(answerTo(binary('CCE', '00000000 0100 0600 0100 00000000'))).toMatchObject([
      { positions: [], ack: buildPacket('@@', 'Q', `${IMEI},CCE,1`) },
    ]);
  });

  test('answers to commands are accepted', () => {
    expect(answerTo('A21,OK')).toEqual([{ type: 'positions', positions: [], ack: null }]);
  });

  test.each([
    ['a time that does not exist', place(35).replace('260101', '261301')],
    ['a place beyond the poles', place(35).replace('55.755', '95.755')],
  ])('%s is left out, and ends nothing', (_, content) => {
    expect(answerTo(content)).toMatchObject([{ type: 'unread' }, { type: 'positions', positions: [] }]);
  });

  test.each([
    ['CCC that is cut off', 'CCC,xx', 'bad-content'],
    ['CCE that is cut off', 'CCE,xxxx\x01\x00', 'bad-content'],
    ['CCE whose parameters are', 'CCE,xxxx\x01\x00\x04\x00\x01\x00\x05\x01', 'bad-content'],
  ])('%s ends the connection', (_, content, reason) => {
    expect(answerTo(content)).toMatchObject([{ type: 'refuse', reason }]);
  });

  test('a wrong checksum, and a length that does not fit', () => {
    const bytes = packet(place(35));
    const changed = Buffer.from(bytes.toString('latin1').replace('55.755', '55.756'), 'latin1');
    expect(meitrack.createSession().push(changed, NOW_MS)).toMatchObject([{ reason: 'bad-checksum' }]);
    expect(meitrack.createSession().push(Buffer.from('$$A9999,'), NOW_MS)).toMatchObject([{ reason: 'bad-length' }]);
  });
});
