import type { TerminalId } from '@outrider/domain';
import { describe, expect, test } from 'vitest';
import { crc16Kermit } from '../crc16.ts';
import { arbitraryPosition, describeProtocol } from '../protocol.conformance.ts';
import { ruptela } from './protocol.ts';
import { createRuptelaExtendedSimulator, createRuptelaSimulator } from './simulator.ts';

const IMEI = '356307042441013' as TerminalId;
const IMEI_HEX = BigInt(IMEI).toString(16).padStart(16, '0');
const NOW_MS = Date.UTC(2026, 0, 1);

for (const [name, createSimulator] of [
  ['Ruptela', createRuptelaSimulator],
  ['Ruptela, extended records', createRuptelaExtendedSimulator],
] as const)
  describeProtocol(name, {
    protocol: ruptela,
    terminalId: IMEI,
    createSimulator,
    resolution: { degrees: 0.51e-7, seconds: 1 },
    identifiesByData: true,
    positions: arbitraryPosition(),
  });

/** A packet of a terminal, put together by the layout of the maker's description. */
function packet(command: string, content: string): Buffer {
  const body = Buffer.from(`${IMEI_HEX}${command}${content}`, 'hex');
  const bytes = Buffer.alloc(body.length + 4);
  bytes.writeUInt16BE(body.length);
  body.copy(bytes, 2);
  bytes.writeUInt16BE(crc16Kermit(body, 0, body.length), body.length + 2);
  return bytes;
}

/** 2026-01-01 12:00:00, 37.617 east, 55.755 north, 150.0 m, 90.00 degrees, 11 satellites, 60 km/h, hdop 0.8. */
const PLACE = '166be610213b89b0' + '05dc' + '2328' + '0b' + '003c' + '08';
const PLACE_OF = {
  longitude: 37.617,
  latitude: 55.755,
  altitudeM: 150,
  courseDeg: 90,
  satellites: 11,
  speedKmh: 60,
  valid: true,
};
const TIME = (Date.UTC(2026, 0, 1, 12) / 1000).toString(16);

describe('the messages of the maker’s description', () => {
  test('records of one byte ids: inputs, supply, odometer; others stay raw', () => {
    const elements = '03' + '0501' + '0200' + '1b1f' + '02' + '1d2fb2' + '1610cc' + '01' + '410000fde8' + '00';
    const record = `${TIME}0000${PLACE}09${elements}`;
    const [identify, data] = ruptela.createSession().push(packet('01', `0001${record}`), NOW_MS);
    expect(identify).toEqual({ type: 'identify', terminalId: IMEI, accept: null, reject: null });
    expect(data).toMatchObject({
      type: 'positions',
      ack: Buffer.from('0002640113bc', 'hex'),
      positions: [
        {
          ...PLACE_OF,
          fixTimeMs: Date.UTC(2026, 0, 1, 12),
          ignition: true,
          supplyV: 12.21,
          odometerM: 65_000,
          attributes: {
            hdop: 0.8,
            eventCode: 9,
            io5: 1,
            input1: false,
            input4: true,
            io27: 31,
            gsmSignalPercent: 100,
            analog1V: 4.3,
          },
        },
      ],
    });
  });

  test('extended records: ids and events of two bytes, CAN and temperature', () => {
    const elements = '01' + '019901' + '02' + '00cf007d' + '004effe7' + '00' + '01' + '00900102030405060708';
    const record = `${TIME}000000${PLACE}0107${elements}`;
    const [, data] = ruptela.createSession().push(packet('44', `0001${record}`), NOW_MS);
    expect(data).toMatchObject({
      positions: [
        {
          ignition: true,
          attributes: { eventCode: 0x107, fuel1Percent: 50, temperature1C: -2.5, io144: '0102030405060708' },
        },
      ],
    });
  });

  test('an identification is answered by 115, a heartbeat by 116', () => {
    const session = ruptela.createSession();
    const [identify] = session.push(packet('0f', '0102'), NOW_MS);
    expect(identify).toMatchObject({ type: 'identify', terminalId: IMEI });
    expect((identify as { accept: Buffer }).accept.subarray(0, 4)).toEqual(Buffer.from('00027301', 'hex'));
    const [beat] = session.push(packet('10', ''), NOW_MS);
    expect((beat as { bytes: Buffer }).bytes.subarray(0, 4)).toEqual(Buffer.from('00027401', 'hex'));
    expect(session.push(packet('25', 'ff'), NOW_MS)).toEqual([{ type: 'positions', positions: [], ack: null }]);
  });

  test('fault codes are answered by 109', () => {
    const session = ruptela.createSession();
    session.push(packet('0f', '0102'), NOW_MS);
    expect(session.push(packet('09', '00'), NOW_MS)).toMatchObject([
      { type: 'positions', positions: [], ack: Buffer.from('00026d01c4a4', 'hex') },
    ]);
  });

  test('a text goes out as command 108, and its answer comes back by 7', () => {
    const session = ruptela.createSession();
    const text = { type: 'text', parameters: { text: 'pass imei' } } as const;
    expect(session.command?.(text)).toBeNull();
    session.push(packet('0f', '0102'), NOW_MS);
    const sent = session.command?.(text);
    expect(sent?.bytes.subarray(0, -2)).toEqual(
      Buffer.concat([Buffer.from('000a6c', 'hex'), Buffer.from('pass imei')]),
    );
    const hex = (said: string) => Buffer.from(said).toString('hex');
    expect(session.push(packet('07', hex('IMEI: 356307042441013')), NOW_MS)).toEqual([
      {
        type: 'answer',
        correlation: sent?.correlation,
        answer: { type: 'acknowledged', result: 'done', text: 'IMEI: 356307042441013' },
      },
    ]);
    expect(session.push(packet('07', hex('hello')), NOW_MS)).toEqual([{ type: 'text', text: 'hello' }]);
    session.command?.(text);
    expect(session.push(packet('07', hex('connection data incorrect')), NOW_MS)).toMatchObject([
      { answer: { result: 'failed' } },
    ]);
  });

  test.each([
    ['a record that is cut off', packet('01', `0002${TIME}0000${PLACE}0900000000`)],
    ['bytes after the last record', packet('01', `0001${TIME}0000${PLACE}090000000000`)],
    ['an element that is cut off', packet('01', `0001${TIME}0000${PLACE}0905010000`)],
    ['an IMEI of another length', Buffer.from('000900000000000000010fd6e9', 'hex')],
  ])('%s ends the connection', (_, bytes) => {
    expect(ruptela.createSession().push(bytes, NOW_MS).at(-1)).toMatchObject({ type: 'refuse' });
  });
});
